//! What a build knew of all documents, for a build after an edit that only the edited ones can show.

use super::{Binding, Calls, Diagnostic, Digest, Graph, Lexicon};

/// Documents, linked and in words, as a build left them.
#[derive(Debug, Default)]
pub struct Snapshot {
    /// Documents and edges. Of their facts are here those that are told once they are linked.
    pub graph: Graph,
    /// Files and folders that documents name.
    pub bindings: Vec<Binding>,
    /// What was noticed before anything was ranked.
    pub notes: Vec<Diagnostic>,
    /// The words of all documents.
    pub lexicon: Lexicon,
    /// What they are called, and which texts say so.
    pub calls: Calls,
    /// Where in the facts file the block begins that has those of each.
    pub blocks: Vec<u64>,
}

/// The same, while it is somebody else's.
pub struct Seen<'a> {
    /// See [`Snapshot::graph`].
    pub graph: &'a Graph,
    /// See [`Snapshot::bindings`].
    pub bindings: &'a [Binding],
    /// See [`Snapshot::notes`].
    pub notes: &'a [Diagnostic],
    /// See [`Snapshot::lexicon`].
    pub lexicon: &'a Lexicon,
    /// See [`Snapshot::calls`].
    pub calls: &'a Calls,
    /// See [`Snapshot::blocks`].
    pub blocks: &'a [u64],
}

/// A snapshot that builds go on from, and what was edited since.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Basis {
    /// The checksum of the snapshot.
    pub check: Digest,
    /// Documents that are others since.
    pub edited: Vec<Edited>,
    /// Where the facts file ends.
    pub end: u64,
    /// How many facts it holds, of documents that are gone too.
    pub n_facts: u64,
}

/// A document that was edited since a snapshot.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Edited {
    /// Its row.
    pub row: u32,
    /// Its content.
    pub digest: Digest,
    /// Where the block begins that has its facts.
    pub block: u64,
}
