//! Changes documents, which belong to people, in one transaction.
//!
//! Every file is exchanged with its new version in one system call, and the version that comes out
//! is compared with the expected one. If it differs, a user saved the document meanwhile: the
//! files are exchanged back, and nothing has changed.

use std::io::Write;

use anyhow::Context;
use rustix::fs::{FileType, Mode, RenameFlags};
use rustix::io::{Errno, retry_on_intr};

use super::local_folder::{LOCAL, create_folders, entry_names, save_copy};
use super::replace::{discard_folder, missing_folders, mode_of};
use super::stage;
use crate::model::layout::folder_of;
use crate::model::{Digest, Stat};
use crate::root::{Content, Root};
use crate::wire::commit::{EditLine, EditRecord};

/// A document to write, create or remove.
#[derive(Clone, Debug)]
pub struct DocumentEdit {
    /// Path below the root.
    pub path: String,
    /// The expected digest of its bytes; `None` if it must not exist.
    pub before: Option<Digest>,
    /// Its new bytes; `None` to remove it.
    pub after: Option<Vec<u8>>,
    /// The document whose permissions a new one gets.
    pub like: Option<String>,
}

/// With at least this many files, the whole file system is synced at once.
const MIN_SYNCFS_FILES: usize = 9;

/// Maximum size of a document that is compared.
const MAX_BYTES: u64 = 1 << 30;

fn edits_folder() -> String {
    format!("{LOCAL}/edits")
}

fn edit_record() -> String {
    format!("{LOCAL}/edits/record")
}

/// Returns true if a change of documents was interrupted. Costs one stat.
pub(super) fn is_pending(root: &Root) -> bool {
    root.exists(&edit_record())
}

/// Changes all documents or none. The caller holds the lock.
///
/// Fails, and changes nothing, if a document is not the expected one, is read-only or a link, or if
/// a new one exists. After a crash, the next command that takes the lock completes the change.
pub fn edit_documents(root: &Root, edits: &[DocumentEdit]) -> anyhow::Result<()> {
    // A record without a seal could come with a clone, so recovery would ignore it.
    anyhow::ensure!(
        root.machine().key.is_some(),
        "this machine has no key for the record of the change\nhint: set BLUE_HOME to a folder that you can write"
    );
    recover(root)?;
    edits.iter().try_for_each(|edit| check(root, edit))?;
    let mut created = Vec::new();
    for edit in edits.iter().filter(|edit| edit.before.is_none()) {
        created.extend(missing_folders(root, &edit.path)?);
    }
    let edited = edit_all(root, edits);
    if edited.is_err() {
        for folder in &created {
            discard_folder(root, folder).ok();
        }
    }
    edited
}

fn edit_all(root: &Root, edits: &[DocumentEdit]) -> anyhow::Result<()> {
    let staged = stage_edits(root, edits).and_then(|record| {
        write_edit_record(root, &record)?;
        Ok(record)
    });
    let record = match staged {
        Ok(record) => record,
        Err(error) => {
            // The first error is the one to report; the next command removes the rest.
            stage::remove(root, &edit_record()).and_then(|()| remove_staged_edits(root)).ok();
            return Err(error);
        }
    };
    let settled = settle(root, &record.edits).and_then(|()| sync_edits(root, &record));
    if let Err(error) = settled {
        return match undo(root, &record.edits) {
            Ok(()) => finish(root, &record).and(Err(error)),
            Err(undo) => Err(error.context(format!(
                "undo the change ({undo:#})\nhint: `blue knowledge build` completes or undoes it"
            ))),
        };
    }
    // All documents are changed. What cannot be tidied up now is tidied up by the next command.
    tidy_up(root, &record).ok();
    Ok(())
}

/// Completes an interrupted change of documents, or undoes it if a document was saved meanwhile.
/// Runs under the lock and can itself be interrupted.
pub(super) fn recover(root: &Root) -> anyhow::Result<()> {
    if root.stat(&edits_folder())?.is_none() {
        return Ok(());
    }
    let path = edit_record();
    let record = match root.read(&path, MAX_BYTES).with_context(|| format!("read {path}"))? {
        Some(Content::Bytes(bytes, _)) => serde_json::from_slice::<EditRecord>(&bytes).ok(),
        _ => None,
    };
    let key = root.machine().key.as_ref();
    if let Some(record) = record.filter(|record| record.is_sealed(key)) {
        if settle(root, &record.edits).is_err() {
            undo(root, &record.edits)?;
        }
        return finish(root, &record);
    }
    stage::remove(root, &path)?;
    remove_staged_edits(root)
}

/// Fails if a document cannot be changed as planned.
fn check(root: &Root, edit: &DocumentEdit) -> anyhow::Result<()> {
    let path = &edit.path;
    stage::refuse_link(root, path)?;
    let Some(before) = &edit.before else {
        anyhow::ensure!(!root.exists(path), "{path} exists\nhint: choose another name");
        return Ok(());
    };
    let is_read_only = mode_of(root, path)?.is_some_and(|mode| {
        !mode.intersects(Mode::WUSR | Mode::WGRP | Mode::WOTH)
            || rustix::fs::accessat(
                root.fd(),
                path,
                rustix::fs::Access::WRITE_OK,
                rustix::fs::AtFlags::empty(),
            )
            .is_err()
    });
    anyhow::ensure!(!is_read_only, "{path} is read-only\nhint: chmod u+w {path}");
    ensure_unchanged(digest_at(root, path)?.as_ref(), &before.to_string(), path)
}

fn ensure_unchanged(now: Option<&String>, expected: &str, path: &str) -> anyhow::Result<()> {
    let hint = "hint: run the command again";
    anyhow::ensure!(now.is_some(), "{path} was removed meanwhile\n{hint}");
    anyhow::ensure!(now.is_some_and(|now| now == expected), "{path} was changed meanwhile\n{hint}");
    Ok(())
}

/// Returns the digest of a regular file; `None` if there is none.
fn digest_at(root: &Root, path: &str) -> anyhow::Result<Option<String>> {
    match root.read(path, MAX_BYTES).with_context(|| format!("read {path}"))? {
        Some(Content::Bytes(bytes, _)) => Ok(Some(Digest::of(&bytes).to_string())),
        _ => Ok(None),
    }
}

/// Writes the new version of every document to the disk, and returns the record of the change.
fn stage_edits(root: &Root, edits: &[DocumentEdit]) -> anyhow::Result<EditRecord> {
    create_folders(root, &edits_folder())?;
    let mut lines = Vec::with_capacity(edits.len());
    // Syncing many files one by one takes ten times as long as syncing the file system once.
    let is_small = edits.len() < MIN_SYNCFS_FILES || cfg!(not(target_os = "linux"));
    for (number, edit) in edits.iter().enumerate() {
        if !folder_of(&edit.path).is_empty() {
            create_folders(root, folder_of(&edit.path))?;
        }
        let staged = staged_path(root, number, &edit.path)?;
        if let Some(bytes) = &edit.after {
            let mut file = stage::create(root, &staged)?;
            file.write_all(bytes).with_context(|| format!("write {}", edit.path))?;
            if let Some(mode) = mode_of(root, edit.like.as_ref().unwrap_or(&edit.path))? {
                let changed = retry_on_intr(|| rustix::fs::fchmod(&file, mode));
                changed.map_err(std::io::Error::from).with_context(|| format!("write {staged}"))?;
            }
            if is_small || !staged.starts_with(LOCAL) {
                file.sync_all().with_context(|| format!("sync {}", edit.path))?;
            }
        }
        let digest = edit.after.as_ref().map(|bytes| Digest::of(bytes).to_string());
        let before = edit.before.as_ref().map(ToString::to_string);
        lines.push(EditLine { staged, path: edit.path.clone(), before, after: digest });
    }
    if !is_small {
        stage::sync_file_system(root, &edits_folder())?;
    }
    Ok(EditRecord::new(lines, root.machine().key.as_ref()))
}

/// Returns the path at which the new version of a document is staged, or its old version while it is
/// removed: in the folder of the transaction, or beside it on another file system. Then a file with
/// the same number names its folder, so that it is found after a crash.
fn staged_path(root: &Root, number: usize, path: &str) -> anyhow::Result<String> {
    let staged = format!("{}/{number}", edits_folder());
    stage::remove(root, &staged)?;
    let device =
        |path: &str| root.stat(path).ok().flatten().map(|(stat, _): (Stat, _)| stat.device);
    let folder = folder_of(path);
    if device(folder) == device(&edits_folder()) {
        return Ok(staged);
    }
    let note = format!("{staged}.folder");
    stage::remove(root, &note)?;
    let written = stage::create(root, &note)?.write_all(folder.as_bytes());
    written.with_context(|| format!("write {note}"))?;
    let beside = beside(folder, number);
    stage::remove(root, &beside)?;
    Ok(beside)
}

fn beside(folder: &str, number: usize) -> String {
    let name = format!(".blue-edit-{number}.tmp");
    if folder.is_empty() { name } else { format!("{folder}/{name}") }
}

fn write_edit_record(root: &Root, record: &EditRecord) -> anyhow::Result<()> {
    stage::write_record(root, &edits_folder(), &edit_record(), record)
}

/// The progress of one edit, seen from the file at its staged path.
enum EditProgress {
    /// The document is unchanged.
    NotStarted,
    /// The document was changed; the staged path has the old version, if there was one.
    Applied,
    /// An unexpected version was taken out of its place.
    TookOther,
}

fn progress(root: &Root, edit: &EditLine) -> anyhow::Result<EditProgress> {
    let staged = digest_at(root, &edit.staged)?;
    Ok(match (&edit.before, &edit.after, staged) {
        (Some(_), Some(after), Some(staged)) if staged == *after => EditProgress::NotStarted,
        (Some(before), _, Some(staged)) if staged == *before => EditProgress::Applied,
        (Some(_), None, None) | (None, Some(_), Some(_)) => EditProgress::NotStarted,
        (None, _, None) => EditProgress::Applied,
        _ => EditProgress::TookOther,
    })
}

/// Applies every edit that was not applied yet, in order. Fails at the first document that is not
/// the expected one, which then has its own bytes.
fn settle(root: &Root, edits: &[EditLine]) -> anyhow::Result<()> {
    for edit in edits {
        match progress(root, edit)? {
            EditProgress::Applied => {}
            EditProgress::NotStarted => apply(root, edit)?,
            EditProgress::TookOther => anyhow::bail!("{} was changed meanwhile", edit.path),
        }
    }
    Ok(())
}

fn apply(root: &Root, edit: &EditLine) -> anyhow::Result<()> {
    let EditLine { staged, path, before, after } = edit;
    let Some(before) = before else {
        let created = move_file(root, staged, path, RenameFlags::NOREPLACE);
        return created.map_err(|errno| match errno {
            Errno::EXIST => anyhow::anyhow!("{path} exists\nhint: choose another name"),
            errno => failed("create", path, errno),
        });
    };
    // Anything but a regular file would be exchanged, too.
    stage::refuse_link(root, path)?;
    let flags = if after.is_some() { RenameFlags::EXCHANGE } else { RenameFlags::NOREPLACE };
    move_file(root, path, staged, flags).map_err(|errno| match errno {
        Errno::NOENT => {
            anyhow::anyhow!("{path} was removed meanwhile\nhint: run the command again")
        }
        errno => failed("write", path, errno),
    })?;
    let taken = digest_at(root, staged)?;
    let unchanged = ensure_unchanged(taken.as_ref(), before, path);
    if unchanged.is_err() {
        move_file(root, staged, path, flags).map_err(|errno| failed("restore", path, errno))?;
    }
    unchanged
}

fn failed(verb: &str, path: &str, errno: Errno) -> anyhow::Error {
    anyhow::Error::from(std::io::Error::from(errno)).context(format!("{verb} {path}"))
}

fn move_file(root: &Root, from: &str, to: &str, flags: RenameFlags) -> rustix::io::Result<()> {
    let parent = |path| {
        let parent = root.parent(path);
        parent.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))
    };
    let ((old, old_name), (new, new_name)) = (parent(from)?, parent(to)?);
    retry_on_intr(|| rustix::fs::renameat_with(&old, old_name, &new, new_name, flags))
}

/// Takes back every edit that was applied, the last one first. A document that was saved since
/// stays as it is.
fn undo(root: &Root, edits: &[EditLine]) -> anyhow::Result<()> {
    for edit in edits.iter().rev() {
        let EditLine { staged, path, before, after } = edit;
        let progress = progress(root, edit)?;
        let is_new = || anyhow::Ok(digest_at(root, path)?.as_ref() == after.as_ref());
        let moved = match (progress, before, after) {
            (EditProgress::NotStarted, ..) => Ok(()),
            (EditProgress::TookOther | EditProgress::Applied, Some(_), Some(_)) if is_new()? => {
                move_file(root, staged, path, RenameFlags::EXCHANGE)
            }
            (EditProgress::TookOther | EditProgress::Applied, Some(_), None)
                if !root.exists(path) =>
            {
                move_file(root, staged, path, RenameFlags::NOREPLACE)
            }
            (EditProgress::Applied, None, Some(_)) if is_new()? => {
                move_file(root, path, staged, RenameFlags::NOREPLACE)
            }
            (_, Some(_), _) => save_taken(root, edit).map(|_| Ok(()))?,
            _ => Ok(()),
        };
        moved.map_err(|errno| failed("restore", path, errno))?;
    }
    Ok(())
}

/// Saves a version of a document that cannot be put back, because another one is in its place.
fn save_taken(root: &Root, edit: &EditLine) -> anyhow::Result<()> {
    if let Some(Content::Bytes(bytes, _)) = root.read(&edit.staged, MAX_BYTES)? {
        save_copy(root, &edit.path, &bytes)?;
    }
    Ok(())
}

/// Makes all renames durable, then removes the record and everything that was staged.
fn finish(root: &Root, record: &EditRecord) -> anyhow::Result<()> {
    sync_edits(root, record)?;
    tidy_up(root, record)
}

fn sync_edits(root: &Root, record: &EditRecord) -> anyhow::Result<()> {
    let mut folders: Vec<&str> = record.edits.iter().map(|edit| folder_of(&edit.path)).collect();
    folders.sort_unstable();
    folders.dedup();
    for folder in folders.into_iter().filter(|folder| root.exists(folder)) {
        stage::sync_folder(root, folder)?;
    }
    Ok(())
}

fn tidy_up(root: &Root, record: &EditRecord) -> anyhow::Result<()> {
    stage::remove(root, &edit_record())?;
    stage::sync_folder(root, &edits_folder())?;
    for edit in record.edits.iter().filter(|edit| !edit.staged.starts_with(LOCAL)) {
        stage::remove(root, &edit.staged)?;
    }
    remove_staged_edits(root)
}

/// Removes all staged files. There is no record, so none of them is needed.
fn remove_staged_edits(root: &Root) -> anyhow::Result<()> {
    let folder = edits_folder();
    for name in entry_names(root, &folder)? {
        let path = format!("{folder}/{name}");
        let number = name.strip_suffix(".folder").and_then(|number| number.parse().ok());
        if let (Some(number), Some(Content::Bytes(bytes, _))) = (number, root.read(&path, 1 << 16)?)
        {
            let staged = beside(&String::from_utf8_lossy(&bytes), number);
            if matches!(root.stat(&staged), Ok(Some((_, FileType::RegularFile)))) {
                stage::remove(root, &staged)?;
            }
        }
        stage::remove(root, &path)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Key, Machine};

    fn project(texts: &[(&str, &str)]) -> (tempfile::TempDir, Root) {
        let folder = tempfile::tempdir().expect("a folder");
        let root = Root::open(folder.path()).expect("the folder is there");
        let machine = Machine { key: Some(Key::new([7; 32])), ..Machine::default() };
        let root = root.with_machine(machine);
        for (path, text) in texts {
            super::super::replace(&root, path, text.as_bytes()).expect("the file is written");
        }
        (folder, root)
    }

    fn text(root: &Root, path: &str) -> Option<String> {
        let bytes = root.readable_bytes(path, 1 << 20)?;
        Some(String::from_utf8(bytes).expect("the text is UTF-8"))
    }

    fn edit(path: &str, before: Option<&str>, after: Option<&str>) -> DocumentEdit {
        DocumentEdit {
            path: path.to_string(),
            before: before.map(|text| Digest::of(text.as_bytes())),
            after: after.map(|text| text.as_bytes().to_vec()),
            like: None,
        }
    }

    fn edits() -> [DocumentEdit; 4] {
        [
            edit("d/a-new.md", None, Some("a2")),
            edit("d/b.md", Some("b"), Some("b2")),
            edit("d/c.md", Some("c"), Some("c2")),
            edit("d/a.md", Some("a"), None),
        ]
    }

    const OLD: [(&str, &str); 3] = [("d/a.md", "a"), ("d/b.md", "b"), ("d/c.md", "c")];

    #[test]
    fn a_document_that_a_user_saves_at_the_last_moment_is_never_lost() {
        for changed in ["d/a.md", "d/b.md", "d/c.md", "d/a-new.md"] {
            for is_killed in [false, true] {
                let (_folder, root) = project(&OLD);
                let record = stage_edits(&root, &edits()).expect("the edits are staged");
                write_edit_record(&root, &record).expect("the record is written");
                // The first two edits were applied when the user saved the document.
                if changed != "d/b.md" && changed != "d/a-new.md" {
                    settle(&root, &record.edits[..2]).expect("nothing is in the way");
                }
                super::super::replace(&root, changed, b"mine").expect("the user saves");
                match is_killed {
                    true => recover(&root).expect("the change is undone"),
                    false => {
                        settle(&root, &record.edits).expect_err("it is not the expected one");
                        undo(&root, &record.edits).expect("the change is undone");
                        finish(&root, &record).expect("it is tidied up");
                    }
                }
                for (path, old) in OLD {
                    let expected = if path == changed { "mine" } else { old };
                    assert_eq!(text(&root, path).as_deref(), Some(expected), "{changed}: {path}");
                }
                let new = (changed == "d/a-new.md").then_some("mine");
                assert_eq!(text(&root, "d/a-new.md").as_deref(), new, "{changed}");
                assert!(!is_pending(&root), "{changed}");
            }
        }
    }

    #[test]
    fn an_interrupted_change_is_completed_from_any_point() {
        for n_done in 0..=4 {
            let (_folder, root) = project(&OLD);
            let record = stage_edits(&root, &edits()).expect("the edits are staged");
            write_edit_record(&root, &record).expect("the record is written");
            settle(&root, &record.edits[..n_done]).expect("nothing is in the way");
            recover(&root).expect("the change is completed");
            for (path, new) in [("d/a-new.md", "a2"), ("d/b.md", "b2"), ("d/c.md", "c2")] {
                assert_eq!(text(&root, path).as_deref(), Some(new), "{n_done}: {path}");
            }
            assert_eq!(text(&root, "d/a.md"), None);
        }
    }

    #[test]
    fn a_document_that_is_not_the_expected_one_stops_everything() {
        let (_folder, root) = project(&[("d/a.md", "a"), ("d/b.md", "other"), ("d/c.md", "c")]);
        let error = edit_documents(&root, &edits()).expect_err("b is another one");
        assert!(error.to_string().contains("d/b.md was changed meanwhile"), "{error}");
        assert_eq!(text(&root, "d/a.md").as_deref(), Some("a"));
        assert_eq!(text(&root, "d/a-new.md"), None);
    }
}
