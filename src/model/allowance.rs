//! What the configuration lets through although it hides, or looks like a secret.

use super::{Action, Digest, Hasher, Listener};

/// Hidden characters that documents may have.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct HiddenRule {
    /// A glob below the root.
    pub path: String,
    /// The characters.
    pub chars: String,
}

/// What is let through, by whom it was asked for.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Allowance {
    /// Hidden characters, by path.
    pub hidden: Vec<HiddenRule>,
    /// Fingerprints of what looks like a secret and is none, sorted.
    pub secrets: Vec<String>,
}

impl Allowance {
    /// Every hidden character that some document may have. Those of others were shown when they were
    /// read, so whoever writes may let all of these pass.
    pub fn kept(&self) -> String {
        self.hidden.iter().map(|rule| rule.chars.as_str()).collect()
    }

    /// Tells what is let through, if anything is: without it the same documents give other bytes.
    pub fn tell(&self, action: &mut Action) {
        if *self != Allowance::default() {
            action.fact("allowance", self.digest().as_bytes());
        }
    }

    /// A digest of all of it.
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
