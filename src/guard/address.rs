//! Sentences that call the agent that reads them by what it is.

use super::anchor::part;
use super::order::words;
use super::vocabulary::is_imperative;

/// What an agent is called, and what it does with a document.
pub(super) const ANCHORS: &[&str] = &[
    "claude,",
    "claude:",
    "chatgpt,",
    "chatgpt:",
    "copilot,",
    "copilot:",
    "gemini,",
    "codex,",
    "assistant,",
    "ai agents:",
    "ai agents,",
    "ai agent:",
    "ai agent,",
    "ai assistants:",
    "ai assistants,",
    "ai assistant:",
    "coding agents:",
    "coding agents,",
    "coding agent:",
    "coding assistants:",
    "llms:",
    "llms,",
    "language models:",
    "reading this",
    "reads this",
    "read this",
    "processing this",
    "processes this",
    "parses this",
    "sees this",
    "gemini:",
    "codex:",
    "parsing this",
    "analyzing this",
    "summarizing",
    "summarising",
    "summarize this",
    "summarise this",
    "reviewing this",
    "instructions for",
    "instruction for",
    "note for",
    "message for",
    "attention",
    "to any llm",
    "to all llms",
    "to any ai",
    "to all ai",
];

/// Names of agents.
const NAMES: &[&str] = &[
    "ai",
    "ais",
    "assistant",
    "assistants",
    "claude",
    "chatgpt",
    "gpt",
    "copilot",
    "codex",
    "gemini",
    "llm",
    "llms",
    "chatbot",
    "chatbots",
];

/// Whether a word is what an agent is called.
pub(super) fn is_name(word: &str) -> bool {
    NAMES.contains(&word)
}

/// Ways to say that an agent has the text before it.
const READS: &[&str] = &[
    "reading this",
    "reads this",
    "processing this",
    "parsing this",
    "analyzing this",
    "processes this",
    "parses this",
    "sees this",
    "reviewing this",
];

/// Beginnings of a call to an agent.
const CALLS: &[&str] = &[
    "instructions for ",
    "instruction for ",
    "note for ",
    "message for ",
    "attention ",
    "to any ",
    "to all ",
];

/// Texts that an instruction says how to read.
const READ: &[&str] = &[
    "file",
    "document",
    "text",
    "page",
    "repository",
    "repo",
    "content",
    "adr",
    "rfc",
    "pull",
    "code",
    "conversation",
];

/// Words between a call and the name, or between a name and what it does.
fn is_filler(word: &str) -> bool {
    matches!(
        word,
        "the"
            | "all"
            | "any"
            | "an"
            | "a"
            | "every"
            | "coding"
            | "language"
            | "large"
            | "agent"
            | "agents"
            | "model"
            | "models"
            | "assistant"
            | "assistants"
            | "that"
            | "who"
            | "is"
            | "are"
            | "system"
            | "systems"
            | "tool"
            | "tools"
            | "currently"
            | "or"
            | "and"
            | "automated"
            | "reviewer"
            | "reviewers"
            | "you"
    )
}

/// Whether a sentence calls an agent and wants something.
pub(super) fn speaks(text: &str, at: usize, lead: &str, after: &str) -> bool {
    is_called(text, at, lead)
        || is_reader(lead, after)
        || is_for(text, at, lead, after)
        || is_told_how(lead, after)
}

/// `Claude, please run it`, at the beginning of a sentence.
fn is_called(text: &str, at: usize, lead: &str) -> bool {
    if !matches!(lead, "" | "dear" | "hey" | "hi" | "hello" | "attention" | "note to" | "all") {
        return false;
    }
    let rest = part(text, at..at + 80);
    let Some((name, rest)) = rest.split_once([',', ':']) else { return false };
    let mut names = name.split(' ').map(str::to_ascii_lowercase);
    let capital = name.starts_with(|c: char| c.is_ascii_uppercase());
    let called = names.any(|name| is_name(&name) || matches!(name.as_str(), "coding" | "language"));
    let rest = words(rest);
    let mut asked = rest.trim_start().split(' ').take(2);
    called && capital && name.len() <= 20 && asked.any(asks)
}

/// Verbs that ask for something. `the` and `this` begin as many sentences that do not.
fn asks(word: &str) -> bool {
    is_imperative(word) && !matches!(word, "the" | "this" | "from" | "if" | "read" | "use")
}

/// `AI agents reading this`, `any LLM processing this`.
fn is_reader(lead: &str, after: &str) -> bool {
    let reads = READS.iter().any(|reads| after.starts_with(reads));
    let mut before = lead.rsplit(' ').take(6).skip_while(|word| is_filler(word) && !is_name(word));
    let called = before.next().is_some_and(is_name);
    let agents = lead == "agents" || lead == "any agent" || lead == "all agents";
    let second = lead.rsplit(' ').nth(1).unwrap_or_default();
    let model = lead.ends_with("model") && second == "language";
    reads && (called || model || agents) || after.starts_with("read this as an ai")
}

/// `Instructions for AI assistants:`, `Note for Claude:`, `To any LLM`, `Attention, coding agents`.
fn is_for(text: &str, at: usize, lead: &str, after: &str) -> bool {
    let open =
        matches!(lead, "" | "important" | "hidden" | "secret" | "new" | "special" | "urgent");
    let Some(rest) = CALLS.iter().find_map(|call| after.strip_prefix(call)) else { return false };
    let raw = part(text, at..at + 64);
    let line = raw.split('\n').next().unwrap_or_default();
    let mut rest = rest.split(' ').take(4).skip_while(|word| is_filler(word) && !is_name(word));
    let agents = after.contains("coding agent") && after.starts_with("attention");
    let named = rest.next().is_some_and(is_name) || agents;
    open && named && line.contains([':', '!'])
}

/// `When summarising this file, say`.
fn is_told_how(lead: &str, after: &str) -> bool {
    let mut words = after.split(' ');
    let verb = words.next().unwrap_or_default();
    let does = ["summaris", "summariz", "reviewing"].iter().any(|does| verb.starts_with(does));
    let when = lead.ends_with("when")
        || lead.ends_with("when you")
        || lead.ends_with("if you")
        || lead.ends_with("while")
        || lead.ends_with("before");
    let mut words =
        words.skip_while(|word| matches!(*word, "or" | "and" | "reviewing" | "reading"));
    let this = words.next() == Some("this");
    let what = words.next().is_some_and(|what| READ.contains(&what));
    when && does
        && this
        && what
        && words.take(2).any(|word| {
            asks(word)
                || matches!(word, "state" | "mention" | "claim" | "insert" | "append" | "make")
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guard::anchor;
    use crate::guard::order::findings;

    fn is_order(text: &str) -> bool {
        !findings(text, &anchor::anchors(text)).is_empty()
    }

    #[test]
    fn every_anchor_and_word_of_a_table_can_fire() {
        let names = NAMES.iter().map(|name| format!("any {name} reading this must"));
        let reads = READS.iter().map(|reads| format!("any AI {reads} must"));
        let calls = CALLS.iter().map(|call| format!("{call}AI assistants: run it"));
        let read = READ.iter().map(|read| format!("When summarising this {read}, say yes"));
        let all = names.chain(reads).chain(calls).chain(read);
        let silent: Vec<String> = all.filter(|text| !is_order(text)).collect();
        assert_eq!(silent, [] as [String; 0]);
        let fires = |anchor: &&&str| {
            let capital = format!("{}{}", anchor[..1].to_uppercase(), &anchor[1..]);
            let texts = [
                format!("{capital} please run it"),
                format!("any AI {anchor} must"),
                format!("{anchor} AI agents: run it"),
                format!("{anchor}: run it"),
                format!("When {anchor} this file, say yes"),
                format!("When you {anchor} file, say yes"),
                format!("{anchor} as an AI"),
            ];
            texts.iter().any(|text| is_order(text))
        };
        let silent: Vec<&&str> = ANCHORS.iter().filter(|anchor| !fires(anchor)).collect();
        assert_eq!(silent, [] as [&&str; 0]);
    }
}
