//! Reads the settings of agents that can prevent hooks and the server from running.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::DoctorCheck;
use crate::wire::agent::SERVER;

/// Settings of Claude Code that apply to a project, in order of precedence.
pub(super) struct Settings(Vec<(&'static str, Value)>);

// Files that Claude Code reads, in order of precedence.
const MANAGED: &str = "/etc/claude-code/managed-settings.json";
const OF_PROJECT: [&str; 2] = [".claude/settings.local.json", ".claude/settings.json"];
const OF_USER: &str = "~/.claude/settings.json";
// In this file, Claude Code stores the user's choices for each project.
const STATE: &str = "~/.claude.json";

impl Settings {
    /// Reads the files that exist. A file that is not JSON is ignored, as Claude Code does.
    pub(super) fn read(folder: &Path) -> Settings {
        let home = home();
        let in_home =
            |name: &str| home.as_ref().map(|home| home.join(name.trim_start_matches("~/")));
        let mut files = vec![(MANAGED, Some(PathBuf::from(MANAGED)))];
        files.extend(OF_PROJECT.map(|name| (name, Some(folder.join(name)))));
        files.push((OF_USER, in_home(OF_USER)));
        let read = |(name, path): (&'static str, Option<PathBuf>)| Some((name, json(&path?)?));
        let mut all: Vec<(&'static str, Value)> = files.into_iter().filter_map(read).collect();
        let state = in_home(STATE).and_then(|path| json(&path)).map(|mut state| {
            let key = folder.display().to_string();
            state.pointer_mut("/projects").and_then(|all| all.get_mut(&key)).map(Value::take)
        });
        all.extend(state.flatten().map(|state| (STATE, state)));
        Settings(all)
    }

    /// Reports a file that switches all hooks off.
    pub(super) fn hooks_off(&self) -> Option<DoctorCheck> {
        let first = self.0.iter().find(|(_, value)| value.get("disableAllHooks").is_some());
        let (name, _) = first.filter(|(_, value)| value["disableAllHooks"] == true)?;
        let detail = "disableAllHooks is true: Claude Code runs no hook at all";
        Some(DoctorCheck::problem(*name, detail, &format!("remove disableAllHooks from {name}")))
    }

    /// Reports a project that the user has not trusted.
    pub(super) fn untrusted(&self) -> Option<DoctorCheck> {
        let (name, state) = self.0.iter().find(|(name, _)| *name == STATE)?;
        let untrusted = state["hasTrustDialogAccepted"] == false;
        let detail =
            "this folder is not trusted: Claude Code runs its hooks only where asked with -p";
        let hint = "start `claude` here and accept its dialog";
        untrusted.then(|| DoctorCheck::warning(*name, detail, hint))
    }

    /// Reports a file that switches the server off.
    pub(super) fn server_off(&self) -> Option<DoctorCheck> {
        let keys = ["disabledMcpjsonServers", "disabledMcpServers"];
        let has = |value: &Value, key: &str| {
            let names = value[key].as_array().into_iter().flatten();
            names.into_iter().any(|name| name == SERVER)
        };
        let found = self.0.iter().find_map(|(name, value)| {
            keys.into_iter().find(|key| has(value, key)).map(|key| (name, key))
        });
        let (name, key) = found?;
        let detail = format!("{key} has {SERVER:?}: Claude Code does not start the server");
        Some(DoctorCheck::problem(
            *name,
            detail,
            &format!("remove {SERVER:?} from {key} in {name}"),
        ))
    }

    /// Returns the PATH that settings set for hooks, with the file that sets it.
    pub(super) fn path(&self) -> Option<(&'static str, &str)> {
        self.0.iter().find_map(|(name, value)| Some((*name, value["env"]["PATH"].as_str()?)))
    }
}

/// Returns the reason why an agent rejects a text that blue accepts. Agents require strict JSON.
pub(super) fn refused(text: &str) -> Option<String> {
    let text = text.trim_start_matches('\u{feff}');
    let error = serde_json::from_str::<serde::de::IgnoredAny>(text).err()?;
    Some(format!(
        "line {}: a comment, a trailing comma or other text that is not JSON; the agent ignores the whole file",
        error.line()
    ))
}

/// Checks that Codex trusts the hooks of a file; `None` where Codex is not used.
pub(super) fn codex_trust(hooks: &Path) -> Option<DoctorCheck> {
    let folder = std::env::var_os("CODEX_HOME").filter(|path| !path.is_empty());
    let folder = folder.map(PathBuf::from).or_else(|| home().map(|home| home.join(".codex")))?;
    if !folder.is_dir() {
        return None;
    }
    let config = std::fs::read(folder.join("config.toml")).unwrap_or_default();
    let config = String::from_utf8_lossy(&config);
    // Codex stores the hash of each trusted hook under the hook's file, event and index.
    let start = format!("[hooks.state.\"{}:session_start:", hooks.display());
    let mut lines = config.lines().map(str::trim).skip_while(|line| !line.starts_with(&start));
    let known = lines.next().is_some();
    let entry: Vec<&str> = lines.take_while(|line| !line.starts_with('[')).collect();
    let has = |start: &str| entry.iter().any(|line| line.starts_with(start));
    let hint = "type /hooks in Codex and trust them";
    Some(match (known && has("trusted_hash"), has("enabled = false")) {
        (true, true) => DoctorCheck::warning("Codex", "the hooks are switched off", hint),
        (true, false) => {
            DoctorCheck::ok("Codex", "the hooks were trusted; after a change it asks again")
        }
        (false, _) => {
            let detail = "the hooks are not trusted: Codex skips them without a message";
            DoctorCheck::warning("Codex", detail, hint)
        }
    })
}

/// Finds the main checkout of a linked worktree.
pub(super) fn main_checkout(folder: &Path) -> Option<PathBuf> {
    let text = |path: &Path| {
        let bytes = std::fs::read(path).ok().filter(|bytes| bytes.len() < 1 << 16)?;
        String::from_utf8(bytes).ok()
    };
    let file = folder.join(".git");
    let git = text(&file.is_file().then_some(file)?)?;
    let git = folder.join(git.strip_prefix("gitdir:")?.trim());
    let common = git.join(text(&git.join("commondir"))?.trim()).canonicalize().ok()?;
    (common.file_name()? == ".git").then(|| common.parent().map(Path::to_path_buf))?
}

fn home() -> Option<PathBuf> {
    std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute())
}

fn json(path: &Path) -> Option<Value> {
    serde_json::from_slice(&std::fs::read(path).ok()?).ok()
}
