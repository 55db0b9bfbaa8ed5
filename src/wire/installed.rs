//! What `blue install` remembers for `blue uninstall`.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::register::UndoInfo;
use crate::model::Key;

/// Everything one installation made.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Installed {
    /// The settings files, by path.
    pub files: BTreeMap<String, File>,
    /// Hook scripts that were not there, with the digest of what was written.
    #[serde(default)]
    pub scripts: BTreeMap<String, String>,
    /// Folders that were not there.
    #[serde(default)]
    pub folders: BTreeSet<String>,
}

/// One settings file.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct File {
    /// Whether there was no such file.
    pub created: bool,
    /// The digest of what was written.
    pub left: String,
    /// What the text had before.
    pub traces: UndoInfo,
    /// The text before, if taking blue out again does not give it: only for a text without a
    /// value. Settings can hold secrets, and those are not copied.
    pub original: Option<String>,
}

/// Reads it back; `None` if this machine did not write it: a record that came with a clone would say
/// what to write into settings. Without one, all that is blue's alone goes.
pub fn read(bytes: &[u8], key: &Key) -> Option<Installed> {
    serde_json::from_str(key.unseal("installed", bytes)?).ok()
}

/// Its bytes, sealed with this machine's key.
pub fn write(installed: &Installed, key: &Key) -> Vec<u8> {
    let body = serde_json::to_string_pretty(installed).expect("a record is JSON");
    key.seal("installed", &format!("{body}\n")).into_bytes()
}
