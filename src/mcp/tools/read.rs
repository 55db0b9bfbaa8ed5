//! `blue_read`: several addresses at once, within a budget.

use serde::Deserialize;
use serde_json::{Value, json};

use super::super::failure::{Failure, shown};
use super::super::project::{Open, Project};
use super::super::read;
use super::ToolAnswer;
use crate::condense::tokens;
use crate::model::{Digest, Level};
use crate::reader::{self, Levels};
use crate::serve::address::Resolved;
use crate::serve::log::{event_at, text_line};
use crate::serve::sessions::Asking;
use crate::serve::{AuditLog, Listed, ReadError, Text};
use crate::wire::jsonl::DocumentLine;

/// Default budget.
pub(super) const MAX_TOKENS: u64 = 4_000;

/// Addresses in one call.
const MAX_URIS: usize = 50;

/// Tokens of the names and addresses around a text.
const AROUND: u64 = 90;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReadArguments {
    uris: Vec<String>,
    #[serde(default)]
    max_tokens: Option<u64>,
    #[serde(default)]
    detail: Option<String>,
    #[serde(default)]
    changed_only: bool,
}

/// A text that was asked for.
struct Requested {
    uri: String,
    path: String,
    line: Option<DocumentLine>,
    levels: Levels,
}

pub(super) fn call(project: &Project, arguments: &ReadArguments) -> ToolAnswer {
    let detail = arguments.detail.as_deref().unwrap_or("full");
    let most = Level::parse(detail).ok_or_else(|| {
        let detail = shown(detail);
        format!("blue_read: detail is title, line, brief, sections or full, not {detail:?}")
    })?;
    let n = arguments.uris.len();
    if n == 0 || n > MAX_URIS {
        return Err(format!("blue_read: uris has {n} addresses; it takes 1 to {MAX_URIS}"));
    }
    let open = project.open();
    open.library(project).map_err(|failure| failure.text())?;
    let budget = arguments.max_tokens.unwrap_or(MAX_TOKENS);
    let mut not_shown = Vec::new();
    let mut requested: Vec<Requested> = Vec::new();
    for uri in &arguments.uris {
        match request(project, &open, uri, most) {
            // The same document under two addresses is read once.
            Ok(more) => more.into_iter().for_each(|more| {
                if requested.iter().all(|known| known.uri != more.uri) {
                    requested.push(more);
                }
            }),
            Err(failure) => {
                let failure = read::record_refusal(project, uri, failure);
                not_shown.push(json!({"uri": shown(uri), "why": failure.text()}));
            }
        }
    }
    if arguments.changed_only {
        let session = project.session();
        let log = AuditLog::open(&project.root, Some(&session));
        // If several sessions share the server, none of them has every text that it gave.
        let shared = matches!(project.asking(), Asking::OneOf(_));
        requested.retain(|requested| {
            let last = log.last(&requested.uri, Some(&session)).filter(|_| !shared);
            let (_, text, _) = requested.levels.most();
            let has = last.is_some_and(|line| line.content_hash == hash(text));
            if has {
                not_shown.push(json!({"uri": requested.uri, "why": "unchanged since it was read"}));
            }
            !has
        });
    }
    Ok(fit(project, &requested, not_shown, budget))
}

/// Reads an address, a document at every level up to `most`.
fn request(
    project: &Project,
    open: &Open,
    uri: &str,
    most: Level,
) -> Result<Vec<Requested>, Failure> {
    let library = open.library(project)?;
    let Resolved::Item(Listed::Document(row)) = read::resolve(project, open, uri)? else {
        let requested = |text: Text| Requested {
            levels: Levels::whole(text.text, text.stale),
            uri: text.uri,
            path: text.path,
            line: text.line,
        };
        return Ok(read::read(project, open, uri)?.into_iter().map(requested).collect());
    };
    let failure = |error: ReadError| read::failure(open, error);
    let line = crate::serve::read::line(library.built, row).map_err(failure)?;
    let levels = crate::serve::read::levels(&library, &line, most).map_err(failure)?;
    let (uri, path) = (line.uri.clone(), line.path.clone());
    Ok(vec![Requested { uri, path, line: Some(line), levels }])
}

/// The answer with as much of each text as the budget of the whole answer allows. Each is recorded.
fn fit(project: &Project, all: &[Requested], not_shown: Vec<Value>, budget: u64) -> Value {
    let levels: Vec<&Levels> = all.iter().map(|requested| &requested.levels).collect();
    let mut rest = budget;
    loop {
        let steps = reader::fit(&levels, rest, AROUND);
        let chosen = all.iter().zip(&steps);
        let shown = chosen.clone().filter_map(|(requested, step)| Some(entry(requested, (*step)?)));
        let documents: Vec<Value> = shown.collect();
        let over = chosen.clone().filter(|(_, step)| step.is_none()).map(|(requested, _)| {
            let (_, _, n_tokens) = requested.levels.most();
            json!({"uri": requested.uri, "tokens": n_tokens, "why": "over the budget"})
        });
        let left_out: Vec<Value> = not_shown.iter().cloned().chain(over).collect();
        let none = documents.is_empty();
        let (answer, n_tokens) = answer(&documents, left_out, budget);
        if n_tokens <= budget || none {
            for (requested, step) in
                chosen.filter_map(|(requested, step)| Some((requested, (*step)?)))
            {
                record(project, requested, step);
            }
            return answer;
        }
        rest = rest.saturating_sub(n_tokens - budget);
    }
}

/// The answer and its tokens. It names as many of the texts that were left out as fit, and counts the
/// rest.
fn answer(documents: &[Value], mut left_out: Vec<Value>, budget: u64) -> (Value, u64) {
    let n = left_out.len();
    loop {
        let mut not_shown = left_out.clone();
        if left_out.len() < n {
            not_shown.push(json!({"more": n - left_out.len()}));
        }
        let mut answer = json!({"documents": documents, "not_shown": not_shown, "tokens": 0});
        // The number itself takes up to three more.
        let n_tokens = tokens::count(&answer.to_string()) + 3;
        answer["tokens"] = json!(n_tokens);
        if n_tokens <= budget || left_out.is_empty() {
            return (answer, n_tokens);
        }
        left_out.truncate(left_out.len() / 2);
    }
}

fn entry(requested: &Requested, step: usize) -> Value {
    let (level, text, _) = requested.levels.at(step);
    let mut value = json!({"uri": requested.uri, "detail": level.name(), "text": text});
    if let Some(line) = &requested.line {
        value["title"] = json!(line.title);
        value["status"] = json!(line.status);
        if !line.live {
            value["history"] = json!(true);
            value["replaced_by"] = json!(line.replaced_by);
        }
    }
    if requested.levels.stale {
        value["stale"] = json!("changed since the build");
    }
    value
}

fn hash(text: &str) -> String {
    Digest::of(text.as_bytes()).to_string()
}

fn record(project: &Project, requested: &Requested, step: usize) {
    let (level, text, tokens) = requested.levels.at(step);
    let line = text_line(&requested.uri, &requested.path, text, tokens);
    project.record(&event_at("blue_read", level), line);
}
