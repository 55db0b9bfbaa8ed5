//! `blue_read`: reads several addresses within a budget.

use serde::Deserialize;
use serde_json::{Value, json};

use super::super::failure::{Failure, shown};
use super::super::project::{Open, Project};
use super::super::read;
use super::ToolAnswer;
use crate::condense::fit_list;
use crate::model::{Digest, Level};
use crate::reader::{self, LevelText, Levels};
use crate::serve::address::Resolved;
use crate::serve::log::{event_at, text_line};
use crate::serve::sessions::Asking;
use crate::serve::{AuditLog, Listed, ReadError, Text};
use crate::wire::jsonl::DocumentLine;

/// Default budget.
pub(super) const MAX_TOKENS: u64 = 4_000;

/// Maximum number of addresses in a call.
const MAX_URIS: usize = 50;

/// Estimated number of tokens of the metadata around a text.
const METADATA_TOKENS: u64 = 90;

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

/// A requested text.
struct Requested {
    uri: String,
    path: String,
    line: Option<DocumentLine>,
    levels: Levels,
}

pub(super) fn call(project: &Project, arguments: &ReadArguments) -> ToolAnswer {
    let detail = arguments.detail.as_deref().unwrap_or("full");
    let max_level = Level::parse(detail).ok_or_else(|| {
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
        match request(project, &open, uri, max_level) {
            // A document that is requested under two addresses is read once.
            Ok(texts) => texts.into_iter().for_each(|text| {
                if requested.iter().all(|other| other.uri != text.uri) {
                    requested.push(text);
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
        // If several sessions share the server, a text may have been delivered to another session.
        let is_shared = matches!(project.asking(), Asking::OneOf(_));
        requested.retain(|requested| {
            let last = log.last(&requested.uri, Some(&session)).filter(|_| !is_shared);
            let hash = Digest::of(requested.levels.most_detailed().text.as_bytes()).to_string();
            let is_unchanged = last.is_some_and(|line| line.content_hash == hash);
            if is_unchanged {
                not_shown.push(json!({"uri": requested.uri, "why": "unchanged since it was read"}));
            }
            !is_unchanged
        });
    }
    Ok(fit(project, &requested, not_shown, budget))
}

/// Reads an address. A document is read at every level up to `max_level`.
fn request(
    project: &Project,
    open: &Open,
    uri: &str,
    max_level: Level,
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
    let levels = crate::serve::read::levels(&library, &line, max_level).map_err(failure)?;
    let (uri, path) = (line.uri.clone(), line.path.clone());
    Ok(vec![Requested { uri, path, line: Some(line), levels }])
}

/// Returns an answer with as much of each text as the budget allows, and logs the deliveries.
fn fit(project: &Project, all: &[Requested], not_shown: Vec<Value>, budget: u64) -> Value {
    let mut text_budget = budget;
    loop {
        let levels = all.iter().map(|requested| &requested.levels);
        let chosen = reader::fit(levels, text_budget, METADATA_TOKENS);
        let (mut documents, mut not_shown) = (Vec::new(), not_shown.clone());
        for (requested, index) in all.iter().zip(&chosen) {
            match index {
                Some(index) => documents.push(entry(requested, requested.levels.at(*index))),
                None => {
                    let tokens = requested.levels.most_detailed().tokens;
                    let why = "over the budget";
                    not_shown.push(json!({"uri": requested.uri, "tokens": tokens, "why": why}));
                }
            }
        }
        let (answer, n_tokens) = answer(&documents, &not_shown, budget);
        if n_tokens <= budget || documents.is_empty() {
            for (requested, index) in all.iter().zip(chosen) {
                if let Some(index) = index {
                    record(project, requested, requested.levels.at(index));
                }
            }
            return answer;
        }
        text_budget = text_budget.saturating_sub(n_tokens - budget);
    }
}

/// Returns the answer and its tokens. It lists as many of the texts that are not shown as fit, and
/// counts the others.
fn answer(documents: &[Value], not_shown: &[Value], budget: u64) -> (Value, u64) {
    // The number of tokens in the answer takes up to three more tokens.
    const TOTAL: u64 = 3;
    let halve = |n| n / 2;
    let list = fit_list(not_shown.len(), budget.saturating_sub(TOTAL), halve, |n| {
        let mut listed = not_shown[..n].to_vec();
        if n < not_shown.len() {
            listed.push(json!({"more": not_shown.len() - n}));
        }
        json!({"documents": documents, "not_shown": listed, "tokens": 0})
    });
    let (mut answer, n_tokens) = (list.0, list.1 + TOTAL);
    answer["tokens"] = json!(n_tokens);
    (answer, n_tokens)
}

fn entry(requested: &Requested, LevelText { level, text, .. }: &LevelText) -> Value {
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

fn record(project: &Project, requested: &Requested, text: &LevelText) {
    let line = text_line(&requested.uri, &requested.path, &text.text, text.tokens);
    project.record(&event_at("blue_read", text.level), line);
}
