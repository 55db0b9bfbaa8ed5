//! Maps the status words that documents use to [`Status`].

use std::borrow::Cow;
use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use super::{Status, rules};

/// Words and phrases with their status.
static PHRASES: LazyLock<Vec<(&str, Status)>> = LazyLock::new(|| {
    let status = |name| Status::ALL.into_iter().find(|status| status.as_str() == name);
    rules::entries(include_str!("rules/status_words.txt"))
        .filter_map(|entry| {
            let (phrase, name) = entry.split_once(" = ")?;
            Some((phrase, status(name)?))
        })
        .collect()
});

/// The phrases by their first word.
static BY_FIRST_WORD: LazyLock<FxHashMap<&str, Vec<(&str, Status)>>> = LazyLock::new(|| {
    let mut by_first_word: FxHashMap<&str, Vec<(&str, Status)>> = FxHashMap::default();
    for (phrase, status) in PHRASES.iter() {
        let first = phrase.split(' ').next().unwrap_or(phrase);
        by_first_word.entry(first).or_default().push((phrase, *status));
    }
    by_first_word
});

/// Words that turn the word after them into its opposite.
const NEGATIONS: &[&str] =
    &["not", "never", "no", "non", "un", "isnt", "wasnt", "hasnt", "without", "wont", "cannot"];

/// Words that may be between a negation and the word that it negates.
const FILLERS: &[&str] =
    &["yet", "be", "been", "being", "currently", "fully", "formally", "officially", "longer"];

/// Words that make a status depend on something to come: `change when approved`.
const CONDITIONS: &[&str] =
    &["when", "once", "if", "until", "unless", "after", "before", "pending"];

/// Words that date a status to the past: `Active (previously rejected)`.
const PAST: &[&str] = &["previously", "formerly", "originally", "initially", "was", "previous"];

/// Words before a status that say that it is the later one: `Accepted, now deprecated`.
const LATER: &[&str] = &["then", "now", "later", "subsequently", "since", "but", "and", "been"];

/// Words that can follow a status. After any other word, a word such as `rejected` describes
/// something else: `Accepted (rejected options are listed below)`.
const FOLLOWERS: &[&str] = &[
    "after", "and", "as", "at", "because", "by", "due", "for", "from", "in", "on", "see", "since",
    "with",
];

/// Returns the status that a text states, such as `Accepted (2024)`.
///
/// The first known word or phrase counts, with these exceptions: the last step of
/// `Draft → Accepted` counts, "superseded by" anywhere in the text wins over an earlier word, and a
/// later part that ends a decision wins over its start: `Accepted, then withdrawn`.
pub fn parse(raw: &str) -> Option<Status> {
    let lower = without_struck(raw).to_lowercase().replace(['\'', '’'], "").replace("->", "→");
    lower.rsplit(['→', '⇒', '➜']).find_map(parse_step)
}

/// Returns true if the first word of a text, after a date, states a status.
pub fn begins_with_status(raw: &str) -> bool {
    let lower = raw.to_lowercase();
    let words = words_of(&lower);
    let is_digits = |word: &StatusWord<'_>| word.text.bytes().all(|b| b.is_ascii_digit());
    let n_digits = words.iter().take_while(|word| is_digits(word)).count();
    statuses(&words).next().is_some_and(|found| found.words.start == n_digits)
}

/// Returns true if a text lists the words to choose from, as templates do:
/// `Proposed | Accepted | Superseded`.
pub fn lists_alternatives(raw: &str) -> bool {
    let is_choice = |part: &&str| part.split_whitespace().count() <= 3 && !part.contains(':');
    let distinct = |parts: &mut dyn Iterator<Item = &str>| {
        let mut found: Vec<Status> = parts.filter(is_choice).filter_map(parse).collect();
        found.sort_unstable();
        found.dedup();
        found.len()
    };
    let trimmed = raw.trim();
    let in_brackets = trimmed.starts_with(['{', '<', '[']);
    distinct(&mut trimmed.split('|')) >= 2
        || distinct(&mut trimmed.split('/')) >= 3
        || in_brackets && distinct(&mut trimmed.split([',', '/'])) >= 2
        || {
            let lower = trimmed.to_lowercase();
            let words = words_of(&lower);
            let mut found: Vec<Status> = statuses(&words).map(|found| found.status).collect();
            found.sort_unstable();
            found.dedup();
            found.len() >= 4
        }
}

/// Returns the byte ranges of the words and phrases in a text that state a status, in order.
pub fn places(raw: &str) -> Vec<std::ops::Range<usize>> {
    let lower = raw.to_lowercase();
    // In a few scripts, letters in lower case have another length.
    let lower = if lower.len() == raw.len() { lower } else { raw.to_ascii_lowercase() };
    let words = words_of(&lower);
    let offset = |word: &StatusWord<'_>| word.text.as_ptr() as usize - lower.as_ptr() as usize;
    let range = |found: FoundStatus| {
        let last = &words[found.words.end - 1];
        offset(&words[found.words.start])..offset(last) + last.text.len()
    };
    statuses(&words).map(range).collect()
}

/// A word of a status text.
struct StatusWord<'a> {
    text: &'a str,
    /// True if punctuation separates it from the word before.
    starts_part: bool,
}

/// A status in a text.
struct FoundStatus {
    status: Status,
    /// Indexes of its words.
    words: std::ops::Range<usize>,
}

fn words_of(text: &str) -> Vec<StatusWord<'_>> {
    let mut words = Vec::new();
    let mut starts_part = true;
    for piece in text.split_inclusive(|c: char| !c.is_alphanumeric()) {
        let word = piece.trim_end_matches(|c: char| !c.is_alphanumeric());
        if !word.is_empty() {
            words.push(StatusWord { text: word, starts_part });
            starts_part = false;
        }
        let separator = &piece[word.len()..];
        starts_part |= separator.contains([',', ';', '.', '(', ')', ':', '|', '/', '`', '–', '—']);
    }
    words
}

/// Returns the status of a text without arrows.
fn parse_step(text: &str) -> Option<Status> {
    let words = words_of(text);
    let text_of = |at: usize| words.get(at).map_or("", |word| word.text);
    let partly = words.iter().any(|word| matches!(word.text, "partly" | "partially" | "part"));
    let is_superseded_by = |at: usize| {
        matches!(text_of(at), "superseded" | "superceded" | "replaced" | "obsoleted")
            && text_of(at + 1) == "by"
            && !matches!(text_of(at + 2), "none" | "nothing" | "n" | "na" | "tbd")
            && negation(&words, at).is_none()
    };
    if !partly && (0..words.len()).any(is_superseded_by) {
        return Some(Status::Superseded);
    }
    let mut found: Vec<FoundStatus> = statuses(&words).collect();
    // "Closed" says how a decision ended only if no other word does: `Closed (implemented)`.
    if found.len() > 1 {
        let says_more = |found: &FoundStatus| text_of(found.words.start) != "closed";
        if found.iter().any(says_more) {
            found.retain(says_more);
        }
    }
    let mut found = found.into_iter();
    let first = found.next()?;
    // In `Draft-Accepted` and `Proposal rejected`, the first word names what was decided about.
    let decided = found.as_slice().first().filter(|next| {
        let is_decision = matches!(next.status, Status::Accepted | Status::Rejected);
        next.words.start == first.words.end
            && !words[next.words.start].starts_part
            && text_of(next.words.start).ends_with("ed")
            && is_decision
            && matches!(first.status, Status::Draft | Status::Proposed)
    });
    let first = decided.map_or(first.status, |decided| decided.status);
    let ends_decision = |later: &FoundStatus| {
        let at = later.words.start;
        let is_linked = words[at].starts_part || LATER.contains(&text_of(at - 1));
        let next = text_of(later.words.end);
        let is_end = next.is_empty()
            || next.starts_with(|c: char| c.is_ascii_digit())
            || words[later.words.end].starts_part
            || FOLLOWERS.contains(&next);
        // "superseded by" was considered above.
        let names_nothing = later.status == Status::Superseded && next == "by";
        let is_dead = !later.status.is_live() && later.status != Status::Moved;
        is_dead && is_linked && is_end && !names_nothing && !partly
    };
    let later = found.find(ends_decision).filter(|_| first.is_live());
    Some(later.map_or(first, |later| later.status))
}

/// Returns the statuses that the words state, in order. A negated word does not state its opposite.
fn statuses(words: &[StatusWord<'_>]) -> impl Iterator<Item = FoundStatus> {
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < words.len() {
            let first = words[at].text;
            let candidates = BY_FIRST_WORD.get(first).into_iter().flatten();
            let matching = candidates.filter(|(phrase, _)| begins(&words[at..], phrase));
            let Some((phrase, status)) = matching.max_by_key(|(phrase, _)| phrase.len()) else {
                at += 1;
                continue;
            };
            let range = at..at + phrase.split(' ').count();
            at = range.end;
            let before = words.get(range.start.wrapping_sub(1)).map_or("", |word| word.text);
            match negation(words, range.start) {
                _ if PAST.contains(&before) || CONDITIONS.contains(&before) => {}
                None => return Some(FoundStatus { status: *status, words: range }),
                Some("longer") if status.is_live() => {
                    return Some(FoundStatus { status: Status::Deprecated, words: range });
                }
                Some("yet") if status.is_live() => {
                    return Some(FoundStatus { status: Status::Proposed, words: range });
                }
                Some(_) => {}
            }
        }
        None
    })
}

/// Returns the negation before a word: `longer` for "no longer", `yet` for "not yet", otherwise the
/// negating word itself.
fn negation<'a>(words: &[StatusWord<'a>], at: usize) -> Option<&'a str> {
    let mut kind = None;
    for word in words[..at].iter().rev().take(4) {
        if NEGATIONS.contains(&word.text) {
            return Some(kind.unwrap_or(word.text));
        }
        if !FILLERS.contains(&word.text) {
            return None;
        }
        if matches!(word.text, "longer" | "yet") {
            kind = Some(word.text);
        }
    }
    None
}

/// Returns true if `words` begin with the words of `phrase`.
fn begins(words: &[StatusWord<'_>], phrase: &str) -> bool {
    let mut words = words.iter();
    phrase.split(' ').all(|part| words.next().is_some_and(|word| word.text == part))
}

/// Removes struck-out text: `~~Accepted~~ Rejected` gives `Rejected`.
fn without_struck(raw: &str) -> Cow<'_, str> {
    if !raw.contains("~~") {
        return Cow::Borrowed(raw);
    }
    Cow::Owned(raw.split("~~").step_by(2).collect())
}

/// Returns the status of a letter in a file name such as `0016-D-slug.md`.
pub fn parse_letter(letter: char) -> Option<Status> {
    match letter {
        'D' => Some(Status::Draft),
        'A' => Some(Status::Accepted),
        'I' => Some(Status::Implemented),
        'S' => Some(Status::Superseded),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decorated_statuses_map_to_the_first_known_word() {
        for (raw, expected) in [
            ("**Implemented (Swift 5.5)**", Status::Implemented),
            ("[ADOPTED](/README.md#adopted)", Status::Accepted),
            ("ACCEPTED Partially Implemented", Status::Accepted),
            ("Superseded by [x](y)", Status::Superseded),
            ("Accepted, superseded by 12", Status::Superseded),
            ("Partly superseded", Status::Accepted),
            ("Converged ✅ (100%)", Status::Recorded),
            ("in-progress", Status::Active),
            ("Last Call", Status::Proposed),
            ("on hold", Status::Paused),
            ("superceded", Status::Superseded),
            ("Active Review (May 1...8)", Status::Proposed),
            ("Returned for Revision", Status::Paused),
            ("~~Accepted~~ Rejected", Status::Rejected),
            ("Not Accepted", Status::Rejected),
            ("To Do", Status::Draft),
            ("✅ Accepted", Status::Accepted),
            ("Draft → In Review → Accepted", Status::Accepted),
            ("Proposed -> Rejected", Status::Rejected),
            ("Accepted, then withdrawn", Status::Rejected),
            ("Accepted (deprecated since v3)", Status::Deprecated),
            ("Accepted (rejected options are listed below)", Status::Accepted),
            ("draft, unrecommended", Status::Deprecated),
            ("Active (previously rejected)", Status::Active),
            ("Accepted, superseded by: none", Status::Accepted),
            ("Won’t do", Status::Rejected),
            ("Ready for sign-off", Status::Proposed),
            ("Ready for implementation", Status::Accepted),
            ("Implementation in progress", Status::Active),
            ("Draft-Accepted", Status::Accepted),
            ("Proposal rejected", Status::Rejected),
            ("Proposed, accepted options are listed below", Status::Proposed),
            ("Closed", Status::Rejected),
            ("Closed (implemented)", Status::Implemented),
            ("Implemented, closed", Status::Implemented),
            ("Closed - won't do", Status::Rejected),
            ("Closed: superseded by 12", Status::Superseded),
            ("Open", Status::Proposed),
        ] {
            assert_eq!(parse(raw), Some(expected), "{raw}");
        }
        for unknown in ["purple", "optional", "not final", "never shipped", "supersedes 12"] {
            assert_eq!(parse(unknown), None, "{unknown}");
        }
        assert_eq!(parse(""), None);
    }

    #[test]
    fn every_phrase_of_the_rule_file_has_the_status_it_states() {
        for (phrase, status) in PHRASES.iter() {
            assert_eq!(parse(phrase), Some(*status), "{phrase}");
        }
        let n_entries = rules::entries(include_str!("rules/status_words.txt")).count();
        assert_eq!(PHRASES.len(), n_entries, "an entry is not `phrase = status`");
        let by_status = |(phrase, status): &(&'static str, Status)| (*status, *phrase);
        assert!(PHRASES.is_sorted_by(|a, b| by_status(a) < by_status(b)), "entries are not sorted");
    }

    #[test]
    fn a_negated_word_does_not_state_its_opposite() {
        for (raw, expected) in [
            ("Not implemented", Status::Accepted),
            ("Not yet accepted", Status::Proposed),
            ("Has not yet been finalized", Status::Proposed),
            ("Unimplemented", Status::Accepted),
            ("No longer recommended", Status::Deprecated),
            ("No longer in use", Status::Deprecated),
            ("Accepted, not superseded by anything", Status::Accepted),
            ("Accepted, not implemented", Status::Accepted),
        ] {
            assert_eq!(parse(raw), Some(expected), "{raw}");
        }
    }

    #[test]
    fn a_list_of_alternatives_is_recognised() {
        for template in [
            "Proposed | Accepted | Superseded",
            "{proposed | rejected | accepted | deprecated}",
            "<proposed, accepted>",
            "draft/accepted/rejected",
            "What is the status, such as proposed, accepted, rejected, deprecated, superseded?",
        ] {
            assert!(lists_alternatives(template), "{template}");
        }
        for status in [
            "Accepted",
            "[Accepted](x.md)",
            "Accepted | Date: 2020-01-02",
            "Accepted / Implemented",
            "Accepted, then implemented in 2.0",
        ] {
            assert!(!lists_alternatives(status), "{status}");
        }
    }
}
