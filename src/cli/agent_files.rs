//! The agents that `blue install` connects, and the files of each.

use clap::ValueEnum;

use crate::model::BuildTarget;
use crate::model::build_target::OPENCODE;
use crate::model::layout::CONFIG;
use crate::wire::agent::{Agent, SessionBy, hooks, hooks_with_roles};
use crate::wire::attributes::ATTRIBUTES;
use crate::wire::copilot_hooks::{self, COPILOT_HOOKS};
use crate::wire::register::{self, JsonEntry, Registration, ServerForm};

/// Path of the hooks of Claude Code in a project.
pub(super) const CLAUDE: &str = ".claude/settings.json";
/// Path of the servers of Claude Code and of Copilot in a project.
pub(super) const MCP: &str = ".mcp.json";
/// Path of the hooks of Codex in a project.
pub(super) const CODEX: &str = ".codex/hooks.json";
/// Path of the settings of Codex in a project.
const CODEX_CONFIG: &str = ".codex/config.toml";
/// Path of the settings of Gemini CLI in a project.
const GEMINI: &str = ".gemini/settings.json";
/// Path of the servers of Cursor in a project.
const CURSOR_MCP: &str = ".cursor/mcp.json";

/// An agent that a user can name.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd, ValueEnum)]
pub(super) enum AgentName {
    /// Claude Code
    Claude,
    /// Codex CLI
    Codex,
    /// Gemini CLI
    Gemini,
    /// Copilot CLI
    Copilot,
    /// opencode
    Opencode,
    /// Cursor
    Cursor,
}

impl AgentName {
    /// All variants, in the order of their files.
    pub(super) const ALL: [AgentName; 6] = [
        AgentName::Claude,
        AgentName::Codex,
        AgentName::Gemini,
        AgentName::Copilot,
        AgentName::Opencode,
        AgentName::Cursor,
    ];

    /// Agents that are connected if the user names none.
    pub(super) const DEFAULT: [AgentName; 2] = [AgentName::Claude, AgentName::Codex];

    /// Returns the name for messages.
    pub(super) fn shown(self) -> &'static str {
        match self {
            AgentName::Claude => "Claude Code",
            AgentName::Codex => "Codex",
            AgentName::Gemini => "Gemini CLI",
            AgentName::Copilot => "Copilot",
            AgentName::Opencode => "opencode",
            AgentName::Cursor => "Cursor",
        }
    }

    /// Returns the file that only this agent reads, and the entry in it that connects the agent.
    pub(super) fn own_file(self) -> (&'static str, Registration) {
        let targets = [];
        let files = AgentFiles {
            agents: &[self],
            targets: &targets,
            servers: Servers::Included,
            has_roles: false,
        };
        let mut files = files.list();
        let at = files.iter().position(|(path, _)| *path != MCP && *path != ATTRIBUTES);
        files.swap_remove(at.expect("every agent has a file of its own"))
    }

    /// Returns the target that the agent needs beside its settings.
    pub(super) fn target(self) -> Option<BuildTarget> {
        match self {
            AgentName::Claude | AgentName::Codex => None,
            AgentName::Gemini => Some(BuildTarget::GeminiMd),
            AgentName::Copilot => Some(BuildTarget::CopilotRules),
            AgentName::Opencode => Some(BuildTarget::Opencode),
            AgentName::Cursor => Some(BuildTarget::CursorRules),
        }
    }

    /// Returns the targets from which the agent reads the session text. Newer versions of Claude Code
    /// also read `AGENTS.md` where there is no `CLAUDE.md`; `blue doctor` warns of that.
    pub(super) fn session_targets(self) -> &'static [BuildTarget] {
        match self {
            AgentName::Claude => &[BuildTarget::ClaudeMd],
            AgentName::Codex => &[BuildTarget::AgentsMd],
            AgentName::Gemini => &[BuildTarget::GeminiMd],
            // It expands imports in CLAUDE.md, and does not read GEMINI.md.
            AgentName::Copilot => {
                &[BuildTarget::AgentsMd, BuildTarget::ClaudeMd, BuildTarget::CopilotInstructions]
            }
            AgentName::Opencode => &[BuildTarget::AgentsMd, BuildTarget::Opencode],
            AgentName::Cursor => &[BuildTarget::AgentsMd, BuildTarget::CursorRules],
        }
    }

    /// Returns the way in which the agent receives the session text with some targets.
    pub(super) fn session_by(self, targets: &[BuildTarget]) -> SessionBy {
        match self.session_targets().iter().any(|target| targets.contains(target)) {
            true => SessionBy::File,
            false => SessionBy::Hook,
        }
    }
}

/// True or false for the registration of the server.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Servers {
    Included,
    Excluded,
}

/// The files that connect some agents to a project with some targets.
pub(super) struct AgentFiles<'a> {
    pub(super) agents: &'a [AgentName],
    pub(super) targets: &'a [BuildTarget],
    pub(super) servers: Servers,
    /// True if the project has responsibilities, whose packs a hook of their own prints.
    pub(super) has_roles: bool,
}

impl AgentFiles<'_> {
    /// Returns the path of each file and the entries in it.
    pub(super) fn list(&self) -> Vec<(&'static str, Registration)> {
        let mut files: Vec<(&'static str, Registration)> = Vec::new();
        let mcp = || vec![JsonEntry::Server(ServerForm::McpServers)];
        for agent in AgentName::ALL.into_iter().filter(|agent| self.agents.contains(agent)) {
            let session = agent.session_by(self.targets);
            let list = |agent| match self.has_roles {
                true => hooks_with_roles(agent, session),
                false => hooks(agent, session),
            };
            let hooks = |agent| JsonEntry::Hooks(list(agent));
            let of_agent = match agent {
                AgentName::Claude => vec![
                    (CLAUDE, Registration::Json(vec![hooks(Agent::Claude)])),
                    (MCP, Registration::Json(mcp())),
                ],
                AgentName::Codex => vec![
                    (CODEX, Registration::Json(vec![hooks(Agent::Codex)])),
                    (CODEX_CONFIG, Registration::CodexServer),
                ],
                AgentName::Gemini => {
                    let entries = [vec![hooks(Agent::Gemini)], mcp()].concat();
                    vec![(GEMINI, Registration::Json(entries))]
                }
                AgentName::Copilot => {
                    let text = copilot_hooks::text(&list(Agent::Copilot));
                    vec![
                        (COPILOT_HOOKS, Registration::HookFile(text)),
                        (MCP, Registration::Json(mcp())),
                    ]
                }
                AgentName::Opencode => {
                    let mut entries = vec![JsonEntry::Server(ServerForm::Opencode)];
                    let is_target = self.targets.contains(&BuildTarget::Opencode);
                    let files = register::opencode_files(self.targets);
                    entries.extend(is_target.then_some(JsonEntry::Instructions(files)));
                    vec![(OPENCODE, Registration::Json(entries))]
                }
                AgentName::Cursor => vec![(CURSOR_MCP, Registration::Json(mcp()))],
            };
            for (path, registration) in of_agent {
                if files.iter().all(|(other, _)| *other != path) {
                    files.extend(self.without_server(registration).map(|kept| (path, kept)));
                }
            }
        }
        files.push((ATTRIBUTES, Registration::Attributes));
        files
    }

    /// Removes the server from a registration unless servers are included.
    fn without_server(&self, registration: Registration) -> Option<Registration> {
        match registration {
            registration if self.servers == Servers::Included => Some(registration),
            Registration::CodexServer => None,
            Registration::Json(mut entries) => {
                entries.retain(|entry| !matches!(entry, JsonEntry::Server(_)));
                (!entries.is_empty()).then_some(Registration::Json(entries))
            }
            registration => Some(registration),
        }
    }
}

/// Returns the registration of the targets that agents need, in the configuration.
pub(super) fn config_file(targets: Vec<BuildTarget>) -> (&'static str, Registration) {
    (CONFIG, Registration::Targets(targets))
}
