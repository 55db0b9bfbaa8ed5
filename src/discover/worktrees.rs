//! Worktrees, branches and changes of a repository, read with git.
//!
//! Nothing that the repository configures is run: see `git::command`. Filters, which `git status` runs
//! on files whose stat changed, are turned off by name, and submodules are not entered. Each process
//! has two seconds.

use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::mpsc;
use std::time::Duration;

use rayon::prelude::*;
use rustix::fs::FileType;

use super::git;
use super::walk::DirectoryEntry;
use crate::model::worktree::{BranchCommit, GitRepository, MAX_SKEW, Worktree};
use crate::root::Root;

/// Time after which a process is stopped and its answer counts as unknown.
const PATIENCE: Duration = Duration::from_secs(2);

/// Maximum output of a process.
const MAX_OUTPUT: u64 = 64 << 20;

/// Maximum number of changed files whose times are compared.
const MAX_TIMES: usize = 1_000;

/// Returns true for the root of a worktree inside the project. Its documents are other versions of the
/// project's own. Submodules also have a file `.git`, and their documents count.
pub(super) fn is_inner(root: &Root, folder: &str, entries: &[DirectoryEntry]) -> bool {
    let path = format!("{folder}/.git");
    let is_file =
        |entry: &DirectoryEntry| entry.path == path && entry.kind == FileType::RegularFile;
    let bytes = || root.readable_bytes(&path, 1 << 12).unwrap_or_default();
    entries.iter().any(is_file) && memchr::memmem::find(&bytes(), b"/worktrees/").is_some()
}

/// Reads the state of the repository that contains a project. `None` if there is no repository, or git
/// cannot read it. `base` is the configured base, and `now` is the current time.
pub fn survey(project: &Path, base: Option<&str>, now: i64) -> Option<GitRepository> {
    let mut repository = list(project, base)?;
    repository.commits = commits(project, repository.base.as_deref());
    repository.worktrees.par_iter_mut().for_each(|worktree| {
        if let Some(changed) = changed(worktree) {
            worktree.n_changed = Some(changed.len());
            worktree.changed_at = newest(&worktree.path, &changed, now);
        }
    });
    Some(repository)
}

/// Lists the worktrees of the repository that contains a project, without their changes.
pub fn list(project: &Path, base: Option<&str>) -> Option<GitRepository> {
    git::repository(project)?;
    let project = project.canonicalize().ok()?;
    let listed = output(&project, &["worktree", "list", "--porcelain", "-z"])?;
    let mut worktrees = parse_worktrees(&listed);
    correct_main(&project, &mut worktrees);
    for worktree in &mut worktrees {
        worktree.is_missing = !worktree.is_bare && !worktree.path.join(".git").exists();
        if let Ok(path) = worktree.path.canonicalize() {
            worktree.path = path;
        }
    }
    let common = output(&project, &["rev-parse", "--git-common-dir"])?;
    let common_folder = project.join(path_of(trimmed(&common)));
    let mut repository = GitRepository {
        common_folder: common_folder.canonicalize().unwrap_or(common_folder),
        base: base_branch(&project, base),
        worktrees,
        ..GitRepository::default()
    };
    let top = repository.containing(&project)?.path.clone();
    repository.below = project.strip_prefix(&top).ok()?.to_path_buf();
    Some(repository)
}

/// Corrects the folder of the main worktree. If the repository is in another place, as that of a
/// submodule, git lists that place.
fn correct_main(project: &Path, worktrees: &mut [Worktree]) {
    let Some(main) = worktrees.first().filter(|main| !main.is_bare) else { return };
    if main.path.join(".git").exists() {
        return;
    }
    let git_folder = main.path.clone();
    let configured = output(project, &["config", "core.worktree"]);
    let configured = configured.map(|bytes| git_folder.join(path_of(trimmed(&bytes))));
    let top = output(project, &["rev-parse", "--show-toplevel"]);
    let top = top.map(|bytes| path_of(trimmed(&bytes)));
    let is_listed =
        top.as_ref().is_some_and(|top| worktrees[1..].iter().any(|tree| tree.path == *top));
    let found = configured.or(top.filter(|_| !is_listed)).and_then(|path| path.canonicalize().ok());
    if let Some(path) = found {
        worktrees[0].path = path;
    }
}

fn parse_worktrees(listed: &[u8]) -> Vec<Worktree> {
    let mut worktrees: Vec<Worktree> = Vec::new();
    for line in listed.split(|byte| *byte == 0) {
        let (key, value) = match line.iter().position(|byte| *byte == b' ') {
            Some(at) => (&line[..at], &line[at + 1..]),
            None => (line, &line[line.len()..]),
        };
        let text = || String::from_utf8_lossy(value).into_owned();
        if key == b"worktree" {
            let (path, is_main) = (path_of(value), worktrees.is_empty());
            worktrees.push(Worktree { path, is_main, ..Worktree::default() });
            continue;
        }
        let Some(worktree) = worktrees.last_mut() else { continue };
        match key {
            // An unborn branch has an id of zeros.
            b"HEAD" => worktree.head = Some(text()).filter(|id| id.contains(|c| c != '0')),
            b"branch" => worktree.branch = text().strip_prefix("refs/heads/").map(str::to_string),
            b"bare" => worktree.is_bare = true,
            b"locked" => worktree.locked = Some(text()),
            _ => {}
        }
    }
    worktrees
}

/// Returns the branch that work starts from: the configured one, the one that `origin/HEAD` names,
/// `main`, `master`, or else HEAD. `None` if the repository has no commit.
fn base_branch(project: &Path, configured: Option<&str>) -> Option<String> {
    let exists = |name: &str| commit_id(project, name).is_some();
    if let Some(name) = configured {
        return Some(name.to_string());
    }
    let origin = output(project, &["symbolic-ref", "-q", "refs/remotes/origin/HEAD"]);
    let origin = origin.map(|bytes| String::from_utf8_lossy(trimmed(&bytes)).into_owned());
    let origin = origin.as_deref().and_then(|name| name.strip_prefix("refs/remotes/origin/"));
    let remote = origin.map(|name| format!("origin/{name}"));
    let names = origin.into_iter().chain(remote.as_deref()).chain(["main", "master", "HEAD"]);
    names.into_iter().find(|name| exists(name)).map(str::to_string)
}

/// Returns the id of the commit that a name means.
pub fn commit_id(project: &Path, name: &str) -> Option<String> {
    let commit = format!("{name}^{{commit}}");
    let id = output(project, &["rev-parse", "--verify", "-q", "--end-of-options", &commit])?;
    Some(String::from_utf8_lossy(trimmed(&id)).into_owned()).filter(|id| !id.is_empty())
}

/// Returns the names of all local branches.
pub fn branches(project: &Path) -> Vec<String> {
    let listed = output(project, &["for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads"]);
    let listed = String::from_utf8_lossy(&listed.unwrap_or_default()).into_owned();
    listed.lines().map(str::to_string).collect()
}

/// Returns the last commit of every branch, local or fetched, that the base does not contain.
fn commits(project: &Path, base: Option<&str>) -> Vec<BranchCommit> {
    let Some(base) = base.and_then(|base| commit_id(project, base)) else { return Vec::new() };
    let (not_merged, format) =
        (format!("--no-merged={base}"), "--format=%(committerdate:unix) %(refname)");
    let arguments = ["for-each-ref", &not_merged, format, "refs/heads", "refs/remotes"];
    let listed = output(project, &arguments).unwrap_or_default();
    let listed = String::from_utf8_lossy(&listed).into_owned();
    let commit = |line: &str| {
        let (time, name) = line.split_once(' ')?;
        let time = time.parse().ok()?;
        if let Some(branch) = name.strip_prefix("refs/heads/") {
            return Some(BranchCommit { branch: branch.to_string(), remote: None, time });
        }
        let (remote, branch) = name.strip_prefix("refs/remotes/")?.split_once('/')?;
        let remote = Some(remote.to_string());
        Some(BranchCommit { branch: branch.to_string(), remote, time })
    };
    listed.lines().filter_map(commit).collect()
}

/// Returns the number of commits that a commit has and the base has not, and the other way round.
pub fn divergence(project: &Path, base: &str, commit: &str) -> Option<(u64, u64)> {
    let range = format!("{base}...{commit}");
    let counts = output(project, &["rev-list", "--left-right", "--count", &range, "--"])?;
    let counts = String::from_utf8_lossy(&counts).into_owned();
    let (behind, ahead) = counts.trim().split_once('\t')?;
    Some((ahead.parse().ok()?, behind.parse().ok()?))
}

/// Returns the number of commits that are neither in the base nor in a branch of a remote.
pub fn n_unshared(project: &Path, base: Option<&str>, commit: &str) -> Option<u64> {
    let mut arguments = vec!["rev-list", "--count", commit, "--not", "--remotes"];
    arguments.extend(base);
    arguments.push("--");
    String::from_utf8_lossy(&output(project, &arguments)?).trim().parse().ok()
}

/// Returns the paths of changed and untracked files in a worktree. `None` if git cannot list them.
pub fn changed(worktree: &Worktree) -> Option<Vec<PathBuf>> {
    if worktree.is_bare || worktree.is_missing {
        return None;
    }
    let mut command = git::command(&worktree.path)?;
    for (i, (key, value)) in without_filters(&worktree.path)?.iter().enumerate() {
        command.env(format!("GIT_CONFIG_KEY_{i}"), key).env(format!("GIT_CONFIG_VALUE_{i}"), value);
        command.env("GIT_CONFIG_COUNT", (i + 1).to_string());
    }
    command.args(["status", "--porcelain=v1", "-z", "--untracked-files=normal"]);
    command.args(["--no-renames", "--ignore-submodules=all"]);
    let listed = finish(&mut command)?;
    let entries = listed.split(|byte| *byte == 0).filter(|entry| entry.len() > 3);
    Some(entries.map(|entry| path_of(&entry[3..])).collect())
}

/// Returns settings that turn off every filter that is configured. Most files need none, because their
/// stat did not change since they were checked out.
fn without_filters(folder: &Path) -> Option<Vec<(String, &'static str)>> {
    let mut command = git::command(folder)?;
    command.args(["config", "-z", "--name-only", "--get-regexp", "^filter\\."]);
    // Without a filter, git ends with an error.
    let listed = finish(&mut command).unwrap_or_default();
    let listed = String::from_utf8_lossy(&listed).into_owned();
    let mut drivers: Vec<&str> =
        listed.split('\0').filter_map(|key| Some(key.rsplit_once('.')?.0)).collect();
    drivers.sort_unstable();
    drivers.dedup();
    let settings = [("clean", ""), ("smudge", ""), ("process", ""), ("required", "false")];
    let of_driver = |driver: &&str| {
        let driver = driver.to_string();
        settings.map(|(key, value)| (format!("{driver}.{key}"), value))
    };
    Some(drivers.iter().flat_map(of_driver).collect())
}

/// Returns the time of the newest of some files. Times in the future do not count.
fn newest(folder: &Path, paths: &[PathBuf], now: i64) -> Option<i64> {
    let times = paths.iter().take(MAX_TIMES).filter_map(|path| {
        let metadata = folder.join(path).symlink_metadata();
        metadata.ok().map(|metadata| metadata.mtime())
    });
    times.filter(|time| *time <= now + MAX_SKEW).max()
}

/// Runs git for a fact. `None` if it fails.
fn output(folder: &Path, arguments: &[&str]) -> Option<Vec<u8>> {
    finish(git::command(folder)?.args(arguments))
}

/// Waits for a command that prints a fact, for two seconds at most.
fn finish(command: &mut std::process::Command) -> Option<Vec<u8>> {
    let mut child = command.stdin(Stdio::null()).spawn().ok()?;
    let stdout = child.stdout.take()?;
    let (sender, receiver) = mpsc::channel();
    // A thread of the pool would be blocked for as long as the process runs.
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = stdout.take(MAX_OUTPUT).read_to_end(&mut bytes);
        sender.send(read.map(|_| bytes)).ok();
    });
    let read = receiver.recv_timeout(PATIENCE);
    if !matches!(read, Ok(Ok(_))) {
        child.kill().ok();
    }
    let status = child.wait().ok()?;
    read.ok()?.ok().filter(|_| status.success())
}

fn trimmed(bytes: &[u8]) -> &[u8] {
    bytes.strip_suffix(b"\n").unwrap_or(bytes)
}

fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(std::ffi::OsStr::from_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_worktrees_is_parsed() {
        let listed =
            b"worktree /a\nb\0HEAD 01\0branch refs/heads/feature/x\0\0worktree /c\0HEAD 00\0\
            detached\0locked on a stick\0prunable gone\0\0";
        let worktrees = parse_worktrees(listed);
        assert_eq!(worktrees.len(), 2);
        assert_eq!(worktrees[0].path, Path::new("/a\nb"));
        assert_eq!(worktrees[0].branch.as_deref(), Some("feature/x"));
        assert!(worktrees[0].is_main && !worktrees[1].is_main);
        assert_eq!((&worktrees[1].head, &worktrees[1].branch), (&None, &None));
        assert_eq!(worktrees[1].locked.as_deref(), Some("on a stick"));
    }
}
