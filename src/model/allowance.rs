//! Exceptions of the configuration: hidden characters and supposed secrets that are allowed.

use super::{Action, Digest, Hasher, Listener};

/// Hidden characters that some documents may contain.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct HiddenRule {
    /// Glob below the root that selects the documents.
    pub path: String,
    /// The allowed characters.
    pub chars: String,
}

/// Everything that the configuration allows although `guard` would otherwise report it.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Allowance {
    /// Allowed hidden characters, by path.
    pub hidden: Vec<HiddenRule>,
    /// Fingerprints of texts that look like secrets but are none, sorted.
    pub secrets: Vec<String>,
}

impl Allowance {
    /// Returns every hidden character that is allowed in some document.
    ///
    /// In documents where a character is not allowed, `guard` has already replaced it with a
    /// visible mark. A writer can therefore pass all of these through without looking at the
    /// document.
    pub fn hidden_chars(&self) -> String {
        self.hidden.iter().map(|rule| rule.chars.as_str()).collect()
    }

    /// Adds the allowance to an action if it is not empty, because it changes the emitted bytes.
    pub fn add_facts(&self, action: &mut Action) {
        if *self != Allowance::default() {
            action.add_fact("allowance", self.digest().as_bytes());
        }
    }

    /// Returns the digest of all exceptions.
    pub fn digest(&self) -> Digest {
        let mut hasher = Hasher::new();
        for rule in &self.hidden {
            hasher.field(rule.path.as_bytes()).field(rule.chars.as_bytes());
        }
        for secret in &self.secrets {
            hasher.field(secret.as_bytes());
        }
        hasher.digest()
    }
}
