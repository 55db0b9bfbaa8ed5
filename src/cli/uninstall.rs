//! `blue uninstall`.

use std::path::Path;

use clap::Args;

use super::agent_files::{AgentFiles, AgentName, CLAUDE, Servers, config_file};
use super::connected::configured_targets;
use super::diff::diff;
use super::install::build_again;
use super::installation::{FileChange, FileStatus, Installation, read_bytes};
use super::{Exit, git_hook, output, project};
use crate::emit;
use crate::model::build_target::OPENCODE;
use crate::model::layout::{CONFIG, folder_of};
use crate::model::{BuildTarget, Digest};
use crate::wire::agent::SCRIPTS;
use crate::wire::installed::{self, InstallRecord};

/// Flags of `blue uninstall`.
#[derive(Args, Debug)]
pub(super) struct UninstallArgs {
    /// Remove blue from ~/.claude/settings.json instead of from this project
    #[arg(long)]
    user: bool,
    /// Show the changes without writing them
    #[arg(long)]
    dry_run: bool,
}

impl UninstallArgs {
    pub(super) fn run(&self, directory: &Path) -> anyhow::Result<Exit> {
        let installation = match self.user {
            true => Installation::user(Servers::Included)?,
            false => project_installation(directory)?,
        };
        let record = installation.record()?;
        // Every file is checked before the first is written.
        let changes =
            installation.files.iter().map(|file| file.uninstall(record.files.get(&file.shown)));
        let changes: Vec<FileChange> = changes.collect::<anyhow::Result<_>>()?;
        let scripts = unchanged_scripts(&installation, &record)?;
        for (file, change) in installation.files.iter().zip(&changes) {
            if self.dry_run {
                output::out(&diff(&file.shown, change.before.as_deref(), change.after.as_deref()))?;
            } else if change.before != change.after {
                match &change.after {
                    Some(text) => emit::replace(&file.root, &file.path, text.as_bytes())?,
                    None => emit::discard(&file.root, &file.path)?,
                }
            }
            if change.status != FileStatus::Absent || is_default(&file.path) {
                output::out(&format!("{:8} {}\n", change.status.word(), file.shown))?;
            }
        }
        for path in &scripts {
            if !self.dry_run {
                emit::discard(&installation.base, path)?;
            }
            output::out(&format!("removed  {path}\n"))?;
        }
        if !self.user {
            git_hook::uninstall(directory, self.dry_run)?;
        }
        if self.dry_run {
            output::say("blue: nothing was written (--dry-run)");
            return Ok(Exit::Done);
        }
        // A build removes the files of targets that the configuration no longer has. The folders are
        // recorded until they are removed, in case that the build fails.
        let folders = InstallRecord { folders: record.folders.clone(), ..InstallRecord::default() };
        replace_record(&installation, &folders)?;
        build_again(&installation)?;
        // The build adds a record of files that the targets of people changed.
        let by_build =
            InstallRecord { files: installation.record()?.files, ..InstallRecord::default() };
        replace_record(&installation, &by_build)?;
        remove_folders(&installation, &record, &changes)?;
        if installation.is_project {
            list_targets(&installation)?;
        }
        Ok(Exit::Done)
    }
}

/// Writes the record of the installation, or removes it if nothing is left to record.
fn replace_record(installation: &Installation, record: &InstallRecord) -> anyhow::Result<()> {
    let Installation { base, record_path, .. } = installation;
    if !base.exists(record_path) {
        return Ok(());
    }
    match &base.machine().key {
        Some(key) if *record != InstallRecord::default() => {
            emit::replace(base, record_path, &installed::write(record, key))
        }
        _ => emit::discard(base, record_path),
    }
}

/// Returns the files of all agents, and the configuration if an installation changed it.
fn project_installation(directory: &Path) -> anyhow::Result<Installation> {
    let folder = project::find(directory)?;
    let record = Installation::project(&folder, Vec::new())?.record()?;
    let config = record.files.get(CONFIG).map(|config| config.undo.elements.iter());
    let recorded: Vec<BuildTarget> =
        config.into_iter().flatten().filter_map(|name| BuildTarget::parse(name)).collect();
    let mut targets = configured_targets(&project::open(&folder)?)?;
    // The configuration may have lost the target since, and its entries are blue's all the same.
    let opencode = record.files.get(OPENCODE);
    let has_entries = opencode.is_some_and(|file| !file.undo.elements.is_empty());
    if has_entries && !targets.contains(&BuildTarget::Opencode) {
        targets.push(BuildTarget::Opencode);
    }
    let files = AgentFiles {
        agents: &AgentName::ALL,
        targets: &targets,
        servers: Servers::Included,
        has_roles: true,
    };
    let mut files = files.list();
    files.extend((!recorded.is_empty()).then(|| config_file(recorded)));
    Installation::project(&folder, files)
}

/// Lists the files of targets that people wrote into the configuration. They stay.
fn list_targets(installation: &Installation) -> anyhow::Result<()> {
    for target in configured_targets(&installation.base)? {
        let path = target.shared_file().or(target.own_path()).unwrap_or_default();
        if installation.base.exists(path) {
            let name = target.as_str();
            output::out(&format!("kept     {path} ({CONFIG} has the target {name})\n"))?;
        }
    }
    Ok(())
}

/// Returns true for a file of an agent that is connected by default, which is always listed.
fn is_default(path: &str) -> bool {
    let agents = AgentFiles {
        agents: &AgentName::DEFAULT,
        targets: &[],
        servers: Servers::Included,
        has_roles: false,
    };
    agents.list().iter().any(|(default, _)| *default == path) || path.ends_with(CLAUDE)
}

/// Returns the scripts that an installation created and that were not changed since.
fn unchanged_scripts(
    installation: &Installation,
    record: &InstallRecord,
) -> anyhow::Result<Vec<&'static str>> {
    let mut unchanged = Vec::new();
    for (path, _) in SCRIPTS.iter().filter(|_| installation.is_project) {
        let Some(digest) = record.scripts.get(*path) else { continue };
        let bytes = read_bytes(&installation.base, path, path)?;
        if bytes.is_some_and(|bytes| Digest::of(&bytes).to_string() == *digest) {
            unchanged.push(*path);
        }
    }
    Ok(unchanged)
}

/// Removes the folders that the installation created, if they are empty.
fn remove_folders(
    installation: &Installation,
    record: &InstallRecord,
    changes: &[FileChange],
) -> anyhow::Result<()> {
    let unknown = record.files.is_empty();
    let emptied: Vec<&str> = installation
        .files
        .iter()
        .zip(changes)
        .filter(|(_, change)| unknown && change.before.is_some() && change.after.is_none())
        .map(|(file, _)| folder_of(&file.path))
        .collect();
    for folder in installation.folders() {
        if record.folders.contains(&folder) || emptied.contains(&folder.as_str()) {
            emit::discard_folder(&installation.base, &folder)?;
        }
    }
    Ok(())
}
