//! The agents that are connected to a project, and the targets of its configuration.

use super::agent_files::AgentName;
use super::installation::read_bytes;
use crate::build::responsibilities;
use crate::model::BuildTarget;
use crate::model::layout::{CONFIG, RESPONSIBILITIES};
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

/// Returns true if a project has responsibilities: in its configuration, or as containers. A problem
/// in the configuration is reported elsewhere.
pub(super) fn has_responsibilities(root: &Root) -> bool {
    let config = root.readable_bytes(CONFIG, 1 << 20).unwrap_or_default();
    let is_configured =
        String::from_utf8_lossy(&config).lines().any(|line| line.starts_with("responsibilities:"));
    if is_configured || root.exists(RESPONSIBILITIES) {
        return true;
    }
    let inputs = crate::build::load(root).ok();
    let read = inputs.and_then(|inputs| responsibilities::read_all(root, &inputs).ok());
    read.is_some_and(|(roles, _)| !roles.is_empty())
}
