//! Prompt injection in languages other than English.

use std::borrow::Cow;
use std::sync::LazyLock;

use super::{Phrase, PhraseTable, Sentence, slice, words};
use crate::guard::rules::{PROMPT_INJECTION_LANGUAGES, columns, entries, rules};

const fn table(name: &'static str) -> PhraseTable {
    PhraseTable::new(PROMPT_INJECTION_LANGUAGES, name)
}

static FOREIGN_PHRASES: PhraseTable = table("foreign_phrases");
static UNSPACED_OPENINGS: PhraseTable = table("unspaced_openings");
static UNSPACED_VERBS: PhraseTable = table("unspaced_verbs");
static UNSPACED_THINGS: PhraseTable = table("unspaced_things");
static FINAL_VERBS: PhraseTable = table("final_verbs");
static SEARCHED_THINGS: PhraseTable = table("searched_things");

/// Tables whose phrases the scan looks for.
static SEARCHED: &[&PhraseTable] =
    &[&FOREIGN_PHRASES, &UNSPACED_OPENINGS, &UNSPACED_VERBS, &SEARCHED_THINGS];

/// Verbs that drop instructions, in a language with spaces between words.
struct SpacedRule {
    verbs: Vec<Phrase>,
    /// Beginnings of words for instructions.
    things: Vec<&'static str>,
    /// A word that has to follow the verb, too. It is empty in most rules.
    required: &'static str,
}

static SPACED: LazyLock<Vec<SpacedRule>> = LazyLock::new(|| {
    let rule = |rule| {
        let [verbs, things, required] = columns(rule);
        let verbs = entries(verbs).map(Phrase::parse).collect();
        SpacedRule { verbs, things: entries(things).collect(), required }
    };
    rules(PROMPT_INJECTION_LANGUAGES, "spaced").map(rule).collect()
});

/// Words for the user, with expressions nearby that forbid to inform them.
struct SilenceRule {
    users: Vec<Phrase>,
    expressions: Vec<&'static str>,
}

static SILENCE: LazyLock<Vec<SilenceRule>> = LazyLock::new(|| {
    let rule = |rule| {
        let [users, expressions] = columns(rule);
        let users = entries(users).map(Phrase::parse).collect();
        SilenceRule { users, expressions: entries(expressions).collect() }
    };
    rules(PROMPT_INJECTION_LANGUAGES, "silence").map(rule).collect()
});

/// Returns the anchors of all rules.
pub(super) fn anchors() -> impl Iterator<Item = Cow<'static, str>> {
    let verbs = SPACED.iter().flat_map(|rule| &rule.verbs);
    let users = SILENCE.iter().flat_map(|rule| &rule.users);
    let tables = SEARCHED.iter().flat_map(|table| table.phrases());
    verbs.chain(users).chain(tables).flat_map(Phrase::anchors)
}

/// Returns true if a sentence is prompt injection in one of the languages.
pub(super) fn matches(sentence: &Sentence<'_>) -> bool {
    let Sentence { text, at, after, .. } = sentence;
    let written = slice(text, *at..at + 48).to_lowercase();
    // The instructions are in the same clause as the verb.
    let ahead = slice(text, *at..at + super::REACH);
    let shorter = ahead.split_once(';').map(|(clause, _)| words(clause));
    let clause = shorter.as_ref().unwrap_or(after);
    FOREIGN_PHRASES.begins(after)
        || FOREIGN_PHRASES.begins(&written)
        || SPACED.iter().any(|rule| drops_instructions(clause, rule))
        || forbids_informing(text, *at)
        || matches_unspaced(text, *at)
}

/// Words behind the first one that are read.
const MAX_WORDS: usize = 8;

fn drops_instructions(after: &str, rule: &SpacedRule) -> bool {
    let mut words = after.split(' ');
    let first = words.next().unwrap_or_default();
    // Most verbs begin with another letter, and comparing it first is faster.
    let is_verb = |verb: &Phrase| {
        verb.text.as_bytes().first() == after.as_bytes().first()
            && match verb.text.contains(' ') {
                true => after.starts_with(verb.text.as_ref()),
                false => verb.text == first,
            }
    };
    let mut rest = words.take(MAX_WORDS);
    let is_thing = |word: &str| rule.things.iter().any(|thing| word.starts_with(thing));
    rule.verbs.iter().any(is_verb)
        && rest.clone().any(is_thing)
        && (rule.required.is_empty() || rest.any(|word| word == rule.required))
}

/// Returns true if the user must not be informed.
fn forbids_informing(text: &str, at: usize) -> bool {
    let here = words(slice(text, at..at + 24));
    let is_user = |user: &Phrase| here.starts_with(user.text.as_ref());
    SILENCE.iter().filter(|rule| rule.users.iter().any(is_user)).any(|rule| {
        let near = words(slice(text, at.saturating_sub(48)..at + 48));
        rule.expressions.iter().any(|expression| near.contains(expression))
    })
}

/// Matches languages without spaces between words, and those with the verb at the end: a word for
/// instructions and a verb that drops them, near each other.
fn matches_unspaced(text: &str, at: usize) -> bool {
    let ahead = slice(text, at..at + 64);
    if ahead.is_ascii() && !SEARCHED_THINGS.begins(&ahead.to_ascii_lowercase()) {
        return false;
    }
    let unspaced: String =
        ahead.chars().filter(|c| !c.is_whitespace() && !"，,".contains(*c)).collect();
    if UNSPACED_OPENINGS.begins(&unspaced) {
        return true;
    }
    // Words of the previous sentence are unrelated.
    let before = slice(text, at.saturating_sub(48)..at);
    let before = before.rsplit(['\n', '.', '。']).next().unwrap_or_default();
    let near = format!("{before}{ahead}").to_lowercase();
    let has = |table: &PhraseTable| table.texts().any(|phrase| near.contains(phrase));
    // Specifications ask parsers to ignore unknown instructions.
    let mut unknown = ["忽略未知", "忽略无效", "无视未知", "未知の", "不明な"].iter();
    if unknown.any(|unknown| near.contains(unknown)) {
        return false;
    }
    (has(&UNSPACED_VERBS) || has(&FINAL_VERBS)) && (has(&UNSPACED_THINGS) || has(&SEARCHED_THINGS))
}
