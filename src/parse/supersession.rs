//! Decides whether a text states that a document supersedes another one, or is superseded by it.
//!
//! A wrong supersession hides a decision that is in force. So a text counts only if it is a
//! statement and nothing limits it to a part of the other document.

use std::sync::LazyLock;

use crate::model::series::known_series;
use crate::model::{Relation, rules, status_words};

/// Words with the place where they may occur.
static WORDS: LazyLock<Vec<(&str, &str)>> = LazyLock::new(|| {
    let rows = rules::entries(include_str!("rules/supersession.txt"));
    rows.filter_map(|row| row.split_once(' ')).collect()
});

/// Longest text before a reference that can be part of a statement.
pub(super) const MAX_BEFORE: usize = 400;

/// Longest text in characters before a reference that the verb follows.
const MAX_POSTFIX_LEAD: usize = 16;

const BY: &[&str] =
    &["superseded by", "superceded by", "superseeded by", "replaced by", "obsoleted by"];
const OVER: &[&str] = &["supersedes", "supercedes", "replaces", "obsoletes"];
const PAST: &[&str] = &["superseded", "superceded", "replaced", "obsoleted", "obsolete"];

/// The place of a statement.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum StatementPlace {
    /// A header field or a section whose name states the relation.
    Named(Relation),
    /// A status field or a Status section.
    Status,
    /// A line of its own: under the title, or in a list of links.
    Line,
    /// A sentence anywhere else. It counts only if the document itself is its subject and "supersede"
    /// its verb: "replaces" is also said of parts, programs and formats.
    Prose,
}

/// Returns the relation that a text states for the reference between `before` and `after`. `before`
/// starts where the line, field or paragraph starts.
pub(super) fn stated(place: StatementPlace, before: &str, after: &str) -> Option<Relation> {
    if before.len() > MAX_BEFORE {
        return None;
    }
    let lower = before.to_lowercase();
    if matches!(place, StatementPlace::Status | StatementPlace::Line) && is_postfix(&lower, after) {
        return Some(Relation::SupersededBy);
    }
    let (relation, gap) = match place {
        StatementPlace::Named(relation) => (relation, lower.as_str()),
        StatementPlace::Status | StatementPlace::Line => phrase(place, &lower)?,
        StatementPlace::Prose => (Relation::Supersedes, prose_object(&lower)?),
    };
    (names_object(gap) && !is_limited(&lower, after)).then_some(relation)
}

/// Returns true for `ADR-5 に置き換え`: the verb follows the reference, and a few words precede it.
fn is_postfix(before: &str, after: &str) -> bool {
    let after = after.trim_start_matches(['*', '_', '`', ')', ']', '"', ' ']);
    !after.is_ascii()
        && words_at("postfix").any(|phrase| after.starts_with(phrase))
        && before.chars().count() <= MAX_POSTFIX_LEAD
        && !before.contains('。')
}

/// Returns true if a text may contain one of the phrases.
pub(super) fn has_phrase(text: &str) -> bool {
    let has = |phrase: &str| memchr::memmem::find(text.as_bytes(), phrase.as_bytes()).is_some();
    // The phrases of other languages begin with these letters, or are not ASCII.
    const STARTS: [&str; 10] = [
        "rsetzt", "emplac", "emplaz", "ustitu", "ubstitu", "ostitu", "rstatte", "rsatt ", "ervang",
        "ahrazen",
    ];
    if STARTS.into_iter().any(has)
        || !text.is_ascii() && ["by", "over", "postfix"].into_iter().flat_map(words_at).any(has)
    {
        return true;
    }
    const STEMS: [&[u8]; 5] = [b"supersed", b"superced", b"superseed", b"replace", b"obsolete"];
    let bytes = text.as_bytes();
    let is_stem_at = |at: usize| {
        STEMS.iter().any(|stem| {
            let part = bytes.get(at..at + stem.len());
            part.is_some_and(|part| part.eq_ignore_ascii_case(stem))
        })
    };
    // The third letter of the first stems and the second one of the last are not common.
    let mut with_p = memchr::memchr2_iter(b'p', b'P', bytes).filter_map(|at| at.checked_sub(2));
    let mut with_b = memchr::memchr2_iter(b'b', b'B', bytes).filter_map(|at| at.checked_sub(1));
    with_p.any(is_stem_at) || with_b.any(is_stem_at)
}

/// Finds "superseded by" or a like phrase. Returns its relation and the text after it.
fn phrase(place: StatementPlace, before: &str) -> Option<(Relation, &str)> {
    let last = |phrases: &[&'static str], foreign: &str, relation: Relation| {
        let phrases = phrases.iter().copied().chain(words_at(foreign));
        let ends = phrases.filter_map(|phrase| {
            before.rfind(phrase).map(|start| (start, start + phrase.len(), relation))
        });
        ends.max()
    };
    let found = [last(BY, "by", Relation::SupersededBy), last(OVER, "over", Relation::Supersedes)];
    // Of two phrases at the same place, the longer one counts: "ersetzt" is part of "ersetzt durch".
    if let Some((start, end, relation)) = found.into_iter().flatten().max() {
        let lead = &before[..start];
        let sentence = match place {
            StatementPlace::Line => lead,
            _ => lead.rsplit(['.', ';', '(', ',', ':', '\n', '|']).next().unwrap_or(lead),
        };
        return is_lead(sentence).then_some((relation, &before[end..]));
    }
    // "Superseded ([ADR 5](…))" names its successor without "by".
    let status = before.trim_start_matches(['-', '*', '+', ' ']);
    let status = status.strip_prefix("[x]").unwrap_or(status);
    let status = status.trim_start_matches(|c: char| !c.is_alphanumeric());
    let rest = PAST.iter().find_map(|word| status.strip_prefix(word))?;
    let rest = rest.trim_start_matches(['*', '_', ' ', '(', ':', ',', '-', '–', '—', '.', '→']);
    (place == StatementPlace::Status).then_some((Relation::SupersededBy, rest))
}

/// Words before "supersedes" in a sentence whose subject is the document.
const OWN_SUBJECT: [&str; 14] = [
    "adr",
    "also",
    "decision",
    "document",
    "formally",
    "fully",
    "hereby",
    "now",
    "one",
    "proposal",
    "record",
    "rfc",
    "therefore",
    "this",
];

/// Words before "to supersede" in a sentence that decides it.
const OWN_DECISION: [&str; 10] =
    ["agreed", "also", "chose", "decide", "decided", "have", "hereby", "so", "therefore", "we"];

/// Returns the text after the verb of a sentence such as "This decision supersedes" or "We decided to
/// supersede".
fn prose_object(before: &str) -> Option<&str> {
    let start = before.rfind(['.', ';', '!', '?', ':']).map_or(0, |at| at + 1);
    let sentence = &before[start..];
    let after = |verb: &str, subject: &str, allowed: &[&str]| {
        let at = sentence.rfind(verb)?;
        let lead = words(&sentence[..at]);
        let is_own = lead.iter().any(|word| word == subject)
            && lead.iter().all(|word| allowed.contains(&word.as_str()));
        is_own.then(|| &before[start + at + verb.len()..])
    };
    after(" supersedes ", "this", &OWN_SUBJECT)
        .or_else(|| after(" to supersede ", "we", &OWN_DECISION))
}

/// Returns true if only a subject such as "this ADR is now" precedes the phrase.
fn is_lead(sentence: &str) -> bool {
    let words = words(sentence);
    words.len() <= 10
        && words
            .iter()
            .all(|word| is_word("lead", word) || is_id(word) || status_words::parse(word).is_some())
}

/// Returns true if the reference after this text is what the statement is about: only other ids
/// and words such as "the decision" precede it.
fn names_object(gap: &str) -> bool {
    let gap = without_links(gap);
    let outside = outside_parentheses(&gap);
    let Some(outside) = outside else { return false };
    let mut segments: Vec<&str> = outside.split([',', ';', '&', '\n']).collect();
    let last = segments.pop().unwrap_or_default();
    let last = last.rsplit(" and ").next().unwrap_or(last);
    let is_part = |segment: &&str| {
        let words = words(segment);
        words.iter().any(|word| matches!(word.as_str(), "in" | "of" | "none" | "from"))
    };
    words(last).iter().all(|word| is_word("object", word) || is_id(word))
        && !segments.iter().any(is_part)
}

/// Returns true if the text says that only a part of the document is meant.
fn is_limited(before: &str, after: &str) -> bool {
    let after = after.trim_start_matches(['*', '_', '`', ')', ']', '"']);
    let clause_end = after.find([',', '.', ';', '|', '\n']).unwrap_or(after.len());
    let clause = after[..clause_end].to_lowercase();
    let clause = clause.split(" and ").next().unwrap_or_default();
    let starts_part = |text: &str| words_at("part").any(|part| text.contains(part));
    if clause.trim_start().starts_with(['\'', '’', '§'])
        || starts_part(before)
        || starts_part(clause)
    {
        return true;
    }
    let mut next = clause.split_whitespace();
    let Some(first) = next.next() else { return false };
    // "Superseded by ADR 5 in 2021" is a date, not a limit.
    let dated = matches!(first, "in" | "at" | "as" | "from")
        && next.next().is_some_and(|word| word.starts_with(|c: char| c.is_ascii_digit()));
    is_word("limit", first) && !dated
}

fn is_id(word: &str) -> bool {
    word.contains(|c: char| c.is_ascii_digit()) || known_series(word).is_some()
}

fn words_at(place: &str) -> impl Iterator<Item = &'static str> {
    WORDS.iter().filter(move |(of, _)| *of == place).map(|(_, word)| *word)
}

fn is_word(place: &str, word: &str) -> bool {
    words_at(place).any(|known| known == word)
}

/// Splits a text into words without punctuation.
fn words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| c.is_whitespace() || matches!(c, '/' | '|' | '–' | '—'));
    let words = words.map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    words.filter(|word| !word.is_empty()).map(str::to_string).collect()
}

/// Removes Markdown links with their text.
fn without_links(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find('[') {
        let Some(close) = rest[open..].find(']').map(|close| open + close) else { break };
        kept.push_str(&rest[..open]);
        rest = &rest[close + 1..];
        for (start, end) in [('(', ')'), ('[', ']')] {
            if let Some(target) = rest.strip_prefix(start) {
                rest = target.split_once(end).map_or("", |(_, rest)| rest);
            }
        }
    }
    kept.push_str(rest);
    kept
}

/// Removes text in parentheses. `None` if the text ends inside of them.
fn outside_parentheses(text: &str) -> Option<String> {
    let mut depth = 0u32;
    let mut outside = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            c if depth == 0 => outside.push(c),
            _ => {}
        }
    }
    (depth == 0).then_some(outside)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BY: Option<Relation> = Some(Relation::SupersededBy);
    const OVER: Option<Relation> = Some(Relation::Supersedes);
    const FIELD: StatementPlace = StatementPlace::Named(Relation::Supersedes);

    /// The reference is written as `@`.
    fn check(place: StatementPlace, text: &str, expected: Option<Relation>) {
        let (before, after) = text.split_once('@').expect("the text has a reference");
        assert_eq!(stated(place, before, after), expected, "{text}");
    }

    #[test]
    fn a_statement_is_recognised() {
        check(StatementPlace::Status, "Superseded by @", BY);
        check(StatementPlace::Status, "**Superseded by @**", BY);
        check(StatementPlace::Status, "Accepted, superseded by @ on 2021-02-03", BY);
        check(StatementPlace::Status, "Inactive (superseded by ADR-4 and @)", BY);
        check(StatementPlace::Status, "Superseded (see @)", BY);
        check(StatementPlace::Status, "Superseded: @", BY);
        check(StatementPlace::Status, "Accepted. Supersedes [ADR 3](3.md), @.", OVER);
        check(StatementPlace::Line, "> **Note:** This ADR has been superseded by @.", BY);
        check(StatementPlace::Line, "- Supersedes @", OVER);
        check(StatementPlace::Line, "Replaces @ and is used by all services", OVER);
        check(StatementPlace::Status, "Ersetzt durch @", BY);
        check(StatementPlace::Line, "Diese Entscheidung ersetzt @", OVER);
        check(StatementPlace::Status, "Remplacé par @", BY);
        check(StatementPlace::Status, "Erstattet av @", BY);
        check(StatementPlace::Line, "Denne ADR er erstattet af @", BY);
        check(StatementPlace::Status, "Ersatt av @", BY);
        check(StatementPlace::Line, "Ersätter @", OVER);
        check(StatementPlace::Line, "Esta decisión fue reemplazada por @.", BY);
        check(StatementPlace::Status, "已被 @ 取代", BY);
        check(StatementPlace::Line, "この ADR は @ に置き換えられました", BY);
        check(StatementPlace::Prose, "Option 2. We decided to supersede [@](1.md)", OVER);
        check(StatementPlace::Prose, "This decision therefore supersedes @ and others.", OVER);
        check(StatementPlace::Prose, "This ADR replaces @.", None);
        check(StatementPlace::Prose, "The new format supersedes @.", None);
        check(StatementPlace::Prose, "This decision supersedes the events of @.", None);
        check(StatementPlace::Prose, "We want to supersede @.", None);
        check(FIELD, "@ (Queues)", OVER);
        check(FIELD, "ADR 3: Queues, @: Topics", OVER);
        check(FIELD, "[ADR 3](3.md) and @", OVER);
        check(FIELD, "@, which was widely used for a year", OVER);
    }

    #[test]
    fn prose_and_parts_are_no_statement() {
        check(StatementPlace::Line, "This module replaces @'s events", None);
        check(StatementPlace::Line, "The old widgets were replaced by @", None);
        check(StatementPlace::Line, "This RFC describes the plan. It supersedes @", None);
        check(StatementPlace::Line, "This section supersedes @", None);
        check(StatementPlace::Line, "It supersedes @ with respect to defaults", None);
        check(StatementPlace::Status, "Accepted, may be superseded by @", None);
        check(StatementPlace::Status, "Accepted, will be replaced by @", None);
        check(StatementPlace::Status, "Accepted, partially superseded by @", None);
        check(StatementPlace::Status, "Accepted, not superseded by @", None);
        check(StatementPlace::Status, "Accepted, see @", None);
        check(StatementPlace::Line, "Die alte Warteschlange wurde ersetzt durch @", None);
        check(StatementPlace::Line, "旧的队列在去年的版本里已经不再使用。它被 @ 取代", None);
        check(FIELD, "None (extends @)", None);
        check(FIELD, "@ (the storage format only)", None);
        check(FIELD, "the greeting message in @", None);
        check(FIELD, "the greeting message in ADR 3, and @", None);
        check(FIELD, "Portions of @", None);
        check(FIELD, "@ (partially: only the queue)", None);
        check(FIELD, "@ §7 \"Detection\"", None);
        check(FIELD, "@ section 3", None);
        check(FIELD, "[ADR 3](3.md), uses ideas of @", None);
    }
}
