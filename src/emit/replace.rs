//! Replaces files that blue shares with users: settings of agents, and hook scripts.

use std::io::{ErrorKind, Write};

use anyhow::Context;
use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

use super::local_folder::create_folders;
use super::stage;
use crate::model::layout::folder_of;
use crate::root::Root;

/// Writes a whole file in one rename. An existing file keeps its permissions, and a new one gets
/// the default ones.
pub fn replace(root: &Root, path: &str, bytes: &[u8]) -> anyhow::Result<()> {
    replace_with_mode(root, path, bytes, None)
}

/// Writes a whole script in one rename and makes it executable for all users.
pub fn replace_script(root: &Root, path: &str, bytes: &[u8]) -> anyhow::Result<()> {
    replace_with_mode(root, path, bytes, Some(Mode::from_raw_mode(0o755)))
}

/// Writes a file with the given permissions, or else with those of the file that it replaces.
fn replace_with_mode(
    root: &Root,
    path: &str,
    bytes: &[u8],
    mode: Option<Mode>,
) -> anyhow::Result<()> {
    stage_with_mode(root, path, bytes, mode)?.finish(root)
}

/// The new bytes of a file, on disk beside it and not in place yet.
pub struct Replacement {
    path: String,
    temporary: String,
}

/// Writes the new bytes of a file beside it. Errors such as a full disk occur here, before the file
/// is touched.
pub fn stage_replacement(root: &Root, path: &str, bytes: &[u8]) -> anyhow::Result<Replacement> {
    stage_with_mode(root, path, bytes, None)
}

/// Removes the new bytes that a killed process left beside a file. The caller holds the lock.
pub fn remove_staged(root: &Root, path: &str) -> anyhow::Result<()> {
    stage::remove(root, &temporary_of(path))
}

fn temporary_of(path: &str) -> String {
    format!("{path}.blue-tmp")
}

fn stage_with_mode(
    root: &Root,
    path: &str,
    bytes: &[u8],
    mode: Option<Mode>,
) -> anyhow::Result<Replacement> {
    if !folder_of(path).is_empty() {
        create_folders(root, folder_of(path))?;
    }
    stage::refuse_link(root, path)?;
    let mode = match mode {
        None => mode_of(root, path)?,
        mode => mode,
    };
    let replacement = Replacement { path: path.to_string(), temporary: temporary_of(path) };
    stage::remove(root, &replacement.temporary)?;
    let mut file = stage::create(root, &replacement.temporary)?;
    let written = file.write_all(bytes).and_then(|()| {
        if let Some(mode) = mode {
            rustix::io::retry_on_intr(|| rustix::fs::fchmod(&file, mode))?;
        }
        file.sync_all()
    });
    match written {
        Ok(()) => Ok(replacement),
        Err(error) => {
            replacement.discard(root);
            Err(error).with_context(|| format!("write {path}"))
        }
    }
}

impl Replacement {
    /// Renames the bytes into place.
    pub fn finish(self, root: &Root) -> anyhow::Result<()> {
        let renamed = stage::rename(root, &self.temporary, &self.path);
        if renamed.is_err() {
            self.discard(root);
        }
        renamed?;
        stage::sync_folder(root, folder_of(&self.path))
    }

    /// Removes the bytes. An error is ignored, because the caller reports an earlier one.
    pub fn discard(&self, root: &Root) {
        stage::remove(root, &self.temporary).ok();
    }
}

/// Returns the permissions of a file, or `None` if it does not exist.
pub(super) fn mode_of(root: &Root, path: &str) -> anyhow::Result<Option<Mode>> {
    let stat = || rustix::fs::statat(root.fd(), path, AtFlags::SYMLINK_NOFOLLOW);
    match rustix::io::retry_on_intr(stat) {
        Ok(stat) => Ok(Some(Mode::from_raw_mode(stat.st_mode))),
        Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
        Err(error) => Err(std::io::Error::from(error)).with_context(|| format!("open {path}")),
    }
}

/// Returns the folders above a path that do not exist, the innermost first.
pub fn missing_folders(root: &Root, path: &str) -> anyhow::Result<Vec<String>> {
    let mut missing = Vec::new();
    let mut at = folder_of(path);
    while !at.is_empty() && root.stat(at).with_context(|| format!("open {at}"))?.is_none() {
        missing.push(at.to_string());
        at = folder_of(at);
    }
    Ok(missing)
}

/// Removes a file that blue created.
pub fn discard(root: &Root, path: &str) -> anyhow::Result<()> {
    stage::remove(root, path)
}

/// Removes a folder if it is empty. Returns true if it did.
pub fn discard_folder(root: &Root, path: &str) -> anyhow::Result<bool> {
    match stage::unlink(root, path, AtFlags::REMOVEDIR) {
        Ok(()) => Ok(true),
        Err(error) => match error.kind() {
            ErrorKind::NotFound
            | ErrorKind::DirectoryNotEmpty
            | ErrorKind::AlreadyExists
            | ErrorKind::NotADirectory => Ok(false),
            _ => Err(error).with_context(|| format!("remove {path}")),
        },
    }
}

/// Checks that files can be created in a folder and that a file, if it exists, can be appended to.
pub fn can_write(root: &Root, folder: &str, file: &str) -> std::io::Result<()> {
    let access = rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK;
    rustix::fs::accessat(root.fd(), folder, access, AtFlags::empty())?;
    if root.exists(file) {
        root.open_at(file, OFlags::WRONLY | OFlags::APPEND)?;
    }
    Ok(())
}
