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
    /// Gemini CLI, in the project.
    Gemini,
    /// Copilot CLI, in the project.
    Copilot,
}

impl Agent {
    /// All variants.
    pub const ALL: [Agent; 5] =
        [Agent::Claude, Agent::ClaudeUser, Agent::Codex, Agent::Gemini, Agent::Copilot];
}

/// The way in which an agent receives the session text.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SessionBy {
    /// A hook prints it.
    Hook,
    /// The agent reads a file that has it, so that a hook would deliver it twice.
    File,
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

/// An event of an agent, with the pattern of tool names or sources; `None` for all.
type EventMatcher = (&'static str, Option<&'static str>);

/// A program, its timeout in seconds, and the event of each agent that starts it.
struct HookRow {
    program: HookProgram,
    timeout: u64,
    claude: Option<EventMatcher>,
    codex: Option<EventMatcher>,
    gemini: Option<EventMatcher>,
    copilot: Option<EventMatcher>,
}

/// Events at the start of a session. A resumed session already has the text. Claude Code drops a
/// second copy of the same bytes, Codex does not.
const fn at_start(program: HookProgram) -> HookRow {
    HookRow {
        program,
        timeout: 5,
        claude: Some(("SessionStart", None)),
        codex: Some(("SessionStart", Some("startup|clear|compact"))),
        gemini: Some(("SessionStart", None)),
        copilot: Some(("sessionStart", None)),
    }
}

/// Events of Claude Code and of Codex only.
const fn of_two(event: &'static str, program: HookProgram) -> HookRow {
    let event = Some((event, None));
    HookRow { program, timeout: 5, claude: event, codex: event, gemini: None, copilot: None }
}

/// Name of the script that prints the pack of a responsibility.
const RESPONSIBILITY: &str = "session-responsibility";

/// Each text for the start of a session has its own entry, because agents limit the output of each
/// entry.
const TABLE: &[HookRow] = &[
    at_start(Script("session-start", "global")),
    at_start(Script("session-start", "")),
    at_start(Script("session-start", "knowledge")),
    at_start(Script("session-workflow", "")),
    at_start(Script(RESPONSIBILITY, "")),
    of_two("SubagentStart", Script("session-start", "")),
    HookRow {
        gemini: Some(("BeforeAgent", None)),
        copilot: Some(("userPromptSubmitted", None)),
        ..of_two("UserPromptSubmit", Blue("user-prompt-submit"))
    },
    HookRow {
        // Codex needs the branch guard only, for the tool that changes files.
        codex: Some(("PreToolUse", Some("apply_patch|Edit|Write"))),
        ..of_two("PreToolUse", Blue("pre-tool-use"))
    },
    HookRow {
        timeout: 60,
        claude: Some(("PostToolUse", Some("Edit|MultiEdit|Write|NotebookEdit"))),
        // The tool of Codex also matches two names of Claude Code.
        codex: Some(("PostToolUse", Some("apply_patch|Edit|Write"))),
        gemini: Some(("AfterTool", Some("write_file|replace"))),
        ..of_two("", Blue("post-tool-use"))
    },
    of_two("PreCompact", Blue("pre-compact")),
    HookRow {
        // Codex allows at most 3 seconds.
        timeout: 3,
        gemini: Some(("SessionEnd", None)),
        copilot: Some(("sessionEnd", None)),
        ..of_two("SessionEnd", Blue("session-end"))
    },
];

/// Path and bytes of each shipped hook script.
pub const SCRIPTS: &[(&str, &[u8])] = &[
    (".blue/hooks/session-start", include_bytes!("../../hooks/session-start")),
    (".blue/hooks/session-workflow", include_bytes!("../../hooks/session-workflow")),
    (".blue/hooks/session-responsibility", include_bytes!("../../hooks/session-responsibility")),
];

/// Name of blue's server in `.mcp.json`.
pub const SERVER: &str = "blue";

/// Returns the hooks of an agent in a project without responsibilities, in the order of
/// registration.
pub fn hooks(agent: Agent, session: SessionBy) -> Vec<AgentHook> {
    let mut hooks = hooks_with_roles(agent, session);
    hooks.retain(|hook| role(&hook.command).as_deref() != Some(RESPONSIBILITY));
    hooks
}

/// Returns the hooks of an agent in a project with responsibilities, in the order of registration.
pub fn hooks_with_roles(agent: Agent, session: SessionBy) -> Vec<AgentHook> {
    let is_needed = |row: &&HookRow| {
        session == SessionBy::Hook || !matches!(row.program, Script("session-start", ""))
    };
    let hook = |row: &HookRow| {
        let (event, matcher) = match agent {
            Agent::Claude | Agent::ClaudeUser => row.claude,
            Agent::Codex => row.codex,
            Agent::Gemini => row.gemini,
            Agent::Copilot => row.copilot,
        }?;
        let milliseconds = if agent == Agent::Gemini { 1_000 } else { 1 };
        let timeout = row.timeout * milliseconds;
        Some(AgentHook { event, matcher, command: command(agent, row.program), timeout })
    };
    TABLE.iter().filter(is_needed).filter_map(hook).collect()
}

fn command(agent: Agent, program: HookProgram) -> String {
    // The output that these agents take differs from that of the others.
    let form = match agent {
        Agent::Claude | Agent::ClaudeUser | Agent::Codex => None,
        Agent::Gemini => Some("gemini"),
        Agent::Copilot => Some("copilot"),
    };
    let flag = form.map_or(String::new(), |form| format!(" --agent {form}"));
    let (name, argument) = match program {
        // An agent ignores the output of a failed hook, and some agents stop. A missing or outdated
        // blue must not have that effect.
        Blue(name) => return format!("blue hook {name}{flag} || :"),
        Script(name, argument) => (name, argument),
    };
    let words = [argument, form.unwrap_or_default()];
    let arguments: String =
        words.iter().filter(|word| !word.is_empty()).map(|word| format!(" {word}")).collect();
    let path = format!("{HOOKS}/{name}");
    let hook = event_name(name, argument);
    match agent {
        // Run by `sh`, because the kernel cannot read the first line of a script with CR LF.
        Agent::Claude => format!("sh \"$CLAUDE_PROJECT_DIR\"/{path}{arguments}"),
        // These settings apply to every repository, also to hostile ones, so no script is run.
        Agent::ClaudeUser => format!("blue hook {hook} || :"),
        Agent::Codex | Agent::Copilot => upward(&path, &arguments, &format!("{hook}{flag}")),
        Agent::Gemini => format!("sh \"$GEMINI_PROJECT_DIR\"/{path}{arguments} || :"),
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
    let scripts = TABLE.iter().filter_map(|row| match row.program {
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
    let all = Agent::ALL.into_iter().flat_map(|agent| hooks_with_roles(agent, SessionBy::Hook));
    all.into_iter().any(|hook| hook.command == command) || earlier.any(|earlier| earlier == command)
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
        let hooks = |agent| hooks_with_roles(agent, SessionBy::Hook);
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
        for agent in [Agent::Gemini, Agent::Copilot] {
            let known = |(_, role): &(&str, String)| claude.iter().any(|(_, other)| other == role);
            assert!(roles(agent).iter().all(known), "{agent:?}");
        }
    }

    #[test]
    fn an_agent_that_reads_a_file_gets_no_session_hook() {
        for agent in Agent::ALL {
            let has_session = |session| {
                let hooks = hooks(agent, session);
                hooks.iter().any(|hook| role(&hook.command).unwrap() == "session-start")
            };
            assert!(has_session(SessionBy::Hook) && !has_session(SessionBy::File), "{agent:?}");
        }
    }

    #[test]
    fn the_hook_of_responsibilities_is_registered_only_where_there_are_some() {
        for agent in Agent::ALL {
            let has_it = |hooks: Vec<AgentHook>| {
                hooks.iter().any(|hook| role(&hook.command).as_deref() == Some(RESPONSIBILITY))
            };
            assert!(!has_it(hooks(agent, SessionBy::Hook)), "{agent:?}");
            assert!(has_it(hooks_with_roles(agent, SessionBy::Hook)), "{agent:?}");
        }
    }

    #[test]
    fn blues_own_commands_are_no_impostors() {
        for agent in Agent::ALL {
            let hooks = hooks_with_roles(agent, SessionBy::Hook);
            assert!(hooks.iter().all(|hook| !is_impostor(&hook.command)));
            assert!(hooks.iter().all(|hook| is_impostor(&format!("{}; x", hook.command))));
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
