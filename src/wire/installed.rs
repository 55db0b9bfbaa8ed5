//! Record of an installation: `blue install` writes it, `blue uninstall` reads it.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::jsonc::SettingsError;
use super::register::{self, Registration, UndoInfo};
use crate::model::{Digest, Key};

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

/// Result of removing blue from a file.
#[derive(Debug, Eq, PartialEq)]
pub enum Removed {
    /// blue was not in it.
    Nothing,
    /// The text without blue.
    Text(String),
    /// The file held only blue's entries, and is to be removed.
    File,
}

/// Returns the text with blue registered, and the record that is needed to remove it again. `before`
/// is `None` if there is no file, and `previous` is the record of an earlier registration.
pub fn register(
    before: Option<&str>,
    previous: Option<&FileRecord>,
    registration: &Registration,
) -> Result<(String, FileRecord), SettingsError> {
    let old = before.unwrap_or_default();
    // The targets of an earlier installation are not among those that are registered now.
    let is_extended = previous.is_some() && matches!(registration, Registration::Targets(_));
    let was_registered = is_extended || register::is_registered(old, registration)?;
    let mut record = match previous.filter(|_| was_registered) {
        Some(previous) => previous.clone(),
        None => FileRecord {
            created: before.is_none(),
            written: String::new(),
            undo: UndoInfo::default(),
            original: None,
        },
    };
    if was_registered && previous.is_none() {
        record.undo = UndoInfo::assumed(registration);
        let removed = register::remove(old, registration, &record.undo)?;
        record.created = register::is_empty_object(&removed);
    }
    let after = register::add(old, registration, &mut record.undo)?;
    record.written = Digest::of(after.as_bytes()).to_string();
    if let Some(text) = before.filter(|_| !was_registered) {
        let removed = register::remove(&after, registration, &record.undo)?;
        record.original = (removed != text).then(|| text.to_string());
    }
    Ok((after, record))
}

/// Removes blue from the text of a file. `record` is the record of the registration.
pub fn unregister(
    text: &str,
    record: Option<&FileRecord>,
    registration: &Registration,
) -> Result<Removed, SettingsError> {
    let original = record.and_then(|record| record.original.clone());
    let digest = Digest::of(text.as_bytes()).to_string();
    if let Some(original) = &original
        && record.is_some_and(|record| record.written == digest)
    {
        return Ok(Removed::Text(original.clone()));
    }
    if !register::is_registered(text, registration)? {
        return Ok(Removed::Nothing);
    }
    let assumed = UndoInfo::assumed(registration);
    let undo = record.map_or(&assumed, |record| &record.undo);
    let removed = register::remove(text, registration, undo)?;
    let is_empty = register::is_empty_object(&removed);
    Ok(match original {
        Some(original) if is_empty => Removed::Text(original),
        _ if is_empty && record.is_none_or(|record| record.created) => Removed::File,
        _ if removed == text => Removed::Nothing,
        _ => Removed::Text(removed),
    })
}
