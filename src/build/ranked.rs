//! Ranks documents, or only those that an edit since the last build can have reached.

use super::{Inputs, Options, engine, read, workflow};
use crate::beneath::{Content, Root};
use crate::emit::{self, LOCAL};
use crate::model::place::RELEVANCE;
use crate::model::{Cutoffs, Digest, DocId, Graph, Hasher, Ranking, Record, Terms, Watched};
use crate::rank::{self, Again, Relevance};
use crate::wire::jsonl::RelevanceLines;
use crate::wire::ranking;

/// More edits than this are a new project.
const MAX_CHANGED: usize = 32;

/// A ranking, with the lines of the index that stay as they are.
pub(super) struct Ranked {
    pub(super) relevance: Relevance,
    pub(super) before: Option<RelevanceLines>,
    /// Everything but words that decided it.
    pub(super) context: Digest,
}

/// Ranks the documents of a graph.
pub(super) fn ranked(
    root: &Root,
    inputs: &Inputs,
    graph: &Graph,
    reading: &read::Reading,
    record: &Record,
    options: &Options<'_>,
) -> Ranked {
    let context = context(inputs, graph);
    let trusted = !options.check && !options.force && !record.outputs.is_empty();
    let last = trusted.then(|| last(root, inputs, graph, reading, &context)).flatten();
    let Some((again, lines)) = last else {
        return Ranked { relevance: rank::rank(graph), before: None, context };
    };
    let (wanted, _) = workflow::chosen(graph, inputs.plan.max_bundles as usize);
    let told = |id: DocId| lines.naming(&graph.document(id).uri);
    let (changed, cutoffs) = again;
    let again = Again { changed, cutoffs, told: &told, wanted: &wanted };
    let relevance = rank::rank_again(graph, &again);
    Ranked { relevance, before: Some(lines), context }
}

/// Documents with other words than before, and what it took to be a candidate of each document.
type Changed = (Vec<(DocId, Terms)>, Vec<Cutoffs>);

/// What the last build knew, if it ranked the same documents and its index is as it wrote it.
fn last(
    root: &Root,
    inputs: &Inputs,
    graph: &Graph,
    reading: &read::Reading,
    context: &Digest,
) -> Option<(Changed, RelevanceLines)> {
    let bytes = |path: &str| match root.read(path, 1 << 40) {
        Ok(Some(Content::Bytes(bytes, _))) => Some(bytes),
        _ => None,
    };
    let known = ranking::read(&bytes(&format!("{LOCAL}/ranking"))?, &engine())?;
    let n_documents = graph.documents.len();
    if known.context != *context || known.documents.len() != n_documents {
        return None;
    }
    let mut changed = Vec::new();
    for (id, (digest, _)) in graph.ids().zip(&known.documents) {
        let document = graph.document(id);
        if document.digest != *digest {
            let allowed = inputs.guard.of(&document.path);
            changed.push((id, reading.keeping.words(&allowed.key(*digest))?));
        }
        if changed.len() > MAX_CHANGED {
            return None;
        }
    }
    let emitted = bytes(RELEVANCE).filter(|emitted| Digest::of(emitted) == known.relevance)?;
    let cutoffs = known.documents.into_iter().map(|(_, cutoffs)| cutoffs).collect();
    Some(((changed, cutoffs), RelevanceLines::new(emitted, n_documents)?))
}

/// Everything but the documents' own bytes that decides what is known of them and how they are
/// ranked: limits and allowances decide what is read of the same bytes.
fn context(inputs: &Inputs, graph: &Graph) -> Digest {
    let mut hasher = Hasher::new();
    hasher.field(rank::context(graph).as_bytes());
    hasher.field(inputs.plan.allowance.digest().as_bytes());
    inputs.plan.limits.tell(&mut hasher);
    hasher.digest()
}

/// Keeps what the next ranking can build on.
pub(super) fn keep(
    root: &Root,
    analysis: &super::Analysis,
    outputs: &[Watched],
    engine: &Digest,
) -> anyhow::Result<()> {
    let Some(emitted) = outputs.iter().find(|watched| watched.path == RELEVANCE) else {
        return Ok(());
    };
    let documents = analysis.graph.documents.iter().map(|document| document.digest);
    let cutoffs = analysis.relevance.cutoffs.iter().copied();
    let ranking = Ranking {
        context: analysis.context,
        relevance: emitted.digest,
        documents: documents.zip(cutoffs).collect(),
    };
    emit::keep(root, &format!("{LOCAL}/ranking"), &ranking::write(&ranking, engine))
}
