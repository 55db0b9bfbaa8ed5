//! Code names that documents share. Each name is compared as a whole.

use rayon::prelude::*;

use super::integer_log::{log2_16, ratio};
use super::inverted_index::rounded_count;
use crate::model::{DocId, Lexicon};

/// Names that more documents use are too common. It is a power of two, because counts are rounded
/// to powers of two.
const MAX_USED: u32 = 32;

/// Length of a vector of names that every document is assumed to use in addition. Without it, two
/// documents that use only one name each would be equal.
const PRIOR_LENGTH: u64 = 320;

/// Similarity of two documents by their code names.
pub(super) struct NameSimilarity {
    /// Cosine similarity in thousandths.
    pub(super) cosine: i32,
    /// Logarithm of the number of shared names that the other document uses most, in thousandths.
    pub(super) top_user: i32,
}

/// Code names that at least two documents use and at most `MAX_USED`.
pub(super) struct CodeNames {
    /// Each name with a document that uses it, sorted.
    uses: Vec<Use>,
    /// Starts of each document's names in `uses`, and the start of each document in `runs`.
    runs: Vec<u32>,
    starts: Vec<u32>,
    /// Length of each document's vector.
    lengths: Vec<u32>,
    /// IDF of a name, by the base-2 logarithm of its rounded document frequency.
    idf: Vec<u32>,
    /// Largest possible IDF.
    max_idf: u32,
}

/// A name, a document that uses it, and the level of use, in one number because it sorts faster.
#[derive(Clone, Copy, Eq, Ord, PartialEq, PartialOrd)]
struct Use(u64);

impl Use {
    /// Packs a name of the lexicon, see [`crate::model::terms::pack_count`].
    fn new(name: u32, id: DocId) -> Use {
        Use(u64::from(name >> 3) << 35 | u64::from(id.0) << 3 | u64::from(name & 7))
    }

    fn name(self) -> u64 {
        self.0 >> 35
    }

    fn id(self) -> DocId {
        DocId((self.0 >> 3) as u32)
    }

    fn level(self) -> u32 {
        (self.0 & 7) as u32 + 1
    }
}

impl CodeNames {
    pub(super) fn new(lexicon: &Lexicon) -> CodeNames {
        let n = lexicon.names.len();
        let uses = |id: DocId| {
            let names = lexicon.names.of(id.0 as usize).iter();
            names.map(move |name| Use::new(*name, id))
        };
        let ids: Vec<DocId> = (0..n as u32).map(DocId).collect();
        let mut uses: Vec<Use> = ids.into_par_iter().flat_map_iter(uses).collect();
        uses.par_sort_unstable();
        let runs = uses.chunk_by(|a, b| a.name() == b.name());
        let shared = runs.filter(|run| (2..=MAX_USED as usize).contains(&run.len()));
        let uses: Vec<Use> = shared.flatten().copied().collect();
        let idf = (0..=MAX_USED.ilog2()).map(|log| log2_16(n as u64, 1 << log)).collect();
        let max_idf = log2_16(n as u64, 1).max(1);
        let (runs, starts, lengths) = (Vec::new(), vec![0; n + 1], Vec::new());
        let mut names = CodeNames { uses, runs, starts, lengths, idf, max_idf };
        names.index_by_document(n);
        names
    }

    fn index_by_document(&mut self, n: usize) {
        self.uses.iter().for_each(|entry| self.starts[entry.id().0 as usize + 1] += 1);
        (1..=n).for_each(|i| self.starts[i] += self.starts[i - 1]);
        let mut next = self.starts.clone();
        self.runs = vec![0; self.uses.len()];
        let mut squares = vec![PRIOR_LENGTH * PRIOR_LENGTH; n];
        let mut start = 0;
        for run in self.uses.chunk_by(|a, b| a.name() == b.name()) {
            let idf = self.idf_of(run);
            for entry in run {
                let row = entry.id().0 as usize;
                self.runs[next[row] as usize] = start;
                next[row] += 1;
                let weight = u64::from(entry.level() * idf);
                squares[row] += weight * weight;
            }
            start += run.len() as u32;
        }
        self.lengths = squares.into_iter().map(|squares| squares.isqrt() as u32).collect();
    }

    fn idf_of(&self, run: &[Use]) -> u32 {
        self.idf[rounded_count(run.len() as u32).ilog2() as usize]
    }

    /// Returns the uses of each name that a document shares with others.
    fn shared_names(&self, id: DocId) -> impl Iterator<Item = &[Use]> {
        let row = id.0 as usize;
        let runs = &self.runs[self.starts[row] as usize..self.starts[row + 1] as usize];
        runs.iter().map(|start| {
            let run = &self.uses[*start as usize..];
            let len = run.iter().take_while(|entry| entry.name() == run[0].name()).count();
            &run[..len]
        })
    }

    /// Calls `found` with each document that shares a name. `sums` and `top` are scratch memory.
    pub(super) fn find(
        &self,
        id: DocId,
        sums: &mut [u32],
        top: &mut [u32],
        found: &mut dyn FnMut(DocId, NameSimilarity),
    ) {
        let mut touched: Vec<DocId> = Vec::new();
        for run in self.shared_names(id) {
            let idf = self.idf_of(run);
            let Ok(own) = run.binary_search_by_key(&id, |entry| entry.id()) else { continue };
            let own = run[own].level() * idf;
            // Of equal users, the first one counts as the top user.
            let top_user = run.iter().rev().max_by_key(|entry| entry.level());
            for entry in run.iter().filter(|entry| entry.id() != id && idf > 0) {
                let row = entry.id().0 as usize;
                if sums[row] == 0 {
                    touched.push(entry.id());
                }
                sums[row] += own * entry.level() * idf;
                top[row] += if top_user == Some(entry) { idf } else { 0 };
            }
        }
        for other in touched {
            let row = other.0 as usize;
            let product = u64::from(std::mem::take(&mut sums[row])) * 1_000;
            let lengths = u64::from(self.lengths[id.0 as usize]) * u64::from(self.lengths[row]);
            let top = std::mem::take(&mut top[row]);
            let top_user = ratio(u64::from(self.max_idf + top), u64::from(self.max_idf));
            found(other, NameSimilarity { cosine: (product / lengths) as i32, top_user });
        }
    }

    /// Returns the number of names that two documents share.
    pub(super) fn n_shared(&self, id: DocId, other: DocId) -> usize {
        let has = |run: &&[Use]| run.binary_search_by_key(&other, |entry| entry.id()).is_ok();
        self.shared_names(id).filter(has).count()
    }
}
