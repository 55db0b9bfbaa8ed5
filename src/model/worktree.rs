//! The worktrees and branches of a repository, as git describes them at one moment.

use std::path::{Path, PathBuf};

/// Seconds by which a time may be in the future, because clocks of machines differ.
pub const MAX_SKEW: i64 = 300;

/// One worktree.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Worktree {
    /// Its folder.
    pub path: PathBuf,
    /// The commit that is checked out.
    pub head: Option<String>,
    /// The branch that is checked out. `None` if HEAD is detached.
    pub branch: Option<String>,
    /// True for the first one, which has the repository in it.
    pub is_main: bool,
    /// True if it is a repository without files.
    pub is_bare: bool,
    /// True if its folder does not exist.
    pub is_missing: bool,
    /// The reason for which it is locked; empty if none is given.
    pub locked: Option<String>,
    /// Files with uncommitted changes, and untracked ones. `None` if git could not list them in time.
    pub n_changed: Option<usize>,
    /// Time of the newest of these changes, in seconds since 1970.
    pub changed_at: Option<i64>,
}

impl Worktree {
    /// Returns true if git was interrupted while it filled the folder.
    pub fn is_initializing(&self) -> bool {
        self.locked.as_deref() == Some("initializing")
    }
}

/// The last commit of a branch that is not in the base.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct BranchCommit {
    /// Name of the branch, without that of a remote.
    pub branch: String,
    /// The remote that it was fetched from. `None` for a local branch.
    pub remote: Option<String>,
    /// Time of the commit, in seconds since 1970.
    pub time: i64,
}

/// The worktrees of a repository and the commits on its branches.
#[derive(Clone, Debug, Default)]
pub struct GitRepository {
    /// The folder that all worktrees share.
    pub common_folder: PathBuf,
    /// Folder of the project below the root of each worktree; empty if it is the root itself.
    pub below: PathBuf,
    /// The branch that work starts from.
    pub base: Option<String>,
    /// Its worktrees, the main one first.
    pub worktrees: Vec<Worktree>,
    /// Commits on branches that are not in the base.
    pub commits: Vec<BranchCommit>,
}

impl GitRepository {
    /// Returns a state with nothing but a folder, for a project without git.
    pub fn only(folder: &Path) -> GitRepository {
        let worktree =
            Worktree { path: folder.to_path_buf(), is_main: true, ..Worktree::default() };
        GitRepository { worktrees: vec![worktree], ..GitRepository::default() }
    }

    /// Returns the folder of the project in a worktree.
    pub fn project_in(&self, worktree: &Worktree) -> PathBuf {
        worktree.path.join(&self.below)
    }

    /// Returns the worktree that contains a folder; of nested ones, the innermost.
    pub fn containing(&self, folder: &Path) -> Option<&Worktree> {
        let around = self.worktrees.iter().filter(|worktree| folder.starts_with(&worktree.path));
        around.max_by_key(|worktree| worktree.path.components().count())
    }

    /// Returns the worktree for records that outlive the others: the main one, or in a bare repository
    /// the first.
    pub fn keeper(&self) -> Option<&Worktree> {
        self.worktrees.iter().find(|worktree| !worktree.is_bare && !worktree.is_missing)
    }
}
