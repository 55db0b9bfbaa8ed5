//! Who has which words: a vocabulary with the rarity of each word, and inverted indexes over it.

use super::log::log2_16;
use crate::model::{DocId, Lexicon};

/// Weights of one text have this length together, as a vector.
const UNIT: u64 = 1 << 13;

/// What two texts share is worth this much when they are the same.
const WHOLE: u64 = UNIT * UNIT;

/// Entries that are looked at for one document: the words that tell most first.
pub(super) const MAX_LOOKED: usize = 2_048;

/// Every word of the project.
pub(super) struct Vocabulary {
    /// Row of the word plus one, by its number; 0 where there is none.
    slots: Vec<(u32, u32)>,
    /// How many texts have each word, and how rare that makes it.
    counts: Vec<u32>,
    rarity: Vec<u32>,
    n_documents: u64,
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
    pub(super) fn new(lexicon: &Lexicon) -> (Vocabulary, Vec<u32>) {
        let hashes = lexicon.hashes.all();
        let mut slots: Vec<(u32, u32)> = vec![(0, 0); 1 << 12];
        let (mut counts, mut rows) = (Vec::new(), Vec::with_capacity(hashes.len()));
        for hash in hashes {
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
        let n_documents = lexicon.hashes.len() as u64;
        let rarity = counts.iter().map(|n| rarity_of(*n, n_documents)).collect();
        (Vocabulary { slots, counts, rarity, n_documents }, rows)
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

    /// How many texts have a word.
    pub(super) fn count(&self, hash: u32) -> u32 {
        self.id(hash).map_or(0, |id| self.counts[id as usize])
    }

    /// How rare a word is that so many texts have.
    pub(super) fn rarity_of(&self, n: u32) -> u32 {
        rarity_of(n, self.n_documents)
    }

    /// The words of a text by their rows, each with how often it counts; see [`weighed`].
    pub(super) fn weighed(&self, counted: impl Iterator<Item = (u32, u32)>) -> Vec<Term> {
        weighed(counted.map(|(id, n)| (id, n, self.rarity(id))))
    }
}

/// The words of a text, those that tell most first, together as long as any other text's. Each comes
/// with its row, how often it counts and how rare it is.
pub(super) fn weighed(counted: impl Iterator<Item = (u32, u32, u32)>) -> Vec<Term> {
    let (mut ids, mut keys, mut squares) = (Vec::new(), Vec::new(), 0);
    for ((id, n, rarity), at) in counted.zip(0u16..) {
        let weight = u64::from((16 + log2_16(u64::from(n), 1)) * rarity);
        squares += weight * weight;
        ids.push(id);
        // One number is sorted quicker than three: the greatest weight first, then the first place.
        keys.push(weight << 16 | u64::from(u16::MAX - at));
    }
    keys.sort_unstable_by_key(|key| std::cmp::Reverse(*key));
    let length = squares.isqrt().max(1);
    let term = |key: u64| {
        let at = u16::MAX - key as u16;
        Term { id: ids[usize::from(at)], weight: ((key >> 16) * UNIT / length) as u16, at }
    };
    keys.into_iter().map(term).filter(|term| term.weight > 0).collect()
}

fn rarity_of(n: u32, n_documents: u64) -> u32 {
    log2_16(n_documents, u64::from(class(n)))
}

/// How many have a word, in doublings and rather more than fewer: one more or less seldom makes a
/// difference, and what most have is not rare at all.
pub(super) fn class(n: u32) -> u32 {
    if n == 0 { 0 } else { n.next_power_of_two() }
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
        for term in terms.iter().filter(|term| self.affords(term.id, &mut left)) {
            for (other, weight) in self.of(term.id) {
                let both = &mut shared[other.0 as usize];
                if *both == 0 {
                    touched.push(*other);
                }
                *both += product(u32::from(term.weight), *weight);
            }
        }
    }

    /// Whether the entries of a word are looked at, and how many more may be.
    #[inline]
    pub(super) fn affords(&self, id: u32, left: &mut usize) -> bool {
        let size = size_class(self.size(id));
        let affords = size <= *left && size <= self.common;
        *left -= if affords { size } else { 0 };
        affords
    }

    /// How many texts are found by a word.
    pub(super) fn size(&self, id: u32) -> usize {
        (self.starts[id as usize + 1] - self.starts[id as usize]) as usize
    }
}

/// What two texts share by one word.
#[inline]
pub(super) fn product(one: u32, other: u32) -> u32 {
    (one * other).max(1)
}

/// The size of an index's entry, in doublings as [`class`] is.
pub(super) fn size_class(n: usize) -> usize {
    n.next_power_of_two()
}

/// How alike texts are that share so much, in thousandths.
pub(super) fn likeness(shared: u32) -> i32 {
    (u64::from(shared) * 1_000 / WHOLE).min(1_000) as i32
}
