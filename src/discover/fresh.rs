//! The fast path: whether anything moved since the last build.

use rayon::prelude::*;
use rustix::fs::FileType;

use super::walk;
use crate::model::source::with_lf;
use crate::model::{Digest, Folder, Record, TrackedFile};
use crate::root::{Content, Root};

/// What one look found where folders and emitted files are as the last build left them.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Look {
    /// Files that were read and are others now, by their rows in the record.
    pub edited: Vec<usize>,
    /// Whether a file had to be read to know that it is the same.
    pub racy: bool,
}

/// Fewer files than this are looked at one after the other.
const FEW: usize = 1_000;

/// Compares the project with the record of the last build. Racy entries are read again. `None` if
/// something moved that no edit of a document explains.
pub fn look(root: &Root, record: &Record) -> Option<Look> {
    let folder = |folder: &Folder| folder_same(root, record, folder);
    let output = |file: &TrackedFile| file_same(root, record.settled, file);
    let input = |(row, file): (usize, &TrackedFile)| match same(root, record.looked, file) {
        Same::Yes => None,
        Same::Read => Some(Err(())),
        Same::No => Some(Ok(row)),
    };
    // Starting threads takes longer than looking at a few files.
    let unlike: Vec<Result<usize, ()>> = if is_small(record) {
        record.folders.iter().try_for_each(folder)?;
        record.outputs.iter().try_for_each(output)?;
        record.inputs.iter().enumerate().filter_map(input).collect()
    } else {
        record.folders.par_iter().try_for_each(folder)?;
        record.outputs.par_iter().try_for_each(output)?;
        record.inputs.par_iter().with_min_len(64).enumerate().filter_map(input).collect()
    };
    let racy = unlike.iter().any(Result::is_err);
    Some(Look { edited: unlike.into_iter().flatten().collect(), racy })
}

/// Whether so little was looked at that one thread does it sooner than several.
pub fn is_small(record: &Record) -> bool {
    record.folders.len() + record.inputs.len() + record.outputs.len() < FEW
}

/// Whether everything is as the last build left it.
pub fn is_unmoved(root: &Root, record: &Record) -> bool {
    look(root, record).is_some_and(|look| look.edited.is_empty())
}

fn folder_same(root: &Root, record: &Record, folder: &Folder) -> Option<()> {
    let (stat, kind) = root.stat(&folder.path).ok()??;
    if kind != FileType::Directory {
        return None;
    }
    // A folder's times change with every name in it; when they did, the names decide.
    let same = stat == folder.stat && !stat.is_racy(record.looked);
    (same || walk::listing(root, &folder.path) == Some(folder.listing)).then_some(())
}

/// Whether a watched file is what it was; a racy one is hashed again.
pub fn file_same(root: &Root, time: i64, file: &TrackedFile) -> Option<()> {
    (same(root, time, file) != Same::No).then_some(())
}

/// How a file is known to be what it was.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Same {
    /// Its stat says so.
    Yes,
    /// It had to be read.
    Read,
    /// It is another.
    No,
}

fn same(root: &Root, time: i64, file: &TrackedFile) -> Same {
    let stat = match root.stat(&file.path) {
        Ok(Some((stat, _))) => stat,
        Ok(None) if file.is_absent() => return Same::Yes,
        _ => return Same::No,
    };
    if stat != file.stat || file.is_absent() {
        return Same::No;
    }
    match stat.is_racy(time) {
        false => Same::Yes,
        true if digest_of(root, &file.path) == Some(file.digest) => Same::Read,
        true => Same::No,
    }
}

/// The digest of a file as it is now, whichever line ends git gave it.
pub fn digest_of(root: &Root, path: &str) -> Option<Digest> {
    match root.read(path, u64::MAX - 1) {
        Ok(Some(Content::Bytes(bytes, _))) => Some(Digest::of(&with_lf(&bytes).unwrap_or(bytes))),
        _ => None,
    }
}
