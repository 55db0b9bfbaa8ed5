//! Commit records of transactions.
//!
//! One lists the files that a build renames and removes, the other the documents that a command
//! changes.

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

/// One document that a command changes.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct EditLine {
    /// The path of its new bytes; after the change, that of its old ones.
    pub staged: String,
    /// The path of the document.
    pub path: String,
    /// Digest of its bytes before the change; `None` if it is created.
    pub before: Option<String>,
    /// Digest of its bytes after the change; `None` if it is removed.
    pub after: Option<String>,
}

/// All documents that a command changes, in order.
#[derive(Debug, Deserialize, Serialize)]
pub struct EditRecord {
    /// The documents.
    pub edits: Vec<EditLine>,
    /// Keyed digest of them.
    seal: Option<String>,
}

impl EditRecord {
    /// Creates a record with the seal of this machine.
    pub fn new(edits: Vec<EditLine>, key: Option<&Key>) -> EditRecord {
        EditRecord { seal: seal_of(&edits, key), edits }
    }

    /// Returns true if this machine wrote it. Without a key that cannot be known.
    pub fn is_sealed(&self, key: Option<&Key>) -> bool {
        key.is_some() && self.seal == seal_of(&self.edits, key)
    }
}

fn seal_of(edits: &[EditLine], key: Option<&Key>) -> Option<String> {
    let bytes = serde_json::to_vec(edits).expect("a record is JSON");
    key.map(|key| key.digest("document edits", &bytes).to_string())
}
