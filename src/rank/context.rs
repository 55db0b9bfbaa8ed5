//! Everything but words that decides a ranking, in one digest.

use crate::model::{Digest, DocId, Graph, Hasher, Lexicon, Number};

/// A digest of what documents are and how they refer to each other. While it stays the same, only
/// words can make a difference.
pub fn context(graph: &Graph, lexicon: &Lexicon) -> Digest {
    let mut hasher = Hasher::new();
    hasher.number(graph.documents.len() as u64).number(graph.collections.len() as u64);
    hasher.field(graph.digest(|hasher, id| tell(graph, lexicon, id, hasher)).as_bytes()).digest()
}

fn tell(graph: &Graph, lexicon: &Lexicon, id: DocId, hasher: &mut Hasher) {
    let document = graph.document(id);
    hasher.field(document.uri.as_str().as_bytes()).field(document.path.as_bytes());
    hasher.field(document.title.as_bytes()).field(document.number_text.as_bytes());
    hasher.field(document.kind.as_str().as_bytes()).number(document.collection as u64);
    hasher.number(document.number.as_ref().and_then(Number::value).map_or(u64::MAX, |n| n));
    hasher.number(u64::from(graph.is_live(id))).number(document.facts.marks.len() as u64);
    document.facts.marks.iter().for_each(|mark| {
        hasher.field(mark.as_bytes());
    });
    for by in &graph.replaced_by[id.0 as usize] {
        hasher.number(u64::from(by.0));
    }
    let first = graph.edges.partition_point(|edge| edge.from < id);
    let mut last = 0;
    for edge in graph.edges[first..].iter().take_while(|edge| edge.from == id) {
        hasher.number(u64::from(edge.to.0)).number(edge.relation as u64);
        hasher.number(u64::from(edge.count)).number(u64::from(edge.ambiguous));
        // Where a reference stands is told of the document itself alone; what stands beside it, of
        // the other.
        hasher.number(u64::from(edge.line > 0)).number(u64::from(edge.line == last));
        for word in lexicon.line(id.0 as usize, edge.line) {
            hasher.number(u64::from(*word));
        }
        last = edge.line;
    }
}
