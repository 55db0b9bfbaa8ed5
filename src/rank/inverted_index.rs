//! Vocabulary with IDF weights, and inverted indexes over it.

use rustc_hash::FxHashMap;

use crate::model::integer_log::log2_16;
use crate::model::{DocId, Lexicon, Rows};

/// Length of every weight vector.
const UNIT: u64 = 1 << 13;

/// Dot product of two equal weight vectors.
const UNIT_SQUARED: u64 = UNIT * UNIT;

/// Maximum number of index entries that are read for one document, those of the heaviest terms
/// first.
const MAX_ENTRIES: usize = 8_192;

/// Maximum number of terms per text, the most frequent ones. With more, the ranking gets no better.
const MAX_TERMS: usize = 256;

/// Every term of the project with its inverse document frequency.
pub(super) struct Vocabulary {
    ids: FxHashMap<u32, u32>,
    /// Number of texts that contain each term.
    n_texts: Vec<u32>,
    idf: Vec<u32>,
}

/// A term of a text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Term {
    /// Its row in the vocabulary.
    pub(super) id: u32,
    /// Its TF-IDF weight in the text's unit vector.
    pub(super) weight: u16,
    /// Its position among the document's terms.
    pub(super) at: u16,
}

impl Vocabulary {
    /// Numbers the terms of all texts in order of appearance. Also returns the terms of each text.
    pub(super) fn new(lexicon: &Lexicon) -> (Vocabulary, Rows<u32>) {
        let mut ids = FxHashMap::default();
        let (mut n_texts, mut texts) = (Vec::new(), Rows::default());
        let mut text = Vec::with_capacity(MAX_TERMS);
        for row in 0..lexicon.hashes.len() {
            text.clear();
            for hash in lexicon.hashes.of(row).iter().take(MAX_TERMS) {
                let id = *ids.entry(*hash).or_insert(n_texts.len() as u32);
                if id as usize == n_texts.len() {
                    n_texts.push(0u32);
                }
                n_texts[id as usize] += 1;
                text.push(id);
            }
            texts.push(&text);
        }
        let n_documents = lexicon.hashes.len() as u64;
        let idf = n_texts.iter().map(|n| log2_16(n_documents, u64::from(*n))).collect();
        (Vocabulary { ids, n_texts, idf }, texts)
    }

    /// Returns the row of a term.
    pub(super) fn id(&self, hash: u32) -> Option<u32> {
        self.ids.get(&hash).copied()
    }

    pub(super) fn idf(&self, id: u32) -> u32 {
        self.idf[id as usize]
    }

    /// Returns the number of texts that contain a term.
    pub(super) fn n_texts(&self, id: u32) -> usize {
        self.n_texts[id as usize] as usize
    }

    pub(super) fn len(&self) -> usize {
        self.idf.len()
    }

    /// Weighs terms by TF-IDF and scales them to a unit vector, heaviest first. `counted` has the
    /// row and the count of each term.
    pub(super) fn weigh(&self, counted: impl Iterator<Item = (u32, u32)>) -> Vec<Term> {
        let (mut ids, mut keys, mut squares) = (Vec::new(), Vec::new(), 0);
        for ((id, n), at) in counted.zip(0u16..) {
            let weight = u64::from((16 + log2_16(u64::from(n), 1)) * self.idf(id));
            squares += weight * weight;
            ids.push(id);
            // One number sorts faster than a tuple: by weight, then by position.
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
}

/// Documents by term, with the term's weight in each.
pub(super) struct InvertedIndex {
    /// Start of each term's entries, and the end of the last one.
    starts: Vec<u32>,
    entries: Vec<(DocId, u32)>,
    /// Terms of more documents than this are too common to be looked up.
    max_documents: usize,
}

impl InvertedIndex {
    /// Indexes texts by row.
    pub(super) fn new<'a>(
        texts: impl ExactSizeIterator<Item = &'a [Term]> + Clone,
        n_terms: usize,
    ) -> InvertedIndex {
        let mut starts = vec![0u32; n_terms + 1];
        for term in texts.clone().flatten() {
            starts[term.id as usize + 1] += 1;
        }
        for i in 1..starts.len() {
            starts[i] += starts[i - 1];
        }
        let mut next = starts.clone();
        let mut entries = vec![(DocId(0), 0); starts[n_terms] as usize];
        let max_documents = (texts.len() / 4).max(24);
        for (row, terms) in texts.enumerate() {
            for term in terms {
                let at = &mut next[term.id as usize];
                entries[*at as usize] = (DocId(row as u32), u32::from(term.weight));
                *at += 1;
            }
        }
        InvertedIndex { starts, entries, max_documents }
    }

    fn entries(&self, id: u32) -> &[(DocId, u32)] {
        let (start, end) = (self.starts[id as usize], self.starts[id as usize + 1]);
        &self.entries[start as usize..end as usize]
    }

    /// Adds the dot products with all documents to `sums`, and the documents that share a term to
    /// `touched`.
    pub(super) fn add_products(&self, terms: &[Term], sums: &mut [u32], touched: &mut Vec<DocId>) {
        let mut budget = MAX_ENTRIES;
        for term in terms {
            let entries = self.entries(term.id);
            let size = entries.len();
            if size > budget || size > self.max_documents {
                continue;
            }
            budget -= size;
            for (other, weight) in entries {
                let sum = &mut sums[other.0 as usize];
                if *sum == 0 {
                    touched.push(*other);
                }
                *sum += (u32::from(term.weight) * *weight).max(1);
            }
        }
    }
}

/// Converts a dot product to a cosine similarity in thousandths.
pub(super) fn cosine(product: u32) -> i32 {
    (u64::from(product) * 1_000 / UNIT_SQUARED).min(1_000) as i32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Terms;

    fn lexicon(texts: &[&[u32]]) -> Lexicon {
        let terms = |text: &&[u32]| {
            let mut terms = Terms::default();
            text.iter().for_each(|hash| terms.push("w", *hash, 1));
            terms
        };
        let mut lexicon = Lexicon::new(&[], texts.iter().map(terms).collect());
        lexicon.titles = Default::default();
        lexicon
    }

    #[test]
    fn equal_texts_have_a_cosine_of_one_and_disjoint_texts_share_nothing() {
        let lexicon = lexicon(&[&[1, 2], &[1, 2], &[3], &[4]]);
        let (vocabulary, rows) = Vocabulary::new(&lexicon);
        let weigh = |row: usize| vocabulary.weigh(rows.of(row).iter().map(|id| (*id, 1)));
        let texts: Vec<Vec<Term>> = (0..4).map(weigh).collect();
        let index = InvertedIndex::new(texts.iter().map(Vec::as_slice), vocabulary.len());
        let (mut sums, mut touched) = (vec![0; 4], Vec::new());
        index.add_products(&texts[0], &mut sums, &mut touched);
        assert!(cosine(sums[1]) >= 999, "{}", cosine(sums[1]));
        assert_eq!(touched, [DocId(0), DocId(1)]);
    }

    #[test]
    fn uncommon_terms_weigh_more_than_common_ones() {
        let lexicon = lexicon(&[&[1, 9], &[1, 2], &[1, 3], &[1, 4]]);
        let (vocabulary, _) = Vocabulary::new(&lexicon);
        let idf = |hash: u32| vocabulary.idf(vocabulary.id(hash).expect("a term of some text"));
        assert!(idf(9) > idf(1));
        assert_eq!(idf(1), 0);
        assert_eq!(vocabulary.id(77), None);
    }
}
