//! Terms of a document: stemmed words and bigrams, packed to save memory.

use serde::{Deserialize, Serialize};

/// The part of one document's text that ranking reads.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Terms {
    /// The terms as written, each followed by a space.
    pub words: String,
    /// A hash of each term's stem.
    #[serde(with = "super::packed")]
    pub hashes: Vec<u32>,
    /// Number of occurrences of each term, weighted by title, heading and text.
    pub counts: Vec<u16>,
    /// Hashes of all bigrams of terms, each once, unordered.
    #[serde(with = "super::packed")]
    pub bigrams: Vec<u32>,
    /// Terms of the lines that refer to other documents.
    pub citing_lines: CitingLines,
}

impl Terms {
    /// Returns an empty list with capacity for `n` terms.
    pub fn with_capacity(n: usize) -> Terms {
        Terms {
            words: String::with_capacity(n * 8),
            hashes: Vec::with_capacity(n),
            counts: Vec::with_capacity(n),
            ..Terms::default()
        }
    }

    /// Appends a term.
    pub fn push(&mut self, word: &str, hash: u32, count: u32) {
        self.words.push_str(word);
        self.words.push(' ');
        self.hashes.push(hash);
        self.counts.push(count.min(u32::from(u16::MAX)) as u16);
    }
}

/// Terms of the lines that contain references to other documents.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct CitingLines {
    /// Line numbers in ascending order, each with the end of its terms in `hashes`.
    pub lines: Vec<(u32, u32)>,
    /// Hashes of the stems of all these lines.
    #[serde(with = "super::packed")]
    pub hashes: Vec<u32>,
}

impl CitingLines {
    /// Appends a line with the hashes of its terms. Lines must be added in ascending order.
    pub fn push(&mut self, line: u32, hashes: &[u32]) {
        self.hashes.extend_from_slice(hashes);
        self.lines.push((line, self.hashes.len() as u32));
    }
}

/// Hashes a term. Collisions are rare enough to ignore.
pub fn term_hash(word: &str) -> u32 {
    folded(hash(word.as_bytes()))
}

/// Combines the hashes of two consecutive terms. The result is never 0.
#[inline]
pub fn bigram(first: u32, second: u32) -> u32 {
    (first.rotate_left(13) ^ second).wrapping_mul(0x9E37_79B1).max(1)
}

/// Hashes the bytes of a word, eight at a time.
#[inline]
pub fn hash(word: &[u8]) -> u64 {
    let (whole, rest) = word.as_chunks::<8>();
    let hash =
        whole.iter().fold(HASH_START, |hash, part| hash_step(hash, u64::from_le_bytes(*part)));
    match rest.is_empty() {
        true => hash,
        false => hash_step(hash, first_eight(rest)),
    }
}

/// Packs fewer than eight bytes into an integer, as if zeros followed.
pub fn first_eight(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |part, byte| part << 8 | u64::from(*byte))
}

/// Initial state of the word hash.
pub const HASH_START: u64 = 0xcbf2_9ce4_8422_2325;

/// Mixes up to eight more bytes into a hash.
#[inline]
pub fn hash_step(hash: u64, part: u64) -> u64 {
    let mixed = (hash ^ part).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed ^ (mixed >> 29)
}

/// Folds a 64-bit hash to 32 bits.
#[inline]
pub fn folded(hash: u64) -> u32 {
    (hash ^ (hash >> 32)) as u32
}
