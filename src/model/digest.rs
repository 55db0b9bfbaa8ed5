//! The hash function of the crate and the digests it returns.

use std::fmt;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Texts of at least this many bytes are hashed on several threads.
const PARALLEL_BYTES: usize = 1 << 20;

/// A BLAKE3 hash: 32 bytes, displayed as `blake3:` and 64 hexadecimal digits.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Digest([u8; 32]);

impl Digest {
    /// Hashes bytes, on several threads if there are many.
    pub fn of(bytes: &[u8]) -> Digest {
        if bytes.len() < PARALLEL_BYTES {
            return Digest(*blake3::hash(bytes).as_bytes());
        }
        Digest::of_parts(&[bytes])
    }

    /// Hashes parts as if they were concatenated.
    pub fn of_parts<P: AsRef<[u8]>>(parts: &[P]) -> Digest {
        let mut hasher = blake3::Hasher::new();
        parts.iter().for_each(|part| update(&mut hasher, part.as_ref()));
        Digest(*hasher.finalize().as_bytes())
    }

    /// Creates a digest from the raw bytes in a cache.
    pub fn from_bytes(bytes: [u8; 32]) -> Digest {
        Digest(bytes)
    }

    /// Returns the raw bytes, for caches.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Parses `blake3:…`; returns `None` for anything else.
    pub fn parse(text: &str) -> Option<Digest> {
        let hex = text.strip_prefix("blake3:")?;
        blake3::Hash::from_hex(hex).ok().map(|hash| Digest(*hash.as_bytes()))
    }

    /// Returns the first twelve hexadecimal digits, for display.
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
    match bytes.len() < PARALLEL_BYTES {
        true => hasher.update(bytes),
        false => hasher.update_rayon(bytes),
    };
}

/// Hashes a list of fields. The length of each field is hashed too, so that no two lists share a
/// digest.
#[derive(Default)]
pub struct Hasher {
    hasher: blake3::Hasher,
    /// Fields that are not hashed yet. BLAKE3 is much faster on long inputs than on short ones.
    buffer: Vec<u8>,
}

/// Bytes to collect before they are hashed.
const BUFFER_BYTES: usize = 32 * 1024;

impl Hasher {
    /// Creates a hasher without fields.
    pub fn new() -> Hasher {
        Hasher::default()
    }

    /// Adds one field.
    pub fn field(&mut self, bytes: &[u8]) -> &mut Hasher {
        self.buffer.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
        self.add(bytes);
        self
    }

    /// Adds one field that consists of several parts.
    pub fn parts<P: AsRef<[u8]>>(&mut self, parts: &[P]) -> &mut Hasher {
        let len: usize = parts.iter().map(|part| part.as_ref().len()).sum();
        self.buffer.extend_from_slice(&(len as u64).to_le_bytes());
        parts.iter().for_each(|part| self.add(part.as_ref()));
        self
    }

    fn add(&mut self, bytes: &[u8]) {
        // A large field is hashed directly, without a copy.
        let large = bytes.len() >= BUFFER_BYTES;
        if !large {
            self.buffer.extend_from_slice(bytes);
        }
        if large || self.buffer.len() >= BUFFER_BYTES {
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

    /// Returns the digest of the fields added so far.
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
    fn buffered_and_parallel_hashing_give_the_same_digest() {
        let large = vec![7; BUFFER_BYTES + 3];
        let huge = vec![9; PARALLEL_BYTES + 5];
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
    fn different_fields_with_the_same_concatenation_differ() {
        let first = Hasher::new().field(b"ab").field(b"c").digest();
        let second = Hasher::new().field(b"a").field(b"bc").digest();
        assert_ne!(first, second);
    }

    #[test]
    fn a_displayed_digest_can_be_parsed() {
        let digest = Digest::of(b"blue");
        assert_eq!(Digest::parse(&digest.to_string()), Some(digest));
        assert_eq!(Digest::parse("blake3:12"), None);
    }
}
