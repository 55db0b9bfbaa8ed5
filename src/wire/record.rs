//! The record of the last build, kept in `.blue/local/record`.

use serde::{Deserialize, Serialize};

use super::sealed::{seal, unseal};
use crate::model::{Counts, Digest, Folder, Record, Stat, Watched};

type StatMirror = (u64, i64, i64, u64, u64);
type WatchedMirror<'a> = (&'a str, StatMirror, [u8; 32]);
type ActionMirror = (String, Vec<(String, [u8; 32])>);

#[derive(Deserialize, Serialize)]
struct RecordMirror<'a> {
    #[serde(borrow)]
    folders: Vec<(&'a str, StatMirror, u128)>,
    #[serde(borrow)]
    inputs: Vec<WatchedMirror<'a>>,
    #[serde(borrow)]
    outputs: Vec<WatchedMirror<'a>>,
    times: (i64, i64),
    counts: (u64, u64, u64, u64),
    actions: Vec<ActionMirror>,
}

/// The bytes of a record file: a format line, a checksum, the record.
pub fn write(record: &Record, engine: &Digest) -> Vec<u8> {
    let folder = |folder: &'_ Folder| stat_mirror(&folder.stat);
    let mirror = RecordMirror {
        folders: record.folders.iter().map(|f| (f.path.as_str(), folder(f), f.listing)).collect(),
        inputs: record.inputs.iter().map(watched_mirror).collect(),
        outputs: record.outputs.iter().map(watched_mirror).collect(),
        times: (record.looked, record.settled),
        counts: counts_mirror(&record.counts),
        actions: record.actions.iter().map(action_mirror).collect(),
    };
    let payload = postcard::to_stdvec(&mirror).expect("a record can be written");
    seal("record", engine, &payload)
}

/// Reads a record back; what does not verify, or was written by another engine, is absent.
pub fn read(bytes: &[u8], engine: &Digest) -> Option<Record> {
    let payload = unseal("record", engine, bytes)?;
    let mirror: RecordMirror<'_> = postcard::from_bytes(payload).ok()?;
    Some(Record {
        folders: mirror.folders.into_iter().map(folder).collect(),
        inputs: mirror.inputs.into_iter().map(watched).collect(),
        outputs: mirror.outputs.into_iter().map(watched).collect(),
        looked: mirror.times.0,
        settled: mirror.times.1,
        counts: counts(mirror.counts),
        actions: mirror.actions.into_iter().map(action).collect(),
    })
}

fn stat_mirror(stat: &Stat) -> StatMirror {
    (stat.size, stat.modified, stat.changed, stat.inode, stat.device)
}

fn watched_mirror(file: &Watched) -> WatchedMirror<'_> {
    (&file.path, stat_mirror(&file.stat), *file.digest.as_bytes())
}

fn action_mirror((path, facts): &(String, Vec<(String, Digest)>)) -> ActionMirror {
    (path.clone(), facts.iter().map(|(name, digest)| (name.clone(), *digest.as_bytes())).collect())
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

fn watched((path, mirror, digest): WatchedMirror<'_>) -> Watched {
    Watched { path: path.to_string(), stat: stat(mirror), digest: Digest::from_bytes(digest) }
}

fn folder((path, mirror, listing): (&str, StatMirror, u128)) -> Folder {
    Folder { path: path.to_string(), stat: stat(mirror), listing }
}

fn action((path, facts): ActionMirror) -> (String, Vec<(String, Digest)>) {
    (path, facts.into_iter().map(|(name, digest)| (name, Digest::from_bytes(digest))).collect())
}
