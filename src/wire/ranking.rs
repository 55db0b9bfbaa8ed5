//! The last ranking, kept in `.blue/local/ranking`.

use serde::{Deserialize, Serialize};

use super::sealed::{seal, unseal};
use crate::model::{Cutoffs, Digest, Ranking};

#[derive(Deserialize, Serialize)]
struct RankingMirror {
    context: [u8; 32],
    relevance: [u8; 32],
    index: [u8; 32],
    documents: Vec<([u8; 32], u64, u64)>,
}

/// The bytes of a ranking file: a format line, a checksum, the ranking.
pub fn write(ranking: &Ranking, engine: &Digest) -> Vec<u8> {
    let document =
        |(digest, cutoffs): &(Digest, Cutoffs)| (*digest.as_bytes(), cutoffs.best, cutoffs.alike);
    let mirror = RankingMirror {
        context: *ranking.context.as_bytes(),
        relevance: *ranking.relevance.as_bytes(),
        index: *ranking.index.as_bytes(),
        documents: ranking.documents.iter().map(document).collect(),
    };
    let payload = postcard::to_stdvec(&mirror).expect("a ranking can be written");
    seal("ranking", engine, &payload)
}

/// Reads a ranking back; what does not verify, or was written by another engine, is absent.
pub fn read(bytes: &[u8], engine: &Digest) -> Option<Ranking> {
    let payload = unseal("ranking", engine, bytes)?;
    let mirror: RankingMirror = postcard::from_bytes(payload).ok()?;
    let document = |(digest, best, alike)| (Digest::from_bytes(digest), Cutoffs { best, alike });
    Some(Ranking {
        context: Digest::from_bytes(mirror.context),
        relevance: Digest::from_bytes(mirror.relevance),
        index: Digest::from_bytes(mirror.index),
        documents: mirror.documents.into_iter().map(document).collect(),
    })
}
