//! `blue_related`: finds the documents related to a document, a path or words.

use serde::Deserialize;
use serde_json::{Value, json};

use super::super::failure::shown;
use super::super::project::Project;
use super::super::read;
use super::ToolAnswer;
use crate::condense::fit_list;
use crate::serve::related::{self, Related};

/// Default maximum number of documents.
pub(super) const LIMIT: usize = 10;
/// Largest allowed `limit`.
const MAX_LIMIT: usize = 100;
/// Default budget.
pub(super) const MAX_TOKENS: u64 = 600;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RelatedArguments {
    about: String,
    #[serde(default)]
    limit: Option<usize>,
    #[serde(default)]
    max_tokens: Option<u64>,
}

pub(super) fn call(project: &Project, arguments: &RelatedArguments) -> ToolAnswer {
    let about = arguments.about.trim();
    if about.is_empty() {
        return Err("blue_related: about is empty; pass an address, a path or words".to_string());
    }
    let open = project.open();
    let library = open.library(project).map_err(|failure| failure.text())?;
    let row = related::row_of(&library, about).map_err(|error| {
        read::record_refusal(project, about, read::failure(&open, error.into())).text()
    })?;
    let limit = arguments.limit.unwrap_or(LIMIT).clamp(1, MAX_LIMIT);
    let budget = arguments.max_tokens.unwrap_or(MAX_TOKENS);
    let (name, related, n_all) = match row {
        Some(row) => {
            project.save_usage(&library);
            let related = related::to_document(&library, row);
            let related = related.map_err(|error| format!("{error:#}"))?.unwrap_or_default();
            let n = related.len();
            (library.built.catalogue.uri(row).to_string(), related, n)
        }
        None => {
            let index = open.search_index(&library).map_err(|error| format!("{error:#}"))?;
            let result = related::to_text(&library, index, about, limit, budget);
            (shown(about), result.found, result.n_all)
        }
    };
    let (answer, _) = fit_list(
        related.len().min(limit),
        budget,
        |n| n - 1,
        |n| {
            let entries: Vec<Value> = related[..n].iter().map(entry).collect();
            json!({"about": name, "related": entries, "not_shown": n_all - n})
        },
    );
    Ok(answer)
}

fn entry(related: &Related) -> Value {
    let line = &related.document;
    let mut value = json!({
        "uri": line.uri, "path": line.path, "title": line.title, "status": line.status,
        "score": related.score,
    });
    if let Some(date) = &line.date {
        value["date"] = json!(date);
    }
    if !line.live {
        value["replaced_by"] = json!(line.replaced_by);
    }
    if related.is_weak {
        value["weak"] = json!(true);
    }
    if related.passages.is_empty() {
        value["why"] = json!(related.reasons);
        if !line.summary.is_empty() {
            value["summary"] = json!(line.summary);
        }
        return value;
    }
    let passages = related.passages.iter().map(|passage| match passage.section.as_str() {
        "" => json!({"line": passage.line, "text": passage.text}),
        section => json!({"line": passage.line, "section": section, "text": passage.text}),
    });
    value["passages"] = passages.collect();
    value
}
