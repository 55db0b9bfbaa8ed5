//! What a document is about in words with their counts, packed: there are many.

/// Words, each with how often it counts.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Terms {
    /// The words, a space behind each.
    pub words: String,
    /// A number for each word's stem: two stems have the same one as good as never.
    pub hashes: Vec<u32>,
    /// How often each counts.
    pub counts: Vec<u16>,
    /// Every two telling words that follow each other, once, as numbers in no order.
    pub bigrams: Vec<u32>,
    /// Names of code that it uses, those used most, sorted; see [`used`].
    pub names: Vec<u32>,
}

impl Terms {
    /// No words yet, and room for some.
    pub fn with_capacity(n: usize) -> Terms {
        Terms {
            words: String::with_capacity(n * 8),
            hashes: Vec::with_capacity(n),
            counts: Vec::with_capacity(n),
            bigrams: Vec::new(),
            names: Vec::new(),
        }
    }

    /// Adds a word.
    pub fn push(&mut self, word: &str, hash: u32, count: u32) {
        self.words.push_str(word);
        self.words.push(' ');
        self.hashes.push(hash);
        self.counts.push(count.min(u32::from(u16::MAX)) as u16);
    }

    /// Every stem's number with its count.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u16)> {
        self.hashes.iter().copied().zip(self.counts.iter().copied())
    }
}

/// The words of the lines that refer to something: what a reference is made for.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct CitingLines {
    /// Each such line, in order, with where its words end.
    pub lines: Vec<(u32, u32)>,
    /// The numbers of their stems.
    pub hashes: Vec<u32>,
}

impl CitingLines {
    /// Adds a line with its words. Lines come in order.
    pub fn push(&mut self, line: u32, hashes: &[u32]) {
        self.hashes.extend_from_slice(hashes);
        self.lines.push((line, self.hashes.len() as u32));
    }
}

/// A number for a word; two words have the same one as good as never.
pub fn term_hash(word: &str) -> u32 {
    folded(hash(word.as_bytes()))
}

/// A number for two words that follow each other, by their numbers; it is not 0.
#[inline]
pub fn bigram(one: u32, other: u32) -> u32 {
    (one.rotate_left(13) ^ other).wrapping_mul(0x9E37_79B1).max(1)
}

/// A number for a name and how often it is used: the last three bits count doublings.
#[inline]
pub fn used(name: u32, times: u32) -> u32 {
    (name & !7) | times.max(1).ilog2().min(7)
}

/// A hash of a word's bytes, eight at a time.
#[inline]
pub fn hash(word: &[u8]) -> u64 {
    let (whole, rest) = word.as_chunks::<8>();
    let hash =
        whole.iter().fold(HASH_START, |hash, part| hash_step(hash, u64::from_le_bytes(*part)));
    match rest.is_empty() {
        true => hash,
        false => {
            let part = rest.iter().rev().fold(0, |part, byte| part << 8 | u64::from(*byte));
            hash_step(hash, part)
        }
    }
}

/// Where the hash of a word begins.
pub const HASH_START: u64 = 0xcbf2_9ce4_8422_2325;

/// The hash with eight bytes more, or with fewer at a word's end.
#[inline]
pub fn hash_step(hash: u64, part: u64) -> u64 {
    let mixed = (hash ^ part).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed ^ (mixed >> 29)
}

/// A hash in half its bits.
#[inline]
pub fn folded(hash: u64) -> u32 {
    (hash ^ (hash >> 32)) as u32
}
