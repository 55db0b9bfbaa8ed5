//! The steps that make a worktree, and the record that lets the next command finish or undo them.

use std::ffi::OsStr;
use std::path::Path;

use anyhow::Context;

use super::git_command;
use super::{RecordKeeper, is_built_with};
use crate::cli::{build, project};
use crate::discover::worktrees;
use crate::emit;
use crate::model::layout::{LOCAL, WORKTREE};
use crate::model::worktree::{GitRepository, Worktree};
use crate::root::Root;
use crate::wire::cache::Seal;
use crate::wire::worktree::{self, UnfinishedWorktree, WorktreeFile};

/// Returns the path of the record of an RFC.
pub(super) fn record_path(rfc: &str) -> String {
    format!("{LOCAL}/worktrees/{rfc}.json")
}

/// Returns the seal of records. A record that came with a clone could name any worktree.
fn seal(keeper: &Root) -> Option<Seal> {
    let folder = keeper.path().display().to_string();
    Some(Seal::new("worktree", 1, keeper.machine().key.as_ref()?, folder.as_bytes()))
}

/// Reads the record of an RFC.
pub(super) fn read(keeper: &Root, rfc: &str) -> Option<UnfinishedWorktree> {
    let bytes = keeper.readable_bytes(&record_path(rfc), 1 << 16)?;
    seal(keeper)?.decode(&bytes)
}

/// Reads the records of all RFCs.
pub(super) fn read_all(keeper: &Root) -> Vec<UnfinishedWorktree> {
    let entries = keeper.entries(&format!("{LOCAL}/worktrees")).unwrap_or_default();
    let mut names: Vec<String> =
        entries.iter().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names.iter().filter_map(|name| read(keeper, name.strip_suffix(".json")?)).collect()
}

/// Makes a worktree: the record first, so that a killed command can be finished or taken back. If a
/// step fails, all is taken back.
pub(super) fn make(
    keeper: &RecordKeeper,
    repository: &GitRepository,
    record: &UnfinishedWorktree,
) -> anyhow::Result<()> {
    let path = record_path(&record.file.rfc);
    let seal = seal(&keeper.root).context(
        "blue has no key on this machine\nhint: make $BLUE_HOME, by default ~/.blue, writable",
    )?;
    emit::write_local_unlocked(&keeper.root, &path, &seal.encode(record))?;
    let made = add(keeper, record).and_then(|()| finish(keeper, repository, record));
    if let Err(error) = made {
        // The first error is the one to report. What cannot be taken back is listed as unfinished.
        let undone = undo(keeper, record);
        return match undone {
            Ok(()) => Err(error),
            Err(undo) => Err(error.context(format!(
                "{} could not be taken back ({undo:#})\nhint: run `blue worktree prune`",
                record.path
            ))),
        };
    }
    Ok(())
}

/// Runs `git worktree add`.
fn add(keeper: &RecordKeeper, record: &UnfinishedWorktree) -> anyhow::Result<()> {
    let (file, path) = (&record.file, OsStr::new(&record.path));
    let words: Vec<&OsStr> = match record.is_own_branch {
        true => {
            let words = ["worktree", "add", "--no-track", "-b", &file.branch].map(OsStr::new);
            words.into_iter().chain([path, OsStr::new(&record.commit)]).collect()
        }
        false => ["worktree", "add"]
            .map(OsStr::new)
            .into_iter()
            .chain([path, OsStr::new(&file.branch)])
            .collect(),
    };
    git_command::run(keeper.root.path(), &words).map(|_| ())
}

/// Takes the steps after `git worktree add`: exclude and write the worktree file, build if the commit
/// has no bundle of the RFC. Each may be taken twice.
pub(super) fn finish(
    keeper: &RecordKeeper,
    repository: &GitRepository,
    record: &UnfinishedWorktree,
) -> anyhow::Result<()> {
    exclude(repository, Path::new(&record.path))?;
    let folder = Path::new(&record.path).join(&repository.below);
    let root = project::open_to_write(&folder)?;
    emit::replace(&root, WORKTREE, &merged_file(&root, &record.file))?;
    if !is_built_with(&root, &record.file.uri) {
        build::BuildArgs::default().build(&root).context("build in the new worktree")?;
    }
    emit::discard(&keeper.root, &record_path(&record.file.rfc))
}

/// Returns the worktree file with the keys that other tools added.
fn merged_file(root: &Root, file: &WorktreeFile) -> Vec<u8> {
    let previous = root.readable_bytes(WORKTREE, 1 << 16);
    let previous = previous.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let mut merged: serde_json::Map<String, serde_json::Value> = previous.unwrap_or_default();
    let own = serde_json::to_value(file).expect("a record is JSON");
    merged.extend(own.as_object().cloned().unwrap_or_default());
    worktree::bytes(&merged)
}

/// Adds the worktree file, and a worktree inside another one, to the repository's `info/exclude`.
fn exclude(repository: &GitRepository, path: &Path) -> anyhow::Result<()> {
    const EXCLUDE: &str = "info/exclude";
    let git = Root::open(&repository.common_folder)
        .with_context(|| format!("open {}", repository.common_folder.display()))?;
    let mut text = match git.read(EXCLUDE, 1 << 20).with_context(|| format!("read {EXCLUDE}"))? {
        None => String::new(),
        Some(crate::root::Content::Bytes(bytes, _)) => String::from_utf8_lossy(&bytes).into_owned(),
        Some(_) => anyhow::bail!("{EXCLUDE} of the repository is not a regular file below 1 MB"),
    };
    let file = repository.below.join(WORKTREE);
    let mut lines = vec![format!("/{}", file.display())];
    let around = repository.worktrees.iter().filter(|tree| path.starts_with(&tree.path));
    lines.extend(around.filter(|tree| tree.path != path).filter_map(|tree| {
        let below = path.strip_prefix(&tree.path).ok()?.to_str()?;
        Some(format!("/{}/", escaped_pattern(below)))
    }));
    lines.retain(|line| !text.lines().any(|other| other == line));
    if lines.is_empty() {
        return Ok(());
    }
    for line in lines {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&format!("{line}\n"));
    }
    emit::replace(&git, EXCLUDE, text.as_bytes())
}

/// Escapes the characters of a path that have a meaning in a pattern.
fn escaped_pattern(path: &str) -> String {
    let escape = |c: char| match c {
        '\\' | '*' | '?' | '[' | ']' | ' ' => format!("\\{c}"),
        c => c.to_string(),
    };
    path.chars().map(escape).collect()
}

/// Removes a worktree that was not finished, its branch and its record. The branch stays if it has
/// other commits by now.
pub(super) fn undo(keeper: &RecordKeeper, record: &UnfinishedWorktree) -> anyhow::Result<()> {
    let (folder, path) = (keeper.root.path(), Path::new(&record.path));
    if let Some(tree) = listed(folder, path) {
        // git locks a worktree while it fills the folder, and two flags remove a locked one.
        let removed = git_command::worktree(folder, &["remove", "--force", "--force"], path);
        if let Err(error) = removed {
            // git does not remove what it was killed in before it wrote HEAD, and forgets it only
            // without `.git`, which is the only file by then.
            anyhow::ensure!(tree.is_initializing() || tree.is_missing, error);
            if let Ok(root) = Root::open(path) {
                emit::discard(&root, ".git")?;
            }
            git_command::worktree(folder, &["unlock"], path).ok();
            git_command::run(folder, &["worktree", "prune"].map(OsStr::new))?;
        }
        anyhow::ensure!(listed(folder, path).is_none(), "git still lists it");
    }
    discard_hollow(path)?;
    let branch = &record.file.branch;
    let tip = worktrees::commit_id(folder, &format!("refs/heads/{branch}"));
    if record.is_own_branch && tip.is_some_and(|tip| tip == record.commit) {
        git_command::delete_branch(folder, branch)?;
    }
    emit::discard(&keeper.root, &record_path(&record.file.rfc))
}

/// Removes the file `.git` of a folder that has nothing else, if it points nowhere: git was killed
/// before it filled the folder.
fn discard_hollow(path: &Path) -> anyhow::Result<()> {
    let Ok(root) = Root::open(path) else { return Ok(()) };
    let entries = root.entries("").unwrap_or_default();
    let others = entries.iter().map(|entry| entry.file_name().to_bytes());
    let is_hollow = others.into_iter().all(|name| [&b"."[..], b"..", b".git"].contains(&name));
    let text = root.readable_bytes(".git", 1 << 12).unwrap_or_default();
    let text = String::from_utf8_lossy(&text).into_owned();
    let target = text.strip_prefix("gitdir: ").map(|target| path.join(target.trim()));
    if is_hollow && target.is_some_and(|target| !target.join("HEAD").exists()) {
        emit::discard(&root, ".git")?;
    }
    Ok(())
}

/// Returns the worktree that git lists for a folder.
pub(super) fn listed(folder: &Path, path: &Path) -> Option<Worktree> {
    let real = path.canonicalize();
    let path = real.as_deref().unwrap_or(path);
    let worktrees = worktrees::list(folder, None)?.worktrees;
    worktrees.into_iter().find(|tree| tree.path == path)
}

/// Finishes or takes back what a killed command left. Returns true if the worktree is whole now.
pub(super) fn recover(
    keeper: &RecordKeeper,
    repository: &GitRepository,
    record: &UnfinishedWorktree,
) -> anyhow::Result<bool> {
    let path = Path::new(&record.path);
    let tree = repository.worktrees.iter().find(|tree| tree.path == path);
    // Someone may already work in a folder that git has filled, so it is not removed.
    if tree.is_some_and(|tree| !tree.is_initializing() && !tree.is_missing) {
        finish(keeper, repository, record)?;
        return Ok(true);
    }
    undo(keeper, record)?;
    Ok(false)
}
