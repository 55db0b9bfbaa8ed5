//! The words of a document with their counts, packed: there are many.

/// Words, each with how often it counts.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Terms {
    /// The words, a space behind each.
    pub words: String,
    /// Their counts.
    pub counts: Vec<u16>,
}

impl Terms {
    /// Adds a word.
    pub fn push(&mut self, word: &str, count: u32) {
        self.words.push_str(word);
        self.words.push(' ');
        self.counts.push(count.min(u32::from(u16::MAX)) as u16);
    }

    /// Every word with its count.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u16)> {
        self.words.split_terminator(' ').zip(self.counts.iter().copied())
    }
}

/// A number for a word; two words have the same one as good as never.
pub fn term_hash(word: &str) -> u64 {
    // FNV-1a, with its high bits mixed down for tables.
    let hash = word.bytes().fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    hash ^ (hash >> 29)
}
