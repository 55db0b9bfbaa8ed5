//! The words of which orders to an agent are made, by what they do.

/// What is done to instructions.
pub(super) const VERBS: &[&str] = &[
    "ignore",
    "ignoring",
    "disregard",
    "disregarding",
    "forget",
    "override",
    "overriding",
    "bypass",
    "follow",
    "following",
    "obey",
    "obeying",
    "neglect",
    "abandon",
];
pub(super) const FILLERS: &[&str] = &[
    "all", "any", "every", "each", "and", "the", "my", "our", "these", "those", "of", "or", "such",
    "safety", "security", "other", "about",
];
pub(super) const WHICH: &[&str] = &[
    "previous",
    "previously",
    "prior",
    "earlier",
    "above",
    "preceding",
    "foregoing",
    "original",
    "initial",
    "former",
    "past",
    "your",
    "system",
    "developer",
    "existing",
    "given",
];
pub(super) const WHAT: &[&str] = &[
    "instructions",
    "instruction",
    "prompt",
    "prompts",
    "directives",
    "directive",
    "guidelines",
    "guardrails",
    "programming",
    "training",
    "safeguards",
    "orders",
    "guidance",
    "directions",
];
/// Words that specifications use of other things, too.
pub(super) const WHAT_OF_YOURS: &[&str] = &[
    "rules",
    "context",
    "messages",
    "message",
    "commands",
    "constraints",
    "policies",
    "restrictions",
    "text",
    "content",
];

/// Words that make `you are now …` an order.
pub(super) const NOW: &[&str] = &[
    "mode",
    "assistant",
    "ai",
    "llm",
    "dan",
    "unrestricted",
    "jailbroken",
    "unfiltered",
    "admin",
    "administrator",
    "root",
    "hacker",
    "bot",
    "persona",
    "chatbot",
    "gpt",
    "longer",
];

/// Words that end the force of instructions.
pub(super) const VOID: &[&str] = &[
    "void",
    "cancelled",
    "canceled",
    "revoked",
    "superseded",
    "overridden",
    "obsolete",
    "invalid",
    "longer",
    "hereby",
    "null",
    "outdated",
];

/// Words that ask for what an agent should keep to itself.
pub(super) const REVEAL: &[&str] = &[
    "give", "tell", "reveal", "print", "show", "output", "repeat", "leak", "dump", "display",
    "share", "send", "expose", "disclose", "recite", "quote", "copy", "paste", "echo", "write",
    "return",
];

/// Beginnings of sentences that forbid to tell or ask somebody.
pub(super) const SILENT: &[&str] = &[
    "do not",
    "don't",
    "dont",
    "never",
    "without",
    "you must not",
    "you should not",
    "must not",
    "please do not",
    "please don't",
    "under no circumstances",
    "and do not",
    "and don't",
];

/// What is asked of somebody, wherever it is said.
pub(super) const DEMANDS: &[&str] = &[
    "please",
    "run",
    "execute",
    "ignore",
    "disregard",
    "fetch",
    "send",
    "delete",
    "write",
    "do",
    "don't",
    "never",
    "always",
    "you",
    "add",
    "reply",
    "respond",
    "output",
    "approve",
    "install",
    "download",
    "curl",
    "include",
    "print",
    "tell",
    "read",
    "use",
    "must",
    "should",
];

/// What an order to an agent may begin with besides.
pub(super) const BEGINNINGS: &[&str] = &[
    "stop", "skip", "open", "commit", "push", "merge", "say", "answer", "from", "obey", "follow",
    "treat", "remove", "reveal", "your", "the", "this", "if", "call", "forget", "grant", "comply",
];

/// Whether a word can be the first of an order to an agent.
pub(super) fn is_imperative(word: &str) -> bool {
    DEMANDS.contains(&word) || BEGINNINGS.contains(&word)
}

/// Verbs that ask to be done with something.
pub(super) const DROPS: &[&str] = &[
    "ignore",
    "disregard",
    "forget",
    "override",
    "bypass",
    "erase",
    "scrap",
    "cancel",
    "discard",
    "drop",
    "abandon",
    "neglect",
    "delete",
    "revoke",
    "overrule",
    "dismiss",
    "skip",
    "reset",
];
