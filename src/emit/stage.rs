//! The system calls that write. Each has the path in its error and is retried after a signal.

use std::fs::File;
use std::io::Write;

use anyhow::Context;
use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::retry_on_intr;
use serde::Serialize;

use crate::root::Root;

/// Permissions of a new file, before the umask.
pub(super) const FOR_ALL: Mode = Mode::from_bits_retain(0o666);

/// Opens a file, or creates it if the flags contain `CREATE`. Neither the file nor a folder above
/// it may be a link: the folder is opened first, and the file is opened relative to it.
pub(super) fn open(root: &Root, path: &str, flags: OFlags, mode: Mode) -> anyhow::Result<File> {
    let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let opened = root.parent(path).and_then(|(folder, name)| {
        Ok(retry_on_intr(|| rustix::fs::openat(&folder, name, flags, mode))?)
    });
    let verb = if flags.contains(OFlags::EXCL) { "create" } else { "open" };
    Ok(File::from(opened.with_context(|| format!("{verb} {path}"))?))
}

/// Creates a file that must not exist, not even as a link.
pub(super) fn create(root: &Root, path: &str) -> anyhow::Result<File> {
    open(root, path, OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL, FOR_ALL)
}

/// Creates a folder unless it exists.
pub(super) fn make_folder(root: &Root, path: &str) -> anyhow::Result<()> {
    let made = root.parent(path).and_then(|(folder, name)| {
        Ok(retry_on_intr(|| rustix::fs::mkdirat(&folder, name, Mode::from_raw_mode(0o777)))?)
    });
    match made {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        made => made.with_context(|| format!("create {path}")),
    }
}

/// Renames a file within the project.
pub(super) fn rename(root: &Root, from: &str, to: &str) -> anyhow::Result<()> {
    let renamed = root.parent(from).and_then(|(old, name)| {
        let (new, new_name) = root.parent(to)?;
        Ok(retry_on_intr(|| rustix::fs::renameat(&old, name, &new, new_name))?)
    });
    renamed.with_context(|| format!("write {to}"))
}

/// Fails if a path is a link or anything else but a regular file. It need not exist.
pub(super) fn refuse_link(root: &Root, path: &str) -> anyhow::Result<()> {
    match root.stat(path).with_context(|| format!("open {path}"))?.map(|(_, kind)| kind) {
        None | Some(FileType::RegularFile) => Ok(()),
        Some(FileType::Symlink) => anyhow::bail!(
            "{path} is a symbolic link; blue writes nothing through a link\nhint: replace it by a real file"
        ),
        Some(_) => {
            anyhow::bail!("{path} is in the way: it is not a regular file\nhint: move it away")
        }
    }
}

/// Removes a file if it exists.
pub(super) fn remove(root: &Root, path: &str) -> anyhow::Result<()> {
    match unlink(root, path, AtFlags::empty()) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        removed => removed.with_context(|| format!("remove {path}")),
    }
}

/// Removes an entry from its folder.
pub(super) fn unlink(root: &Root, path: &str, flags: AtFlags) -> std::io::Result<()> {
    let (folder, name) = root.parent(path)?;
    Ok(retry_on_intr(|| rustix::fs::unlinkat(&folder, name, flags))?)
}

/// Makes the entries of a folder durable. An error here is fatal and is not retried, except after a
/// signal.
pub(super) fn sync_folder(root: &Root, path: &str) -> anyhow::Result<()> {
    let fd = root
        .open_at(path, OFlags::RDONLY | OFlags::DIRECTORY)
        .with_context(|| format!("open {path}"))?;
    let synced = retry_on_intr(|| rustix::fs::fsync(&fd)).map_err(std::io::Error::from);
    synced.with_context(|| format!("sync {path}"))
}

/// Makes everything durable that was written to the file system of a folder.
pub(super) fn sync_file_system(root: &Root, path: &str) -> anyhow::Result<()> {
    #[cfg(target_os = "linux")]
    {
        let fd = root
            .open_at(path, OFlags::RDONLY | OFlags::DIRECTORY)
            .with_context(|| format!("open {path}"))?;
        let synced = retry_on_intr(|| rustix::fs::syncfs(&fd)).map_err(std::io::Error::from);
        synced.with_context(|| format!("sync {path}"))
    }
    #[cfg(not(target_os = "linux"))]
    sync_folder(root, path)
}

/// Writes a commit record in a folder. It is synced before and after the rename that commits it.
pub(super) fn write_record(
    root: &Root,
    folder: &str,
    path: &str,
    record: &impl Serialize,
) -> anyhow::Result<()> {
    let temporary = format!("{path}.tmp");
    remove(root, &temporary)?;
    let mut file = create(root, &temporary)?;
    let bytes = serde_json::to_vec(record).expect("a record is JSON");
    file.write_all(&bytes)
        .and_then(|()| file.sync_all())
        .with_context(|| format!("write {temporary}"))?;
    sync_folder(root, folder)?;
    rename(root, &temporary, path)?;
    sync_folder(root, folder)
}
