//! Documents and the edges between them.

use rayon::prelude::*;

use super::{Collection, Digest, Document, Hasher, Relation};

/// A document's row in one [`Graph`]; never written to disk.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct DocId(pub u32);

/// One document speaking of another.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Edge {
    /// Who speaks.
    pub from: DocId,
    /// Of whom.
    pub to: DocId,
    /// How.
    pub relation: Relation,
    /// Line of the first reference.
    pub line: u32,
    /// How many references of this relation there are.
    pub count: u32,
    /// The reference fits several documents, and this is one of them.
    pub ambiguous: bool,
}

/// Every document and every edge. Edges are sorted by `from`, `to` and relation.
#[derive(Debug, Default)]
pub struct Graph {
    /// The collections, sorted by name.
    pub collections: Vec<Collection>,
    /// The documents, sorted by collection and number, then path.
    pub documents: Vec<Document>,
    /// The edges.
    pub edges: Vec<Edge>,
    /// For each document, whether it may be told as current.
    pub live: Vec<bool>,
    /// For each document, what finally stands in its place, chains followed to their end.
    pub replaced_by: Vec<Vec<DocId>>,
}

impl Graph {
    /// The document in a row of this graph.
    pub fn document(&self, id: DocId) -> &Document {
        &self.documents[id.0 as usize]
    }

    /// Whether a document may be told as current.
    pub fn is_live(&self, id: DocId) -> bool {
        self.live[id.0 as usize]
    }

    /// The rows, in order.
    pub fn ids(&self) -> impl Iterator<Item = DocId> + use<> {
        (0..self.documents.len() as u32).map(DocId)
    }

    /// One digest over what is told of every document, in parallel: chunks of rows are hashed apart
    /// and their digests together, so the number of threads does not show.
    pub fn digest(&self, tell: impl Fn(&mut Hasher, DocId) + Sync) -> Digest {
        let ids: Vec<DocId> = self.ids().collect();
        let chunks = ids.par_chunks(512).map(|ids| {
            let mut hasher = Hasher::new();
            ids.iter().for_each(|id| tell(&mut hasher, *id));
            hasher.digest()
        });
        let mut all = Hasher::new();
        for chunk in chunks.collect::<Vec<Digest>>() {
            all.field(chunk.as_bytes());
        }
        all.digest()
    }

    /// The rows of one collection, in order.
    pub fn of_collection(&self, collection: usize) -> impl Iterator<Item = DocId> {
        self.ids().filter(move |id| self.document(*id).collection == collection)
    }
}

/// One line of the relevance index: a neighbour, how much it matters, and why.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Neighbour {
    /// Who.
    pub id: DocId,
    /// How much; larger is nearer.
    pub score: u32,
    /// Why, in words.
    pub reasons: Vec<String>,
}
