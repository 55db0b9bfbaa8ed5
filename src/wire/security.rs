//! `security:` in the configuration: files that are never read, and exceptions from findings.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::Allowance;
use crate::model::allowance::HiddenRule;

/// Files that are never read, and exceptions from findings.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Security {
    /// Globs on single path components, in any case.
    pub deny: Vec<String>,
    /// Decisions whose title matches a word of `deny`: read and left out if they have a secret in
    /// them (`scan`), or never read (`strict`).
    pub deny_documents: DenyDocuments,
    /// True if a symbolic link to a document may point outside the project.
    pub allow_external: bool,
    /// Hidden characters that documents may have.
    pub allow_hidden: Vec<AllowHidden>,
    /// Texts that look like secrets but are not.
    pub allow_secrets: Vec<AllowSecret>,
}

/// Treatment of decisions whose title has a word such as `secret` that `deny` matches.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DenyDocuments {
    /// They are read, and left out if they have a secret in them.
    #[default]
    Scan,
    /// They are never read.
    Strict,
}

/// Hidden characters that some documents may have.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct AllowHidden {
    /// A glob below the project, `/` between the parts.
    pub path: String,
    /// The characters, as `U+200B`.
    #[schemars(length(min = 1), inner(regex(pattern = "^U\\+[0-9A-Fa-f]{2,6}$")))]
    pub chars: Vec<String>,
    /// Why they are needed.
    #[schemars(regex(pattern = "\\S"))]
    pub reason: String,
}

/// A text that looks like a secret but is not.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct AllowSecret {
    /// The finding's fingerprint.
    #[schemars(regex(pattern = "^[0-9a-f]{12}$"))]
    pub fingerprint: String,
    /// Why it is not a secret.
    #[schemars(regex(pattern = "\\S"))]
    pub reason: String,
}

impl Security {
    /// Returns the exceptions. An entry without a reason has no effect.
    pub(super) fn allowance(&self) -> Allowance {
        let reasoned = |reason: &str| !reason.trim().is_empty();
        let hidden = self.allow_hidden.iter().filter(|entry| reasoned(&entry.reason));
        let secrets = self.allow_secrets.iter().filter(|entry| reasoned(&entry.reason));
        let mut secrets: Vec<String> = secrets.map(|entry| entry.fingerprint.clone()).collect();
        secrets.sort();
        let hidden = hidden.map(|entry| HiddenRule {
            path: entry.path.clone(),
            chars: entry.chars.iter().filter_map(|text| character(text)).collect(),
        });
        Allowance { hidden: hidden.collect(), secrets }
    }
}

/// Parses a character such as `U+200B`.
fn character(text: &str) -> Option<char> {
    char::from_u32(u32::from_str_radix(text.strip_prefix("U+")?, 16).ok()?)
}

/// Names of files that usually contain secrets.
const DENIED: [&str; 15] = [
    ".env",
    ".env.*",
    "*credentials*",
    "*secret*",
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "*.kdbx",
    "id_{rsa,dsa,ecdsa,ed25519}*",
    ".ssh",
    ".gnupg",
    ".aws",
    ".netrc",
    ".{npmrc,pypirc,htpasswd}",
];

impl Default for Security {
    fn default() -> Security {
        let deny = DENIED.map(str::to_string).to_vec();
        let (allow_hidden, allow_secrets) = (Vec::new(), Vec::new());
        let deny_documents = DenyDocuments::default();
        Security { deny, deny_documents, allow_external: false, allow_hidden, allow_secrets }
    }
}
