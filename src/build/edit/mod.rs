//! After an edit that only the edited documents show: what was known, with them in their place.
//!
//! After any other edit all documents are looked at again.

mod shown;
mod stored;

use std::collections::BTreeMap;

use rayon::prelude::*;
use rustix::fs::FileType;

use super::keeping::{self, Keeping};
use super::ranked::{self, Before, Left};
use super::read::{self, One, Reading};
use super::{Analysis, Going, Inputs, workflow};
use crate::discover::Tree;
use crate::discover::fresh::Look;
use crate::guard;
use crate::model::layout::RELEVANCE;
use crate::model::snapshot::{Basis, Edited};
use crate::model::{
    Action, Digest, DocId, Document, Facts, Graph, Neighbour, Ranking, Record, Snapshot, Terms,
    TrackedFile,
};
use crate::rank::{self, Again, Apart, Asked, Relevance};
use crate::root::Root;
use crate::wire::blocks;
use crate::wire::jsonl::{self, Lines};

use shown::Moves;
use stored::{FactsFile, IndexFile};

/// With more edits than this since all documents were looked at, they are looked at again.
const MAX_EDITED: usize = 32;

/// A document that was edited.
struct Edit {
    id: DocId,
    one: One,
    /// What it said before, and where its lines are now; `None` if it says what it said.
    before: Option<(Facts, Moves)>,
}

/// What the last build left, as far as an edit needs it, and the edited documents for themselves.
struct Kept {
    snapshot: Snapshot,
    had: Had,
    ranking: Ranking,
    index: Vec<u8>,
    read: Vec<One>,
}

/// Pairs of words that documents had in the snapshot.
type Had = BTreeMap<DocId, Vec<u32>>;

/// The analysis of a project in which only some documents were edited, if nobody else shows it.
pub(super) fn analysed(
    root: &Root,
    inputs: &Inputs,
    record: &Record,
    engine: &Digest,
    look: &Look,
) -> Option<Analysis> {
    let files = files(root, inputs, record, look)?;
    let basis = record.basis.as_ref()?;
    let facts = FactsFile::open(root)?;
    let reader = read::Reader::of_edit(root, inputs, record);
    let Kept { mut snapshot, mut had, ranking, index, read } =
        kept(root, inputs, record, engine, (&facts, &reader), &files)?;
    let edits = edits(inputs, &reader, &snapshot, &files, read, &facts)?;
    for Edit { id, one, before } in &edits {
        if let Some((old, moves)) = before {
            had.entry(*id).or_insert_with(|| old.terms.bigrams.clone());
            take_in(&mut snapshot, *id, one.digest, one.facts.clone(), moves);
        }
    }
    is_within(inputs, &snapshot, basis, edits.len()).then_some(())?;
    let (rfcs, note) = workflow::chosen(&snapshot.graph, inputs.plan.max_bundles as usize);
    let relevance = ranked_again(inputs, &mut snapshot, &ranking, (had, &facts), &edits, &rfcs)?;
    let changed = edits.iter().filter(|edit| edit.before.is_some());
    let changed: Vec<DocId> = changed.map(|edit| edit.id).collect();
    let n_seen = snapshot.notes.len();
    let Snapshot { graph, bindings, mut notes, .. } = snapshot;
    notes.extend(note);
    let stands = standing(record, &graph, &relevance, &rfcs);
    let before = Before::new(Lines::new(index, graph.documents.len())?, changed);
    let (reading, basis) = reading(record, edits, basis)?;
    let mut analysis = Analysis {
        graph,
        relevance,
        rfcs,
        before: Some(before),
        left: Left::default(),
        bindings,
        notes,
        reading,
        tree: Tree { folders: record.folders.clone(), ..Tree::default() },
        n_seen,
        stands,
        basis: Going::As(basis),
    };
    complete(root, &mut analysis, record, &ranking)?;
    analysis.left = Left::new(ranking.context, &analysis.graph, &mut analysis.relevance);
    Some(analysis)
}

/// The edited files. `None` if they are too many, or one of them is no file, or anything else is not as
/// the last build left it.
fn files<'a>(
    root: &Root,
    inputs: &Inputs,
    record: &'a Record,
    look: &Look,
) -> Option<Vec<&'a TrackedFile>> {
    let files: Vec<&TrackedFile> = look.edited.iter().map(|row| &record.inputs[*row]).collect();
    let can = !look.racy
        && files.len() <= MAX_EDITED
        && are_as_recorded(inputs, record)
        && files.iter().all(|file| is_file(root, &file.path));
    can.then_some(files)
}

/// Reads what was kept, and the edited documents meanwhile.
fn kept(
    root: &Root,
    inputs: &Inputs,
    record: &Record,
    engine: &Digest,
    (facts, reader): (&FactsFile, &read::Reader<'_>),
    files: &[&TrackedFile],
) -> Option<Kept> {
    let basis = record.basis.as_ref()?;
    let known = || {
        let mut snapshot = stored::snapshot(root, engine, &basis.check)?;
        let had = catch_up(inputs, basis, facts, &mut snapshot)?;
        let ranking = stored::ranking(root, engine, record, &snapshot.graph)?;
        Some((snapshot, had, ranking))
    };
    let new = || {
        let read = files.iter().map(|file| reader.again(&file.path, None));
        Some((read.collect::<Option<Vec<One>>>()?, stored::documents(root, record)?))
    };
    let (known, new) = rayon::join(known, new);
    let ((snapshot, had, ranking), (read, index)) = (known?, new?);
    Some(Kept { snapshot, had, ranking, index, read })
}

/// Whether what people wrote for blue is what the last build read.
fn are_as_recorded(inputs: &Inputs, record: &Record) -> bool {
    let digest = |file: &TrackedFile| record.input(&file.path).map(|known| known.digest);
    inputs.watched.iter().all(|file| digest(file) == Some(file.digest))
}

fn is_file(root: &Root, path: &str) -> bool {
    let stat = root.stat(path).ok().flatten();
    stat.is_some_and(|(_, kind)| kind == FileType::RegularFile)
}

/// The facts of a content that a document had.
fn facts_of(
    inputs: &Inputs,
    facts: &FactsFile,
    document: &Document,
    digest: Digest,
    block: u64,
) -> Option<Facts> {
    facts.read(block, &inputs.guard.of(&document.path).key(digest))
}

/// Brings a snapshot up to the last build.
fn catch_up(
    inputs: &Inputs,
    basis: &Basis,
    facts: &FactsFile,
    snapshot: &mut Snapshot,
) -> Option<Had> {
    let read = |edited: &Edited| {
        let row = edited.row as usize;
        let document = snapshot.graph.documents.get(row)?;
        let old = facts_of(inputs, facts, document, document.digest, snapshot.blocks[row])?;
        let new = facts_of(inputs, facts, document, edited.digest, edited.block)?;
        let moves = Moves::new(&old, &new)?;
        Some((new, moves, old.terms.bigrams))
    };
    let all: Vec<(Facts, Moves, Vec<u32>)> =
        basis.edited.par_iter().map(read).collect::<Option<_>>()?;
    let mut had = Had::new();
    for (edited, (new, moves, pairs)) in basis.edited.iter().zip(all) {
        let id = DocId(edited.row);
        take_in(snapshot, id, edited.digest, new, &moves);
        snapshot.blocks[edited.row as usize] = edited.block;
        had.insert(id, pairs);
    }
    Some(had)
}

/// The edited documents, as they were read for themselves. `None` if one of them is no document, or
/// others can see its edit.
fn edits(
    inputs: &Inputs,
    reader: &read::Reader<'_>,
    snapshot: &Snapshot,
    edited: &[&TrackedFile],
    read: Vec<One>,
    facts: &FactsFile,
) -> Option<Vec<Edit>> {
    let graph = &snapshot.graph;
    let mut read: BTreeMap<&str, One> =
        edited.iter().map(|file| file.path.as_str()).zip(read).collect();
    let edit = |(id, one): (DocId, One)| {
        let document = graph.document(id);
        let one = match document.sidecar.as_deref() {
            None => one,
            sidecar => reader.again(&document.path, sidecar)?,
        };
        if one.digest == document.digest {
            return Some(Edit { id, one, before: None });
        }
        let path = guard::shown(&document.path);
        if snapshot.notes.iter().any(|note| note.path == path) {
            return None;
        }
        let block = snapshot.blocks[id.0 as usize];
        let old = facts_of(inputs, facts, document, document.digest, block)?;
        let moves = Moves::new(&old, &one.facts)?;
        Some(Edit { id, one, before: Some((old, moves)) })
    };
    let of = |id: DocId| Some((id, read.remove(graph.document(id).path.as_str())?));
    let edits = graph.ids().filter_map(of).map(edit).collect::<Option<Vec<Edit>>>()?;
    read.is_empty().then_some(edits)
}

/// Puts what an edited document says in the place of what it said.
fn take_in(snapshot: &mut Snapshot, id: DocId, digest: Digest, facts: Facts, moves: &Moves) {
    let Snapshot { graph, bindings, lexicon, .. } = snapshot;
    lexicon.replace(id.0 as usize, &facts.terms, &facts.citing_lines);
    let document = &mut graph.documents[id.0 as usize];
    (document.digest, document.facts) = (digest, facts);
    let first = graph.edges.partition_point(|edge| edge.from < id);
    for edge in graph.edges[first..].iter_mut().take_while(|edge| edge.from == id) {
        edge.line = moves.now(edge.line);
    }
    for binding in bindings.iter_mut().filter(|binding| binding.document == id) {
        binding.line = moves.now(binding.line);
    }
}

/// Whether the documents together are still within limits, and the facts file is not crowded.
fn is_within(inputs: &Inputs, snapshot: &Snapshot, basis: &Basis, n_edits: usize) -> bool {
    let documents = &snapshot.graph.documents;
    let n_bytes: u64 = documents.iter().map(|document| document.facts.n_bytes).sum();
    n_bytes <= inputs.plan.limits.total_bytes
        && !keeping::is_crowded(basis.n_facts + n_edits as u64, documents.len())
}

/// Ranks what the edits can have reached. The lines of those documents are told, one after the other.
fn ranked_again(
    inputs: &Inputs,
    snapshot: &mut Snapshot,
    ranking: &Ranking,
    (had, facts): (Had, &FactsFile),
    edits: &[Edit],
    wanted: &[DocId],
) -> Option<Relevance> {
    let changed = edits.iter().filter_map(|edit| Some((edit.id, &edit.before.as_ref()?.0)));
    let changed: Vec<(DocId, Terms)> =
        changed.map(|(id, before)| (id, before.terms.clone())).collect();
    let edited: Vec<DocId> = had.keys().copied().collect();
    let calls = std::mem::take(&mut snapshot.calls);
    let Snapshot { graph, lexicon, blocks, .. } = &*snapshot;
    let chars = inputs.plan.allowance.kept();
    let tell = |id: DocId, neighbours: Option<&[Neighbour]>, bytes: &mut Vec<u8>| {
        if let Some(neighbours) = neighbours {
            jsonl::relevance(graph, id, neighbours, &chars, bytes);
        }
    };
    let of = |id: &DocId| {
        let document = graph.document(*id);
        let block = blocks[id.0 as usize];
        Some((*id, facts_of(inputs, facts, document, document.digest, block)?.terms))
    };
    let words = |ids: &[DocId]| ids.par_iter().map(of).collect::<Option<BTreeMap<_, _>>>();
    let plans = workflow::Plans::new(graph);
    let is_changed = |id: &DocId| changed.iter().any(|(changed, _)| changed == id);
    // A bundle is made of the plans too, and of the neighbours that it has anyway.
    let asked = wanted.iter().filter(|id| plans.of(**id).iter().any(is_changed));
    let asked: Vec<DocId> = asked.copied().collect();
    let again = Again {
        changed,
        cutoffs: ranking.documents.iter().map(|(_, cutoffs)| *cutoffs).collect(),
        told: &|id| ranked::telling(&ranking.near, id),
        apart: Some(Apart { calls, edited: had.into_iter().collect(), asked, words: &words }),
    };
    let relevance = rank::rank_again(graph, lexicon, again, &Asked { wanted, tell: &tell });
    for id in edited {
        snapshot.graph.documents[id.0 as usize].facts.terms = Terms::default();
    }
    relevance
}

/// Bundles of documents that the edits did not reach, with what decided them.
fn standing(
    record: &Record,
    graph: &Graph,
    relevance: &Relevance,
    rfcs: &[DocId],
) -> BTreeMap<String, Action> {
    let stand = rfcs.iter().filter(|id| relevance.as_before[id.0 as usize]);
    let paths = stand.map(|id| workflow::path_of(graph, *id));
    paths.filter_map(|path| Some((path.clone(), action(record, &path)?))).collect()
}

fn action(record: &Record, path: &str) -> Option<Action> {
    let (_, facts) = record.actions.iter().find(|(known, _)| known == path)?;
    Some(Action::of(facts.clone()))
}

/// What was read of the edited documents, and what the next build goes on from. `None` if that would
/// be too far from the snapshot.
fn reading(record: &Record, edits: Vec<Edit>, basis: &Basis) -> Option<(Reading, Basis)> {
    let mut reading = Reading { watched: record.inputs.clone(), ..Reading::default() };
    let mut all: BTreeMap<u32, Edited> =
        basis.edited.iter().map(|edited| (edited.row, edited.clone())).collect();
    let (mut fresh, mut new) = (Vec::new(), Vec::new());
    for Edit { id, one, before } in edits {
        for watched in one.watched {
            match reading.watched.binary_search_by(|known| known.path.cmp(&watched.path)) {
                Ok(at) => reading.watched[at] = watched,
                Err(at) => reading.watched.insert(at, watched),
            }
        }
        if before.is_some() {
            let (entry, told) = one.fresh?;
            reading.told.extend(told.map(|told| (one.key, told)));
            fresh.push(entry);
            new.push((id.0, one.digest));
        }
    }
    let (placed, end) = blocks::places(basis.end, fresh.iter().map(Vec::as_slice));
    for ((row, digest), (_, block)) in new.into_iter().zip(placed) {
        all.insert(row, Edited { row, digest, block });
    }
    let n_facts = basis.n_facts + fresh.len() as u64;
    reading.keeping = Keeping::of_edit(fresh, basis.end);
    let edited: Vec<Edited> = all.into_values().collect();
    let is_near = edited.len() <= MAX_EDITED;
    is_near.then_some((reading, Basis { check: basis.check, edited, end, n_facts }))
}

/// Makes a ranking of some documents one of all. Where every line is as it was, so is the index.
fn complete(
    root: &Root,
    analysis: &mut Analysis,
    record: &Record,
    ranking: &Ranking,
) -> Option<()> {
    let index = IndexFile::open(root, &ranking.lens)?;
    let relevance = &mut analysis.relevance;
    relevance.near = ranked::completed(relevance, &ranking.near);
    let told = std::mem::take(&mut relevance.told).concat();
    let (mut lines, mut start) = (Vec::new(), 0);
    for (row, len) in relevance.lens.iter().enumerate().filter(|(_, len)| **len > 0) {
        lines.push((row, &told[start..start + *len as usize]));
        start += *len as usize;
    }
    if lines.iter().all(|(row, line)| index.line(*row).as_deref() == Some(*line)) {
        analysis.stands.insert(RELEVANCE.to_string(), action(record, RELEVANCE)?);
        relevance.lens.clone_from(&ranking.lens);
        return Some(());
    }
    relevance.told = index.with(&lines, &ranking.relevance)?;
    let lens = relevance.lens.iter_mut().zip(&ranking.lens).filter(|(len, _)| **len == 0);
    lens.for_each(|(len, before)| *len = *before);
    Some(())
}
