//! Takes back what a command wrote, when it cannot do all of it.

use anyhow::Context;
use rustix::fs::{AtFlags, FileType};

use super::local::{LOCAL, names};
use super::{replace, stage};
use crate::root::{Content, Root};

/// Larger than any file that a command changes beside emitted ones.
const MAX_BYTES: u64 = 64 << 20;

/// Some files as they were, and the folders that were not there.
pub struct Undo {
    files: Vec<(String, Option<Vec<u8>>)>,
    missing: Vec<String>,
    had_local: bool,
}

impl Undo {
    /// Reads the files that a command is about to change. `had_local` says whether blue's own folder
    /// was there before the command took the lock in it.
    pub fn new(root: &Root, paths: &[&str], had_local: bool) -> anyhow::Result<Undo> {
        let mut files = Vec::new();
        // The folders that a build makes before it writes into them.
        let made = ["knowledge", ".blue/context", ".blue/context/workflow"].into_iter();
        let made = made.filter(|folder| !root.exists(folder)).map(str::to_string);
        let mut missing: Vec<String> = made.collect();
        for path in paths {
            let bytes = match root.read(path, MAX_BYTES) {
                Ok(Some(Content::Bytes(bytes, _))) => Some(bytes),
                Ok(None) => None,
                // Nothing is written through a link or over anything but a file.
                Ok(Some(_)) | Err(_) => continue,
            };
            files.push((path.to_string(), bytes));
            missing.extend(replace::missing_folders(root, path)?);
        }
        // The innermost folder first, so that each is empty when its turn comes.
        missing.sort_by_key(|folder| std::cmp::Reverse(folder.len()));
        missing.dedup();
        Ok(Undo { files, missing, had_local })
    }

    /// Gives every file its former bytes, under the lock, and removes what was not there: files, empty folders, and
    /// blue's own folder.
    pub fn restore(&self, root: &Root) -> anyhow::Result<()> {
        for (path, before) in &self.files {
            match (before, root.read(path, MAX_BYTES)?) {
                (Some(bytes), Some(Content::Bytes(now, _))) if now == *bytes => {}
                (Some(bytes), _) => replace::replace(root, path, bytes, false)?,
                (None, Some(Content::Bytes(..))) => stage::remove(root, path)?,
                (None, _) => {}
            }
        }
        // A copy of an edited file would be lost with the folder.
        if !self.had_local && !root.exists(&format!("{LOCAL}/rescued")) {
            remove_folder(root, LOCAL)?;
        }
        for folder in &self.missing {
            replace::discard_folder(root, folder)?;
        }
        Ok(())
    }
}

/// Removes a folder of blue's own with all that is in it. A link in it is removed, not followed.
fn remove_folder(root: &Root, folder: &str) -> anyhow::Result<()> {
    for name in names(root, folder)? {
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
