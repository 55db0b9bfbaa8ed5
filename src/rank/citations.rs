//! Who refers to whom, as the signals read it.

use super::explicit::points;
use super::log::log2_16;
use crate::model::{DocId, Graph, Relation, Rows};

/// A document that is referred to more often is no hint of who belongs together.
const MAX_DEGREE: usize = 300;

/// References, each pair of documents once. What pointed at a document that was replaced also points
/// at what stands in its place.
pub(super) struct Citations {
    /// Who refers to whom, sorted.
    pub(super) pairs: Vec<(DocId, DocId)>,
    /// Where the pairs of each document begin.
    cited: Rows<DocId>,
    citing: Rows<DocId>,
    /// How strongly each of `citing` refers, in thousandths.
    strength: Vec<i32>,
    /// How often each is referred to, as a logarithm.
    hubs: Vec<i32>,
    /// How much a reference to each tells of who makes it.
    telling: Vec<u32>,
    /// How much the references of each tell together, as a length.
    lengths: Vec<u32>,
}

impl Citations {
    pub(super) fn new(graph: &Graph) -> Citations {
        let n = graph.documents.len();
        let mut back: Vec<(DocId, DocId, i32)> = Vec::with_capacity(graph.edges.len());
        for edge in graph.edges.iter().filter(|edge| edge.from != edge.to) {
            // Twenty points are a plain link's.
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
        // Who refers comes in order already, unless something was replaced.
        for one in back.chunk_by_mut(|a, b| a.0 == b.0) {
            one.sort_unstable_by_key(|(_, from, strength)| (*from, std::cmp::Reverse(*strength)));
        }
        back.dedup_by_key(|(to, from, _)| (*to, *from));
        let strength = back.iter().map(|(.., strength)| *strength).collect();
        let pairs: Vec<(DocId, DocId)> = back.iter().map(|(to, from, _)| (*from, *to)).collect();
        let pairs = Rows::grouped(n, &pairs, |(from, _)| from.0 as usize).into_all();
        let citing = Rows::of_pairs(n, back.into_iter().map(|(to, from, _)| (to.0 as usize, from)));
        let cited = Rows::of_pairs(n, pairs.iter().map(|(from, to)| (from.0 as usize, *to)));
        let n_citing = |row: usize| log2_16(citing.of(row).len() as u64 + 1, 1);
        let often: Vec<u32> = (0..n).map(n_citing).collect();
        let hubs = often.iter().map(|often| *often as i32 * 693 / 16).collect();
        let telling: Vec<u32> = often.iter().map(|often| (1 << 16) / (16 + often)).collect();
        let length = |row: usize| {
            let cited = cited.of(row).iter();
            cited.map(|other| telling[other.0 as usize]).sum::<u32>().isqrt().max(1)
        };
        let lengths = (0..n).map(length).collect();
        Citations { pairs, cited, citing, strength, hubs, telling, lengths }
    }

    /// What a document refers to.
    pub(super) fn cited(&self, id: DocId) -> &[DocId] {
        self.cited.of(id.0 as usize)
    }

    /// Who refers to a document, and how strongly.
    pub(super) fn citing(&self, id: DocId) -> impl Iterator<Item = (DocId, i32)> {
        let start = self.citing.start(id.0 as usize);
        let strength = &self.strength[start..];
        let all = self.citing.of(id.0 as usize).iter().copied().zip(strength.iter().copied());
        all.filter(|(_, strength)| *strength > 0)
    }

    /// How often a document is referred to, as a logarithm in thousandths.
    pub(super) fn hub(&self, id: DocId) -> i32 {
        self.hubs[id.0 as usize]
    }

    /// Adds up how much others refer to what this one refers to, and names those that do.
    pub(super) fn couple(&self, id: DocId, coupled: &mut [u32], found: &mut dyn FnMut(DocId)) {
        for cited in self.cited(id) {
            let others = self.citing.of(cited.0 as usize);
            if others.len() > MAX_DEGREE {
                continue;
            }
            for other in others.iter().filter(|other| **other != id) {
                let both = &mut coupled[other.0 as usize];
                if *both == 0 {
                    found(*other);
                }
                *both += self.telling[cited.0 as usize];
            }
        }
    }

    /// How alike two documents are that refer to so much together, in thousandths.
    pub(super) fn coupling(&self, one: DocId, other: DocId, both: u32) -> i32 {
        let lengths =
            u64::from(self.lengths[one.0 as usize]) * u64::from(self.lengths[other.0 as usize]);
        (u64::from(both) * 1_000 / lengths).min(1_000) as i32
    }

    /// What both refer to.
    pub(super) fn both_cite(&self, one: DocId, other: DocId) -> Vec<DocId> {
        let mut both = common(self.cited(one), self.cited(other));
        both.retain(|cited| self.names(one, *cited) && self.names(other, *cited));
        both
    }

    /// Who refers to both.
    pub(super) fn citing_both(&self, one: DocId, other: DocId) -> Vec<DocId> {
        let mut both = common(self.citing.of(one.0 as usize), self.citing.of(other.0 as usize));
        both.retain(|citing| self.names(*citing, one) && self.names(*citing, other));
        both
    }

    /// Whether one itself refers to another, and not to what that replaced.
    pub(super) fn names(&self, one: DocId, other: DocId) -> bool {
        let start = self.citing.start(other.0 as usize);
        let at = self.citing.of(other.0 as usize).binary_search(&one);
        at.is_ok_and(|at| self.strength[start + at] > 0)
    }
}

/// What two sorted lists have in common.
fn common(one: &[DocId], other: &[DocId]) -> Vec<DocId> {
    let (one, other) = if one.len() > other.len() { (other, one) } else { (one, other) };
    one.iter().copied().filter(|id| other.binary_search(id).is_ok()).collect()
}
