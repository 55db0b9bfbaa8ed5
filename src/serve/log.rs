//! The audit log: the texts that were delivered to each session.

use jiff::{SignedDuration, Timestamp};

use crate::model::layout::{AUDIT, ROTATED_AUDIT};
use crate::model::{Digest, Level};
use crate::root::Root;
use crate::wire::audit::{self, AuditLine};
use crate::wire::jsonl::BundleLine;

/// Minimum number of seconds between two deliveries of an address to a session, and between two
/// notifications that it changed.
pub const COOLDOWN: u32 = 30;

/// The lines of the audit log.
#[derive(Debug, Default)]
pub struct AuditLog {
    /// The lines that could be parsed, oldest first.
    pub lines: Vec<AuditLine>,
    /// Number of lines that could not be parsed.
    pub n_lost: usize,
}

/// The result of comparing a bundle with its last delivery.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Staleness {
    /// The bundle was never delivered.
    NeverInjected,
    /// Another version was delivered last.
    ContentChanged,
    /// This version was delivered last.
    Fresh,
}

impl Staleness {
    /// Returns the state in words.
    pub fn text(self) -> &'static str {
        match self {
            Staleness::NeverInjected => "never injected",
            Staleness::ContentChanged => "changed since",
            Staleness::Fresh => "fresh",
        }
    }
}

impl AuditLog {
    /// Reads the log and the rotated log before it. With a session, only lines that contain its name
    /// are parsed. A log that cannot be read counts as empty.
    pub fn open(root: &Root, session: Option<&str>) -> AuditLog {
        let mut log = AuditLog::default();
        for path in [ROTATED_AUDIT, AUDIT] {
            if let Some(bytes) = root.readable_bytes(path, 1 << 30) {
                let (lines, n_lost) = audit::read(&bytes, session);
                log.lines.extend(lines);
                log.n_lost += n_lost;
            }
        }
        log
    }

    /// Returns the last delivery of an address, to one session or to any.
    pub fn last(&self, source: &str, session: Option<&str>) -> Option<&AuditLine> {
        self.lines.iter().rfind(|line| {
            line.source == source && session.is_none_or(|session| line.session_id == session)
        })
    }

    /// Compares a bundle with its last delivery, to one session or to any.
    pub fn staleness(&self, bundle: &BundleLine, session: Option<&str>) -> Staleness {
        match self.last(&bundle.source, session) {
            None => Staleness::NeverInjected,
            Some(line) if line.content_hash == bundle.content_hash => Staleness::Fresh,
            Some(_) => Staleness::ContentChanged,
        }
    }

    /// Returns true if an address was delivered to a session less than [`COOLDOWN`] seconds ago. A
    /// delivery in the future does not count, because the clock was set back.
    pub fn is_cooling(&self, source: &str, session: &str, now: Timestamp) -> bool {
        let last = self.last(source, Some(session));
        let then = last.and_then(|line| line.timestamp.parse::<Timestamp>().ok());
        then.is_some_and(|then| {
            then <= now && now.duration_since(then) < SignedDuration::from_secs(COOLDOWN.into())
        })
    }
}

/// Returns the log line of a delivered bundle, without time, session and event.
pub fn bundle_line(bundle: &BundleLine) -> AuditLine {
    AuditLine {
        source: bundle.source.clone(),
        artifact: bundle.artifact.clone(),
        content_hash: bundle.content_hash.clone(),
        tokens: bundle.tokens,
        bytes: bundle.bytes,
        ..AuditLine::default()
    }
}

/// Returns the log line of a delivered text, without time, session and event.
pub fn text_line(source: &str, artifact: &str, text: &str, tokens: u64) -> AuditLine {
    AuditLine {
        source: source.to_string(),
        artifact: artifact.to_string(),
        content_hash: Digest::of(text.as_bytes()).to_string(),
        tokens,
        bytes: text.len() as u64,
        ..AuditLine::default()
    }
}

/// Returns the log line of a refused address, without time, session and event.
pub fn refusal_line(address: &str) -> AuditLine {
    AuditLine { source: address.to_string(), ..AuditLine::default() }
}

/// Returns the name of an event, with the level of detail if it is not full: `resources/read brief`.
pub fn event_at(event: &str, level: Level) -> String {
    match level {
        Level::Full => event.to_string(),
        level => format!("{event} {}", level.name()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_cools_down_unless_the_clock_jumped_back() {
        let line = AuditLine {
            timestamp: "2026-01-25T12:00:00Z".into(),
            session_id: "a".into(),
            ..text_line("blue://x", "x", "text", 1)
        };
        let log = AuditLog { lines: vec![line], n_lost: 0 };
        let at = |text: &str| text.parse::<Timestamp>().expect("a time");
        assert!(log.is_cooling("blue://x", "a", at("2026-01-25T12:00:29Z")));
        assert!(!log.is_cooling("blue://x", "a", at("2026-01-25T12:00:30Z")));
        assert!(!log.is_cooling("blue://x", "b", at("2026-01-25T12:00:01Z")));
        assert!(!log.is_cooling("blue://x", "a", at("2026-01-25T11:00:00Z")));
    }
}
