//! `blue_related`: what lies near a document, a path or free words.

use serde::Deserialize;
use serde_json::{Value, json};

use super::super::address::{self, Meaning, shown};
use super::super::library::Library;
use super::super::read;
use super::Answer;
use crate::condense::tokens;
use crate::model::code::cleaned;
use crate::serve::shelf::{Item, Shelf};
use crate::serve::{code, reference, words};
use crate::wire::jsonl::DocumentLine;

/// Documents, unless the caller wants another number.
pub(super) const LIMIT: usize = 10;
/// The most at once.
const MAX_LIMIT: usize = 100;
/// The budget, unless the caller has another.
pub(super) const MAX_TOKENS: u64 = 1_500;

/// What binds a path counts for more than any words.
const BOUND: u32 = 1_000_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    about: String,
    #[serde(default)]
    limit: Option<usize>,
    #[serde(default)]
    max_tokens: Option<u64>,
}

/// A document that is near, how near, and why.
struct Related(DocumentLine, u32, Vec<String>);

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
            let related = of_document(library, shelf, uri)?;
            let n = related.len();
            (uri.to_string(), related, n)
        }
        None => {
            let mut related = of_code(library, shelf, about);
            let n_bound = related.len();
            let (fitting, n_fitting) = words::fitting(&shelf.catalogue, about, limit);
            for fit in fitting {
                if related[..n_bound].iter().all(|known| known.0.uri != fit.document.uri) {
                    related.push(Related(fit.document, fit.score, vec![fit.reason]));
                }
            }
            // Beside what binds a path, words only fill up.
            let n = if n_bound > 0 { related.len() } else { n_fitting };
            (shown(about), related, n)
        }
    };
    let budget = arguments.max_tokens.unwrap_or(MAX_TOKENS);
    Ok(within(&name, &related[..related.len().min(limit)], n, budget))
}

fn of_document(library: &Library, shelf: &Shelf, uri: &str) -> Result<Vec<Related>, String> {
    let near = reference::near(&library.root, &shelf.catalogue, &library.overlay(), uri, u64::MAX);
    let near = near.map_err(|error| format!("{error:#}"))?.unwrap_or_default();
    Ok(near.into_iter().map(|near| Related(near.document, near.score, near.reasons)).collect())
}

/// What binds a file or folder of the repository, the most specific first; it comes before what has
/// its words. What is no path binds nobody.
fn of_code(library: &Library, shelf: &Shelf, about: &str) -> Vec<Related> {
    let path = cleaned(about).unwrap_or_default();
    let path = path.trim_matches('/');
    if path.is_empty() || path.split('/').any(|part| matches!(part, "" | "." | "..")) {
        return Vec::new();
    }
    let answer = code::bound(&library.root, &shelf.catalogue, path, false);
    let bound = answer.ok().flatten().unwrap_or_default().bound.into_iter();
    let n = bound.len() as u32;
    let related = bound.zip(0..).map(|(bound, i)| {
        let because = bound.because.iter().map(code::Because::text).collect();
        Related(bound.document, BOUND + n - i, because)
    });
    related.collect()
}

/// As many as the budget of the whole answer allows.
fn within(about: &str, related: &[Related], n_all: usize, budget: u64) -> Value {
    let mut n = related.len();
    loop {
        let told: Vec<Value> = related[..n].iter().map(told).collect();
        let answer = json!({"about": about, "related": told, "not_shown": n_all - n});
        if n == 0 || tokens::count(&answer.to_string()) <= budget {
            return answer;
        }
        n -= 1;
    }
}

fn told(Related(line, score, reasons): &Related) -> Value {
    let mut value = json!({
        "uri": line.uri, "title": line.title, "status": line.status, "why": reasons,
        "score": score,
    });
    if !line.summary.is_empty() {
        value["summary"] = json!(line.summary);
    }
    if !line.live {
        value["replaced_by"] = json!(line.replaced_by);
    }
    value
}
