//! One build at a time.

use std::fs::{File, TryLockError};
use std::io::{ErrorKind, Read, Seek, Write};
use std::time::Duration;

use anyhow::Context;
use rustix::fs::OFlags;

use super::local::{LOCAL, prepare};
use super::stage;
use crate::root::Root;

/// The lock on a project; released when dropped, or when the process ends in any way.
pub struct Lock {
    _file: File,
    waited: bool,
}

impl Lock {
    /// Takes the lock, to do what `doing` says. If another process has it for longer than a second,
    /// `waiting` is told which, what it does and since when.
    pub fn take(root: &Root, doing: &str, waiting: &dyn Fn(&str)) -> anyhow::Result<Lock> {
        prepare(root)?;
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
            .and_then(|()| file.write_all(own(doing).as_bytes()))
            .with_context(|| format!("write {path}"))?;
        Ok(Lock { _file: file, waited })
    }

    /// Whether somebody else had it first, who may have done anything meanwhile.
    pub fn was_waited_for(&self) -> bool {
        self.waited
    }
}

/// Whether some process has the lock on a project now.
pub fn is_locked(root: &Root) -> bool {
    let Ok(fd) = root.open_at(&format!("{LOCAL}/lock"), OFlags::RDONLY) else { return false };
    matches!(File::from(fd).try_lock_shared(), Err(TryLockError::WouldBlock))
}

/// A short wait for whoever does the same thing in this project; opened when dropped.
pub struct Gate {
    _file: File,
}

impl Gate {
    /// Waits until nobody else is behind the gate, for a second at most.
    pub fn close(root: &Root, name: &str) -> anyhow::Result<Gate> {
        prepare(root)?;
        let path = format!("{LOCAL}/{name}.lock");
        let file = open(root, &path)?;
        for _ in 0..20 {
            match try_lock(&file) {
                Ok(()) => return Ok(Gate { _file: file }),
                Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(50)),
                Err(TryLockError::Error(error)) => {
                    return Err(error).with_context(|| format!("lock {path}"));
                }
            }
        }
        anyhow::bail!("{path} is held by another process")
    }
}

/// Takes a lock if it is free. The standard library does not try again after a signal.
fn try_lock(file: &File) -> Result<(), TryLockError> {
    loop {
        match file.try_lock() {
            Err(TryLockError::Error(error)) if error.kind() == ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

/// Waits for a lock, whatever signals come meanwhile.
fn wait_for(file: &File) -> std::io::Result<()> {
    loop {
        match file.lock() {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

/// Opens the file that a lock is taken on, and makes it if it is not there.
fn open(root: &Root, path: &str) -> anyhow::Result<File> {
    stage::open(root, path, OFlags::RDWR | OFlags::CREATE, stage::FOR_ALL)
}

/// What stands in the lock file for whoever has to wait.
fn own(doing: &str) -> String {
    let host = rustix::system::uname();
    let host = host.nodename().to_string_lossy();
    format!("process {} on {host} (blue {doing}), since {}\n", std::process::id(), super::now())
}

/// Who has the lock, in its own words. The file can be a stranger's, so they are few and plain.
fn holder(file: &mut File) -> String {
    let mut bytes = Vec::new();
    let read = file.rewind().and_then(|()| file.take(200).read_to_end(&mut bytes));
    let words = String::from_utf8_lossy(&bytes);
    let plain: String = words.trim().chars().map(|c| if is_plain(c) { c } else { '?' }).collect();
    match read {
        Ok(_) if plain.starts_with("process ") => plain,
        _ => "another process".to_string(),
    }
}

fn is_plain(c: char) -> bool {
    c == ' ' || c.is_ascii_graphic()
}
