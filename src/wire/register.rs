//! Registers blue in the text of a file that people share with it, and removes it again.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

pub use super::json_entry::{IncludedFiles, JsonEntry, ServerForm};
pub use super::json_settings::is_empty_object;
use super::jsonc::SettingsError;
use super::{attributes, codex_server, config_targets, copilot_hooks, json_settings};
use crate::model::BuildTarget;

/// Everything that blue writes into one file.
#[derive(Clone, Debug)]
pub enum Registration {
    /// Entries in settings in JSON.
    Json(Vec<JsonEntry>),
    /// blue's server in the settings of Codex, which are TOML.
    CodexServer,
    /// blue's lines of `.gitattributes`.
    Attributes,
    /// Names under `targets` in `.blue/config.yaml`.
    Targets(Vec<BuildTarget>),
    /// Hooks in a file that only blue writes, with its text.
    HookFile(String),
}

/// State of a text before blue was registered, where the text itself does not show it afterwards.
/// Containers are named by their keys with `/` between them; the empty name is the root.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct UndoInfo {
    /// Containers that did not exist.
    pub created: BTreeSet<String>,
    /// Containers that were empty, with the white space before their closing bracket.
    pub empty: BTreeMap<String, String>,
    /// Elements that were added to lists of people's.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub elements: BTreeSet<String>,
}

impl UndoInfo {
    /// Assumes, for a text without a record, that blue created all containers that hold only blue's
    /// entries. People can write the same instructions, so these are not assumed to be blue's.
    pub fn assumed(registration: &Registration) -> UndoInfo {
        let mut undo = UndoInfo::default();
        if let Registration::Json(entries) = registration {
            let is_own = |entry: &&JsonEntry| !matches!(entry, JsonEntry::Instructions(_));
            undo.created = entries.iter().filter(is_own).flat_map(JsonEntry::containers).collect();
        }
        undo
    }
}

/// A hook command that pretends to be blue's.
pub struct Impostor {
    /// The command.
    pub command: String,
    /// True if [`add`] replaces it.
    pub is_replaced: bool,
}

/// Returns true if a text contains any entry of blue's.
pub fn is_registered(text: &str, registration: &Registration) -> Result<bool, SettingsError> {
    Ok(match registration {
        Registration::Json(entries) => json_settings::is_registered(text, entries)?,
        Registration::CodexServer => codex_server::is_in(text)?,
        Registration::Attributes => attributes::is_in(text),
        Registration::Targets(targets) => config_targets::has_any(text, targets),
        Registration::HookFile(_) => copilot_hooks::is_own(text),
    })
}

/// Finds hook commands that pretend to be blue's.
pub fn impostors(text: &str, registration: &Registration) -> Result<Vec<Impostor>, SettingsError> {
    match registration {
        Registration::Json(entries)
            if entries.iter().any(|entry| matches!(entry, JsonEntry::Hooks(_))) =>
        {
            json_settings::impostors(text)
        }
        _ => Ok(Vec::new()),
    }
}

/// Returns the files that opencode includes with some targets. It reads `AGENTS.md` too.
pub fn opencode_files(targets: &[BuildTarget]) -> IncludedFiles {
    match targets.contains(&BuildTarget::AgentsMd) {
        true => IncludedFiles::Work,
        false => IncludedFiles::SessionAndWork,
    }
}

/// Returns the purposes of blue's hooks in a text; none if it is not valid.
pub fn roles(text: &str, registration: &Registration) -> Vec<String> {
    match registration {
        Registration::Json(_) => json_settings::roles(text),
        Registration::HookFile(_) => copilot_hooks::roles(text),
        Registration::CodexServer | Registration::Attributes | Registration::Targets(_) => {
            Vec::new()
        }
    }
}

/// Returns the reason why a text must not be changed: it belongs to another program.
pub fn taken(text: &str, registration: &Registration) -> Option<&'static str> {
    let is_taken = |entry: &JsonEntry| match entry {
        JsonEntry::Server(form) => json_settings::is_name_taken(text, *form),
        JsonEntry::Hooks(_) | JsonEntry::Instructions(_) => false,
    };
    match registration {
        Registration::Json(entries) if entries.iter().any(is_taken) => Some(OTHER_SERVER),
        Registration::CodexServer if codex_server::is_name_taken(text) => Some(OTHER_SERVER),
        Registration::HookFile(_) if !text.trim().is_empty() && !copilot_hooks::is_own(text) => {
            Some("it has hooks that are not blue's")
        }
        _ => None,
    }
}

const OTHER_SERVER: &str = "another server is called blue";

/// Returns the text with blue registered. Entries of an earlier version are updated in place and
/// missing ones are appended; all other bytes stay as they are. `undo` is updated for [`remove`].
pub fn add(
    text: &str,
    registration: &Registration,
    undo: &mut UndoInfo,
) -> Result<String, SettingsError> {
    match registration {
        Registration::Json(entries) => json_settings::add(text, entries, undo),
        Registration::CodexServer => codex_server::add(text),
        Registration::Attributes => Ok(attributes::add(text)),
        Registration::Targets(targets) => config_targets::add(text, targets, undo),
        Registration::HookFile(content) => Ok(content.clone()),
    }
}

/// Returns the text without blue: the inverse of [`add`].
pub fn remove(
    text: &str,
    registration: &Registration,
    undo: &UndoInfo,
) -> Result<String, SettingsError> {
    match registration {
        Registration::Json(entries) => json_settings::remove(text, entries, undo),
        Registration::CodexServer => Ok(codex_server::remove(text)),
        Registration::Attributes => Ok(attributes::remove(text)),
        Registration::Targets(_) => Ok(config_targets::remove(text, undo)),
        Registration::HookFile(_) => Ok(String::new()),
    }
}
