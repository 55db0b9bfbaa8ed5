//! Finds the documents related to a document, to a path of the repository or to words.

use super::address::{document_of, resolve};
use super::{AddressError, Catalogue, Library, bindings, reference, search};
use crate::model::binding::clean_path;
use crate::root::Root;
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
}

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

/// Returns the documents that bind a path and at most `limit` that match words, best first, and the
/// total number of matches.
pub fn to_text(
    root: &Root,
    catalogue: &Catalogue,
    about: &str,
    limit: usize,
) -> (Vec<Related>, usize) {
    let mut related = bound(root, catalogue, about);
    let n_bound = related.len();
    let (matches, n_matches) = search::search(catalogue, about, limit);
    for found in matches {
        if related[..n_bound].iter().all(|bound| bound.document.uri != found.document.uri) {
            related.push(found);
        }
    }
    // If documents bind the path, matches by words only fill the list up and are not counted.
    let n = if n_bound > 0 { related.len() } else { n_matches };
    (related, n)
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
        Related { document: bound.document, score: BOUND + n - i, reasons }
    });
    related.collect()
}
