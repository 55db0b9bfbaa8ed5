//! Condenses the events of a memory into sections of `memory/insights.md`.

use std::collections::BTreeMap;

use super::events::{self, Event};
use super::lists;
use crate::model::plural::counted;
use crate::model::{Digest, timestamp};

/// Start of the line that names the bytes which a section is about.
const RANGE: &str = "Events of memory/events.md, bytes ";

/// A section that was written before: the bytes it is about, and their digest.
struct CompactedRange {
    start: usize,
    end: usize,
    digest: String,
}

/// A problem with a memory.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RewrittenMemory {
    /// First byte of the range that changed.
    pub start: usize,
    /// Byte after the range.
    pub end: usize,
}

/// Returns the section for the events since the last one, less the newest `n_kept`. `None` if there
/// are none. A range that lost its digest is an error: memory is append-only.
pub fn section(
    memory: &str,
    insights: &str,
    n_kept: usize,
    now: i64,
) -> Result<Option<String>, RewrittenMemory> {
    let ranges = ranges(insights);
    for range in &ranges {
        let bytes = memory.as_bytes().get(range.start..range.end);
        if bytes.is_none_or(|bytes| Digest::of(bytes).to_string() != range.digest) {
            return Err(RewrittenMemory { start: range.start, end: range.end });
        }
    }
    let start = ranges.iter().map(|range| range.end).max().unwrap_or(0);
    let events = events::parse(memory).all;
    let starts = line_starts(memory);
    let offset = |event: &Event| starts[event.line as usize - 1];
    let end = match events.len().checked_sub(n_kept) {
        Some(at) if n_kept > 0 => events.get(at).map_or(memory.len(), offset),
        Some(_) => memory.len(),
        None => return Ok(None),
    };
    let is_new = |event: &&Event| (start..end).contains(&offset(event)) && event.is_significant();
    let new: Vec<&Event> = events.iter().filter(is_new).collect();
    if new.is_empty() {
        return Ok(None);
    }
    let digest = Digest::of(&memory.as_bytes()[start..end]);
    let mut text = format!("\n## {}\n\n{RANGE}{start}-{end}, {digest}\n\n", timestamp::format(now));
    for (name, group) in groups(&new) {
        text += &line(&name, &group);
    }
    Ok(Some(text))
}

fn line_starts(text: &str) -> Vec<usize> {
    let ends = text.match_indices('\n').map(|(at, _)| at + 1);
    std::iter::once(0).chain(ends).collect()
}

fn ranges(insights: &str) -> Vec<CompactedRange> {
    let lines = insights.lines().filter_map(|line| line.strip_prefix(RANGE));
    let range = |line: &str| {
        let (bytes, digest) = line.split_once(", ")?;
        let (start, end) = bytes.split_once('-')?;
        let digest = digest.trim().to_string();
        Some(CompactedRange { start: start.parse().ok()?, end: end.parse().ok()?, digest })
    };
    lines.filter_map(range).collect()
}

/// Groups events by mandate, request and kind. An event is in one group: its request's, else its
/// mandate's, else its kind's.
fn groups<'a>(events: &[&'a Event]) -> BTreeMap<String, Vec<&'a Event>> {
    let mut groups: BTreeMap<String, Vec<&Event>> = BTreeMap::new();
    for event in events {
        let name = match (&event.request, &event.mandate) {
            (Some(request), _) => format!("request {request}"),
            (None, Some(mandate)) => format!("mandate {mandate}"),
            (None, None) => format!("kind {}", event.kind),
        };
        groups.entry(name).or_default().push(event);
    }
    groups
}

/// Returns true if an event is a decision, whose own sentence is kept.
fn is_decision(event: &Event) -> bool {
    let words = ["accept", "reject", "declin", "defer", "complet", "cancel", "decision", "decided"];
    words.iter().any(|word| event.kind.contains(word))
}

fn line(name: &str, group: &[&Event]) -> String {
    let times = group.iter().map(|event| event.time);
    let first = timestamp::format(times.clone().min().unwrap_or_default());
    let last = timestamp::format(times.max().unwrap_or_default());
    let when = if first == last { first } else { format!("{first} to {last}") };
    let mut line = format!("- {name}: {}, {when}", counted(group.len(), "event"));
    for event in group.iter().filter(|event| is_decision(event)) {
        line += &format!("; {}: {}", event.kind, lists::first_sentence(&event.text));
    }
    line + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEMORY: &str = "# Events\n\n- 2026-01-01T00:00:00Z request_received (rfa: r1) – Asked.\n- 2026-01-02T00:00:00Z request_accepted (rfa: r1) – Yes. More.\n- 2026-01-03T00:00:00Z note – Kept.\n";

    #[test]
    fn each_event_is_compacted_once_and_the_newest_stay() {
        let first = section(MEMORY, "", 1, 0).expect("intact").expect("a section");
        assert!(first.contains("- request r1: 2 events, 2026-01-01T00:00:00Z to 2026-01-02T00:00:00Z; request_accepted: Yes.\n"), "{first}");
        assert!(!first.contains("note"));
        assert_eq!(section(MEMORY, &first, 1, 0), Ok(None));
        let longer = format!("{MEMORY}- 2026-01-04T00:00:00Z other – New.\n");
        let second = section(&longer, &first, 1, 0).expect("intact").expect("a section");
        assert!(second.contains("- kind note: 1 event, 2026-01-03T00:00:00Z\n"), "{second}");
        assert!(!second.contains("r1"));
    }

    #[test]
    fn rewritten_memory_is_noticed() {
        let first = section(MEMORY, "", 0, 0).expect("intact").expect("a section");
        let rewritten = MEMORY.replace("Yes", "No!");
        assert!(section(&rewritten, &first, 0, 0).is_err());
        assert!(section(&MEMORY[..40], &first, 0, 0).is_err());
    }
}
