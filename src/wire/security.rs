//! What `security:` in the configuration says: what is never read.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is never read.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Security {
    /// Globs on single path components, in any case.
    pub deny: Vec<String>,
    /// Whether a symbolic link to a document may lead out of the project.
    pub allow_external: bool,
}

/// Names under which people and tools keep what nobody else should read.
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
        Security { deny: DENIED.map(str::to_string).to_vec(), allow_external: false }
    }
}
