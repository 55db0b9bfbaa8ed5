//! Ranks documents, or only those that an edit since the last build can have reached.

use super::keeping::Keeping;
use super::{Inputs, engine};
use crate::emit::{self, LOCAL};
use crate::model::layout::{DOCUMENTS, RELEVANCE};
use crate::model::{
    Cutoffs, Digest, DocId, Graph, Hasher, Lexicon, Neighbour, Ranking, Rows, Terms, TrackedFile,
};
use crate::rank::{self, Again, Asked, Relevance};
use crate::root::{Content, Root};
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

/// A whole file, if it is there.
pub(super) fn bytes(root: &Root, path: &str) -> Option<Vec<u8>> {
    match root.read(path, 1 << 40) {
        Ok(Some(Content::Bytes(bytes, _))) => Some(bytes),
        _ => None,
    }
}

/// The digest of an emitted file.
pub(super) fn digest_of(outputs: &[TrackedFile], path: &str) -> Option<Digest> {
    Some(outputs.iter().find(|watched| watched.path == path)?.digest)
}

impl Kept {
    pub(super) fn read(root: &Root) -> Option<Kept> {
        let bytes = |path: &str| bytes(root, path);
        let ranking = ranking::read(&bytes(&format!("{LOCAL}/ranking"))?, engine(root).as_ref()?)?;
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
    /// Of an index in which only these documents are others now; they are sorted.
    pub(super) fn new(index: Lines, changed: Vec<DocId>) -> Before {
        Before { index, changed }
    }

    /// The index as it was, and whose lines are others; they are sorted.
    pub(super) fn parts(self) -> (Lines, Vec<DocId>) {
        (self.index, self.changed)
    }
}

/// A ranking, with the index of documents it builds on, and what it leaves behind.
pub(super) struct Ranked {
    pub(super) relevance: Relevance,
    pub(super) before: Option<Before>,
    pub(super) left: Left,
}

/// What a ranking leaves behind for the next one.
#[derive(Default)]
pub(super) struct Left {
    /// Everything but the documents' own bytes that decided it.
    context: Option<Digest>,
    documents: Vec<(Digest, Cutoffs)>,
    near: Rows<u32>,
    lens: Vec<u32>,
}

impl Left {
    /// Takes it from a ranking.
    pub(super) fn new(context: Digest, graph: &Graph, relevance: &mut Relevance) -> Left {
        let digests = graph.documents.iter().map(|document| document.digest);
        let cutoffs = std::mem::take(&mut relevance.cutoffs);
        let (near, lens) =
            (std::mem::take(&mut relevance.near), std::mem::take(&mut relevance.lens));
        Left { context: Some(context), documents: digests.zip(cutoffs).collect(), near, lens }
    }

    /// Keeps it, with the indexes that were made of the ranking.
    pub(super) fn keep(
        self,
        root: &Root,
        outputs: &[TrackedFile],
        engine: &Digest,
    ) -> anyhow::Result<()> {
        let emitted = |path| digest_of(outputs, path);
        let (Some(context), Some(relevance), Some(index)) =
            (self.context, emitted(RELEVANCE), emitted(DOCUMENTS))
        else {
            return Ok(());
        };
        let Left { documents, near, lens, .. } = self;
        let ranking = Ranking { context, relevance, index, documents, near, lens };
        let parts = ranking::write(&ranking, engine);
        emit::keep_parts(root, &format!("{LOCAL}/ranking"), parts.iter())
    }
}

/// Ranks the documents of a graph and writes the lines of their index; the neighbours of those that
/// are wanted are given back.
pub(super) fn ranked(
    inputs: &Inputs,
    (graph, lexicon): (&Graph, &Lexicon),
    keeping: &mut Keeping,
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
    let Some((changed, cutoffs, near, relevance, index)) = last else {
        let tell = |id: DocId, neighbours: Option<&[Neighbour]>, bytes: &mut Vec<u8>| {
            line(id, neighbours.unwrap_or_default(), bytes);
        };
        let mut relevance = rank::rank(graph, lexicon, &Asked { wanted, tell: &tell });
        let left = Left::new(context, graph, &mut relevance);
        return Ranked { relevance, before: None, left };
    };
    let tell = |id: DocId, neighbours: Option<&[Neighbour]>, bytes: &mut Vec<u8>| match neighbours {
        Some(neighbours) => line(id, neighbours, bytes),
        None => bytes.extend_from_slice(relevance.line(id.0 as usize)),
    };
    let told = |id: DocId| telling(&near, id);
    let before = Before::new(index, changed.iter().map(|(id, _)| *id).collect());
    let again = Again { changed, cutoffs, told: &told, apart: None };
    let relevance = rank::rank_again(graph, lexicon, again, &Asked { wanted, tell: &tell });
    let mut relevance = relevance.expect("all texts are here");
    relevance.near = completed(&relevance, &near);
    let left = Left::new(context, graph, &mut relevance);
    Ranked { relevance, before: Some(before), left }
}

/// Documents that had another among their neighbours.
pub(super) fn telling(near: &Rows<u32>, id: DocId) -> Vec<DocId> {
    let rows = (0..near.len()).filter(|row| near.of(*row).contains(&id.0));
    rows.map(|row| DocId(row as u32)).collect()
}

/// The neighbours of every document, those from before among them.
pub(super) fn completed(relevance: &Relevance, before: &Rows<u32>) -> Rows<u32> {
    let mut near = Rows::with_capacity(before.len(), before.all().len());
    for (row, as_before) in relevance.as_before.iter().enumerate() {
        near.push(if *as_before { before.of(row) } else { relevance.near.of(row) });
    }
    near
}

/// Documents with other words than before, what it took to be a candidate of each document, who was
/// near whom, and both indexes.
type Last = (Vec<(DocId, Terms)>, Vec<Cutoffs>, Rows<u32>, Lines, Lines);

/// What the last build knew, if it ranked the same documents.
fn last(
    inputs: &Inputs,
    graph: &Graph,
    keeping: &Keeping,
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
    Some((changed, cutoffs, known.near, relevance, index))
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
