//! Records of agents' sessions, in `.blue/local/sessions/`.

use serde::{Deserialize, Serialize};

/// One session of an agent.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default)]
pub struct SessionRecord {
    /// `{project}-{realm}-{random}`.
    pub id: String,
    /// The agent's session id.
    pub agent_session: String,
    /// Time of its first event, in UTC.
    pub started: String,
    /// Time of its last event.
    pub last_heartbeat: String,
    /// Time of its end, if there was such an event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
    /// Name of the current work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rfc: Option<String>,
    /// The branch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// Folder of a linked worktree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worktree: Option<String>,
    /// Number of prompts.
    pub turns: u64,
    /// The model that its start reported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// Maximum length of a session id that is stored unchanged.
const MAX_ID: usize = 128;

/// Characters of a session id. The hash of a long id uses their position, from 1.
const CHARACTERS: &[u8; 65] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz._-";

/// Returns true if a session id can be part of a file name and of a line of JSON unchanged.
pub fn is_plain(id: &str) -> bool {
    id.bytes().all(|byte| CHARACTERS.contains(&byte))
}

/// Returns true if a text can be the name of a model. `hooks/session-start` has the same rule.
pub fn is_model(text: &str) -> bool {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "._:/@+[]-".contains(c);
    !text.is_empty() && text.len() <= 100 && text.chars().all(is_allowed)
}

/// Shortens a session id of more than 128 characters to its first 64 characters and a hash of the
/// whole id. `hooks/session-start` computes the same in awk, which has no bit operations and whose
/// numbers are exact only up to 2^53. So the hash is two remainders of polynomials.
pub fn short_id(id: &str) -> String {
    if id.len() <= MAX_ID || !is_plain(id) {
        return id.to_string();
    }
    let (mut a, mut b) = (0u64, 0u64);
    for byte in id.bytes() {
        let code = CHARACTERS.iter().position(|known| *known == byte).map_or(0, |at| at as u64 + 1);
        a = (a * 65_599 + code) % 2_147_483_647;
        b = (b * 69_069 + code) % 2_147_483_629;
    }
    format!("{}-{a:08x}{b:08x}", &id[..64])
}

/// Renders a record.
pub fn bytes(record: &SessionRecord) -> Vec<u8> {
    let mut bytes = serde_json::to_vec_pretty(record).expect("a record is JSON");
    bytes.push(b'\n');
    bytes
}

/// Parses a record. An invalid record counts as absent.
pub fn read(bytes: &[u8]) -> Option<SessionRecord> {
    serde_json::from_slice(bytes).ok()
}
