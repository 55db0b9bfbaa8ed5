//! State of the file system as a build saw it, so that the next build can skip unchanged files.

use serde::{Deserialize, Serialize};

use super::{Counts, Digest};

/// Metadata of a file as git's index stores it. All fields must match to skip reading the file.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Stat {
    /// Size in bytes.
    pub size: u64,
    /// Time of the last change of the content, in nanoseconds.
    pub modified: i64,
    /// Time of the last change of content or metadata. A user cannot set it back.
    pub changed: i64,
    /// Inode number.
    pub inode: u64,
    /// Device number.
    pub device: u64,
}

impl Stat {
    /// Returns true if a change after `looked_at` might not show in the file's times, because one
    /// of them is not older. Git calls such an entry racy.
    pub fn is_racy(&self, looked_at: i64) -> bool {
        self.modified >= looked_at || self.changed >= looked_at
    }
}

/// A folder that discovery listed.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Folder {
    /// Path below the root; empty for the root itself.
    pub path: String,
    /// Its metadata before it was listed.
    pub stat: Stat,
    /// Sum of the hashes of its entries, so that single entries can be added and subtracted.
    pub listing: u128,
}

/// A file that a build read or wrote, with its state at that time.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct TrackedFile {
    /// Path below the root.
    pub path: String,
    /// Its metadata when it was read or written.
    pub stat: Stat,
    /// The digest of its bytes.
    pub digest: Digest,
}

impl TrackedFile {
    /// Returns the entry of a file that does not exist.
    pub fn absent(path: &str) -> TrackedFile {
        TrackedFile {
            path: path.to_string(),
            stat: Stat::default(),
            digest: Digest::from_bytes([0; 32]),
        }
    }

    /// Returns true if the file did not exist.
    pub fn is_absent(&self) -> bool {
        self.digest == Digest::from_bytes([0; 32]) && self.stat == Stat::default()
    }
}

/// A file about which names did not decide, with the result of a look at its first lines.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct ProbedFile {
    /// Path below the root.
    pub path: String,
    /// Its metadata when it was read.
    pub stat: Stat,
    /// The metadata in its first lines.
    pub header: HeaderKind,
}

/// The metadata in the first lines of a file, from none to sure evidence.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
pub enum HeaderKind {
    /// None, or that of a page of a website.
    Other,
    /// Two fields that proposals have and other texts have too, such as author and date.
    Text,
    /// The metadata of a decision.
    Decision,
    /// A title with a placeholder: `RFC-NNNN Title`.
    Template,
}

/// Everything that one build read and wrote. It is stored in `.blue/local/state`.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct State {
    /// Folders that were listed.
    pub folders: Vec<Folder>,
    /// Files that were read, sorted by path.
    pub inputs: Vec<TrackedFile>,
    /// Files whose first lines decided whether they are documents, sorted by path.
    pub probed: Vec<ProbedFile>,
    /// Files that were written or found current, sorted by path, including the manifest. Empty if
    /// the next build must not skip any file.
    pub outputs: Vec<TrackedFile>,
    /// Time of the file system before the first read.
    pub looked_at: i64,
    /// Time of the file system after the last write.
    pub written_at: i64,
    /// Findings of the build, repeated by a build that has nothing to do.
    pub counts: Counts,
    /// The facts that decided each artifact, by path, for `--explain`.
    pub actions: Vec<(String, Vec<(String, Digest)>)>,
}

impl State {
    /// Returns an input by path.
    pub fn input(&self, path: &str) -> Option<&TrackedFile> {
        let at = self.inputs.binary_search_by(|file| file.path.as_str().cmp(path)).ok()?;
        Some(&self.inputs[at])
    }

    /// Returns an emitted file by path.
    pub fn output(&self, path: &str) -> Option<&TrackedFile> {
        self.outputs.iter().find(|file| file.path == path)
    }
}
