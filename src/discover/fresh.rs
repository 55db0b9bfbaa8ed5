//! The fast path: whether anything moved since the last build.

use rayon::prelude::*;
use rustix::fs::FileType;

use super::walk;
use crate::beneath::{Content, Root};
use crate::model::{Digest, Folder, Record, Watched};

/// Something that is not what the last build left behind.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Moved(pub String);

/// Fewer files than this are looked at one after the other.
const FEW: usize = 1_000;

/// Compares the project with the record of the last build. Racy entries are read again.
pub fn unmoved(root: &Root, record: &Record) -> Result<(), Moved> {
    let moved =
        |path: &str| Moved(if path.is_empty() { ".".to_string() } else { path.to_string() });
    // Starting threads takes longer than looking at a few files.
    if record.folders.len() + record.inputs.len() + record.outputs.len() < FEW {
        let folders = record.folders.iter();
        let folders = folders.map(|folder| (folder_same(root, record, folder), &folder.path));
        let inputs = record.inputs.iter().map(|file| (file, record.looked));
        let outputs = record.outputs.iter().map(|file| (file, record.settled));
        let files = inputs.chain(outputs);
        let files = files.map(|(file, time)| (file_same(root, time, file), &file.path));
        let mut all = folders.chain(files);
        return all.find(|(same, _)| same.is_none()).map_or(Ok(()), |(_, path)| Err(moved(path)));
    }
    let folders = record.folders.par_iter();
    folders
        .map(|folder| folder_same(root, record, folder).ok_or_else(|| moved(&folder.path)))
        .collect::<Result<(), _>>()?;
    let inputs = record.inputs.par_iter().with_min_len(64).map(|file| (file, record.looked));
    let outputs = record.outputs.par_iter().with_min_len(64).map(|file| (file, record.settled));
    inputs
        .chain(outputs)
        .map(|(file, time)| file_same(root, time, file).ok_or_else(|| moved(&file.path)))
        .collect()
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
pub fn file_same(root: &Root, time: i64, file: &Watched) -> Option<()> {
    let Some((stat, _)) = root.stat(&file.path).ok()? else {
        return file.is_absent().then_some(());
    };
    if stat != file.stat || file.is_absent() {
        return None;
    }
    (!stat.is_racy(time) || digest_of(root, &file.path) == Some(file.digest)).then_some(())
}

/// The digest of a file as it is now.
pub fn digest_of(root: &Root, path: &str) -> Option<Digest> {
    match root.read(path, u64::MAX - 1) {
        Ok(Some(Content::Bytes(bytes, _))) => Some(Digest::of(&bytes)),
        _ => None,
    }
}
