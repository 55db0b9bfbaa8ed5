//! What a ranking leaves behind for the next one.

use super::{Digest, Rows};

/// How much it took to be a candidate of a document; 0 where there was room for anybody.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Cutoffs {
    /// By words.
    pub best: u64,
    /// By being alike.
    pub alike: u64,
}

/// The last ranking, as far as the next one can build on it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Ranking {
    /// Everything but words that decided it.
    pub context: Digest,
    /// The bytes of the index that was made of it.
    pub relevance: Digest,
    /// The bytes of the index of documents that was made with it.
    pub index: Digest,
    /// The content of each document, by row, with what it took to be its candidate.
    pub documents: Vec<(Digest, Cutoffs)>,
    /// The neighbours of each, by their rows.
    pub near: Rows<u32>,
    /// How long each one's line of the index is.
    pub lens: Vec<u32>,
}

/// What documents are called, and how many texts say so, as numbers.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Calls {
    /// Every pair of words of a title or of a file's name, with what is called by it; sorted.
    pub called: Vec<(u32, u32)>,
    /// How many texts have each pair, where it begins.
    pub counts: Vec<u32>,
}
