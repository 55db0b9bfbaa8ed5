//! `blue uninstall`.

use std::path::Path;

use clap::Args;

use super::connect::{self, Place, Step};
use super::diff::diff;
use super::{Exit, output};
use crate::emit;
use crate::model::Digest;
use crate::model::layout::folder_of;
use crate::wire::agent::SCRIPTS;
use crate::wire::installed::Installed;

/// The flags of `blue uninstall`.
#[derive(Args, Debug)]
pub(super) struct Uninstall {
    /// Take blue out of ~/.claude/settings.json instead of out of this project.
    #[arg(long)]
    user: bool,
    /// Show what would change; write nothing.
    #[arg(long)]
    dry_run: bool,
}

impl Uninstall {
    pub(super) fn run(&self, directory: &Path) -> anyhow::Result<Exit> {
        let place = match self.user {
            true => Place::user()?,
            false => Place::project(&super::project::find(directory)?, true, true)?,
        };
        let memory = place.remembered()?;
        // Every file is looked at before the first is written.
        let steps =
            place.targets.iter().map(|target| target.uninstall(memory.files.get(&target.shown)));
        let steps: Vec<Step> = steps.collect::<anyhow::Result<_>>()?;
        let scripts = made_scripts(&place, &memory)?;
        for (target, step) in place.targets.iter().zip(&steps) {
            if self.dry_run {
                output::out(&diff(&target.shown, step.before.as_deref(), step.after.as_deref()))?;
            } else if step.before != step.after {
                match &step.after {
                    Some(text) => {
                        emit::replace(&target.root, &target.path, text.as_bytes(), false)?
                    }
                    None => emit::discard(&target.root, &target.path)?,
                }
            }
            output::out(&format!("{:8} {}\n", step.fate.word(), target.shown))?;
        }
        for path in &scripts {
            if !self.dry_run {
                emit::discard(&place.base, path)?;
            }
            output::out(&format!("removed  {path}\n"))?;
        }
        match self.dry_run {
            true => output::say("blue: nothing was written (--dry-run)"),
            false => tidy_up(&place, &memory, &steps)?,
        }
        Ok(Exit::Done)
    }
}

/// The scripts that an installation made and nobody changed since.
fn made_scripts(place: &Place, memory: &Installed) -> anyhow::Result<Vec<&'static str>> {
    let mut made = Vec::new();
    for (path, _) in SCRIPTS.iter().filter(|_| place.is_project) {
        let Some(digest) = memory.scripts.get(*path) else { continue };
        let bytes = connect::bytes(&place.base, path, path)?;
        if bytes.is_some_and(|bytes| Digest::of(&bytes).to_string() == *digest) {
            made.push(*path);
        }
    }
    Ok(made)
}

/// Forgets the installation, and removes the folders it made if nothing is in them.
fn tidy_up(place: &Place, memory: &Installed, steps: &[Step]) -> anyhow::Result<()> {
    if place.base.exists(&place.memory) {
        emit::discard(&place.base, &place.memory)?;
    }
    let unknown = memory.files.is_empty();
    let emptied: Vec<&str> = place
        .targets
        .iter()
        .zip(steps)
        .filter(|(_, step)| unknown && step.before.is_some() && step.after.is_none())
        .map(|(target, _)| folder_of(&target.path))
        .collect();
    for folder in place.folders() {
        if memory.folders.contains(&folder) || emptied.contains(&folder.as_str()) {
            emit::discard_folder(&place.base, &folder)?;
        }
    }
    Ok(())
}
