//! The reference tier: what lies near a document, within its budget.

use super::address::Failure;
use super::library::{Library, Open};
use super::read::{self, Given};
use super::tell::{self, Telling};
use crate::model::{Digest, Level};
use crate::serve::reference;

/// Texts of the neighbours of a document, nearest first, each as much as the budget allows.
pub(super) fn texts(library: &Library, open: &Open, row: usize) -> Result<Vec<Given>, Failure> {
    let shelf = open.shelf.as_ref().map_err(|why| Failure::Unbuilt(why.clone()))?;
    let line = read::line_of(shelf, row)?;
    let budget = library.reader(open).plan.reference.budget.tokens;
    let near =
        reference::near(&library.root, &shelf.catalogue, &library.overlay(), &line.uri, budget);
    let near = near.ok().flatten().ok_or_else(|| {
        let why = format!("{} is not in the relevance index", line.uri);
        Failure::Unreadable(format!("{why}: {}", super::library::BUILD))
    })?;
    // What cannot be read any more is left out; the rest is still worth having.
    let tellings: Vec<(&reference::Near, Telling)> = near
        .iter()
        .filter_map(|near| {
            let telling = Telling::document(library, open, &near.document, Level::Full);
            telling.ok().map(|telling| (near, telling))
        })
        .collect();
    if tellings.is_empty() {
        let why = format!("nothing lies near {}", line.uri);
        return Err(Failure::Nothing(why, Vec::new()));
    }
    let only: Vec<&Telling> = tellings.iter().map(|(_, telling)| telling).collect();
    let steps = tell::fit(&only, budget, 0);
    let mut given = Vec::new();
    for ((near, telling), step) in tellings.iter().zip(steps) {
        let Some(chosen) = step.map(|step| telling.at(step)) else { continue };
        let document = &near.document;
        given.push(Given {
            uri: document.uri.clone(),
            path: document.path.clone(),
            text: chosen.text.to_string(),
            hash: Digest::of(chosen.text.as_bytes()).to_string(),
            tokens: chosen.tokens,
            line: Some(document.clone()),
            stale: telling.stale,
            part: Some(chosen.level).filter(|level| *level != Level::Full),
            why: Some(near.reasons.join("; ")),
        });
    }
    Ok(given)
}
