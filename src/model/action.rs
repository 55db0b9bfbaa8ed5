//! The facts that decide one artifact; their digest says whether it must be made again.

use super::{Digest, Hasher};

/// Raised by hand whenever the same inputs give other bytes than before.
pub const FORMAT: u32 = 8;

/// Hears every fact that can change an artifact, in one fixed order.
///
/// Implemented twice, once to hash and once to keep for `--explain`, so that the explanation
/// can never tell a different story from the digest.
pub trait Listener {
    /// One fact: a stable name and its value.
    fn fact(&mut self, name: &str, value: &[u8]);
}

impl Listener for Hasher {
    fn fact(&mut self, name: &str, value: &[u8]) {
        self.field(name.as_bytes()).field(value);
    }
}

/// The facts that decide one artifact.
#[derive(Clone, Debug, Default)]
pub struct Action {
    facts: Vec<(String, Digest)>,
}

impl Action {
    /// An action that has heard the format number.
    pub fn new() -> Action {
        let mut action = Action::default();
        action.fact("format", &FORMAT.to_le_bytes());
        action
    }

    /// An action that heard these facts, in this order.
    pub fn of(facts: Vec<(String, Digest)>) -> Action {
        Action { facts }
    }

    /// Tells every fact, in the order they were heard.
    pub fn tell(&self, listener: &mut impl Listener) {
        for (name, value) in &self.facts {
            listener.fact(name, value.as_bytes());
        }
    }

    /// What stands in the manifest.
    pub fn digest(&self) -> Digest {
        let mut hasher = Hasher::new();
        self.tell(&mut hasher);
        hasher.digest()
    }

    /// The facts by name.
    pub fn facts(&self) -> &[(String, Digest)] {
        &self.facts
    }
}

impl Listener for Action {
    fn fact(&mut self, name: &str, value: &[u8]) {
        self.facts.push((name.to_string(), Digest::of(value)));
    }
}
