//! Orders documents for each reader: neighbours with reasons, and how much each one matters.

mod best;
mod citations;
mod context;
mod explicit;
mod habits;
mod implicit;
mod log;
mod marks;
mod names;
mod phrases;
mod places;
mod profiles;
pub mod reader;
mod reach;
mod sayings;
mod shift;
pub mod signals;
mod words;

use std::collections::BTreeMap;

use rayon::prelude::*;

use crate::model::{Calls, Cutoffs, DocId, Graph, Lexicon, Neighbour, Rows, Terms};

pub use context::context;
use phrases::Known;
use reader::{Reader, Scratch};
use signals::{Signals, WEIGHTS, content, fused};

/// Neighbours kept that a document names, and others.
const MAX_NAMED: usize = 20;
const MAX_OTHERS: usize = 12;

/// A point of an explicit reference counts for so many of the signals: what a document names comes
/// before what is only like it.
const NAMED: u32 = 150;

/// Less than this of content is chance, in thousandths.
const LEAST: i32 = 500;

/// Parts that the documents are ranked in, side by side.
const MAX_SHARES: usize = 32;

/// So many documents of a part tell how much room what is told of all will take.
const FIRST: usize = 64;

/// What is no longer current stands behind its equals.
const NOT_LIVE: i32 = 300;

/// What no habit of a project can take away.
const UNUSUAL: i32 = 3_000;

/// What one reference says of a neighbour.
pub(crate) struct Opinion {
    pub(crate) id: DocId,
    pub(crate) points: u32,
    pub(crate) reason: String,
}

/// Who asks. Neighbours of all documents together would take more room than the documents, so most
/// are only told of, one document after another.
pub struct Asked<'a> {
    /// Whose neighbours are given back, sorted; after an edit, of whom they may be others.
    pub wanted: &'a [DocId],
    /// Told of every document.
    pub tell: &'a Tell<'a>,
}

/// Writes down what is to be kept of a document's neighbours; they are `None` if they are as before.
pub type Tell<'a> = dyn Fn(DocId, Option<&[Neighbour]>, &mut Vec<u8>) + Sync + 'a;

/// The answer of this room, by row of the graph.
#[derive(Debug, Default)]
pub struct Relevance {
    /// What was written down of every document, in order, in parts.
    pub told: Vec<Vec<u8>>,
    /// The ranked neighbours that were wanted.
    pub neighbours: BTreeMap<DocId, Vec<Neighbour>>,
    /// How many bytes of it are of each.
    pub lens: Vec<u32>,
    /// The neighbours of every document by their rows; empty if they are as before.
    pub near: Rows<u32>,
    /// Whether a document's neighbours are those of the last ranking.
    pub as_before: Vec<bool>,
    /// What it takes to be a candidate of each.
    pub cutoffs: Vec<Cutoffs>,
    /// How much each document matters to the others.
    pub weights: Vec<u32>,
    /// What documents are called, and which texts say so.
    pub calls: Calls,
}

/// The last ranking of the same documents, which had the same [`context()`].
pub struct Again<'a> {
    /// Documents whose text is another, with the words they had.
    pub changed: Vec<(DocId, Terms)>,
    /// What it took to be a candidate of each document.
    pub cutoffs: Vec<Cutoffs>,
    /// Documents that had another among their neighbours.
    pub told: &'a (dyn Fn(DocId) -> Vec<DocId> + Sync),
    /// What was known of the texts, if the graph has only the changed ones.
    pub apart: Option<Apart<'a>>,
}

/// What an edit needs of the documents that it did not change.
pub struct Apart<'a> {
    /// What they are called, and which texts said so.
    pub calls: Calls,
    /// Who says something else now than is known there, changed earlier or just now, with the bigrams
    /// that are counted there.
    pub edited: Vec<(DocId, Vec<u32>)>,
    /// Whose neighbours are given back in any case.
    pub asked: Vec<DocId>,
    /// What some of them say, as they write it; `None` if that cannot be found.
    pub words: &'a WordsOf<'a>,
}

/// Finds what documents say; `None` if that of one of them is not there.
pub type WordsOf<'a> = dyn Fn(&[DocId]) -> Option<BTreeMap<DocId, Terms>> + Sync + 'a;

/// Ranks the neighbours of every document. Integers only, ties broken by the document's order.
pub fn rank(graph: &Graph, lexicon: &Lexicon, asked: &Asked<'_>) -> Relevance {
    ranked(Reader::new(graph, lexicon), None, &vec![true; graph.documents.len()], asked)
}

/// Ranks again what an edit can have reached. Where that is not known, it ranks every document; `None`
/// if it cannot, because it has not all texts.
pub fn rank_again(
    graph: &Graph,
    lexicon: &Lexicon,
    mut again: Again<'_>,
    asked: &Asked<'_>,
) -> Option<Relevance> {
    let apart = again.apart.take();
    let (known, words, wanted) = match apart {
        Some(Apart { calls, edited, asked, words }) => {
            (Some(Known { calls, edited }), Some(words), asked)
        }
        None => (None, None, asked.wanted.to_vec()),
    };
    let mut reader = Reader::since(graph, lexicon, &again.changed, known);
    let Some(mut reached) = reach::reached(&reader, &again) else {
        let all = vec![true; graph.documents.len()];
        return words.is_none().then(|| ranked(reader, None, &all, asked));
    };
    wanted.iter().for_each(|id| reached[id.0 as usize] = true);
    if let Some(words) = words {
        let is_changed = |id: &DocId| again.changed.iter().any(|(changed, _)| changed == id);
        let reached = graph.ids().filter(|id| reached[id.0 as usize] && !is_changed(id));
        reader.own = words(&reached.collect::<Vec<DocId>>())?;
    }
    Some(ranked(reader, Some(&again.cutoffs), &reached, asked))
}

/// What is known of some documents that follow each other.
#[derive(Default)]
struct Share {
    told: Vec<u8>,
    lens: Vec<u32>,
    near: Rows<u32>,
    neighbours: Vec<(DocId, Vec<Neighbour>)>,
    cutoffs: Vec<Cutoffs>,
}

/// Ranks some documents; of the others is known what it takes to be their candidate.
fn ranked(
    reader: Reader<'_>,
    known: Option<&[Cutoffs]>,
    which: &[bool],
    asked: &Asked<'_>,
) -> Relevance {
    let graph = reader.graph;
    let adjacency = explicit::Adjacency::new(graph);
    let ids: Vec<DocId> = graph.ids().collect();
    let add = |share: &mut Share, scratch: &mut Option<Scratch>, id: DocId| {
        let (row, start) = (id.0 as usize, share.told.len());
        if let Some(known) = known.filter(|_| !which[row]) {
            share.cutoffs.push(known[row]);
            (asked.tell)(id, None, &mut share.told);
            share.near.push(&[]);
            share.lens.push((share.told.len() - start) as u32);
            return;
        }
        let scratch = scratch.get_or_insert_with(|| reader.scratch());
        let named = named(explicit::opinions(graph, &adjacency, id));
        let neighbours = neighbours(&reader, scratch, id, named);
        share.cutoffs.push(scratch.cutoffs);
        (asked.tell)(id, Some(&neighbours), &mut share.told);
        let near: Vec<u32> = neighbours.iter().map(|neighbour| neighbour.id.0).collect();
        share.near.push(&near);
        share.lens.push((share.told.len() - start) as u32);
        if asked.wanted.binary_search(&id).is_ok() {
            share.neighbours.push((id, neighbours));
        }
    };
    // Room for candidates is as large as the project, so few documents share none.
    let few = which.iter().filter(|which| **which).count() <= FIRST;
    let n_shares = if few { MAX_SHARES / 8 } else { MAX_SHARES };
    let shares = ids.par_chunks(ids.len().div_ceil(n_shares).max(1)).map(|ids| {
        let (mut share, mut scratch) = (Share::default(), None);
        for (n, id) in ids.iter().enumerate() {
            // The first ones tell how much room all will need.
            if n == FIRST {
                share.told.reserve(share.told.len() * (ids.len() / FIRST));
            }
            add(&mut share, &mut scratch, *id);
        }
        share
    });
    let mut relevance = Relevance {
        as_before: which.iter().map(|which| !which).collect(),
        weights: ids.par_iter().map(|id| explicit::weight(graph, &adjacency, *id)).collect(),
        ..Relevance::default()
    };
    for share in shares.collect::<Vec<Share>>() {
        relevance.told.push(share.told);
        relevance.lens.extend(share.lens);
        relevance.near.extend(&share.near);
        relevance.neighbours.extend(share.neighbours);
        relevance.cutoffs.extend(share.cutoffs);
    }
    relevance.calls = reader.phrases.into_calls();
    relevance
}

/// Adds the opinions on each neighbour, the strongest reason first; sorted by document.
fn named(mut opinions: Vec<Opinion>) -> Vec<Neighbour> {
    opinions.sort_by(|a, b| (a.id, b.points, &a.reason).cmp(&(b.id, a.points, &b.reason)));
    let mut neighbours: Vec<Neighbour> = Vec::new();
    for opinion in opinions {
        let points = opinion.points.saturating_mul(NAMED);
        match neighbours.last_mut().filter(|last| last.id == opinion.id) {
            Some(last) => {
                last.score = last.score.saturating_add(points);
                last.reasons.push(opinion.reason);
            }
            None => {
                let reasons = vec![opinion.reason];
                neighbours.push(Neighbour { id: opinion.id, score: points, reasons });
            }
        }
    }
    neighbours
}

/// What a document names, each with what the signals add, and the best of the others.
fn neighbours<'a>(
    reader: &'a Reader<'a>,
    scratch: &mut Scratch,
    id: DocId,
    mut named: Vec<Neighbour>,
) -> Vec<Neighbour> {
    let besides: Vec<DocId> = named.iter().map(|neighbour| neighbour.id).collect();
    let candidates = reader.candidates(id, &besides, scratch);
    let mut others: Vec<(u32, DocId, usize)> = Vec::new();
    for (row, (other, said)) in candidates.iter().enumerate() {
        let points = || points(reader.graph, *other, said);
        match besides.binary_search(other) {
            Ok(at) => named[at].score = named[at].score.saturating_add(points()),
            // What two documents say puts them together, and not only what is usual.
            Err(_) if content(said) >= LEAST => others.push((points(), *other, row)),
            Err(_) => {}
        }
    }
    named.sort_by_key(|neighbour| (std::cmp::Reverse(neighbour.score), neighbour.id));
    named.truncate(MAX_NAMED);
    let by = |(points, other, _): &(u32, DocId, usize)| (std::cmp::Reverse(*points), *other);
    if others.len() > MAX_OTHERS {
        others.select_nth_unstable_by_key(MAX_OTHERS, by);
        others.truncate(MAX_OTHERS);
    }
    named.extend(others.into_iter().map(|(score, other, row)| {
        let reasons = implicit::reason(reader, scratch, (id, other), &candidates[row].1);
        Neighbour { id: other, score, reasons }
    }));
    reader.forget(id, scratch);
    named.sort_by_key(|neighbour| (std::cmp::Reverse(neighbour.score), neighbour.id));
    named
}

/// A score in hundredths. Even what is most unusual has one, and they can be told apart.
fn points(graph: &Graph, other: DocId, said: &Signals) -> u32 {
    let live = if graph.is_live(other) { 0 } else { NOT_LIVE };
    u32::try_from((fused(said, &WEIGHTS) - live + UNUSUAL) / 10).unwrap_or(0).max(1)
}
