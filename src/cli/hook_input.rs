//! The JSON that an agent writes to the standard input of a hook.

use std::io::{IsTerminal, Read};

use serde_json::Value;

use crate::wire::session::{self, is_model};

/// The fields that blue uses. Each of them may be missing.
#[derive(Debug, Default)]
pub(super) struct HookInput {
    pub(super) session_id: String,
    pub(super) hook_event_name: String,
    /// Set for a subagent, which shares the session of its main agent.
    pub(super) agent_id: String,
    pub(super) tool_name: String,
    pub(super) tool_input: Value,
    /// The model in use, which some agents report at the start of a session.
    pub(super) model: Option<String>,
}

/// Size limit of the input.
const MAX_BYTES: u64 = 16 << 20;

impl HookInput {
    /// Reads standard input. Invalid JSON counts as an object without fields.
    pub(super) fn read() -> HookInput {
        let stdin = std::io::stdin();
        if stdin.is_terminal() {
            return HookInput::default();
        }
        let mut bytes = Vec::new();
        stdin.lock().take(MAX_BYTES).read_to_end(&mut bytes).ok();
        let value: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        let text = |key: &str| value[key].as_str().unwrap_or_default().to_string();
        let session_id = match ["session_id", "sessionId"].map(text).concat() {
            id if session::is_plain(&id) => session::short_id(&id),
            _ => String::new(),
        };
        HookInput {
            session_id,
            hook_event_name: text("hook_event_name"),
            agent_id: text("agent_id"),
            tool_name: text("tool_name"),
            tool_input: value["tool_input"].clone(),
            model: value["model"].as_str().filter(|model| is_model(model)).map(str::to_string),
        }
    }
}
