//! One commit point for all changed files: stage, record, rename, forget.

use std::collections::BTreeMap;
use std::io::Write;

use anyhow::Context;
use rayon::prelude::*;
use rustix::fs::FileType;

use super::local::{LOCAL, folder, names, tidy};
use super::stage;
use crate::model::layout::{CONFIG, MANIFEST, folder_of};
use crate::model::{Digest, Stat, TrackedFile};
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

/// A file to remove, if it still is what it was when that was decided.
#[derive(Clone, Debug)]
pub struct Removal {
    /// Path below the root.
    pub path: String,
    /// The digest of its bytes.
    pub digest: Digest,
}

fn folder_path() -> String {
    format!("{LOCAL}/txn")
}

fn record_path() -> String {
    format!("{LOCAL}/txn/record")
}

/// Whether a build stopped between its commit point and its end: one stat.
pub fn is_pending(root: &Root) -> bool {
    root.exists(&record_path())
}

/// The files that an interrupted build was about to write, each with its digest.
pub fn pending(root: &Root) -> BTreeMap<String, String> {
    let Ok(Some(record)) = commit_record(root) else { return BTreeMap::new() };
    record.writes.into_iter().map(|(_, target, digest)| (target, digest)).collect()
}

/// The record of an interrupted build. `None` if there is none, or this machine did not write it.
fn commit_record(root: &Root) -> anyhow::Result<Option<CommitRecord>> {
    let path = record_path();
    let record = match root.read(&path, 1 << 30).with_context(|| format!("read {path}"))? {
        Some(Content::Bytes(bytes, _)) => serde_json::from_slice::<CommitRecord>(&bytes).ok(),
        _ => None,
    };
    Ok(record.filter(|record| record.is_sealed(root.machine().key.as_ref())))
}

/// Finishes what an interrupted build had committed, or discards what it had only staged. Runs
/// under the lock and can itself be interrupted.
pub fn recover(root: &Root) -> anyhow::Result<()> {
    tidy(root)?;
    let txn = folder_path();
    if root.stat(&txn)?.is_none() {
        return Ok(());
    }
    if let Some(record) = commit_record(root)? {
        roll_forward(root, &record)?;
    }
    stage::remove(root, &record_path())?;
    for name in names(root, &txn)? {
        remove_beside(root, &name)?;
        stage::remove(root, &format!("{txn}/{name}"))?;
    }
    Ok(())
}

/// Folders that blue writes to, each of which may be another file system.
const FOLDERS: [&str; 5] =
    ["knowledge", ".blue", ".blue/context", ".blue/hooks", ".blue/context/workflow"];

/// Removes what a killed build left beside a target, known by its number in the folder of staged
/// files.
fn remove_beside(root: &Root, number: &str) -> anyhow::Result<()> {
    if !is_number(number) {
        return Ok(());
    }
    let there = FOLDERS.iter().map(|folder| beside(folder, number));
    there.filter(|path| root.exists(path)).try_for_each(|path| stage::remove(root, &path))
}

fn beside(folder: &str, number: &str) -> String {
    format!("{folder}/.blue-{number}.tmp")
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

fn roll_forward(root: &Root, record: &CommitRecord) -> anyhow::Result<()> {
    for (staged, target, digest) in &record.writes {
        // Without a key, a record can come with a cloned repository; it moves only what a build
        // stages, to where a build writes.
        if !is_own(target) || !is_staged(staged, target) {
            continue;
        }
        let whole = matches!(root.read(staged, 1 << 40), Ok(Some(Content::Bytes(bytes, _))) if Digest::of(&bytes).to_string() == *digest);
        if whole {
            if !folder_of(target).is_empty() {
                folder(root, folder_of(target))?;
            }
            refuse_link(root, target)?;
            stage::rename(root, staged, target)?;
        }
    }
    for (path, digest) in record.removals.iter().filter(|(path, _)| is_own(path)) {
        remove_unchanged(root, path, digest)?;
    }
    sync(root, record)
}

/// Whether a path is one that blue writes to.
fn is_own(path: &str) -> bool {
    let plain = |name: &str| !name.is_empty() && !name.contains('/') && !matches!(name, "." | "..");
    let below = ["knowledge/", ".blue/context/", ".blue/hooks/", ".blue/context/workflow/"];
    let in_folder = below.iter().any(|folder| path.strip_prefix(folder).is_some_and(plain));
    let single = [CONFIG, ".blue/.gitignore", MANIFEST, ".blue/context.manifest.old.yaml"];
    in_folder || single.contains(&path)
}

/// Whether a path is one that a build stages a target at.
fn is_staged(staged: &str, target: &str) -> bool {
    let beside = format!("{}/.blue-", folder_of(target));
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

/// Writes and removes as one: after a kill at any instant, the next build sees all of it or none.
/// The changes are renamed in the order given, so the manifest comes last.
pub fn commit(
    root: &Root,
    changes: &[Change],
    removals: &[Removal],
) -> anyhow::Result<Vec<TrackedFile>> {
    if changes.is_empty() && removals.is_empty() {
        return Ok(Vec::new());
    }
    let staged = stage_all(root, changes, removals);
    if staged.is_err() && !is_pending(root) {
        discard(root, changes);
    }
    let (staged, digests, record) = staged?;
    let mut watched = Vec::new();
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
        // A file whose content moved since it was written is not what was staged.
        let stat = if now.modified == staged.modified { now } else { Stat::default() };
        watched.push(TrackedFile { path: change.path.clone(), stat, digest });
    }
    for removal in removals {
        remove_unchanged(root, &removal.path, &removal.digest.to_string())?;
    }
    sync(root, &record)?;
    stage::remove(root, &record_path())?;
    Ok(watched)
}

/// Stages every change and writes the record, which is the commit point.
fn stage_all(
    root: &Root,
    changes: &[Change],
    removals: &[Removal],
) -> anyhow::Result<(Vec<Staged>, Vec<Digest>, CommitRecord)> {
    let txn = folder_path();
    folder(root, &txn)?;
    for change in changes {
        if !folder_of(&change.path).is_empty() {
            folder(root, folder_of(&change.path))?;
        }
        refuse_link(root, &change.path)?;
    }
    let staged = changes.iter().enumerate().map(|(i, change)| stage_one(root, &txn, i, change));
    let staged: Vec<Staged> = staged.collect::<anyhow::Result<_>>()?;
    // There is time to hash while the disk is waited for.
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
    // What is staged beside its target must be there after a power failure, too.
    for change in staged.iter().zip(changes).filter(|(staged, _)| !staged.path.starts_with(&txn)) {
        stage::sync_folder(root, folder_of(&change.1.path))?;
    }
    write_record(root, &txn, &record)?;
    Ok((staged, digests, record))
}

/// Removes what was staged by a build that stops before its commit point. The error
/// that stopped it is reported; what cannot be removed now, the next build removes.
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
    // A rename cannot cross file systems; then the new file waits beside its target, and an
    // empty file of the same number in txn lets the next build find it.
    if device(folder) != device(txn) {
        stage::create(root, &path)?;
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

/// Files from this number on are synced together with their file system: a hundred waits for the
/// disk one after the other take ten times as long.
const MANY: usize = 9;

/// Brings what was staged to the disk. An error is fatal and never retried.
fn make_durable(txn: &str, staged: &[Staged], changes: &[Change]) -> anyhow::Result<()> {
    #[cfg(target_os = "linux")]
    if staged.len() >= MANY && staged.iter().all(|staged| staged.path.starts_with(txn)) {
        let synced = rustix::io::retry_on_intr(|| rustix::fs::syncfs(&staged[0].file));
        return synced.map_err(std::io::Error::from).with_context(|| format!("sync {txn}"));
    }
    staged.par_iter().zip(changes).try_for_each(|(staged, change)| {
        staged.file.sync_all().with_context(|| format!("sync {}", change.path))
    })
}

fn write_record(root: &Root, txn: &str, record: &CommitRecord) -> anyhow::Result<()> {
    let temporary = format!("{txn}/record.tmp");
    stage::remove(root, &temporary)?;
    let mut file = stage::create(root, &temporary)?;
    let bytes = serde_json::to_vec(record).expect("a record is JSON");
    file.write_all(&bytes)
        .and_then(|()| file.sync_all())
        .with_context(|| format!("write {temporary}"))?;
    stage::sync_folder(root, txn)?;
    stage::rename(root, &temporary, &record_path())?;
    stage::sync_folder(root, txn)
}

/// Makes every rename and removal durable before the record is forgotten.
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

/// Nothing is written through a link, nor over anything but a regular file.
fn refuse_link(root: &Root, path: &str) -> anyhow::Result<()> {
    match root.stat(path).with_context(|| format!("open {path}"))?.map(|(_, kind)| kind) {
        None | Some(FileType::RegularFile) => Ok(()),
        Some(FileType::Symlink) => {
            anyhow::bail!(
                "{path} is a symbolic link; blue writes nothing through a link\nhint: remove it"
            )
        }
        Some(_) => {
            anyhow::bail!("{path} is in the way: it is not a regular file\nhint: move it away")
        }
    }
}
