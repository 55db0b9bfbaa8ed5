//! What can be told of a document beyond its facts: as it was read, or taken from its file again.

use rayon::prelude::*;

use super::artifacts::From;
use crate::discover::judge;
use crate::guard::Allowed;
use crate::model::plan::Limits;
use crate::model::source::content_digest;
use crate::model::{Digest, DocId, Document, Plan, Source, Work};
use crate::parse::{self, Extracts};
use crate::render::view::Longer;
use crate::root::{Content, Root};

/// The longer texts of some documents: facts only measure them.
pub(super) fn longer(from: &From<'_>, ids: &[DocId]) -> anyhow::Result<Longer> {
    let texts = |id: &DocId| Ok((*id, told(from, *id, |told| &told.texts, parse::texts)?));
    ids.par_iter().with_min_len(8).map(texts).collect()
}

/// What a document says of the work it asks for.
pub(super) fn work(from: &From<'_>, id: DocId) -> anyhow::Result<Work> {
    told(from, id, |told| &told.work, parse::work)
}

fn told<T: Clone>(
    from: &From<'_>,
    id: DocId,
    kept: impl Fn(&Extracts) -> &T,
    read: impl Fn(&Source, &Limits, &Allowed) -> T,
) -> anyhow::Result<T> {
    let From { root, inputs, analysis } = from;
    let document = analysis.graph.document(id);
    let allowed = inputs.guard.of(&document.path);
    if let Some(told) = analysis.reading.told.get(&allowed.key(document.digest)) {
        return Ok(kept(told).clone());
    }
    Ok(read(&again(root, &inputs.plan, document)?, &inputs.plan.limits, &allowed))
}

/// A document's bytes once more; they must be those that its facts came from.
fn again(root: &Root, plan: &Plan, document: &Document) -> anyhow::Result<Source> {
    let bytes = |path: &str| match judge::read(root, plan, path)? {
        Some(Content::Bytes(bytes, _)) => anyhow::Ok(bytes),
        _ => anyhow::bail!(moved(&document.path)),
    };
    let sidecar = document.sidecar.as_deref().and_then(|path| bytes(path).ok());
    let source = Source { bytes: bytes(&document.path)?, sidecar };
    let sidecar = source.sidecar.as_deref().map(Digest::of);
    let digest = content_digest(Digest::of(&source.bytes), sidecar);
    anyhow::ensure!(digest == document.digest, moved(&document.path));
    Ok(source)
}

pub(super) fn moved(path: &str) -> String {
    format!("{path} changed during the build\nhint: run `blue knowledge build` again")
}
