//! Whether the agents know of blue.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::settings::{self, Settings};
use super::{Check, State};
use crate::cli::connect::{Fate, Place, Script, Target, script};
use crate::root::Root;
use crate::wire::agent::SCRIPTS;
use crate::wire::register::Registration;

const INSTALL: &str = "run `blue install`";

/// Whether the scripts are those that blue ships.
pub(super) fn scripts(root: &Root) -> Vec<Check> {
    let look = |(path, shipped): &(&str, &[u8])| match script(root, path, shipped) {
        Ok(Script::Current) => Check::ok(*path, "current, executable"),
        Ok(Script::Absent) => Check::problem(*path, "is not there", INSTALL),
        Ok(Script::Older | Script::Marked(_)) => {
            let detail = "is older than this blue, has CR LF line ends, or is not executable";
            Check::problem(*path, detail, INSTALL)
        }
        Ok(Script::Edited) => {
            let hint = "if that is not meant, move it away and run `blue install`";
            Check::warning(*path, "is not what blue ships: edited by hand", hint)
        }
        Err(error) => Check::problem(*path, first_line(&error), INSTALL),
    };
    SCRIPTS.iter().map(look).collect()
}

/// Whether every settings file has what `blue install` writes. One agent is enough; that another
/// one is not connected is only worth a warning.
pub(super) fn registered(folder: &Path, settings: &Settings) -> Vec<Check> {
    let project = match targets(folder) {
        Ok(targets) => targets,
        Err(error) => return vec![Check::problem("settings", first_line(&error), INSTALL)],
    };
    let (user, unreadable) = match Place::user() {
        Ok(place) => (place.targets, None),
        Err(error) => (Vec::new(), Some(first_line(&error))),
    };
    let here: Vec<SettingsState> = project.iter().map(look).collect();
    let everywhere: Vec<SettingsState> = user.iter().map(look).collect();
    let connected = |found: &[SettingsState], targets: &[Target]| {
        found.iter().zip(targets).any(|(found, target)| {
            matches!(found, SettingsState::Current | SettingsState::Older)
                && matches!(target.wanted, Registration::Hooks(_))
        })
    };
    let local = local_target(folder).ok();
    let local = local.map(|target| (look(&target), target));
    let any = connected(&here, &project) || connected(&everywhere, &user);
    let mut checks: Vec<Check> =
        project.iter().zip(&here).map(|(target, found)| check(target, found, any)).collect();
    for (target, found) in
        user.iter().zip(&everywhere).filter(|(_, f)| !matches!(f, SettingsState::No))
    {
        checks.push(check(target, found, any));
    }
    if let Some((found @ SettingsState::Posing(..), target)) = &local {
        checks.push(check(target, found, any));
    }
    let hint = "without it, only this project's settings count";
    checks.extend(unreadable.map(|why| Check::warning("~/.claude/settings.json", why, hint)));
    let twice = matches!(here.first(), Some(SettingsState::Current | SettingsState::Older))
        && matches!(everywhere.first(), Some(SettingsState::Current | SettingsState::Older));
    if twice {
        let detail = "registered for you and in this project: the agent receives the text twice";
        checks.push(Check::warning("settings", detail, "run `blue uninstall --user`"));
    }
    checks.extend(kept_out(&project, &here, &everywhere, settings));
    checks
}

/// The files of a project. Codex takes its hooks from the main checkout, also in a linked worktree.
fn targets(folder: &Path) -> anyhow::Result<Vec<Target>> {
    let mut targets = Place::project(folder, true, true)?.targets;
    let main = settings::main_checkout(folder);
    if let Some((main, codex)) = main.zip(targets.iter_mut().find(|target| target.path == CODEX)) {
        codex.root = Root::open(&main)?;
        codex.shown = main.join(CODEX).display().to_string();
    }
    Ok(targets)
}

const CODEX: &str = ".codex/hooks.json";

/// Settings that keep registered hooks and the server from running.
fn kept_out(
    project: &[Target],
    here: &[SettingsState],
    everywhere: &[SettingsState],
    settings: &Settings,
) -> Vec<Check> {
    let is_in =
        |found: &SettingsState| matches!(found, SettingsState::Current | SettingsState::Older);
    let mut checks = Vec::new();
    for (target, found) in project.iter().zip(here) {
        match (&target.wanted, target.path == CODEX) {
            (Registration::Server, _) if is_in(found) => checks.extend(settings.server_off()),
            (Registration::Hooks(_), true) if is_in(found) => {
                checks.extend(settings::codex_trust(&target.root.path().join(CODEX)));
            }
            (Registration::Hooks(_), false) if is_in(found) || everywhere.iter().any(is_in) => {
                checks.extend(settings.hooks_off());
                checks.extend(settings.untrusted());
            }
            _ => {}
        }
    }
    checks
}

/// Settings of one person in this project. blue writes nothing there, but its name can be used there.
fn local_target(folder: &Path) -> anyhow::Result<Target> {
    let path = ".claude/settings.local.json".to_string();
    let (root, shown, wanted) =
        (Root::open(folder)?, path.clone(), Registration::Hooks(Vec::new()));
    Ok(Target { root, path, shown, wanted })
}

enum SettingsState {
    Posing(String, bool),
    Current,
    Older,
    /// It has blue's entries, and the agent does not read it: why.
    Refused(String),
    No,
    Taken,
    Broken(String),
}

fn look(target: &Target) -> SettingsState {
    let text = target.text().ok().flatten().unwrap_or_default();
    if let Some((command, replaced)) = target.posing(&text).unwrap_or_default().into_iter().next() {
        return SettingsState::Posing(command, replaced);
    }
    let step = match target.install(None) {
        Ok(step) => step,
        Err(error) => return SettingsState::Broken(first_line(&error)),
    };
    let is_json = !matches!(target.wanted, Registration::Attributes);
    let refused = step.before.as_deref().filter(|_| is_json).and_then(settings::refused);
    match step.fate {
        Fate::Current | Fate::Updated if refused.is_some() => {
            SettingsState::Refused(refused.unwrap_or_default())
        }
        Fate::Current => SettingsState::Current,
        Fate::Updated => SettingsState::Older,
        Fate::Kept => SettingsState::Taken,
        _ => SettingsState::No,
    }
}

fn check(target: &Target, found: &SettingsState, any: bool) -> Check {
    let name = target.shown.as_str();
    let what = match target.wanted {
        Registration::Hooks(_) => "hooks",
        Registration::Server => "server",
        Registration::Attributes => "line ends",
    };
    // A file of the main checkout is named by its whole path, and is installed there.
    let install = match name.starts_with('/') {
        true => format!("run `blue -C '{}' install`", target.root.path().display()),
        false => INSTALL.to_string(),
    };
    match found {
        SettingsState::Posing(command, replaced) => {
            let hint = if *replaced { INSTALL } else { "remove it there" };
            Check::problem(
                name,
                format!("{command:?} poses as blue's; blue did not write it"),
                hint,
            )
        }
        SettingsState::Current => Check::ok(name, format!("{what} registered")),
        SettingsState::Older => {
            Check::warning(name, format!("{what} of another blue registered"), &install)
        }
        SettingsState::Taken => {
            Check::warning(name, "another server is called blue", "rename it, then `blue install`")
        }
        SettingsState::No => {
            let state = if any { State::Warning } else { State::Problem };
            Check { state, ..Check::warning(name, format!("{what} not registered"), &install) }
        }
        SettingsState::Refused(why) | SettingsState::Broken(why) => {
            Check::problem(name, why, "correct it there")
        }
    }
}

fn first_line(error: &anyhow::Error) -> String {
    format!("{error:#}").lines().next().unwrap_or_default().to_string()
}

/// Whether the shell of an agent finds blue: on this PATH, and on the one that settings give hooks.
pub(super) fn on_path(settings: &Settings) -> Vec<Check> {
    let own = std::env::var_os("PATH").unwrap_or_default();
    let set = settings.path().map(|(name, path)| (format!("PATH in {name}"), path.into()));
    let paths: Vec<(String, OsString)> =
        [("PATH".to_string(), own)].into_iter().chain(set).collect();
    let check = |(name, path): &(String, OsString)| match blue_on(path) {
        Some(file) => Check::ok(name, format!("has {}", file.display())),
        None => Check::problem(
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
        .find(|file| is_runnable_file(file))
}

fn is_runnable_file(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata().is_ok_and(|stat| stat.is_file() && stat.permissions().mode() & 0o111 != 0)
}
