//! `blue uninstall`.

use std::path::Path;

use clap::Args;

use super::diff::diff;
use super::installation::{FileChange, Installation, read_bytes};
use super::{Exit, output};
use crate::emit;
use crate::model::Digest;
use crate::model::layout::folder_of;
use crate::wire::agent::SCRIPTS;
use crate::wire::installed::InstallRecord;

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
            true => Installation::user()?,
            false => Installation::project(&super::project::find(directory)?)?,
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
            output::out(&format!("{:8} {}\n", change.status.word(), file.shown))?;
        }
        for path in &scripts {
            if !self.dry_run {
                emit::discard(&installation.base, path)?;
            }
            output::out(&format!("removed  {path}\n"))?;
        }
        match self.dry_run {
            true => output::say("blue: nothing was written (--dry-run)"),
            false => remove_record(&installation, &record, &changes)?,
        }
        Ok(Exit::Done)
    }
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

/// Removes the record of the installation, and the folders it created if they are empty.
fn remove_record(
    installation: &Installation,
    record: &InstallRecord,
    changes: &[FileChange],
) -> anyhow::Result<()> {
    if installation.base.exists(&installation.record_path) {
        emit::discard(&installation.base, &installation.record_path)?;
    }
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
