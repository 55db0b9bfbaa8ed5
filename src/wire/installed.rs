//! Record of an installation: `blue install` writes it, `blue uninstall` reads it.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::register::UndoInfo;
use crate::model::Key;

/// Everything that installations created or changed.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct InstallRecord {
    /// Settings files by path.
    pub files: BTreeMap<String, FileRecord>,
    /// Hook scripts that did not exist, with the digest of the bytes that were written.
    #[serde(default)]
    pub scripts: BTreeMap<String, String>,
    /// Folders that did not exist.
    #[serde(default)]
    pub folders: BTreeSet<String>,
}

/// One settings file.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct FileRecord {
    /// True if the file did not exist.
    pub created: bool,
    /// Digest of the text that was written.
    #[serde(rename = "left")]
    pub written: String,
    /// State of the previous text.
    #[serde(rename = "traces")]
    pub undo: UndoInfo,
    /// Previous text, if removing blue's entries does not restore it. That is only the case for a text
    /// without a value; other settings can contain secrets and are not copied.
    pub original: Option<String>,
}

/// Reads a record; `None` if this machine did not write it. A record that came with a clone could
/// otherwise choose the bytes that are written into settings.
pub fn read(bytes: &[u8], key: &Key) -> Option<InstallRecord> {
    serde_json::from_str(key.unseal("installed", bytes)?).ok()
}

/// Serializes a record and seals it with this machine's key.
pub fn write(record: &InstallRecord, key: &Key) -> Vec<u8> {
    let body = serde_json::to_string_pretty(record).expect("a record is JSON");
    key.seal("installed", &format!("{body}\n")).into_bytes()
}
