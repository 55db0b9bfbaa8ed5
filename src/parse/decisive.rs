//! Recognises sentences that state a decision, and sentences about the situation before it.

use std::sync::LazyLock;

use rustc_hash::FxHashSet;

use crate::model::rules;

/// Verbs with which a sentence that states a decision begins.
static IMPERATIVES: LazyLock<FxHashSet<&str>> =
    LazyLock::new(|| rules::entries(include_str!("rules/imperatives.txt")).collect());

static PROPOSAL_PHRASES: LazyLock<Vec<String>> =
    LazyLock::new(|| rules::phrases(include_str!("rules/proposal_phrases.txt")));

static DECISION_PHRASES: LazyLock<Vec<String>> =
    LazyLock::new(|| rules::phrases(include_str!("rules/decision_phrases.txt")));

static NEGATED_PHRASES: LazyLock<Vec<String>> =
    LazyLock::new(|| rules::phrases(include_str!("rules/negated_phrases.txt")));

static DEPENDENT_PHRASES: LazyLock<Vec<String>> =
    LazyLock::new(|| rules::phrases(include_str!("rules/dependent_phrases.txt")));

/// Words after `This proposal is` that say nothing of its subject.
static NOT_SUBJECTS: LazyLock<FxHashSet<&str>> =
    LazyLock::new(|| rules::entries(include_str!("rules/not_subjects.txt")).collect());

/// Words after `this` that do not refer to the sentence before.
static NOT_POINTERS: LazyLock<FxHashSet<&str>> =
    LazyLock::new(|| rules::entries(include_str!("rules/not_pointers.txt")).collect());

/// Verbs with which a document may also say something else of itself than what it proposes.
static WEAK_VERBS: LazyLock<FxHashSet<&str>> =
    LazyLock::new(|| rules::entries(include_str!("rules/weak_verbs.txt")).collect());

static PROBLEM_PHRASES: LazyLock<Vec<String>> =
    LazyLock::new(|| rules::phrases(include_str!("rules/problem_phrases.txt")));

static SITUATION_PHRASES: LazyLock<Vec<String>> =
    LazyLock::new(|| rules::phrases(include_str!("rules/situation_phrases.txt")));

/// Nouns with which a document names itself: `This proposal adds …`.
static OWN_NOUNS: LazyLock<FxHashSet<&str>> =
    LazyLock::new(|| rules::entries(include_str!("rules/own_nouns.txt")).collect());

/// Words after a word that is a noun and not a verb.
static NOT_OBJECTS: LazyLock<FxHashSet<&str>> =
    LazyLock::new(|| rules::entries(include_str!("rules/not_objects.txt")).collect());

/// Certainty with which a sentence states a proposal or a decision.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Decisiveness {
    /// It says that something is proposed or decided.
    Stated,
    /// It asks for something: `Add a queue.`
    Imperative,
    /// It may be a decision, a detail or an effect: `We will use X.`
    Likely,
    None,
}

/// Returns how a sentence states a proposal or a decision.
pub(super) fn decisiveness(sentence: &str) -> Decisiveness {
    let lower = sentence.to_lowercase();
    let about_itself = about_itself(sentence);
    let is_proposal = || has_phrase(&lower, &PROPOSAL_PHRASES) && !names_other_document(&lower);
    if is_negated(&lower) {
        Decisiveness::None
    } else if about_itself == Decisiveness::Stated || is_proposal() {
        Decisiveness::Stated
    } else if starts_with_verb(sentence) {
        Decisiveness::Imperative
    } else if has_imperative(sentence) || has_phrase(&lower, &DECISION_PHRASES) {
        Decisiveness::Likely
    } else {
        about_itself
    }
}

/// Returns true if a text in lower case has one of the phrases. One that starts with "^" has to be at
/// its start.
fn has_phrase(lower: &str, phrases: &[String]) -> bool {
    phrases.iter().any(|phrase| match phrase.strip_prefix('^') {
        Some(start) => lower.starts_with(start),
        None => lower.contains(phrase),
    })
}

/// Returns true for `We do not propose to …` and `This RFC provides no …`.
fn is_negated(lower: &str) -> bool {
    has_phrase(lower, &NEGATED_PHRASES)
}

/// Returns true if a sentence depends on another one: `It does the following.`, `This gap is closed.`
pub(super) fn is_dependent(sentence: &str) -> bool {
    let lower = sentence.to_lowercase();
    let announces = lower.contains("the following") && !lower.contains(':');
    announces || has_phrase(&lower, &DEPENDENT_PHRASES) || points_back(sentence)
}

/// Returns true if a sentence refers to a thing of another sentence: `this gap`, `such data`. The
/// document itself is none.
fn points_back(sentence: &str) -> bool {
    let mut words = sentence.split(' ').peekable();
    while let Some(word) = words.next() {
        let is_pointer =
            ["this", "these", "those", "such"].iter().any(|w| w.eq_ignore_ascii_case(word));
        let Some(next) = words.peek().filter(|_| is_pointer) else { continue };
        let noun = next.trim_matches(|c: char| !c.is_alphanumeric());
        if !is_own_noun(noun) && !NOT_POINTERS.contains(&*noun.to_lowercase()) {
            return true;
        }
    }
    false
}

/// Returns true for a noun with which a document names itself: `proposal`, `MSC`.
fn is_own_noun(noun: &str) -> bool {
    let is_acronym = (2..=5).contains(&noun.len()) && noun.bytes().all(|b| b.is_ascii_uppercase());
    is_acronym || OWN_NOUNS.contains(&*noun.to_lowercase())
}

/// Returns true for `NEP 42 proposes …`: another document proposes something.
fn names_other_document(lower: &str) -> bool {
    let Some((before, _)) = lower.split_once(" proposes") else { return false };
    let last = before.rsplit(' ').next().unwrap_or_default();
    last.ends_with(|c: char| c.is_ascii_digit())
}

/// Returns true if a sentence names a problem: `The queue does not scale.`
pub(super) fn is_problem(sentence: &str) -> bool {
    has_phrase(&sentence.to_lowercase(), &PROBLEM_PHRASES)
}

/// Returns true if a sentence describes the situation before the decision.
pub(super) fn is_situation(sentence: &str) -> bool {
    has_phrase(&sentence.to_lowercase(), &SITUATION_PHRASES)
}

/// Returns how `This proposal …` and `…, this EIP defines …` state a decision.
fn about_itself(sentence: &str) -> Decisiveness {
    let (lead, rest) = match sentence.strip_prefix("This ") {
        Some(rest) => ("", rest),
        None => sentence.split_once(", this ").unwrap_or_default(),
    };
    let is_addition =
        matches!(lead, "Additionally" | "Also" | "Furthermore" | "However" | "Moreover");
    let mut words = rest.split_whitespace();
    if is_addition || !words.next().is_some_and(is_own_noun) {
        return Decisiveness::None;
    }
    let is_adverb = |word: &&str| matches!(*word, "only" | "also" | "just");
    let is_weak = |verb: &str| base_forms(verb).any(|verb| WEAK_VERBS.contains(verb));
    let verb = words.find(|word| !is_adverb(word)).unwrap_or_default();
    // `This proposal was discussed on a list` and `is part of a series` say nothing of it.
    match verb {
        "is" if words.next().is_some_and(|word| NOT_SUBJECTS.contains(word)) => Decisiveness::None,
        "was" | "has" | "does" | "depends" | "elaborates" | "relies" => Decisiveness::None,
        "will" | "would" if words.next().is_none_or(is_weak) => Decisiveness::Likely,
        "will" | "would" => Decisiveness::Stated,
        "should" | "can" | "lets" => Decisiveness::Likely,
        _ if is_weak(verb) => Decisiveness::Likely,
        _ if verb.len() > 3 && verb.ends_with('s') || lead.is_empty() && verb.ends_with("ed") => {
            Decisiveness::Stated
        }
        _ => Decisiveness::None,
    }
}

/// Returns true if a sentence begins with a verb that asks for something or says what a document
/// does: `Add a parser`, `Adds a parser`, `Do not add parsers`. In `Support for X` and `Changes are
/// rare`, the word is a noun.
fn starts_with_verb(sentence: &str) -> bool {
    let mut words = sentence.split(' ');
    let first = words.next().filter(|word| word.starts_with(|c: char| c.is_ascii_uppercase()));
    let next = words.next().unwrap_or_default();
    let Some(first) = first.map(str::to_ascii_lowercase) else { return false };
    let is_prohibition = matches!((&*first, next), ("do", "not") | ("never", _) | ("don't", _));
    let is_object = !NOT_OBJECTS.contains(next) && !next.is_empty();
    is_prohibition || is_object && base_forms(&first).any(|verb| IMPERATIVES.contains(verb))
}

/// Returns the forms of which a verb such as `adds`, `added`, `relies` or `dropped` may be made.
fn base_forms(verb: &str) -> impl Iterator<Item = &str> {
    let ends = ["", "s", "es", "d", "ed"];
    let bare = ends.into_iter().filter_map(|end| verb.strip_suffix(end));
    let doubled = verb.strip_suffix("ed").filter(|bare| {
        let bytes = bare.as_bytes();
        bytes.len() > 2 && bytes[bytes.len() - 1] == bytes[bytes.len() - 2]
    });
    bare.chain(doubled.map(|bare| &bare[..bare.len() - 1]))
}

/// Returns true if a condition or a place comes before what a sentence asks for: `If X, add a
/// parser`, `Let's introduce the parser`.
fn has_imperative(sentence: &str) -> bool {
    const STARTS: [&str; 4] = [", ", ": ", "; ", "et's "];
    let mut rests = STARTS.iter().flat_map(|start| {
        sentence.match_indices(start).map(|(at, start)| &sentence[at + start.len()..])
    });
    rests.any(|rest| {
        let mut words = rest.split(' ');
        let verb = words.next().unwrap_or_default();
        let object = words.next().unwrap_or_default();
        let is_object =
            matches!(object, "a" | "all" | "an" | "its" | "new" | "the" | "their" | "two")
                || object.starts_with('`');
        is_object && IMPERATIVES.contains(verb)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decisions_and_context_are_distinguished() {
        for text in [
            "This proposal adds a queue.",
            "This ADR is about queues.",
            "Searches differ, this RFC only describes a frame for them.",
            "We propose to drop the queue.",
            "Add a queue for mails.",
            "The aim of this document is an overview.",
            "We have therefore settled upon D3.",
            "Adds a queue for mails.",
            "Dropped the old queue.",
            "Do not add queues.",
            "If a mail is large, add a queue for it.",
            "For mails, let's introduce the queue.",
        ] {
            assert_ne!(decisiveness(text), Decisiveness::None, "{text}");
        }
        for text in [
            "There is an error in the order proposed by ADR 7.",
            "Support for queues is missing.",
            "Use of queues is rare.",
            "The queue is slow.",
            "This proposal was discussed on a list.",
            "This RFC is part of a series.",
            "This RFC does not concern queues.",
            "This design choice was made for mails.",
            "Changes are rare.",
            "The mail is checked, sent and stored.",
            "The table is settled.",
            "The previous RFC 42 proposes new queues.",
            "We do not propose new queues.",
            "This RFC provides no queue.",
        ] {
            assert_eq!(decisiveness(text), Decisiveness::None, "{text}");
        }
        assert!(is_dependent("It adds the following.") && is_dependent("It stores mails."));
        assert!(
            is_dependent("This RFC closes this gap.") && !is_dependent("This RFC adds queues.")
        );
        assert!(!is_dependent("The following words are used: queue, mail."));
        assert!(is_situation("Many services have a queue."));
        assert!(is_situation("The team has been using queues for years."));
        assert!(!is_situation("A queue stores all mails."));
        assert!(is_problem("The queue does not scale.") && !is_problem("The queue is slow."));
    }

    #[test]
    fn verbs_are_sorted() {
        let verbs: Vec<&str> = rules::entries(include_str!("rules/imperatives.txt")).collect();
        assert!(verbs.is_sorted_by(|a, b| a < b));
    }
}
