//! `worktree:` in the configuration, `.blue/worktree.json`, and the record of a worktree that is made.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::schema::Refusal;
use crate::model::branch_name;

/// Work on one RFC on a branch and in a worktree of its own.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct WorktreeKeys {
    /// Prefix of branches that are named after an RFC; default `feature/`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch_prefix: Option<String>,
    /// Branch that work starts from and returns to; default: the one that `origin/HEAD` names, else
    /// `main`, else `master`, else HEAD.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// Former prefixes, whose branches still name an RFC.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<String>,
}

impl WorktreeKeys {
    /// Returns the prefix of branches. `older` is that of the older spelling.
    pub(super) fn prefix(&self, older: Option<String>) -> String {
        self.branch_prefix.clone().or(older).unwrap_or_else(|| "feature/".to_string())
    }
}

/// Returns prefixes that git does not accept, and both spellings of the prefix if both are given.
pub(super) fn refusals(config: &Value) -> Vec<Refusal> {
    let mut refused = Vec::new();
    let prefix = config.pointer("/worktree/branch_prefix");
    if prefix.is_some() && config.pointer("/workflow/branch_prefix").is_some() {
        for key in ["worktree", "workflow"] {
            refused.push(Refusal {
                pointer: format!("/{key}/branch_prefix"),
                message: "the prefix of branches is given twice".to_string(),
                hint: "remove workflow.branch_prefix, the older spelling".to_string(),
            });
        }
    }
    let also = config.pointer("/worktree/also").and_then(Value::as_array).into_iter().flatten();
    let also = also.enumerate().map(|(i, value)| (format!("/worktree/also/{i}"), value));
    let prefixes = prefix.map(|value| ("/worktree/branch_prefix".to_string(), value));
    for (pointer, value) in prefixes.into_iter().chain(also) {
        let Some(text) = value.as_str().filter(|text| !branch_name::is_prefix(text)) else {
            continue;
        };
        let message = format!("git accepts no branch that starts with {text:?}");
        refused.push(Refusal { pointer, message, hint: "write feature/".to_string() });
    }
    let base = config.pointer("/worktree/base").and_then(Value::as_str);
    if let Some(text) = base.filter(|text| !branch_name::is_valid(text)) {
        let message = format!("git accepts no branch named {text:?}");
        let (pointer, hint) = ("/worktree/base".to_string(), "write main".to_string());
        refused.push(Refusal { pointer, message, hint });
    }
    refused
}

/// `.blue/worktree.json`: the RFC that a worktree is for. Only `rfc` is needed. Other keys belong to
/// other tools.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct WorktreeFile {
    /// Version of this format; always 1.
    pub version: u32,
    /// Number and slug of the RFC.
    pub rfc: String,
    /// Its address.
    pub uri: String,
    /// The branch.
    pub branch: String,
    /// The branch that it starts from.
    pub base: String,
    /// The commit that it starts from.
    pub base_commit: String,
    /// Time when it was made, in UTC.
    pub created: String,
}

/// Record of a worktree that is being made. Its presence afterwards means that this was interrupted.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct UnfinishedWorktree {
    /// Its folder.
    pub path: String,
    /// Its content of `.blue/worktree.json`.
    pub file: WorktreeFile,
    /// The whole id of the commit that it starts from.
    pub commit: String,
    /// True if the branch is made with it.
    pub is_own_branch: bool,
}

/// Renders a value as a file.
pub fn bytes(value: &impl Serialize) -> Vec<u8> {
    let mut bytes = serde_json::to_vec_pretty(value).expect("a record is JSON");
    bytes.push(b'\n');
    bytes
}

/// Returns the responsibility that the text of `.blue/worktree.json` names.
pub fn responsibility_name(worktree: &[u8]) -> Option<String> {
    let value: Value = serde_json::from_slice(worktree).ok()?;
    let name = value["responsibility"].as_str().filter(|name| !name.is_empty());
    name.map(str::to_string)
}

/// Returns the name of the current work in the text of `.blue/worktree.json`.
pub fn work_name(worktree: &[u8]) -> Option<String> {
    let value: Value = serde_json::from_slice(worktree).ok()?;
    match value.get("rfc")? {
        Value::String(name) if !name.is_empty() => Some(name.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_rfc_is_needed_and_other_keys_are_ignored() {
        assert_eq!(work_name(br#"{"rfc": "16"}"#).as_deref(), Some("16"));
        assert_eq!(work_name(br#"{"tool": [1], "rfc": 16}"#).as_deref(), Some("16"));
        for none in ["", "[]", "[\"rfc\"]", "{\"rfc\": \"\"}", "{\"rfc\": [16]}", "7", "{"] {
            assert_eq!(work_name(none.as_bytes()), None, "{none}");
        }
    }
}
