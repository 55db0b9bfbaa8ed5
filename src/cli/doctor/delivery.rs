//! Checks that no agent receives the session text twice.

use super::DoctorCheck;
use crate::cli::agent_files::AgentName;
use crate::cli::connected::configured_targets;
use crate::cli::installation::SettingsFile;
use crate::model::BuildTarget;
use crate::root::Root;
use crate::wire::agent::SessionBy;
use crate::wire::register;

/// Reports agents that get the session text from a hook and from a file, or from two files.
pub(super) fn twice(files: &[SettingsFile]) -> Vec<DoctorCheck> {
    let Some(root) = files.first().map(|file| &file.root) else { return Vec::new() };
    let targets = configured_targets(root).unwrap_or_default();
    let mut checks = Vec::new();
    for agent in AgentName::ALL {
        let (path, _) = agent.own_file();
        let file = files.iter().find(|file| file.path == path);
        let has_hook = file.is_some_and(prints_session);
        let name = agent.shown();
        if has_hook && agent.session_by(&targets) == SessionBy::File {
            let detail =
                format!("{name} receives the session text twice: from a target and from its hook");
            checks.push(DoctorCheck::warning(path, detail, "run `blue install`"));
        }
        if has_hook && agent == AgentName::Claude && may_read_agents_md(root, &targets) {
            let detail = "newer versions of Claude Code read it where there is no CLAUDE.md, and receive the session text twice";
            let hint = "make CLAUDE.md a link to it: `ln -s AGENTS.md CLAUDE.md`";
            checks.push(DoctorCheck::warning("AGENTS.md", detail, hint));
        }
        checks.extend(from_two_files(agent, &targets));
    }
    checks
}

fn prints_session(file: &SettingsFile) -> bool {
    let text = file.text().ok().flatten().unwrap_or_default();
    register::roles(&text, &file.registration).iter().any(|role| role == "session-start")
}

/// Returns true if Claude Code may take `AGENTS.md` for its instructions. Some versions do, so the hook
/// prints the text all the same: twice is better than never.
fn may_read_agents_md(root: &Root, targets: &[BuildTarget]) -> bool {
    let is_there = |path: &&str| root.exists(path);
    targets.contains(&BuildTarget::AgentsMd)
        && !["CLAUDE.md", ".claude/CLAUDE.md"].iter().any(is_there)
}

/// Reports two targets that have the same text for one agent. With `agents-md`, the build leaves it
/// out of Cursor's rules and of opencode's instructions.
fn from_two_files(agent: AgentName, targets: &[BuildTarget]) -> Option<DoctorCheck> {
    let read: Vec<&str> = agent
        .session_targets()
        .iter()
        .filter(|target| targets.contains(target))
        .filter(|target| !matches!(target, BuildTarget::CursorRules | BuildTarget::Opencode))
        .map(|target| target.as_str())
        .collect();
    let [first, second, ..] = read.as_slice() else { return None };
    let detail =
        format!("{} receives the session text of both {first} and {second}", agent.shown());
    let hint = format!("remove {second} from targets in .blue/config.yaml");
    Some(DoctorCheck::warning("targets", detail, &hint))
}
