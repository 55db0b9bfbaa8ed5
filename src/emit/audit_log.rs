//! Appends lines to the audit log and rotates it when it is large.

use std::fs::File;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::time::{Duration, SystemTime};

use anyhow::Context;
use jiff::Timestamp;
use rustix::fs::{FileType, FlockOperation, Mode, OFlags};

use super::local_folder::{LOCAL, create_local_folder};
use super::stage;
use crate::model::layout::{AUDIT, ROTATED_AUDIT};
use crate::root::Root;
use crate::wire::audit::{self, AuditLine};

/// A log larger than this is rotated, which replaces the previous rotated log.
const MAX_BYTES: u64 = 2 << 20;

/// Returns the current time, for the log and its readers. No artifact may depend on it.
#[allow(clippy::disallowed_methods, reason = "no artifact depends on it")]
pub fn current_time() -> Timestamp {
    clamped(SystemTime::now())
}

/// Converts a time to a timestamp. A clock can be set to a year that a timestamp cannot represent;
/// the result is then the first or last timestamp.
fn clamped(time: SystemTime) -> Timestamp {
    let limit = if time < SystemTime::UNIX_EPOCH { Timestamp::MIN } else { Timestamp::MAX };
    Timestamp::try_from(time).unwrap_or(limit)
}

/// Returns the current time in UTC, to the second, in the format of the log.
pub fn now() -> String {
    let seconds = current_time().as_second();
    Timestamp::from_second(seconds).expect("the current second is in range").to_string()
}

/// Returns the current day in UTC, counted from 1970.
pub fn today() -> i64 {
    current_time().as_second() / 86_400
}

/// Appends a line to the log in a single write, so that lines of concurrent writers do not mix.
pub fn append_audit_line(root: &Root, line: &AuditLine) -> anyhow::Result<()> {
    let fd = match root.open_at(AUDIT, OFlags::RDWR | OFlags::APPEND) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => create(root)?,
        opened => opened.with_context(|| format!("open {AUDIT}"))?,
    };
    let mut file = File::from(fd);
    let mut bytes = audit::line(line);
    if is_last_line_torn(&file) {
        bytes.insert(0, b'\n');
    }
    file.write_all(&bytes).with_context(|| format!("write {AUDIT}"))?;
    rotate(root, &file, MAX_BYTES)
}

/// Returns true if the last line has no line end because its writer was killed. A line that is
/// being written has none either for a moment, so the check waits for up to 80 ms.
fn is_last_line_torn(file: &File) -> bool {
    let torn_size = || {
        let size = file.metadata().map_or(0, |metadata| metadata.len());
        let mut last = [b'\n'];
        let torn = size > 0 && file.read_exact_at(&mut last, size - 1).is_ok() && last != [b'\n'];
        torn.then_some(size)
    };
    let Some(size) = torn_size() else { return false };
    (0..20).all(|_| {
        std::thread::sleep(Duration::from_millis(4));
        torn_size() == Some(size)
    })
}

fn create(root: &Root) -> anyhow::Result<OwnedFd> {
    create_local_folder(root)?;
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::APPEND;
    Ok(stage::open(root, AUDIT, flags, Mode::RUSR | Mode::WUSR)?.into())
}

/// Rotates the log if it is large. The shell hooks only append to it, so builds call this.
pub fn rotate_audit_log(root: &Root) {
    let size = root.stat(AUDIT).ok().flatten().map_or(0, |(stat, _)| stat.size);
    if size > MAX_BYTES
        && let Ok(fd) = root.open_at(AUDIT, OFlags::RDONLY)
    {
        // If this fails, the log keeps growing and the next build tries again.
        rotate(root, &File::from(fd), MAX_BYTES).ok();
    }
}

/// Renames the log if it is large. A process that has it open continues to write to the renamed
/// file, so no line is lost. If several processes rotate the log at the same time, only one renames
/// it.
fn rotate(root: &Root, file: &File, max: u64) -> anyhow::Result<()> {
    let size = file.metadata().with_context(|| format!("stat {AUDIT}"))?.len();
    if size <= max || is_locked_by_another(file) {
        return Ok(());
    }
    let open = rustix::fs::fstat(file).map_err(std::io::Error::from)?;
    let current = root.stat(AUDIT)?.map(|(stat, _)| (stat.inode, stat.device));
    if current == Some((open.st_ino, open.st_dev)) {
        stage::rename(root, AUDIT, ROTATED_AUDIT)?;
    }
    Ok(())
}

/// Takes the lock on a log, and returns true if another process has it.
fn is_locked_by_another(file: &File) -> bool {
    let take = || rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive);
    rustix::io::retry_on_intr(take).is_err()
}

/// Returns true if a line could be appended to the log.
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
    fn a_clock_beyond_the_range_of_timestamps_does_not_panic() {
        let at = |seconds| clamped(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
        assert_eq!(at(1_800_000_000).to_string(), "2027-01-15T08:00:00Z");
        // The last second of the year 9999, the first of the next, and one much later.
        for seconds in [253_402_300_799, 253_402_300_800, 9_000_000_000_000] {
            assert_eq!(at(seconds), Timestamp::MAX);
        }
        let before = SystemTime::UNIX_EPOCH - Duration::from_secs(9_000_000_000_000);
        assert_eq!(clamped(before), Timestamp::MIN);
    }
}
