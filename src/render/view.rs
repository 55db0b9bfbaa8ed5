//! The values that templates use for documents, and the cost of each level of detail.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Serialize;

use crate::model::byte_scan::prefix;
use crate::model::word::stems;
use crate::model::{Candidate, DocId, Document, Graph, Level, Status, Texts};

/// One document in a list.
#[derive(Debug, Serialize)]
pub struct Entry {
    /// Number and title, and the status if it is unusual for a live document.
    pub head: String,
    /// Link to the document from a file in `knowledge/`.
    pub link: String,
    /// The date that the document states, or an empty string.
    pub date: String,
    /// One line of text.
    pub text: String,
}

/// Documents that a list leaves out.
#[derive(Debug, Serialize)]
pub struct Hidden {
    /// Their number.
    pub count: usize,
    /// The noun for them, in singular or plural.
    pub noun: String,
    /// Their estimated tokens, with separators between thousands.
    pub tokens: String,
}

/// Returns the number, title and status of a document, as shown in lists.
pub fn head(document: &Document) -> String {
    let status = match document.status {
        Status::Accepted | Status::Implemented | Status::Unstated | Status::Recorded => {
            String::new()
        }
        Status::Unknown => format!(" [{}]", document.status_text),
        other => format!(" [{other}]"),
    };
    let number = match document.number_text.is_empty() {
        true => String::new(),
        false => format!("{} ", document.number_text),
    };
    let plan = if document.is_plan { "Plan: " } else { "" };
    format!("{number}{plan}{}{status}", document.title)
}

/// The longer texts of the documents that a budget can reach.
pub type LongerTexts = BTreeMap<DocId, Texts>;

/// Returns a document at one of the levels of a list. `longer` must contain its texts if the level is
/// above [`Level::Line`].
pub fn entry(graph: &Graph, longer: &LongerTexts, id: DocId, level: Level) -> Entry {
    let document = graph.document(id);
    let text = match level {
        Level::Title => String::new(),
        Level::Line => document.facts.line.clone(),
        Level::Brief | Level::Sections | Level::Full => {
            let texts = longer.get(&id);
            texts.expect("the caller extracted the texts that the budget reaches").brief.clone()
        }
    };
    listed(document, text)
}

/// Returns a document as an entry of a digest. Its title is the text of a link, so brackets that
/// would end the text are escaped.
pub fn linked(graph: &Graph, longer: &LongerTexts, id: DocId, level: Level) -> Entry {
    let entry = match graph.is_live(id) {
        true => entry(graph, longer, id, level),
        false => history(graph, id),
    };
    let head = match is_link_text(&entry.head) {
        true => entry.head,
        false => entry.head.replace('[', "\\[").replace(']', "\\]"),
    };
    Entry { head, ..entry }
}

/// Returns true if the brackets of a text are balanced and form no link of their own.
fn is_link_text(text: &str) -> bool {
    let mut depth = 0i32;
    let balanced = text.chars().all(|c| {
        depth += i32::from(c == '[') - i32::from(c == ']');
        (0..2).contains(&depth)
    });
    balanced && depth == 0 && !text.contains("](") && !text.contains("][")
}

/// Returns a document as an entry of a list of decisions. The number stands for the title where the
/// sentence repeats it.
pub fn decision(graph: &Graph, longer: &LongerTexts, id: DocId, level: Level) -> Entry {
    let (entry, document) = (entry(graph, longer, id, level), graph.document(id));
    if level != Level::Line {
        return entry;
    }
    let head = match line_repeats_title(document) {
        true => document.number_text.clone(),
        false => entry.head,
    };
    Entry { head, text: short_line(&entry.text).into_owned(), ..entry }
}

/// Maximum bytes of a sentence in the list of decisions. Two short sentences say more than a long
/// one, and long sentences usually begin with the decision.
const MAX_SHORT_LINE: usize = 160;

/// Cuts a sentence to at most [`MAX_SHORT_LINE`] bytes and an ellipsis: after a clause in its second
/// half, or else after a word.
fn short_line(line: &str) -> Cow<'_, str> {
    if line.len() <= MAX_SHORT_LINE {
        return Cow::Borrowed(line);
    }
    let start = prefix(line, MAX_SHORT_LINE);
    let clauses = [", ", "; ", ": ", " (", ". "];
    let clause = clauses.iter().filter_map(|end| start.rfind(end)).max();
    let clause = clause.filter(|at| *at >= MAX_SHORT_LINE / 2);
    let at = clause.or_else(|| start.rfind(' ')).unwrap_or(start.len());
    Cow::Owned(format!("{}…", &start[..at]))
}

/// Returns true if the sentence of a numbered document has all terms of its title.
fn line_repeats_title(document: &Document) -> bool {
    let (title, line) = (stems(&document.title, 64), stems(&document.facts.line, 256));
    let is_marked = head(document).ends_with(']');
    let is_repeated = title.iter().all(|stem| line.contains(stem));
    !document.number_text.is_empty() && !is_marked && is_repeated
}

/// Returns true if the sentence of a document has a term that its title does not have.
fn line_adds_to_title(document: &Document) -> bool {
    let title = stems(&document.title, 64);
    stems(&document.facts.line, 256).iter().any(|stem| !title.contains(stem))
}

fn listed(document: &Document, text: String) -> Entry {
    Entry {
        head: head(document),
        link: format!("../{}", encode_path(&document.path)),
        date: document.date.clone().unwrap_or_default(),
        text,
    }
}

/// Encodes a path as the target of a Markdown link.
fn encode_path(path: &str) -> String {
    let mut link = String::new();
    for byte in path.bytes() {
        match byte {
            b'/' | b'-' | b'.' | b'_' | b'~' => link.push(byte as char),
            _ if byte.is_ascii_alphanumeric() => link.push(byte as char),
            _ => link.push_str(&format!("%{byte:02X}")),
        }
    }
    link
}

/// Returns a document that is not live: its title and the documents that replace it.
pub fn history(graph: &Graph, id: DocId) -> Entry {
    let document = graph.document(id);
    let successors: Vec<String> =
        graph.replaced_by[id.0 as usize].iter().map(|by| head(graph.document(*by))).collect();
    let text = match (successors.is_empty(), document.status.is_live()) {
        (false, true) => format!("superseded by {}", successors.join(" and ")),
        (false, false) => format!("now {}", successors.join(" and ")),
        (true, _) => String::new(),
    };
    listed(document, text)
}

/// Returns a candidate for a digest, with the bytes that each level adds.
pub fn candidate(document: &Document, id: DocId, weight: u64, is_last: bool) -> Candidate {
    let length = |text: &str| text.len() as u64;
    let (line, brief) = (length(&document.facts.line), u64::from(document.facts.brief.len));
    let costs = [
        length(&head(document)) + length(&document.path) + 18,
        if line == 0 { 0 } else { line + 2 },
        brief.saturating_sub(line),
    ];
    Candidate { id, weight, costs, is_last }
}

/// Returns a candidate for the session's list of decisions.
pub fn decision_candidate(document: &Document, id: DocId, weight: u64, is_last: bool) -> Candidate {
    let [_, line, brief] = candidate(document, id, weight, is_last).costs;
    let line = line.min(MAX_SHORT_LINE as u64);
    let title = head(document).len() as u64 + 2;
    let line = match (line_repeats_title(document), line_adds_to_title(document)) {
        (_, false) => 0,
        (true, true) => line.saturating_sub(title).max(1),
        (false, true) => line,
    };
    Candidate { id, weight, costs: [title, line, brief], is_last }
}

/// Returns the documents that a bundle leaves out, for the `Not shown` line. `example` is one of
/// them and decides the noun.
pub fn hidden(graph: &Graph, example: DocId, count: usize, tokens: u64) -> Hidden {
    let noun = graph.collections[graph.document(example).collection].kind.noun();
    let noun = if count == 1 { noun.to_string() } else { format!("{noun}s") };
    Hidden { count, noun, tokens: thousands(rounded(tokens)) }
}

/// Rounds an estimate to three digits, so that artifacts do not change with every edit.
pub fn rounded(number: u64) -> u64 {
    let mut unit = 1;
    while number / unit >= 1_000 {
        unit *= 10;
    }
    (number + unit / 2) / unit * unit
}

/// Formats `9140` as `9,140`.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
