//! Who has which words: a vocabulary with the rarity of each word, and inverted indexes over it.

use super::log::log2_16;
use crate::model::{DocId, Graph};

/// Weights of one text have this length together, as a vector.
const UNIT: u64 = 1 << 13;

/// What two texts share is worth this much when they are the same.
const WHOLE: u64 = UNIT * UNIT;

/// Entries that are looked at for one document: the words that tell most first.
const MAX_LOOKED: usize = 2_048;

/// Every word of the project.
pub(super) struct Vocabulary {
    /// Row of the word plus one, by its number; 0 where there is none.
    slots: Vec<(u32, u32)>,
    /// How rare each word is.
    rarity: Vec<u32>,
}

/// A word of a text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Term {
    /// Its row in the vocabulary.
    pub(super) id: u32,
    /// How much the text is about it.
    pub(super) weight: u16,
    /// Its place among the document's words.
    pub(super) at: u16,
}

impl Vocabulary {
    /// Every word of every text, in the order they are met, and the rows of each text's words.
    pub(super) fn new(graph: &Graph) -> (Vocabulary, Vec<u32>) {
        let terms = || graph.documents.iter().map(|document| &document.facts.terms.hashes);
        let n_terms = terms().map(Vec::len).sum();
        let mut slots: Vec<(u32, u32)> = vec![(0, 0); 1 << 12];
        let (mut counts, mut rows) = (Vec::new(), Vec::with_capacity(n_terms));
        for hash in terms().flatten() {
            let at = slot(&slots, *hash);
            if slots[at].1 == 0 {
                counts.push(0u32);
                slots[at] = (*hash, counts.len() as u32);
            }
            let row = slots[at].1 - 1;
            counts[row as usize] += 1;
            rows.push(row);
            if counts.len() * 2 > slots.len() {
                slots = grown(&slots);
            }
        }
        let n_documents = graph.documents.len() as u64;
        let rarity = counts.iter().map(|n| log2_16(n_documents, u64::from(class(*n)))).collect();
        (Vocabulary { slots, rarity }, rows)
    }

    /// The row of a word that some text has.
    pub(super) fn id(&self, hash: u32) -> Option<u32> {
        self.slots[slot(&self.slots, hash)].1.checked_sub(1)
    }

    pub(super) fn rarity(&self, id: u32) -> u32 {
        self.rarity[id as usize]
    }

    pub(super) fn len(&self) -> usize {
        self.rarity.len()
    }

    /// The words of a text, those that tell most first, together as long as any other text's.
    pub(super) fn weighed(&self, counted: impl Iterator<Item = (u32, u32)>) -> Vec<Term> {
        let weigh = |((id, n), at): ((u32, u32), u16)| {
            let often = 16 + log2_16(u64::from(n), 1);
            (id, often * self.rarity(id), at)
        };
        let mut weighed: Vec<(u32, u32, u16)> = counted.zip(0..).map(weigh).collect();
        weighed.sort_unstable_by_key(|(_, weight, at)| (std::cmp::Reverse(*weight), *at));
        let squares = weighed.iter().map(|(_, weight, _)| u64::from(*weight).pow(2));
        let length = squares.sum::<u64>().isqrt().max(1);
        let term = |(id, weight, at): (u32, u32, u16)| {
            let weight = (u64::from(weight) * UNIT / length) as u16;
            Term { id, weight, at }
        };
        weighed.into_iter().map(term).filter(|term| term.weight > 0).collect()
    }
}

/// How many have a word, in doublings: one more or less seldom makes a difference.
pub(super) fn class(n: u32) -> u32 {
    n.checked_ilog2().map_or(0, |doublings| 1 << doublings)
}

/// The same words in four times as many places.
fn grown(slots: &[(u32, u32)]) -> Vec<(u32, u32)> {
    let mut larger = vec![(0, 0); slots.len() * 4];
    for (hash, row) in slots.iter().filter(|(_, row)| *row != 0) {
        let at = slot(&larger, *hash);
        larger[at] = (*hash, *row);
    }
    larger
}

/// Where a word is, or would be. There always is an empty place.
fn slot(slots: &[(u32, u32)], hash: u32) -> usize {
    let mut at = (hash.wrapping_mul(0x9E37_79B9) >> 7) as usize & (slots.len() - 1);
    while slots[at].1 != 0 && slots[at].0 != hash {
        at = (at + 1) & (slots.len() - 1);
    }
    at
}

/// Texts by word.
pub(super) struct Index {
    /// Where the entries of each word begin; one more than there are words.
    starts: Vec<u32>,
    entries: Vec<(DocId, u32)>,
    /// A word that more texts have is too common to be looked for by.
    common: usize,
}

impl Index {
    /// The index of texts, each by its row.
    pub(super) fn new<'a>(
        texts: impl ExactSizeIterator<Item = &'a [Term]> + Clone,
        n_words: usize,
    ) -> Index {
        let mut starts = vec![0u32; n_words + 1];
        for term in texts.clone().flatten() {
            starts[term.id as usize + 1] += 1;
        }
        for i in 1..starts.len() {
            starts[i] += starts[i - 1];
        }
        let mut next = starts.clone();
        let mut entries = vec![(DocId(0), 0); starts[n_words] as usize];
        let common = (texts.len() / 4).max(24);
        for (row, terms) in texts.enumerate() {
            for term in terms {
                let at = &mut next[term.id as usize];
                entries[*at as usize] = (DocId(row as u32), u32::from(term.weight));
                *at += 1;
            }
        }
        Index { starts, entries, common }
    }

    fn of(&self, id: u32) -> &[(DocId, u32)] {
        let (start, end) = (self.starts[id as usize], self.starts[id as usize + 1]);
        &self.entries[start as usize..end as usize]
    }

    /// Adds up what texts share with the given words, and names those that share anything.
    pub(super) fn share(&self, terms: &[Term], shared: &mut [u32], touched: &mut Vec<DocId>) {
        let mut left = MAX_LOOKED;
        for term in terms {
            let entries = self.of(term.id);
            let size = entries.len().next_power_of_two();
            if size > left || size > self.common {
                continue;
            }
            left -= size;
            for (other, weight) in entries {
                let both = &mut shared[other.0 as usize];
                if *both == 0 {
                    touched.push(*other);
                }
                *both += (u32::from(term.weight) * weight).max(1);
            }
        }
    }
}

/// How alike texts are that share so much, in thousandths.
pub(super) fn likeness(shared: u32) -> i32 {
    (u64::from(shared) * 1_000 / WHOLE).min(1_000) as i32
}
