//! The no-op check, which detects that nothing changed since the last build.
//!
//! Like git, it trusts a file whose stat matches the recorded one, unless the file was written so
//! close to the time of the record that a later edit could have left the stat unchanged. Such a
//! "racy" file is read and hashed.

use rayon::prelude::*;
use rustix::fs::FileType;

use super::{first_lines, walk};
use crate::model::source::with_lf;
use crate::model::{Digest, Folder, ProbedFile, State, TrackedFile};
use crate::root::{Content, Root};

/// With fewer files than this, one thread is faster than a thread pool.
const MIN_PARALLEL: usize = 1_000;

/// Returns true if no file and no folder changed since the last build.
pub fn is_unchanged(root: &Root, previous: &State) -> bool {
    let folder = |folder: &Folder| is_folder_unchanged(root, previous, folder);
    let output = |file: &TrackedFile| is_file_unchanged(root, previous.written_at, file);
    let input = |file: &TrackedFile| is_file_unchanged(root, previous.looked_at, file);
    let probed = |file: &ProbedFile| first_lines::is_unchanged(root, previous.looked_at, file);
    if is_small(previous) {
        return previous.folders.iter().all(folder)
            && previous.outputs.iter().all(output)
            && previous.inputs.iter().all(input)
            && previous.probed.iter().all(probed);
    }
    previous.folders.par_iter().all(folder)
        && previous.outputs.par_iter().all(output)
        && previous.inputs.par_iter().with_min_len(64).all(input)
        && previous.probed.par_iter().with_min_len(64).all(probed)
}

/// Returns true if one thread compares the files faster than a thread pool.
pub fn is_small(previous: &State) -> bool {
    let State { folders, inputs, probed, outputs, .. } = previous;
    folders.len() + inputs.len() + probed.len() + outputs.len() < MIN_PARALLEL
}

fn is_folder_unchanged(root: &Root, previous: &State, folder: &Folder) -> bool {
    let Ok(Some((stat, FileType::Directory))) = root.stat(&folder.path) else { return false };
    // A folder's stat also changes when an entry is replaced, so its entries are compared then.
    let stat_matches = stat == folder.stat && !stat.is_racy(previous.looked_at);
    stat_matches || walk::listing_hash(root, &folder.path) == Some(folder.listing)
}

/// Returns true if a tracked file still has the content that was recorded at `recorded_at`.
pub fn is_file_unchanged(root: &Root, recorded_at: i64, file: &TrackedFile) -> bool {
    let stat = match root.stat(&file.path) {
        Ok(Some((stat, _))) => stat,
        Ok(None) => return file.is_absent(),
        Err(_) => return false,
    };
    stat == file.stat
        && !file.is_absent()
        && (!stat.is_racy(recorded_at) || file_digest(root, &file.path) == Some(file.digest))
}

/// Returns the digest of a file, computed with LF line ends so that git's conversion to CRLF does
/// not count as a change.
pub fn file_digest(root: &Root, path: &str) -> Option<Digest> {
    match root.read(path, u64::MAX - 1) {
        Ok(Some(Content::Bytes(bytes, _))) => Some(Digest::of(&with_lf(&bytes).unwrap_or(bytes))),
        _ => None,
    }
}
