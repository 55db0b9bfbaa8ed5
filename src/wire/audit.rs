//! The lines of the audit log, `.blue/local/audit.jsonl`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One delivery of one text to one session. Shell hooks write it too, so it stays flat.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[schemars(title = "line of audit.jsonl")]
pub struct AuditLine {
    /// When, in UTC: `2026-01-25T12:00:00Z`.
    pub timestamp: String,
    /// The agent's own name of its session; empty if it gave none.
    pub session_id: String,
    /// What brought it about: the hook's event, or what a reader asked for.
    pub event: String,
    /// The address of what was delivered.
    pub source: String,
    /// The file it was copied from, below the root.
    pub artifact: String,
    /// The digest of the bytes that were delivered.
    pub content_hash: String,
    /// Their tokens.
    pub tokens: u64,
    /// How many they were.
    pub bytes: u64,
}

/// The session under which `blue doctor` tries a hook. No agent receives that
/// delivery, so [`read`] leaves its lines out.
pub const PROBE: &str = "doctor";

/// A line as it is appended, its end included.
pub fn line(entry: &AuditLine) -> Vec<u8> {
    let mut bytes = serde_json::to_vec(entry).expect("a line is JSON");
    bytes.push(b'\n');
    bytes
}

/// The lines of a log, oldest first, and how many could not be read: a torn one loses itself. With a
/// session, only lines that its name occurs in are looked at.
pub fn read(bytes: &[u8], session: Option<&str>) -> (Vec<AuditLine>, usize) {
    let mut n_lost = 0;
    let mut lines = Vec::new();
    let finder = memchr::memmem::Finder::new(session.unwrap_or_default());
    let mut rest = bytes;
    while !rest.is_empty() {
        let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        let line = &rest[..end];
        rest = rest.get(end + 1..).unwrap_or_default();
        if line.is_empty() || finder.find(line).is_none() {
            continue;
        }
        match serde_json::from_slice::<AuditLine>(line) {
            Ok(line) if line.session_id == PROBE => {}
            Ok(line) => lines.push(line),
            Err(_) => n_lost += 1,
        }
    }
    (lines, n_lost)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_torn_line_loses_only_itself() {
        let entry = AuditLine {
            timestamp: "2026-01-25T12:00:00Z".into(),
            session_id: "s".into(),
            event: "SessionStart".into(),
            source: "blue://context/session".into(),
            artifact: ".blue/context/session.md".into(),
            content_hash: "blake3:00".into(),
            tokens: 1,
            bytes: 2,
        };
        let mut log = line(&entry);
        log.extend(b"{\"timestamp\":\"2026\n");
        log.extend(line(&entry));
        log.extend(b"{\"tim");
        assert_eq!(read(&log, None), (vec![entry.clone(), entry.clone()], 2));
        assert_eq!(read(&log, Some("nobody")), (Vec::new(), 0));
        assert_eq!(read(&log, Some("s")).0, vec![entry.clone(), entry.clone()]);
        let probe = AuditLine { session_id: PROBE.into(), ..entry };
        assert_eq!(read(&line(&probe), None), (Vec::new(), 0));
    }
}
