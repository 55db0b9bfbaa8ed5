//! `blue_read`: reads several addresses within a budget.

use serde::Deserialize;

use super::super::failure::{Failure, shown};
use super::super::project::{Open, Project};
use super::super::read;
use super::{ToolAnswer, ToolOutput};
use crate::condense::fit_list;
use crate::model::escape::{escape_attribute, escape_line};
use crate::model::{Digest, Level};
use crate::reader::{self, LevelText, Levels};
use crate::root::Root;
use crate::serve::address::Resolved;
use crate::serve::log::{event_at, text_line};
use crate::serve::sessions::Asking;
use crate::serve::{AuditLog, Listed, ReadError, Text, global};
use crate::wire::jsonl::DocumentLine;

/// Default budget.
pub(super) const MAX_TOKENS: u64 = 4_000;

/// Maximum number of addresses in a call.
const MAX_URIS: usize = 50;

/// Estimated number of tokens of the metadata around a text.
const METADATA_TOKENS: u64 = 70;

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

impl Requested {
    /// Converts a text of the user's own project.
    fn global(mut self, root: &Root) -> Requested {
        self.path = root.path().join(&self.path).display().to_string();
        self.uri = global::global_address(&self.uri);
        if let Some(line) = &mut self.line {
            line.replaced_by.iter_mut().for_each(|uri| *uri = global::global_address(uri));
        }
        self
    }
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
                not_shown.push(format!("{}: {}", shown(uri), failure.text()));
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
                not_shown.push(format!("{}: unchanged since it was read", requested.uri));
            }
            !is_unchanged
        });
    }
    Ok(ToolOutput::Text(fit(project, &requested, not_shown, budget)))
}

/// Reads an address, of the project or of the user's own knowledge. A document is read at every level
/// up to `max_level`.
fn request(
    project: &Project,
    open: &Open,
    uri: &str,
    max_level: Level,
) -> Result<Vec<Requested>, Failure> {
    let Some(address) = global::local_address(uri) else {
        return request_here(project, open, uri, max_level);
    };
    read::check(uri)?;
    let project = project.global()?;
    let texts = request_here(project, &project.open(), &address, max_level);
    let texts = texts.map_err(read::global_failure)?;
    Ok(texts.into_iter().map(|text| text.global(&project.root)).collect())
}

fn request_here(
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
fn fit(project: &Project, all: &[Requested], not_shown: Vec<String>, budget: u64) -> String {
    let mut text_budget = budget;
    loop {
        let levels = all.iter().map(|requested| &requested.levels);
        let chosen = reader::fit(levels, text_budget, METADATA_TOKENS);
        let (mut documents, mut not_shown) = (String::new(), not_shown.clone());
        for (requested, index) in all.iter().zip(&chosen) {
            match index {
                Some(index) => documents += &entry(requested, requested.levels.at(*index)),
                None => {
                    let tokens = requested.levels.most_detailed().tokens;
                    let uri = &requested.uri;
                    not_shown.push(format!("{uri}: over the budget, {tokens} tokens"));
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
fn answer(documents: &str, not_shown: &[String], budget: u64) -> (String, u64) {
    let halve = |n| n / 2;
    fit_list(not_shown.len(), budget, halve, |n| {
        let mut text = documents.to_string();
        if !not_shown.is_empty() {
            text += "Not shown:\n";
        }
        text.extend(not_shown[..n].iter().map(|line| format!("- {}\n", escape_line(line))));
        if n < not_shown.len() {
            text += &format!("- {} more\n", not_shown.len() - n);
        }
        text
    })
}

/// Formats a text in a tag that says which document it is. A document cannot close the tag, because
/// the reader escapes the tags of blue.
fn entry(requested: &Requested, LevelText { level, text, .. }: &LevelText) -> String {
    let mut tag = "<blue-document".to_string();
    let mut put = |key: &str, value: &str| {
        tag += &format!(" {key}=\"{}\"", escape_attribute(value));
    };
    put("path", &requested.path);
    put("uri", &requested.uri);
    if let Some(line) = &requested.line {
        put("status", &line.status);
        if !line.live {
            put("note", "history, not a current decision");
        }
        if !line.replaced_by.is_empty() {
            put("replaced-by", &line.replaced_by.join(" "));
        }
    }
    if *level != Level::Full {
        put("detail", level.name());
    }
    if requested.levels.stale {
        put("stale", "changed since the build");
    }
    format!("{tag}>\n{}\n</blue-document>\n", text.trim_end_matches('\n'))
}

fn record(project: &Project, requested: &Requested, text: &LevelText) {
    let line = text_line(&requested.uri, &requested.path, &text.text, text.tokens);
    project.record(&event_at("blue_read", text.level), line);
}
