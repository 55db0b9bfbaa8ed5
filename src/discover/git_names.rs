//! Names of files in other branches and in other working trees of the repository.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use super::git::{command, is_repository, trees_at};
use super::worktrees;
use crate::root::Root;

/// The names in one folder, in all places where the repository has it.
#[derive(Debug, Default)]
pub struct NamesElsewhere {
    /// Names directly in the folder.
    pub names: BTreeSet<String>,
    /// Number of branches that were not searched.
    pub n_skipped: usize,
    /// True if git could not be asked.
    pub unknown: bool,
}

/// Maximum number of branches that are searched, local ones first.
const MAX_REFS: usize = 500;

/// Collects the names in a folder below `root` in every local and fetched branch, and in every other
/// working tree.
pub fn names_elsewhere(root: &Path, folder: &str) -> NamesElsewhere {
    if !is_repository(root) {
        return NamesElsewhere::default();
    }
    let Some(refs) =
        lines(root, &["for-each-ref", "--format=%(objectname)", "refs/heads", "refs/remotes"])
    else {
        return NamesElsewhere { unknown: true, ..NamesElsewhere::default() };
    };
    let n_skipped = refs.len().saturating_sub(MAX_REFS);
    let mut seen = BTreeSet::new();
    let commits: Vec<String> =
        refs.into_iter().take(MAX_REFS).filter(|commit| seen.insert(commit.clone())).collect();
    let mut names: BTreeSet<String> = BTreeSet::new();
    for tree in trees_at(root, &commits, folder) {
        let listed = output(root, &["ls-tree", "--name-only", "-z", &tree]).unwrap_or_default();
        names.extend(listed.split_terminator('\0').map(str::to_string));
    }
    for tree in other_worktrees(root) {
        // A working tree can be gone, or without this folder.
        let entries = Root::open(&tree).and_then(|tree| tree.entries(folder)).unwrap_or_default();
        names.extend(entries.iter().map(|entry| entry.file_name().to_string_lossy().into_owned()));
    }
    NamesElsewhere { names, n_skipped, unknown: false }
}

/// Returns the folders that `root` is in the other working trees of the repository.
fn other_worktrees(root: &Path) -> Vec<PathBuf> {
    let Some(repository) = worktrees::list(root, None) else { return Vec::new() };
    let folders = repository.worktrees.iter().map(|worktree| repository.project_in(worktree));
    let own = root.canonicalize().unwrap_or_else(|_| root.to_path_buf());
    folders.filter(|folder| *folder != own).collect()
}

/// Returns the folder that all working trees of a repository share.
pub fn common_folder(root: &Path) -> Option<PathBuf> {
    let path = output(root, &["rev-parse", "--path-format=absolute", "--git-common-dir"])?;
    Some(PathBuf::from(path.trim_end_matches('\n'))).filter(|path| path.is_absolute())
}

fn lines(root: &Path, arguments: &[&str]) -> Option<Vec<String>> {
    Some(output(root, arguments)?.lines().map(str::to_string).collect())
}

/// Returns the output of git; `None` if it fails.
fn output(root: &Path, arguments: &[&str]) -> Option<String> {
    let output = command(root)?.args(arguments).stdin(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Returns the files that the commit being made changes, below the root. In a merge or a rebase, a file
/// counts only if it differs from every parent. git gives hooks an index of their own for some commits.
pub fn staged(root: &Path, index: Option<std::ffi::OsString>) -> Vec<String> {
    let Some(git) = output(root, &["rev-parse", "--absolute-git-dir"]) else { return Vec::new() };
    let git = PathBuf::from(git.trim_end_matches('\n'));
    let heads = ["MERGE_HEAD", "CHERRY_PICK_HEAD", "REBASE_HEAD"].into_iter();
    let others = heads.filter_map(|head| std::fs::read_to_string(git.join(head)).ok());
    let others = others.collect::<String>();
    let head = output(root, &["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]);
    // An unborn branch has no parent, so all files count.
    let head = head.unwrap_or_else(|| EMPTY_TREE.to_string());
    let is_id = |id: &&str| id.len() >= 40 && id.bytes().all(|b| b.is_ascii_hexdigit());
    let parents = std::iter::once(head.trim()).chain(others.lines().map(str::trim).filter(is_id));
    let changed = parents.map(|parent| changed_since(root, parent, index.as_ref()));
    let common = changed.reduce(|all, next| all.intersection(&next).cloned().collect());
    common.unwrap_or_default().into_iter().collect()
}

/// The tree without files, which every repository knows.
const EMPTY_TREE: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

/// Returns the files in the index that differ from a commit.
fn changed_since(
    root: &Path,
    parent: &str,
    index: Option<&std::ffi::OsString>,
) -> BTreeSet<String> {
    let run = || {
        let mut command = command(root)?;
        if let Some(index) = index {
            command.env("GIT_INDEX_FILE", index);
        }
        command.args(["diff-index", "--cached", "--relative", "--no-renames", "--no-ext-diff"]);
        command.args(["--name-only", "-z", parent, "--"]).stdin(Stdio::null());
        Some(command.output().ok()?.stdout)
    };
    let listed = String::from_utf8_lossy(&run().unwrap_or_default()).into_owned();
    listed.split_terminator('\0').map(str::to_string).collect()
}

/// Returns the folder of git's hooks: `core.hooksPath`, or else that of all working trees. Also returns
/// the top of this working tree.
pub fn hooks_folder(root: &Path) -> Option<(PathBuf, PathBuf)> {
    let top = output(root, &["rev-parse", "--show-toplevel"])?;
    let top = PathBuf::from(top.trim_end_matches('\n'));
    // The last value is the one that turns hooks off for this very command.
    let all = output(root, &["config", "--type=path", "--get-all", "core.hooksPath"]);
    let all = all.unwrap_or_default();
    let configured = all.lines().rev().nth(1).filter(|path| !path.is_empty());
    let folder = match configured {
        Some(path) => top.join(path),
        None => common_folder(root)?.join("hooks"),
    };
    Some((folder, top))
}
