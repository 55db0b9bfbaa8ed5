//! Anchor text: a document's title, and the lines of other documents that cite it.

use rayon::prelude::*;

use super::inverted_index::{Term, Vocabulary};
use crate::model::{DocId, Graph, Lexicon, Rows};

/// Maximum number of terms per anchor text.
const MAX_TERMS: usize = 160;

/// Maximum number of citing lines per document.
const MAX_CITING: usize = 400;

/// The anchor text of one document.
pub(super) struct AnchorText {
    /// The terms of its title, by row of the vocabulary.
    pub(super) title: Vec<u32>,
    /// Sum of the IDF of these terms.
    pub(super) title_idf: u32,
    /// The terms of its title and of the lines that cite it, heaviest first.
    pub(super) terms: Vec<Term>,
}

/// Lines that cite each document, by row: citing document and line number.
pub(super) struct CitingIndex(Rows<(DocId, u32)>);

impl CitingIndex {
    pub(super) fn new(graph: &Graph) -> CitingIndex {
        let mut citing: Vec<(DocId, (DocId, u32))> = Vec::with_capacity(graph.edges.len());
        let mut lens = vec![0; graph.documents.len()];
        let mut last = vec![(DocId(0), 0); graph.documents.len()];
        let mut add = |to: DocId, place: (DocId, u32), is_inherited: bool| {
            let row = to.0 as usize;
            if lens[row] < MAX_CITING && (is_inherited || last[row] != place) {
                (lens[row], last[row]) = (lens[row] + 1, place);
                citing.push((to, place));
            }
        };
        for edge in graph.edges.iter().filter(|edge| edge.line > 0 && edge.from != edge.to) {
            add(edge.to, (edge.from, edge.line), false);
            // A document inherits the citing lines of the documents that it replaces.
            for successor in &graph.replaced_by[edge.to.0 as usize] {
                if *successor != edge.from {
                    add(*successor, (edge.from, edge.line), true);
                }
            }
        }
        let citing = Rows::grouped(lens.len(), &citing, |(to, _)| to.0 as usize).into_all();
        let pairs = citing.into_iter().map(|(to, place)| (to.0 as usize, place));
        CitingIndex(Rows::of_pairs(lens.len(), pairs))
    }

    /// Returns the terms of each line that cites a document.
    pub(super) fn lines<'a>(
        &'a self,
        lexicon: &'a Lexicon,
        id: DocId,
    ) -> impl Iterator<Item = &'a [u32]> {
        let lines = self.0.of(id.0 as usize).iter();
        lines.map(|(from, line)| lexicon.citing_line(from.0 as usize, *line))
    }
}

/// Returns the anchor texts of all documents, by row.
pub(super) fn anchor_texts(
    lexicon: &Lexicon,
    citing: &CitingIndex,
    vocabulary: &Vocabulary,
) -> Vec<AnchorText> {
    let anchor_text = |row: usize| {
        let mut hashes: Vec<u32> = lexicon.titles.of(row).to_vec();
        for line in citing.lines(lexicon, DocId(row as u32)) {
            hashes.extend_from_slice(line);
        }
        hashes.sort_unstable();
        let counted = hashes.chunk_by(|a, b| a == b).filter_map(|run| {
            let id = vocabulary.id(run[0])?;
            Some((id, run.len() as u32))
        });
        let mut terms = vocabulary.weigh(counted);
        terms.truncate(MAX_TERMS);
        let title = lexicon.titles.of(row).iter().filter_map(|hash| vocabulary.id(*hash));
        let title: Vec<u32> = title.collect();
        let title_idf = title.iter().map(|id| vocabulary.idf(*id)).sum();
        AnchorText { title, title_idf, terms }
    };
    (0..lexicon.titles.len()).into_par_iter().map(anchor_text).collect()
}
