//! Assigns every document an address that no other document has.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use rayon::prelude::*;

use crate::model::layout::folder_of;
use crate::model::uri::slugify;
use crate::model::{Code, Collection, Diagnostic, Digest, Document, FileName, Uri};

/// Assigns an address to every document. If several documents have the same plain id, all of them
/// get longer addresses, so that an address never points to another document than before.
pub(super) fn assign(
    collections: &[Collection],
    documents: &mut [Document],
    notes: &mut Vec<Diagnostic>,
) {
    let ids: Vec<Id> =
        documents.par_iter().map(|document| (document.collection, plain_id(document))).collect();
    let mut order: Vec<usize> = (0..documents.len()).collect();
    order.par_sort_unstable_by_key(|i| (&ids[*i], *i));
    let mut rivals: BTreeMap<usize, usize> = BTreeMap::new();
    for group in order.chunk_by(|a, b| ids[*a] == ids[*b]).filter(|group| group.len() > 1) {
        rivals.extend(group.iter().map(|i| (*i, if *i == group[0] { group[1] } else { group[0] })));
    }
    let longer =
        if rivals.is_empty() { BTreeMap::new() } else { longer_ids(documents, &ids, &mut rivals) };
    for (i, (collection, plain)) in ids.into_iter().enumerate() {
        let id = longer.get(&i).unwrap_or(&plain);
        documents[i].uri = Uri::of_document(&collections[collection].name, id);
    }
    let mut n_of_folders: BTreeMap<(String, String), usize> = BTreeMap::new();
    let folders_of = |i: usize, rival: usize| {
        let (a, b) = different_folders(&documents[i].path, &documents[rival].path);
        (a.to_string(), b.to_string())
    };
    for (i, rival) in &rivals {
        *n_of_folders.entry(folders_of(*i, *rival)).or_default() += 1;
    }
    for (i, rival) in rivals {
        // A document that only says where it moved has the name of its target. Two folders that
        // have several names in common are editions or translations.
        let moved = documents[i].facts.moved || documents[rival].facts.moved;
        if moved || n_of_folders[&folders_of(i, rival)] > 1 {
            continue;
        }
        let message = format!(
            "{} has the same name; both get longer addresses, this one {}",
            documents[rival].path, documents[i].uri
        );
        let hint = "rename one of the two";
        notes.push(Diagnostic::new(Code::DuplicateId, &documents[i].path, message).hint(hint));
    }
}

/// Returns the folders of two paths without what is equal at their ends.
fn different_folders<'a>(a: &'a str, b: &'a str) -> (&'a str, &'a str) {
    let (mut a, mut b) = (folder_of(a), folder_of(b));
    while a != b && !a.is_empty() && a.rsplit('/').next() == b.rsplit('/').next() {
        (a, b) = (folder_of(a), folder_of(b));
    }
    (a, b)
}

/// Index of a collection, and an id in that collection.
type Id = (usize, String);

/// Returns the ids of the documents that cannot have their plain id, by row. `rivals` maps each
/// document that shares its plain id to one of the others. A longer id can be the plain id of
/// another document, which is then added to `rivals`.
fn longer_ids(
    documents: &[Document],
    ids: &[Id],
    rivals: &mut BTreeMap<usize, usize>,
) -> BTreeMap<usize, String> {
    // The document that owns an id, or `None` if several documents conflict.
    let mut owners: BTreeMap<Id, Option<usize>> = BTreeMap::new();
    for (i, id) in ids.iter().enumerate() {
        owners.insert(id.clone(), Some(i).filter(|i| !rivals.contains_key(i)));
    }
    let mut waiting: Vec<usize> = rivals.keys().copied().collect();
    let mut stages: BTreeMap<usize, usize> = BTreeMap::new();
    let mut longer = BTreeMap::new();
    while let Some(i) = waiting.pop() {
        let stage = stages.entry(i).or_default();
        *stage += 1;
        let id = longer_id(&documents[i], &ids[i].1, *stage);
        longer.insert(i, id.clone());
        match owners.entry((documents[i].collection, id)) {
            Entry::Vacant(free) => {
                free.insert(Some(i));
            }
            Entry::Occupied(mut taken) => {
                waiting.push(i);
                if let Some(other) = taken.get_mut().take() {
                    rivals.entry(other).or_insert(i);
                    waiting.push(other);
                }
            }
        }
    }
    longer
}

/// Returns the id of a document at a stage of disambiguation. Stage 1 adds the date in its name,
/// stage 2 the folders below its collection's folder or else its own folder, stage 3 more folders.
/// Stage 4 uses folders and file name. Later stages add more and more digits of the path's digest.
/// Apart from the plain id, the result depends only on the path.
fn longer_id(document: &Document, plain: &str, stage: usize) -> String {
    let id = match FileName::parse(&document.path).date {
        Some(date) if !plain.starts_with(&slugify(&date)) => format!("{}-{plain}", slugify(&date)),
        _ => plain.to_string(),
    };
    if stage == 1 {
        return id;
    }
    let n_folders = if stage == 2 { document.depth.clamp(1, 8) } else { 8 };
    let folders = document.path.rsplit('/').skip(1).take(n_folders);
    let below = |id: String| folders.fold(id, |id, folder| format!("{}-{id}", slugify(folder)));
    if stage <= 3 {
        return below(id);
    }
    let file = document.path.rsplit('/').next().unwrap_or(&document.path);
    let id = below(slugify(file.rsplit_once('.').map_or(file, |(stem, _)| stem)));
    if stage == 4 {
        return id;
    }
    let digest = Digest::of(document.path.as_bytes()).to_string();
    let digits = digest.trim_start_matches("blake3:");
    format!("{id}~{}", &digits[..digits.len().min(8 * (stage - 4))])
}

fn plain_id(document: &Document) -> String {
    let number = slugify(&document.number_text.replace('.', "-"));
    let plan = if document.is_plan { ".plan" } else { "" };
    let dated = document.date.as_deref().filter(|_| number.is_empty() && document.slug.is_empty());
    match (number.is_empty(), document.slug.is_empty()) {
        (false, false) => format!("{number}-{}{plan}", document.slug),
        (false, true) => format!("{number}{plan}"),
        (true, false) => format!("{}{plan}", document.slug),
        (true, true) => {
            match dated.map(slugify).or(Some(slugify(&document.title))).filter(|id| !id.is_empty())
            {
                Some(id) => id,
                None => "document".to_string(),
            }
        }
    }
}
