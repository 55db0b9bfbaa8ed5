//! The commit record: what a transaction will rename and remove once it is on disk.

use serde::{Deserialize, Serialize};

use crate::model::Key;

/// Everything one transaction does, in order.
#[derive(Debug, Deserialize, Serialize)]
pub struct CommitRecord {
    /// Staged file, target, digest of the bytes.
    pub writes: Vec<(String, String, String)>,
    /// Path, and the digest it must still have to be removed.
    pub removals: Vec<(String, String)>,
    /// The keyed digest of both, where this machine has a key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seal: Option<String>,
}

impl CommitRecord {
    /// The record with the seal of this machine.
    pub fn sealed(self, key: Option<&Key>) -> CommitRecord {
        CommitRecord { seal: self.computed_seal(key), ..self }
    }

    /// Whether this machine wrote it: a record that came with a clone would replace files.
    pub fn is_sealed(&self, key: Option<&Key>) -> bool {
        self.seal == self.computed_seal(key)
    }

    fn computed_seal(&self, key: Option<&Key>) -> Option<String> {
        let bytes = serde_json::to_vec(&(&self.writes, &self.removals)).expect("a record is JSON");
        key.map(|key| key.digest("transaction", &bytes).to_string())
    }
}
