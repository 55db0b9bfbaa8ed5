//! Recognises sentences that state a decision, and sentences about the situation before it.

use std::sync::LazyLock;

use rustc_hash::FxHashSet;

use crate::model::rules;

/// Verbs with which a sentence that states a decision begins.
static IMPERATIVES: LazyLock<FxHashSet<&str>> =
    LazyLock::new(|| rules::entries(include_str!("rules/imperatives.txt")).collect());

static DECISION_PHRASES: LazyLock<Vec<String>> =
    LazyLock::new(|| phrases(include_str!("rules/decision_phrases.txt")));

static CONTEXT_PHRASES: LazyLock<Vec<String>> =
    LazyLock::new(|| phrases(include_str!("rules/context_phrases.txt")));

/// Nouns with which a document names itself: `This proposal adds …`.
const OWN_NOUNS: &[&str] = &[
    "change",
    "decision",
    "design",
    "document",
    "enhancement",
    "extension",
    "feature",
    "page",
    "proposal",
    "rfc",
    "spec",
    "specification",
    "standard",
];

/// Reads phrases, in which `_` stands for a space at either end.
fn phrases(file: &'static str) -> Vec<String> {
    rules::entries(file).map(|phrase| phrase.replace('_', " ")).collect()
}

/// Returns true if a sentence states a proposal or a decision.
pub(super) fn is_decision(sentence: &str) -> bool {
    if names_document(sentence) || is_imperative(sentence) {
        return true;
    }
    let lower = sentence.to_lowercase();
    DECISION_PHRASES.iter().any(|phrase| lower.contains(phrase))
}

/// Phrases with which a sentence states a choice, whatever precedes it.
const CHOICES: [&str; 12] = [
    "we decided to ",
    "we have decided to ",
    "we have chosen",
    "we chose ",
    "we opted for",
    "we have opted for",
    "settled on ",
    "settled upon ",
    "decision was made to ",
    "we will go with",
    "we are going with",
    "we selected ",
];

/// Returns true if a sentence states a choice among alternatives.
pub(super) fn is_choice(sentence: &str) -> bool {
    let lower = sentence.to_lowercase();
    CHOICES.iter().any(|phrase| lower.contains(phrase))
}

/// Returns true if a sentence describes the situation before the decision.
pub(super) fn is_context(sentence: &str) -> bool {
    let lower = sentence.to_lowercase();
    CONTEXT_PHRASES.iter().any(|phrase| match phrase.strip_prefix('^') {
        Some(start) => lower.starts_with(start),
        None => lower.contains(phrase),
    })
}

/// Returns true for `This proposal …`, and for `…, this EIP defines …` in the middle of a sentence.
fn names_document(sentence: &str) -> bool {
    let is_acronym =
        |noun: &str| (2..=5).contains(&noun.len()) && noun.bytes().all(|b| b.is_ascii_uppercase());
    let is_noun = |noun: &str| is_acronym(noun) || OWN_NOUNS.contains(&&*noun.to_lowercase());
    if let Some(rest) = sentence.strip_prefix("This ") {
        let mut words = rest.split_whitespace();
        let is_named = words.next().is_some_and(is_noun);
        // `This proposal was discussed on a list` and `is part of a series` say nothing of it.
        let is_about_itself = match words.next() {
            Some("is") => words.next() == Some("part"),
            verb => matches!(verb, Some("was" | "has" | "depends" | "relies")),
        };
        return is_named && !is_about_itself;
    }
    let Some((lead, rest)) = sentence.split_once(", this ") else { return false };
    if matches!(lead, "Additionally" | "Also" | "Furthermore" | "However" | "Moreover") {
        return false;
    }
    let mut words = rest.split_whitespace();
    let is_named = words.next().is_some_and(is_noun);
    let is_verb = |word: &str| word.len() > 3 && word.ends_with('s');
    is_named && words.find(|word| !matches!(*word, "only" | "also" | "just")).is_some_and(is_verb)
}

/// Returns true if a sentence begins with a verb that asks for something: `Add a parser`. In
/// `Support for X` and `Use of Y`, the word is a noun.
fn is_imperative(sentence: &str) -> bool {
    let mut words = sentence.split(' ');
    let first = words.next().filter(|word| word.starts_with(|c: char| c.is_ascii_uppercase()));
    let is_verb = first.is_some_and(|word| IMPERATIVES.contains(&*word.to_ascii_lowercase()));
    let no_object =
        |word: &str| matches!(word, "of" | "for" | "is" | "are" | "was" | "case" | "cases" | "to");
    is_verb && words.next().is_some_and(|word| !no_object(word))
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
        ] {
            assert!(is_decision(text), "{text}");
        }
        for text in [
            "There is an error in the order proposed by ADR 7.",
            "Support for queues is missing.",
            "Use of queues is rare.",
            "The queue is slow.",
            "This proposal was discussed on a list.",
            "This RFC is part of a series.",
        ] {
            assert!(!is_decision(text), "{text}");
        }
        assert!(is_choice("We have therefore settled upon D3."));
        assert!(!is_choice("The table is settled."));
        assert!(is_context("Many services have a queue."));
        assert!(is_context("The team has been using queues for years."));
        assert!(!is_context("A queue stores all mails."));
    }

    #[test]
    fn verbs_are_sorted() {
        let verbs: Vec<&str> = rules::entries(include_str!("rules/imperatives.txt")).collect();
        assert!(verbs.is_sorted_by(|a, b| a < b));
    }
}
