//! `blue_read`: several addresses at once, within a budget.

use serde::Deserialize;
use serde_json::{Value, json};

use super::super::address::{self, Failure, Meaning, shown};
use super::super::library::{Library, Open};
use super::super::read::{self, Given};
use super::super::tell::{self, Telling};
use super::Answer;
use crate::condense::tokens;
use crate::emit::{AUDIT, AUDIT_BEFORE};
use crate::model::{Digest, Level};
use crate::serve::sessions::Asking;
use crate::serve::shelf::Item;
use crate::serve::{Log, Shelf};
use crate::wire::jsonl::DocumentLine;

/// The budget, unless the caller has another.
pub(super) const MAX_TOKENS: u64 = 4_000;

/// Addresses in one call.
const MAX_URIS: usize = 50;

/// What the names and addresses around a text cost.
const AROUND: u64 = 90;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    uris: Vec<String>,
    #[serde(default)]
    max_tokens: Option<u64>,
    #[serde(default)]
    detail: Option<String>,
    #[serde(default)]
    changed_only: bool,
}

/// Something that was asked for and can be told.
struct Wanted {
    uri: String,
    path: String,
    line: Option<DocumentLine>,
    telling: Telling,
}

pub(super) fn call(library: &Library, arguments: &Arguments) -> Answer {
    let detail = arguments.detail.as_deref().unwrap_or("full");
    let most = tell::level_of(detail).ok_or_else(|| {
        let detail = shown(detail);
        format!("blue_read: detail is title, line, brief, sections or full, not {detail:?}")
    })?;
    let n = arguments.uris.len();
    if n == 0 || n > MAX_URIS {
        return Err(format!("blue_read: uris has {n} addresses; it takes 1 to {MAX_URIS}"));
    }
    let open = library.open();
    let shelf = open.shelf.as_ref().map_err(|why| why.to_string())?;
    let budget = arguments.max_tokens.unwrap_or(MAX_TOKENS);
    let mut not_shown = Vec::new();
    let mut wanted: Vec<Wanted> = Vec::new();
    for uri in &arguments.uris {
        match tellings(library, &open, shelf, uri, most) {
            // The same document under two names is read once.
            Ok(more) => more.into_iter().for_each(|more| {
                if wanted.iter().all(|known| known.uri != more.uri) {
                    wanted.push(more);
                }
            }),
            Err(failure) => {
                let failure = read::noted(library, uri, failure);
                not_shown.push(json!({"uri": shown(uri), "why": failure.text()}));
            }
        }
    }
    if arguments.changed_only {
        let session = library.session();
        let log = Log::open(&library.root, [AUDIT_BEFORE, AUDIT], Some(&session));
        // Of several sessions that ask through one server, none has all that it gave.
        let shared = matches!(library.asking(), Asking::OneOf(_));
        wanted.retain(|wanted| {
            let last = log.last(&wanted.uri, Some(&session)).filter(|_| !shared);
            let full = wanted.telling.most();
            let has = last.is_some_and(|line| line.content_hash == hash(full.text));
            if has {
                not_shown.push(json!({"uri": wanted.uri, "why": "unchanged since it was read"}));
            }
            !has
        });
    }
    Ok(within(library, &wanted, not_shown, budget))
}

/// What an address gives, at every level up to one.
fn tellings(
    library: &Library,
    open: &Open,
    shelf: &Shelf,
    uri: &str,
    most: Level,
) -> Result<Vec<Wanted>, Failure> {
    match address::meaning(library, open, uri)? {
        Meaning::Item(Item::Document(row)) => {
            let line = read::line_of(shelf, row)?;
            let telling = Telling::document(library, open, &line, most)?;
            let (uri, path) = (line.uri.clone(), line.path.clone());
            Ok(vec![Wanted { uri, path, line: Some(line), telling }])
        }
        _ => {
            let given = read::read(library, open, uri)?;
            let wanted = |given: Given| Wanted {
                telling: Telling::whole(given.text, given.stale),
                uri: given.uri,
                path: given.path,
                line: given.line,
            };
            Ok(given.into_iter().map(wanted).collect())
        }
    }
}

/// As much as fits, each noted as it was given. The budget is that of the whole answer.
fn within(library: &Library, wanted: &[Wanted], not_shown: Vec<Value>, budget: u64) -> Value {
    let tellings: Vec<&Telling> = wanted.iter().map(|wanted| &wanted.telling).collect();
    let mut room = budget;
    loop {
        let steps = tell::fit(&tellings, room, AROUND);
        let shown = wanted.iter().zip(&steps).filter_map(|(w, step)| Some(told(w, (*step)?)));
        let documents: Vec<Value> = shown.collect();
        let over = wanted.iter().zip(&steps).filter(|(_, step)| step.is_none()).map(|(w, _)| {
            json!({"uri": w.uri, "tokens": w.telling.most().tokens, "why": "over the budget"})
        });
        let left_out: Vec<Value> = not_shown.iter().cloned().chain(over).collect();
        let none = documents.is_empty();
        let answer = named(documents, left_out, budget);
        if answer["tokens"].as_u64().is_some_and(|n| n <= budget) || none {
            for (wanted, step) in wanted.iter().zip(&steps) {
                if let Some(step) = step {
                    noted(library, wanted, *step);
                }
            }
            return answer;
        }
        let over = answer["tokens"].as_u64().unwrap_or(budget).saturating_sub(budget).max(1);
        room = room.saturating_sub(over);
    }
}

/// The answer, with as many of what was left out named as there is room for, and the rest counted.
fn named(documents: Vec<Value>, mut left_out: Vec<Value>, budget: u64) -> Value {
    let n = left_out.len();
    loop {
        let mut told = left_out.clone();
        if left_out.len() < n {
            told.push(json!({"more": n - left_out.len()}));
        }
        let mut answer = json!({"documents": documents, "not_shown": told, "tokens": 0});
        // The number itself takes a few more.
        let n_tokens = tokens::count(&answer.to_string()) + 3;
        answer["tokens"] = json!(n_tokens);
        if n_tokens <= budget || left_out.is_empty() {
            return answer;
        }
        left_out.truncate(left_out.len() / 2);
    }
}

fn told(wanted: &Wanted, step: usize) -> Value {
    let chosen = wanted.telling.at(step);
    let mut value = json!({
        "uri": wanted.uri, "detail": tell::name_of(chosen.level), "text": chosen.text,
    });
    if let Some(line) = &wanted.line {
        value["title"] = json!(line.title);
        value["status"] = json!(line.status);
        if !line.live {
            value["history"] = json!(true);
            value["replaced_by"] = json!(line.replaced_by);
        }
    }
    if wanted.telling.stale {
        value["stale"] = json!("changed since the build");
    }
    value
}

fn hash(text: &str) -> String {
    Digest::of(text.as_bytes()).to_string()
}

fn noted(library: &Library, wanted: &Wanted, step: usize) {
    let chosen = wanted.telling.at(step);
    let (uri, path) = (wanted.uri.clone(), wanted.path.clone());
    let text = chosen.text.to_string();
    let given = Given {
        uri,
        path,
        hash: hash(&text),
        text,
        tokens: chosen.tokens,
        line: None,
        stale: wanted.telling.stale,
        part: Some(chosen.level).filter(|level| *level != Level::Full),
        why: None,
    };
    read::note(library, "blue_read", &given);
}
