//! Files below the root, opened without following a link out of it.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, DirEntry, FileType, Mode, OFlags};
use rustix::io::retry_on_intr;

use crate::model::{Machine, Stat};

/// The facts of a stat that decide whether a file moved.
#[allow(clippy::unnecessary_cast, reason = "the types differ between systems")]
pub fn stat_of(stat: &rustix::fs::Stat) -> Stat {
    let nanoseconds =
        |seconds: i64, rest: i64| seconds.saturating_mul(1_000_000_000).saturating_add(rest);
    Stat {
        size: stat.st_size as u64,
        modified: nanoseconds(stat.st_mtime as i64, stat.st_mtime_nsec as i64),
        changed: nanoseconds(stat.st_ctime as i64, stat.st_ctime_nsec as i64),
        inode: stat.st_ino as u64,
        device: stat.st_dev as u64,
    }
}

/// The project's root directory, held open.
pub struct Root {
    fd: OwnedFd,
    path: PathBuf,
    machine: Machine,
}

impl Root {
    /// Opens a root.
    pub fn open(path: &Path) -> io::Result<Root> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd = retry_on_intr(|| rustix::fs::open(path, flags, Mode::empty()))?;
        Ok(Root { fd, path: path.to_path_buf(), machine: Machine::default() })
    }

    /// The same root, with what this machine's user keeps for it outside the repository.
    pub fn on(self, machine: Machine) -> Root {
        Root { machine, ..self }
    }

    /// The key and consents that this machine's user keeps outside the repository.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// The open directory, for questions that change nothing.
    pub fn fd(&self) -> &OwnedFd {
        &self.fd
    }

    /// Where it is, for messages and for `git`.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens something below the root. No component may be a symbolic link; a FIFO does not
    /// block, because nothing waits for its other end.
    pub fn open_at(&self, path: &str, flags: OFlags) -> io::Result<OwnedFd> {
        let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let path = if path.is_empty() { "." } else { path };
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::ResolveFlags;
            let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
            let open = || rustix::fs::openat2(&self.fd, path, flags, Mode::empty(), resolve);
            match retry_on_intr(open) {
                Err(rustix::io::Errno::NOSYS | rustix::io::Errno::PERM) => {}
                other => return Ok(other?),
            }
        }
        self.open_stepwise(path, flags)
    }

    /// The folder that a path lies in, opened as everything here is, and the path's name in it.
    /// Whoever writes goes through it: a folder that is swapped for a link later leads nowhere.
    pub fn parent<'a>(&self, path: &'a str) -> io::Result<(OwnedFd, &'a str)> {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        Ok((self.open_at(folder, OFlags::RDONLY | OFlags::DIRECTORY)?, name))
    }

    fn open_stepwise(&self, path: &str, flags: OFlags) -> io::Result<OwnedFd> {
        let start = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let open = || rustix::fs::openat(&self.fd, ".", start, Mode::empty());
        let mut folder = retry_on_intr(open)?;
        let mut parts = path.split('/').peekable();
        while let Some(part) = parts.next() {
            let last = parts.peek().is_none();
            let step = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let flags = if last { flags } else { step };
            let fd = retry_on_intr(|| rustix::fs::openat(&folder, part, flags, Mode::empty()))?;
            if last {
                return Ok(fd);
            }
            folder = fd;
        }
        Ok(folder)
    }

    /// The stat of a path, its last component not followed. `None` if nothing is there.
    pub fn stat(&self, path: &str) -> io::Result<Option<(Stat, FileType)>> {
        let path = if path.is_empty() { "." } else { path };
        match retry_on_intr(|| rustix::fs::statat(&self.fd, path, AtFlags::SYMLINK_NOFOLLOW)) {
            Ok(stat) => Ok(Some((stat_of(&stat), FileType::from_raw_mode(stat.st_mode)))),
            Err(rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Lists a folder, in the order of the system. A listing that a signal interrupts begins again.
    pub fn entries(&self, folder: &str) -> io::Result<Vec<DirEntry>> {
        let fd = self.open_at(folder, OFlags::RDONLY | OFlags::DIRECTORY)?;
        Ok(retry_on_intr(|| Dir::read_from(&fd)?.collect())?)
    }

    /// Whether something lies at a path, links included.
    pub fn exists(&self, path: &str) -> bool {
        matches!(self.stat(path), Ok(Some(_)))
    }

    /// Reads a regular file whole, up to a limit. `None` if nothing is there.
    pub fn read(&self, path: &str, limit: u64) -> io::Result<Option<Content>> {
        self.open_if_there(path)?.map(|fd| read_fd(fd, limit)).transpose()
    }

    /// Opens a regular file to read parts of it. `None` if there is none.
    pub fn open_file(&self, path: &str) -> io::Result<Option<File>> {
        let Some(fd) = self.open_if_there(path)? else { return Ok(None) };
        let kind = FileType::from_raw_mode(rustix::fs::fstat(&fd)?.st_mode);
        Ok((kind == FileType::RegularFile).then(|| File::from(fd)))
    }

    fn open_if_there(&self, path: &str) -> io::Result<Option<OwnedFd>> {
        match self.open_at(path, OFlags::RDONLY) {
            Ok(fd) => Ok(Some(fd)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// What reading a file gave.
#[derive(Debug)]
pub enum Content {
    /// The bytes, and the stat of the very file they came from.
    Bytes(Vec<u8>, Stat),
    /// It is larger than the limit.
    TooLarge(u64),
    /// It is no regular file.
    NotRegular,
}

/// Reads from the descriptor that was checked, never by name again.
pub fn read_fd(fd: OwnedFd, limit: u64) -> io::Result<Content> {
    let stat = rustix::fs::fstat(&fd)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Ok(Content::NotRegular);
    }
    let stat = stat_of(&stat);
    if stat.size > limit {
        return Ok(Content::TooLarge(stat.size));
    }
    let mut bytes = Vec::with_capacity(stat.size as usize + 1);
    File::from(fd).take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Ok(Content::TooLarge(bytes.len() as u64));
    }
    Ok(Content::Bytes(bytes, stat))
}

/// Whether two files below the root hold the same bytes.
pub fn same_bytes(root: &Root, one: &str, other: &str) -> io::Result<bool> {
    let limit = u64::MAX - 1;
    Ok(match (root.read(one, limit)?, root.read(other, limit)?) {
        (Some(Content::Bytes(one, _)), Some(Content::Bytes(other, _))) => one == other,
        _ => false,
    })
}
