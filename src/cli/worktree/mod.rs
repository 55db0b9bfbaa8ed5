//! `blue worktree`: one worktree for each RFC.

mod create;
mod git_command;
mod list;
mod remove;
mod unfinished;

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Subcommand;

use super::open::{BuiltProject, open_built};
use super::{Exit, output, project};
use crate::build;
use crate::discover::worktrees;
use crate::emit::{self, BriefLock};
use crate::model::Plan;
use crate::model::worktree::{GitRepository, Worktree};
use crate::root::Root;
use crate::serve::activity::AssignedWorktree;
use crate::serve::bundles;
use crate::wire::jsonl::DocumentLine;

/// The subcommands of `blue worktree`.
#[derive(Debug, Subcommand)]
pub(super) enum WorktreeCommand {
    /// Make a branch and a worktree for an RFC
    #[command(
        after_help = "Examples:\n  blue worktree create 16\n  blue worktree create context-injection --dry-run\n  blue worktree create \"Context injection\" --base release --path ../injection\n\n`git worktree add` runs as you would run it, with the hooks and filters of the repository.\nIf a step fails, all is taken back. The set-up command is printed, never run.\nExit codes: 0 made, 1 refused (the message has the flag that allows it), 2 could not run."
    )]
    Create(create::CreateArgs),
    /// List the worktrees of the repository with their RFCs and activity
    #[command(
        after_help = "Examples:\n  blue worktree list\n  blue worktree list --format json\n\nOther clones are seen only through fetched commits."
    )]
    List(list::ListWorktreesArgs),
    /// Remove the worktree of an RFC; its log and session records are kept
    #[command(
        after_help = "Examples:\n  blue worktree remove 16\n  blue worktree remove 16 --delete-branch\n  blue worktree remove ../injection --force\n\n`git worktree remove` runs as you would run it, with the hooks of the repository. The audit\nlog and the session records move to .blue/local/worktrees/ in the main worktree.\nExit codes: 0 removed, 1 refused (the message has what to type), 2 could not run."
    )]
    Remove(remove::RemoveArgs),
    /// Forget worktrees whose folders are gone, and what an interrupted create left
    #[command(after_help = "Example:\n  blue worktree prune")]
    Prune(remove::PruneArgs),
}

impl WorktreeCommand {
    pub(super) fn run(&self, directory: &Path) -> anyhow::Result<Exit> {
        match self {
            WorktreeCommand::Create(create) => create.run(directory),
            WorktreeCommand::List(list) => list.run(directory),
            WorktreeCommand::Remove(remove) => remove.run(directory),
            WorktreeCommand::Prune(prune) => prune.run(directory),
        }
    }
}

/// A built project in a repository with its worktrees.
pub(super) struct WorktreeProject {
    pub(super) project: BuiltProject,
    pub(super) plan: Plan,
    pub(super) repository: GitRepository,
}

impl WorktreeProject {
    /// Opens the project that contains a folder, with the changes in all worktrees.
    pub(super) fn open(directory: &Path, now: i64) -> anyhow::Result<WorktreeProject> {
        project::create_key();
        let project = BuiltProject::open(directory)?;
        let plan = build::plan(&project.root);
        let repository = worktrees::survey(project.root.path(), plan.base.as_deref(), now);
        let repository = repository.with_context(|| no_repository(project.root.path()))?;
        Ok(WorktreeProject { project, plan, repository })
    }

    /// The folder of the project in the current worktree.
    pub(super) fn folder(&self) -> &Path {
        self.project.root.path()
    }

    /// Returns the RFC that the name of a worktree or branch means.
    pub(super) fn document_of(&self, name: &str) -> Option<DocumentLine> {
        bundles::document_of_work(&self.project.built, &self.plan.branch_prefixes(), name)
    }

    /// Returns the worktree of an RFC, if it has one. Folders that are gone count too.
    pub(super) fn worktree_of<'a>(
        &self,
        assigned: &'a [AssignedWorktree<'_>],
        uri: &str,
    ) -> Option<&'a Worktree> {
        let is_own = |tree: &&AssignedWorktree<'_>| {
            let work = tree.work.as_deref().and_then(|work| self.document_of(work));
            work.is_some_and(|line| line.uri == uri)
        };
        assigned.iter().find(is_own).map(|tree| tree.worktree)
    }

    /// Finds an RFC by address, number, slug, title or path.
    pub(super) fn find_rfc(&self, typed: &str) -> anyhow::Result<Vec<DocumentLine>> {
        let built = &self.project.built;
        let typed = typed.trim();
        let short = typed.strip_prefix("blue://rfc/").unwrap_or(typed);
        let bare = short.get(..3).filter(|start| start.eq_ignore_ascii_case("rfc"));
        let bare = bare.map(|_| short[3..].trim_start_matches(['-', '#', ' ']));
        let bare = bare.filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        let id = bare.unwrap_or(short);
        let mut rows: Vec<usize> = match built.catalogue.row(typed) {
            Some(row) => vec![row],
            None => built.catalogue.row_of_path(typed).into_iter().collect(),
        };
        if rows.is_empty() && !id.contains('/') {
            rows = built.catalogue.by_short_id(Some("rfc"), id);
        }
        rows.retain(|row| built.catalogue.is_kind(*row, "rfc"));
        let mut lines: Vec<DocumentLine> =
            rows.into_iter().filter_map(|row| built.catalogue.line(row)).collect();
        if lines.is_empty() {
            lines = built.catalogue.lines(Some("rfc"))?;
            let title = crate::model::uri::slugify(typed);
            lines.retain(|line| {
                !title.is_empty() && crate::model::uri::slugify(&line.title) == title
            });
        }
        anyhow::ensure!(
            !lines.is_empty(),
            "no RFC is named {typed:?}\nhint: run `blue knowledge list rfcs`, or `blue knowledge build` if it is new"
        );
        Ok(lines)
    }
}

/// Returns the message for a folder without a usable repository.
fn no_repository(folder: &Path) -> String {
    format!("{}: git cannot read a repository here\nhint: run `git status` there", folder.display())
}

/// The project in the worktree that keeps records of the others, and the lock on these records.
pub(super) struct RecordKeeper {
    pub(super) root: Root,
    _lock: BriefLock,
}

impl RecordKeeper {
    pub(super) fn open(repository: &GitRepository) -> anyhow::Result<RecordKeeper> {
        let worktree = repository.keeper().context("every worktree of the repository is gone")?;
        let root = project::open_to_write(&repository.project_in(worktree))?;
        emit::create_local_folder(&root)?;
        let _lock = BriefLock::take(&root, "worktrees")
            .context("another `blue worktree` is running\nhint: try again when it ended")?;
        Ok(RecordKeeper { root, _lock })
    }
}

/// Opens the indexes in a worktree, if something was built there.
fn is_built_with(root: &Root, uri: &str) -> bool {
    open_built(root).is_ok_and(|built| built.document(uri).is_some())
}

/// Prints a refusal, and returns its exit code.
fn refuse(message: &str) -> Exit {
    output::error(message);
    Exit::FoundSomething
}

/// Returns the absolute path of a folder that may not exist.
fn absolute(directory: &Path, path: &Path) -> anyhow::Result<PathBuf> {
    let joined = directory.canonicalize()?.join(path);
    let mut existing = joined.as_path();
    while !existing.exists() {
        existing = existing.parent().context("the path has no parent")?;
    }
    let missing = joined.strip_prefix(existing).unwrap_or(Path::new(""));
    let is_plain = missing.components().all(|part| matches!(part, std::path::Component::Normal(_)));
    anyhow::ensure!(is_plain, "{} has .. below a folder that does not exist", path.display());
    let existing = existing.canonicalize()?;
    Ok(if missing.as_os_str().is_empty() { existing } else { existing.join(missing) })
}
