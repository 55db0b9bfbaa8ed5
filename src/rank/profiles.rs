//! What others know a document by: its title, and what they say in the lines that refer to it.

use rayon::prelude::*;

use super::words::{Term, Vocabulary};
use crate::model::word::stems;
use crate::model::{DocId, Graph};

/// Words kept of a profile, and of a title.
const MAX_WORDS: usize = 160;
const MAX_TITLE: usize = 16;

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
}

/// The profiles of all documents, by row.
pub(super) fn profiles(graph: &Graph, vocabulary: &Vocabulary) -> Vec<Profile> {
    let mut citing: Vec<Vec<(DocId, u32)>> = vec![Vec::new(); graph.documents.len()];
    for edge in graph.edges.iter().filter(|edge| edge.line > 0 && edge.from != edge.to) {
        let places = &mut citing[edge.to.0 as usize];
        if places.len() < MAX_CITING && places.last() != Some(&(edge.from, edge.line)) {
            places.push((edge.from, edge.line));
        }
        // What stands in the place of another is known by what was said of that.
        for successor in &graph.replaced_by[edge.to.0 as usize] {
            let places = &mut citing[successor.0 as usize];
            if *successor != edge.from && places.len() < MAX_CITING {
                places.push((edge.from, edge.line));
            }
        }
    }
    let profile = |(row, citing): (usize, &Vec<(DocId, u32)>)| {
        let title = stems(&graph.documents[row].title, MAX_TITLE);
        let mut said: Vec<u32> = title.clone();
        for (from, line) in citing {
            said.extend_from_slice(graph.document(*from).facts.around.line(*line));
        }
        said.sort_unstable();
        let runs = said.chunk_by(|a, b| a == b);
        let counted = runs.filter_map(|run| Some((vocabulary.id(run[0])?, run.len() as u32)));
        let mut words = vocabulary.weighed(counted);
        words.truncate(MAX_WORDS);
        let title: Vec<u32> = title.into_iter().filter_map(|hash| vocabulary.id(hash)).collect();
        let rarity = title.iter().map(|id| vocabulary.rarity(*id)).sum();
        Profile { title, rarity, words }
    };
    citing.par_iter().enumerate().map(profile).collect()
}
