//! The no-op check: compares the project with the state of the last build.

use rayon::prelude::*;
use rustix::fs::FileType;

use super::walk;
use crate::model::source::with_lf;
use crate::model::{Digest, Folder, State, TrackedFile};
use crate::root::{Content, Root};

/// Fewer files than this are compared by one thread.
const FEW: usize = 1_000;

/// Returns true if no file and no folder changed since the last build. Files with racy times are read
/// again.
pub fn is_unmoved(root: &Root, previous: &State) -> bool {
    let folder = |folder: &Folder| is_folder_unchanged(root, previous, folder);
    let output = |file: &TrackedFile| is_file_unchanged(root, previous.written_at, file);
    let input = |file: &TrackedFile| is_file_unchanged(root, previous.looked_at, file);
    if is_small(previous) {
        return previous.folders.iter().all(folder)
            && previous.outputs.iter().all(output)
            && previous.inputs.iter().all(input);
    }
    previous.folders.par_iter().all(folder)
        && previous.outputs.par_iter().all(output)
        && previous.inputs.par_iter().with_min_len(64).all(input)
}

/// Returns true if there are so few files that one thread compares them faster than a pool starts.
pub fn is_small(previous: &State) -> bool {
    previous.folders.len() + previous.inputs.len() + previous.outputs.len() < FEW
}

fn is_folder_unchanged(root: &Root, previous: &State, folder: &Folder) -> bool {
    let Ok(Some((stat, FileType::Directory))) = root.stat(&folder.path) else { return false };
    // The times of a folder change with every name in it. If they did, the names decide.
    let is_same = stat == folder.stat && !stat.is_racy(previous.looked_at);
    is_same || walk::listing(root, &folder.path) == Some(folder.listing)
}

/// Returns true if a file is what it was. A file with racy times is hashed again.
pub fn is_file_unchanged(root: &Root, looked_at: i64, file: &TrackedFile) -> bool {
    let stat = match root.stat(&file.path) {
        Ok(Some((stat, _))) => stat,
        Ok(None) => return file.is_absent(),
        Err(_) => return false,
    };
    stat == file.stat
        && !file.is_absent()
        && (!stat.is_racy(looked_at) || digest_of(root, &file.path) == Some(file.digest))
}

/// Returns the digest of a file. Line ends that git converted do not change it.
pub fn digest_of(root: &Root, path: &str) -> Option<Digest> {
    match root.read(path, u64::MAX - 1) {
        Ok(Some(Content::Bytes(bytes, _))) => Some(Digest::of(&with_lf(&bytes).unwrap_or(bytes))),
        _ => None,
    }
}
