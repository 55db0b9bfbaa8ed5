//! One build at a time.

use std::fs::{File, TryLockError};
use std::io::{Read, Seek, Write};
use std::time::Duration;

use anyhow::Context;
use rustix::fs::{Mode, OFlags};

use super::local::{LOCAL, prepare};
use crate::beneath::Root;

/// The lock on a project; released when dropped, or when the process ends in any way.
pub struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock. If another build has it for longer than a second, `waiting` is told who.
    pub fn take(root: &Root, waiting: &dyn Fn(&str)) -> anyhow::Result<Lock> {
        prepare(root)?;
        let path = format!("{LOCAL}/lock");
        let mut file = open(root, &path)?;
        for attempt in 0u32.. {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if attempt < 20 => {
                    std::thread::sleep(Duration::from_millis(50))
                }
                Err(TryLockError::WouldBlock) => {
                    waiting(&holder(&mut file));
                    file.lock().with_context(|| format!("lock {path}"))?;
                    break;
                }
                Err(TryLockError::Error(error)) => {
                    return Err(error).with_context(|| format!("lock {path}"));
                }
            }
        }
        file.set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| write!(file, "{}", std::process::id()))
            .with_context(|| format!("write {path}"))?;
        Ok(Lock { _file: file })
    }
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
            match file.try_lock() {
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

/// Opens the file that a lock is taken on, and makes it if it is not there.
fn open(root: &Root, path: &str) -> anyhow::Result<File> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let fd = rustix::fs::openat(root.fd(), path, flags, Mode::from_raw_mode(0o666));
    Ok(File::from(fd.map_err(std::io::Error::from).with_context(|| format!("open {path}"))?))
}

fn holder(file: &mut File) -> String {
    let mut text = String::new();
    let read = file.rewind().and_then(|()| file.take(32).read_to_string(&mut text));
    match read {
        Ok(_) if !text.trim().is_empty() => format!("process {}", text.trim()),
        _ => "another process".to_string(),
    }
}
