//! `blue worktree remove` and `blue worktree prune`.

use std::ffi::OsStr;
use std::path::Path;

use anyhow::Context;
use clap::Args;

use super::{RecordKeeper, WorktreeProject, absolute, git_command, refuse, unfinished};
use crate::cli::responsibility::time;
use crate::cli::{Exit, output, project};
use crate::discover::worktrees;
use crate::emit;
use crate::model::layout::{AUDIT, LOCAL, ROTATED_AUDIT, SESSIONS};
use crate::model::plural::counted;
use crate::model::worktree::{GitRepository, Worktree};
use crate::root::Root;
use crate::serve::activity::{ActivityLevel, ActivityReport, AssignedWorktree};
use crate::serve::next::LiveWork;

/// The flags of `blue worktree remove`.
#[derive(Args, Debug)]
pub(in crate::cli) struct RemoveArgs {
    /// RFC (address, number, slug or title), or folder of the worktree
    #[arg(value_name = "RFC|PATH")]
    what: String,
    /// Remove it with uncommitted changes, unmerged commits or an active session
    #[arg(long)]
    force: bool,
    /// Also delete its branch
    #[arg(long)]
    delete_branch: bool,
    /// Use this time instead of the clock
    #[arg(long, value_name = "RFC 3339")]
    now: Option<String>,
}

impl RemoveArgs {
    pub(super) fn run(&self, directory: &Path) -> anyhow::Result<Exit> {
        let now = time(self.now.as_deref())?;
        let open = WorktreeProject::open(directory, now)?;
        let assigned = AssignedWorktree::read_all(&open.repository);
        let tree = self.find(directory, &open, &assigned)?;
        if let Some(refusal) = self.refusal(&open, &assigned, tree, now) {
            return Ok(refuse(&refusal));
        }
        let keeper = RecordKeeper::open(&open.repository)?;
        let name = tree.worktree.branch.as_deref().unwrap_or("detached");
        let kept = keep_records(&open.repository, tree.worktree, &keeper.root, name)?;
        let flags: &[&str] = if self.force { &["remove", "--force"] } else { &["remove"] };
        git_command::worktree(keeper.root.path(), flags, &tree.worktree.path)?;
        let mut text = format!("removed  {}\n", output::shown(&tree.place()));
        if kept > 0 {
            text += &format!("kept     {LOCAL}/worktrees/{}/\n", output::visible(name));
        }
        if let Some(branch) = tree.worktree.branch.as_deref().filter(|_| self.delete_branch) {
            git_command::delete_branch(keeper.root.path(), branch)?;
            text += &format!("deleted  the branch {}\n", output::visible(branch));
        }
        output::out(&text)?;
        Ok(Exit::Done)
    }

    /// Finds a worktree by its folder or its RFC.
    fn find<'a>(
        &self,
        directory: &Path,
        open: &WorktreeProject,
        assigned: &'a [AssignedWorktree<'a>],
    ) -> anyhow::Result<&'a AssignedWorktree<'a>> {
        let path = absolute(directory, Path::new(&self.what)).ok();
        let by_path = path.and_then(|path| assigned.iter().find(|tree| tree.worktree.path == path));
        if let Some(tree) = by_path {
            return Ok(tree);
        }
        let found = open.find_rfc(&self.what)?;
        let trees = found.iter().filter_map(|line| open.worktree_of(assigned, &line.uri));
        let mut trees: Vec<&Worktree> = trees.collect();
        trees.dedup();
        let tree = match trees.as_slice() {
            [tree] => *tree,
            [] => anyhow::bail!("{:?} has no worktree\nhint: run `blue worktree list`", self.what),
            _ => anyhow::bail!("{:?} has several worktrees\nhint: type the path of one", self.what),
        };
        Ok(assigned
            .iter()
            .find(|other| other.worktree.path == tree.path)
            .expect("it was found in it"))
    }

    /// Returns the reason for which a worktree is not removed, if there is one.
    fn refusal(
        &self,
        open: &WorktreeProject,
        assigned: &[AssignedWorktree<'_>],
        tree: &AssignedWorktree<'_>,
        now: i64,
    ) -> Option<String> {
        let worktree = tree.worktree;
        let place = tree.place();
        if worktree.is_main || worktree.is_bare {
            return Some(format!("{place} is the main worktree\nhint: run `blue worktree list`"));
        }
        if worktree.is_missing {
            return Some(format!("{place} is gone\nhint: blue worktree prune"));
        }
        if let Some(reason) = &worktree.locked {
            let reason = if reason.is_empty() { "without a reason" } else { reason };
            return Some(format!(
                "{place} is locked ({reason})\nhint: git worktree unlock '{place}'"
            ));
        }
        if self.force {
            return None;
        }
        let forced = format!("blue worktree remove '{}' --force", self.what);
        if let Some(lost) = lost_work(open, worktree, &place, &forced) {
            return Some(lost);
        }
        let bundles = &open.project.built.bundles;
        let report = ActivityReport::new(bundles, &open.repository, assigned, now);
        let is_active = |work: &LiveWork| {
            work.activity.level == ActivityLevel::Active
                && work.activity.place.as_deref() == Some(place.as_str())
        };
        let active = LiveWork::all(&report, assigned).into_iter().find(is_active)?;
        Some(format!(
            "{place} is in use: {}\nhint: end the session, or type {forced}",
            active.activity_text()
        ))
    }
}

/// Returns what would be lost with a worktree: changes, or commits that exist nowhere else.
fn lost_work(
    open: &WorktreeProject,
    worktree: &Worktree,
    place: &str,
    forced: &str,
) -> Option<String> {
    match worktree.n_changed {
        Some(0) => {}
        Some(n) => {
            let n_files = counted(n, "changed or untracked file");
            return Some(format!("{place} has {n_files}\nhint: commit or stash, or type {forced}"));
        }
        None => return Some(format!("git cannot list the changes in {place}\nhint: {forced}")),
    }
    let base = open.repository.base.as_deref();
    let head = worktree.head.as_deref()?;
    match worktrees::n_unshared(&worktree.path, base, head) {
        Some(0) => None,
        Some(n) => Some(format!(
            "{place} has {}, neither merged into {} nor pushed\nhint: merge or push, or type {forced}",
            counted(n, "commit"),
            base.unwrap_or("HEAD")
        )),
        None => Some(format!("git cannot count the commits of {place}\nhint: {forced}")),
    }
}

/// Copies the audit log and the session records of a worktree to another project. Returns the number of
/// files. A log of an earlier worktree of this name is continued.
fn keep_records(
    repository: &GitRepository,
    worktree: &Worktree,
    keeper: &Root,
    name: &str,
) -> anyhow::Result<usize> {
    let Ok(from) = Root::open(&repository.project_in(worktree)) else { return Ok(0) };
    let target = format!("{LOCAL}/worktrees/{name}");
    let mut log = Vec::new();
    for path in [ROTATED_AUDIT, AUDIT] {
        log.extend(from.readable_bytes(path, 1 << 30).unwrap_or_default());
    }
    let mut n_files = 0;
    if !log.is_empty() {
        let path = format!("{target}/audit.jsonl");
        let mut all = keeper.readable_bytes(&path, 1 << 30).unwrap_or_default();
        // A command that failed after this step may have copied it.
        if !all.ends_with(&log) {
            all.extend(log);
            emit::write_local_unlocked(keeper, &path, &all)
                .with_context(|| format!("keep {AUDIT}"))?;
        }
        n_files += 1;
    }
    for entry in from.entries(SESSIONS).unwrap_or_default() {
        let file = entry.file_name().to_string_lossy().into_owned();
        let Some(bytes) = from.readable_bytes(&format!("{SESSIONS}/{file}"), 1 << 16) else {
            continue;
        };
        emit::write_local_unlocked(keeper, &format!("{target}/sessions/{file}"), &bytes)?;
        n_files += 1;
    }
    Ok(n_files)
}

/// The flags of `blue worktree prune`.
#[derive(Args, Debug)]
pub(in crate::cli) struct PruneArgs {}

impl PruneArgs {
    pub(super) fn run(&self, directory: &Path) -> anyhow::Result<Exit> {
        let root = project::open(&project::find(directory)?)?;
        let base = crate::build::plan(&root).base;
        let repository = worktrees::list(root.path(), base.as_deref())
            .with_context(|| super::no_repository(root.path()))?;
        let keeper = RecordKeeper::open(&repository)?;
        let mut text = String::new();
        for record in unfinished::read_all(&keeper.root) {
            let done = match unfinished::recover(&keeper, &repository, &record)? {
                true => "finished",
                false => "undone  ",
            };
            text += &format!("{done} {}\n", output::shown(&record.path));
        }
        git_command::run(keeper.root.path(), &["worktree", "prune"].map(OsStr::new))?;
        let left = worktrees::list(keeper.root.path(), base.as_deref());
        let left = left.map(|repository| repository.worktrees).unwrap_or_default();
        for tree in repository.worktrees.iter().filter(|tree| tree.is_missing) {
            let path = output::shown(&tree.path.display().to_string());
            text += &match left.iter().any(|other| other.path == tree.path) {
                true => format!("left     {path} (it is locked)\n"),
                false => format!("forgot   {path}\n"),
            };
        }
        if text.is_empty() {
            text = "nothing to forget\n".to_string();
        }
        output::out(&text)?;
        Ok(Exit::Done)
    }
}
