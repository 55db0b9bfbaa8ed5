//! Formats related documents as text or JSON, for the command line and for agents.

use serde_json::json;

use super::related::Related;
use super::search::{SearchResult, is_newer};
use super::{Catalogue, Library};
use crate::model::hidden_chars::visible;
use crate::reader::ProjectReader;
use crate::wire::jsonl::DocumentLine;

/// Whether the reasons for each document are in the text.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Reasons {
    /// One line for each reason, after the passages.
    Shown,
    /// No reasons.
    Hidden,
}

/// Formats documents in at most `budget` tokens. The first document is always there, and those that
/// do not fit are named at the end.
pub fn text(library: &Library<'_>, found: &[Related], budget: u64, reasons: Reasons) -> String {
    let catalogue = &library.built.catalogue;
    let mut text = String::new();
    let mut n_tokens = 0;
    for (i, related) in found.iter().enumerate() {
        let mut more = document_text(catalogue, related);
        if reasons == Reasons::Shown {
            more += &reason_lines(related);
        }
        let n_more = library.reader.count_tokens(&more);
        if i > 0 && n_tokens + n_more > budget {
            let rest = budget.saturating_sub(library.reader.count_tokens(&text));
            return text + &others(library.reader, &found[0].document, &found[i..], rest);
        }
        text += &more;
        n_tokens += n_more;
    }
    text
}

/// Formats the reasons for a document, one per line.
pub fn reason_lines(related: &Related) -> String {
    let lines = related.reasons.iter().map(|reason| format!("    {}\n", visible(reason)));
    lines.collect()
}

/// Returns messages about words that were not found, each with a hint on the next line if other words
/// would find something. `about` is what the caller asked for.
pub fn notes(result: &SearchResult, about: &str) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    if !result.unknown.is_empty() {
        let words: Vec<&str> = result.unknown.iter().map(|word| word.word.as_str()).collect();
        let mut note = format!("no document contains {}", visible(&words.join(", ")));
        let similar: Vec<&str> =
            result.unknown.iter().flat_map(|word| &word.similar).map(String::as_str).collect();
        if !similar.is_empty() {
            note += &format!("\nhint: documents contain {}", visible(&similar.join(", ")));
        }
        notes.push(note);
    }
    if result.found.is_empty() {
        let mut note = format!("no document is related to {}", visible(about));
        if !result.digests.is_empty() {
            note += &format!("\nhint: all documents are listed in {}", result.digests.join(", "));
        }
        notes.push(note);
    }
    notes
}

/// Names the documents whose text does not fit, in at most `budget` tokens. Says which are not live,
/// and which are newer than the first document and may change what it says.
fn others(reader: &ProjectReader, first: &DocumentLine, rest: &[Related], budget: u64) -> String {
    let mut text = String::new();
    for related in rest.iter().take(MAX_OTHERS) {
        let title = title(&related.document);
        let name = match title.char_indices().nth(MAX_NAME) {
            Some((end, _)) => format!("{}…", title[..end].trim_end()),
            None => title,
        };
        let state = match &related.document {
            line if !line.live => format!(" ({})", line.status),
            line if is_newer(line, first) => " (newer)".to_string(),
            _ => String::new(),
        };
        let more = match text.is_empty() {
            true => format!("also: {name}{state}"),
            false => format!("{text}; {name}{state}"),
        };
        if reader.count_tokens(&more) >= budget {
            break;
        }
        text = more;
    }
    if text.is_empty() { text } else { visible(&text) + "\n" }
}

/// Maximum number of documents that are only named, and of characters of each name.
const MAX_OTHERS: usize = 4;
const MAX_NAME: usize = 60;

/// Formats a document: its path with the line of the best passage, title, status and date, then the
/// passages, after the summary if they do not contain it.
pub fn document_text(catalogue: &Catalogue, related: &Related) -> String {
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
    let mut text = format!("{}\n", visible(&head));
    let is_shown = related.passages.iter().any(|passage| {
        let start = line.summary.get(..line.summary.len().min(60)).unwrap_or(&line.summary);
        passage.text.contains(start)
    });
    if !is_shown && !line.summary.is_empty() {
        text += &format!("    {}\n", visible(&line.summary));
    }
    for passage in &related.passages {
        let section = match passage.section.as_str() {
            section if section.is_empty() || *section == line.title => String::new(),
            section => format!("{section}: "),
        };
        let mut lines = passage.text.lines().map(visible);
        let first = lines.next().unwrap_or_default();
        text += &format!("    {}: {}{first}\n", passage.line, visible(&section));
        lines.for_each(|line| text += &format!("    {line}\n"));
    }
    text
}

/// Returns the status of a document, its date and what replaced it, in words.
pub fn states(catalogue: &Catalogue, line: &DocumentLine) -> Vec<String> {
    let mut states = vec![line.status.clone()];
    states.extend(line.date.clone());
    let successors = line.replaced_by.iter().filter_map(|uri| catalogue.row(uri));
    states.extend(successors.map(|row| format!("replaced by {}", catalogue.path(row))));
    states
}

/// Formats the kind, number and title of a document.
pub fn title(line: &DocumentLine) -> String {
    match &line.number {
        Some(number) if line.kind == "document" => format!("{number}: {}", line.title),
        Some(number) => format!("{} {number}: {}", line.kind.to_uppercase(), line.title),
        None => line.title.clone(),
    }
}

/// Returns a document as JSON.
pub fn entry(catalogue: &Catalogue, related: &Related) -> serde_json::Value {
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
