//! The audit log: whole lines, appended; the file makes room for a new one when it is large.

use std::fs::File;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::time::{Duration, SystemTime};

use anyhow::Context;
use jiff::Timestamp;
use rustix::fs::{FileType, FlockOperation, Mode, OFlags};

use super::local::{LOCAL, prepare};
use super::stage;
use crate::root::Root;
use crate::wire::audit::{self, AuditLine};

/// A log larger than this is put aside; the one put aside before it is gone.
const MAX_BYTES: u64 = 2 << 20;

/// The log.
pub const AUDIT: &str = ".blue/local/audit.jsonl";
/// The log before it.
pub const AUDIT_BEFORE: &str = ".blue/local/audit.1.jsonl";

/// The current time, for the log and its readers; no artifact depends on it.
#[allow(clippy::disallowed_methods, reason = "no artifact is made from it")]
pub fn present() -> Timestamp {
    nearest(SystemTime::now())
}

/// The time of a clock, or the first or last that can be written: clocks go on after the year 9999.
fn nearest(time: SystemTime) -> Timestamp {
    let limit = if time < SystemTime::UNIX_EPOCH { Timestamp::MIN } else { Timestamp::MAX };
    Timestamp::try_from(time).unwrap_or(limit)
}

/// The present, to the second, in UTC: what a line's `timestamp` is.
pub fn now() -> String {
    let seconds = present().as_second();
    Timestamp::from_second(seconds).expect("the present is a time").to_string()
}

/// The present day, counted from 1970, in UTC.
pub fn today() -> i64 {
    present().as_second() / 86_400
}

/// Appends a line in one write, so that writers at the same time never mix.
pub fn note(root: &Root, line: &AuditLine) -> anyhow::Result<()> {
    let fd = match root.open_at(AUDIT, OFlags::RDWR | OFlags::APPEND) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => create(root)?,
        opened => opened.with_context(|| format!("open {AUDIT}"))?,
    };
    let mut file = File::from(fd);
    let mut bytes = audit::line(line);
    if is_torn(&file) {
        bytes.insert(0, b'\n');
    }
    file.write_all(&bytes).with_context(|| format!("write {AUDIT}"))?;
    rotate(root, &file, MAX_BYTES)
}

/// Whether the last line has no end: whoever wrote it was stopped. One that is just being written
/// has none either, but only for a moment, longer only on a
/// machine that is very busy.
fn is_torn(file: &File) -> bool {
    let tail = || {
        let size = file.metadata().map_or(0, |metadata| metadata.len());
        let mut last = [b'\n'];
        let torn = size > 0 && file.read_exact_at(&mut last, size - 1).is_ok() && last != [b'\n'];
        torn.then_some(size)
    };
    let Some(size) = tail() else { return false };
    (0..20).all(|_| {
        std::thread::sleep(Duration::from_millis(4));
        tail() == Some(size)
    })
}

fn create(root: &Root) -> anyhow::Result<OwnedFd> {
    prepare(root)?;
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::APPEND;
    Ok(stage::open(root, AUDIT, flags, Mode::RUSR | Mode::WUSR)?.into())
}

/// Puts a large log aside: hooks only append, so a build makes room now and then.
pub fn make_room(root: &Root) {
    let large = |size| size > MAX_BYTES;
    if root.stat(AUDIT).ok().flatten().is_some_and(|(stat, _)| large(stat.size))
        && let Ok(fd) = root.open_at(AUDIT, OFlags::RDONLY)
    {
        // A log that cannot be put aside goes on growing, and is tried again.
        rotate(root, &File::from(fd), MAX_BYTES).ok();
    }
}

/// Puts a large log aside. Whoever has it open goes on writing to it there, so nothing is lost;
/// and of several who come here at once, only one finds it still in its place.
fn rotate(root: &Root, file: &File, max: u64) -> anyhow::Result<()> {
    let size = file.metadata().with_context(|| format!("stat {AUDIT}"))?.len();
    if size <= max || is_taken(file) {
        return Ok(());
    }
    let own = rustix::fs::fstat(file).map_err(std::io::Error::from)?;
    let there = root.stat(AUDIT)?.map(|(stat, _)| (stat.inode, stat.device));
    if there == Some((own.st_ino, own.st_dev)) {
        stage::rename(root, AUDIT, AUDIT_BEFORE)?;
    }
    Ok(())
}

/// Whether another process has the lock on a log. Takes it if none has.
fn is_taken(file: &File) -> bool {
    let take = || rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive);
    rustix::io::retry_on_intr(take).is_err()
}

/// Whether a line could be appended.
pub fn is_writable(root: &Root) -> bool {
    let path = match root.stat(AUDIT) {
        Ok(None) => LOCAL,
        Ok(Some((_, FileType::RegularFile))) => AUDIT,
        _ => return false,
    };
    let access = rustix::fs::Access::WRITE_OK;
    rustix::fs::accessat(root.fd(), path, access, rustix::fs::AtFlags::empty()).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_beyond_the_years_that_can_be_written_does_not_panic() {
        let at = |seconds| nearest(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
        assert_eq!(at(1_800_000_000).to_string(), "2027-01-15T08:00:00Z");
        // The last second of the year 9999, the first of the next, and one much later.
        for seconds in [253_402_300_799, 253_402_300_800, 9_000_000_000_000] {
            assert_eq!(at(seconds), Timestamp::MAX);
        }
        let before = SystemTime::UNIX_EPOCH - Duration::from_secs(9_000_000_000_000);
        assert_eq!(nearest(before), Timestamp::MIN);
    }
}
