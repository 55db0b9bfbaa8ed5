//! Maps the status words that documents use to [`Status`].

use std::borrow::Cow;

use super::Status;

/// Words and phrases with their status. If one phrase starts with another, the longer one is first.
const WORDS: &[(&str, Status)] = &[
    ("partially superseded", Status::Accepted),
    ("partly superseded", Status::Accepted),
    ("partially implemented", Status::Active),
    ("not accepted", Status::Rejected),
    ("not implemented", Status::Accepted),
    ("not started", Status::Draft),
    ("in progress", Status::Active),
    ("in review", Status::Proposed),
    ("under review", Status::Proposed),
    ("active review", Status::Proposed),
    ("awaiting review", Status::Proposed),
    ("scheduled for review", Status::Proposed),
    ("ready for review", Status::Proposed),
    ("last call", Status::Proposed),
    ("final comment", Status::Proposed),
    ("returned for revision", Status::Paused),
    ("on hold", Status::Paused),
    ("work in progress", Status::Active),
    ("wip", Status::Active),
    ("in development", Status::Active),
    ("under discussion", Status::Proposed),
    ("for discussion", Status::Proposed),
    ("to be decided", Status::Draft),
    ("reverted", Status::Rejected),
    ("draft", Status::Draft),
    ("idea", Status::Draft),
    ("concept", Status::Draft),
    ("planned", Status::Draft),
    ("planning", Status::Draft),
    ("todo", Status::Draft),
    ("to do", Status::Draft),
    ("proposed", Status::Proposed),
    ("proposal", Status::Proposed),
    ("provisional", Status::Proposed),
    ("pending", Status::Proposed),
    ("review", Status::Proposed),
    ("submitted", Status::Proposed),
    ("requested", Status::Proposed),
    ("candidate", Status::Proposed),
    ("discussion", Status::Proposed),
    ("experimental", Status::Proposed),
    ("trial", Status::Proposed),
    ("unreviewed", Status::Proposed),
    ("active", Status::Active),
    ("ongoing", Status::Active),
    ("living", Status::Active),
    ("open", Status::Active),
    ("current", Status::Active),
    ("started", Status::Active),
    ("implementing", Status::Active),
    ("previewing", Status::Active),
    ("accepted", Status::Accepted),
    ("approved", Status::Accepted),
    ("adopted", Status::Accepted),
    ("agreed", Status::Accepted),
    ("ratified", Status::Accepted),
    ("decided", Status::Accepted),
    ("implementable", Status::Accepted),
    ("recommended", Status::Accepted),
    ("mandatory", Status::Accepted),
    ("optional", Status::Accepted),
    ("merged", Status::Accepted),
    ("valid", Status::Accepted),
    ("enforced", Status::Accepted),
    ("implemented", Status::Implemented),
    ("impl", Status::Implemented),
    ("implementation", Status::Implemented),
    ("final", Status::Implemented),
    ("finalized", Status::Implemented),
    ("released", Status::Implemented),
    ("shipped", Status::Implemented),
    ("deployed", Status::Implemented),
    ("standard", Status::Implemented),
    ("stable", Status::Implemented),
    ("done", Status::Implemented),
    ("complete", Status::Implemented),
    ("completed", Status::Implemented),
    ("finished", Status::Implemented),
    ("resolved", Status::Implemented),
    ("closed", Status::Implemented),
    ("published", Status::Implemented),
    ("pub", Status::Implemented),
    ("answered", Status::Implemented),
    ("recorded", Status::Recorded),
    ("converged", Status::Recorded),
    ("informational", Status::Recorded),
    ("archived", Status::Deprecated),
    ("stagnant", Status::Paused),
    ("stalled", Status::Paused),
    ("deferred", Status::Paused),
    ("postponed", Status::Paused),
    ("paused", Status::Paused),
    ("dormant", Status::Paused),
    ("inactive", Status::Paused),
    ("expired", Status::Rejected),
    ("withdrawn", Status::Rejected),
    ("rejected", Status::Rejected),
    ("declined", Status::Rejected),
    ("abandoned", Status::Rejected),
    ("cancelled", Status::Rejected),
    ("canceled", Status::Rejected),
    ("dropped", Status::Rejected),
    ("unimplemented", Status::Accepted),
    ("retired", Status::Deprecated),
    ("deprecated", Status::Deprecated),
    ("removed", Status::Deprecated),
    ("obsolete", Status::Superseded),
    ("obsoleted", Status::Superseded),
    ("superseded", Status::Superseded),
    ("superceded", Status::Superseded),
    ("supersceded", Status::Superseded),
    ("super", Status::Superseded),
    ("replaced", Status::Superseded),
    ("subsumed", Status::Superseded),
    ("moved", Status::Moved),
];

/// Returns the status of the first known word or phrase in a text, such as `Accepted (2024)`.
///
/// "superseded by" anywhere in the text wins over an earlier word.
pub fn fold(raw: &str) -> Option<Status> {
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
        WORDS.iter().find(|(phrase, _)| matches(phrase)).map(|(_, status)| *status)
    })
}

/// Returns true if `words` begin with the words of `phrase`.
fn begins(words: &[&str], phrase: &str) -> bool {
    let mut words = words.iter();
    phrase.split(' ').all(|part| words.next() == Some(&part))
}

/// Removes struck-out text: `~~Accepted~~ Rejected` gives ` Rejected`.
fn without_struck(raw: &str) -> Cow<'_, str> {
    if !raw.contains("~~") {
        return Cow::Borrowed(raw);
    }
    Cow::Owned(raw.split("~~").step_by(2).collect())
}

/// Returns the status of a letter in a file name such as `0016-D-slug.md`.
pub fn letter(letter: char) -> Option<Status> {
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
            assert_eq!(fold(raw), Some(expected), "{raw}");
        }
        assert_eq!(fold("purple"), None);
        assert_eq!(fold(""), None);
    }
}
