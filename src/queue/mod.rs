//! Reads requests from a SQLite database. Nothing here writes.

mod database;
mod rows;

use std::collections::BTreeMap;

pub use database::RequestQueue;

use crate::model::{Digest, Hasher};
use crate::responsibility::inbox::Request;

/// The rows of a queue that concern one responsibility.
#[derive(Clone, Debug, Default)]
pub struct SelectedRequests {
    /// Open requests, by id.
    pub requests: BTreeMap<String, Request>,
    /// Status in the table `responsibilities`, if it has a row.
    pub status: Option<String>,
    /// Problems in the rows.
    pub findings: Vec<String>,
}

impl SelectedRequests {
    /// Hashes the rows in a form that does not depend on how the database stores them.
    pub fn digest(&self) -> Digest {
        let mut hasher = Hasher::new();
        for request in self.requests.values() {
            let Request { id, target, origin, status, priority, subject, .. } = request;
            for text in [id, target, origin, status, subject] {
                hasher.field(text.as_bytes());
            }
            hasher.field(&priority.to_le_bytes());
            let times = [request.created, request.available, request.acknowledged];
            let windows = [request.response_seconds, request.completion_seconds];
            for number in times.into_iter().chain(windows) {
                hasher.field(&number.map_or([].as_slice().to_vec(), |n| n.to_le_bytes().to_vec()));
            }
        }
        hasher.field(self.status.as_deref().unwrap_or_default().as_bytes()).digest()
    }
}
