//! The usage cache, `.blue/local/usage`: reads on this machine, counted from the audit log.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::cache::Seal;
use crate::model::Key;

/// Raised by hand whenever [`Usage`] changes, or the same log gives other counts.
const FORMAT: u32 = 2;

/// Counts of all deliveries so far. The log is rotated; the counts stay.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Usage {
    /// Digest of the first line of the log that was read last.
    pub log: String,
    /// Number of bytes that were read of that log.
    pub offset: u64,
    /// Time of the first delivery, in seconds since 1970; 0 if there was none.
    pub first: i64,
    /// Time of the last delivery.
    pub last: i64,
    /// Number of deliveries.
    pub n_events: u64,
    /// Reads of each document, by address.
    pub documents: BTreeMap<String, Reads>,
    /// Documents read in the latest sessions, the latest session last.
    pub sessions: Vec<(String, Vec<String>)>,
    /// Number of sessions in which two documents were read; the smaller address comes first.
    pub together: BTreeMap<String, BTreeMap<String, u32>>,
}

/// Reads of one document.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Reads {
    /// Number of reads.
    pub n: u64,
    /// Number of reads in thousandths, weighted by age: older reads count less.
    pub heat: u64,
    /// Day since 1970 that `heat` was computed for.
    pub day: i64,
}

/// Returns the seal of the cache. It does not depend on blue's version: the counts outlive an update.
pub fn seal(key: &Key) -> Seal {
    Seal::new("usage", FORMAT, key, b"")
}
