//! Finds a notice at the top of a document that says that it is not in force.

use super::Page;
use super::plain_text::plain;
use super::status_lines::is_participle;
use crate::model::byte_scan::prefix;
use crate::model::{Status, status_words};

/// Number of paragraphs that are searched, and the maximum length of a notice without a subject.
const MAX_PARAGRAPHS: usize = 6;
const MAX_SHORT: usize = 160;

/// A longer paragraph is cut before it is searched.
const MAX_NOTICE: usize = 1_000;

/// Words between the verb of a notice and the status.
const FILLERS: &[&str] =
    &["been", "now", "considered", "officially", "formally", "marked", "as", "currently", "a"];

/// Returns the words that end the document, with their line: `deprecated since 2.0` for "This RFC is
/// now deprecated since 2.0." Only paragraphs above the first section count.
pub(super) fn notice(page: &Page<'_>) -> Option<(String, u32)> {
    let head = page.head.clone();
    let paragraphs = page.body.paragraphs_in(&head).iter().filter(|paragraph| !paragraph.in_list);
    paragraphs.take(MAX_PARAGRAPHS).find_map(|paragraph| {
        let raw = page.text[paragraph.range.clone()].trim();
        let text = plain(prefix(raw, MAX_NOTICE));
        let is_marked = raw.starts_with(['*', '_', '~', '[']) || paragraph.in_quote;
        let words = about_document(&text).or_else(|| {
            let is_short = text.len() <= MAX_SHORT && (is_marked || is_upper(&text));
            text.split('.').next().filter(|_| is_short)
        })?;
        is_dead(words).then(|| (words.to_string(), page.lines.line(paragraph.range.start)))
    })
}

/// Returns the words that state what was decided, with their line: `accepted in May` for "This RFC
/// was accepted in May."
pub(super) fn decided_notice(page: &Page<'_>) -> Option<(String, u32)> {
    let paragraphs = page.body.paragraphs_in(&page.head).iter();
    paragraphs.filter(|paragraph| !paragraph.in_list).take(MAX_PARAGRAPHS).find_map(|paragraph| {
        let text = plain(prefix(page.text[paragraph.range.clone()].trim(), MAX_NOTICE));
        let words = about_document(&text)?;
        let first = words.split([' ', ',']).next().unwrap_or_default();
        is_participle(first).then(|| (words.to_string(), page.lines.line(paragraph.range.start)))
    })
}

/// Returns true if a text begins with words that end a decision.
fn is_dead(text: &str) -> bool {
    status_words::begins_with_status(text)
        && status_words::parse(text)
            .is_some_and(|status| !status.is_live() && status != Status::Paused || is_paused(text))
}

/// Returns true for the words for a pause that cannot describe anything but the document.
fn is_paused(text: &str) -> bool {
    let first = text.split([' ', ',', ':']).next().unwrap_or_default().to_lowercase();
    matches!(first.as_str(), "inactive" | "stagnant" | "postponed" | "deferred" | "stalled")
}

fn is_upper(text: &str) -> bool {
    let first = text.split([' ', ':', '!']).next().unwrap_or_default();
    first.len() > 3 && first.bytes().all(|b| b.is_ascii_uppercase())
}

/// Returns the words after the verb of a sentence such as "This proposal has been …".
fn about_document(text: &str) -> Option<&str> {
    let sentences = text.split(['.', ':', '!']).map(str::trim);
    sentences.filter(|sentence| starts_with_this(sentence)).find_map(|sentence| {
        let verb = [" is ", " was ", " has "]
            .iter()
            .filter_map(|verb| Some((sentence.find(verb)?, verb.len())));
        let (at, length) = verb.min()?;
        let n_nouns = sentence[..at].split_whitespace().count() - 1;
        let mut rest = sentence[at + length..].trim_start();
        while let Some((word, after)) = rest.split_once(' ')
            && FILLERS.contains(&word.to_lowercase().as_str())
        {
            rest = after.trim_start();
        }
        ((1..=2).contains(&n_nouns) && names_document(&sentence[..at])).then_some(rest)
    })
}

fn starts_with_this(sentence: &str) -> bool {
    sentence.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("this "))
}

/// Returns true if the subject of a sentence is the document: `This ADR`, `This design document`.
fn names_document(subject: &str) -> bool {
    const NOUNS: &[&str] = &[
        "decision",
        "design",
        "doc",
        "document",
        "enhancement",
        "page",
        "proposal",
        "record",
        "spec",
        "specification",
        "standard",
    ];
    let noun = subject.rsplit(' ').next().unwrap_or_default();
    let is_acronym = (2..=5).contains(&noun.len()) && noun.bytes().all(|b| b.is_ascii_uppercase());
    is_acronym || NOUNS.contains(&noun.to_lowercase().as_str())
}
