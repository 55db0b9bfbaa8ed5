//! Documents filed under the same: authors, tags, components.

use super::log::ratio;
use crate::model::{DocId, Graph};

/// A mark that more documents have says little, and is not followed.
const MAX_MARKED: usize = 200;

/// Who is filed under what.
pub(super) struct Marks<'a> {
    graph: &'a Graph,
    /// Every mark with a document that has it, sorted.
    all: Vec<(&'a str, DocId)>,
}

impl<'a> Marks<'a> {
    pub(super) fn new(graph: &'a Graph) -> Marks<'a> {
        let of = |id: DocId| {
            let marks = graph.document(id).facts.marks.iter();
            marks.map(move |mark| (mark.as_str(), id))
        };
        let mut all: Vec<(&str, DocId)> = graph.ids().flat_map(of).collect();
        all.sort_unstable();
        Marks { graph, all }
    }

    fn with(&self, mark: &str) -> &[(&'a str, DocId)] {
        let start = self.all.partition_point(|(other, _)| *other < mark);
        let len = self.all[start..].partition_point(|(other, _)| *other == mark);
        &self.all[start..start + len]
    }

    /// How rare a mark is, in thousandths; `None` if it says too little.
    fn rarity(&self, with: &[(&str, DocId)]) -> Option<i32> {
        let n = self.graph.documents.len();
        let few = with.len() > 1 && with.len() <= MAX_MARKED && with.len() * 4 <= n;
        few.then(|| ratio(n as u64, with.len() as u64) / 6)
    }

    /// Names every document that shares a mark, with how rare the mark is.
    pub(super) fn share(&self, id: DocId, tell: &mut dyn FnMut(DocId, i32)) {
        for mark in &self.graph.document(id).facts.marks {
            let with = self.with(mark);
            if let Some(rare) = self.rarity(with) {
                with.iter().for_each(|(_, other)| tell(*other, rare));
            }
        }
    }

    /// The rarest mark that both have.
    pub(super) fn shared(&self, one: DocId, other: DocId) -> Option<&'a str> {
        let (one, other) = (&self.graph.document(one).facts, &self.graph.document(other).facts);
        let both = one.marks.iter().filter(|mark| other.marks.contains(mark));
        let rare = |mark: &'a String| Some((self.rarity(self.with(mark))?, mark.as_str()));
        let best =
            both.filter_map(rare).max_by_key(|(rare, mark)| (*rare, std::cmp::Reverse(*mark)));
        best.map(|(_, mark)| mark)
    }
}
