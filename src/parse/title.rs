//! Finds the title of a document and removes its number and kind.

use super::markdown::is_generic;
use super::plain_text::plain;
use super::{Page, id_mentions};
use crate::model::{Label, Number};

/// Words at the start of a title that only name the kind of document.
const KINDS: &[&str] = &[
    "adr",
    "alignment dialogue",
    "architectural decision record",
    "architecture decision record",
    "architecture decision",
    "contract",
    "decision",
    "decision record",
    "design doc",
    "dialogue",
    "eip",
    "erc",
    "kep",
    "pattern",
    "plan",
    "prd",
    "proposal",
    "request for comments",
    "rfc",
    "spike",
];

/// Returns the title as written: from metadata, or from the first heading that can be a title.
pub(super) fn title(page: &Page<'_>) -> Option<String> {
    let field = page.fields.iter().find(|field| field.key == "title");
    let stated = field.and_then(|field| field.items.first()).map(|value| clean(&plain(value)));
    let headings = page.body.headings.iter().take(3);
    let heading =
        headings.clone().find(|heading| !is_generic(&heading.title) && !is_id(&heading.title));
    // A small heading far down is a section of a document without a title.
    let heading = heading.filter(|heading| heading.level <= 2 || heading.start < page.start + 200);
    let heading = heading.filter(|heading| {
        heading.level == 1 || !page.fields.iter().any(|field| field.outside_markdown)
    });
    let heading = heading.or_else(|| headings.clone().find(|heading| is_id(&heading.title)));
    stated
        .filter(|title| !title.is_empty())
        .or_else(|| heading.map(|heading| clean(&heading.title)))
}

/// Returns the id in the first heading: `# NIP-01`, `# RFC 0016: X`.
pub(super) fn label(page: &Page<'_>) -> Option<Label> {
    let first = page.body.headings.first()?;
    leading_id(first.title.trim_start_matches(['[', '('])).and_then(|id| id.label).or_else(|| {
        id_mentions::labels(&first.title).into_iter().next().filter(|_| is_id(&first.title))
    })
}

/// Returns true if a heading consists only of an id.
pub(super) fn is_id(title: &str) -> bool {
    if title.split_whitespace().nth(2).is_some() {
        return false;
    }
    let mut found = id_mentions::mentions(title);
    found.len() == 1 && found.remove(0).offset == 0
}

/// Returns the title on one line, with single spaces and without emphasis or trailing `#`.
fn clean(title: &str) -> String {
    let words: Vec<&str> = title.split_whitespace().collect();
    words.join(" ").trim_matches(['*', ' ']).trim_end_matches('#').trim().to_string()
}

/// Removes a leading id or kind from a title: `RFC 0016: X`, `12. X`, `Spike: X`. An id is removed
/// only if its series is a kind of document or its number is the document's own, so `PUSH0 opcode`
/// stays.
pub(super) fn stripped(title: &str, number: Option<&Number>) -> String {
    let bare = title.trim_start_matches(['[', '(']);
    if let Some(id) = leading_id(bare) {
        let names_kind = id.label.as_ref().is_some_and(|label| is_kind(&label.series));
        let is_own = number == Some(&id.number);
        // `3. Networking` is numbered, even if 3 is not the document's number.
        if id.marked && (names_kind || is_own) || is_own && id.spaced || id.listed {
            return id.rest;
        }
    }
    for kind in KINDS {
        let Some(head) = title.get(..kind.len()) else { continue };
        let rest = &title[kind.len()..];
        if head.eq_ignore_ascii_case(kind) && rest.trim_start().starts_with([':', '—', '–']) {
            let rest = rest.trim_start_matches([' ', ':', '—', '–']).trim();
            if !rest.is_empty() {
                return rest.to_string();
            }
        }
    }
    title.to_string()
}

fn is_kind(series: &str) -> bool {
    KINDS.contains(&series)
}

/// An id at the start of a title.
struct LeadingId {
    label: Option<Label>,
    number: Number,
    /// True if a colon, a full stop or a dash separates the id from the rest.
    marked: bool,
    /// True if a space separates the id from the rest.
    spaced: bool,
    /// True if the id is a number followed by a full stop and a space, as in a list.
    listed: bool,
    rest: String,
}

/// Splits `RFC 0016: X`, `ADR-12 - X` and `12. X`.
fn leading_id(title: &str) -> Option<LeadingId> {
    let word_end = title.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(title.len());
    let word = &title[..word_end];
    let digits = title[word_end..].trim_start_matches([' ', '-', '#', '_']);
    let n_digits = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    let upper = word.bytes().all(|b| b.is_ascii_uppercase());
    let series = word.len() >= 2 && (is_kind(&word.to_lowercase()) || upper);
    if n_digits == 0 || n_digits > 6 || !(word.is_empty() || series) {
        return None;
    }
    let rest = digits[n_digits..].trim_start_matches([']', ')']);
    let text = rest.trim_start_matches([' ', ':', '.', '-', '–', '—', '|']).trim();
    let marked = rest.trim_start().starts_with([':', '.', '-', '–', '—', '|']);
    let number = Number::new(&digits[..n_digits])?;
    // `2.0 release` and `128-bit` are words, not ids.
    let glued = rest.starts_with(['.', '-']) && !rest[1..].starts_with([' ', '\t']);
    let label = series.then(|| Label { series: word.to_lowercase(), number: number.clone() });
    let spaced = rest.starts_with(' ');
    let bracketed = digits.len() - n_digits != rest.len();
    (!text.is_empty() && !glued).then(|| LeadingId {
        label,
        number,
        marked: marked || bracketed,
        spaced,
        listed: word.is_empty() && rest.starts_with(". "),
        rest: text.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_and_kind_are_removed_from_a_title() {
        for (title, own, expected) in [
            ("RFC 0016: Context Injection", "16", "Context Injection"),
            ("ADR-0012: Use X", "12", "Use X"),
            ("12. Use X", "12", "Use X"),
            ("012 Use Kafka", "12", "Use Kafka"),
            ("3. Networking Outline", "33", "Networking Outline"),
            ("Spike: Docs Path", "", "Docs Path"),
            ("Dialogue 2036: Test", "", "Test"),
            ("ADR 5 — Use X", "5", "Use X"),
            ("[ADR-7] Use X", "7", "Use X"),
            ("SE-0402: Macros", "402", "Macros"),
            ("Architecture Decision Record: Use ADRs", "1", "Use ADRs"),
            ("3D rendering", "3", "3D rendering"),
            ("2.0 release", "2", "2.0 release"),
            ("128-bit Integers", "425", "128-bit Integers"),
            ("PUSH0 instruction", "3855", "PUSH0 instruction"),
            ("BLS12-377 curve", "2539", "BLS12-377 curve"),
            ("EVM64 - EOF support", "7937", "EVM64 - EOF support"),
            ("Swift 6: migration", "7", "Swift 6: migration"),
            ("Use Markdown", "1", "Use Markdown"),
            ("RFC 16", "16", "RFC 16"),
        ] {
            assert_eq!(stripped(title, Number::new(own).as_ref()), expected, "{title}");
        }
    }
}
