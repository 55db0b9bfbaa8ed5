//! Other settings of an agent that decide whether hooks and server run.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::Check;
use crate::wire::agent::SERVER;

/// The settings of Claude Code that hold in a project, the strongest first.
pub(super) struct Settings(Vec<(&'static str, Value)>);

/// Files that Claude Code reads, the strongest first, below the project or the home.
const MANAGED: &str = "/etc/claude-code/managed-settings.json";
const OF_PROJECT: [&str; 2] = [".claude/settings.local.json", ".claude/settings.json"];
const OF_USER: &str = "~/.claude/settings.json";
/// The file in which Claude Code stores the user's choices for each project.
const STATE: &str = "~/.claude.json";

impl Settings {
    /// Reads what there is; a file that is no JSON counts for nothing, as with Claude Code.
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

    /// Hooks that are switched off for all, and the file that says so.
    pub(super) fn hooks_off(&self) -> Option<Check> {
        let decides = self.0.iter().find(|(_, value)| value.get("disableAllHooks").is_some());
        let (name, _) = decides.filter(|(_, value)| value["disableAllHooks"] == true)?;
        let detail = "disableAllHooks is true: Claude Code runs no hook at all";
        Some(Check::problem(*name, detail, &format!("take disableAllHooks out of {name}")))
    }

    /// A project that its person has not called trusted.
    pub(super) fn untrusted(&self) -> Option<Check> {
        let (name, state) = self.0.iter().find(|(name, _)| *name == STATE)?;
        let untrusted = state["hasTrustDialogAccepted"] == false;
        let detail =
            "this folder is not trusted: Claude Code runs its hooks only where asked with -p";
        let hint = "start `claude` here and accept its dialog";
        untrusted.then(|| Check::warning(*name, detail, hint))
    }

    /// The server that is switched off, and the file that says so.
    pub(super) fn server_off(&self) -> Option<Check> {
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
        Some(Check::problem(*name, detail, &format!("take {SERVER:?} out of {key} in {name}")))
    }

    /// The PATH that hooks get instead of the person's own, and the file that sets it.
    pub(super) fn path(&self) -> Option<(&'static str, &str)> {
        self.0.iter().find_map(|(name, value)| Some((*name, value["env"]["PATH"].as_str()?)))
    }
}

/// Why an agent refuses a text that blue can read: agents want JSON to the letter.
pub(super) fn refused(text: &str) -> Option<String> {
    let text = text.trim_start_matches('\u{feff}');
    let error = serde_json::from_str::<serde::de::IgnoredAny>(text).err()?;
    Some(format!(
        "line {}: a comment, a trailing comma or other text that is no JSON; the agent ignores the whole file",
        error.line()
    ))
}

/// Whether Codex trusts the hooks of a file; `None` where Codex is not used.
pub(super) fn codex_trust(hooks: &Path) -> Option<Check> {
    let folder = std::env::var_os("CODEX_HOME").filter(|path| !path.is_empty());
    let folder = folder.map(PathBuf::from).or_else(|| home().map(|home| home.join(".codex")))?;
    if !folder.is_dir() {
        return None;
    }
    let config = std::fs::read(folder.join("config.toml")).unwrap_or_default();
    let config = String::from_utf8_lossy(&config);
    // Codex keeps the hash of each hook that was trusted under the hook's file, event and place.
    let start = format!("[hooks.state.\"{}:session_start:", hooks.display());
    let mut lines = config.lines().map(str::trim).skip_while(|line| !line.starts_with(&start));
    let known = lines.next().is_some();
    let entry: Vec<&str> = lines.take_while(|line| !line.starts_with('[')).collect();
    let has = |start: &str| entry.iter().any(|line| line.starts_with(start));
    let hint = "type /hooks in Codex and trust them";
    Some(match (known && has("trusted_hash"), has("enabled = false")) {
        (true, true) => Check::warning("Codex", "the hooks are switched off", hint),
        (true, false) => Check::ok("Codex", "the hooks were trusted; after a change it asks again"),
        (false, _) => {
            let detail = "the hooks are not trusted: Codex skips them without a word";
            Check::warning("Codex", detail, hint)
        }
    })
}

/// The main checkout of a linked worktree.
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
