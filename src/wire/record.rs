//! The record of the last build, kept in `.blue/local/record`.

use serde::{Deserialize, Serialize};

use super::lists::Bytes;
use super::sealed::{seal, unseal};
use crate::model::snapshot::{Basis, Edited};
use crate::model::{Counts, Digest, Folder, Record, Stat, TrackedFile};

type StatMirror = (u64, i64, i64, u64, u64);

/// Files that were read or written: their paths, and the stat and digest of each.
#[derive(Deserialize, Serialize)]
struct FilesMirror<'a> {
    #[serde(borrow)]
    paths: Vec<&'a str>,
    #[serde(borrow)]
    states: Bytes<'a>,
}

/// Bytes of one file's stat and digest.
const STATE: usize = 5 * 8 + 32;

impl FilesMirror<'_> {
    fn of(files: &[TrackedFile]) -> FilesMirror<'_> {
        let mut states = Vec::with_capacity(files.len() * STATE);
        for TrackedFile { stat, digest, .. } in files {
            for number in [stat.size, stat.modified as u64, stat.changed as u64, stat.inode] {
                states.extend_from_slice(&number.to_le_bytes());
            }
            states.extend_from_slice(&stat.device.to_le_bytes());
            states.extend_from_slice(digest.as_bytes());
        }
        let paths = files.iter().map(|file| file.path.as_str()).collect();
        FilesMirror { paths, states: Bytes(states.into()) }
    }

    fn files(&self) -> Option<Vec<TrackedFile>> {
        let (states, _) = self.states.0.as_chunks::<STATE>();
        let file = |(path, state): (&&str, &[u8; STATE])| {
            let (numbers, _) = state[..5 * 8].as_chunks::<8>();
            let [size, modified, changed, inode, device] =
                [0, 1, 2, 3, 4].map(|at| u64::from_le_bytes(numbers[at]));
            let (modified, changed) = (modified as i64, changed as i64);
            let mut digest = [0; 32];
            digest.copy_from_slice(&state[5 * 8..]);
            TrackedFile {
                path: (*path).to_string(),
                stat: Stat { size, modified, changed, inode, device },
                digest: Digest::from_bytes(digest),
            }
        };
        let whole = states.len() == self.paths.len();
        whole.then(|| self.paths.iter().zip(states).map(file).collect())
    }
}

type BasisMirror = ([u8; 32], Vec<(u32, [u8; 32], u64)>, u64, u64);
type ActionMirror = (String, Vec<(String, [u8; 32])>);

#[derive(Deserialize, Serialize)]
struct RecordMirror<'a> {
    #[serde(borrow)]
    folders: Vec<(&'a str, StatMirror, u128)>,
    #[serde(borrow)]
    inputs: FilesMirror<'a>,
    #[serde(borrow)]
    outputs: FilesMirror<'a>,
    times: (i64, i64),
    counts: (u64, u64, u64, u64),
    actions: Vec<ActionMirror>,
    basis: Option<BasisMirror>,
}

/// The bytes of a record file, in parts: a format line and a checksum, the record.
pub fn write(record: &Record, engine: &Digest) -> [Vec<u8>; 2] {
    let folder = |folder: &'_ Folder| stat_mirror(&folder.stat);
    let mirror = RecordMirror {
        folders: record.folders.iter().map(|f| (f.path.as_str(), folder(f), f.listing)).collect(),
        inputs: FilesMirror::of(&record.inputs),
        outputs: FilesMirror::of(&record.outputs),
        times: (record.looked, record.settled),
        counts: counts_mirror(&record.counts),
        actions: record.actions.iter().map(action_mirror).collect(),
        basis: record.basis.as_ref().map(basis_mirror),
    };
    let payload = postcard::to_stdvec(&mirror).expect("a record can be written");
    seal("record", engine, payload)
}

/// Reads a record back; what does not verify, or was written by another engine, is absent.
pub fn read(bytes: &[u8], engine: &Digest) -> Option<Record> {
    let payload = unseal("record", engine, bytes)?;
    let mirror: RecordMirror<'_> = postcard::from_bytes(payload).ok()?;
    Some(Record {
        folders: mirror.folders.into_iter().map(folder).collect(),
        inputs: mirror.inputs.files()?,
        outputs: mirror.outputs.files()?,
        looked: mirror.times.0,
        settled: mirror.times.1,
        counts: counts(mirror.counts),
        actions: mirror.actions.into_iter().map(action).collect(),
        basis: mirror.basis.map(basis),
    })
}

fn stat_mirror(stat: &Stat) -> StatMirror {
    (stat.size, stat.modified, stat.changed, stat.inode, stat.device)
}

fn action_mirror((path, facts): &(String, Vec<(String, Digest)>)) -> ActionMirror {
    (path.clone(), facts.iter().map(|(name, digest)| (name.clone(), *digest.as_bytes())).collect())
}

fn basis_mirror(basis: &Basis) -> BasisMirror {
    let edited = |one: &Edited| (one.row, *one.digest.as_bytes(), one.block);
    let Basis { check, edited: all, end, n_facts } = basis;
    (*check.as_bytes(), all.iter().map(edited).collect(), *end, *n_facts)
}

fn basis((check, all, end, n_facts): BasisMirror) -> Basis {
    let edited = |(row, digest, block)| Edited { row, digest: Digest::from_bytes(digest), block };
    let edited = all.into_iter().map(edited).collect();
    Basis { check: Digest::from_bytes(check), edited, end, n_facts }
}

fn counts_mirror(counts: &Counts) -> (u64, u64, u64, u64) {
    (counts.errors, counts.warnings, counts.infos, counts.accepted)
}

fn counts((errors, warnings, infos, accepted): (u64, u64, u64, u64)) -> Counts {
    Counts { errors, warnings, infos, accepted }
}

fn stat((size, modified, changed, inode, device): StatMirror) -> Stat {
    Stat { size, modified, changed, inode, device }
}

fn folder((path, mirror, listing): (&str, StatMirror, u128)) -> Folder {
    Folder { path: path.to_string(), stat: stat(mirror), listing }
}

fn action((path, facts): ActionMirror) -> (String, Vec<(String, Digest)>) {
    (path, facts.into_iter().map(|(name, digest)| (name, Digest::from_bytes(digest))).collect())
}
