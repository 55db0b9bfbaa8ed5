//! Names and facts to documents, each with an address of its own.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use rayon::prelude::*;

use super::title;
use crate::model::uri::slugify;
use crate::model::{
    Code, Collection, Diagnostic, Digest, Document, Facts, FileName, FoundFile, Kind, Note, Noted,
    Parsed, Status, Terms, Uri, status_words,
};

/// Combines file names with parsed facts. Returns the documents in their final order, and the terms of
/// each in the same order.
pub fn documents(
    collections: &[Collection],
    files: Vec<(FoundFile, Digest, Parsed)>,
) -> Noted<(Vec<Document>, Vec<Terms>)> {
    let mut combined: Vec<(Document, Terms, Vec<Diagnostic>)> = files
        .into_par_iter()
        .with_min_len(64)
        .map(|(file, digest, Parsed { facts, terms, notes })| {
            let at_file = |note: Note| {
                let Note { code, line, column, message, hint } = note;
                Diagnostic { hint, ..Diagnostic::new(code, &file.path, message).at(line, column) }
            };
            let mut notes: Vec<Diagnostic> = notes.into_iter().map(at_file).collect();
            let document = document(collections, file, digest, facts, &mut notes);
            (document, terms, notes)
        })
        .collect();
    let notes = combined.iter_mut().flat_map(|(_, _, notes)| std::mem::take(notes));
    let mut notes: Vec<Diagnostic> = notes.collect();
    combined.sort_by(|(a, ..), (b, ..)| order(a).cmp(&order(b)));
    let (mut documents, terms): (Vec<Document>, Vec<Terms>) =
        combined.into_iter().map(|(document, terms, _)| (document, terms)).unzip();
    address(collections, &mut documents, &mut notes);
    Noted::new((documents, terms), notes)
}

fn order(document: &Document) -> (usize, bool, (bool, u64, &str), &str) {
    let key = document.number.as_ref().map_or((true, 0, ""), |number| number.sort_key());
    (document.collection, document.number.is_none(), key, &document.path)
}

fn document(
    collections: &[Collection],
    mut found: FoundFile,
    digest: Digest,
    mut facts: Facts,
    notes: &mut Vec<Diagnostic>,
) -> Document {
    let name = std::mem::take(&mut found.name);
    let number =
        name.number.clone().or_else(|| facts.label.as_ref().map(|label| label.number.clone()));
    // A label that contradicts the name speaks of another document.
    if facts.label.as_ref().is_some_and(|label| Some(&label.number) != number.as_ref()) {
        facts.label = None;
    }
    let (status, status_text) = settle_status(&found.path, &name, &facts, notes);
    let title = facts.title.as_deref().map(|title| title::stripped(title, number.as_ref()));
    let title = title.filter(|title| !title.is_empty()).unwrap_or_else(|| readable(&name, &found));
    let kind = match name.is_plan {
        true => Kind::new("plan"),
        false => collections[found.collection].kind.clone(),
    };
    Document {
        uri: Uri::of_document(&collections[found.collection].name, "unnamed"),
        collection: found.collection,
        kind,
        number_text: match name.number_text.is_empty() {
            true => number.as_ref().map(ToString::to_string).unwrap_or_default(),
            false => name.number_text,
        },
        number,
        slug: name.slug,
        depth: found.path_in_collection().matches('/').count()
            - usize::from(name.is_index && found.path_in_collection().contains('/')),
        title,
        status,
        status_text,
        date: facts.date.clone().or(name.date),
        is_plan: name.is_plan,
        digest,
        facts,
        path: found.path,
        sidecar: found.sidecar,
    }
}

/// The header's status, else the name's; a disagreement is noted and the header believed.
fn settle_status(
    path: &str,
    name: &FileName,
    facts: &Facts,
    notes: &mut Vec<Diagnostic>,
) -> (Status, String) {
    let Some((raw, line)) = &facts.status else {
        let stated = name.status.clone();
        return stated.unwrap_or((Status::Unstated, String::new()));
    };
    let Some(status) = status_words::parse(raw) else {
        let message = format!("unknown status {raw:?}; the document counts as live");
        let hint = "use a word such as draft, accepted, implemented, superseded or rejected";
        notes.push(Diagnostic::new(Code::StatusUnknown, path, message).at(*line, 1).hint(hint));
        let named = name.status.as_ref().map_or(Status::Unknown, |(status, _)| *status);
        return (named, raw.clone());
    };
    if let Some((named, word)) =
        name.status.as_ref().filter(|(named, _)| !named.agrees_with(status))
    {
        let message =
            format!("the name says {named} (`{word}`), the header says {status} (`{raw}`)");
        let hint = "rename the file or correct the header; blue believes the header";
        notes.push(Diagnostic::new(Code::StatusDisagrees, path, message).at(*line, 1).hint(hint));
    }
    (status, raw.clone())
}

/// A title made of the name, for documents that state none.
fn readable(name: &FileName, found: &FoundFile) -> String {
    let words = name.slug.replace('-', " ");
    let mut chars = words.chars();
    match (chars.next(), &name.number) {
        (Some(first), _) => first.to_uppercase().chain(chars).collect(),
        (None, Some(number)) => match &name.prefix {
            Some(prefix) => format!("{}-{number}", prefix.to_uppercase()),
            None => number.to_string(),
        },
        (None, None) => found.path_in_collection().to_string(),
    }
}

/// Gives every document its address. Where several want the same one, none of them gets it: all take
/// longer ones, so that a file that comes never changes what an address means.
fn address(collections: &[Collection], documents: &mut [Document], notes: &mut Vec<Diagnostic>) {
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
    for (i, rival) in rivals {
        let message = format!(
            "{} has the same name; both get longer addresses, this one {}",
            documents[rival].path, documents[i].uri
        );
        let hint = "rename one of the two";
        notes.push(Diagnostic::new(Code::DuplicateId, &documents[i].path, message).hint(hint));
    }
}

/// A collection's row and an id in it.
type Id = (usize, String);

/// The ids of the documents that cannot have their plain one, by row. `rivals` has those that want the
/// same plain id; a longer id can meet the plain one of another document, which then joins them.
fn longer_ids(
    documents: &[Document],
    ids: &[Id],
    rivals: &mut BTreeMap<usize, usize>,
) -> BTreeMap<usize, String> {
    // The document that has an id; none, if several wanted it.
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

/// The longer ids of a document, one after the other: with the date of its name, with the folders of its
/// collection or else its own folder, with more folders, by folders and file name, with more and more
/// digits of its path's digest. Beyond its plain id they depend on its path alone.
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
