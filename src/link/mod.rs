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
use std::collections::btree_map::Entry;

use rayon::prelude::*;

use crate::model::document::is_cover;
use crate::model::layout::folder_of;
use crate::model::{Code, Collection, Diagnostic, DocId, Document, Edge, Graph, Noted, Relation};

pub use bindings::{Repository, bind};
use index::DocumentIndex;
pub use resolve_path::{joined, relative};

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
    follow_stubs(&documents, &mut edges);
    let graph = supersession::build_graph(collections, documents, edges, &mut notes);
    Noted::new(graph, notes)
}

/// Collection, folder, series and number of a document, and its row.
type KeyedRow<'a> = (usize, &'a str, Option<&'a str>, &'a str, usize);

/// Returns true if numbers identify the documents of a folder. Where most documents share their
/// number with another one, it is that of an experiment, a meeting or a release.
fn is_identity(rows: &[KeyedRow<'_>]) -> bool {
    let groups = rows.chunk_by(|a, b| a.3 == b.3).filter(|group| group.len() > 1);
    let n_shared: usize = groups.map(<[_]>::len).sum();
    rows.len() < 8 || n_shared * 2 <= rows.len()
}

/// Returns true if all documents belong to one of them: their names start with its name.
fn are_companions(documents: &[Document], group: &[KeyedRow<'_>]) -> bool {
    let slugs = || group.iter().map(|(.., i)| documents[*i].slug.as_str());
    let Some(shortest) = slugs().min_by_key(|slug| slug.len()) else { return false };
    let extends =
        |slug: &str| slug.strip_prefix(shortest).is_some_and(|rest| rest.starts_with('-'));
    !shortest.is_empty() && slugs().filter(|slug| !extends(slug)).count() == 1
}

/// Reports numbers that several documents of one folder and series have.
fn duplicate_numbers(
    collections: &[Collection],
    documents: &[Document],
    series: &series::Series,
) -> Vec<Diagnostic> {
    let mut notes = Vec::new();
    let mut keyed: Vec<KeyedRow<'_>> = Vec::new();
    for (i, document) in documents.iter().enumerate() {
        let is_counted = !document.is_plan && !document.facts.moved;
        if let Some(number) = document.number.as_ref().filter(|_| is_counted) {
            let folder = numbering_folder(document);
            keyed.push((document.collection, folder, series.stated(i), number.as_str(), i));
        }
    }
    keyed.sort_unstable();
    let same_folder = |a: &KeyedRow<'_>, b: &KeyedRow<'_>| (a.0, a.1, a.2) == (b.0, b.1, b.2);
    let mut free_numbers: BTreeMap<usize, u64> = BTreeMap::new();
    let folders = keyed.chunk_by(same_folder).filter(|rows| is_identity(rows));
    let groups = folders.flat_map(|rows| rows.chunk_by(|a, b| a.3 == b.3));
    for group in groups.filter(|group| group.len() > 1 && !are_companions(documents, group)) {
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

/// Changes edges to a document that only says where it moved into edges to that place.
fn follow_stubs(documents: &[Document], edges: &mut Vec<Edge>) {
    let is_stub = |id: DocId| documents[id.0 as usize].facts.moved;
    let mut targets: BTreeMap<DocId, Option<DocId>> = BTreeMap::new();
    for edge in edges.iter().filter(|edge| is_stub(edge.from) && !edge.ambiguous) {
        let only = targets.entry(edge.from).or_insert(Some(edge.to));
        *only = only.filter(|to| *to == edge.to);
    }
    if targets.is_empty() {
        return;
    }
    for edge in edges.iter_mut().filter(|edge| !is_stub(edge.from)) {
        // A stub can point to another one. The limit ends a cycle.
        for _ in 0..4 {
            let Some(Some(to)) = targets.get(&edge.to) else { break };
            edge.to = *to;
        }
    }
    edges.retain(|edge| edge.from != edge.to);
    let mut merged: BTreeMap<(DocId, DocId, Relation), Edge> = BTreeMap::new();
    for edge in edges.drain(..) {
        match merged.entry((edge.from, edge.to, edge.relation)) {
            Entry::Vacant(free) => {
                free.insert(edge);
            }
            Entry::Occupied(mut first) => {
                let first = first.get_mut();
                first.count += edge.count;
                first.line = first.line.min(edge.line);
                first.ambiguous &= edge.ambiguous;
            }
        }
    }
    edges.extend(merged.into_values());
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
