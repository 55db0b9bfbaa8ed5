//! `.blue/local/`: blue's own folder, ignored by git.

use std::fs::File;
use std::io::{BufWriter, Seek, SeekFrom, Write};

use anyhow::Context;
use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::retry_on_intr;

use super::stage;
use crate::model::Digest;
use crate::root::Root;

pub use crate::model::layout::LOCAL;

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
            None => stage::make_folder(root, &at)?,
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
pub fn keep_below(root: &Root, folder_path: &str, path: &str, bytes: &[u8]) -> anyhow::Result<()> {
    folder(root, folder_path)?;
    keep(root, path, bytes)
}

/// The same for whoever does not have the lock.
pub fn keep_in(root: &Root, folder_path: &str, path: &str, bytes: &[u8]) -> anyhow::Result<()> {
    folder(root, folder_path)?;
    // Two of them may be written at once; the last one stays.
    let temporary = format!("{path}.{}.tmp", std::process::id());
    keep_as(root, path, &temporary, std::iter::once(bytes))
}

/// Writes a file of blue's own, made of parts, in one rename.
pub fn keep_parts(
    root: &Root,
    path: &str,
    parts: impl Iterator<Item = impl AsRef<[u8]>>,
) -> anyhow::Result<()> {
    keep_as(root, path, &format!("{path}.tmp"), parts)
}

fn keep_as(
    root: &Root,
    path: &str,
    temporary: &str,
    parts: impl Iterator<Item = impl AsRef<[u8]>>,
) -> anyhow::Result<()> {
    stage::remove(root, temporary)?;
    let file = stage::create(root, temporary)?;
    let kept = write_parts(file, parts)
        .with_context(|| format!("write {path}"))
        .and_then(|()| stage::rename(root, temporary, path));
    if kept.is_err() {
        // What failed is told already.
        stage::remove(root, temporary).ok();
    }
    kept
}

/// Removes what killed processes left half written in blue's own folder. Runs under the lock, so no
/// other build is at work; hooks may be, and put their number into the name.
pub(super) fn tidy(root: &Root) -> anyhow::Result<()> {
    for folder in
        ["", "/before", "/sessions", "/clients", "/rescued"].map(|below| format!("{LOCAL}{below}"))
    {
        for name in names(root, &folder)? {
            let half = name.strip_suffix(".tmp");
            let writer = half.and_then(|half| half.rsplit('.').next()?.parse().ok());
            let lives = writer
                .and_then(rustix::process::Pid::from_raw)
                .is_some_and(|writer| rustix::process::test_kill_process(writer).is_ok());
            if half.is_some() && !lives {
                stage::remove(root, &format!("{folder}/{name}"))?;
            }
        }
    }
    Ok(())
}

/// The names in a folder; none if it is not there.
pub(super) fn names(root: &Root, folder: &str) -> anyhow::Result<Vec<String>> {
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

/// Appends to a file of blue's own, after cutting off whatever a killed build left at its end.
pub fn append(
    root: &Root,
    path: &str,
    end: u64,
    parts: impl Iterator<Item = impl AsRef<[u8]>>,
) -> anyhow::Result<()> {
    let mut file = stage::open(root, path, OFlags::WRONLY, Mode::empty())?;
    let cut = file.set_len(end).and_then(|()| file.seek(SeekFrom::End(0)));
    cut.and_then(|_| write_parts(file, parts)).with_context(|| format!("write {path}"))
}

/// Overwrites a file of blue's own in place. It may be torn by a kill, so its content must carry its
/// own checksum; unlike a rename, this leaves no temporary file behind.
pub fn put(root: &Root, path: &str, bytes: &[u8]) -> anyhow::Result<()> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC;
    let file = stage::open(root, path, flags, stage::FOR_ALL)?;
    write_parts(file, std::iter::once(bytes)).with_context(|| format!("write {path}"))
}

/// Keeps a copy of a file that somebody edited, before it is replaced. Gives the copy's path.
pub fn rescue(root: &Root, path: &str, bytes: &[u8]) -> anyhow::Result<String> {
    let folder_path = format!("{LOCAL}/rescued");
    let copy = format!("{folder_path}/{}.{}", path.replace('/', "__"), Digest::of(bytes).short());
    if root.stat(&copy)?.is_none() {
        keep_below(root, &folder_path, &copy, bytes)?;
    }
    Ok(copy)
}

/// The file system's own time, which is what file times are compared with.
pub fn time(root: &Root) -> anyhow::Result<i64> {
    let path = format!("{LOCAL}/clock");
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC;
    let mut file = stage::open(root, &path, flags, stage::FOR_ALL)?;
    file.write_all(b"\n").with_context(|| format!("write {path}"))?;
    let stat = rustix::fs::fstat(&file).map_err(std::io::Error::from);
    Ok(crate::root::stat_of(&stat.with_context(|| format!("stat {path}"))?).modified)
}

/// Lets everybody run a file that blue wrote.
pub fn executable(root: &Root, path: &str) -> anyhow::Result<()> {
    let fd = root.open_at(path, OFlags::RDONLY).with_context(|| format!("open {path}"))?;
    let changed = retry_on_intr(|| rustix::fs::fchmod(&fd, Mode::from_raw_mode(0o755)));
    let changed = changed.map_err(std::io::Error::from);
    changed.with_context(|| format!("make {path} executable"))
}

/// Removes a file whose bytes are kept in another one.
pub fn retire(root: &Root, path: &str, copy: &str) -> anyhow::Result<()> {
    let same = crate::root::same_bytes(root, path, copy)?;
    anyhow::ensure!(
        same,
        "{copy} is not a copy of {path}; nothing was removed\nhint: move {copy} away"
    );
    stage::remove(root, path)
}
