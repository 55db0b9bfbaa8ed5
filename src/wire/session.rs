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
