//! The commit record: what a transaction will rename and remove once it is on disk.

use serde::{Deserialize, Serialize};

/// Everything one transaction does, in order.
#[derive(Debug, Deserialize, Serialize)]
pub struct CommitRecord {
    /// Staged file, target, digest of the bytes.
    pub writes: Vec<(String, String, String)>,
    /// Path, and the digest it must still have to be removed.
    pub removals: Vec<(String, String)>,
}
