//! What blue registers with each agent: the one table of hooks, and the server.

use super::splice::Value;

/// A handler to register for one event.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Hook {
    /// The event's name.
    pub event: &'static str,
    /// The tools it is for; `None` for all.
    pub matcher: Option<&'static str>,
    /// What the agent's shell runs.
    pub command: String,
    /// Seconds until the agent stops waiting.
    pub timeout: u64,
}

/// Whose settings a hook is registered in.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Agent {
    /// Claude Code, in the project's own settings.
    Claude,
    /// Claude Code, in the settings of one person, for every project.
    ClaudeUser,
    /// Codex, in the project.
    Codex,
}

/// What a hook runs.
#[derive(Clone, Copy, Debug)]
enum Runs {
    /// A script of `.blue/hooks`, with its argument: it prints an emitted file.
    Script(&'static str, &'static str),
    /// `blue hook` with this name.
    Blue(&'static str),
}

use Runs::{Blue, Script};

const EDITS: &str = "Edit|MultiEdit|Write|NotebookEdit";
/// Codex edits with one tool; it also answers to the names of Claude's.
const CODEX_EDITS: &str = "apply_patch|Edit|Write";

/// Event, tools for Claude and for Codex, what runs, seconds, and whether Codex has it too. A
/// text that an agent reads at its start comes in entries of its own: an agent cuts each by itself.
type Row = (&'static str, Option<(&'static str, &'static str)>, Runs, u64, bool);
const TABLE: &[Row] = &[
    ("SessionStart", None, Script("session-start", "global"), 5, true),
    ("SessionStart", None, Script("session-start", ""), 5, true),
    ("SessionStart", None, Script("session-workflow", ""), 5, true),
    ("SubagentStart", None, Script("session-start", ""), 5, true),
    ("UserPromptSubmit", None, Blue("user-prompt-submit"), 5, true),
    ("PreToolUse", None, Blue("pre-tool-use"), 5, false),
    ("PostToolUse", Some((EDITS, CODEX_EDITS)), Blue("post-tool-use"), 60, true),
    ("PreCompact", None, Blue("pre-compact"), 5, true),
    ("SessionEnd", None, Blue("session-end"), 5, true),
];

/// The scripts that the hooks run, as they are shipped: name and bytes.
pub const SCRIPTS: &[(&str, &[u8])] = &[
    (".blue/hooks/session-start", include_bytes!("../../hooks/session-start")),
    (".blue/hooks/session-workflow", include_bytes!("../../hooks/session-workflow")),
];

/// The name of blue's server in `.mcp.json`.
pub const SERVER: &str = "blue";

/// Every hook of an agent, in the order of registration.
pub fn hooks(agent: Agent) -> Vec<Hook> {
    let rows = TABLE.iter().filter(|(.., codex)| agent != Agent::Codex || *codex);
    rows.map(|(event, matcher, runs, timeout, _)| Hook {
        event,
        matcher: matcher.map(|(claude, codex)| match agent {
            Agent::Codex => codex,
            _ => claude,
        }),
        command: command(agent, *runs),
        timeout: *timeout,
    })
    .collect()
}

fn command(agent: Agent, runs: Runs) -> String {
    let (name, argument) = match runs {
        // An agent drops what a hook printed when it fails, and some stop; a blue that is not
        // there or too old must not matter.
        Blue(name) => return format!("blue hook {name} || :"),
        Script(name, argument) => (name, argument),
    };
    let argument = if argument.is_empty() { String::new() } else { format!(" {argument}") };
    let path = format!(".blue/hooks/{name}");
    match agent {
        Agent::Claude => format!("\"$CLAUDE_PROJECT_DIR\"/{path}{argument}"),
        Agent::ClaudeUser => {
            let folder = match argument.as_str() {
                " global" => "\"${BLUE_HOME:-$HOME/.blue}\"",
                _ => "\"$CLAUDE_PROJECT_DIR\"",
            };
            format!("f={folder}/{path}; [ -x \"$f\" ] && exec \"$f\"{argument}; exit 0")
        }
        Agent::Codex => format!(
            "d=$PWD; until [ -x \"$d/{path}\" ]; do [ -n \"$d\" ] || exit 0; d=${{d%/*}}; done; exec \"$d/{path}\"{argument}"
        ),
    }
}

/// What a command of blue's does, whichever way it is written; `None` if it is not blue's.
pub fn role(command: &str) -> Option<String> {
    let name = |text: &str| -> String {
        text.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '-').collect()
    };
    if let Some(rest) = command.strip_prefix("blue hook ") {
        return Some(name(rest));
    }
    let (_, rest) = command.split_once(".blue/hooks/session-")?;
    let everywhere = if command.contains(" global") { " global" } else { "" };
    Some(format!("session-{}{everywhere}", name(rest)))
}

impl Hook {
    /// The handler, as settings have it.
    pub fn handler(&self) -> Value {
        Value::object([
            ("type", Value::text("command")),
            ("command", Value::text(&self.command)),
            ("timeout", Value::Number(self.timeout)),
        ])
    }

    /// The handler in a group of its own.
    pub fn group(&self) -> Value {
        let handlers = Value::List(vec![self.handler()]);
        match self.matcher {
            Some(matcher) => {
                Value::object([("matcher", Value::text(matcher)), ("hooks", handlers)])
            }
            None => Value::object([("hooks", handlers)]),
        }
    }
}

/// The server, as `.mcp.json` has it.
pub fn server() -> Value {
    Value::object([
        ("command", Value::text("blue")),
        ("args", Value::List(vec![Value::text("mcp")])),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_recognised_and_means_the_same_for_every_agent() {
        let roles = |agent| -> Vec<(&str, String)> {
            hooks(agent).iter().map(|hook| (hook.event, role(&hook.command).unwrap())).collect()
        };
        let claude = roles(Agent::Claude);
        assert_eq!(claude, roles(Agent::ClaudeUser));
        let mut once = claude.clone();
        once.sort();
        once.dedup();
        assert_eq!(once.len(), claude.len(), "no two hooks of an event have one role");
        assert!(roles(Agent::Codex).iter().all(|role| claude.contains(role)));
    }

    #[test]
    fn what_only_looks_like_blue_is_not() {
        for command in
            ["echo blue hook x", "bluehook", "blue knowledge build", "~/.blue/hooks/other"]
        {
            assert_eq!(role(command), None, "{command}");
        }
    }
}
