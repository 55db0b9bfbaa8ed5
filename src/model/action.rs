//! The facts that decide the bytes of one artifact. If their digest changes, it is rebuilt.

use super::{Digest, Hasher};

/// Version of the emitted bytes. Increase it whenever the same inputs produce different bytes.
pub const FORMAT: u32 = 12;

/// Receives every fact that can change an artifact, in a fixed order.
///
/// [`Action`] implements it to store the facts for `--explain`, and [`Hasher`] to hash the stored
/// facts for the manifest. The explanation therefore always agrees with the digest.
pub trait Listener {
    /// Adds one fact: a stable name and its value.
    fn add_fact(&mut self, name: &str, value: &[u8]);
}

impl Listener for Hasher {
    fn add_fact(&mut self, name: &str, value: &[u8]) {
        self.field(name.as_bytes()).field(value);
    }
}

/// The facts that decide one artifact.
#[derive(Clone, Debug, Default)]
pub struct Action {
    facts: Vec<(String, Digest)>,
}

impl Action {
    /// Creates an action with one fact, the format number.
    pub fn new() -> Action {
        let mut action = Action::default();
        action.add_fact("format", &FORMAT.to_le_bytes());
        action
    }

    /// Returns the digest of all facts, which the manifest stores.
    pub fn digest(&self) -> Digest {
        let mut hasher = Hasher::new();
        for (name, value) in &self.facts {
            hasher.add_fact(name, value.as_bytes());
        }
        hasher.digest()
    }

    /// Returns each fact's name and the digest of its value.
    pub fn facts(&self) -> &[(String, Digest)] {
        &self.facts
    }
}

impl Listener for Action {
    fn add_fact(&mut self, name: &str, value: &[u8]) {
        self.facts.push((name.to_string(), Digest::of(value)));
    }
}
