//! Plans the change of a document's status.

use std::collections::BTreeMap;

use super::header::{FactsReader, NamedDocument};
use super::texts::{FileTexts, with_file_name};
use super::{ChangeRefusal, DocumentSet, PlannedEdits, file_names};
use crate::build::Inputs;
use crate::link::relative;
use crate::model::document::is_cover;
use crate::model::{DocId, Document, FileName, Relation, Status};
use crate::root::Root;

/// The wanted change.
pub struct StatusChange<'a> {
    /// The document.
    pub id: DocId,
    /// Its new status.
    pub status: Status,
    /// The document that replaces it.
    pub by: Option<DocId>,
    /// Allow steps that are not the next one.
    pub force: bool,
    /// Further files in which links follow.
    pub others: &'a [String],
}

/// Statuses in the order in which a document gets them.
const ORDER: [Status; 5] =
    [Status::Draft, Status::Proposed, Status::Accepted, Status::Active, Status::Implemented];

/// Returns true if a status may follow another one. A document can end at any time, and its first
/// status can be any.
fn may_follow(from: Status, to: Status) -> bool {
    let place = |status| ORDER.iter().position(|other| *other == status);
    match (place(from), place(to)) {
        (Some(from), Some(to)) => from <= to,
        (None, Some(_)) => matches!(from, Status::Unstated | Status::Unknown),
        (_, None) => true,
    }
}

/// Plans the change of one document's status, of its name, and of the links to it.
pub fn set_status(
    root: &Root,
    set: &DocumentSet,
    change: &StatusChange<'_>,
) -> anyhow::Result<Result<PlannedEdits, ChangeRefusal>> {
    let document = set.document(change.id);
    let present = document.status;
    if !change.force && !may_follow(present, change.status) {
        return Ok(Err(ChangeRefusal::Step(present, change.status)));
    }
    match (change.status, change.by) {
        (Status::Superseded, None) => return Ok(Err(ChangeRefusal::NoSuccessor)),
        (_, Some(by)) if by == change.id => return Ok(Err(ChangeRefusal::OwnSuccessor)),
        _ => {}
    }
    let by = change.by.filter(|_| change.status == Status::Superseded);
    let path = document.path.as_str();
    let file = path.rsplit('/').next().unwrap_or(path);
    let suffix = suffix(set, document, change.status);
    let new_path = match is_cover(file) {
        true => path.to_string(),
        false => with_file_name(path, &file_names::with_status(file, change.status, &suffix)),
    };
    let mut texts = FileTexts::new(root);
    let named = by.map(|by| named(set, set.document(by), path));
    if !write_status(set, &mut texts, document, &new_path, change.status, named.as_ref())? {
        return Ok(Err(ChangeRefusal::Header(
            document.file(document.facts.status_in_sidecar).into(),
        )));
    }
    if let Some(by) = by.filter(|by| !is_noted(set, *by, change.id)) {
        let other = set.document(by);
        let replaced =
            NamedDocument { label: set.label(document), path: relative(&other.path, &new_path) };
        let text = texts.text(&other.path)?;
        let Some(noted) = reader(set, &other.path, None).superseding(&text, &replaced) else {
            return Ok(Err(ChangeRefusal::Header(other.path.clone())));
        };
        texts.set(&other.path, noted);
    }
    let renames = match new_path == path {
        true => Vec::new(),
        false => vec![(path.to_string(), new_path)],
    };
    Ok(Ok(follow(set, texts, renames, change.others)))
}

/// Lets the links in all documents and some other files follow, and collects the changes.
pub(super) fn follow(
    set: &DocumentSet,
    mut texts: FileTexts<'_>,
    renames: Vec<(String, String)>,
    others: &[String],
) -> PlannedEdits {
    let documents = set.survey.graph.documents.iter();
    let mut paths: Vec<&str> = documents.clone().map(|document| document.path.as_str()).collect();
    paths.extend(documents.filter_map(|document| document.sidecar.as_deref()));
    paths.extend(others.iter().map(String::as_str));
    paths.sort_unstable();
    paths.dedup();
    let (n_links, n_linking) = match renames.is_empty() {
        true => (0, 0),
        false => texts.follow(&paths, &renames),
    };
    let notes = texts.take_notes();
    PlannedEdits { edits: texts.into_edits(&renames), renames, n_links, n_linking, notes }
}

/// Writes the status where the document states it. A name that will state it is enough for a
/// document that states none in its header. Returns false if that is not possible.
fn write_status(
    set: &DocumentSet,
    texts: &mut FileTexts<'_>,
    document: &Document,
    new_path: &str,
    status: Status,
    successor: Option<&NamedDocument>,
) -> anyhow::Result<bool> {
    let in_name = FileName::parse(new_path).status.is_some_and(|(named, _)| named == status);
    let text = texts.text(&document.path)?;
    if document.facts.status.is_none() && in_name && successor.is_none() {
        return Ok(true);
    }
    let file = document.file(document.facts.status_in_sidecar).to_string();
    let is_beside = file != document.path;
    let source = if is_beside { texts.text(&file)? } else { text.clone() };
    let reader = reader(set, &document.path, is_beside.then_some(text.as_bytes()));
    match reader.with_status(&source, status, successor) {
        Some(changed) => {
            texts.set(&file, changed);
            Ok(true)
        }
        None => Ok(false),
    }
}

/// Returns the reader of a document; `beside` if the texts are those of its metadata file.
pub(super) fn reader<'a>(
    set: &'a DocumentSet,
    path: &'a str,
    beside: Option<&'a [u8]>,
) -> FactsReader<'a> {
    let Inputs { plan, guard, .. } = &set.inputs;
    FactsReader { path, beside, limits: &plan.limits, allowed: guard.allowed_for(path) }
}

/// Returns a document as a text at another path names it.
fn named(set: &DocumentSet, document: &Document, from: &str) -> NamedDocument {
    NamedDocument { label: set.label(document), path: relative(from, &document.path) }
}

/// Returns the suffix that most documents of the collection have for a status, or the usual one.
fn suffix(set: &DocumentSet, document: &Document, status: Status) -> String {
    let graph = &set.survey.graph;
    let others = graph.documents.iter().filter(|other| other.collection == document.collection);
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for other in others {
        let file = other.path.rsplit('/').next().unwrap_or_default();
        let named = FileName::parse(file).status.filter(|(_, word)| word.chars().count() > 1);
        if let Some((_, word)) = named.filter(|(named, _)| *named == status) {
            *counts.entry(word).or_default() += 1;
        }
    }
    let most = counts.into_iter().max_by_key(|(_, n)| *n).map(|(word, _)| word);
    let is_work = graph.collections[document.collection].kind.is_work();
    most.unwrap_or_else(|| file_names::usual_suffix(status, is_work).to_string())
}

/// Returns true if a document says already that it replaces another one.
fn is_noted(set: &DocumentSet, by: DocId, replaced: DocId) -> bool {
    set.survey
        .graph
        .edges
        .iter()
        .any(|edge| edge.from == by && edge.to == replaced && edge.relation == Relation::Supersedes)
}
