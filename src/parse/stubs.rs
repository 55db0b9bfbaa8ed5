//! Recognises files that only say where their document moved.

use super::header_fields::{is_known, key_and_value};
use super::{Page, id_mentions};
use crate::model::byte_scan::prefix;
use crate::model::series::known_series;
use crate::model::status_words;

/// Maximum length of such a file in bytes, and of its text in lines without headings and fields.
const MAX_BYTES: usize = 400;
const MAX_LINES: usize = 3;

/// Phrases before the new place.
const PHRASES: [&str; 4] = ["moved to", "has moved", "renamed to", "relocated to"];

/// Words that may precede the phrase. Any other subject is something that the document is about.
const SUBJECTS: [&str; 24] = [
    "this",
    "the",
    "it",
    "its",
    "note",
    "document",
    "doc",
    "page",
    "file",
    "content",
    "contents",
    "decision",
    "design",
    "proposal",
    "record",
    "spec",
    "specification",
    "text",
    "has",
    "have",
    "been",
    "was",
    "is",
    "now",
];

/// Returns true if the only text of a document says that it moved.
pub(super) fn is_stub(page: &Page<'_>) -> bool {
    let text = page.text[page.start..].trim();
    if text.len() > MAX_BYTES {
        return false;
    }
    let is_field = |line: &str| key_and_value(line).is_some_and(|(key, _)| is_known(&key));
    let is_heading = |line: &str| {
        let offset = line.as_ptr() as usize - page.text.as_ptr() as usize;
        page.body.headings.iter().any(|heading| (heading.start..heading.after).contains(&offset))
    };
    // `final` `mandatory`
    let is_tags = |line: &str| line.split('`').step_by(2).all(|gap| gap.trim().is_empty());
    let lines = text.lines().map(str::trim);
    let lines = lines
        .filter(|line| !line.is_empty() && !is_heading(line) && !is_field(line) && !is_tags(line));
    lines.clone().count() <= MAX_LINES && lines.clone().any(says_moved)
}

/// Returns true for a line such as `This document moved to [x](x.md).`
fn says_moved(line: &str) -> bool {
    let lower = line.to_lowercase();
    let found = PHRASES.iter().filter_map(|phrase| Some((lower.find(phrase)?, phrase.len())));
    let Some((at, length)) = found.min() else { return false };
    let sentence = lower[..at].rsplit([':', '!']).next().unwrap_or_default();
    let sentence = sentence.rsplit(". ").next().unwrap_or_default();
    // A name in code is that of the file.
    let is_code = |(index, _): &(usize, &str)| index % 2 == 1;
    let outside = sentence.split('`').enumerate().filter(|part| !is_code(part));
    let mut words = outside.flat_map(|(_, text)| text.split(|c: char| !c.is_alphanumeric()));
    let is_subject = |word: &str| {
        let is_number = word.bytes().all(|b| b.is_ascii_digit());
        is_number || SUBJECTS.contains(&word) || known_series(word).is_some()
    };
    // "This proposal has moved to last call" states a status.
    let place = &lower[at + length..];
    let is_address = place.contains(['/', '`']) || place.contains("](") || place.contains(".md");
    let names_place = is_address || !id_mentions::mentions(place).is_empty();
    words.all(is_subject) && (names_place || status_words::parse(prefix(place, 80)).is_none())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Source;
    use crate::model::plan::Limits;
    use crate::parse::parse;

    #[test]
    fn a_sentence_about_the_place_of_the_document_is_recognised() {
        for line in [
            "Moved to [Queues](0002-queues.md).",
            "**Note:** This ADR has been moved to ADR-12.",
            "`old.md` was renamed to `new.md`",
            "This page has moved.",
            "> This document was relocated to https://example.org/accepted/x",
        ] {
            assert!(says_moved(line), "{line}");
        }
        for line in [
            "The settings are moved to YAML.",
            "Queues have moved to `queues/`.",
            "This proposal has moved to last call.",
            "We renamed to avoid confusion.",
            "",
        ] {
            assert!(!says_moved(line), "{line}");
        }
    }

    #[test]
    fn header_fields_are_no_text_of_their_own() {
        let moved = |text: &str| {
            let source = Source::markdown(text);
            let parsed = parse(&source, &Limits::default(), &crate::guard::Allowed::default());
            parsed.facts.moved
        };
        let header = "# Queues\n\n- Status: Accepted\n- Date: 2020-01-02\n- Author: Ada\n\n";
        assert!(moved(&format!("{header}This document moved to [x](x.md).\n")));
        assert!(!moved(&format!("{header}Text.\n\nMore.\n\nEven more.\n\nMoved to [x](x.md).\n")));
        assert!(!moved(&format!("{header}Text.\n")));
        assert!(moved(
            "NIP-20\n======\n\nResults\n-------\n\n`final` `mandatory`\n\nMoved to [x](x.md).\n"
        ));
    }
}
