//! Maps the status words that documents use to [`Status`].

use std::borrow::Cow;
use std::sync::LazyLock;

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

/// Returns the status of the first known word or phrase in a text, such as `Accepted (2024)`.
///
/// "superseded by" anywhere in the text wins over an earlier word.
pub fn parse(raw: &str) -> Option<Status> {
    let raw = without_struck(raw).to_lowercase();
    let words: Vec<&str> =
        raw.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let partly = words.iter().any(|word| matches!(*word, "partly" | "partially"));
    let is_superseded_by = |bigram: &[&str]| {
        matches!(bigram, ["superseded" | "superceded" | "replaced" | "obsoleted", "by"])
    };
    if !partly && words.windows(2).any(is_superseded_by) {
        return Some(Status::Superseded);
    }
    (0..words.len()).find_map(|at| {
        let matches = |phrase: &str| phrase.starts_with(words[at]) && begins(&words[at..], phrase);
        let found = PHRASES.iter().filter(|(phrase, _)| matches(phrase));
        found.max_by_key(|(phrase, _)| phrase.len()).map(|(_, status)| *status)
    })
}

/// Returns true if `words` begin with the words of `phrase`.
fn begins(words: &[&str], phrase: &str) -> bool {
    let mut words = words.iter();
    phrase.split(' ').all(|part| words.next() == Some(&part))
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
        ] {
            assert_eq!(parse(raw), Some(expected), "{raw}");
        }
        assert_eq!(parse("purple"), None);
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
}
