//! Checks that blue is registered with agents and that they can run it.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::delivery;
use super::settings::{self, Settings};
use super::{CheckState, DoctorCheck};
use crate::cli::agent_files::{AgentFiles, AgentName, CLAUDE, CODEX, MCP, Servers};
use crate::cli::connected::{configured_targets, connected_agents, has_responsibilities};
use crate::cli::installation::{FileStatus, Installation, ScriptState, SettingsFile, script_state};
use crate::model::plural::counted;
use crate::root::Root;
use crate::wire::agent::SCRIPTS;
use crate::wire::register::{Impostor, JsonEntry, Registration};

const INSTALL: &str = "run `blue install`";

/// Checks that the scripts are those that blue ships. Only those with a problem are listed.
pub(super) fn scripts(root: &Root) -> Vec<DoctorCheck> {
    let check = |(path, shipped): &(&str, &[u8])| match script_state(root, path, shipped) {
        Ok(ScriptState::Current) => DoctorCheck::ok(*path, "current, executable"),
        Ok(ScriptState::Absent) => DoctorCheck::problem(*path, "does not exist", INSTALL),
        Ok(ScriptState::Older | ScriptState::Marked(_)) => {
            let detail = "is older than this blue, has CR LF line endings, or is not executable";
            DoctorCheck::problem(*path, detail, INSTALL)
        }
        Ok(ScriptState::Edited) => {
            let hint = "to replace it, move it away and run `blue install`";
            DoctorCheck::warning(
                *path,
                "differs from the script that blue ships: edited by hand",
                hint,
            )
        }
        Err(error) => DoctorCheck::problem(*path, first_line(&error), INSTALL),
    };
    let checks: Vec<DoctorCheck> = SCRIPTS.iter().map(check).collect();
    let detail = format!("{}, current, executable", counted(checks.len(), "script"));
    let folder = SCRIPTS[0].0.rsplit_once('/').map_or("", |(folder, _)| folder);
    DoctorCheck::group(folder, detail, checks)
}

/// Checks that every settings file has the entries that `blue install` writes. If one agent is
/// connected, another agent that is not connected is only a warning.
pub(super) fn registered(folder: &Path, settings: &Settings) -> Vec<DoctorCheck> {
    let project = match project_files(folder) {
        Ok(files) => files,
        Err(error) => return vec![DoctorCheck::problem("settings", first_line(&error), INSTALL)],
    };
    let (user, unreadable) = match Installation::user(Servers::Included) {
        Ok(installation) => (installation.files, None),
        Err(error) => (Vec::new(), Some(first_line(&error))),
    };
    let here: Vec<SettingsState> = project.iter().map(settings_state).collect();
    let everywhere: Vec<SettingsState> = user.iter().map(settings_state).collect();
    let has_hooks = |states: &[SettingsState], files: &[SettingsFile]| {
        states.iter().zip(files).any(|(state, file)| state.is_registered() && file.has_hooks())
    };
    let has_any_hooks = has_hooks(&here, &project) || has_hooks(&everywhere, &user);
    let of_project = project.iter().zip(&here);
    let of_user =
        user.iter().zip(&everywhere).filter(|(_, state)| !matches!(state, SettingsState::Missing));
    let mut checks: Vec<DoctorCheck> =
        of_project.chain(of_user).map(|(file, state)| check(file, state, has_any_hooks)).collect();
    if let Ok(local) = local_file(folder)
        && let state @ SettingsState::Impostor(..) = settings_state(&local)
    {
        checks.push(check(&local, &state, has_any_hooks));
    }
    let hint = "without it, only this project's settings are used";
    checks.extend(unreadable.map(|why| DoctorCheck::warning("~/.claude/settings.json", why, hint)));
    checks.extend(blocked(&project, &here, &everywhere, settings));
    checks.extend(delivery::twice(&project));
    checks
}

/// Returns the files of a project. In a linked worktree, Codex reads the hooks of the main checkout.
fn project_files(folder: &Path) -> anyhow::Result<Vec<SettingsFile>> {
    let root = Root::open(folder)?;
    let targets = configured_targets(&root)?;
    let mut agents = connected_agents(&root);
    agents.extend(AgentName::DEFAULT);
    let (servers, has_roles) = (Servers::Included, has_responsibilities(&root));
    let files = AgentFiles { agents: &agents, targets: &targets, servers, has_roles };
    let mut files = Installation::project(folder, files.list())?.files;
    let main = settings::main_checkout(folder);
    if let Some((main, codex)) = main.zip(files.iter_mut().find(|file| file.path == CODEX)) {
        codex.root = Root::open(&main)?;
        codex.shown = main.join(CODEX).display().to_string();
    }
    Ok(files)
}

/// Reports settings that prevent registered hooks and the server from running.
fn blocked(
    project: &[SettingsFile],
    here: &[SettingsState],
    everywhere: &[SettingsState],
    settings: &Settings,
) -> Vec<DoctorCheck> {
    let mut checks = Vec::new();
    let is_registered_everywhere = everywhere.first().is_some_and(SettingsState::is_registered);
    for (file, state) in project.iter().zip(here) {
        match file.path.as_str() {
            MCP if state.is_registered() => checks.extend(settings.server_off()),
            CODEX if state.is_registered() => {
                checks.extend(settings::codex_trust(&file.root.path().join(CODEX)));
            }
            CLAUDE if state.is_registered() || is_registered_everywhere => {
                checks.extend(settings.hooks_off());
                checks.extend(settings.untrusted());
            }
            _ => {}
        }
    }
    checks
}

/// Returns the user's settings in this project. blue does not write them, but an impostor may be in
/// them.
fn local_file(folder: &Path) -> anyhow::Result<SettingsFile> {
    let path = ".claude/settings.local.json".to_string();
    let registration = Registration::Json(vec![JsonEntry::Hooks(Vec::new())]);
    Ok(SettingsFile { root: Root::open(folder)?, shown: path.clone(), path, registration })
}

/// State of a settings file.
enum SettingsState {
    /// A command pretends to be blue's.
    Impostor(Impostor),
    Current,
    Older,
    Missing,
    /// The file belongs to another program; with the reason.
    Taken(&'static str),
    /// The file is invalid, or the agent does not read it; with the reason.
    Invalid(String),
}

impl SettingsState {
    fn is_registered(&self) -> bool {
        matches!(self, SettingsState::Current | SettingsState::Older)
    }
}

fn settings_state(file: &SettingsFile) -> SettingsState {
    let text = file.text().ok().flatten().unwrap_or_default();
    let mut impostors = file.impostors(&text).unwrap_or_default().into_iter();
    if let Some(impostor) = impostors.next() {
        return SettingsState::Impostor(impostor);
    }
    let change = match file.install(None) {
        Ok(change) => change,
        Err(error) => return SettingsState::Invalid(first_line(&error)),
    };
    let refused = change.before.as_deref().filter(|_| is_strict(file)).and_then(settings::refused);
    match (change.status, refused) {
        (FileStatus::Current | FileStatus::Updated, Some(reason)) => SettingsState::Invalid(reason),
        (FileStatus::Current, None) => SettingsState::Current,
        (FileStatus::Updated, None) => SettingsState::Older,
        (FileStatus::Kept, _) => SettingsState::Taken(change.note),
        _ => SettingsState::Missing,
    }
}

/// Returns true for settings in which the agent accepts no comments. Gemini CLI and opencode do.
fn is_strict(file: &SettingsFile) -> bool {
    let is_lenient = [AgentName::Gemini, AgentName::Opencode]
        .iter()
        .any(|agent| agent.own_file().0 == file.path);
    matches!(file.registration, Registration::Json(_)) && !is_lenient
}

/// Returns a noun for the entries in a file.
fn entries(file: &SettingsFile) -> &'static str {
    let has_server = match &file.registration {
        Registration::Json(entries) => {
            entries.iter().any(|entry| matches!(entry, JsonEntry::Server(_)))
        }
        Registration::CodexServer => true,
        _ => false,
    };
    match (file.has_hooks(), has_server) {
        (true, true) => "hooks and server",
        (true, false) => "hooks",
        (false, true) => "server",
        (false, false) => "line endings",
    }
}

fn check(file: &SettingsFile, state: &SettingsState, has_any_hooks: bool) -> DoctorCheck {
    let name = file.shown.as_str();
    let what = entries(file);
    // A file of the main checkout is shown with its absolute path, and is installed there.
    let install = match name.starts_with('/') {
        true => format!("run `blue -C '{}' install`", file.root.path().display()),
        false => INSTALL.to_string(),
    };
    match state {
        SettingsState::Impostor(Impostor { command, is_replaced }) => {
            let hint = if *is_replaced { INSTALL } else { "remove it there" };
            DoctorCheck::problem(
                name,
                format!("{command:?} looks like a hook of blue's, but blue did not write it"),
                hint,
            )
        }
        SettingsState::Current => DoctorCheck::ok(name, format!("{what} registered")),
        SettingsState::Older => DoctorCheck::warning(
            name,
            format!("{what} of another version of blue registered"),
            &install,
        ),
        SettingsState::Taken(reason) => {
            DoctorCheck::warning(name, *reason, "rename it, then `blue install`")
        }
        SettingsState::Missing => {
            let state = if has_any_hooks { CheckState::Warning } else { CheckState::Problem };
            DoctorCheck {
                state,
                ..DoctorCheck::warning(name, format!("{what} not registered"), &install)
            }
        }
        SettingsState::Invalid(reason) => DoctorCheck::problem(name, reason, "correct it there"),
    }
}

fn first_line(error: &anyhow::Error) -> String {
    format!("{error:#}").lines().next().unwrap_or_default().to_string()
}

/// Checks that an agent's shell finds blue, on this PATH and on the PATH that settings set for hooks.
pub(super) fn on_path(settings: &Settings) -> Vec<DoctorCheck> {
    let own = std::env::var_os("PATH").unwrap_or_default();
    let set = settings.path().map(|(name, path)| (format!("PATH in {name}"), path.into()));
    let paths: Vec<(String, OsString)> =
        [("PATH".to_string(), own)].into_iter().chain(set).collect();
    let check = |(name, path): &(String, OsString)| match blue_on(path) {
        Some(file) => DoctorCheck::ok(name, format!("has {}", file.display())),
        None => DoctorCheck::problem(
            name,
            "has no `blue`; hooks and server need it",
            "run `cargo install --path .`, or add its folder to PATH",
        ),
    };
    paths.iter().map(check).collect()
}

fn blue_on(path: &OsStr) -> Option<PathBuf> {
    std::env::split_paths(path)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join("blue"))
        .find(|file| is_executable_file(file))
}

fn is_executable_file(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata().is_ok_and(|stat| stat.is_file() && stat.permissions().mode() & 0o111 != 0)
}
