//! Why each artifact was or was not made again.

use super::artifacts::Made;
use super::{Analysis, Fate, Outcome};
use crate::model::Record;
use crate::model::counted::counted_of;
use crate::model::layout::RELEVANCE;

/// Names listed before the rest is only counted.
const MAX_NAMES: usize = 3;

/// The outcome of a build that found nothing moved.
pub(super) fn unmoved(record: &Record) -> Outcome {
    let fate = |path: &str| {
        let reason = "current: nothing moved since the last build".to_string();
        Fate { path: path.to_string(), written: false, reason }
    };
    Outcome {
        fates: record.outputs.iter().map(|watched| fate(&watched.path)).collect(),
        known: Some(record.counts),
        ..Outcome::default()
    }
}

/// Why an artifact is made again, from the facts that decided it then and now.
pub(super) fn reason(made: &Made, known: bool, record: &Record, analysis: &Analysis) -> String {
    if !known {
        return "it is new".to_string();
    }
    let Some((_, before)) = record.actions.iter().find(|(path, _)| *path == made.path) else {
        return "nothing is known of how it was made".to_string();
    };
    let changed = made.action.facts().iter().filter(|fact| !before.contains(fact));
    let names: Vec<String> = changed
        .map(|(name, _)| match name.as_str() {
            "documents" if made.path == RELEVANCE => ranked(record, analysis),
            "documents" => documents(record, analysis),
            name => format!("{name} changed"),
        })
        .collect();
    if names.is_empty() { "it is not what was written".to_string() } else { names.join("; ") }
}

/// Whether an input that a build no longer reads was a document.
fn is_document(path: &str) -> bool {
    path.ends_with(".md")
        && ![".blue/voice", ".blue/templates/"].iter().any(|own| path.starts_with(own))
}

/// The documents that changed, and how many neighbourhoods that could reach.
fn ranked(record: &Record, analysis: &Analysis) -> String {
    let (documents, as_before) = (documents(record, analysis), &analysis.relevance.as_before);
    let n_ranked = as_before.iter().filter(|as_before| !**as_before).count();
    format!("{documents}; {} ranked again", counted_of(n_ranked, as_before.len(), "document"))
}

/// The documents that changed, were added or are gone since the last build.
fn documents(record: &Record, analysis: &Analysis) -> String {
    let now = &analysis.reading.watched;
    let mut changes = Vec::new();
    for watched in now {
        match record.input(&watched.path) {
            None => changes.push(format!("{} added", watched.path)),
            Some(before) if before.digest != watched.digest => {
                changes.push(format!("{} changed", watched.path))
            }
            Some(_) => {}
        }
    }
    for before in &record.inputs {
        let here = now.binary_search_by(|watched| watched.path.cmp(&before.path)).is_ok();
        if !here && !before.is_absent() && is_document(&before.path) {
            changes.push(format!("{} removed", before.path));
        }
    }
    let more = changes.len().saturating_sub(MAX_NAMES);
    changes.truncate(MAX_NAMES);
    match (changes.is_empty(), more) {
        (true, _) => "what is told of its documents changed".to_string(),
        (false, 0) => changes.join(", "),
        (false, more) => format!("{} and {more} more", changes.join(", ")),
    }
}
