//! Serializes `Vec<u32>` as raw little-endian bytes.
//!
//! Hashes do not compress as variable-length integers, and reading them one by one takes several
//! times longer than copying the bytes.

use std::fmt;

use serde::de::{Error, Visitor};
use serde::{Deserializer, Serializer};

/// Writes the numbers as one byte string.
pub fn serialize<S: Serializer>(numbers: &[u32], serializer: S) -> Result<S::Ok, S::Error> {
    let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    serializer.serialize_bytes(&bytes)
}

/// Reads the numbers back.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u32>, D::Error> {
    deserializer.deserialize_bytes(PackedNumbers)
}

struct PackedNumbers;

impl Visitor<'_> for PackedNumbers {
    type Value = Vec<u32>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("packed 32-bit numbers")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Vec<u32>, E> {
        let (numbers, rest) = bytes.as_chunks::<4>();
        match rest.is_empty() {
            true => Ok(numbers.iter().map(|number| u32::from_le_bytes(*number)).collect()),
            false => Err(E::invalid_length(bytes.len(), &self)),
        }
    }
}
