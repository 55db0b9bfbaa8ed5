//! Resolves references to edges and reports broken, ambiguous and renamed ones.

mod bindings;
mod diagnostics;
mod index;
mod own_pages;
mod resolve;
mod resolve_path;
mod resolve_url;
mod series;
mod supersession;

use std::collections::BTreeMap;

use rayon::prelude::*;

use crate::model::document::is_cover;
use crate::model::layout::folder_of;
use crate::model::{Code, Collection, Diagnostic, DocId, Document, Edge, Graph, Noted};

pub use bindings::{Repository, bind};
use index::DocumentIndex;

/// Builds the graph. `exists` returns true if a path below the root is a file or folder; a link
/// to something that exists but is not a document is not broken.
pub fn link(
    collections: Vec<Collection>,
    documents: Vec<Document>,
    exists: &(dyn Fn(&str) -> bool + Sync),
) -> Noted<Graph> {
    let series = series::infer(&collections, &documents);
    let index = DocumentIndex::new(&documents, &series);
    let own_pages = own_pages::OwnPages::infer(&documents, &index);
    let resolved: Vec<(Vec<Edge>, Vec<Diagnostic>)> = (0..documents.len())
        .into_par_iter()
        .map(|i| {
            let from = DocId(i as u32);
            resolve::edges(&index, &collections, &documents, from, exists, &own_pages)
        })
        .collect();
    let mut notes = duplicate_numbers(&collections, &documents, &series);
    let mut edges = Vec::new();
    for (document_edges, found) in resolved {
        edges.extend(document_edges);
        notes.extend(found);
    }
    let graph = supersession::build_graph(collections, documents, edges, &mut notes);
    Noted::new(graph, notes)
}

/// Reports numbers that several documents of one folder and series have.
fn duplicate_numbers(
    collections: &[Collection],
    documents: &[Document],
    series: &series::Series,
) -> Vec<Diagnostic> {
    let mut notes = Vec::new();
    let mut keyed: Vec<(usize, &str, Option<&str>, &str, usize)> = Vec::new();
    for (i, document) in documents.iter().enumerate() {
        if let Some(number) = document.number.as_ref().filter(|_| !document.is_plan) {
            let folder = numbering_folder(document);
            keyed.push((document.collection, folder, series.stated(i), number.as_str(), i));
        }
    }
    keyed.sort_unstable();
    let mut free_numbers: BTreeMap<usize, u64> = BTreeMap::new();
    for group in keyed
        .chunk_by(|a, b| (a.0, a.1, a.2, a.3) == (b.0, b.1, b.2, b.3))
        .filter(|group| group.len() > 1)
    {
        let first = &documents[group[0].4];
        let next = *free_numbers
            .entry(first.collection)
            .or_insert_with(|| next_free(documents, first.collection));
        let noun = collections[first.collection].kind.as_str().to_uppercase();
        for (.., i) in &group[1..] {
            let document = &documents[*i];
            let message =
                format!("{noun} number {} is also used by {}", document.number_text, first.path);
            let hint = format!(
                "renumber one of them; {next:0width$} is free",
                width = document.number_text.len()
            );
            notes.push(Diagnostic::new(Code::DuplicateNumber, &document.path, message).hint(hint));
        }
    }
    notes
}

/// Returns the folder in which a document's number must be unique: the folder that contains it,
/// or the one above if the document is the cover page of a folder of its own.
fn numbering_folder(document: &Document) -> &str {
    let folder = folder_of(&document.path);
    let file = document.path.rsplit('/').next().unwrap_or_default();
    if is_cover(file) { folder_of(folder) } else { folder }
}

/// Returns the number after the largest one of a collection.
fn next_free(documents: &[Document], collection: usize) -> u64 {
    let of_collection = documents.iter().filter(|document| document.collection == collection);
    let values = of_collection.filter_map(|document| document.number.as_ref()?.value());
    values.max().map_or(1, |largest| largest + 1)
}
