//! What blue remembers of an agent's session, in `.blue/local/sessions/`.

use serde::{Deserialize, Serialize};

/// One session of an agent.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default)]
pub struct SessionRecord {
    /// `{project}-{realm}-{random}`.
    pub id: String,
    /// The agent's own name of it.
    pub agent_session: String,
    /// When blue first heard of it, in UTC.
    pub started: String,
    /// When it was last heard of.
    pub last_heartbeat: String,
    /// When it ended, if it said so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
    /// What the current work is called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rfc: Option<String>,
    /// The branch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The worktree's folder, if it is not the main one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worktree: Option<String>,
    /// Prompts so far.
    pub turns: u64,
}

/// The longest session id that is stored as it is.
const MAX_ID: usize = 128;

/// The characters of a session id; the hash of a long one counts them from 1.
const CHARACTERS: &[u8; 65] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz._-";

/// Whether a session id can be part of a file name and of a line of JSON as it is.
pub fn is_plain(id: &str) -> bool {
    id.bytes().all(|byte| CHARACTERS.contains(&byte))
}

/// A session id of at most 128 characters: a longer one becomes its first 64 and a hash of all of it.
/// `hooks/session-start` computes the same in awk, which has no bit operations and counts exactly only
/// to 2^53; so the hash is two remainders of polynomials.
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

/// The bytes of a record.
pub fn bytes(record: &SessionRecord) -> Vec<u8> {
    let mut bytes = serde_json::to_vec_pretty(record).expect("a record is JSON");
    bytes.push(b'\n');
    bytes
}

/// Reads a record; one that cannot be read is the same as none.
pub fn read(bytes: &[u8]) -> Option<SessionRecord> {
    serde_json::from_slice(bytes).ok()
}
