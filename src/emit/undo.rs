//! Restores files if a command fails halfway.

use anyhow::Context;
use rustix::fs::{AtFlags, FileType};

use super::local_folder::{LOCAL, entry_names};
use super::{replace, stage};
use crate::model::layout::{CONTEXT, KNOWLEDGE_FOLDER, WORKFLOW};
use crate::root::{Content, Root};

/// Maximum size of a file that is restored. Files that commands change are much smaller.
const MAX_BYTES: u64 = 64 << 20;

/// The previous contents of some files, and the folders that did not exist.
pub struct Undo {
    files: Vec<(String, Option<Vec<u8>>)>,
    missing: Vec<String>,
    local_existed: bool,
}

impl Undo {
    /// Reads the files that a command is about to change. `local_existed` is true if `.blue/local`
    /// existed before the command took the lock, which creates it.
    pub fn new(root: &Root, paths: &[&str], local_existed: bool) -> anyhow::Result<Undo> {
        let mut files = Vec::new();
        let built = [KNOWLEDGE_FOLDER, CONTEXT, WORKFLOW].into_iter();
        let built = built.filter(|folder| !root.exists(folder)).map(str::to_string);
        let mut missing: Vec<String> = built.collect();
        for path in paths {
            let bytes = match root.read(path, MAX_BYTES) {
                Ok(Some(Content::Bytes(bytes, _))) => Some(bytes),
                Ok(None) => None,
                // blue writes neither through a link nor over anything but a regular file.
                Ok(Some(_)) | Err(_) => continue,
            };
            files.push((path.to_string(), bytes));
            missing.extend(replace::missing_folders(root, path)?);
        }
        // Innermost folders first, so that each is empty when it is removed.
        missing.sort_by_key(|folder| std::cmp::Reverse(folder.len()));
        missing.dedup();
        Ok(Undo { files, missing, local_existed })
    }

    /// Restores the previous content of every file, and removes files, empty folders and
    /// `.blue/local` if they did not exist. Runs under the lock.
    pub fn restore(&self, root: &Root) -> anyhow::Result<()> {
        for (path, before) in &self.files {
            match (before, root.read(path, MAX_BYTES)?) {
                (Some(bytes), Some(Content::Bytes(now, _))) if now == *bytes => {}
                (Some(bytes), _) => replace::replace(root, path, bytes)?,
                (None, Some(Content::Bytes(..))) => stage::remove(root, path)?,
                (None, _) => {}
            }
        }
        // The folder may contain a copy of a user's edit, which must not be lost.
        if !self.local_existed && !root.exists(&format!("{LOCAL}/rescued")) {
            remove_folder(root, LOCAL)?;
        }
        for folder in &self.missing {
            replace::discard_folder(root, folder)?;
        }
        Ok(())
    }
}

/// Removes a folder of blue with everything in it. Links are removed and not followed.
fn remove_folder(root: &Root, folder: &str) -> anyhow::Result<()> {
    for name in entry_names(root, folder)? {
        let path = format!("{folder}/{name}");
        match root.stat(&path).with_context(|| format!("open {path}"))? {
            Some((_, FileType::Directory)) => remove_folder(root, &path)?,
            _ => stage::remove(root, &path)?,
        }
    }
    match stage::unlink(root, folder, AtFlags::REMOVEDIR) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        removed => removed.with_context(|| format!("remove {folder}")),
    }
}
