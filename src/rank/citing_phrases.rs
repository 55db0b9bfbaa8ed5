//! Bigrams of the lines that cite a document, looked up in other texts.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::anchor_text::CitingIndex;
use super::integer_log::ratio;
use super::title_phrases::starts_by_bigram;
use crate::model::terms::bigram;
use crate::model::{DocId, Graph, Lexicon};

/// Bigrams that occur in more citing lines than this are too common to identify a document.
const MAX_CITED: usize = 32;

/// Number of citations that are assumed to use the same bigram, in addition to those of the
/// project.
const PRIOR: u32 = 2;

/// Bigrams of citing lines with the documents that the lines cite.
pub(super) struct CitingPhrases {
    /// Each bigram with a cited document, sorted.
    cited: Vec<(u32, DocId)>,
    starts: FxHashMap<u32, u32>,
}

impl CitingPhrases {
    pub(super) fn new(graph: &Graph, lexicon: &Lexicon, citing: &CitingIndex) -> CitingPhrases {
        let keys = |id: DocId| {
            let lines = citing.lines(lexicon, id);
            let bigrams =
                lines.flat_map(|terms| terms.windows(2).map(|two| bigram(two[0], two[1])));
            // One number sorts faster than a tuple.
            bigrams.map(move |bigram| u64::from(bigram) << 32 | u64::from(id.0))
        };
        let ids: Vec<DocId> = graph.ids().collect();
        let mut all: Vec<u64> = ids.into_par_iter().flat_map_iter(keys).collect();
        all.par_sort_unstable();
        let runs = all.chunk_by(|a, b| a >> 32 == b >> 32).filter(|run| run.len() <= MAX_CITED);
        let entry = |key: &u64| ((key >> 32) as u32, DocId(*key as u32));
        let cited: Vec<(u32, DocId)> = runs.flatten().map(entry).collect();
        let starts = starts_by_bigram(&cited);
        CitingPhrases { cited, starts }
    }

    /// Calls `found` with each document that is cited with bigrams of a text, and the logarithm of
    /// their number in thousandths. Bigrams that cite fewer documents count more.
    pub(super) fn find(
        &self,
        bigrams: &[u32],
        sums: &mut [u32],
        found: &mut dyn FnMut(DocId, i32),
    ) {
        let mut touched: Vec<DocId> = Vec::new();
        for bigram in bigrams {
            let Some(start) = self.starts.get(bigram) else { continue };
            let run = &self.cited[*start as usize..];
            let len = run.iter().take_while(|(other, _)| other == bigram).count();
            for (_, other) in &run[..len] {
                if sums[other.0 as usize] == 0 {
                    touched.push(*other);
                }
                sums[other.0 as usize] += 1_000 / (len as u32 + PRIOR);
            }
        }
        for other in touched {
            let sum = std::mem::take(&mut sums[other.0 as usize]);
            found(other, ratio(1_000 + u64::from(sum), 1_000));
        }
    }
}
