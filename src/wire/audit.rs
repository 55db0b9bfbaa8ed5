//! Lines of the audit log, `.blue/local/audit.jsonl`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One delivery of one text to one session. Shell hooks write it too, so it stays flat.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[schemars(title = "line of audit.jsonl")]
pub struct AuditLine {
    /// Time in UTC: `2026-01-25T12:00:00Z`.
    pub timestamp: String,
    /// The agent's session id; empty if it gave none.
    pub session_id: String,
    /// The hook's event, or the request of a reader.
    pub event: String,
    /// Address of the delivered text.
    pub source: String,
    /// File that it was copied from, below the root.
    pub artifact: String,
    /// Digest of the delivered bytes.
    pub content_hash: String,
    /// Number of tokens.
    pub tokens: u64,
    /// Number of bytes.
    pub bytes: u64,
    /// The model that the start of the session reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// Session id that `blue doctor` uses to run a hook. No agent receives that delivery, so [`read`]
/// skips its lines.
pub const PROBE: &str = "doctor";

/// Renders a line, with its line end.
pub fn line(entry: &AuditLine) -> Vec<u8> {
    let mut bytes = serde_json::to_vec(entry).expect("a line is JSON");
    bytes.push(b'\n');
    bytes
}

/// Returns the lines of a log, oldest first, and the number of lines that could not be parsed. With a
/// session, only lines that contain its id are parsed.
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
    fn a_torn_line_does_not_affect_others() {
        let entry = AuditLine {
            timestamp: "2026-01-25T12:00:00Z".into(),
            session_id: "s".into(),
            event: "SessionStart".into(),
            source: "blue://context/session".into(),
            artifact: ".blue/context/session.md".into(),
            content_hash: "blake3:00".into(),
            tokens: 1,
            bytes: 2,
            model: None,
        };
        let mut log = line(&entry);
        log.extend(b"{\"timestamp\":\"2026\n");
        log.extend(line(&entry));
        log.extend(b"{\"tim");
        assert_eq!(read(&log, None), (vec![entry.clone(), entry.clone()], 2));
        assert_eq!(read(&log, Some("other")), (Vec::new(), 0));
        assert_eq!(read(&log, Some("s")).0, vec![entry.clone(), entry.clone()]);
        let probe = AuditLine { session_id: PROBE.into(), ..entry };
        assert_eq!(read(&line(&probe), None), (Vec::new(), 0));
    }
}
