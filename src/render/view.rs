//! The values that templates use for documents, and the cost of each level of detail.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::model::{Bundle, Candidate, DocId, Document, Graph, Level, Status, Texts};

/// One document in a list.
#[derive(Debug, Serialize)]
pub struct Entry {
    /// Number and title, and the status if it is unusual for a live document.
    pub head: String,
    /// One line of text.
    pub text: String,
    /// Further lines.
    pub more: String,
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
    /// The address at which to read them.
    pub uri: String,
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

/// Returns a document at a level of detail. `longer` must contain its texts if the level is above
/// [`Level::Line`].
pub fn entry(graph: &Graph, longer: &LongerTexts, id: DocId, level: Level) -> Entry {
    let document = graph.document(id);
    let texts = || longer.get(&id).expect("the caller extracted the texts that the budget reaches");
    let (text, more) = match level {
        Level::Title => (String::new(), String::new()),
        Level::Line => (document.facts.line.clone(), String::new()),
        level => longer_entry(texts(), document.facts.sizes.repeats, level),
    };
    Entry { head: head(document), text, more }
}

fn longer_entry(texts: &Texts, repeats: bool, level: Level) -> (String, String) {
    match level {
        Level::Title | Level::Line => unreachable!("`entry` makes these from the facts"),
        Level::Brief => (texts.brief.clone(), String::new()),
        Level::Sections if repeats => (String::new(), texts.sections.clone()),
        Level::Sections => (texts.brief.clone(), texts.sections.clone()),
        Level::Full => (String::new(), texts.full.clone()),
    }
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
    Entry { head: head(document), text, more: String::new() }
}

/// Returns a candidate for a list, with the bytes that each level adds.
pub fn candidate(graph: &Graph, id: DocId, weight: u64) -> Candidate {
    let document = graph.document(id);
    let sizes = &document.facts.sizes;
    let length = |text: &str| text.len() as u64;
    let (line, brief) = (length(&document.facts.line), u64::from(sizes.brief.len));
    let repeated = if sizes.repeats { brief } else { 0 };
    let sections = u64::from(sizes.sections.len).saturating_sub(repeated);
    let previous_levels = brief + sections;
    let costs = [
        length(&head(document)) + 3,
        if line == 0 { 0 } else { line + 2 },
        brief.saturating_sub(line),
        sections,
        u64::from(sizes.full.len).saturating_sub(previous_levels),
    ];
    Candidate { id, weight, costs, history: !graph.is_live(id) }
}

/// Returns the documents that a bundle leaves out, for the `Not shown` line. `example` is one of
/// them and decides the noun.
pub fn hidden(graph: &Graph, example: DocId, count: usize, tokens: u64, uri: &str) -> Hidden {
    let noun = graph.collections[graph.document(example).collection].kind.noun();
    let noun = if count == 1 { noun.to_string() } else { format!("{noun}s") };
    Hidden { count, noun, tokens: thousands(rounded(tokens)), uri: uri.to_string() }
}

/// Rounds an estimate to three digits, so that artifacts do not change with every edit.
pub fn rounded(number: u64) -> u64 {
    let mut unit = 1;
    while number / unit >= 1_000 {
        unit *= 10;
    }
    (number + unit / 2) / unit * unit
}

/// Returns the entries of a bundle: live documents, and history.
pub fn entries(graph: &Graph, longer: &LongerTexts, bundle: &Bundle) -> (Vec<Entry>, Vec<Entry>) {
    let live = bundle.shown.iter().filter(|(id, _)| graph.is_live(*id));
    let history_ids = bundle.shown.iter().filter(|(id, _)| !graph.is_live(*id));
    (
        live.map(|(id, level)| entry(graph, longer, *id, *level)).collect(),
        history_ids.map(|(id, _)| history(graph, *id)).collect(),
    )
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
