//! The lock that lets only one build run at a time, and a brief lock for short critical sections.

use std::fs::{File, TryLockError};
use std::io::{ErrorKind, Read, Seek, Write};
use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use rustix::fs::OFlags;

use super::local_folder::{LOCAL, create_local_folder};
use super::stage;
use crate::root::Root;

/// The lock on a project. It is released when dropped, and when the process ends in any way.
pub struct Lock {
    _file: File,
    waited: bool,
}

impl Lock {
    /// Takes the lock for a command of blue. If another process holds it for longer than a second,
    /// `waiting` is called with a description of that process.
    pub fn take(root: &Root, command: &str, waiting: &dyn Fn(&str)) -> anyhow::Result<Lock> {
        create_local_folder(root)?;
        let path = format!("{LOCAL}/lock");
        let mut file = open(root, &path)?;
        let mut waited = false;
        for attempt in 0u32.. {
            waited |= attempt > 0;
            match try_lock(&file) {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if attempt < 20 => {
                    std::thread::sleep(Duration::from_millis(50))
                }
                Err(TryLockError::WouldBlock) => {
                    waiting(&holder(&mut file));
                    wait_for(&file).with_context(|| format!("lock {path}"))?;
                    break;
                }
                Err(TryLockError::Error(error)) => {
                    return Err(error).with_context(|| format!("lock {path}"));
                }
            }
        }
        file.set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| file.write_all(own_description(command).as_bytes()))
            .with_context(|| format!("write {path}"))?;
        Ok(Lock { _file: file, waited })
    }

    /// Returns true if another process held the lock first. It may have changed the project.
    pub fn was_waited_for(&self) -> bool {
        self.waited
    }
}

/// Returns true if a process holds the lock on a project.
pub fn is_locked(root: &Root) -> bool {
    let Ok(fd) = root.open_at(&format!("{LOCAL}/lock"), OFlags::RDONLY) else { return false };
    matches!(File::from(fd).try_lock_shared(), Err(TryLockError::WouldBlock))
}

/// A named lock on a project for a short critical section. It is released when dropped.
pub struct BriefLock {
    _file: File,
}

impl BriefLock {
    /// Takes the lock. Waits for another process for one second at most.
    pub fn take(root: &Root, name: &str) -> anyhow::Result<BriefLock> {
        create_local_folder(root)?;
        let path = format!("{LOCAL}/{name}.lock");
        let file = open(root, &path)?;
        for _ in 0..20 {
            match try_lock(&file) {
                Ok(()) => return Ok(BriefLock { _file: file }),
                Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(50)),
                Err(TryLockError::Error(error)) => {
                    return Err(error).with_context(|| format!("lock {path}"));
                }
            }
        }
        anyhow::bail!("{path} is held by another process")
    }
}

/// A lock on a folder itself. Nothing is written, and it is released when dropped.
pub struct FolderLock {
    _folder: File,
}

/// Takes the lock on a folder that several working trees share. Waits for other processes.
pub fn lock_folder(path: &Path) -> anyhow::Result<FolderLock> {
    let folder = File::open(path).with_context(|| format!("open {}", path.display()))?;
    wait_for(&folder).with_context(|| format!("lock {}", path.display()))?;
    Ok(FolderLock { _folder: folder })
}

/// Takes a lock if it is free. Unlike the standard library, this retries after a signal.
fn try_lock(file: &File) -> Result<(), TryLockError> {
    loop {
        match file.try_lock() {
            Err(TryLockError::Error(error)) if error.kind() == ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

/// Waits for a lock. Unlike the standard library, this retries after a signal.
fn wait_for(file: &File) -> std::io::Result<()> {
    loop {
        match file.lock() {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

/// Opens the file of a lock, and creates it if it does not exist.
fn open(root: &Root, path: &str) -> anyhow::Result<File> {
    stage::open(root, path, OFlags::RDWR | OFlags::CREATE, stage::FOR_ALL)
}

/// Describes this process in the lock file, for the messages of processes that wait.
fn own_description(command: &str) -> String {
    let host = rustix::system::uname();
    let host = host.nodename().to_string_lossy();
    format!("process {} on {host} (blue {command}), since {}\n", std::process::id(), super::now())
}

/// Reads the description of the process that has the lock. Another user may have written the file,
/// so only the first 200 bytes are read and unusual characters are replaced.
fn holder(file: &mut File) -> String {
    let mut bytes = Vec::new();
    let read = file.rewind().and_then(|()| file.take(200).read_to_end(&mut bytes));
    let text = String::from_utf8_lossy(&bytes);
    let plain: String = text.trim().chars().map(|c| if is_plain(c) { c } else { '?' }).collect();
    match read {
        Ok(_) if plain.starts_with("process ") => plain,
        _ => "another process".to_string(),
    }
}

fn is_plain(c: char) -> bool {
    c == ' ' || c.is_ascii_graphic()
}
