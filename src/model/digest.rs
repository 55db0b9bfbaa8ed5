//! The one hash function of the crate.

use std::fmt;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// So many bytes are worth more than one thread.
const MANY: usize = 1 << 20;

/// A blake3 hash: 32 bytes, shown as `blake3:` and 64 hexadecimal digits.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest of some bytes as they are.
    pub fn of(bytes: &[u8]) -> Digest {
        if bytes.len() < MANY {
            return Digest(*blake3::hash(bytes).as_bytes());
        }
        Digest::of_parts(&[bytes])
    }

    /// The digest of parts as if they were one.
    pub fn of_parts<P: AsRef<[u8]>>(parts: &[P]) -> Digest {
        let mut hasher = blake3::Hasher::new();
        parts.iter().for_each(|part| update(&mut hasher, part.as_ref()));
        Digest(*hasher.finalize().as_bytes())
    }

    /// A digest read back from a file blue wrote.
    pub fn from_bytes(bytes: [u8; 32]) -> Digest {
        Digest(bytes)
    }

    /// The raw bytes, for files blue writes for itself.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Reads `blake3:…` back; anything else is `None`.
    pub fn parse(text: &str) -> Option<Digest> {
        let hex = text.strip_prefix("blake3:")?;
        blake3::Hash::from_hex(hex).ok().map(|hash| Digest(*hash.as_bytes()))
    }

    /// The first twelve hexadecimal digits, for people to compare.
    pub fn short(&self) -> String {
        let hex = blake3::Hash::from_bytes(self.0).to_hex();
        hex[..12].to_string()
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "blake3:{}", blake3::Hash::from_bytes(self.0).to_hex())
    }
}

/// Caches store a digest as one byte string, which is read faster than 32 single bytes.
impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Digest, D::Error> {
        deserializer.deserialize_bytes(DigestBytes)
    }
}

struct DigestBytes;

impl Visitor<'_> for DigestBytes {
    type Value = Digest;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("32 bytes")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Digest, E> {
        let array = bytes.try_into().map_err(|_| E::invalid_length(bytes.len(), &self))?;
        Ok(Digest(array))
    }
}

fn update(hasher: &mut blake3::Hasher, bytes: &[u8]) {
    match bytes.len() < MANY {
        true => hasher.update(bytes),
        false => hasher.update_rayon(bytes),
    };
}

/// Hashes a list of fields so that no two lists share a digest: each field carries its length.
#[derive(Default)]
pub struct Hasher {
    hasher: blake3::Hasher,
    /// Fields that were not hashed yet: long runs are hashed much faster than short ones.
    buffer: Vec<u8>,
}

/// Bytes gathered before they are hashed.
const BUFFERED: usize = 32 * 1024;

impl Hasher {
    /// An empty list.
    pub fn new() -> Hasher {
        Hasher::default()
    }

    /// Adds one field.
    pub fn field(&mut self, bytes: &[u8]) -> &mut Hasher {
        self.buffer.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
        self.add(bytes);
        self
    }

    /// Adds one field that is in parts.
    pub fn parts<P: AsRef<[u8]>>(&mut self, parts: &[P]) -> &mut Hasher {
        let len: usize = parts.iter().map(|part| part.as_ref().len()).sum();
        self.buffer.extend_from_slice(&(len as u64).to_le_bytes());
        parts.iter().for_each(|part| self.add(part.as_ref()));
        self
    }

    fn add(&mut self, bytes: &[u8]) {
        // What is large already is not copied.
        let large = bytes.len() >= BUFFERED;
        if !large {
            self.buffer.extend_from_slice(bytes);
        }
        if large || self.buffer.len() >= BUFFERED {
            self.hasher.update(&self.buffer);
            self.buffer.clear();
        }
        if large {
            update(&mut self.hasher, bytes);
        }
    }

    /// Adds a number as one field.
    pub fn number(&mut self, number: u64) -> &mut Hasher {
        self.field(&number.to_le_bytes())
    }

    /// The digest of the fields so far.
    pub fn digest(&self) -> Digest {
        if self.hasher.count() == 0 {
            return Digest::of(&self.buffer);
        }
        Digest(*self.hasher.clone().update(&self.buffer).finalize().as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_field_is_a_field() {
        let large = vec![7; BUFFERED + 3];
        let huge = vec![9; MANY + 5];
        let fields = [&b"a"[..], &large, b"", &huge, b"bc"];
        let mut hasher = Hasher::new();
        let mut plain = blake3::Hasher::new();
        for field in fields {
            hasher.field(field);
            plain.update(&(field.len() as u64).to_le_bytes()).update(field);
        }
        assert_eq!(hasher.digest().as_bytes(), plain.finalize().as_bytes());
        let whole = Hasher::new().field(&fields.concat()).digest();
        assert_eq!(Hasher::new().parts(&fields).digest(), whole);
        assert_eq!(Digest::of_parts(&fields), Digest::of(&fields.concat()));
        assert_eq!(Digest::of(&huge).as_bytes(), blake3::hash(&huge).as_bytes());
    }

    #[test]
    fn fields_are_told_apart_from_their_concatenation() {
        let one = Hasher::new().field(b"ab").field(b"c").digest();
        let other = Hasher::new().field(b"a").field(b"bc").digest();
        assert_ne!(one, other);
    }

    #[test]
    fn a_digest_survives_its_text() {
        let digest = Digest::of(b"blue");
        assert_eq!(Digest::parse(&digest.to_string()), Some(digest));
        assert_eq!(Digest::parse("blake3:12"), None);
    }
}
