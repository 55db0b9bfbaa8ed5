//! The few system calls that write, each with the path in its error.

use std::fs::File;

use anyhow::Context;
use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

use crate::beneath::Root;

fn described<T>(result: Result<T, Errno>, verb: &str, path: &str) -> anyhow::Result<T> {
    result.map_err(std::io::Error::from).with_context(|| format!("{verb} {path}"))
}

/// Creates a file that must not exist, not even as a link.
pub(super) fn create(root: &Root, path: &str) -> anyhow::Result<File> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let fd = rustix::fs::openat(root.fd(), path, flags, Mode::from_raw_mode(0o666));
    Ok(File::from(described(fd, "create", path)?))
}

/// Renames within the project.
pub(super) fn rename(root: &Root, from: &str, to: &str) -> anyhow::Result<()> {
    described(rustix::fs::renameat(root.fd(), from, root.fd(), to), "write", to)
}

/// Removes a file; one that is not there is removed already.
pub(super) fn remove(root: &Root, path: &str) -> anyhow::Result<()> {
    match rustix::fs::unlinkat(root.fd(), path, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(error) => described(Err(error), "remove", path),
    }
}

/// Makes a folder's names durable. An error here is fatal and never retried.
pub(super) fn sync_folder(root: &Root, path: &str) -> anyhow::Result<()> {
    let fd = root
        .open_at(path, OFlags::RDONLY | OFlags::DIRECTORY)
        .with_context(|| format!("open {path}"))?;
    described(rustix::fs::fsync(&fd), "sync", path)
}
