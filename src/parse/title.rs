//! Finds the title of a document and removes its number and kind.

use super::status_lines::is_participle;
use super::{Page, id_mentions};
use crate::model::{Label, Number, Status, name_date, status_words};

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
    "design document",
    "design proposal",
    "dialogue",
    "eip",
    "erc",
    "kep",
    "pattern",
    "plan",
    "draft",
    "enhancement proposal",
    "feature proposal",
    "prd",
    "proposal",
    "request for comments",
    "rfc",
    "spike",
    "tech spec",
    "technical design",
    "title",
    "wip",
];

/// Returns the id in the title field or the first heading: `title: SIP-27 - X`, `# NIP-01`,
/// `# RFC 0016: X`.
pub(super) fn label(page: &Page<'_>) -> Option<Label> {
    let field = page.fields.iter().find(|field| field.key == "title" && field.outside_markdown);
    let in_field = field.and_then(|field| leading_id(field.items.first()?));
    if let Some(label) = in_field.filter(|id| id.marked).and_then(|id| id.label) {
        return Some(label);
    }
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
    let is_whole = |mention: id_mentions::Mention| {
        mention.offset == 0 && title[mention.end..].trim_matches([':', ' ', '.']).is_empty()
    };
    found.len() == 1 && is_whole(found.remove(0))
}

/// Removes a leading id or kind from a title: `RFC 0016: X`, `12. X`, `Spike: X`, `[RFC] X`. An id
/// is removed only if its series is a kind of document or its number is the document's own, so
/// `PUSH0 opcode` stays.
pub(super) fn stripped(title: &str, number: Option<&Number>) -> String {
    let title = status_mark(title).map_or(title, |(_, rest)| rest);
    let title = without_date(title);
    let bare = title.trim_start_matches(['[', '(', '#']);
    if let Some(id) = leading_id(bare) {
        let names_kind = id.label.as_ref().is_some_and(|label| is_kind(&label.series));
        let is_own = number == Some(&id.number);
        // `3. Networking` is numbered, even if 3 is not the document's number.
        if id.marked && (names_kind || is_own) || is_own && (id.spaced || id.padded) || id.listed {
            return id.rest;
        }
    }
    if let Some(rest) = number.and_then(|number| after_own_id(bare, number)) {
        return rest.to_string();
    }
    after_placeholder(bare).or_else(|| after_kind(title)).unwrap_or(title).to_string()
}

/// Returns the text after an id whose number is not assigned yet: `SIP-NN - X`, `RFC-NNNN: X`.
fn after_placeholder(title: &str) -> Option<&str> {
    let n_letters = title.bytes().take_while(u8::is_ascii_uppercase).count();
    let place = title[n_letters..].strip_prefix(['-', ' '])?;
    let n_place = place.bytes().take_while(|b| matches!(b, b'N' | b'X' | b'?')).count();
    let rest = place[n_place..].strip_prefix([' ', ':', ']', ')'])?;
    let rest = rest.trim_start_matches([' ', ':', '-', '–', '—']);
    let is_id = (2..=6).contains(&n_letters) && n_place >= 2;
    (is_id && !rest.is_empty()).then_some(rest)
}

/// Splits a title into a mark that the document is not in force and the rest: `[DEPRECATED] X`,
/// `SUPERSEDED X`, `Withdrawn: X`, `X (rejected)`. In square brackets, any status is a mark:
/// `[Accepted] X`.
pub(super) fn status_mark(title: &str) -> Option<(&str, &str)> {
    let title = title.trim();
    let is_mark = |text: &str| {
        let is_dead = |status: Status| !status.is_live() && status != Status::Paused;
        text.split_whitespace().count() <= 2
            && status_words::begins_with_status(text)
            && status_words::parse(text).is_some_and(is_dead)
    };
    let enclosed = |open: char, close: char| {
        let at_start = title.strip_prefix(open).and_then(|inner| inner.split_once(close));
        let at_end = || {
            let (rest, mark) = title.strip_suffix(close)?.rsplit_once(open)?;
            Some((mark, rest))
        };
        at_start.filter(|(mark, _)| is_mark(mark) || is_participle(mark)).or_else(at_end)
    };
    let before_colon = || {
        let split = title.split_once(": ").or_else(|| title.split_once(" - "));
        split.filter(|(mark, _)| !mark.contains(' '))
    };
    // A word in capitals stands out of the title.
    let in_capitals = || {
        let (word, rest) = title.split_once(' ')?;
        let is_capital = word.len() > 4 && word.bytes().all(|b| b.is_ascii_uppercase());
        is_capital.then_some((word, rest))
    };
    let in_brackets = enclosed('[', ']');
    let marks = [in_brackets, enclosed('(', ')'), before_colon(), in_capitals()];
    let dead = marks.into_iter().flatten().find(|(mark, _)| is_mark(mark));
    let (mark, rest) = dead.or_else(|| in_brackets.filter(|(mark, _)| is_participle(mark)))?;
    let rest = rest.trim_matches([' ', ':', '-', '–', '—']);
    (!rest.is_empty()).then_some((mark, rest))
}

/// Removes a date at the start or end of a title: `2023-07-20 X`, `2023-07 X`, `X - 2023-07-20`.
fn without_date(title: &str) -> &str {
    let date_len = |text: &str| {
        let dashed = text.get(..10).map(|start| start.replace('/', "-"));
        let found = name_date::at_start(text).or_else(|| name_date::at_start(&dashed?));
        found.map(|found| found.length)
    };
    let is_separator = |c: char| matches!(c, ' ' | ':' | '-' | '–' | '—' | '|' | '(');
    let is_marked = |rest: &str| rest.trim_end().ends_with([':', '-', '–', '—', '|', '(']);
    let at_start = date_len(title).map(|length| &title[length..]);
    let rest = match at_start.filter(|rest| rest.starts_with(is_separator)) {
        Some(rest) => rest,
        None => {
            let bare = title.trim_end_matches(')');
            let start = bare.len().saturating_sub(10);
            match bare.split_at_checked(start) {
                // In `Release of 2023-07-20` the date is part of the title.
                Some((rest, date)) if date_len(date) == Some(10) && is_marked(rest) => rest,
                _ => title,
            }
        }
    };
    let rest = if rest.len() < title.len() { rest.trim_matches(is_separator) } else { rest };
    if rest.is_empty() { title } else { rest }
}

/// Returns the text after a kind: `Spike: X`, `[RFC] X`, `Proposal — X`.
fn after_kind(title: &str) -> Option<&str> {
    let (tag, rest) = match title.strip_prefix('[') {
        Some(tagged) => tagged.split_once(']').map(|(tag, rest)| (tag, rest.trim_start()))?,
        None => {
            let (tag, rest) = title.split_once([':', '—', '–'])?;
            (tag, rest)
        }
    };
    let tag = tag.trim();
    let rest = rest.trim_start_matches([' ', ':', '-', '—', '–']).trim();
    let names_kind = KINDS.iter().any(|kind| kind.eq_ignore_ascii_case(tag));
    (names_kind && !rest.is_empty() && !rest.starts_with('(')).then_some(rest)
}

/// Returns the text after words that end in the document's own number and a mark:
/// `Acme RFC 0016: X`, `CAP-0046-01: X`, `NIP-C7 - X`.
fn after_own_id<'a>(title: &'a str, number: &Number) -> Option<&'a str> {
    let marks = [": ", " - ", " – ", " — ", " : ", " | "];
    let (at, mark) = marks
        .iter()
        .filter_map(|mark| Some((title.find(mark)?, *mark)))
        .min_by_key(|(at, _)| *at)?;
    let (id, rest) = (title[..at].trim_end(), title[at + mark.len()..].trim());
    let n_words = id.split_whitespace().count();
    let mut starts = id.char_indices().filter(|(_, c)| c.is_ascii_hexdigit()).map(|(at, _)| at);
    let ends_in_number = starts.any(|at| {
        let before = id[..at].chars().next_back();
        before.is_none_or(|c| !c.is_alphanumeric())
            && Number::new(&id[at..]).as_ref() == Some(number)
    });
    (n_words <= 4 && id.len() <= 40 && ends_in_number && !rest.is_empty()).then_some(rest)
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
    /// True if the number has zeros in front, as in a file name: `0012-Use X`.
    padded: bool,
    /// True if the id is a number followed by a full stop and a space, as in a list, or a number
    /// with zeros in front and a colon, as copied from a template.
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
    let text = rest.trim_start_matches([' ', ':', '.', '-', '–', '—', '|', '/']).trim();
    let marked = rest.trim_start().starts_with([':', '.', '-', '–', '—', '|', '/']);
    let number = Number::new(&digits[..n_digits])?;
    // `2.0 release` and `128-bit` are words, not ids.
    let padded = n_digits >= 3 && digits.starts_with('0');
    let glued = rest.starts_with(['.', '-']) && !rest[1..].starts_with([' ', '\t']) && !padded;
    let label = series.then(|| Label { series: word.to_lowercase(), number: number.clone() });
    let spaced = rest.starts_with(' ');
    let bracketed = digits.len() - n_digits != rest.len();
    (!text.is_empty() && !glued).then(|| LeadingId {
        label,
        number,
        marked: marked || bracketed,
        spaced,
        padded,
        listed: word.is_empty()
            && (rest.starts_with(". ") || digits.starts_with("00") && rest.starts_with(':')),
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
            ("RFC-0012/Use X", "12", "Use X"),
            ("12. Use X", "12", "Use X"),
            ("012 Use Kafka", "12", "Use Kafka"),
            ("3. Networking Outline", "33", "Networking Outline"),
            ("0000: Several files", "13", "Several files"),
            ("0002-Project licences", "2", "Project licences"),
            ("2023-07-20 Plan: Search", "", "Search"),
            ("2023-07 Plan: Search", "", "Search"),
            ("2023/07/20: Search", "", "Search"),
            ("2023-07-20", "", "2023-07-20"),
            ("Search plan - 2023-07-20", "", "Search plan"),
            ("Search plan (2023-07-20)", "", "Search plan"),
            ("Release of 2023-07-20", "", "Release of 2023-07-20"),
            ("SUPERSEDED 2023-07-20 Search", "", "Search"),
            ("[Deprecated] Search", "", "Search"),
            ("Search (rejected)", "", "Search"),
            ("Rejected requests are logged", "", "Rejected requests are logged"),
            ("Deprecated features: removal", "", "Deprecated features: removal"),
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
            ("Acme RFC 0347: Proof", "347", "Proof"),
            ("Acme RFC 0728 : Proof", "728", "Proof"),
            ("CAP-0046.1: Hosts", "46.1", "Hosts"),
            ("NIP-C7 - Chats", "C7", "Chats"),
            ("ADR #12 - Use X", "12", "Use X"),
            ("ADR 12 - Use X", "12", "Use X"),
            ("[RFC] Use X", "", "Use X"),
            ("RFC: Use X", "", "Use X"),
            ("Proposal: Use X", "3", "Use X"),
            ("Title: Use X", "3", "Use X"),
            ("[Draft] Use X", "3", "Use X"),
            ("Use HTTP 2: streams", "4", "Use HTTP 2: streams"),
            ("[[nodiscard]] for types", "4", "[[nodiscard]] for types"),
            ("Use Markdown", "1", "Use Markdown"),
            ("RFC 16", "16", "RFC 16"),
        ] {
            assert_eq!(stripped(title, Number::new(own).as_ref()), expected, "{title}");
        }
    }
}
