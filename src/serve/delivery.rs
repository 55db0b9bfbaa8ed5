//! What was delivered to whom, and what is due.

use jiff::{SignedDuration, Timestamp};

use crate::root::{Content, Root};
use crate::wire::audit::{self, AuditLine};
use crate::wire::jsonl::BundleLine;

/// The same text is given to the same session, and a change of it told, at most once in so many seconds.
pub const COOLDOWN: u32 = 30;

/// The audit log as it is.
#[derive(Debug, Default)]
pub struct Log {
    /// Its lines, oldest first.
    pub lines: Vec<AuditLine>,
    /// Lines that could not be read.
    pub n_lost: usize,
}

/// Whether a session, or anybody, has what was built.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Staleness {
    /// It was never delivered.
    NeverInjected,
    /// Something else was delivered under its address.
    ContentChanged,
    /// These very bytes were.
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

impl Log {
    /// Reads a log and the one before it, all of it or what one session's name occurs in. What is
    /// missing or cannot be read is empty.
    pub fn open(root: &Root, paths: [&str; 2], session: Option<&str>) -> Log {
        let mut log = Log::default();
        for path in paths {
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

    /// Whether a bundle is what was last delivered.
    pub fn staleness(&self, bundle: &BundleLine, session: Option<&str>) -> Staleness {
        match self.last(&bundle.source, session) {
            None => Staleness::NeverInjected,
            Some(line) if line.content_hash == bundle.content_hash => Staleness::Fresh,
            Some(_) => Staleness::ContentChanged,
        }
    }

    /// Whether a session was given an address too recently to be given it again. A clock that
    /// jumped back makes nobody wait.
    pub fn is_cooling(&self, source: &str, session: &str, now: Timestamp) -> bool {
        let last = self.last(source, Some(session));
        let then = last.and_then(|line| line.timestamp.parse::<Timestamp>().ok());
        then.is_some_and(|then| {
            then <= now && now.duration_since(then) < SignedDuration::from_secs(COOLDOWN.into())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(session: &str, time: &str, hash: &str) -> AuditLine {
        AuditLine {
            timestamp: time.into(),
            session_id: session.into(),
            event: "SessionStart".into(),
            source: "blue://x".into(),
            artifact: "x".into(),
            content_hash: hash.into(),
            tokens: 1,
            bytes: 1,
        }
    }

    #[test]
    fn a_session_cools_down_unless_the_clock_jumped_back() {
        let log = Log { lines: vec![line("a", "2026-01-25T12:00:00Z", "h")], n_lost: 0 };
        let at = |text: &str| text.parse::<Timestamp>().expect("a time");
        assert!(log.is_cooling("blue://x", "a", at("2026-01-25T12:00:29Z")));
        assert!(!log.is_cooling("blue://x", "a", at("2026-01-25T12:00:30Z")));
        assert!(!log.is_cooling("blue://x", "b", at("2026-01-25T12:00:01Z")));
        assert!(!log.is_cooling("blue://x", "a", at("2026-01-25T11:00:00Z")));
    }
}
