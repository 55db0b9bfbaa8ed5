//! What a build saw of the file system, kept so that the next one can look away.

use super::snapshot::Basis;
use super::{Counts, Digest};

/// What the file system says of a file, as git keeps it: all must match to skip a read.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Stat {
    /// Bytes.
    pub size: u64,
    /// Last change of the content, in nanoseconds.
    pub modified: i64,
    /// Last change of anything; a user cannot set it back.
    pub changed: i64,
    /// Inode.
    pub inode: u64,
    /// Device.
    pub device: u64,
}

impl Stat {
    /// Whether the file may have changed since without showing it: its time is not older than
    /// the look at it.
    pub fn is_racy(&self, looked: i64) -> bool {
        self.modified >= looked || self.changed >= looked
    }
}

/// A folder that was looked into.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Folder {
    /// Path below the root; empty for the root itself.
    pub path: String,
    /// Its stat before it was read.
    pub stat: Stat,
    /// The sum of the hashes of all entries in it, so that entries can be added and taken away.
    pub listing: u128,
}

/// A file that was read or written, with what it was then.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TrackedFile {
    /// Path below the root.
    pub path: String,
    /// Its stat when it was read or written.
    pub stat: Stat,
    /// The digest of its bytes.
    pub digest: Digest,
}

impl TrackedFile {
    /// A file that was looked for and is not there.
    pub fn absent(path: &str) -> TrackedFile {
        TrackedFile {
            path: path.to_string(),
            stat: Stat::default(),
            digest: Digest::from_bytes([0; 32]),
        }
    }

    /// Whether it was looked for and not found.
    pub fn is_absent(&self) -> bool {
        self.digest == Digest::from_bytes([0; 32]) && self.stat == Stat::default()
    }
}

/// Everything one build looked at and wrote.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Record {
    /// Folders that were looked into.
    pub folders: Vec<Folder>,
    /// Files that were read, sorted by path.
    pub inputs: Vec<TrackedFile>,
    /// Files that were written or found current, sorted by path; the manifest among them.
    pub outputs: Vec<TrackedFile>,
    /// The file system's time before the first look.
    pub looked: i64,
    /// The file system's time after the last write.
    pub settled: i64,
    /// What that build found, for the line that says so when nothing is to do.
    pub counts: Counts,
    /// The facts that decided each artifact, for `--explain`.
    pub actions: Vec<(String, Vec<(String, Digest)>)>,
    /// What was kept of all documents, if it was.
    pub basis: Option<Basis>,
}

impl Record {
    /// What is known of an input.
    pub fn input(&self, path: &str) -> Option<&TrackedFile> {
        let at = self.inputs.binary_search_by(|watched| watched.path.as_str().cmp(path)).ok()?;
        Some(&self.inputs[at])
    }
}
