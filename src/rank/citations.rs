//! The citation graph: each pair of citing and cited document once.

use crate::model::{DocId, Graph, Relation, Rows};

/// Documents with more citations than this pass on no probability in a random walk, because their
/// neighbours have nothing else in common.
const MAX_DEGREE: usize = 200;

/// Number of steps of a random walk, and the probability of each step in tenths.
const N_STEPS: usize = 2;
const STEP: u64 = 6;

/// Probability 1 in a random walk.
pub(super) const CERTAIN: u64 = 1 << 30;

/// Citations without repetitions. A document also inherits the citations of those it replaces.
pub(super) struct Citations {
    /// Citing and cited document, sorted.
    pub(super) pairs: Vec<(DocId, DocId)>,
    /// Documents that each document cites.
    cited: Rows<DocId>,
    /// Documents that cite each document, and true if they do so directly.
    citing: Rows<(DocId, bool)>,
}

impl Citations {
    pub(super) fn new(graph: &Graph) -> Citations {
        let n = graph.documents.len();
        let mut pairs: Vec<(DocId, DocId, bool)> = Vec::with_capacity(graph.edges.len());
        for edge in graph.edges.iter().filter(|edge| edge.from != edge.to) {
            pairs.push((edge.from, edge.to, false));
            if edge.relation != Relation::Supersedes {
                let successors = graph.replaced_by[edge.to.0 as usize].iter();
                let others = successors.filter(|successor| **successor != edge.from);
                pairs.extend(others.map(|successor| (edge.from, *successor, true)));
            }
        }
        // Direct citations sort before inherited ones, so that those are removed as repetitions.
        pairs.sort_unstable();
        pairs.dedup_by_key(|(from, to, _)| (*from, *to));
        let cited = pairs.iter().map(|(from, to, _)| (from.0 as usize, *to));
        let cited = Rows::of_pairs(n, cited);
        let mut back: Vec<(DocId, (DocId, bool))> =
            pairs.iter().map(|(from, to, inherited)| (*to, (*from, !inherited))).collect();
        back.sort_unstable();
        let citing = Rows::of_pairs(n, back.into_iter().map(|(to, from)| (to.0 as usize, from)));
        let pairs = pairs.into_iter().map(|(from, to, _)| (from, to)).collect();
        Citations { pairs, cited, citing }
    }

    /// Returns the documents that a document cites.
    pub(super) fn cited(&self, id: DocId) -> &[DocId] {
        self.cited.of(id.0 as usize)
    }

    /// Returns the documents that cite a document directly.
    pub(super) fn citing(&self, id: DocId) -> impl Iterator<Item = DocId> {
        let citing = self.citing.of(id.0 as usize).iter();
        citing.filter(|(_, is_direct)| *is_direct).map(|(citing, _)| *citing)
    }

    /// Returns the number of documents that cite a document.
    pub(super) fn n_citing(&self, id: DocId) -> usize {
        self.citing.of(id.0 as usize).len()
    }

    /// Walks along citations in both directions. `from` has the probability to start at each
    /// document. Returns the documents that are reached, each once, with the probability to stop
    /// there. `memory` has two zeros per document.
    pub(super) fn walk(&self, from: &[(DocId, u64)], memory: &mut [[u64; 2]]) -> Vec<(DocId, u64)> {
        let mut reached: Vec<DocId> = Vec::new();
        let mut stop = |id: DocId, probability: u64, memory: &mut [[u64; 2]]| {
            let [_, total] = &mut memory[id.0 as usize];
            if *total == 0 && probability > 0 {
                reached.push(id);
            }
            *total += probability;
        };
        let mut current = from.to_vec();
        for _ in 0..N_STEPS {
            let mut next: Vec<DocId> = Vec::new();
            for (id, probability) in current {
                stop(id, probability - probability * STEP / 10, memory);
                let (cited, citing) = (self.cited(id), self.citing.of(id.0 as usize));
                let degree = cited.len() + citing.len();
                let share = probability * STEP / 10 / (degree as u64).max(1);
                if degree > MAX_DEGREE || share == 0 {
                    continue;
                }
                for other in cited.iter().chain(citing.iter().map(|(other, _)| other)) {
                    let [sum, _] = &mut memory[other.0 as usize];
                    if *sum == 0 {
                        next.push(*other);
                    }
                    *sum += share;
                }
            }
            let take = |id: DocId| (id, std::mem::take(&mut memory[id.0 as usize][0]));
            current = next.into_iter().map(take).collect();
        }
        current.into_iter().for_each(|(id, probability)| stop(id, probability, memory));
        let take = |id: DocId| (id, std::mem::take(&mut memory[id.0 as usize][1]));
        reached.into_iter().map(take).collect()
    }

    /// Returns the documents that both cite directly.
    pub(super) fn both_cite(&self, a: DocId, b: DocId) -> Vec<DocId> {
        let both = self.cited(a).iter().copied();
        both.filter(|cited| self.cites(a, *cited) && self.cites(b, *cited)).collect()
    }

    /// Returns the documents that cite both directly.
    pub(super) fn citing_both(&self, a: DocId, b: DocId) -> Vec<DocId> {
        self.citing(a).filter(|citing| self.cites(*citing, b)).collect()
    }

    /// Returns true if a document cites another directly, and not only a document that it replaced.
    pub(super) fn cites(&self, citing: DocId, cited: DocId) -> bool {
        self.citing.of(cited.0 as usize).binary_search(&(citing, true)).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rank::tests::graph;

    #[test]
    fn documents_that_cite_the_same_ones_are_found() {
        use Relation::Mention;
        let edges = [(0, 2, Mention), (1, 2, Mention), (0, 3, Mention), (1, 3, Mention)];
        let graph = graph(&["a", "b", "c", "d", "e"], &edges);
        let citations = Citations::new(&graph);
        let (zero, one) = (DocId(0), DocId(1));
        assert_eq!(citations.both_cite(zero, one), [DocId(2), DocId(3)]);
        assert_eq!(citations.citing_both(DocId(2), DocId(3)), [zero, one]);
        assert!(citations.cites(zero, DocId(2)) && !citations.cites(DocId(2), zero));
        assert_eq!((citations.n_citing(DocId(2)), citations.n_citing(zero)), (2, 0));
    }

    #[test]
    fn a_walk_reaches_neighbours_of_neighbours_with_a_total_probability_of_one() {
        use Relation::Mention;
        let graph = graph(&["a", "b", "c", "d"], &[(0, 1, Mention), (2, 1, Mention)]);
        let citations = Citations::new(&graph);
        let reached = citations.walk(&[(DocId(0), CERTAIN)], &mut [[0; 2]; 4]);
        let of = |id: u32| reached.iter().filter(|(d, _)| d.0 == id).map(|(_, p)| p).sum::<u64>();
        assert!(of(0) > of(1) && of(1) > of(2) && of(2) > 0 && of(3) == 0, "{reached:?}");
        assert!((CERTAIN - 9..=CERTAIN).contains(&(of(0) + of(1) + of(2))));
    }
}
