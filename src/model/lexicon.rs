//! Terms of all documents, each kind in one list.

use rayon::prelude::*;

use super::word::stems;
use super::{Document, Rows, Terms};

/// Maximum number of terms per title.
const MAX_TITLE: usize = 16;

/// Terms of all documents, by row.
#[derive(Debug, Default)]
pub struct Lexicon {
    /// Hashes of each text's terms.
    pub hashes: Rows<u32>,
    /// Weighted count of each term.
    pub counts: Rows<u16>,
    /// Lines that refer to other documents, each with the end of its terms in `citing_terms`.
    pub citing_lines: Rows<(u32, u32)>,
    /// Hashes of the terms of these lines.
    pub citing_terms: Rows<u32>,
    /// Hashes of each title's terms.
    pub titles: Rows<u32>,
    /// Hashes of each text's bigrams. They take the most memory, so they are not copied into one
    /// list.
    pub bigrams: Vec<Vec<u32>>,
    /// Terms as written, as in [`Terms::words`].
    pub words: Vec<String>,
}

impl Lexicon {
    /// Collects the terms of documents, by row.
    pub fn new(documents: &[Document], all: Vec<Terms>) -> Lexicon {
        let n = all.len();
        let sum = |len: fn(&Terms) -> usize| all.iter().map(len).sum();
        let n_terms = sum(|terms| terms.hashes.len());
        let mut lexicon = Lexicon {
            hashes: Rows::with_capacity(n, n_terms),
            counts: Rows::with_capacity(n, n_terms),
            citing_lines: Rows::with_capacity(n, sum(|terms| terms.citing_lines.lines.len())),
            citing_terms: Rows::with_capacity(n, sum(|terms| terms.citing_lines.hashes.len())),
            titles: Rows::with_capacity(n, n * 8),
            bigrams: Vec::with_capacity(n),
            words: Vec::with_capacity(n),
        };
        let titles = documents.par_iter().map(|document| stems(&document.title, MAX_TITLE));
        for title in titles.collect::<Vec<Vec<u32>>>() {
            lexicon.titles.push(&title);
        }
        for Terms { words, hashes, counts, bigrams, citing_lines } in all {
            lexicon.hashes.push(&hashes);
            lexicon.counts.push(&counts);
            lexicon.citing_lines.push(&citing_lines.lines);
            lexicon.citing_terms.push(&citing_lines.hashes);
            lexicon.bigrams.push(bigrams);
            lexicon.words.push(words);
        }
        lexicon
    }

    /// Returns the terms of a line that refers to other documents.
    pub fn citing_line(&self, row: usize, line: u32) -> &[u32] {
        let lines = self.citing_lines.of(row);
        let Ok(at) = lines.binary_search_by_key(&line, |(line, _)| *line) else { return &[] };
        let start = at.checked_sub(1).map_or(0, |before| lines[before].1);
        self.citing_terms.of(row).get(start as usize..lines[at].1 as usize).unwrap_or_default()
    }
}
