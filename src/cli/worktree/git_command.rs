//! Runs git commands that change the repository.
//!
//! They run as a user would run them: with the configuration, hooks and filters of the repository.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::Context;

use crate::discover::git;

/// Runs git in a folder and returns its output. An error has the cause that git printed.
pub(super) fn run(folder: &Path, arguments: &[&OsStr]) -> anyhow::Result<String> {
    let program = git::program(folder).context("git is not installed\nhint: install git")?;
    let mut command = Command::new(program);
    command.current_dir(folder).args(arguments).stdin(Stdio::null());
    // A hook of git that runs blue would redirect it to the repository of the hook.
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_PREFIX"] {
        command.env_remove(name);
    }
    let shown: Vec<_> = arguments.iter().map(|word| word.to_string_lossy()).collect();
    let shown = format!("git {}", shown.join(" "));
    let output = command.output().with_context(|| format!("run {shown}"))?;
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    // git may print progress before the cause, and advice after it.
    let is_cause = |line: &&str| line.starts_with("fatal: ") || line.starts_with("error: ");
    let cause = errors.lines().find(is_cause).or_else(|| errors.lines().last());
    anyhow::ensure!(output.status.success(), "{shown}: {}", cause.unwrap_or("it gave no reason"));
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Runs `git worktree` with a path as its last argument.
pub(super) fn worktree(folder: &Path, arguments: &[&str], path: &Path) -> anyhow::Result<String> {
    let words = ["worktree"].iter().chain(arguments).map(OsStr::new);
    let words: Vec<&OsStr> = words.chain([path.as_os_str()]).collect();
    run(folder, &words)
}

/// Deletes a branch.
pub(super) fn delete_branch(folder: &Path, branch: &str) -> anyhow::Result<()> {
    let words = ["branch", "-D", "--", branch].map(OsStr::new);
    run(folder, &words).map(|_| ())
}
