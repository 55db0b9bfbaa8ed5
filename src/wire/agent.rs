//! What blue registers with each agent: the one table of hooks, and the server.

use super::jsonc_edit::NewValue;

/// A handler to register for one event.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct AgentHook {
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

/// Claude Code's tools that edit files; Codex edits with one, which answers to their names too.
const EDITS: Matchers = (Some("Edit|MultiEdit|Write|NotebookEdit"), Some("apply_patch|Edit|Write"));
/// A resumed session has the text already. Claude Code drops a second copy of the same bytes; Codex
/// would keep it.
const STARTS: Matchers = (None, Some("startup|clear|compact"));
const ALL: Matchers = (None, None);

/// What the entry is for, in Claude Code and in Codex.
type Matchers = (Option<&'static str>, Option<&'static str>);

/// Event, matchers, what runs, seconds, and whether Codex has it too. A text that an agent reads at
/// its start comes in entries of its own: an agent cuts each by itself.
type Row = (&'static str, Matchers, Runs, u64, bool);
const TABLE: &[Row] = &[
    ("SessionStart", STARTS, Script("session-start", "global"), 5, true),
    ("SessionStart", STARTS, Script("session-start", ""), 5, true),
    ("SessionStart", STARTS, Script("session-workflow", ""), 5, true),
    ("SubagentStart", ALL, Script("session-start", ""), 5, true),
    ("UserPromptSubmit", ALL, Blue("user-prompt-submit"), 5, true),
    ("PreToolUse", ALL, Blue("pre-tool-use"), 5, false),
    ("PostToolUse", EDITS, Blue("post-tool-use"), 60, true),
    ("PreCompact", ALL, Blue("pre-compact"), 5, true),
    // Codex allows no more.
    ("SessionEnd", ALL, Blue("session-end"), 3, true),
];

/// The scripts that the hooks run, as they are shipped: name and bytes.
pub const SCRIPTS: &[(&str, &[u8])] = &[
    (".blue/hooks/session-start", include_bytes!("../../hooks/session-start")),
    (".blue/hooks/session-workflow", include_bytes!("../../hooks/session-workflow")),
];

/// The name of blue's server in `.mcp.json`.
pub const SERVER: &str = "blue";

/// Every hook of an agent, in the order of registration.
pub fn hooks(agent: Agent) -> Vec<AgentHook> {
    let rows = TABLE.iter().filter(|(.., codex)| agent != Agent::Codex || *codex);
    rows.map(|(event, matcher, runs, timeout, _)| AgentHook {
        event,
        matcher: match agent {
            Agent::Codex => matcher.1,
            Agent::Claude | Agent::ClaudeUser => matcher.0,
        },
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
        // By `sh`: a script with CRLF line ends has a first line that no kernel understands.
        Agent::Claude => format!("sh \"$CLAUDE_PROJECT_DIR\"/{path}{argument}"),
        // These settings hold in every repository, a stranger's too: its scripts are not run.
        Agent::ClaudeUser if argument == " global" => "blue hook session-global || :".to_string(),
        Agent::ClaudeUser => format!("blue hook {name} || :"),
        Agent::Codex if argument == " global" => upward(&path, &argument, "session-global"),
        Agent::Codex => upward(&path, &argument, name),
    }
}

/// Runs the nearest script from the current folder upwards, but not past a repository: an agent may be
/// started anywhere in a project. A script of another user is not run; `blue hook` decides then.
fn upward(path: &str, argument: &str, hook: &str) -> String {
    format!(
        "d=$PWD; until [ -x \"$d/{path}\" ]; do [ -n \"$d\" ] && [ ! -e \"$d/.git\" ] || exit 0; d=${{d%/*}}; done; [ -O \"$d\" ] && [ -O \"$d/.blue\" ] || {{ blue hook {hook}; exit 0; }}; exec sh \"$d/{path}\"{argument}"
    )
}

/// What a command of blue's does, whichever way it is written; `None` if it is not blue's.
pub fn role(command: &str) -> Option<String> {
    let name = |text: &str| -> String {
        text.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '-').collect()
    };
    if let Some(rest) = command.strip_prefix("blue hook ") {
        return Some(match name(rest).as_str() {
            "session-global" => "session-start global".to_string(),
            name => name.to_string(),
        });
    }
    let (_, rest) = command.split_once(".blue/hooks/session-")?;
    let everywhere = if command.contains(" global") { " global" } else { "" };
    Some(format!("session-{}{everywhere}", name(rest)))
}

/// Whether a command names blue's hooks and is not a command of blue's: it runs under blue's name, and
/// does something else.
pub fn is_impostor(command: &str) -> bool {
    let bare: String = command.chars().filter(|c| !"\"'\\".contains(*c)).collect();
    let names_blue = bare.split([';', '|', '&', '(', ')', '{', '}', '`', '\n']).any(|part| {
        let words: Vec<&str> = part.split_whitespace().collect();
        // These commands only print or compare their arguments.
        let harmless = ["echo", "printf", "grep", "test", "[", ":"];
        let is_harmless = words.first().is_some_and(|first| harmless.contains(first));
        let runs = words.windows(2).any(|pair| pair[0].ends_with("blue") && pair[1] == "hook");
        (runs && !is_harmless) || part.contains(".blue/hooks/session-")
    });
    let plain = |name: &str| name.bytes().all(|b| b.is_ascii_lowercase() || b == b'-');
    let simple = command.strip_prefix("blue hook ");
    let simple = simple.map(|rest| rest.strip_suffix(" || :").unwrap_or(rest)).is_some_and(plain);
    names_blue && !simple && !is_own(command)
}

/// Whether this blue registers a command with some agent, or an earlier one did.
fn is_own(command: &str) -> bool {
    let agents = [Agent::Claude, Agent::ClaudeUser, Agent::Codex];
    let scripts = TABLE.iter().filter_map(|(_, _, runs, ..)| match runs {
        Script(name, argument) => Some((name, argument)),
        Blue(_) => None,
    });
    let mut earlier = scripts.flat_map(|(name, argument)| {
        let path = format!(".blue/hooks/{name}");
        let argument = if argument.is_empty() { String::new() } else { format!(" {argument}") };
        let for_codex = format!(
            "d=$PWD; until [ -x \"$d/{path}\" ]; do [ -n \"$d\" ] || exit 0; d=${{d%/*}}; done; exec \"$d/{path}\"{argument}"
        );
        [for_codex, format!("\"$CLAUDE_PROJECT_DIR\"/{path}{argument}")]
    });
    agents.iter().any(|agent| hooks(*agent).iter().any(|hook| hook.command == command))
        || earlier.any(|earlier| earlier == command)
}

impl AgentHook {
    /// Returns the handler as it is written in settings.
    pub fn handler(&self) -> NewValue {
        NewValue::Object(vec![
            ("type", NewValue::string("command")),
            ("command", NewValue::string(&self.command)),
            ("timeout", NewValue::Number(self.timeout)),
        ])
    }

    /// Returns a group that has only this handler.
    pub fn group(&self) -> NewValue {
        let matcher = self.matcher.map(|matcher| ("matcher", NewValue::string(matcher)));
        let handlers = ("hooks", NewValue::Array(vec![self.handler()]));
        NewValue::Object(matcher.into_iter().chain([handlers]).collect())
    }
}

/// Returns the server as it is written in `.mcp.json`.
pub fn server() -> NewValue {
    NewValue::Object(vec![("command", NewValue::string("blue")), ("args", server_arguments())])
}

/// Arguments of the server.
pub fn server_arguments() -> NewValue {
    NewValue::Array(vec![NewValue::string("mcp")])
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
    fn no_command_of_blues_poses_as_one() {
        for agent in [Agent::Claude, Agent::ClaudeUser, Agent::Codex] {
            assert!(hooks(agent).iter().all(|hook| !is_impostor(&hook.command)));
            assert!(hooks(agent).iter().all(|hook| is_impostor(&format!("{}; x", hook.command))));
        }
        assert!(!is_impostor("echo blue hook x") && is_impostor("echo x; blue hook x;"));
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
