//! `blue_related`: finds the documents related to a document, a path or words.

use serde::Deserialize;
use serde_json::{Value, json};

use super::super::failure::shown;
use super::super::project::Project;
use super::super::read;
use super::{ToolAnswer, ToolOutput};
use crate::condense::fit_list;
use crate::serve::related::{self, LIMIT, MAX_TOKENS};
use crate::serve::related_text::{self, Reasons};
use crate::serve::search::SearchResult;
use crate::serve::{Library, global};

/// Largest allowed `limit`.
const MAX_LIMIT: usize = 100;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RelatedArguments {
    about: String,
    #[serde(default)]
    limit: Option<usize>,
    #[serde(default)]
    max_tokens: Option<u64>,
    #[serde(default)]
    why: bool,
    #[serde(default)]
    format: AnswerFormat,
}

/// Format of the answer, as of `blue knowledge related`.
#[derive(Default, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "lowercase")]
enum AnswerFormat {
    #[default]
    Text,
    Json,
}

pub(super) fn call(project: &Project, arguments: &RelatedArguments) -> ToolAnswer {
    let about = arguments.about.trim();
    if about.is_empty() {
        return Err("blue_related: about is empty; pass an address, a path or words".to_string());
    }
    match global::local_address(about) {
        Some(address) => {
            let project = project.global().map_err(|failure| failure.text())?;
            answer(project, &address, true, arguments)
        }
        None => answer(project, about, false, arguments),
    }
}

/// Returns the documents of a project. `is_global` is true for the user's own project.
fn answer(
    project: &Project,
    about: &str,
    is_global: bool,
    arguments: &RelatedArguments,
) -> ToolAnswer {
    let open = project.open();
    let library = open.library(project).map_err(|failure| failure.text())?;
    let row = related::row_of(&library, about).map_err(|error| {
        let failure = read::failure(&open, error.into());
        let failure = if is_global { read::global_failure(failure) } else { failure };
        read::record_refusal(project, about, failure).text()
    })?;
    let limit = arguments.limit.unwrap_or(LIMIT).clamp(1, MAX_LIMIT);
    let budget = arguments.max_tokens.unwrap_or(MAX_TOKENS);
    let mut result = match row {
        Some(row) => {
            project.save_usage(&library);
            let related = related::to_document(&library, row);
            let related = related.map_err(|error| format!("{error:#}"))?;
            SearchResult::of(related.unwrap_or_default())
        }
        None => {
            let index = open.search_index(&library).map_err(|error| format!("{error:#}"))?;
            related::to_text(&library, index, about, limit, budget)
        }
    };
    result.found.truncate(limit);
    if is_global {
        global::related(&mut result.found, project.root.path());
    }
    if arguments.format == AnswerFormat::Json {
        return Ok(ToolOutput::Text(json(&library, &result, budget).to_string()));
    }
    let reasons = if arguments.why { Reasons::Shown } else { Reasons::Hidden };
    let mut text = related_text::text(&library, &result.found, budget, reasons);
    for note in related_text::notes(&result, &shown(about)) {
        // A word that was asked for may be a secret.
        text += &crate::guard::redacted(&format!("{note}\n"));
    }
    Ok(ToolOutput::Text(text))
}

/// Returns as many documents as fit the budget, as JSON.
fn json(library: &Library<'_>, result: &SearchResult, budget: u64) -> Value {
    let catalogue = &library.built.catalogue;
    let render = |n: usize| {
        let found = result.found[..n].iter();
        let entries: Vec<Value> = found.map(|one| related_text::entry(catalogue, one)).collect();
        json!({"related": entries, "not_shown": result.n_all - n})
    };
    fit_list(result.found.len(), budget, |n| n - 1, render).0
}
