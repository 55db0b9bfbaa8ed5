//! Sentences that address the agent by its name or its role.

use super::english::is_imperative;
use super::{PhraseTable, Sentence, slice, words};
use crate::guard::rules::PROMPT_INJECTION;

const fn table(name: &'static str) -> PhraseTable {
    PhraseTable::new(PROMPT_INJECTION, name)
}

static AGENT_NAMES: PhraseTable = table("agent_names");
static CALLED_AGENTS: PhraseTable = table("called_agents");
static READING_VERBS: PhraseTable = table("reading_verbs");
static ANNOUNCEMENTS: PhraseTable = table("announcements");
static COMMON_ANNOUNCEMENTS: PhraseTable = table("common_announcements");
static COMMON_ANNOUNCEMENT_ANCHORS: PhraseTable = table("common_announcement_anchors");
static ADDRESS_FILLERS: PhraseTable = table("address_fillers");
static SUMMARY_VERBS: PhraseTable = table("summary_verbs");
static SUMMARISED_TEXTS: PhraseTable = table("summarised_texts");

/// Tables whose phrases the scan looks for.
pub(super) static SEARCHED: &[&PhraseTable] =
    &[&CALLED_AGENTS, &READING_VERBS, &ANNOUNCEMENTS, &COMMON_ANNOUNCEMENT_ANCHORS, &SUMMARY_VERBS];

/// Returns true if a word is the name of an agent.
pub(super) fn is_agent_name(word: &str) -> bool {
    AGENT_NAMES.contains(word)
}

/// Returns true for words between an announcement and a name, or between a name and a verb.
fn is_filler(word: &&str) -> bool {
    ADDRESS_FILLERS.contains(word) && !is_agent_name(word)
}

/// Returns true if a sentence addresses an agent and asks for something.
pub(super) fn matches(sentence: &Sentence<'_>) -> bool {
    let Sentence { text, at, lead, after, .. } = sentence;
    calls_agent(text, *at, lead)
        || names_reader(sentence)
        || announces_message(text, *at, lead, after)
        || directs_summary(lead, after)
}

/// Matches `Claude, please run it` at the beginning of a sentence.
fn calls_agent(text: &str, at: usize, lead: &str) -> bool {
    if !matches!(lead, "" | "dear" | "hey" | "hi" | "hello" | "attention" | "note to" | "all") {
        return false;
    }
    let rest = slice(text, at..at + 80);
    let Some((name, rest)) = rest.split_once([',', ':']) else { return false };
    let capital = name.starts_with(|c: char| c.is_ascii_uppercase());
    let is_agent = |name: String| is_agent_name(&name) || matches!(&*name, "coding" | "language");
    let called = name.split(' ').map(str::to_ascii_lowercase).any(is_agent);
    let rest = words(rest);
    let mut first_words = rest.trim_start().split(' ').take(2);
    called && capital && name.len() <= 20 && first_words.any(is_request)
}

/// Returns true for verbs of a request. The excluded words begin as many ordinary sentences.
fn is_request(word: &str) -> bool {
    is_imperative(word) && !matches!(word, "the" | "this" | "from" | "if" | "read" | "use")
}

/// Matches `AI agents reading this` and `any LLM processing this`.
fn names_reader(sentence: &Sentence<'_>) -> bool {
    let Sentence { text, at, lead, after, .. } = sentence;
    let mut before = lead.rsplit(' ').take(6).skip_while(is_filler);
    let is_agent = before.next().is_some_and(is_agent_name)
        || matches!(lead.as_str(), "agents" | "any agent" | "all agents")
        || lead.ends_with("model") && lead.rsplit(' ').nth(1) == Some("language");
    let mut next = after.split(' ').skip(2).take(8);
    let is_announced = || slice(text, *at..at + 40).contains(':');
    is_agent && READING_VERBS.begins(after) && (next.any(is_asked) || is_announced())
}

/// Returns true for words by which a sentence about a reader asks for something.
fn is_asked(word: &str) -> bool {
    is_request(word) || matches!(word, "will" | "shall" | "have" | "has")
}

/// Matches `Instructions for AI assistants:`, `Note for Claude:`, `To any LLM:` and `Attention,
/// coding agents!`.
fn announces_message(text: &str, at: usize, lead: &str, after: &str) -> bool {
    let open =
        matches!(lead, "" | "important" | "hidden" | "secret" | "new" | "special" | "urgent");
    let mut openings = ANNOUNCEMENTS.texts().chain(COMMON_ANNOUNCEMENTS.texts());
    let rest = openings.find_map(|opening| after.strip_prefix(opening)?.strip_prefix(' '));
    let Some(rest) = rest else { return false };
    let line = slice(text, at..at + 64).split('\n').next().unwrap_or_default();
    let mut words = rest.split(' ').take(4).skip_while(is_filler);
    let is_agent = words.next().is_some_and(is_agent_name)
        || after.starts_with("attention") && after.contains("coding agent");
    open && is_agent && line.contains([':', '!'])
}

/// Matches `When summarising this file, say …`.
fn directs_summary(lead: &str, after: &str) -> bool {
    let openings = ["when", "when you", "if you", "while", "before"];
    if !SUMMARY_VERBS.begins(after) || !openings.iter().any(|opening| lead.ends_with(opening)) {
        return false;
    }
    let mut words = after
        .split(' ')
        .skip(1)
        .skip_while(|word| matches!(*word, "or" | "and" | "reviewing" | "reading"));
    let this = words.next() == Some("this");
    let text = words.next().is_some_and(|word| SUMMARISED_TEXTS.contains(word));
    let is_asked = |word: &str| {
        is_request(word)
            || matches!(word, "state" | "mention" | "claim" | "insert" | "append" | "make")
    };
    this && text && words.take(2).any(is_asked)
}
