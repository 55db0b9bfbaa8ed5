//! Table of the hooks that blue registers with each agent, and the server.

use super::jsonc_edit::NewValue;
use crate::model::layout::HOOKS;

/// A handler to register for one event.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct AgentHook {
    /// Name of the event.
    pub event: &'static str,
    /// Pattern of tool names; `None` for all.
    pub matcher: Option<&'static str>,
    /// Command for the agent's shell.
    pub command: String,
    /// Timeout in seconds.
    pub timeout: u64,
}

/// Settings that a hook is registered in.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Agent {
    /// Claude Code, in the project's settings.
    Claude,
    /// Claude Code, in the user's settings, for every project.
    ClaudeUser,
    /// Codex, in the project.
    Codex,
}

/// Program that a hook runs.
#[derive(Clone, Copy, Debug)]
enum HookProgram {
    /// A script in `.blue/hooks`, with its argument.
    Script(&'static str, &'static str),
    /// `blue hook` with this name.
    Blue(&'static str),
}

use HookProgram::{Blue, Script};

/// Tools that edit files. The tool of Codex also matches two names of Claude Code.
const EDITS: Matchers = Matchers {
    claude: Some("Edit|MultiEdit|Write|NotebookEdit"),
    codex: Some("apply_patch|Edit|Write"),
};
/// A resumed session already has the text. Claude Code drops a second copy of the same bytes, Codex
/// does not.
const STARTS: Matchers = Matchers { claude: None, codex: Some("startup|clear|compact") };
const ALL: Matchers = Matchers { claude: None, codex: None };

/// Patterns of tool names or sources in Claude Code and in Codex; `None` for all.
struct Matchers {
    claude: Option<&'static str>,
    codex: Option<&'static str>,
}

/// Event, matchers, program, timeout in seconds, and true if Codex has the event too. Each text for
/// the start of a session has its own entry, because agents limit the output of each entry.
type HookRow = (&'static str, Matchers, HookProgram, u64, bool);
const TABLE: &[HookRow] = &[
    ("SessionStart", STARTS, Script("session-start", "global"), 5, true),
    ("SessionStart", STARTS, Script("session-start", ""), 5, true),
    ("SessionStart", STARTS, Script("session-start", "knowledge"), 5, true),
    ("SessionStart", STARTS, Script("session-workflow", ""), 5, true),
    ("SubagentStart", ALL, Script("session-start", ""), 5, true),
    ("UserPromptSubmit", ALL, Blue("user-prompt-submit"), 5, true),
    ("PreToolUse", ALL, Blue("pre-tool-use"), 5, false),
    ("PostToolUse", EDITS, Blue("post-tool-use"), 60, true),
    ("PreCompact", ALL, Blue("pre-compact"), 5, true),
    // Codex allows at most 3 seconds.
    ("SessionEnd", ALL, Blue("session-end"), 3, true),
];

/// Path and bytes of each shipped hook script.
pub const SCRIPTS: &[(&str, &[u8])] = &[
    (".blue/hooks/session-start", include_bytes!("../../hooks/session-start")),
    (".blue/hooks/session-workflow", include_bytes!("../../hooks/session-workflow")),
];

/// Name of blue's server in `.mcp.json`.
pub const SERVER: &str = "blue";

/// Returns the hooks of an agent, in the order of registration.
pub fn hooks(agent: Agent) -> Vec<AgentHook> {
    let rows = TABLE.iter().filter(|(.., codex)| agent != Agent::Codex || *codex);
    rows.map(|(event, matchers, program, timeout, _)| AgentHook {
        event,
        matcher: match agent {
            Agent::Codex => matchers.codex,
            Agent::Claude | Agent::ClaudeUser => matchers.claude,
        },
        command: command(agent, *program),
        timeout: *timeout,
    })
    .collect()
}

fn command(agent: Agent, program: HookProgram) -> String {
    let (name, argument) = match program {
        // An agent ignores the output of a failed hook, and some agents stop. A missing or outdated
        // blue must not have that effect.
        Blue(name) => return format!("blue hook {name} || :"),
        Script(name, argument) => (name, argument),
    };
    let suffix = if argument.is_empty() { String::new() } else { format!(" {argument}") };
    let path = format!("{HOOKS}/{name}");
    match agent {
        // Run by `sh`, because the kernel cannot read the first line of a script with CR LF.
        Agent::Claude => format!("sh \"$CLAUDE_PROJECT_DIR\"/{path}{suffix}"),
        // These settings apply to every repository, also to hostile ones, so no script is run.
        Agent::ClaudeUser => format!("blue hook {} || :", event_name(name, argument)),
        Agent::Codex => upward(&path, &suffix, &event_name(name, argument)),
    }
}

/// Returns the event of `blue hook` that prints the same as a script with an argument.
fn event_name(script: &str, argument: &str) -> String {
    match argument {
        "" => script.to_string(),
        argument => format!("session-{argument}"),
    }
}

/// Returns a command that runs the nearest script in the current folder or above, within the
/// repository, because an agent may be started anywhere in a project. If the folder belongs to another
/// user, the command runs `blue hook` instead.
fn upward(path: &str, argument: &str, hook: &str) -> String {
    format!(
        "d=$PWD; until [ -x \"$d/{path}\" ]; do [ -n \"$d\" ] && [ ! -e \"$d/.git\" ] || exit 0; d=${{d%/*}}; done; [ -O \"$d\" ] && [ -O \"$d/.blue\" ] || {{ blue hook {hook}; exit 0; }}; exec sh \"$d/{path}\"{argument}"
    )
}

/// Returns the purpose of a command of this or an earlier blue; `None` for other commands.
pub fn role(command: &str) -> Option<String> {
    let name = |text: &str| -> String {
        text.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '-').collect()
    };
    if let Some(rest) = command.strip_prefix("blue hook ") {
        return Some(match name(rest).as_str() {
            "session-global" => "session-start global".to_string(),
            "session-knowledge" => "session-start knowledge".to_string(),
            name => name.to_string(),
        });
    }
    let (_, rest) = command.split_once(".blue/hooks/session-")?;
    let arguments = [" global", " knowledge"];
    let argument = arguments.into_iter().find(|argument| command.contains(argument));
    Some(format!("session-{}{}", name(rest), argument.unwrap_or_default()))
}

/// Returns true if a command mentions blue's hooks but is not one that blue registers.
pub fn is_impostor(command: &str) -> bool {
    let bare: String = command.chars().filter(|c| !"\"'\\".contains(*c)).collect();
    let mentions_blue = bare.split([';', '|', '&', '(', ')', '{', '}', '`', '\n']).any(|part| {
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
    mentions_blue && !simple && !is_registered_command(command)
}

/// Returns true if this or an earlier version of blue registers a command.
fn is_registered_command(command: &str) -> bool {
    let agents = [Agent::Claude, Agent::ClaudeUser, Agent::Codex];
    let scripts = TABLE.iter().filter_map(|(_, _, program, ..)| match program {
        Script(name, argument) => Some((name, argument)),
        Blue(_) => None,
    });
    let mut earlier = scripts.flat_map(|(name, argument)| {
        let path = format!("{HOOKS}/{name}");
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
        assert_eq!(once.len(), claude.len(), "no two hooks of an event have the same role");
        assert!(roles(Agent::Codex).iter().all(|role| claude.contains(role)));
    }

    #[test]
    fn blues_own_commands_are_no_impostors() {
        for agent in [Agent::Claude, Agent::ClaudeUser, Agent::Codex] {
            assert!(hooks(agent).iter().all(|hook| !is_impostor(&hook.command)));
            assert!(hooks(agent).iter().all(|hook| is_impostor(&format!("{}; x", hook.command))));
        }
        assert!(!is_impostor("echo blue hook x") && is_impostor("echo x; blue hook x;"));
    }

    #[test]
    fn similar_commands_have_no_role() {
        for command in
            ["echo blue hook x", "bluehook", "blue knowledge build", "~/.blue/hooks/other"]
        {
            assert_eq!(role(command), None, "{command}");
        }
    }
}
