//! `blue knowledge related` and `blue knowledge why`.

use std::path::Path;

use anyhow::Context;
use clap::Args;
use serde_json::json;

use super::open::BuiltProject;
use super::output::OutputFormat;
use super::{Exit, for_path, output};
use crate::condense::tokens;
use crate::root::Root;
use crate::serve::Catalogue;
use crate::serve::related::{self, Related};
use crate::serve::search::SearchResult;
use crate::wire::jsonl::DocumentLine;

/// The flags of `blue knowledge related`.
#[derive(Args, Debug)]
pub(super) struct RelatedArgs {
    /// Question, words, path, id or address
    #[arg(required = true)]
    about: Vec<String>,
    /// Show the reasons for each document
    #[arg(long)]
    why: bool,
    /// Show at most N documents
    #[arg(long, value_name = "N", default_value_t = 10)]
    limit: usize,
    /// Print at most this many tokens; the first document gets most of them
    #[arg(long, value_name = "TOKENS", default_value_t = 450)]
    budget: u64,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: OutputFormat,
}

/// The flags of `blue knowledge why`.
#[derive(Args, Debug)]
pub(super) struct WhyArgs {
    /// Address or path of a document
    document: String,
    /// Address or path of another document
    other: String,
}

impl RelatedArgs {
    pub(super) fn run(&self, directory: &Path) -> anyhow::Result<Exit> {
        let project = BuiltProject::open(directory)?;
        let typed = self.about.join(" ");
        let about = path_or_text(&project.root, directory, &typed);
        let library = project.library();
        let row = related::row_of(&library, &about);
        let mut result = match row.map_err(|error| project.error(&about, error))? {
            Some(row) => SearchResult::of(neighbours(&project, row)?),
            None => {
                let index = project.search_index()?;
                related::to_text(&library, &index, &about, self.limit, self.budget)
            }
        };
        result.found.truncate(self.limit);
        output::out(&self.text(&project, &result)?)?;
        if !result.unknown.is_empty() {
            let words = result.unknown.join(", ");
            output::say(&format!("blue: no document contains {}", output::visible(&words)));
        }
        if result.found.is_empty() {
            output::say(&format!("blue: no document is related to {}", output::visible(&typed)));
            return Ok(Exit::FoundSomething);
        }
        Ok(Exit::Done)
    }

    fn text(&self, project: &BuiltProject, result: &SearchResult) -> anyhow::Result<String> {
        let catalogue = &project.built.catalogue;
        if self.format == OutputFormat::Json {
            let all: Vec<_> = result.found.iter().map(|found| entry(catalogue, found)).collect();
            return Ok(format!("{}\n", serde_json::to_string_pretty(&all)?));
        }
        let mut text = String::new();
        for (i, found) in result.found.iter().enumerate() {
            let mut more = document_text(catalogue, found);
            if self.why {
                more += &reasons(found);
            }
            if i > 0 && tokens::count(&text) + tokens::count(&more) > self.budget {
                let rest = self.budget.saturating_sub(tokens::count(&text));
                text += &others(&result.found[i..], rest);
                break;
            }
            text += &more;
        }
        Ok(text)
    }
}

/// Names the documents whose text does not fit, in at most `budget` tokens.
fn others(rest: &[Related], budget: u64) -> String {
    let mut text = String::new();
    for related in rest.iter().take(MAX_OTHERS) {
        let title = title(&related.document);
        let name = match title.char_indices().nth(MAX_NAME) {
            Some((end, _)) => format!("{}…", title[..end].trim_end()),
            None => title,
        };
        let more = match text.is_empty() {
            true => format!("also: {name}"),
            false => format!("{text}; {name}"),
        };
        if tokens::count(&more) >= budget {
            break;
        }
        text = more;
    }
    if text.is_empty() { text } else { output::visible(&text) + "\n" }
}

/// Maximum number of documents that are only named, and of characters of each name.
const MAX_OTHERS: usize = 4;
const MAX_NAME: usize = 60;

/// Formats a document: its path with the line of the best passage, title, status and date, then the
/// passages, after the summary if they do not contain it.
pub(super) fn document_text(catalogue: &Catalogue, related: &Related) -> String {
    let line = &related.document;
    let place = match related.line {
        0 => line.path.clone(),
        n => format!("{}:{n}", line.path),
    };
    let mut states = states(catalogue, line);
    states.retain(|state| state != "unstated");
    if related.is_weak {
        states.push("weak match".to_string());
    }
    let mut head = format!("{place}  {}", title(line));
    if !states.is_empty() {
        head += &format!("  ({})", states.join(", "));
    }
    let mut text = format!("{}\n", output::visible(&head));
    let is_shown = related.passages.iter().any(|passage| {
        let start = line.summary.get(..line.summary.len().min(60)).unwrap_or(&line.summary);
        passage.text.contains(start)
    });
    if !is_shown && !line.summary.is_empty() {
        text += &format!("    {}\n", output::visible(&line.summary));
    }
    for passage in &related.passages {
        let section = match passage.section.as_str() {
            section if section.is_empty() || *section == line.title => String::new(),
            section => format!("{section}: "),
        };
        let mut lines = passage.text.lines().map(output::visible);
        let first = lines.next().unwrap_or_default();
        text += &format!("    {}: {}{first}\n", passage.line, output::visible(&section));
        lines.for_each(|line| text += &format!("    {line}\n"));
    }
    text
}

/// Returns the status of a document, its date and what replaced it, in words.
pub(super) fn states(catalogue: &Catalogue, line: &DocumentLine) -> Vec<String> {
    let mut states = vec![line.status.clone()];
    states.extend(line.date.clone());
    let successors = line.replaced_by.iter().filter_map(|uri| catalogue.row(uri));
    states.extend(successors.map(|row| format!("replaced by {}", catalogue.path(row))));
    states
}

/// Formats the kind, number and title of a document.
pub(super) fn title(line: &DocumentLine) -> String {
    match &line.number {
        Some(number) if line.kind == "document" => format!("{number}: {}", line.title),
        Some(number) => format!("{} {number}: {}", line.kind.to_uppercase(), line.title),
        None => line.title.clone(),
    }
}

/// Returns a document as JSON.
pub(super) fn entry(catalogue: &Catalogue, related: &Related) -> serde_json::Value {
    let line = &related.document;
    let successors = line.replaced_by.iter().filter_map(|uri| catalogue.row(uri));
    let successors: Vec<&str> = successors.map(|row| catalogue.path(row)).collect();
    let passages = related.passages.iter().map(
        |passage| json!({"line": passage.line, "section": passage.section, "text": passage.text}),
    );
    json!({
        "uri": line.uri, "path": line.path, "line": related.line, "number": line.number,
        "title": line.title, "status": line.status, "live": line.live, "date": line.date,
        "replaced_by": successors, "summary": line.summary, "tokens": line.tokens,
        "score": related.score, "weak": related.is_weak, "reasons": related.reasons,
        "passages": passages.collect::<Vec<_>>(),
    })
}

impl WhyArgs {
    pub(super) fn run(&self, directory: &Path) -> anyhow::Result<Exit> {
        let project = BuiltProject::open(directory)?;
        let catalogue = &project.built.catalogue;
        let row = |about: &str| {
            let row = related::row_of(&project.library(), about);
            row.map_err(|error| project.error(about, error))?.with_context(|| {
                format!("{about:?} is not a document\nhint: run `blue knowledge list`")
            })
        };
        let (document, other) = (row(&self.document)?, row(&self.other)?);
        let mut text = String::new();
        for (from, to) in [(document, other), (other, document)] {
            let related = neighbours(&project, from)?;
            let uri = catalogue.uri(to);
            text += &format!("{} → {uri}: ", catalogue.uri(from));
            match related.iter().position(|related| related.document.uri == uri) {
                Some(at) => {
                    let score = related[at].score;
                    text += &format!("{} of {}, score {score}\n", at + 1, related.len());
                    text += &reasons(&related[at]);
                }
                None => text += &format!("not among its {} nearest\n", related.len()),
            }
        }
        output::out(&text)?;
        Ok(Exit::Done)
    }
}

/// Formats the reasons for a document, one per line.
fn reasons(related: &Related) -> String {
    let lines = related.reasons.iter().map(|reason| format!("    {}\n", output::visible(reason)));
    lines.collect()
}

/// Returns the path below the root if the text names a file; otherwise the text itself.
fn path_or_text(root: &Root, directory: &Path, about: &str) -> String {
    let below = for_path::path_below_root(root, directory, Path::new(about)).ok();
    below.filter(|below| root.exists(below)).unwrap_or_else(|| about.to_string())
}

fn neighbours(project: &BuiltProject, row: usize) -> anyhow::Result<Vec<Related>> {
    let related = related::to_document(&project.library(), row)?;
    related.context("there is no relevance index\nhint: run `blue knowledge build`")
}
