//! Documents and the edges between them.

use rayon::prelude::*;

use super::{Collection, Digest, Document, Hasher, Relation};

/// A document's row in one [`Graph`]; never written to disk.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct DocId(pub u32);

/// All references of one kind from one document to another.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Edge {
    /// The document that refers.
    pub from: DocId,
    /// The document referred to.
    pub to: DocId,
    /// Kind of reference.
    pub relation: Relation,
    /// Line of the first reference.
    pub line: u32,
    /// Number of references.
    pub count: u32,
    /// True if the reference matches several documents, of which this is one.
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
    /// For each document, true if it is in force.
    pub live: Vec<bool>,
    /// For each document, the documents that finally replace it: chains are followed to their end.
    pub replaced_by: Vec<Vec<DocId>>,
}

impl Graph {
    /// Returns a document by row.
    pub fn document(&self, id: DocId) -> &Document {
        &self.documents[id.0 as usize]
    }

    /// Returns true if a document is in force.
    pub fn is_live(&self, id: DocId) -> bool {
        self.live[id.0 as usize]
    }

    /// Returns all rows in order.
    pub fn ids(&self) -> impl Iterator<Item = DocId> + use<> {
        (0..self.documents.len() as u32).map(DocId)
    }

    /// Hashes every document in parallel. Chunks of rows are hashed separately and then their
    /// digests, so the result does not depend on the number of threads.
    pub fn digest(&self, hash: impl Fn(&mut Hasher, DocId) + Sync) -> Digest {
        let ids: Vec<DocId> = self.ids().collect();
        let chunks = ids.par_chunks(512).map(|ids| {
            let mut hasher = Hasher::new();
            ids.iter().for_each(|id| hash(&mut hasher, *id));
            hasher.digest()
        });
        let mut all = Hasher::new();
        for chunk in chunks.collect::<Vec<Digest>>() {
            all.field(chunk.as_bytes());
        }
        all.digest()
    }

    /// Returns the rows of one collection in order.
    pub fn of_collection(&self, collection: usize) -> impl Iterator<Item = DocId> {
        self.ids().filter(move |id| self.document(*id).collection == collection)
    }
}
