//! Builds documents from file names and facts.

use rayon::prelude::*;

use super::{addresses, title};
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
    let mut built: Vec<(Document, Terms, Vec<Diagnostic>)> = files
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
    let notes = built.iter_mut().flat_map(|(_, _, notes)| std::mem::take(notes));
    let mut notes: Vec<Diagnostic> = notes.collect();
    built.sort_by(|(a, ..), (b, ..)| sort_key(a).cmp(&sort_key(b)));
    let (mut documents, terms): (Vec<Document>, Vec<Terms>) =
        built.into_iter().map(|(document, terms, _)| (document, terms)).unzip();
    addresses::assign(collections, &mut documents, &mut notes);
    Noted::new((documents, terms), notes)
}

fn sort_key(document: &Document) -> (usize, bool, (bool, u64, &str), &str) {
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
    // A label that contradicts the file name is the id of another document.
    if facts.label.as_ref().is_some_and(|label| Some(&label.number) != number.as_ref()) {
        facts.label = None;
    }
    let (status, status_text) = choose_status(&found.path, &name, &facts, notes);
    let title = facts.title.as_deref().map(|title| title::stripped(title, number.as_ref()));
    let title =
        title.filter(|title| !title.is_empty()).unwrap_or_else(|| title_from_name(&name, &found));
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

/// Returns the status that the header states, or else the one in the file name. If the two
/// disagree, the header wins and the disagreement is reported.
fn choose_status(
    path: &str,
    name: &FileName,
    facts: &Facts,
    notes: &mut Vec<Diagnostic>,
) -> (Status, String) {
    let Some((raw, line)) = &facts.status else {
        let in_name = name.status.clone();
        return in_name.unwrap_or((Status::Unstated, String::new()));
    };
    let Some(status) = status_words::parse(raw) else {
        let message = format!("unknown status {raw:?}; the document counts as live");
        let hint = "use a word such as draft, accepted, implemented, superseded or rejected";
        notes.push(Diagnostic::new(Code::StatusUnknown, path, message).at(*line, 1).hint(hint));
        let in_name = name.status.as_ref().map_or(Status::Unknown, |(status, _)| *status);
        return (in_name, raw.clone());
    };
    if let Some((in_name, word)) =
        name.status.as_ref().filter(|(in_name, _)| !in_name.agrees_with(status))
    {
        let message =
            format!("the name says {in_name} (`{word}`), the header says {status} (`{raw}`)");
        let hint = "rename the file or correct the header; blue uses the header";
        notes.push(Diagnostic::new(Code::StatusDisagrees, path, message).at(*line, 1).hint(hint));
    }
    (status, raw.clone())
}

/// Derives a title from the file name, for documents that do not state one.
fn title_from_name(name: &FileName, found: &FoundFile) -> String {
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
