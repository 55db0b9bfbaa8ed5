//! Bigrams of the lines that cite a document, looked up in other texts.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::model::integer_log::ratio;
use crate::model::terms::bigram;
use crate::model::{DocId, Graph, Lexicon, Rows};

/// Maximum number of citing lines per document.
const MAX_CITING: usize = 400;

/// Bigrams that occur in more citing lines than this are too common to identify a document.
const MAX_CITED: usize = 32;

/// Number of citations that are assumed to use the same bigram, in addition to those of the
/// project.
const PRIOR: u32 = 2;

/// Bigrams of citing lines with the documents that the lines cite.
pub(super) struct CitingPhrases {
    /// Both terms of each bigram, and the documents that are cited with it.
    terms: Vec<(u32, u32)>,
    cited: Rows<DocId>,
    /// Row of each bigram in both.
    rows: FxHashMap<u32, u32>,
}

/// A document that is cited with bigrams of a text.
pub(super) struct CitedWith {
    pub(super) id: DocId,
    /// Logarithm of the number of bigrams, in thousandths. Bigrams that cite fewer documents count
    /// more.
    pub(super) points: i32,
    /// The row of the bigram that cites the fewest documents.
    pub(super) best: u32,
}

impl CitingPhrases {
    pub(super) fn new(graph: &Graph, lexicon: &Lexicon) -> CitingPhrases {
        let lines = citing_lines(graph);
        let keys = |row: usize| {
            let terms = lines.of(row).iter();
            let terms = terms.map(|(from, line)| lexicon.citing_line(from.0 as usize, *line));
            let pairs = terms.flat_map(|terms| terms.windows(2).map(|two| (two[0], two[1])));
            pairs.map(move |(first, second)| (bigram(first, second), row as u32, (first, second)))
        };
        let rows: Vec<usize> = (0..graph.documents.len()).collect();
        let mut all: Vec<(u32, u32, (u32, u32))> =
            rows.into_par_iter().flat_map_iter(keys).collect();
        all.par_sort_unstable();
        let runs = all.chunk_by(|a, b| a.0 == b.0).filter(|run| run.len() <= MAX_CITED);
        let (mut terms, mut cited, mut rows) = (Vec::new(), Rows::default(), FxHashMap::default());
        for run in runs {
            rows.insert(run[0].0, terms.len() as u32);
            terms.push(run[0].2);
            cited.push(&run.iter().map(|(_, row, _)| DocId(*row)).collect::<Vec<DocId>>());
        }
        CitingPhrases { terms, cited, rows }
    }

    /// Returns the documents that are cited with bigrams of a text. `sums` is scratch memory.
    pub(super) fn find(&self, bigrams: &[u32], sums: &mut [u32]) -> Vec<CitedWith> {
        let mut found: Vec<CitedWith> = Vec::new();
        let mut n_cited: Vec<usize> = Vec::new();
        for best in bigrams.iter().filter_map(|bigram| self.rows.get(bigram).copied()) {
            let cited = self.cited.of(best as usize);
            let points = 1_000 / (cited.len() as u32 + PRIOR);
            for id in cited {
                // A sum of zero means that the document was not found yet; otherwise the sum
                // starts with its position in `found`.
                let sum = &mut sums[id.0 as usize];
                if *sum == 0 {
                    found.push(CitedWith { id: *id, points: 0, best });
                    n_cited.push(cited.len());
                    *sum = found.len() as u32;
                }
                let at = *sum as usize - 1;
                found[at].points += points as i32;
                if cited.len() < n_cited[at] {
                    (found[at].best, n_cited[at]) = (best, cited.len());
                }
            }
        }
        for cited in &mut found {
            sums[cited.id.0 as usize] = 0;
            cited.points = ratio(1_000 + cited.points as u64, 1_000);
        }
        found
    }

    /// Returns both terms of a bigram.
    pub(super) fn terms(&self, row: u32) -> (u32, u32) {
        self.terms[row as usize]
    }
}

/// Returns the lines that cite each document: citing document and line number.
fn citing_lines(graph: &Graph) -> Rows<(DocId, u32)> {
    let mut citing: Vec<(DocId, (DocId, u32))> = Vec::with_capacity(graph.edges.len());
    for edge in graph.edges.iter().filter(|edge| edge.line > 0 && edge.from != edge.to) {
        let place = (edge.from, edge.line);
        citing.push((edge.to, place));
        // A document inherits the citing lines of the documents that it replaces.
        let successors = graph.replaced_by[edge.to.0 as usize].iter();
        citing.extend(successors.filter(|id| **id != edge.from).map(|id| (*id, place)));
    }
    citing.sort_unstable();
    citing.dedup();
    let mut lines = Rows::with_capacity(graph.documents.len(), citing.len());
    let mut rest = &citing[..];
    for id in graph.ids() {
        let len = rest.partition_point(|(to, _)| *to == id);
        let places: Vec<(DocId, u32)> =
            rest[..len].iter().take(MAX_CITING).map(|(_, place)| *place).collect();
        lines.push(&places);
        rest = &rest[len..];
    }
    lines
}
