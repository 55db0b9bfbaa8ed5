//! Framing of the caches in `.blue/local`: a format line, a keyed checksum and a payload.
//!
//! A cache promises nothing. One that is damaged, was written by another version of blue, or came with
//! a clone does not verify, and is the same as none.

use serde::{Deserialize, Serialize};

use crate::model::{Digest, Hasher, Key};

/// Raised by hand whenever a cached type changes, or parsing gives other facts for the same bytes.
const CACHE_FORMAT: u32 = 14;

/// Secret that seals one kind of cache. Only the holder of this machine's key can compute it.
pub struct Seal {
    kind: &'static str,
    secret: Digest,
}

impl Seal {
    /// Returns the seal of a kind of cache. `context` is everything besides the cache itself that decides
    /// whether it may be used.
    pub fn new(kind: &'static str, key: &Key, context: &[u8]) -> Seal {
        Seal { kind, secret: key.digest(kind, context) }
    }

    fn magic(&self) -> Vec<u8> {
        format!("blue {} {} {CACHE_FORMAT}\n", self.kind, env!("CARGO_PKG_VERSION")).into_bytes()
    }

    /// Returns the bytes before a payload, which is given in parts.
    pub fn header<P: AsRef<[u8]>>(&self, parts: &[P]) -> Vec<u8> {
        let mut hasher = Hasher::new();
        let checksum = hasher.field(self.secret.as_bytes()).parts(parts).digest();
        [self.magic(), checksum.as_bytes().to_vec()].concat()
    }

    /// Returns the payload of a cache file, if it verifies.
    pub fn payload<'a>(&self, bytes: &'a [u8]) -> Option<&'a [u8]> {
        let rest = bytes.strip_prefix(self.magic().as_slice())?;
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
    fn damage_another_key_another_kind_and_another_context_do_not_verify() {
        let key = Key::new([7; 32]);
        let seal = Seal::new("state", &key, b"context");
        let file = seal.encode(&"value");
        assert_eq!(seal.decode::<&str>(&file), Some("value"));
        for other in [
            Seal::new("facts", &key, b"context"),
            Seal::new("state", &key, b"another context"),
            Seal::new("state", &Key::new([8; 32]), b"context"),
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
