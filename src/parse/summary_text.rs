//! Recognises texts that summarise nothing, and joins the items of a list to a sentence.

use std::sync::LazyLock;

use super::header_fields::{is_known, key_and_value};
use super::plain_text::first_sentence;
use super::section_names::is_section_name;
use crate::model::rules;

/// Maximum number of items in a summary.
const MAX_ITEMS: usize = 3;

/// Starts of notices about a document and of instructions to its author.
static NOTICES: LazyLock<Vec<String>> =
    LazyLock::new(|| rules::phrases(include_str!("rules/notices.txt")));

/// Labels in front of a statement that are not section names.
static LABELS: LazyLock<Vec<String>> =
    LazyLock::new(|| rules::phrases(include_str!("rules/summary_labels.txt")));

/// Phrases of sentences about the text itself.
static ABOUT_TEXT: LazyLock<Vec<String>> =
    LazyLock::new(|| rules::phrases(include_str!("rules/about_text.txt")));

/// Keys of lines with a value that summarises a document, best first.
static STATED_KEYS: LazyLock<Vec<&str>> =
    LazyLock::new(|| rules::entries(include_str!("rules/stated_keys.txt")).collect());

/// Returns true if a text has at least `n` words.
pub(super) fn has_words(text: &str, n: usize) -> bool {
    let words = text.split_whitespace().filter(|word| word.chars().any(char::is_alphanumeric));
    words.take(n).count() == n
}

/// Returns true if a plain text is a notice, a placeholder, or tags in code spans.
pub(super) fn is_noise(text: &str) -> bool {
    let text = text.trim();
    let start: String = text.chars().take(32).flat_map(char::to_lowercase).collect();
    let is_placeholder = text.starts_with(['{', '<', '|'])
        || text.starts_with('[') && text.ends_with(']')
        || text.starts_with('(') && text.ends_with(')');
    let is_tags = text.starts_with('`')
        && text.split('`').step_by(2).all(|gap| gap.trim_matches([' ', ',']).is_empty());
    let is_link = !text.contains(' ') && text.contains("://");
    !text.chars().any(char::is_alphanumeric)
        || is_placeholder
        || is_tags
        || is_link
        || is_section_name(text)
        || NOTICES.iter().any(|notice| start.starts_with(notice.as_str()))
        || is_command(text)
}

/// Returns true for a command of Doxygen: `\page name Title`.
fn is_command(text: &str) -> bool {
    let command = text.strip_prefix(['\\', '@']).and_then(|text| text.split(' ').next());
    command.is_some_and(|name| matches!(name, "page" | "mainpage" | "tableofcontents" | "file"))
}

/// Returns true if a sentence says only in which state the text is: `This is a draft.`, `This
/// document is a work in progress and subject to change.`
pub(super) fn is_about_text(sentence: &str) -> bool {
    let lower = sentence.to_lowercase();
    ABOUT_TEXT.iter().any(|phrase| match phrase.split_once('*') {
        Some((start, end)) => lower.starts_with(start) && lower.contains(end),
        None => lower.contains(phrase.as_str()),
    })
}

/// Returns true if a paragraph in Markdown consists of header fields, or is a heading in bold or an
/// instruction to authors in italics.
pub(super) fn is_metadata(raw: &str) -> bool {
    let is_field = |line: &str| {
        key_and_value(line).is_some_and(|(key, _)| {
            let is_marked = line.trim_start().starts_with(['*', '_', '-']);
            is_known(&key) || is_marked && key.split(' ').count() <= 2 && !is_section_name(&key)
        })
    };
    let sign = raw.as_bytes().first().filter(|sign| matches!(sign, b'*' | b'_'));
    let in_italics = sign.is_some_and(|sign| {
        raw.len() > 2
            && raw.as_bytes()[1] != *sign
            && raw.as_bytes()[raw.len() - 1] == *sign
            && !raw[1..raw.len() - 1].contains(*sign as char)
    });
    // A line in bold is a heading.
    let bold = raw.strip_prefix("**").and_then(|raw| raw.strip_suffix("**"));
    let is_heading = bold.is_some_and(|text| !text.contains("**") && !text.ends_with(['.', '!']));
    in_italics || is_heading || is_person_field(raw) || raw.lines().take(3).all(is_field)
}

/// Returns true for a field about people that has a longer key: `Author of the first draft: Ada`.
fn is_person_field(raw: &str) -> bool {
    let lower: String = raw.chars().take(16).flat_map(char::to_lowercase).collect();
    let starts = ["author of ", "authors of ", "author(s)", "contact:", "contacts:", "drivers:"];
    starts.iter().any(|start| lower.starts_with(start)) && key_and_value(raw).is_some()
}

/// Returns the value of the field that summarises a document, of several on lines of their own.
pub(super) fn stated_in_lines(raw: &str) -> Option<String> {
    if !raw.starts_with('*') {
        return None;
    }
    let mut fields = raw.lines().map(|line| key_and_value(line).filter(|_| line.starts_with('*')));
    let fields: Option<Vec<(String, String)>> = fields.by_ref().take(12).collect();
    let fields = fields.filter(|fields| fields.len() > 1)?;
    let stated = STATED_KEYS.iter().find_map(|key| fields.iter().find(|(name, _)| name == key))?;
    Some(stated.1.clone())
}

/// Removes a label in front of a statement: `Summary: We use X.`
pub(super) fn without_label(text: &str) -> &str {
    let Some((label, rest)) = text.split_once(':').filter(|(label, _)| label.len() <= 40) else {
        return text;
    };
    let is_label = is_section_name(label) || LABELS.iter().any(|l| l.eq_ignore_ascii_case(label));
    match is_label && rest.starts_with(' ') && !rest.trim().is_empty() {
        true => rest.trim_start(),
        false => text,
    }
}

/// Returns true if a text introduces the text or the list after it.
pub(super) fn is_introduction(text: &str) -> bool {
    let bare = text.trim_end_matches([',', '.', ' ']);
    let ends = ["because", "since", "therefore", "as follows", "that", "following", "to"];
    let last = |end: &str| {
        let at = bare.len().checked_sub(end.len());
        at.and_then(|at| bare.split_at_checked(at)).is_some_and(|(head, tail)| {
            tail.eq_ignore_ascii_case(end) && (head.is_empty() || head.ends_with(' '))
        })
    };
    let names_list = || {
        let lower = text.to_lowercase();
        lower.contains("the following ") && first_sentence(text).len() == text.len()
    };
    text.ends_with([':', '：'])
        || !has_words(text, 4)
        || ends.iter().any(|end| last(end))
        || names_list()
}

/// Joins the first sentences of the first items to one sentence.
pub(super) fn join_items(items: impl Iterator<Item = String>) -> String {
    let sentences = items.take(MAX_ITEMS).map(|item| {
        let sentence = first_sentence(&item);
        sentence.trim_end_matches(['.', ';', ',', ':', ' ']).to_string()
    });
    let texts: Vec<String> = sentences.filter(|text| !text.is_empty()).collect();
    let joined = texts.join("; ");
    if joined.is_empty() || joined.ends_with(['!', '?']) { joined } else { joined + "." }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notices_and_placeholders_are_noise() {
        for text in ["`draft` `optional`", "Note: see below", "{summary}", "Summary", "https://a.b"]
        {
            assert!(is_noise(text), "{text}");
        }
        assert!(is_noise("\\page queues Queues") && !is_noise("@ada wrote the parser."));
        assert!(is_about_text("This is a draft.") && !is_about_text("A draft is stored first."));
        assert!(is_metadata("Authors of the first draft: Ada, Bo"));
        assert!(!is_noise("`kind` is added to every event."));
        assert!(is_metadata("**Author:** Ada\n**Date:** 2020-01-02"));
        assert!(is_metadata("_Describe the problem here._"));
        assert!(!is_metadata("_Always_ use the _new_ parser."));
    }

    #[test]
    fn items_become_one_sentence() {
        let items = ["Use the queue. It is fast.", "Drop Y;", ""].map(str::to_string);
        assert_eq!(join_items(items.into_iter()), "Use the queue; Drop Y.");
        assert!(is_introduction("We will:") && is_introduction("Chosen, because"));
        assert!(!is_introduction("We will use the new parser."));
        assert_eq!(without_label("Summary: we use X."), "we use X.");
    }
}
