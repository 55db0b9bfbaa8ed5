//! The words of all documents, each sort in one piece.

use rayon::prelude::*;

use super::word::stems;
use super::{CitingLines, Document, Rows, Terms};

/// Words that are looked at of one title.
const MAX_TITLE: usize = 16;

/// What every document is about, is called and cites others with, by row. What only a document that is being
/// ranked needs, its words as written and their pairs, stays with it.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Lexicon {
    /// The numbers of each text's words.
    pub hashes: Rows<u32>,
    /// How often each of them counts.
    pub counts: Rows<u16>,
    /// Names of code, as [`Terms::names`] has them.
    pub names: Rows<u32>,
    /// Lines that refer to something, each with where its words end.
    pub lines: Rows<(u32, u32)>,
    /// The words of those lines.
    pub around: Rows<u32>,
    /// The words of each title.
    pub titles: Rows<u32>,
}

impl Lexicon {
    /// Takes the words out of documents.
    pub fn take(documents: &mut [Document]) -> Lexicon {
        let n = documents.len();
        let sum = |len: fn(&Document) -> usize| documents.iter().map(len).sum();
        let n_words = sum(|document| document.facts.terms.hashes.len());
        let mut lexicon = Lexicon {
            hashes: Rows::with_capacity(n, n_words),
            counts: Rows::with_capacity(n, n_words),
            names: Rows::with_capacity(n, sum(|document| document.facts.terms.names.len())),
            lines: Rows::with_capacity(n, sum(|document| document.facts.citing_lines.lines.len())),
            around: Rows::with_capacity(
                n,
                sum(|document| document.facts.citing_lines.hashes.len()),
            ),
            titles: Rows::with_capacity(n, n * 8),
        };
        let titles = documents.par_iter().map(|document| stems(&document.title, MAX_TITLE));
        let titles: Vec<Vec<u32>> = titles.collect();
        for (document, title) in documents.iter_mut().zip(titles) {
            let terms = &mut document.facts.terms;
            lexicon.hashes.push(&std::mem::take(&mut terms.hashes));
            lexicon.counts.push(&std::mem::take(&mut terms.counts));
            lexicon.names.push(&std::mem::take(&mut terms.names));
            let around = std::mem::take(&mut document.facts.citing_lines);
            lexicon.lines.push(&around.lines);
            lexicon.around.push(&around.hashes);
            lexicon.titles.push(&title);
        }
        lexicon
    }

    /// Puts the words of another text in the place of a document's.
    pub fn replace(&mut self, row: usize, terms: &Terms, around: &CitingLines) {
        self.hashes.replace(row, &terms.hashes);
        self.counts.replace(row, &terms.counts);
        self.names.replace(row, &terms.names);
        self.lines.replace(row, &around.lines);
        self.around.replace(row, &around.hashes);
    }

    /// The words of a text, each with how often it counts.
    pub fn text(&self, row: usize) -> impl Iterator<Item = (u32, u16)> {
        self.hashes.of(row).iter().copied().zip(self.counts.of(row).iter().copied())
    }

    /// The words of a line that refers to something.
    pub fn line(&self, row: usize, line: u32) -> &[u32] {
        let lines = self.lines.of(row);
        let Ok(at) = lines.binary_search_by_key(&line, |(line, _)| *line) else { return &[] };
        let start = at.checked_sub(1).map_or(0, |before| lines[before].1);
        self.around.of(row).get(start as usize..lines[at].1 as usize).unwrap_or_default()
    }
}
