//! What the last build kept, read as far as an edit needs it.

use std::fs::File;
use std::os::unix::fs::FileExt;

use super::super::ranked::{bytes, digest_of};
use crate::emit::LOCAL;
use crate::model::layout::{DOCUMENTS, RELEVANCE};
use crate::model::{Digest, Facts, Graph, Key, Ranking, Record, Snapshot};
use crate::root::Root;
use crate::wire::{blocks, cache};

/// A block larger than this is none of ours.
const MAX_BLOCK: usize = 64 << 20;

/// What was known of all documents.
pub(super) fn snapshot(root: &Root, engine: &Digest, check: &Digest) -> Option<Snapshot> {
    crate::wire::snapshot::read(&bytes(root, &format!("{LOCAL}/snapshot"))?, engine, check)
}

/// The ranking of these very documents, if the indexes that were made of it are those of the record.
pub(super) fn ranking(
    root: &Root,
    engine: &Digest,
    record: &Record,
    graph: &Graph,
) -> Option<Ranking> {
    let ranking = crate::wire::ranking::read(&bytes(root, &format!("{LOCAL}/ranking"))?, engine)?;
    let same = ranking.documents.len() == graph.documents.len()
        && graph
            .documents
            .iter()
            .zip(&ranking.documents)
            .all(|(one, (known, _))| one.digest == *known)
        && ranking.near.len() == ranking.documents.len()
        && ranking.lens.len() == ranking.documents.len()
        && digest_of(&record.outputs, RELEVANCE) == Some(ranking.relevance)
        && digest_of(&record.outputs, DOCUMENTS) == Some(ranking.index);
    same.then_some(ranking)
}

/// The bytes of the index of documents, if they are those of the record.
pub(super) fn documents(root: &Root, record: &Record) -> Option<Vec<u8>> {
    let known = digest_of(&record.outputs, DOCUMENTS)?;
    bytes(root, DOCUMENTS).filter(|bytes| Digest::of(bytes) == known)
}

/// The facts of documents, a block at a time.
pub(super) struct FactsFile {
    file: File,
    key: Key,
}

impl FactsFile {
    pub(super) fn open(root: &Root) -> Option<FactsFile> {
        let key = root.machine().key.clone()?;
        let file = root.open_file(&format!("{LOCAL}/facts")).ok().flatten()?;
        Some(FactsFile { file, key })
    }

    /// The facts under a digest in the block that begins here, if it is as this machine wrote it.
    pub(super) fn read(&self, block: u64, digest: &Digest) -> Option<Facts> {
        let mut bytes = vec![0; blocks::BLOCK_HEAD];
        self.file.read_exact_at(&mut bytes, block).ok()?;
        let len = blocks::body_len(&bytes).filter(|len| *len <= MAX_BLOCK)?;
        bytes.resize(blocks::BLOCK_HEAD + len, 0);
        let body = block.checked_add(blocks::BLOCK_HEAD as u64)?;
        self.file.read_exact_at(&mut bytes[blocks::BLOCK_HEAD..], body).ok()?;
        cache::facts_in(&bytes, digest, &self.key)
    }
}

/// The lines of the relevance index, each by itself.
pub(super) struct IndexFile {
    file: File,
    /// Where each line begins, and where the last one ends.
    starts: Vec<u64>,
}

impl IndexFile {
    /// Of lines that are so long; what stands before them is the file's provenance.
    pub(super) fn open(root: &Root, lens: &[u32]) -> Option<IndexFile> {
        let file = root.open_file(RELEVANCE).ok().flatten()?;
        let body: u64 = lens.iter().map(|len| u64::from(*len)).sum();
        let mut start = file.metadata().ok()?.len().checked_sub(body)?;
        let mut starts = vec![start];
        for len in lens {
            start += u64::from(*len);
            starts.push(start);
        }
        Some(IndexFile { file, starts })
    }

    /// The line of a document.
    pub(super) fn line(&self, row: usize) -> Option<Vec<u8>> {
        let (start, end) = (self.starts[row], self.starts[row + 1]);
        let mut bytes = vec![0; usize::try_from(end - start).ok()?];
        self.file.read_exact_at(&mut bytes, start).ok()?;
        Some(bytes)
    }

    /// All lines in parts, some of them replaced by others, which are sorted by their rows. `None` if
    /// the file is not the one with this digest.
    pub(super) fn with(&self, lines: &[(usize, &[u8])], digest: &Digest) -> Option<Vec<Vec<u8>>> {
        let mut all = vec![0; usize::try_from(*self.starts.last()?).ok()?];
        self.file.read_exact_at(&mut all, 0).ok()?;
        if Digest::of(&all) != *digest {
            return None;
        }
        let place = |row: usize| self.starts[row] as usize;
        let (mut parts, mut next) = (Vec::new(), 0);
        for (row, line) in lines {
            parts.push(all[place(next)..place(*row)].to_vec());
            parts.push(line.to_vec());
            next = row + 1;
        }
        parts.push(all[place(next)..].to_vec());
        Some(parts)
    }
}
