//! Documents that share an author, a tag or a component.

use super::integer_log::ratio;
use crate::model::{DocId, Graph};

/// Tags of more documents than this are too common.
const MAX_TAGGED: usize = 200;

/// Documents by tag.
pub(super) struct Tags<'a> {
    graph: &'a Graph,
    /// Each tag with a document that has it, sorted.
    all: Vec<(&'a str, DocId)>,
}

impl<'a> Tags<'a> {
    pub(super) fn new(graph: &'a Graph) -> Tags<'a> {
        let tags = |id: DocId| {
            let tags = graph.document(id).facts.tags.iter();
            tags.map(move |tag| (tag.as_str(), id))
        };
        let mut all: Vec<(&str, DocId)> = graph.ids().flat_map(tags).collect();
        all.sort_unstable();
        Tags { graph, all }
    }

    fn documents(&self, tag: &str) -> &[(&'a str, DocId)] {
        let start = self.all.partition_point(|(other, _)| *other < tag);
        let len = self.all[start..].partition_point(|(other, _)| *other == tag);
        &self.all[start..start + len]
    }

    /// Returns the IDF of a tag in thousandths; `None` if the tag is unique or too common.
    fn idf(&self, tagged: &[(&str, DocId)]) -> Option<i32> {
        let n = self.graph.documents.len();
        let few = tagged.len() > 1 && tagged.len() <= MAX_TAGGED && tagged.len() * 4 <= n;
        few.then(|| ratio(n as u64, tagged.len() as u64) / 6)
    }

    /// Calls `found` with each document that shares a tag, and the tag's IDF.
    pub(super) fn find(&self, id: DocId, found: &mut dyn FnMut(DocId, i32)) {
        for tag in &self.graph.document(id).facts.tags {
            let tagged = self.documents(tag);
            if let Some(idf) = self.idf(tagged) {
                tagged.iter().for_each(|(_, other)| found(*other, idf));
            }
        }
    }

    /// Returns the least common tag that two documents share.
    pub(super) fn least_common_shared(&self, id: DocId, other: DocId) -> Option<&'a str> {
        let (own, other) = (&self.graph.document(id).facts, &self.graph.document(other).facts);
        let shared = own.tags.iter().filter(|tag| other.tags.contains(tag));
        let with_idf = |tag: &'a String| Some((self.idf(self.documents(tag))?, tag.as_str()));
        let best =
            shared.filter_map(with_idf).max_by_key(|(idf, tag)| (*idf, std::cmp::Reverse(*tag)));
        best.map(|(_, tag)| tag)
    }
}
