//! `.blue/local/`: blue's own folder, ignored by git.

use std::fs::File;
use std::io::{BufWriter, Seek, SeekFrom, Write};

use anyhow::Context;
use rustix::fs::{AtFlags, FileType, Mode, OFlags};

use super::stage;
use crate::beneath::Root;
use crate::model::Digest;

/// Where blue keeps what is not committed.
pub const LOCAL: &str = ".blue/local";

/// Makes the folder, with a `.gitignore` that keeps it out of git whatever the project's own
/// says. Refuses when `.blue` or it is a symbolic link.
pub fn prepare(root: &Root) -> anyhow::Result<()> {
    folder(root, LOCAL)?;
    let ignore = format!("{LOCAL}/.gitignore");
    if root.stat(&ignore)?.is_some() {
        return Ok(());
    }
    // Several first builds may come here at once; whoever makes the file fills it.
    match stage::create(root, &ignore) {
        Ok(mut file) => file.write_all(b"*\n").with_context(|| format!("write {ignore}")),
        Err(_) if root.exists(&ignore) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Makes a folder and those above it. Nothing on the way may be a link or a file.
pub(super) fn folder(root: &Root, path: &str) -> anyhow::Result<()> {
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
            None => match rustix::fs::mkdirat(root.fd(), at.as_str(), Mode::from_raw_mode(0o777)) {
                Ok(()) | Err(rustix::io::Errno::EXIST) => {}
                Err(error) => {
                    return Err(std::io::Error::from(error))
                        .with_context(|| format!("create {at}"));
                }
            },
        }
    }
    Ok(())
}

/// Writes a file of blue's own in one rename. It is not synced: it carries its own checksum, and
/// one that does not verify is the same as none.
pub fn keep(root: &Root, path: &str, bytes: &[u8]) -> anyhow::Result<()> {
    keep_parts(root, path, std::iter::once(bytes))
}

/// Writes a file of blue's own in a folder below blue's own, which is made if it is not there.
pub fn keep_in(root: &Root, folder_path: &str, path: &str, bytes: &[u8]) -> anyhow::Result<()> {
    folder(root, folder_path)?;
    // Two of them may be written at once; the last one stays.
    let temporary = format!("{path}.{}.tmp", std::process::id());
    stage::remove(root, &temporary)?;
    let mut file = stage::create(root, &temporary)?;
    file.write_all(bytes).with_context(|| format!("write {path}"))?;
    stage::rename(root, &temporary, path)
}

/// Writes a file of blue's own, made of parts, in one rename.
pub fn keep_parts(
    root: &Root,
    path: &str,
    parts: impl Iterator<Item = impl AsRef<[u8]>>,
) -> anyhow::Result<()> {
    let temporary = format!("{path}.tmp");
    stage::remove(root, &temporary)?;
    let file = stage::create(root, &temporary)?;
    write_parts(file, parts).with_context(|| format!("write {path}"))?;
    stage::rename(root, &temporary, path)
}

fn write_parts(file: File, parts: impl Iterator<Item = impl AsRef<[u8]>>) -> std::io::Result<()> {
    let mut writer = BufWriter::with_capacity(1 << 18, file);
    for part in parts {
        writer.write_all(part.as_ref())?;
    }
    writer.flush()
}

/// Appends to a file of blue's own, after cutting off whatever a killed build left at its end.
pub fn append(
    root: &Root,
    path: &str,
    end: u64,
    parts: impl Iterator<Item = impl AsRef<[u8]>>,
) -> anyhow::Result<()> {
    let flags = OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let fd =
        rustix::fs::openat(root.fd(), path, flags, Mode::empty()).map_err(std::io::Error::from);
    let mut file = File::from(fd.with_context(|| format!("open {path}"))?);
    let cut = file.set_len(end).and_then(|()| file.seek(SeekFrom::End(0)));
    cut.and_then(|_| write_parts(file, parts)).with_context(|| format!("write {path}"))
}

/// Keeps a copy of a file that somebody edited, before it is replaced. Gives the copy's path.
pub fn rescue(root: &Root, path: &str, bytes: &[u8]) -> anyhow::Result<String> {
    let folder_path = format!("{LOCAL}/rescued");
    folder(root, &folder_path)?;
    let copy = format!("{folder_path}/{}.{}", path.replace('/', "__"), Digest::of(bytes).short());
    if root.stat(&copy)?.is_none() {
        keep(root, &copy, bytes)?;
    }
    Ok(copy)
}

/// The file system's own time, which is what file times are compared with.
pub fn time(root: &Root) -> anyhow::Result<i64> {
    let path = format!("{LOCAL}/clock");
    let flags = OFlags::WRONLY
        | OFlags::CREATE
        | OFlags::TRUNC
        | OFlags::NOFOLLOW
        | OFlags::NONBLOCK
        | OFlags::CLOEXEC;
    let fd = rustix::fs::openat(root.fd(), path.as_str(), flags, Mode::from_raw_mode(0o666));
    let fd = fd.map_err(std::io::Error::from).with_context(|| format!("write {path}"))?;
    File::from(fd).write_all(b"\n").with_context(|| format!("write {path}"))?;
    let stat = rustix::fs::statat(root.fd(), path.as_str(), AtFlags::SYMLINK_NOFOLLOW)
        .map_err(std::io::Error::from)?;
    Ok(crate::beneath::stat_of(&stat).modified)
}

/// Lets everybody run a file that blue wrote.
pub fn executable(root: &Root, path: &str) -> anyhow::Result<()> {
    let fd = root.open_at(path, OFlags::RDONLY).with_context(|| format!("open {path}"))?;
    let changed = rustix::fs::fchmod(&fd, Mode::from_raw_mode(0o755)).map_err(std::io::Error::from);
    changed.with_context(|| format!("make {path} executable"))
}

/// Removes a file whose bytes are kept in another one.
pub fn retire(root: &Root, path: &str, copy: &str) -> anyhow::Result<()> {
    let same = crate::beneath::same_bytes(root, path, copy)?;
    anyhow::ensure!(
        same,
        "{copy} is not a copy of {path}; nothing was removed\nhint: move {copy} away"
    );
    stage::remove(root, path)
}
