//! Ranks documents, or only those that an edit since the last build can have reached.

use super::{Inputs, engine, read};
use crate::beneath::{Content, Root};
use crate::emit::{self, LOCAL};
use crate::model::place::{DOCUMENTS, RELEVANCE};
use crate::model::{
    Cutoffs, Digest, DocId, Graph, Hasher, Lexicon, Neighbour, Ranking, Terms, Watched,
};
use crate::rank::{self, Again, Asked, Relevance};
use crate::wire::jsonl::{self, Lines};
use crate::wire::ranking;

/// More edits than this are a new project.
const MAX_CHANGED: usize = 32;

/// What the last build left for this one, if all of it is as it was written.
pub(super) struct Kept {
    ranking: Ranking,
    relevance: Lines,
    index: Lines,
}

impl Kept {
    pub(super) fn read(root: &Root) -> Option<Kept> {
        let bytes = |path: &str| match root.read(path, 1 << 40) {
            Ok(Some(Content::Bytes(bytes, _))) => Some(bytes),
            _ => None,
        };
        let ranking = ranking::read(&bytes(&format!("{LOCAL}/ranking"))?, &engine())?;
        let n_documents = ranking.documents.len();
        let lines = |path: &str, digest: &Digest| {
            let emitted = bytes(path).filter(|emitted| Digest::of(emitted) == *digest)?;
            Lines::new(emitted, n_documents)
        };
        let relevance = lines(RELEVANCE, &ranking.relevance)?;
        let index = lines(DOCUMENTS, &ranking.index)?;
        Some(Kept { ranking, relevance, index })
    }
}

/// The index of documents as it was, where only some of them changed and nothing between them.
pub(crate) struct Before {
    index: Lines,
    changed: Vec<DocId>,
}

impl Before {
    /// The line of a document that is as it was.
    pub(super) fn line(&self, id: DocId) -> Option<&[u8]> {
        let same = self.changed.binary_search(&id).is_err();
        same.then(|| self.index.line(id.0 as usize))
    }
}

/// A ranking, with the index of documents it builds on.
pub(super) struct Ranked {
    pub(super) relevance: Relevance,
    pub(super) before: Option<Before>,
    /// Everything but the documents' own bytes that decided it.
    pub(super) context: Digest,
}

/// Ranks the documents of a graph and writes the lines of their index; the neighbours of those that
/// are wanted are given back.
pub(super) fn ranked(
    inputs: &Inputs,
    (graph, lexicon): (&Graph, &Lexicon),
    keeping: &mut read::Keeping,
    kept: Option<Kept>,
    wanted: &[DocId],
) -> Ranked {
    let context = context(inputs, graph, lexicon);
    let chars = inputs.plan.allowance.kept();
    let line = |id: DocId, neighbours: &[Neighbour], bytes: &mut Vec<u8>| {
        jsonl::relevance(graph, id, neighbours, &chars, bytes);
    };
    let last = kept.and_then(|kept| last(inputs, graph, keeping, &context, kept));
    keeping.let_go();
    let Some((changed, cutoffs, relevance, index)) = last else {
        let tell = |id: DocId, neighbours: Option<&[Neighbour]>, bytes: &mut Vec<u8>| {
            line(id, neighbours.unwrap_or_default(), bytes);
        };
        let relevance = rank::rank(graph, lexicon, &Asked { wanted, tell: &tell });
        return Ranked { relevance, before: None, context };
    };
    let tell = |id: DocId, neighbours: Option<&[Neighbour]>, bytes: &mut Vec<u8>| match neighbours {
        Some(neighbours) => line(id, neighbours, bytes),
        None => bytes.extend_from_slice(relevance.line(id.0 as usize)),
    };
    let told = |id: DocId| relevance.naming(&graph.document(id).uri);
    let before = Before { index, changed: changed.iter().map(|(id, _)| *id).collect() };
    let again = Again { changed, cutoffs, told: &told, apart: None };
    let relevance = rank::rank_again(graph, lexicon, again, &Asked { wanted, tell: &tell });
    let relevance = relevance.expect("all texts are here");
    Ranked { relevance, before: Some(before), context }
}

/// Documents with other words than before, what it took to be a candidate of each document, and both
/// indexes.
type Last = (Vec<(DocId, Terms)>, Vec<Cutoffs>, Lines, Lines);

/// What the last build knew, if it ranked the same documents.
fn last(
    inputs: &Inputs,
    graph: &Graph,
    keeping: &read::Keeping,
    context: &Digest,
    kept: Kept,
) -> Option<Last> {
    let Kept { ranking: known, relevance, index } = kept;
    if known.context != *context || known.documents.len() != graph.documents.len() {
        return None;
    }
    let mut changed = Vec::new();
    for (id, (digest, _)) in graph.ids().zip(&known.documents) {
        let document = graph.document(id);
        if document.digest != *digest {
            let allowed = inputs.guard.of(&document.path);
            changed.push((id, keeping.words(&allowed.key(*digest))?));
        }
        if changed.len() > MAX_CHANGED {
            return None;
        }
    }
    let cutoffs = known.documents.into_iter().map(|(_, cutoffs)| cutoffs).collect();
    Some((changed, cutoffs, relevance, index))
}

/// Everything but the documents' own bytes that decides what is known of them and how they are
/// ranked: limits and allowances decide what is read of the same bytes.
fn context(inputs: &Inputs, graph: &Graph, lexicon: &Lexicon) -> Digest {
    let mut hasher = Hasher::new();
    hasher.field(rank::context(graph, lexicon).as_bytes());
    hasher.field(inputs.plan.allowance.digest().as_bytes());
    for document in &graph.documents {
        if let Some(sidecar) = &document.sidecar {
            hasher.field(document.path.as_bytes()).field(sidecar.as_bytes());
        }
    }
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
    let emitted = |path| outputs.iter().find(|watched| watched.path == path);
    let (Some(relevance), Some(index)) = (emitted(RELEVANCE), emitted(DOCUMENTS)) else {
        return Ok(());
    };
    let documents = analysis.graph.documents.iter().map(|document| document.digest);
    let cutoffs = analysis.relevance.cutoffs.iter().copied();
    let ranking = Ranking {
        context: analysis.context,
        relevance: relevance.digest,
        index: index.digest,
        documents: documents.zip(cutoffs).collect(),
    };
    emit::keep(root, &format!("{LOCAL}/ranking"), &ranking::write(&ranking, engine))
}
