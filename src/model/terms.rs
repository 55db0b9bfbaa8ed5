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
}

impl Terms {
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
pub struct Around {
    /// Each such line, in order, with where its words end.
    pub lines: Vec<(u32, u32)>,
    /// The numbers of their stems.
    pub hashes: Vec<u32>,
}

impl Around {
    /// Adds a line with its words. Lines come in order.
    pub fn push(&mut self, line: u32, hashes: &[u32]) {
        self.hashes.extend_from_slice(hashes);
        self.lines.push((line, self.hashes.len() as u32));
    }

    /// The words of a line.
    pub fn line(&self, line: u32) -> &[u32] {
        let Ok(at) = self.lines.binary_search_by_key(&line, |(line, _)| *line) else { return &[] };
        let start = at.checked_sub(1).map_or(0, |before| self.lines[before].1);
        self.hashes.get(start as usize..self.lines[at].1 as usize).unwrap_or_default()
    }
}

/// A number for a word; two words have the same one as good as never.
pub fn term_hash(word: &str) -> u32 {
    folded(word.bytes().fold(HASH_START, hash_step))
}

/// Where the hash of a word begins, before its first byte.
pub const HASH_START: u64 = 0xcbf2_9ce4_8422_2325;

/// FNV-1a, a byte further.
pub fn hash_step(hash: u64, byte: u8) -> u64 {
    (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
}

/// A hash in half its bits.
pub fn folded(hash: u64) -> u32 {
    (hash ^ (hash >> 32)) as u32
}
