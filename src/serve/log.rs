//! The audit log: which text was delivered to which session.

use jiff::{SignedDuration, Timestamp};

use crate::model::layout::{AUDIT, AUDIT_BEFORE};
use crate::model::{Digest, Level};
use crate::root::{Content, Root};
use crate::wire::audit::{self, AuditLine};
use crate::wire::jsonl::BundleLine;

/// Seconds between two deliveries of one address to one session, and between two notifications of
/// its changes.
pub const COOLDOWN: u32 = 30;

/// The lines of the audit log.
#[derive(Debug, Default)]
pub struct AuditLog {
    /// Its lines, oldest first.
    pub lines: Vec<AuditLine>,
    /// Lines that could not be read.
    pub n_lost: usize,
}

/// The state of a bundle in a session, or in any session.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Staleness {
    /// It was never delivered.
    NeverInjected,
    /// Other bytes were delivered under its address.
    ContentChanged,
    /// These bytes were delivered last.
    Fresh,
}

impl Staleness {
    /// In words.
    pub fn text(self) -> &'static str {
        match self {
            Staleness::NeverInjected => "never injected",
            Staleness::ContentChanged => "changed since",
            Staleness::Fresh => "fresh",
        }
    }
}

impl AuditLog {
    /// Reads the log and the one before it; with a session, only lines that its name occurs in. A
    /// log that cannot be read is empty.
    pub fn open(root: &Root, session: Option<&str>) -> AuditLog {
        let mut log = AuditLog::default();
        for path in [AUDIT_BEFORE, AUDIT] {
            if let Ok(Some(Content::Bytes(bytes, _))) = root.read(path, 1 << 30) {
                let (lines, n_lost) = audit::read(&bytes, session);
                log.lines.extend(lines);
                log.n_lost += n_lost;
            }
        }
        log
    }

    /// The last delivery of an address, to one session or to any.
    pub fn last(&self, source: &str, session: Option<&str>) -> Option<&AuditLine> {
        let to = |line: &&AuditLine| session.is_none_or(|session| line.session_id == session);
        self.lines.iter().rev().filter(to).find(|line| line.source == source)
    }

    /// Compares a bundle with what was last delivered under its address.
    pub fn staleness(&self, bundle: &BundleLine, session: Option<&str>) -> Staleness {
        match self.last(&bundle.source, session) {
            None => Staleness::NeverInjected,
            Some(line) if line.content_hash == bundle.content_hash => Staleness::Fresh,
            Some(_) => Staleness::ContentChanged,
        }
    }

    /// Returns true if an address was delivered to a session less than [`COOLDOWN`] ago. A delivery
    /// in the future does not count: the clock was set back.
    pub fn is_cooling(&self, source: &str, session: &str, now: Timestamp) -> bool {
        let last = self.last(source, Some(session));
        let then = last.and_then(|line| line.timestamp.parse::<Timestamp>().ok());
        then.is_some_and(|then| {
            then <= now && now.duration_since(then) < SignedDuration::from_secs(COOLDOWN.into())
        })
    }
}

/// The line of a delivered bundle, without time, session and event.
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

/// The line of a delivered text, without time, session and event.
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

/// The line of a refused address, without time and session.
pub fn refusal_line(address: &str) -> AuditLine {
    AuditLine { source: address.to_string(), ..AuditLine::default() }
}

/// The event of a text that is not whole: `resources/read brief`.
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
