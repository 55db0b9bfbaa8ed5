//! Entries that blue writes into settings in JSON: hooks, its server and files to include.

use std::collections::BTreeSet;

use super::agent::{AgentHook, server, server_arguments};
use super::jsonc::{Node, NodeKind};
use super::jsonc_edit::NewValue;
use crate::model::layout::{CURRENT, KNOWLEDGE_BUNDLE, SESSION};

/// An entry that blue writes into settings in JSON.
#[derive(Clone, Debug)]
pub enum JsonEntry {
    /// Handlers of events, under `hooks`.
    Hooks(Vec<AgentHook>),
    /// blue's server.
    Server(ServerForm),
    /// Files that an agent adds to its instructions, under `instructions`.
    Instructions(IncludedFiles),
}

/// Files that an agent includes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum IncludedFiles {
    /// The session text, hand-written knowledge and the current work.
    SessionAndWork,
    /// All but the session text, if the agent reads that elsewhere.
    Work,
}

impl IncludedFiles {
    /// Returns the paths.
    pub(super) fn paths(self) -> &'static [&'static str] {
        match self {
            IncludedFiles::SessionAndWork => &INSTRUCTIONS,
            IncludedFiles::Work => &INSTRUCTIONS[1..],
        }
    }
}

/// The way in which an agent lists its servers.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ServerForm {
    /// Under `mcpServers`, with a program and its arguments.
    McpServers,
    /// Under `mcp`, with a type and one list for program and arguments, as in opencode.
    Opencode,
}

/// All files of blue's that an agent can include.
pub(super) const INSTRUCTIONS: [&str; 3] = [SESSION, KNOWLEDGE_BUNDLE, CURRENT];

impl ServerForm {
    pub(super) fn container(self) -> &'static str {
        match self {
            ServerForm::McpServers => "mcpServers",
            ServerForm::Opencode => "mcp",
        }
    }

    pub(super) fn value(self) -> NewValue {
        match self {
            ServerForm::McpServers => server(),
            ServerForm::Opencode => NewValue::Object(vec![
                ("type", NewValue::string("local")),
                (
                    "command",
                    NewValue::Array(
                        vec!["blue", "mcp"].into_iter().map(NewValue::string).collect(),
                    ),
                ),
                ("enabled", NewValue::Bool(true)),
            ]),
        }
    }

    /// Returns true if a server is blue's, whatever settings a user added to it.
    pub(super) fn is_own(self, node: &Node) -> bool {
        match self {
            ServerForm::McpServers => node.get_str("command") == Some("blue"),
            ServerForm::Opencode => {
                let first = node.get("command").and_then(|command| command.children().first());
                first.is_some_and(|first| first.node.kind == NodeKind::String("blue".to_string()))
            }
        }
    }

    /// Returns true if a server of blue's has the arguments of this version.
    pub(super) fn is_current(self, text: &str, node: &Node) -> bool {
        let expected = match self {
            ServerForm::McpServers => ("args", server_arguments()),
            ServerForm::Opencode => (
                "command",
                NewValue::Array(vec![NewValue::string("blue"), NewValue::string("mcp")]),
            ),
        };
        node.get(expected.0).is_some_and(|node| expected.1.equals(text, node))
    }
}

impl JsonEntry {
    /// Returns the containers that only this entry needs, if no others are in them.
    pub(super) fn containers(&self) -> BTreeSet<String> {
        match self {
            JsonEntry::Server(form) => BTreeSet::from([form.container().to_string()]),
            JsonEntry::Instructions(_) => BTreeSet::from(["instructions".to_string()]),
            JsonEntry::Hooks(hooks) => {
                let events = hooks.iter().map(|hook| format!("hooks/{}", hook.event));
                events.chain(["hooks".to_string()]).collect()
            }
        }
    }
}
