//! The citation graph: each pair of citing and cited document once.

use super::integer_log::log2_16;
use super::references::points;
use crate::model::{DocId, Graph, Relation, Rows};

/// Documents with more citations than this do not count for coupling: they are cited by documents
/// that have nothing else in common.
const MAX_DEGREE: usize = 300;

/// Citations without repetitions. A document also inherits the citations of those it replaces.
pub(super) struct Citations {
    /// Citing and cited document, sorted.
    pub(super) pairs: Vec<(DocId, DocId)>,
    /// Documents that each document cites, and that cite it.
    cited: Rows<DocId>,
    citing: Rows<DocId>,
    /// Strength of each entry of `citing`, in thousandths; 0 if the citation is inherited.
    strength: Vec<i32>,
    /// Logarithm of the number of documents that cite each document.
    hubs: Vec<i32>,
    /// Weight of a citation of each document, which falls with the number of citations.
    specificity: Vec<u32>,
    /// Length of each document's vector of citations.
    lengths: Vec<u32>,
}

impl Citations {
    pub(super) fn new(graph: &Graph) -> Citations {
        let n = graph.documents.len();
        let mut back: Vec<(DocId, DocId, i32)> = Vec::with_capacity(graph.edges.len());
        for edge in graph.edges.iter().filter(|edge| edge.from != edge.to) {
            // A link has twenty points and thus a strength of one thousand.
            let strength = points(edge.relation).1 as i32 * 50;
            back.push((edge.to, edge.from, strength));
            if edge.relation != Relation::Supersedes {
                for successor in &graph.replaced_by[edge.to.0 as usize] {
                    if *successor != edge.from {
                        back.push((*successor, edge.from, 0));
                    }
                }
            }
        }
        let mut back = Rows::grouped(n, &back, |(to, ..)| to.0 as usize).into_all();
        // Citing documents are in order already, unless a document was replaced.
        for run in back.chunk_by_mut(|a, b| a.0 == b.0) {
            run.sort_unstable_by_key(|(_, from, strength)| (*from, std::cmp::Reverse(*strength)));
        }
        back.dedup_by_key(|(to, from, _)| (*to, *from));
        let strength = back.iter().map(|(.., strength)| *strength).collect();
        let pairs: Vec<(DocId, DocId)> = back.iter().map(|(to, from, _)| (*from, *to)).collect();
        let pairs = Rows::grouped(n, &pairs, |(from, _)| from.0 as usize).into_all();
        let citing = Rows::of_pairs(n, back.into_iter().map(|(to, from, _)| (to.0 as usize, from)));
        let cited = Rows::of_pairs(n, pairs.iter().map(|(from, to)| (from.0 as usize, *to)));
        let n_citing = |row: usize| log2_16(citing.of(row).len() as u64 + 1, 1);
        let log_citing: Vec<u32> = (0..n).map(n_citing).collect();
        let hubs = log_citing.iter().map(|log| *log as i32 * 693 / 16).collect();
        let specificity: Vec<u32> = log_citing.iter().map(|log| (1 << 16) / (16 + log)).collect();
        let length = |row: usize| {
            let cited = cited.of(row).iter();
            cited.map(|other| specificity[other.0 as usize]).sum::<u32>().isqrt().max(1)
        };
        let lengths = (0..n).map(length).collect();
        Citations { pairs, cited, citing, strength, hubs, specificity, lengths }
    }

    /// Returns the documents that a document cites.
    pub(super) fn cited(&self, id: DocId) -> &[DocId] {
        self.cited.of(id.0 as usize)
    }

    /// Returns the documents that cite a document directly, with the strength of each citation.
    pub(super) fn citing(&self, id: DocId) -> impl Iterator<Item = (DocId, i32)> {
        let start = self.citing.start(id.0 as usize);
        let strength = &self.strength[start..];
        let all = self.citing.of(id.0 as usize).iter().copied().zip(strength.iter().copied());
        all.filter(|(_, strength)| *strength > 0)
    }

    /// Returns the logarithm of the number of citations, in thousandths.
    pub(super) fn hub(&self, id: DocId) -> i32 {
        self.hubs[id.0 as usize]
    }

    /// Adds the bibliographic coupling with all documents to `sums`, and calls `found` with those
    /// that cite the same documents.
    pub(super) fn couple(&self, id: DocId, sums: &mut [u32], found: &mut dyn FnMut(DocId)) {
        for cited in self.cited(id) {
            let others = self.citing.of(cited.0 as usize);
            if others.len() > MAX_DEGREE {
                continue;
            }
            for other in others.iter().filter(|other| **other != id) {
                let sum = &mut sums[other.0 as usize];
                if *sum == 0 {
                    found(*other);
                }
                *sum += self.specificity[cited.0 as usize];
            }
        }
    }

    /// Converts a sum of [`Citations::couple`] to a cosine similarity in thousandths.
    pub(super) fn coupling(&self, a: DocId, b: DocId, sum: u32) -> i32 {
        let lengths = u64::from(self.lengths[a.0 as usize]) * u64::from(self.lengths[b.0 as usize]);
        (u64::from(sum) * 1_000 / lengths).min(1_000) as i32
    }

    /// Returns the documents that both cite directly.
    pub(super) fn both_cite(&self, a: DocId, b: DocId) -> Vec<DocId> {
        let mut both = common(self.cited(a), self.cited(b));
        both.retain(|cited| self.cites(a, *cited) && self.cites(b, *cited));
        both
    }

    /// Returns the documents that cite both directly.
    pub(super) fn citing_both(&self, a: DocId, b: DocId) -> Vec<DocId> {
        let mut both = common(self.citing.of(a.0 as usize), self.citing.of(b.0 as usize));
        both.retain(|citing| self.cites(*citing, a) && self.cites(*citing, b));
        both
    }

    /// Returns true if a document cites another directly, and not only a document that it replaced.
    pub(super) fn cites(&self, citing: DocId, cited: DocId) -> bool {
        let start = self.citing.start(cited.0 as usize);
        let at = self.citing.of(cited.0 as usize).binary_search(&citing);
        at.is_ok_and(|at| self.strength[start + at] > 0)
    }
}

/// Returns the intersection of two sorted lists.
fn common(a: &[DocId], b: &[DocId]) -> Vec<DocId> {
    let (short, long) = if a.len() > b.len() { (b, a) } else { (a, b) };
    short.iter().copied().filter(|id| long.binary_search(id).is_ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rank::tests::graph;

    #[test]
    fn coupling_counts_shared_citations() {
        use Relation::Mention;
        let edges = [(0, 2, Mention), (1, 2, Mention), (0, 3, Mention), (1, 3, Mention)];
        let graph = graph(&["a", "b", "c", "d", "e"], &edges);
        let citations = Citations::new(&graph);
        let (zero, one) = (DocId(0), DocId(1));
        let (mut sums, mut found) = (vec![0; 5], Vec::new());
        citations.couple(zero, &mut sums, &mut |other| found.push(other));
        assert_eq!(found, [one]);
        assert!(citations.coupling(zero, one, sums[1]) >= 990, "they cite the same documents");
        assert_eq!(citations.both_cite(zero, one), [DocId(2), DocId(3)]);
        assert_eq!(citations.citing_both(DocId(2), DocId(3)), [zero, one]);
        assert!(citations.cites(zero, DocId(2)) && !citations.cites(DocId(2), zero));
        assert!(citations.hub(DocId(2)) > citations.hub(DocId(4)));
    }
}
