//! Commit record of a transaction: the files it renames and removes.

use serde::{Deserialize, Serialize};

use crate::model::Key;

/// Changes of one transaction, in order.
#[derive(Debug, Deserialize, Serialize)]
pub struct CommitRecord {
    /// Staged file, target path, digest of the bytes.
    pub writes: Vec<(String, String, String)>,
    /// Path, and the digest that the file must have to be removed.
    pub removals: Vec<(String, String)>,
    /// Keyed digest of both, if this machine has a key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seal: Option<String>,
}

impl CommitRecord {
    /// Adds the seal of this machine.
    pub fn sealed(self, key: Option<&Key>) -> CommitRecord {
        CommitRecord { seal: self.computed_seal(key), ..self }
    }

    /// Returns true if this machine wrote it. A record that came with a clone could replace files.
    pub fn is_sealed(&self, key: Option<&Key>) -> bool {
        self.seal == self.computed_seal(key)
    }

    fn computed_seal(&self, key: Option<&Key>) -> Option<String> {
        let bytes = serde_json::to_vec(&(&self.writes, &self.removals)).expect("a record is JSON");
        key.map(|key| key.digest("transaction", &bytes).to_string())
    }
}
