//! Framing of the caches in `.blue/local`: a format line, a keyed checksum and a payload.
//!
//! A cache that is damaged, has another format, or came with a clone does not verify. It is treated as
//! absent.

use serde::{Deserialize, Serialize};

use crate::model::{Digest, Hasher, Key};

/// Secret that seals one kind of cache. Only the holder of this machine's key can compute it.
pub struct Seal {
    magic: String,
    secret: Digest,
}

impl Seal {
    /// Returns the seal of a kind of cache. `format` is raised by hand whenever the cached type changes.
    /// `context` is everything else that the validity of the cache depends on.
    pub fn new(kind: &str, format: u32, key: &Key, context: &[u8]) -> Seal {
        let magic = format!("blue {kind} {format}\n");
        Seal { secret: key.digest(&magic, context), magic }
    }

    /// Returns the bytes before a payload that consists of parts.
    pub fn header<P: AsRef<[u8]>>(&self, parts: &[P]) -> Vec<u8> {
        let mut hasher = Hasher::new();
        let checksum = hasher.field(self.secret.as_bytes()).parts(parts).digest();
        [self.magic.as_bytes(), checksum.as_bytes()].concat()
    }

    /// Returns the payload of a cache file, if it verifies.
    pub fn payload<'a>(&self, bytes: &'a [u8]) -> Option<&'a [u8]> {
        let rest = bytes.strip_prefix(self.magic.as_bytes())?;
        let (_, payload) = rest.split_at_checked(32)?;
        bytes.starts_with(&self.header(&[payload])).then_some(payload)
    }

    /// Serializes a value to the bytes of a cache file.
    pub fn encode(&self, value: &impl Serialize) -> Vec<u8> {
        let payload = postcard::to_stdvec(value).expect("cached types can be serialized");
        [self.header(&[&payload]), payload].concat()
    }

    /// Deserializes a value from the bytes of a cache file, if they verify.
    pub fn decode<'a, T: Deserialize<'a>>(&self, bytes: &'a [u8]) -> Option<T> {
        postcard::from_bytes(self.payload(bytes)?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damage_and_another_key_kind_format_or_context_do_not_verify() {
        let key = Key::new([7; 32]);
        let seal = Seal::new("state", 1, &key, b"context");
        let file = seal.encode(&"value");
        assert_eq!(seal.decode::<&str>(&file), Some("value"));
        for other in [
            Seal::new("facts", 1, &key, b"context"),
            Seal::new("state", 2, &key, b"context"),
            Seal::new("state", 1, &key, b"another context"),
            Seal::new("state", 1, &Key::new([8; 32]), b"context"),
        ] {
            assert_eq!(other.decode::<&str>(&file), None);
        }
        for i in 0..file.len() {
            let mut damaged = file.clone();
            damaged[i] ^= 0x40;
            assert_eq!(seal.decode::<&str>(&damaged), None, "byte {i} is not checked");
            assert_eq!(seal.decode::<&str>(&file[..i]), None, "a file of {i} bytes verifies");
        }
    }
}
