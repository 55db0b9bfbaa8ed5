//! The agents that are connected to a project, and the targets of its configuration.

use super::agent_files::AgentName;
use super::installation::read_bytes;
use crate::model::BuildTarget;
use crate::model::layout::CONFIG;
use crate::root::Root;
use crate::wire::config_targets;
use crate::wire::register;

/// Returns the agents whose own settings have blue in them.
pub(super) fn connected_agents(root: &Root) -> Vec<AgentName> {
    let is_connected = |agent: &AgentName| {
        let (path, registration) = agent.own_file();
        let text = root.readable_bytes(path, 16 << 20).map(String::from_utf8);
        let Some(Ok(text)) = text else { return false };
        register::is_registered(&text, &registration).unwrap_or(false)
    };
    AgentName::ALL.into_iter().filter(is_connected).collect()
}

/// Returns the targets in the configuration of a project.
pub(super) fn configured_targets(root: &Root) -> anyhow::Result<Vec<BuildTarget>> {
    let bytes = read_bytes(root, CONFIG, CONFIG)?.unwrap_or_default();
    Ok(config_targets::names(&String::from_utf8_lossy(&bytes)))
}
