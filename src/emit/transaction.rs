//! Writes all changed files in one transaction.
//!
//! The files are staged, a record is written, the files are renamed, the record is removed. The
//! record is the commit point.

use std::collections::BTreeMap;
use std::io::Write;

use anyhow::Context;
use rayon::prelude::*;

use super::local_folder::{LOCAL, create_folders, entry_names, remove_temporaries};
use super::{document_edits, stage};
use crate::model::build_target::{CLAUDE_RULES, COPILOT_RULES, CURSOR_RULES};
use crate::model::layout::{
    AI_CONTEXT, BLUE, CONFIG, CONTEXT, CORE_FILES, HOOKS, IGNORE, KNOWLEDGE_FOLDER, MANIFEST,
    OLD_MANIFEST, RESPONSIBILITIES, WORKFLOW, folder_of, is_role_file,
};
use crate::model::{BuildTarget, Digest, Stat, TrackedFile};
use crate::root::{Content, Root, stat_of};
use crate::wire::commit::CommitRecord;

/// A file to write.
#[derive(Clone, Debug)]
pub struct Change {
    /// Path below the root.
    pub path: String,
    /// All its bytes, in parts.
    pub parts: Vec<Vec<u8>>,
}

/// A file to remove, provided that it still has the given digest.
#[derive(Clone, Debug)]
pub struct Removal {
    /// Path below the root.
    pub path: String,
    /// The expected digest of its bytes.
    pub digest: Digest,
}

fn folder_path() -> String {
    format!("{LOCAL}/txn")
}

fn record_path() -> String {
    format!("{LOCAL}/txn/record")
}

/// Returns true if a build or a change of documents was interrupted after its commit point. Costs
/// two stats.
pub fn is_pending(root: &Root) -> bool {
    root.exists(&record_path()) || document_edits::is_pending(root)
}

/// Returns the files that an interrupted build was about to write, each with its digest.
pub fn pending(root: &Root) -> BTreeMap<String, String> {
    let Ok(Some(record)) = commit_record(root) else { return BTreeMap::new() };
    record.writes.into_iter().map(|(_, target, digest)| (target, digest)).collect()
}

/// Reads the record of an interrupted build. `None` if there is none, or if it was not written on
/// this machine.
fn commit_record(root: &Root) -> anyhow::Result<Option<CommitRecord>> {
    let path = record_path();
    let record = match root.read(&path, 1 << 30).with_context(|| format!("read {path}"))? {
        Some(Content::Bytes(bytes, _)) => serde_json::from_slice::<CommitRecord>(&bytes).ok(),
        _ => None,
    };
    Ok(record.filter(|record| record.is_sealed(root.machine().key.as_ref())))
}

/// Completes the transaction of an interrupted build, or removes staged files if it had not reached
/// the commit point; before it, an interrupted change of documents. Runs under the lock and can
/// itself be interrupted.
pub fn recover(root: &Root) -> anyhow::Result<()> {
    document_edits::recover(root)?;
    remove_temporaries(root)?;
    let txn = folder_path();
    if root.stat(&txn)?.is_none() {
        return Ok(());
    }
    if let Some(record) = commit_record(root)? {
        roll_forward(root, &record)?;
    }
    stage::remove(root, &record_path())?;
    for name in entry_names(root, &txn)? {
        remove_beside(root, &name)?;
        stage::remove(root, &format!("{txn}/{name}"))?;
    }
    Ok(())
}

/// Folders that blue writes to. Each can be on a file system of its own. The empty one is the root.
const FOLDERS: [&str; 10] = [
    "",
    KNOWLEDGE_FOLDER,
    BLUE,
    CONTEXT,
    HOOKS,
    WORKFLOW,
    RESPONSIBILITIES,
    CLAUDE_RULES,
    COPILOT_RULES,
    CURSOR_RULES,
];

/// Removes the file that a killed build staged beside its target. The staged file has the same
/// number as its placeholder in the transaction folder, which has the name of the target's folder.
/// A build that was killed between the two left an empty placeholder, and nothing beside a target.
fn remove_beside(root: &Root, number: &str) -> anyhow::Result<()> {
    if !is_number(number) {
        return Ok(());
    }
    let bytes = root.readable_bytes(&format!("{}/{number}", folder_path()), 1 << 12);
    let folder = String::from_utf8(bytes.unwrap_or_default()).unwrap_or_default();
    // The placeholder may come from a cloned repository.
    let of_role = is_of_role(&format!("{folder}/{}", CORE_FILES[0])).then_some(folder.as_str());
    let paths = FOLDERS.iter().copied().chain(of_role).map(|folder| beside(folder, number));
    paths.filter(|path| root.exists(path)).try_for_each(|path| stage::remove(root, &path))
}

fn beside(folder: &str, number: &str) -> String {
    let name = format!(".blue-{number}.tmp");
    if folder.is_empty() { name } else { format!("{folder}/{name}") }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

fn roll_forward(root: &Root, record: &CommitRecord) -> anyhow::Result<()> {
    for (staged, target, digest) in &record.writes {
        // Without a key, the record may come from a cloned repository. Only files that a build
        // stages are renamed, and only to paths that a build writes.
        if !is_own(target) || !is_staged(staged, target) {
            continue;
        }
        let is_complete = matches!(root.read(staged, 1 << 40), Ok(Some(Content::Bytes(bytes, _))) if Digest::of(&bytes).to_string() == *digest);
        if is_complete {
            if !folder_of(target).is_empty() {
                create_folders(root, folder_of(target))?;
            }
            stage::refuse_link(root, target)?;
            stage::rename(root, staged, target)?;
        }
    }
    for (path, digest) in record.removals.iter().filter(|(path, _)| is_own(path)) {
        remove_unchanged(root, path, digest)?;
    }
    sync(root, record)
}

/// Returns true if a path is one that blue writes to.
fn is_own(path: &str) -> bool {
    let plain = |name: &str| !name.is_empty() && !name.contains('/') && !matches!(name, "." | "..");
    // In these folders, people have files too.
    let is_shared =
        |folder: &str| matches!(folder, "" | BLUE | CLAUDE_RULES | COPILOT_RULES | CURSOR_RULES);
    let in_folder = path.rsplit_once('/').is_some_and(|(folder, name)| {
        !is_shared(folder) && FOLDERS.contains(&folder) && plain(name)
    });
    let single = [CONFIG, IGNORE, MANIFEST, OLD_MANIFEST];
    in_folder
        || is_of_role(path)
        || single.contains(&path)
        || BuildTarget::ALL.iter().any(|target| target.owns(path))
}

/// Returns true if a path is that of a file that builds and mandates write for a responsibility.
fn is_of_role(path: &str) -> bool {
    let is_plain = |part: &str| !part.is_empty() && !part.starts_with('.');
    let below =
        path.strip_prefix(RESPONSIBILITIES).map_or(path, |rest| rest.trim_start_matches('/'));
    let is_state = folder_of(path).rsplit('/').next() == Some(AI_CONTEXT)
        && (path.ends_with("/state.jsonl") || path.ends_with("/overrides.jsonl"));
    (is_role_file(path) || is_state) && below.split('/').all(is_plain)
}

/// Returns true if a path is one at which a build stages a target.
fn is_staged(staged: &str, target: &str) -> bool {
    let folder = folder_of(target);
    let beside = if folder.is_empty() { ".blue-".to_string() } else { format!("{folder}/.blue-") };
    let in_txn = staged.strip_prefix(&format!("{}/", folder_path())).is_some_and(is_number);
    in_txn
        || staged
            .strip_prefix(&beside)
            .and_then(|rest| rest.strip_suffix(".tmp"))
            .is_some_and(is_number)
}

fn remove_unchanged(root: &Root, path: &str, digest: &str) -> anyhow::Result<()> {
    match root.read(path, 1 << 40).with_context(|| format!("read {path}"))? {
        Some(Content::Bytes(bytes, _)) if Digest::of(&bytes).to_string() == digest => {
            stage::remove(root, path)
        }
        _ => Ok(()),
    }
}

/// Writes and removes files atomically: if the process is killed at any time, the next build sees
/// all changes or none. Files are renamed in the given order, with the manifest last.
pub fn commit(
    root: &Root,
    changes: &[Change],
    removals: &[Removal],
) -> anyhow::Result<Vec<TrackedFile>> {
    if changes.is_empty() && removals.is_empty() {
        return Ok(Vec::new());
    }
    let staged = stage_all(root, changes, removals);
    if staged.is_err() && !root.exists(&record_path()) {
        discard(root, changes);
    }
    let (staged, digests, record) = staged?;
    let mut tracked = Vec::new();
    for (i, ((staged, change), digest)) in staged.into_iter().zip(changes).zip(digests).enumerate()
    {
        stage::rename(root, &staged.path, &change.path)?;
        if staged.path != in_txn(i) {
            stage::remove(root, &in_txn(i))?;
        }
        let stat = rustix::fs::fstat(&staged.file)
            .map_err(std::io::Error::from)
            .with_context(|| format!("stat {}", change.path))?;
        let now = stat_of(&stat);
        // A file that was modified after it was staged must not count as unchanged.
        let stat = if now.modified == staged.modified { now } else { Stat::default() };
        tracked.push(TrackedFile { path: change.path.clone(), stat, digest });
    }
    for removal in removals {
        remove_unchanged(root, &removal.path, &removal.digest.to_string())?;
    }
    sync(root, &record)?;
    stage::remove(root, &record_path())?;
    Ok(tracked)
}

/// Stages every change and writes the record, which is the commit point.
fn stage_all(
    root: &Root,
    changes: &[Change],
    removals: &[Removal],
) -> anyhow::Result<(Vec<Staged>, Vec<Digest>, CommitRecord)> {
    let txn = folder_path();
    create_folders(root, &txn)?;
    for change in changes {
        if !folder_of(&change.path).is_empty() {
            create_folders(root, folder_of(&change.path))?;
        }
        stage::refuse_link(root, &change.path)?;
    }
    let staged = changes.iter().enumerate().map(|(i, change)| stage_one(root, &txn, i, change));
    let staged: Vec<Staged> = staged.collect::<anyhow::Result<_>>()?;
    // Hashing runs while the disk syncs.
    let digest = |change: &Change| Digest::of_parts(&change.parts);
    let (durable, digests) = rayon::join(
        || make_durable(&txn, &staged, changes),
        || changes.par_iter().map(digest).collect::<Vec<Digest>>(),
    );
    durable?;
    let writes = staged.iter().zip(changes).zip(&digests);
    let record = CommitRecord {
        writes: writes
            .map(|((s, c), digest)| (s.path.clone(), c.path.clone(), digest.to_string()))
            .collect(),
        removals: removals
            .iter()
            .map(|removal| (removal.path.clone(), removal.digest.to_string()))
            .collect(),
        seal: None,
    };
    let record = record.sealed(root.machine().key.as_ref());
    // A file staged beside its target must also survive a power failure.
    for (staged, change) in staged.iter().zip(changes) {
        if !staged.path.starts_with(&txn) {
            stage::sync_folder(root, folder_of(&change.path))?;
        }
    }
    stage::write_record(root, &txn, &record_path(), &record)?;
    Ok((staged, digests, record))
}

/// Removes the staged files of a build that fails before its commit point. Errors are ignored: the
/// first error is reported, and the next build removes the rest.
fn discard(root: &Root, changes: &[Change]) {
    for (i, change) in changes.iter().enumerate() {
        stage::remove(root, &beside(folder_of(&change.path), &i.to_string())).ok();
        stage::remove(root, &in_txn(i)).ok();
    }
}

struct Staged {
    path: String,
    modified: i64,
    file: std::fs::File,
}

fn in_txn(i: usize) -> String {
    format!("{}/{i}", folder_path())
}

fn stage_one(root: &Root, txn: &str, i: usize, change: &Change) -> anyhow::Result<Staged> {
    let device = |path: &str| root.stat(path).ok().flatten().map(|(stat, _)| stat.device);
    let folder = folder_of(&change.path);
    let mut path = in_txn(i);
    stage::remove(root, &path)?;
    // A rename cannot cross file systems. In that case the file is staged beside its target, and
    // a file with the same number in txn, which has the name of the folder, lets the next build
    // find it.
    if device(folder) != device(txn) {
        let placeholder = stage::create(root, &path)?.write_all(folder.as_bytes());
        placeholder.with_context(|| format!("write {path}"))?;
        path = beside(folder, &i.to_string());
        stage::remove(root, &path)?;
    }
    let mut file = stage::create(root, &path)?;
    for part in &change.parts {
        file.write_all(part).with_context(|| format!("write {}", change.path))?;
    }
    let stat = rustix::fs::fstat(&file)
        .map_err(std::io::Error::from)
        .with_context(|| format!("stat {path}"))?;
    Ok(Staged { path, modified: stat_of(&stat).modified, file })
}

/// With at least this many files, the whole file system is synced at once. Syncing a hundred files
/// one by one takes ten times as long.
const MIN_SYNCFS_FILES: usize = 9;

/// Syncs the staged files to the disk. An error is fatal and is not retried.
fn make_durable(txn: &str, staged: &[Staged], changes: &[Change]) -> anyhow::Result<()> {
    #[cfg(target_os = "linux")]
    if staged.len() >= MIN_SYNCFS_FILES && staged.iter().all(|staged| staged.path.starts_with(txn))
    {
        let synced = rustix::io::retry_on_intr(|| rustix::fs::syncfs(&staged[0].file));
        return synced.map_err(std::io::Error::from).with_context(|| format!("sync {txn}"));
    }
    staged.par_iter().zip(changes).try_for_each(|(staged, change)| {
        staged.file.sync_all().with_context(|| format!("sync {}", change.path))
    })
}

/// Makes every rename and removal durable, before the record is removed.
fn sync(root: &Root, record: &CommitRecord) -> anyhow::Result<()> {
    let targets = record.writes.iter().map(|(_, target, _)| target).filter(|path| is_own(path));
    let mut folders: Vec<&str> = targets
        .chain(record.removals.iter().map(|(path, _)| path).filter(|path| is_own(path)))
        .map(|path| folder_of(path))
        .collect();
    folders.sort_unstable();
    folders.dedup();
    folders
        .into_iter()
        .filter(|folder| root.exists(folder))
        .try_for_each(|folder| stage::sync_folder(root, folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_staged_beside_its_target_in_a_container_is_removed() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = Root::open(folder.path()).expect("opened");
        let write = |path: &str, text: &str| {
            crate::emit::replace(&root, path, text.as_bytes()).expect("written");
        };
        for (number, target) in [("0", "registry/a/ai_context"), ("1", "docs"), ("2", "../x")] {
            write(&format!(".blue/local/txn/{number}"), target);
        }
        write("registry/a/ai_context/.blue-0.tmp", "staged");
        write("docs/.blue-1.tmp", "not a folder of blue's");
        recover(&root).expect("recovered");
        assert!(!root.exists("registry/a/ai_context/.blue-0.tmp"));
        assert!(root.exists("docs/.blue-1.tmp"));
        assert!(!root.exists(".blue/local/txn/0"));
    }
}
