//! The last ranking, kept in `.blue/local/ranking`.

use serde::{Deserialize, Serialize};

use super::lists::{Bytes, RowsMirror};
use super::sealed::{seal, unseal};
use crate::model::{Cutoffs, Digest, Ranking};

#[derive(Deserialize, Serialize)]
struct RankingMirror<'a> {
    context: [u8; 32],
    relevance: [u8; 32],
    index: [u8; 32],
    /// The content of each document, and what it took to be its candidate.
    #[serde(borrow)]
    documents: Bytes<'a>,
    #[serde(borrow)]
    near: RowsMirror<'a>,
    #[serde(borrow)]
    lens: Bytes<'a>,
}

/// Bytes of one document.
const DOCUMENT: usize = 32 + 8 + 8;

fn document(bytes: &[u8; DOCUMENT]) -> (Digest, Cutoffs) {
    let mut digest = [0; 32];
    digest.copy_from_slice(&bytes[..32]);
    let number = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
    (Digest::from_bytes(digest), Cutoffs { best: number(32), alike: number(40) })
}

/// The bytes of a ranking file, in parts: a format line and a checksum, the ranking.
pub fn write(ranking: &Ranking, engine: &Digest) -> [Vec<u8>; 2] {
    let mut documents = Vec::with_capacity(ranking.documents.len() * DOCUMENT);
    for (digest, cutoffs) in &ranking.documents {
        documents.extend_from_slice(digest.as_bytes());
        documents.extend_from_slice(&cutoffs.best.to_le_bytes());
        documents.extend_from_slice(&cutoffs.alike.to_le_bytes());
    }
    let mirror = RankingMirror {
        context: *ranking.context.as_bytes(),
        relevance: *ranking.relevance.as_bytes(),
        index: *ranking.index.as_bytes(),
        documents: Bytes(documents.into()),
        near: RowsMirror::of(&ranking.near),
        lens: Bytes::of(&ranking.lens),
    };
    let payload = postcard::to_stdvec(&mirror).expect("a ranking can be written");
    seal("ranking", engine, payload)
}

/// Reads a ranking back; what does not verify, or was written by another engine, is absent.
pub fn read(bytes: &[u8], engine: &Digest) -> Option<Ranking> {
    let payload = unseal("ranking", engine, bytes)?;
    let mirror: RankingMirror<'_> = postcard::from_bytes(payload).ok()?;
    let (documents, _) = mirror.documents.0.as_chunks::<DOCUMENT>();
    Some(Ranking {
        context: Digest::from_bytes(mirror.context),
        relevance: Digest::from_bytes(mirror.relevance),
        index: Digest::from_bytes(mirror.index),
        documents: documents.iter().map(document).collect(),
        near: mirror.near.rows()?,
        lens: mirror.lens.numbers(),
    })
}
