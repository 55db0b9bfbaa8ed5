//! Writes files in `.blue/local/`, blue's own folder, which git ignores.

use std::fs::File;
use std::io::{BufWriter, Write};

use anyhow::Context;
use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::retry_on_intr;

use super::stage;
use crate::model::Digest;
use crate::model::layout::folder_of;
use crate::root::Root;

pub use crate::model::layout::LOCAL;

/// Creates the folder with a `.gitignore` of its own, so that git ignores it in every project.
/// Fails if `.blue` or the folder is a symbolic link.
pub fn create_local_folder(root: &Root) -> anyhow::Result<()> {
    create_folders(root, LOCAL)?;
    let ignore = format!("{LOCAL}/.gitignore");
    if root.stat(&ignore)?.is_some() {
        return Ok(());
    }
    // If several builds create the file at once, the one that succeeds also writes it.
    match stage::create(root, &ignore) {
        Ok(mut file) => file.write_all(b"*\n").with_context(|| format!("write {ignore}")),
        Err(_) if root.exists(&ignore) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Creates a folder and those above it. Fails if one of them is a link or a file.
pub(super) fn create_folders(root: &Root, path: &str) -> anyhow::Result<()> {
    let mut at = String::new();
    for part in path.split('/') {
        if !at.is_empty() {
            at.push('/');
        }
        at.push_str(part);
        let kind = root.stat(&at).with_context(|| format!("open {at}"))?.map(|(_, kind)| kind);
        match kind {
            Some(FileType::Directory) => {}
            Some(FileType::Symlink) => {
                anyhow::bail!(
                    "{at} is a symbolic link; blue writes nothing through a link\nhint: replace it by a real folder"
                )
            }
            Some(_) => anyhow::bail!("{at} is in the way: it is not a folder\nhint: move it away"),
            None => stage::make_folder(root, &at)?,
        }
    }
    Ok(())
}

/// Writes a file below `.blue/local` in one rename, under the lock. It is not synced: a cache has a
/// checksum, and a torn one counts as missing.
pub fn write_local(root: &Root, path: &str, bytes: &[u8]) -> anyhow::Result<()> {
    write_local_parts(root, path, std::iter::once(bytes))
}

/// Writes a file like [`write_local`], without holding the lock.
pub fn write_local_unlocked(root: &Root, path: &str, bytes: &[u8]) -> anyhow::Result<()> {
    // Processes that write the file at once use different temporaries; the last rename wins.
    let temporary = format!("{path}.{}.tmp", std::process::id());
    write_and_rename(root, path, &temporary, std::iter::once(bytes))
}

/// Writes a file like [`write_local`], from several parts.
pub fn write_local_parts(
    root: &Root,
    path: &str,
    parts: impl Iterator<Item = impl AsRef<[u8]>>,
) -> anyhow::Result<()> {
    write_and_rename(root, path, &format!("{path}.tmp"), parts)
}

fn write_and_rename(
    root: &Root,
    path: &str,
    temporary: &str,
    parts: impl Iterator<Item = impl AsRef<[u8]>>,
) -> anyhow::Result<()> {
    create_folders(root, folder_of(path))?;
    stage::remove(root, temporary)?;
    let file = stage::create(root, temporary)?;
    let renamed = write_parts(file, parts)
        .with_context(|| format!("write {path}"))
        .and_then(|()| stage::rename(root, temporary, path));
    if renamed.is_err() {
        // The first error is the one to report.
        stage::remove(root, temporary).ok();
    }
    renamed
}

/// Removes temporary files of killed processes from blue's own folder. The caller holds
/// the lock, so no other build is running. Processes without the lock may be running; the names of
/// their temporary files contain the process id.
pub(super) fn remove_temporaries(root: &Root) -> anyhow::Result<()> {
    for folder in ["", "/before", "/sessions", "/clients", "/rescued", "/worktrees"]
        .map(|below| format!("{LOCAL}{below}"))
    {
        for name in entry_names(root, &folder)? {
            let stem = name.strip_suffix(".tmp");
            let writer = stem.and_then(|stem| stem.rsplit('.').next()?.parse().ok());
            let is_running = writer
                .and_then(rustix::process::Pid::from_raw)
                .is_some_and(|writer| rustix::process::test_kill_process(writer).is_ok());
            if stem.is_some() && !is_running {
                stage::remove(root, &format!("{folder}/{name}"))?;
            }
        }
    }
    Ok(())
}

/// Returns the names of the entries of a folder, or none if it does not exist.
pub(super) fn entry_names(root: &Root, folder: &str) -> anyhow::Result<Vec<String>> {
    let entries = match root.entries(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.with_context(|| format!("read {folder}"))?,
    };
    let names = entries.iter().map(|entry| entry.file_name().to_string_lossy().into_owned());
    Ok(names.filter(|name| !matches!(name.as_str(), "." | "..")).collect())
}

fn write_parts(file: File, parts: impl Iterator<Item = impl AsRef<[u8]>>) -> std::io::Result<()> {
    let mut writer = BufWriter::with_capacity(1 << 18, file);
    for part in parts {
        writer.write_all(part.as_ref())?;
    }
    writer.flush()
}

/// Overwrites a file below `.blue/local` in place. If the process is killed, the file may be
/// incomplete, so it must have a checksum. Unlike a rename, this never leaves a temporary file
/// behind.
pub fn overwrite_local(root: &Root, path: &str, bytes: &[u8]) -> anyhow::Result<()> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC;
    let file = stage::open(root, path, flags, stage::FOR_ALL)?;
    write_parts(file, std::iter::once(bytes)).with_context(|| format!("write {path}"))
}

/// Saves a copy of a file that a user edited, before it is replaced. Returns the copy's path.
pub fn save_copy(root: &Root, path: &str, bytes: &[u8]) -> anyhow::Result<String> {
    let name = path.replace('/', "__");
    let copy = format!("{LOCAL}/rescued/{name}.{}", Digest::of(bytes).short());
    if root.stat(&copy)?.is_none() {
        write_local(root, &copy, bytes)?;
    }
    Ok(copy)
}

/// Returns the current time of the file system's clock, which can differ from the system's. File
/// times can only be compared with it.
pub fn file_system_time(root: &Root) -> anyhow::Result<i64> {
    let path = format!("{LOCAL}/clock");
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC;
    let mut file = stage::open(root, &path, flags, stage::FOR_ALL)?;
    file.write_all(b"\n").with_context(|| format!("write {path}"))?;
    let stat = rustix::fs::fstat(&file).map_err(std::io::Error::from);
    Ok(crate::root::stat_of(&stat.with_context(|| format!("stat {path}"))?).modified)
}

/// Makes a file that blue wrote executable for all users.
pub fn make_executable(root: &Root, path: &str) -> anyhow::Result<()> {
    let fd = root.open_at(path, OFlags::RDONLY).with_context(|| format!("open {path}"))?;
    let changed = retry_on_intr(|| rustix::fs::fchmod(&fd, Mode::from_raw_mode(0o755)));
    let changed = changed.map_err(std::io::Error::from);
    changed.with_context(|| format!("make {path} executable"))
}

/// Removes a file, after checking that another file has the same content.
pub fn remove_copied(root: &Root, path: &str, copy: &str) -> anyhow::Result<()> {
    let same = crate::root::same_bytes(root, path, copy)?;
    anyhow::ensure!(
        same,
        "{copy} is not a copy of {path}; nothing was removed\nhint: move {copy} away"
    );
    stage::remove(root, path)
}
