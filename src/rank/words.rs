//! The signal of words: documents that are about the same things, by an inverted index.

use rayon::prelude::*;

use super::log::log2_16;
use crate::model::word::stem;
use crate::model::{DocId, Graph, term_hash};

/// Strongest words of a document that others are looked for by.
const MAX_ASKED: usize = 64;

/// A word that more documents have is not looked for by, nor one that an eighth of them has.
const MAX_POSTINGS: usize = 2_000;
const MIN_POSTINGS: usize = 24;

/// A word as a document has it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Term {
    /// Its row in the vocabulary.
    pub(super) id: u32,
    /// How much the document is about it.
    pub(super) weight: u32,
    /// Its place among the document's words.
    pub(super) at: u16,
}

/// Who has which words.
pub(super) struct Words {
    /// The words of each document, by row of the vocabulary.
    pub(super) of: Vec<Vec<Term>>,
    /// The length of each document's weights, as a vector.
    norms: Vec<u64>,
    /// Where the postings of each word begin; one more than there are words.
    starts: Vec<u32>,
    postings: Vec<(DocId, u32)>,
    /// A word that more documents have is too common.
    common: usize,
    /// How rare each word is.
    rarity: Vec<u32>,
    /// The words of each title.
    pub(super) titles: Vec<Vec<u32>>,
    /// Whose title has a word: starts and rows.
    title_starts: Vec<u32>,
    title_postings: Vec<DocId>,
}

impl Words {
    pub(super) fn new(graph: &Graph) -> Words {
        let hashed: Vec<Vec<(u64, u32)>> = graph
            .documents
            .par_iter()
            .map(|document| {
                let terms = document.facts.terms.iter();
                terms.map(|(word, n)| (term_hash(stem(word)), u32::from(n))).collect()
            })
            .collect();
        let mut all: Vec<u64> = hashed.iter().flatten().map(|(hash, _)| *hash).collect();
        all.par_sort_unstable();
        let n_documents = graph.documents.len() as u64;
        let (mut vocabulary, mut rarity) = (Vec::new(), Vec::new());
        for run in all.chunk_by(|a, b| a == b) {
            vocabulary.push(run[0]);
            rarity.push(log2_16(n_documents, run.len() as u64));
        }
        drop(all);
        let id_of = |hash: u64| vocabulary.binary_search(&hash).ok().map(|id| id as u32);
        let of: Vec<Vec<Term>> = hashed
            .par_iter()
            .map(|terms| {
                let weighed = terms.iter().zip(0..).filter_map(|((hash, n), at)| {
                    let id = id_of(*hash)?;
                    let often = 16 + log2_16(u64::from(*n), 1);
                    Some(Term { id, weight: often * rarity[id as usize] / 16, at })
                });
                let mut terms: Vec<Term> = weighed.collect();
                terms.sort_unstable_by_key(|term| term.id);
                terms
            })
            .collect();
        let norm = |terms: &Vec<Term>| {
            let squares = terms.iter().map(|term| u64::from(term.weight).pow(2));
            squares.sum::<u64>().isqrt().max(1)
        };
        let norms = of.par_iter().map(norm).collect();
        let weighed = |terms: &Vec<Term>| terms.iter().map(|term| (term.id, term.weight)).collect();
        let rows: Vec<Vec<(u32, u32)>> = of.iter().map(weighed).collect();
        let (starts, postings) = inverted(&rows, vocabulary.len());
        let titles: Vec<Vec<u32>> = graph
            .documents
            .par_iter()
            .map(|document| title_words(&document.title, &id_of))
            .collect();
        let rows: Vec<Vec<(u32, u32)>> =
            titles.iter().map(|ids| ids.iter().map(|id| (*id, 0)).collect()).collect();
        let (title_starts, title_postings) = inverted(&rows, vocabulary.len());
        let title_postings = title_postings.into_iter().map(|(id, _)| id).collect();
        let common = (graph.documents.len() / 8).clamp(MIN_POSTINGS, MAX_POSTINGS);
        Words { of, norms, starts, postings, common, rarity, titles, title_starts, title_postings }
    }

    fn postings(&self, id: u32) -> &[(DocId, u32)] {
        let (start, end) = (self.starts[id as usize], self.starts[id as usize + 1]);
        &self.postings[start as usize..end as usize]
    }

    fn titled(&self, id: u32) -> &[DocId] {
        let (start, end) = (self.title_starts[id as usize], self.title_starts[id as usize + 1]);
        &self.title_postings[start as usize..end as usize]
    }

    /// Adds up what others share with a document, and names those that share anything.
    pub(super) fn share(&self, id: DocId, shared: &mut [u32], touched: &mut Vec<DocId>) {
        let mut asked: Vec<&Term> = self.of[id.0 as usize]
            .iter()
            .filter(|term| self.postings(term.id).len() <= self.common)
            .collect();
        asked.sort_unstable_by_key(|term| (std::cmp::Reverse(term.weight), term.id));
        asked.truncate(MAX_ASKED);
        for term in asked {
            for (other, weight) in self.postings(term.id) {
                let both = &mut shared[other.0 as usize];
                if *both == 0 {
                    touched.push(*other);
                }
                *both = both.saturating_add((term.weight * weight).max(1));
            }
        }
    }

    /// How alike two documents are that share so much, in thousandths.
    pub(super) fn likeness(&self, id: DocId, other: DocId, shared: u32) -> u32 {
        let norms = self.norms[id.0 as usize] * self.norms[other.0 as usize];
        (u64::from(shared) * 1_000 / norms).min(1_000) as u32
    }

    /// Whose title is made of words that a document has; told with the rarity of the words.
    pub(super) fn named(&self, id: DocId, tell: &mut dyn FnMut(DocId, u32)) {
        for term in &self.of[id.0 as usize] {
            let others = self.titled(term.id);
            if others.len() <= self.common {
                for other in others {
                    tell(*other, self.rarity[term.id as usize]);
                }
            }
        }
    }
}

/// The words of a title that some text has, each once.
fn title_words(title: &str, id_of: &dyn Fn(u64) -> Option<u32>) -> Vec<u32> {
    let lower = title.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric());
    let telling = words.filter(|word| crate::model::word::is_telling(word));
    let mut ids: Vec<u32> = telling.filter_map(|word| id_of(term_hash(stem(word)))).collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

/// Rows by word: where each word's begin, and all of them.
fn inverted(rows: &[Vec<(u32, u32)>], n_words: usize) -> (Vec<u32>, Vec<(DocId, u32)>) {
    let mut starts = vec![0u32; n_words + 1];
    for (id, _) in rows.iter().flatten() {
        starts[*id as usize + 1] += 1;
    }
    for i in 1..starts.len() {
        starts[i] += starts[i - 1];
    }
    let mut next = starts.clone();
    let mut postings = vec![(DocId(0), 0); starts[n_words] as usize];
    for (row, terms) in rows.iter().enumerate() {
        for (id, weight) in terms {
            let at = &mut next[*id as usize];
            postings[*at as usize] = (DocId(row as u32), *weight);
            *at += 1;
        }
    }
    (starts, postings)
}
