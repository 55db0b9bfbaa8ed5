//! The title, freed of its number and its type.

use super::Page;
use super::body::is_generic;
use super::text::plain;
use crate::model::{Label, Number};

/// Words that open a title only to say what kind of document it is.
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

/// The title from metadata or the first telling heading, and the id it carries.
pub(super) fn title(page: &Page<'_>) -> (Option<String>, Option<Label>) {
    let field = page.fields.iter().find(|field| field.key == "title");
    let stated = field.and_then(|field| field.items.first()).map(|value| plain(value));
    let heading = page.body.headings.iter().take(2).find(|heading| !is_generic(&heading.title));
    // A heading far down is a section of a document that has no title.
    let heading = heading.filter(|heading| heading.level <= 2 || heading.start < page.start + 200);
    let heading =
        heading.filter(|heading| heading.level == 1 || !page.fields.iter().any(|f| f.front));
    let (heading_title, label) = match heading {
        Some(heading) => split(&clean(&heading.title)),
        None => (String::new(), None),
    };
    match stated.map(|stated| split(&clean(&stated))) {
        Some((title, own)) if !title.is_empty() => (Some(title), own.or(label)),
        _ => ((!heading_title.is_empty()).then_some(heading_title), label),
    }
}

/// One line, single spaces, no trailing heading attributes or marks.
fn clean(title: &str) -> String {
    let words: Vec<&str> = title.split_whitespace().collect();
    words.join(" ").trim_matches(['*', ' ']).trim_end_matches('#').trim().to_string()
}

/// Takes a leading id or kind off a title: `RFC 0016: X`, `12. X`, `Spike: X`.
pub(super) fn split(title: &str) -> (String, Option<Label>) {
    let bare = title.trim_start_matches(['[', '(']);
    if let Some((label, rest)) = leading_id(bare) {
        return (rest, label);
    }
    for kind in KINDS {
        let Some(head) = title.get(..kind.len()) else { continue };
        let rest = &title[kind.len()..];
        if head.eq_ignore_ascii_case(kind) && rest.trim_start().starts_with([':', '—', '–']) {
            let rest = rest.trim_start_matches([' ', ':', '—', '–']).trim();
            if !rest.is_empty() {
                return (rest.to_string(), None);
            }
        }
    }
    (title.to_string(), None)
}

/// Splits `RFC 0016: X`, `ADR-12 - X` and `12. X`; the label is absent for a bare number.
fn leading_id(title: &str) -> Option<(Option<Label>, String)> {
    let word_end = title.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(title.len());
    let word = &title[..word_end];
    let digits = title[word_end..].trim_start_matches([' ', '-', '#', '_']);
    let n_digits = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    if n_digits == 0 || n_digits > 6 {
        return None;
    }
    let known = KINDS.iter().any(|kind| kind.eq_ignore_ascii_case(word));
    let series = word.len() >= 2 && (known || word.bytes().all(|b| b.is_ascii_uppercase()));
    if !word.is_empty() && !series {
        return None;
    }
    let rest = &digits[n_digits..];
    let rest = rest.strip_prefix([']', ')']).unwrap_or(rest);
    let marked = rest.trim_start().starts_with([':', '.', '-', '–', '—', ')', '|']);
    let text = rest.trim_start_matches([' ', ':', '.', '-', '–', '—', ')', '|']).trim();
    // `3D rendering` and `2.0 release` are titles; `ADR 12` alone has no title to keep.
    let follows_digit = text.starts_with(|c: char| c.is_ascii_digit()) && rest.starts_with('.');
    let usable =
        !text.is_empty() && !follows_digit && (marked || (series && rest.starts_with(' ')));
    usable.then(|| {
        let number = Number::new(&digits[..n_digits]);
        let label =
            number.filter(|_| series).map(|number| Label { series: word.to_lowercase(), number });
        (label, text.to_string())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_and_kind_are_taken_off_a_title() {
        for (title, expected) in [
            ("RFC 0016: Context Injection", "Context Injection"),
            ("ADR-0012: Use X", "Use X"),
            ("12. Use X", "Use X"),
            ("Spike: Docs Path", "Docs Path"),
            ("Dialogue 2036: Test", "Test"),
            ("ADR 5 — Use X", "Use X"),
            ("[ADR-7] Use X", "Use X"),
            ("Architecture Decision Record: Use ADRs", "Use ADRs"),
            ("3D rendering", "3D rendering"),
            ("2.0 release", "2.0 release"),
            ("Swift 6: migration", "Swift 6: migration"),
            ("Use Markdown", "Use Markdown"),
            ("RFC 16", "RFC 16"),
        ] {
            assert_eq!(split(title).0, expected);
        }
        assert_eq!(split("RFC 0016: X").1.map(|label| label.series).as_deref(), Some("rfc"));
    }
}
