//! Finds the documents related to a document, to a path of the repository or to words.

use super::address::{document_of, resolve};
use super::search::{self, SearchResult};
use super::{AddressError, Catalogue, Library, bindings, names, reference};
use crate::model::binding::clean_path;
use crate::root::Root;
use crate::search::{Passage, SearchIndex};
use crate::wire::jsonl::DocumentLine;

/// A document that is related to another, to a path or to words.
#[derive(Debug)]
pub struct Related {
    /// The document's line in the index.
    pub document: DocumentLine,
    /// Relevance; larger is more relevant.
    pub score: u32,
    /// The reasons, in words.
    pub reasons: Vec<String>,
    /// The line of the best passage; 0 if there is none.
    pub line: u32,
    /// Passages that match words best, in the order of the document.
    pub passages: Vec<Passage>,
    /// True if the document has only a small part of the words.
    pub is_weak: bool,
}

impl Related {
    /// Returns a document without a passage.
    pub fn new(document: DocumentLine, score: u32, reasons: Vec<String>) -> Related {
        Related { document, score, reasons, line: 0, passages: Vec::new(), is_weak: false }
    }
}

/// Default maximum number of documents, on the command line and from the server.
pub const LIMIT: usize = 10;

/// Default maximum number of tokens.
pub const MAX_TOKENS: u64 = 450;

/// Base score of a document that binds a path, above any score by words.
const BOUND: u32 = 1_000_000;

/// Finds the row of a document by address or path. `None` if the text is neither.
pub fn row_of(library: &Library<'_>, about: &str) -> Result<Option<usize>, AddressError> {
    let Library { root, built, work, .. } = *library;
    if !about.contains("://") {
        return Ok(built.catalogue.row_of_path(about.trim_start_matches("./")));
    }
    let resolved = resolve(root, built, work, about)?;
    let row = document_of(built, &resolved);
    row.map(Some).ok_or_else(|| AddressError::NotADocument(about.to_string()))
}

/// Returns the neighbours of a document, nearest first. `None` if the relevance index does not have
/// the document.
pub fn to_document(library: &Library<'_>, row: usize) -> anyhow::Result<Option<Vec<Related>>> {
    let catalogue = &library.built.catalogue;
    reference::neighbours(library.root, catalogue, &library.overlay(), catalogue.uri(row))
}

/// Maximum number of neighbours that follow a document which the text names by its id.
const MAX_NEIGHBOURS: usize = 5;

/// Returns the documents that bind a path, then those that match words, best first. If the text is an
/// id, that document's neighbours follow it.
pub fn to_text(
    library: &Library<'_>,
    index: &SearchIndex,
    about: &str,
    limit: usize,
    budget: u64,
) -> SearchResult {
    let mut related = bound(library.root, &library.built.catalogue, about);
    let n_bound = related.len();
    let mut result = search::search(library, index, about, limit, budget);
    if let Some(row) = names::row_of_id(library.built, about) {
        let uri = library.built.catalogue.uri(row);
        result.found.retain(|found| found.document.uri == uri);
        // Without the index of neighbours, the document itself is an answer.
        let near = to_document(library, row).ok().flatten().unwrap_or_default();
        result.found.extend(near.into_iter().take(MAX_NEIGHBOURS));
        result.n_all = result.found.len();
    }
    for found in std::mem::take(&mut result.found) {
        if related[..n_bound].iter().all(|bound| bound.document.uri != found.document.uri) {
            related.push(found);
        }
    }
    // If documents bind the path, matches by words only fill the list up and are not counted.
    result.n_all = if n_bound > 0 { related.len() } else { result.n_all };
    SearchResult { found: related, ..result }
}

/// Returns the documents that bind a file or folder, most specific first. Empty for a text that is
/// not a path.
fn bound(root: &Root, catalogue: &Catalogue, about: &str) -> Vec<Related> {
    let path = clean_path(about).unwrap_or_default();
    let path = path.trim_matches('/');
    if path.is_empty() || path.split('/').any(|part| matches!(part, "" | "." | "..")) {
        return Vec::new();
    }
    let bindings = bindings::find(root, catalogue, path, false);
    let bound = bindings.ok().flatten().unwrap_or_default().bound.into_iter();
    let n = bound.len() as u32;
    let related = bound.zip(0..).map(|(bound, i)| {
        let reasons = bound.because.iter().map(bindings::Because::text).collect();
        Related::new(bound.document, BOUND + n - i, reasons)
    });
    related.collect()
}
