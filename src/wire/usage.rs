//! What was read on this machine, added up from the audit log and kept in `.blue/local/usage`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::model::Key;

/// Raised by hand whenever the same log adds up to something else.
const VERSION: u32 = 1;

/// Everything the log said so far. The log makes room for itself; this remembers.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Usage {
    version: u32,
    /// The digest of the first line of the log that was read last.
    pub log: String,
    /// How far it was read, in bytes.
    pub offset: u64,
    /// When the first delivery was, in seconds since 1970; 0 if there was none.
    pub first: i64,
    /// When the last one was.
    pub last: i64,
    /// How many deliveries there were.
    pub n_events: u64,
    /// Documents by address.
    pub documents: BTreeMap<String, Reads>,
    /// What the latest sessions read, the latest last.
    pub sessions: Vec<(String, Vec<String>)>,
    /// In how many sessions two documents were read; the smaller address first.
    pub together: BTreeMap<String, BTreeMap<String, u32>>,
}

/// How often and how lately a document was read.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Reads {
    /// How often.
    pub n: u64,
    /// The same in thousandths, where what is long ago counts less.
    pub heat: u64,
    /// The day, since 1970, for which `heat` holds.
    pub day: i64,
}

/// The bytes of the file, sealed with this machine's key.
pub fn write(usage: &Usage, key: &Key) -> Vec<u8> {
    let usage = Usage { version: VERSION, ..usage.clone() };
    let body = serde_json::to_string(&usage).expect("counts are JSON");
    key.seal("usage", &format!("{body}\n")).into_bytes()
}

/// Reads the file back; what this machine did not write is absent.
pub fn read(bytes: &[u8], key: &Key) -> Option<Usage> {
    let body = key.unseal("usage", bytes)?;
    serde_json::from_str::<Usage>(body).ok().filter(|usage| usage.version == VERSION)
}
