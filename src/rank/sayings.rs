//! Who is spoken of as where others cite it: words that follow each other there, looked for in a text.

use rayon::prelude::*;

use super::log::ratio;
use super::places::Places;
use super::profiles::Citing;
use crate::model::terms::bigram;
use crate::model::{DocId, Graph, Lexicon};

/// Words that stand beside more references are nobody's.
const MAX_CITED: usize = 32;

/// References that are believed to have been made elsewhere in the same words.
const BELIEF: u32 = 2;

/// What stands beside references, and what they refer to.
pub(super) struct Sayings {
    /// Every pair of words of a line with what the line refers to, sorted.
    cited: Vec<(u32, DocId)>,
    places: Places,
}

impl Sayings {
    pub(super) fn new(graph: &Graph, lexicon: &Lexicon, citing: &Citing) -> Sayings {
        let of = |id: DocId| {
            let lines = citing.lines(lexicon, id);
            let bigrams =
                lines.flat_map(|words| words.windows(2).map(|two| bigram(two[0], two[1])));
            // One number is sorted quicker than two.
            bigrams.map(move |pair| u64::from(pair) << 32 | u64::from(id.0))
        };
        let ids: Vec<DocId> = graph.ids().collect();
        let mut all: Vec<u64> = ids.into_par_iter().flat_map_iter(of).collect();
        all.par_sort_unstable();
        let runs = all.chunk_by(|a, b| a >> 32 == b >> 32).filter(|run| run.len() <= MAX_CITED);
        let both = |both: &u64| ((both >> 32) as u32, DocId(*both as u32));
        let cited: Vec<(u32, DocId)> = runs.flatten().map(both).collect();
        let places = Places::new(&cited);
        Sayings { cited, places }
    }

    /// Names whom others cite in words of a text, by its bigrams, each with how much they are its own, as a
    /// logarithm in thousandths.
    pub(super) fn share(
        &self,
        bigrams: &[u32],
        sums: &mut [u32],
        tell: &mut dyn FnMut(DocId, i32),
    ) {
        let mut touched: Vec<DocId> = Vec::new();
        for pair in bigrams {
            let Some(start) = self.places.of(&self.cited, *pair) else { continue };
            let run = &self.cited[start as usize..];
            let len = run.iter().take_while(|(other, _)| other == pair).count();
            for (_, other) in &run[..len] {
                if sums[other.0 as usize] == 0 {
                    touched.push(*other);
                }
                sums[other.0 as usize] += 1_000 / (len as u32 + BELIEF);
            }
        }
        for other in touched {
            let sum = std::mem::take(&mut sums[other.0 as usize]);
            tell(other, ratio(1_000 + u64::from(sum), 1_000));
        }
    }
}
