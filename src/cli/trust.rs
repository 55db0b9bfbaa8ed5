//! `blue trust`: records the user's consent to links that point outside a project.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;

use super::lint::survey;
use super::{Exit, output, project};
use crate::emit;
use crate::model::Code;
use crate::model::layout::CONFIG;
use crate::wire::user::{self, TrustLine};

/// Flags of `blue trust`.
#[derive(Args, Debug)]
pub(super) struct TrustArgs {
    /// List the allowed files of all projects
    #[arg(long, conflicts_with = "revoke")]
    list: bool,
    /// Revoke everything that was allowed for this project
    #[arg(long)]
    revoke: bool,
}

impl TrustArgs {
    pub(super) fn run(&self, directory: &Path) -> anyhow::Result<Exit> {
        let mut lines = project::trust_lines()?;
        if self.list {
            for line in &lines {
                print("allowed", &line.root, &line.external)?;
            }
            return Ok(Exit::Done);
        }
        let folder = project::find(directory)?;
        let (project_lines, others): (Vec<TrustLine>, Vec<TrustLine>) =
            lines.into_iter().partition(|line| line.root == folder);
        lines = others;
        let before: BTreeSet<PathBuf> =
            project_lines.into_iter().flat_map(|line| line.external).collect();
        let after = if self.revoke { BTreeSet::new() } else { allowed_files(&folder, &before)? };
        if after == before {
            output::say("blue: nothing to do");
            return Ok(Exit::Done);
        }
        let external: Vec<PathBuf> = after.iter().cloned().collect();
        if !external.is_empty() {
            lines.push(TrustLine { root: folder.clone(), external });
        }
        let home = project::home().context("$HOME is not set\nhint: set it to your home folder")?;
        let text = user::trust_text(&lines).context("the path of the project or of a link")?;
        emit::replace_private(&home, project::TRUST, text.as_bytes())?;
        print("allowed", &folder, after.difference(&before))?;
        print("revoked", &folder, before.difference(&after))?;
        Ok(Exit::Done)
    }
}

fn print<'a>(
    word: &str,
    root: &Path,
    files: impl IntoIterator<Item = &'a PathBuf>,
) -> anyhow::Result<()> {
    for file in files {
        let (root, file) = (root.display().to_string(), file.display().to_string());
        let (root, file) = (output::visible(&root), output::visible(&file));
        output::out(&format!("{word:8} links of {root} to {file}\n"))?;
    }
    Ok(())
}

/// Returns the targets of the project's links, and the files that were allowed before.
fn allowed_files(folder: &Path, before: &BTreeSet<PathBuf>) -> anyhow::Result<BTreeSet<PathBuf>> {
    let root = project::open(folder)?;
    let (survey, inputs) = survey(&root)?;
    if !inputs.plan.allow_external {
        output::say(&format!("blue: {CONFIG} does not set security.allow_external"));
        return Ok(before.clone());
    }
    let outside = survey.notes.iter().filter(|note| note.code == Code::OutsideRoot);
    let target = |path: &str| folder.join(path).canonicalize().ok();
    Ok(outside.filter_map(|note| target(&note.path)).chain(before.iter().cloned()).collect())
}
