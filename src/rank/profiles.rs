//! What others know a document by: its title, and what they say in the lines that refer to it.

use rayon::prelude::*;

use super::words::{Term, Vocabulary, weighed};
use crate::model::{DocId, Graph, Lexicon, Rows};

/// Words kept of a profile.
const MAX_WORDS: usize = 160;

/// A document that is cited more often is known well enough.
const MAX_CITING: usize = 400;

/// What one document is known by.
pub(super) struct Profile {
    /// The words of its title, by row of the vocabulary.
    pub(super) title: Vec<u32>,
    /// The rarity of all of them together.
    pub(super) rarity: u32,
    /// The words of its title and of the lines that refer to it, those that tell most first.
    pub(super) words: Vec<Term>,
    /// Whether its title, or anything said of it, has one of the words that were asked about.
    pub(super) has: Has,
}

/// Where a word that was asked about is.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Has {
    None,
    Said,
    Title,
}

/// The lines that refer to each document, by row: who, and where.
pub(super) struct Citing(Rows<(DocId, u32)>);

impl Citing {
    pub(super) fn new(graph: &Graph) -> Citing {
        let mut citing: Vec<(DocId, (DocId, u32))> = Vec::with_capacity(graph.edges.len());
        let mut lens = vec![0; graph.documents.len()];
        let mut last = vec![(DocId(0), 0); graph.documents.len()];
        let mut add = |to: DocId, place: (DocId, u32), twice: bool| {
            let row = to.0 as usize;
            if lens[row] < MAX_CITING && (twice || last[row] != place) {
                (lens[row], last[row]) = (lens[row] + 1, place);
                citing.push((to, place));
            }
        };
        for edge in graph.edges.iter().filter(|edge| edge.line > 0 && edge.from != edge.to) {
            add(edge.to, (edge.from, edge.line), false);
            // What stands in the place of another is known by what was said of that.
            for successor in &graph.replaced_by[edge.to.0 as usize] {
                if *successor != edge.from {
                    add(*successor, (edge.from, edge.line), true);
                }
            }
        }
        let citing = Rows::grouped(lens.len(), &citing, |(to, _)| to.0 as usize).into_all();
        let bigrams = citing.into_iter().map(|(to, place)| (to.0 as usize, place));
        Citing(Rows::of_pairs(lens.len(), bigrams))
    }

    /// The words of each line that refers to a document.
    pub(super) fn lines<'a>(
        &'a self,
        lexicon: &'a Lexicon,
        id: DocId,
    ) -> impl Iterator<Item = &'a [u32]> {
        let lines = self.0.of(id.0 as usize).iter();
        lines.map(|(from, line)| lexicon.line(from.0 as usize, *line))
    }

    /// The words that a document is known by, its title's among them, each with how often it is said.
    fn said(&self, lexicon: &Lexicon, row: usize) -> Vec<(u32, u32)> {
        let mut said: Vec<u32> = lexicon.titles.of(row).to_vec();
        for line in self.lines(lexicon, DocId(row as u32)) {
            said.extend_from_slice(line);
        }
        said.sort_unstable();
        said.chunk_by(|a, b| a == b).map(|run| (run[0], run.len() as u32)).collect()
    }

    /// The words a document is known by where words have these rows and are so rare.
    pub(super) fn words(
        &self,
        lexicon: &Lexicon,
        row: usize,
        rarity: impl Fn(u32) -> Option<(u32, u32)>,
    ) -> Vec<Term> {
        known_by(&self.said(lexicon, row), rarity)
    }
}

fn known_by(said: &[(u32, u32)], rarity: impl Fn(u32) -> Option<(u32, u32)>) -> Vec<Term> {
    let counted = said.iter().filter_map(|(hash, n)| {
        let (id, rarity) = rarity(*hash)?;
        Some((id, *n, rarity))
    });
    let mut words = weighed(counted);
    words.truncate(MAX_WORDS);
    words
}

/// The profiles of all documents, by row. Each says whether it has any of some words, sorted.
pub(super) fn profiles(
    lexicon: &Lexicon,
    citing: &Citing,
    vocabulary: &Vocabulary,
    asked: &[u32],
) -> Vec<Profile> {
    let is_asked = |hash: &u32| asked.binary_search(hash).is_ok();
    let profile = |row: usize| {
        let (title, said) = (lexicon.titles.of(row), citing.said(lexicon, row));
        let has = match asked.is_empty() {
            true => Has::None,
            false if title.iter().any(is_asked) => Has::Title,
            false if said.iter().any(|(hash, _)| is_asked(hash)) => Has::Said,
            false => Has::None,
        };
        let words = known_by(&said, |hash| {
            let id = vocabulary.id(hash)?;
            Some((id, vocabulary.rarity(id)))
        });
        let title: Vec<u32> = title.iter().filter_map(|hash| vocabulary.id(*hash)).collect();
        let rarity = title.iter().map(|id| vocabulary.rarity(*id)).sum();
        Profile { title, rarity, words, has }
    };
    (0..lexicon.titles.len()).into_par_iter().map(profile).collect()
}
