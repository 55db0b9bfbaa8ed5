//! `blue_related`: what lies near a document, a path or free words.

use serde::Deserialize;
use serde_json::{Value, json};

use super::super::address::{self, Meaning, shown};
use super::super::library::Library;
use super::super::read;
use super::Answer;
use crate::condense::tokens;
use crate::serve::related::{self, Related};
use crate::serve::shelf::Item;

/// Documents, unless the caller wants another number.
pub(super) const LIMIT: usize = 10;
/// The most at once.
const MAX_LIMIT: usize = 100;
/// The budget, unless the caller has another.
pub(super) const MAX_TOKENS: u64 = 1_500;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    about: String,
    #[serde(default)]
    limit: Option<usize>,
    #[serde(default)]
    max_tokens: Option<u64>,
}

pub(super) fn call(library: &Library, arguments: &Arguments) -> Answer {
    let open = library.open();
    let shelf = open.shelf.as_ref().map_err(|why| why.to_string())?;
    let about = arguments.about.trim();
    if about.is_empty() {
        return Err("blue_related: about is empty; give an address, a path or words".to_string());
    }
    let row = match about.contains("://") {
        true => match address::meaning(library, &open, about) {
            Ok(Meaning::Item(Item::Document(row)) | Meaning::Near(row)) => Some(row),
            Ok(Meaning::Work(bundle) | Meaning::Tasks(bundle)) => {
                bundle.names.iter().find_map(|name| shelf.catalogue.row(name))
            }
            Ok(Meaning::Item(_)) => {
                return Err(format!("{about} is no document; give the address of one"));
            }
            Err(failure) => return Err(read::noted(library, about, failure).text()),
        },
        false => shelf.catalogue.row_of_path(about.trim_start_matches("./")),
    };
    let limit = arguments.limit.unwrap_or(LIMIT).clamp(1, MAX_LIMIT);
    let (name, related, n) = match row {
        Some(row) => {
            let uri = shelf.catalogue.uri(row);
            let overlay = library.overlay();
            let near = related::to_document(&library.root, &shelf.catalogue, &overlay, uri);
            let related = near.map_err(|error| format!("{error:#}"))?.unwrap_or_default();
            let n = related.len();
            (uri.to_string(), related, n)
        }
        None => {
            let (related, n) = related::to_text(&library.root, &shelf.catalogue, about, limit);
            (shown(about), related, n)
        }
    };
    let budget = arguments.max_tokens.unwrap_or(MAX_TOKENS);
    Ok(within(&name, &related[..related.len().min(limit)], n, budget))
}

/// As many as the budget of the whole answer allows.
fn within(about: &str, related: &[Related], n_all: usize, budget: u64) -> Value {
    let mut n = related.len();
    loop {
        let told: Vec<Value> = related[..n].iter().map(entry).collect();
        let answer = json!({"about": about, "related": told, "not_shown": n_all - n});
        if n == 0 || tokens::count(&answer.to_string()) <= budget {
            return answer;
        }
        n -= 1;
    }
}

fn entry(related: &Related) -> Value {
    let line = &related.document;
    let mut value = json!({
        "uri": line.uri, "title": line.title, "status": line.status,
        "why": related.reasons, "score": related.score,
    });
    if !line.summary.is_empty() {
        value["summary"] = json!(line.summary);
    }
    if !line.live {
        value["replaced_by"] = json!(line.replaced_by);
    }
    value
}
