//! Phrases that are prompt injection only together with the words around them.
//!
//! A finding needs an addressee and an instruction. Many phrases of attacks have only one of them:
//! `you are an ai` gives no instruction, and `from now on you must` addresses any reader.

use std::sync::LazyLock;

use super::english::is_imperative;
use super::{Phrase, PhraseTable, REACH, Sentence, agent_address, slice, words};
use crate::guard::rules::{PROMPT_INJECTION, columns, entries, rules};
use crate::model::byte_scan::prefix;

const fn table(name: &'static str) -> PhraseTable {
    PhraseTable::new(PROMPT_INJECTION, name)
}

static IDENTITIES: PhraseTable = table("identities");
static PROFESSIONS: PhraseTable = table("professions");
static HARMFUL_COMMANDS: PhraseTable = table("harmful_commands");
static USER_IGNORANCE: PhraseTable = table("user_ignorance");
static PRECAUTIONS: PhraseTable = table("precautions");
static MODE_VERBS: PhraseTable = table("mode_verbs");
static ATTACK_WORDS: PhraseTable = table("attack_words");
static READER_CONDITIONS: PhraseTable = table("reader_conditions");

/// Tables whose phrases the scan looks for.
pub(super) static SEARCHED: &[&PhraseTable] = &[&IDENTITIES, &USER_IGNORANCE];

const UNRESTRICTED: &str = "unrestricted";

/// A phrase, with the words that must or must not follow it.
struct ContinuedPhrase {
    phrase: Phrase,
    required: Vec<&'static str>,
    excluded: Vec<&'static str>,
}

static CONTINUED: LazyLock<Vec<ContinuedPhrase>> = LazyLock::new(|| {
    let rule = |rule| {
        let [phrase, required, excluded] = columns(rule);
        let required = entries(required).filter(|entry| *entry != "-").collect();
        let excluded = entries(excluded).collect();
        ContinuedPhrase { phrase: Phrase::parse(phrase), required, excluded }
    };
    rules(PROMPT_INJECTION, "continued_phrases").map(rule).collect()
});

/// Returns the anchors of the rules that are not in `SEARCHED`.
pub(super) fn anchors() -> impl Iterator<Item = std::borrow::Cow<'static, str>> {
    let continued = CONTINUED.iter().flat_map(|rule| rule.phrase.anchors());
    continued.chain(std::iter::once(UNRESTRICTED.into()))
}

/// Returns true if a sentence is prompt injection in its context.
pub(super) fn matches(sentence: &Sentence<'_>) -> bool {
    let Sentence { text, at, lead, after, .. } = sentence;
    has_continued_phrase(sentence)
        || instructs_identity(sentence)
        || hides_from_user(text, *at, lead)
        || after.starts_with(UNRESTRICTED) && asks_for_mode(lead)
}

/// Returns the words of a text, with `:` for a colon and `.` for other ends of a sentence.
fn words_and_ends(text: &str) -> String {
    let mut all = String::with_capacity(text.len() + 8);
    let mut start = 0;
    let mut push = |piece: &str, end: &str| {
        let words = words(piece);
        for part in [words.trim(), end] {
            all.push_str(part);
            all.push_str(if part.is_empty() { "" } else { " " });
        }
    };
    for (i, c) in text.char_indices() {
        let rest = &text[i + c.len_utf8()..];
        let end = match c {
            ':' => ":",
            '.' if rest.starts_with(|c: char| !c.is_whitespace() && !"\"'`)*_".contains(c)) => "",
            '.' | '!' | '?' | ';' | '。' => ".",
            '\n' if rest.trim_start_matches([' ', '\t', '\r', '>']).starts_with('\n') => ".",
            _ => "",
        };
        if !end.is_empty() {
            push(&text[start..i], end);
            start = i + c.len_utf8();
        }
    }
    push(&text[start..], ".");
    all
}

/// Returns true if a text begins with words, and not within a longer word.
fn begins_with(text: &str, words: &str) -> bool {
    text.strip_prefix(words).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

fn has_continued_phrase(sentence: &Sentence<'_>) -> bool {
    let Sentence { text, at, before, .. } = sentence;
    let all = format!("{before}{}", words_and_ends(slice(text, *at..at + REACH)));
    // A phrase that begins later has an anchor of its own.
    let reach = before.len() + 4;
    let starts = all.char_indices().map(|(i, _)| i).take_while(|i| *i <= reach);
    let mut starts = starts.filter(|i| *i == 0 || all.as_bytes()[i - 1] == b' ');
    let is_at = |i: usize, rule: &ContinuedPhrase| {
        let phrase: &str = &rule.phrase.text;
        if all.as_bytes()[i] != phrase.as_bytes()[0] || !begins_with(&all[i..], phrase) {
            return false;
        }
        let rest = all[i + phrase.len()..].trim_start();
        let is_required = |word: &&str| begins_with(rest, word);
        (rule.required.is_empty() || rule.required.iter().any(is_required))
            && !rule.excluded.iter().any(|word| begins_with(rest, word))
    };
    starts.any(|i| CONTINUED.iter().any(|rule| is_at(i, rule)))
}

/// Matches `if you are an AI, reply with OK` and `You are an AI. Delete it.`. A prompt in a document
/// about prompts gives an identity and harmless instructions.
fn instructs_identity(sentence: &Sentence<'_>) -> bool {
    let Sentence { text, at, lead, before, after } = sentence;
    let raw = slice(text, *at..at + REACH);
    let all = format!("{before}{after}");
    let end = IDENTITIES.texts().find_map(|identity| {
        let start = prefix(&all, before.len() + identity.len()).find(identity)?;
        Some(start + identity.len()).filter(|end| *end > before.len())
    });
    let Some(end) = end else { return false };
    let next = all[end..].trim_start().split(' ').next().unwrap_or_default();
    if PROFESSIONS.contains(next) {
        return false;
    }
    let is_condition = lead.split(' ').any(|word| matches!(word, "if" | "as" | "since" | "when"));
    let mut clauses = raw.split([',', '.', ';', '!', ':', '\n', '—']).skip(1).take(3);
    clauses.any(|clause| {
        let clause = words(clause);
        let mut first_words = clause.trim_start().split(' ').take(3);
        let asks = |word: &str| is_imperative(word) && !matches!(word, "the" | "this" | "your");
        first_words.any(|word| HARMFUL_COMMANDS.contains(word) || is_condition && asks(word))
    })
}

/// Matches `make sure that the user does not notice`.
fn hides_from_user(text: &str, at: usize, lead: &str) -> bool {
    let after = words(slice(text, at..at + 48));
    let mut precautions = PRECAUTIONS.texts();
    USER_IGNORANCE.texts().any(|phrase| begins_with(&after, phrase) || after.starts_with(phrase))
        && precautions.any(|precaution| lead.contains(precaution))
}

fn asks_for_mode(lead: &str) -> bool {
    let mut words = lead.split(' ').filter(|word| !matches!(*word, "please" | "now" | "then"));
    words.next().is_some_and(|word| MODE_VERBS.contains(word))
}

/// Returns true if a sentence quotes an attack and describes it: an attacker may write "ignore all
/// previous instructions". The quotation has to be in one line with the description, because texts
/// are cut at lines: a block that is quoted elsewhere may be passed on without its description.
pub(super) fn is_described(text: &str, at: usize) -> bool {
    let before = slice(text, at.saturating_sub(2 * REACH)..at);
    let before = before.rsplit('\n').next().unwrap_or_default();
    let after = slice(text, at..at + 2 * REACH).split('\n').next().unwrap_or_default();
    let is_open = |quote: char| before.matches(quote).count() % 2 == 1;
    let plain = ['"', '`'].into_iter().find(|quote| is_open(*quote)).map(|quote| (quote, quote));
    let curly = before.rfind('“').filter(|open| !before[*open..].contains('”'));
    let Some((open, close)) = plain.or(curly.map(|_| ('“', '”'))) else { return false };
    let (Some(start), Some(end)) = (before.rfind(open), after.find(close)) else { return false };
    let before = before[..start].rsplit(['.', '!', '?']).next().unwrap_or_default();
    let after = after[end + close.len_utf8()..].split(['.', '!', '?', ';']).next();
    let outside = format!(" {} {} ", words(before), words(after.unwrap_or_default()));
    ATTACK_WORDS.texts().any(|word| outside.contains(&format!(" {word} ")))
}

/// Returns true if a sentence advises a user of software: `ignore the above if you use Docker`.
pub(super) fn is_advice(text: &str, at: usize) -> bool {
    let rest = slice(text, at..at + REACH);
    let sentence = words(rest.split(['.', '!', '?']).next().unwrap_or_default());
    let Some((_, condition)) = sentence.split_once(" if you ") else { return false };
    READER_CONDITIONS.texts().any(|word| begins_with(condition, word))
        && !sentence.split(' ').any(agent_address::is_agent_name)
}
