//! The next state of a container, from the rows of the queue and the check of the model.

use super::Container;
use super::append_only;
use super::events::{self, Event, MODEL_DRIFT, RenderedEvent, SLA_AT_RISK, SLA_BREACH};
use super::inbox::{self, Request};
use crate::model::timestamp;
use crate::wire::responsibility_state::{
    ContainerState, ModelOutcome, ModelRecord, RequestLine, SlaClass, StateHead,
};

/// The facts that a mandate read from the queue.
pub struct QueueFacts {
    /// The workspace from the configuration.
    pub workspace: Option<String>,
    /// Open requests.
    pub requests: Vec<Request>,
    /// Status in the table `responsibilities`.
    pub status: Option<String>,
    /// Digest of the rows; `None` without a queue.
    pub digest: Option<String>,
}

/// Returns the next state. `as_of` moves only if something else than the time of the model's check
/// changed, or if memory has an event since then.
pub fn next_state(
    container: &Container,
    queue: &QueueFacts,
    model: Option<ModelRecord>,
    now: i64,
) -> ContainerState {
    let old = container.state.as_ref();
    let head = StateHead {
        state: 1,
        responsibility_id: container.id.clone(),
        workspace_id: queue.workspace.clone(),
        status: queue.status.clone(),
        as_of: timestamp::format(now),
        queue: queue.digest.clone(),
        published_lines: old.and_then(|old| old.head.published_lines),
    };
    // Equal rows give equal lines, except for the classes of their deadlines.
    let same = old.filter(|old| queue.digest.is_some() && old.head.queue == queue.digest);
    let known = same.and_then(|old| inbox::renewed(&old.requests, &queue.requests, now));
    let mut next = ContainerState {
        head,
        requests: known.unwrap_or_else(|| inbox::lines(&queue.requests, Some(now))),
        model,
        append_only: append_only::compare(container).0,
    };
    if let Some(old) = old
        && !has_event_since(container, &old.head.as_of, now)
        && is_same(old, &next)
    {
        next.head.as_of = old.head.as_of.clone();
    }
    next
}

/// Returns true if two states differ at most in their times.
fn is_same(old: &ContainerState, next: &ContainerState) -> bool {
    let verdict = |state: &ContainerState| {
        let record = state.model.clone();
        record.map(|record| ModelRecord { last_checked_at: String::new(), ..record })
    };
    let head = StateHead { as_of: next.head.as_of.clone(), ..old.head.clone() };
    head == next.head && old.requests == next.requests && verdict(old) == verdict(next)
}

fn has_event_since(container: &Container, as_of: &str, now: i64) -> bool {
    let since = timestamp::parse(as_of).unwrap_or(i64::MIN);
    let events = container.events().all;
    events.iter().any(|event| event.is_significant() && event.time > since && event.time <= now)
}

/// Returns the record of a model check. `None` without a policy. The old record's time stays if
/// `is_sticky` and nothing else changed.
pub fn check_model(
    container: &Container,
    detected: Option<String>,
    mandate: Option<&str>,
    now: i64,
    is_sticky: bool,
) -> Option<ModelRecord> {
    let policy = container.policy.as_ref()?;
    let old = container.state.as_ref().and_then(|state| state.model.as_ref());
    let detected = detected.or_else(|| old.and_then(|old| old.last_detected_model.clone()));
    let (verdict, wanted) = policy.judge(detected.as_deref(), mandate);
    let outcome = verdict.is_mismatch().then_some(ModelOutcome::Notified);
    let last_checked_at = timestamp::format(now);
    let record =
        ModelRecord { last_detected_model: detected, last_checked_at, verdict, outcome, wanted };
    match old {
        Some(old) if is_sticky => {
            let same =
                ModelRecord { last_checked_at: old.last_checked_at.clone(), ..record.clone() };
            Some(if same == *old { same } else { record })
        }
        _ => Some(record),
    }
}

/// Returns the event about a model that is not as wanted, unless the newest event about the model
/// is the same.
pub fn drift_event(
    container: &Container,
    record: &ModelRecord,
    source: &str,
) -> Option<RenderedEvent> {
    let text = super::model_policy::drift_line(record)?;
    let events = container.events().all;
    let last = events.iter().rev().find(|event| event.kind == MODEL_DRIFT);
    let is_known = last.is_some_and(|event| event.text == text);
    let old = container.state.as_ref().and_then(|state| state.model.as_ref());
    if is_known && old.is_none_or(|old| old.verdict.is_mismatch()) {
        return None;
    }
    let time = timestamp::parse(&record.last_checked_at)?;
    Some(Event::render(time, MODEL_DRIFT, &[("source", source)], &text))
}

/// Returns the events about deadlines that are at risk or missed, once for each request and class.
pub fn alerts(
    container: &Container,
    requests: &[RequestLine],
    now: i64,
    source: &str,
) -> Vec<RenderedEvent> {
    let known = container.events().all;
    let mut lines = Vec::new();
    for request in requests {
        let kind = match request.sla {
            Some(SlaClass::Breached) => SLA_BREACH,
            Some(SlaClass::AtRisk) => SLA_AT_RISK,
            _ => continue,
        };
        let is_same = |event: &events::Event| {
            event.kind == kind && event.request.as_deref() == Some(&request.request)
        };
        if known.iter().any(is_same) {
            continue;
        }
        let text = format!(
            "{} until {} (clause requests.sla_compliance)",
            request.subject,
            request.deadline().unwrap_or("no time")
        );
        let facts = [("source", source), ("rfa", request.request.as_str())];
        lines.push(Event::render(now, kind, &facts, &text));
    }
    lines
}
