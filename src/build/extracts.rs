//! Longer texts of documents: extracted while they were parsed, or read again.

use rayon::prelude::*;

use super::Corpus;
use super::documents::facts_key;
use crate::discover;
use crate::guard::Allowed;
use crate::model::plan::Limits;
use crate::model::source::document_digest;
use crate::model::{Digest, DocId, Document, Plan, Source, Work};
use crate::parse::{self, Extracts};
use crate::render::view::LongerTexts;
use crate::root::{Content, Root};

/// Returns the longer texts of some documents. Facts have only their sizes.
pub(super) fn longer(corpus: &Corpus<'_>, ids: &[DocId]) -> anyhow::Result<LongerTexts> {
    let texts =
        |id: &DocId| Ok((*id, extract(corpus, *id, |extracts| &extracts.texts, parse::texts)?));
    ids.par_iter().with_min_len(8).map(texts).collect()
}

/// Returns the tasks, phase and success criteria of a document.
pub(super) fn work(corpus: &Corpus<'_>, id: DocId) -> anyhow::Result<Work> {
    extract(corpus, id, |extracts| &extracts.work, parse::work)
}

fn extract<T: Clone>(
    corpus: &Corpus<'_>,
    id: DocId,
    get: impl Fn(&Extracts) -> &T,
    parse: impl Fn(&Source, &Limits, &Allowed) -> T,
) -> anyhow::Result<T> {
    let Corpus { root, inputs, graph, extracts, .. } = corpus;
    let document = graph.document(id);
    let allowed = inputs.guard.allowed_for(&document.path);
    if let Some(extracts) = extracts.get(&facts_key(&document.path, document.digest, &allowed)) {
        return Ok(get(extracts).clone());
    }
    Ok(parse(&read_again(root, &inputs.plan, document)?, &inputs.plan.limits, &allowed))
}

/// Reads a document again. Its bytes must be those that its facts were parsed from.
fn read_again(root: &Root, plan: &Plan, document: &Document) -> anyhow::Result<Source> {
    let changed = || {
        let path = &document.path;
        format!("{path} changed during the build\nhint: run `blue knowledge build` again")
    };
    let bytes = |path: &str| match discover::read_document(root, plan, path)? {
        Some(Content::Bytes(bytes, _)) => anyhow::Ok(bytes),
        _ => anyhow::bail!(changed()),
    };
    let sidecar = document.sidecar.as_deref().and_then(|path| bytes(path).ok());
    let source = Source::new(&document.path, bytes(&document.path)?, sidecar);
    let sidecar = source.sidecar.as_deref().map(Digest::of);
    let digest = document_digest(Digest::of(&source.bytes), sidecar);
    anyhow::ensure!(digest == document.digest, changed());
    Ok(source)
}
