//! Opens, reads and lists files below the project root without following links.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, DirEntry, FileType, Mode, OFlags};
use rustix::io::retry_on_intr;

use crate::model::{Machine, Stat};

/// Converts a stat to the fields that change whenever the file changes.
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
    /// Opens a project's root directory.
    pub fn open(path: &Path) -> io::Result<Root> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd = retry_on_intr(|| rustix::fs::open(path, flags, Mode::empty()))?;
        Ok(Root { fd, path: path.to_path_buf(), machine: Machine::default() })
    }

    /// Sets the state of this machine's user for the project.
    pub fn with_machine(self, machine: Machine) -> Root {
        Root { machine, ..self }
    }

    /// Returns the state of this machine's user.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// Returns the open directory, for calls that only read.
    pub fn fd(&self) -> &OwnedFd {
        &self.fd
    }

    /// Returns the absolute path, for messages and for `git`.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens a path below the root. No component may be a symbolic link. Opening a FIFO does not
    /// block.
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

    /// Opens the folder that contains a path, and returns it with the name of the path in it. All
    /// writes use this handle, so swapping the folder for a link later cannot redirect them.
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

    /// Returns the stat of a path without following its last component. `None` if it does not
    /// exist.
    pub fn stat(&self, path: &str) -> io::Result<Option<(Stat, FileType)>> {
        let path = if path.is_empty() { "." } else { path };
        match retry_on_intr(|| rustix::fs::statat(&self.fd, path, AtFlags::SYMLINK_NOFOLLOW)) {
            Ok(stat) => Ok(Some((stat_of(&stat), FileType::from_raw_mode(stat.st_mode)))),
            Err(rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Lists a folder, in the order of the system. The listing is retried after a signal.
    pub fn entries(&self, folder: &str) -> io::Result<Vec<DirEntry>> {
        let fd = self.open_at(folder, OFlags::RDONLY | OFlags::DIRECTORY)?;
        Ok(retry_on_intr(|| Dir::read_from(&fd)?.collect())?)
    }

    /// Returns true if a path exists; a link counts, even a broken one.
    pub fn exists(&self, path: &str) -> bool {
        matches!(self.stat(path), Ok(Some(_)))
    }

    /// Reads a whole regular file, up to a limit. `None` if it does not exist.
    pub fn read(&self, path: &str, limit: u64) -> io::Result<Option<Content>> {
        self.open_existing(path)?.map(|fd| read_fd(fd, limit)).transpose()
    }

    /// Reads a whole regular file, up to a limit. `None` if that is not possible for any reason.
    pub fn readable_bytes(&self, path: &str, limit: u64) -> Option<Vec<u8>> {
        match self.read(path, limit) {
            Ok(Some(Content::Bytes(bytes, _))) => Some(bytes),
            _ => None,
        }
    }

    /// Opens a regular file to read parts of it. `None` if it does not exist.
    pub fn open_file(&self, path: &str) -> io::Result<Option<File>> {
        let Some(fd) = self.open_existing(path)? else { return Ok(None) };
        let kind = FileType::from_raw_mode(rustix::fs::fstat(&fd)?.st_mode);
        Ok((kind == FileType::RegularFile).then(|| File::from(fd)))
    }

    fn open_existing(&self, path: &str) -> io::Result<Option<OwnedFd>> {
        match self.open_at(path, OFlags::RDONLY) {
            Ok(fd) => Ok(Some(fd)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// The result of reading a file.
#[derive(Debug)]
pub enum Content {
    /// The bytes, and the stat of the file descriptor that they were read from.
    Bytes(Vec<u8>, Stat),
    /// The file is larger than the limit; its size.
    TooLarge(u64),
    /// The file is not a regular file.
    NotRegular,
}

/// Reads a file from its descriptor. The checks and the read apply to the same open file.
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

/// Returns true if two files below the root have the same content.
pub fn same_bytes(root: &Root, a: &str, b: &str) -> io::Result<bool> {
    let limit = u64::MAX - 1;
    Ok(match (root.read(a, limit)?, root.read(b, limit)?) {
        (Some(Content::Bytes(a, _)), Some(Content::Bytes(b, _))) => a == b,
        _ => false,
    })
}
