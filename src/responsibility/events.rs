//! Events in `memory/events.md`: one line each, appended by kernels, people and mandates.

use crate::model::timestamp;

/// One line of `memory/events.md`:
/// `- <time> <kind> (source: …, mandate: …, task: …, rfa: …) – text`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Event {
    /// Line in the file, from 1.
    pub line: u32,
    /// Time in seconds since 1970.
    pub time: i64,
    /// Kind, such as `request_accepted`.
    pub kind: String,
    /// The mandate in the parentheses.
    pub mandate: Option<String>,
    /// The request in the parentheses.
    pub request: Option<String>,
    /// The sentence after the dash.
    pub text: String,
}

/// Kind of the event that records the digests of a refresh. No bundle is made from it; otherwise
/// each refresh would cause the next.
pub const CONTEXT_REFRESHED: &str = "context_refreshed";

/// Kind of the event about a deadline that was missed.
pub const SLA_BREACH: &str = "sla_breach";

/// Kind of the event about a deadline of which 80 % has passed.
pub const SLA_AT_RISK: &str = "sla_at_risk";

/// Kind of the event about a model that the policy does not allow.
pub const MODEL_DRIFT: &str = "model_drift";

/// Kinds that report the state of a machine and not of the work.
const TECHNICAL: [&str; 4] = [CONTEXT_REFRESHED, "context_volume", "model_detected", "heartbeat"];

/// An event that a mandate is about to append.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RenderedEvent {
    /// Its kind.
    pub kind: &'static str,
    /// Its line, without the line end.
    pub line: String,
}

/// Events of a file, and lines that look like events and cannot be read.
#[derive(Clone, Debug, Default)]
pub struct Events {
    /// The events, in the order of the file.
    pub all: Vec<Event>,
    /// Lines that begin with a time and have no kind.
    pub torn: Vec<u32>,
    /// Lines whose time is before that of the event above them.
    pub unordered: Vec<u32>,
}

impl Event {
    /// Returns true if the event belongs into `recent_activity.md`.
    pub fn is_significant(&self) -> bool {
        !TECHNICAL.contains(&self.kind.as_str())
    }

    /// Renders the line of an event.
    pub fn render(
        time: i64,
        kind: &'static str,
        facts: &[(&str, &str)],
        text: &str,
    ) -> RenderedEvent {
        let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let facts: Vec<String> = facts
            .iter()
            .map(|(key, value)| format!("{key}: {}", one_line(value).replace([',', ')'], " ")))
            .collect();
        let time = timestamp::format(time);
        let line = format!("- {time} {kind} ({}) – {}", facts.join(", "), one_line(text));
        RenderedEvent { kind, line }
    }
}

/// Reads the events of a file.
pub fn parse(text: &str) -> Events {
    let mut events = Events::default();
    for (line, number) in text.lines().zip(1..) {
        let Some(rest) = line.strip_prefix("- ") else { continue };
        let (time, rest) = rest.split_once(' ').unwrap_or((rest, ""));
        let Some(time) = timestamp::parse(time).filter(|_| time.contains('-')) else { continue };
        match event(number, time, rest) {
            None => events.torn.push(number),
            Some(event) => {
                if events.all.last().is_some_and(|last| last.time > event.time) {
                    events.unordered.push(number);
                }
                events.all.push(event);
            }
        }
    }
    events
}

/// Reads the part of a line after the time.
fn event(line: u32, time: i64, rest: &str) -> Option<Event> {
    let rest = rest.trim_start();
    let is_kind = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-' | ':');
    let end = rest.find(|c| !is_kind(c)).unwrap_or(rest.len());
    let kind = rest[..end].trim_end_matches(':');
    if kind.is_empty() || !kind.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return None;
    }
    let rest = rest[end..].trim_start();
    let (facts, text) = match rest.strip_prefix('(').and_then(|rest| rest.split_once(')')) {
        Some((facts, text)) => (facts, text),
        None if rest.starts_with('(') => return None,
        None => ("", rest),
    };
    let fact = |key: &str| {
        let mut facts = facts.split(',').filter_map(|fact| fact.split_once(':'));
        let value = facts.find(|(name, _)| name.trim() == key)?.1.trim();
        (!value.is_empty()).then(|| value.to_string())
    };
    let text = text.trim_start().trim_start_matches(['–', '—', '-', ':']).trim();
    Some(Event {
        line,
        time,
        kind: kind.to_string(),
        mandate: fact("mandate"),
        request: fact("rfa").or_else(|| fact("request")),
        text: text.to_string(),
    })
}

/// Returns the last `n` significant events, the newest first. Events with equal times are in
/// reverse order of the file.
pub fn newest(events: &[Event], n: usize) -> Vec<&Event> {
    let mut found: Vec<&Event> = events.iter().filter(|event| event.is_significant()).collect();
    found.sort_by_key(|event| std::cmp::Reverse((event.time, event.line)));
    found.truncate(n);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_has_a_time_a_kind_and_a_sentence() {
        let text = "# Events\n\n- 2026-01-25T11:58:02Z request_accepted (source: kernel, mandate: m.a, rfa: req_1) – Accepted the plan.\n- no event\n- 2026-01-24T00:00:00Z note – Older.\n- 2026-01-26T00:00:00Z broken (source: ker\n";
        let events = parse(text);
        assert_eq!(events.all.len(), 2);
        assert_eq!(events.all[0].request.as_deref(), Some("req_1"));
        assert_eq!((events.all[0].line, events.all[0].text.as_str()), (3, "Accepted the plan."));
        assert_eq!((events.torn, events.unordered), (vec![6], vec![5]));
    }

    #[test]
    fn a_rendered_event_can_be_parsed() {
        let facts = [("source", "a, b"), ("rfa", "r")];
        let line = Event::render(0, SLA_BREACH, &facts, "late\nnow").line;
        assert_eq!(line, "- 1970-01-01T00:00:00Z sla_breach (source: a  b, rfa: r) – late now");
        assert_eq!(parse(&line).all[0].text, "late now");
    }
}
