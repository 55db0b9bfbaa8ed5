//! The keys `branch_guard:` and `mcp:` of the configuration. They never change emitted files.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::branch_rules::{BranchRules, Strictness, WrongBranch};

/// Rules for edits on a branch.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct BranchGuard {
    /// Another RFC's document or plan is changed on the branch of an RFC: `known` refuses on the branch of another RFC and warns on other prefixed branches, `any` refuses on both.
    pub wrong_branch: WrongBranchKey,
    /// Code is changed in a working tree whose RFC is not accepted; default `off`.
    pub unaccepted_code: StrictnessKey,
    /// A document is created outside its collection; default `warn`.
    pub stray_documents: StrictnessKey,
}

/// A value of `wrong_branch`.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WrongBranchKey {
    /// Branches of another known RFC.
    Known,
    /// All prefixed branches that are not this RFC's own.
    Any,
    /// None.
    Off,
}

/// A value of the other rules.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StrictnessKey {
    /// The edit is allowed.
    Off,
    /// The edit is allowed with a warning.
    Warn,
    /// The edit is refused.
    Deny,
}

impl Default for BranchGuard {
    fn default() -> BranchGuard {
        BranchGuard {
            wrong_branch: WrongBranchKey::Known,
            unaccepted_code: StrictnessKey::Off,
            stray_documents: StrictnessKey::Warn,
        }
    }
}

impl BranchGuard {
    /// Returns the rules.
    pub fn rules(self) -> BranchRules {
        BranchRules {
            wrong_branch: match self.wrong_branch {
                WrongBranchKey::Known => WrongBranch::Known,
                WrongBranchKey::Any => WrongBranch::Any,
                WrongBranchKey::Off => WrongBranch::Off,
            },
            unaccepted_code: self.unaccepted_code.strictness(),
            stray_documents: self.stray_documents.strictness(),
        }
    }
}

impl StrictnessKey {
    fn strictness(self) -> Strictness {
        match self {
            StrictnessKey::Off => Strictness::Off,
            StrictnessKey::Warn => Strictness::Warn,
            StrictnessKey::Deny => Strictness::Deny,
        }
    }
}

/// Settings of the MCP server.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct McpSettings {
    /// Offer the tool `blue_new`, the only one that writes; default false.
    pub write: bool,
}
