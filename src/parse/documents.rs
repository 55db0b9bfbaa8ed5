//! Builds documents from file names and facts.

use rayon::prelude::*;

use super::shared_headings::SharedHeadings;
use super::{addresses, name_title, title, title_candidates, unknown_statuses};
use crate::model::{
    Code, Collection, Diagnostic, Digest, Document, Facts, FileName, FoundFile, Kind, Note, Noted,
    Parsed, Status, Terms, Uri, status_words,
};

/// Builds a document from each file and its facts. The documents are in the order of every
/// artifact: by collection, number and path. Their terms are in the same order.
pub fn documents(
    collections: &[Collection],
    files: Vec<(FoundFile, Digest, Parsed)>,
) -> Noted<(Vec<Document>, Vec<Terms>)> {
    let shared = SharedHeadings::new(files.iter().map(|(file, _, parsed)| (file, parsed)));
    let mut built: Vec<(Document, Terms, Vec<Diagnostic>)> = files
        .into_par_iter()
        .with_min_len(64)
        .map(|(file, digest, Parsed { facts, terms, notes, sidecar_notes })| {
            let at = |path: &str, note: Note| {
                let Note { code, line, column, message, hint } = note;
                Diagnostic { hint, ..Diagnostic::new(code, path, message).at(line, column) }
            };
            let mut notes: Vec<Diagnostic> =
                notes.into_iter().map(|note| at(&file.path, note)).collect();
            let sidecar = file.sidecar.as_deref().unwrap_or(&file.path);
            notes.extend(sidecar_notes.into_iter().map(|note| at(sidecar, note)));
            let document = document(collections, &shared, (file, digest, facts), &mut notes);
            (document, terms, notes)
        })
        .collect();
    let notes = built.iter_mut().flat_map(|(_, _, notes)| std::mem::take(notes));
    let mut notes: Vec<Diagnostic> = notes.collect();
    built.sort_by(|(a, ..), (b, ..)| sort_key(a).cmp(&sort_key(b)));
    let (mut documents, terms): (Vec<Document>, Vec<Terms>) =
        built.into_iter().map(|(document, terms, _)| (document, terms)).unzip();
    addresses::assign(collections, &mut documents, &mut notes);
    unknown_statuses::report(&documents, &mut notes);
    Noted::new((documents, terms), notes)
}

fn sort_key(document: &Document) -> (usize, bool, (bool, u64, &str), &str) {
    let key = document.number.as_ref().map_or((true, 0, ""), |number| number.sort_key());
    (document.collection, document.number.is_none(), key, &document.path)
}

fn document(
    collections: &[Collection],
    shared: &SharedHeadings,
    (mut found, digest, mut facts): (FoundFile, Digest, Facts),
    notes: &mut Vec<Diagnostic>,
) -> Document {
    let mut name = std::mem::take(&mut found.name);
    let label = facts.label.as_ref().or_else(|| {
        // `vip: 06` in the metadata of `vip06.md`.
        facts.keyed_numbers.iter().find(|label| name.slug.starts_with(&label.series))
    });
    let number = name.number.clone().or_else(|| label.map(|label| label.number.clone()));
    // A label that contradicts the file name is the id of another document.
    if facts.label.as_ref().is_some_and(|label| Some(&label.number) != number.as_ref()) {
        facts.label = None;
    }
    let status_file = found.sidecar.as_deref().filter(|_| facts.status_in_sidecar);
    let status_file = status_file.unwrap_or(&found.path);
    // Work that is closed is finished. A closed proposal was not accepted.
    if collections[found.collection].kind.is_work()
        && let Some((status, word)) = &mut name.status
        && word.eq_ignore_ascii_case("closed")
    {
        *status = Status::Implemented;
    }
    let (status, status_text) = choose_status(status_file, &name, &facts, notes);
    let is_shared = |heading: &str| shared.contain(found.collection, heading, &name.slug);
    let title = title_candidates::choose(&facts.titles, &name.slug, is_shared);
    let title = title.map(|title| title::stripped(title, number.as_ref()));
    let title = title.map(name_title::in_words);
    let title = title
        .filter(|title| !title.is_empty())
        .unwrap_or_else(|| name_title::from_name(&name, &found, &facts.titles));
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

/// Returns the status that the header states, or else the one in the file name or the folder. If
/// header and name disagree, the header wins and the disagreement is reported.
fn choose_status(
    path: &str,
    name: &FileName,
    facts: &Facts,
    notes: &mut Vec<Diagnostic>,
) -> (Status, String) {
    let stated = facts.status.as_ref().map(|(raw, line)| (status_words::parse(raw), raw, *line));
    // A copy of the header may be left in a file that only says where its document moved. A file
    // that states so in its header is a document of its own: its target is often elsewhere.
    if facts.moved && stated.as_ref().is_none_or(|(status, ..)| *status != Some(Status::Moved)) {
        return (Status::Moved, String::new());
    }
    let (status, text) = match (stated, &name.status) {
        (None, None) => (Status::Unstated, String::new()),
        (None, Some((in_name, word))) => (*in_name, word.clone()),
        (Some((None, raw, _)), in_name) => {
            (in_name.as_ref().map_or(Status::Unknown, |(status, _)| *status), raw.clone())
        }
        (Some((Some(status), raw, line)), in_name) => {
            if let Some((in_name, word)) =
                in_name.as_ref().filter(|(in_name, _)| !in_name.agrees_with(status))
            {
                let message = format!(
                    "the name says {in_name} (`{word}`), the header says {status} (`{raw}`)"
                );
                let hint = "rename the file or correct the header; blue uses the header";
                let note = Diagnostic::new(Code::StatusDisagrees, path, message);
                notes.push(note.at(line, 1).hint(hint));
            }
            (status, raw.clone())
        }
    };
    name.settle_status(status, text)
}
