//! Orders documents for each reader: neighbours with reasons, and how much each one matters.

mod explicit;
mod implicit;
mod log;
pub mod signals;
mod words;

use rayon::prelude::*;

use crate::model::{DocId, Graph, Neighbour};
use signals::{Reader, Scratch};

/// Neighbours kept per document.
const MAX_NEIGHBOURS: usize = 20;

/// A point of an explicit reference counts for so many of the other signals: what a document names
/// comes before what is only like it.
const NAMED: u32 = 20;

/// What one signal says of a neighbour. Every signal speaks in these, so that more of them can
/// be added without touching the others or the room's callers.
pub(crate) struct Opinion {
    pub(crate) id: DocId,
    /// Whether the document names it; such reasons come first.
    pub(crate) named: bool,
    pub(crate) points: u32,
    pub(crate) reason: String,
}

/// The answer of this room, by row of the graph.
#[derive(Debug, Default)]
pub struct Relevance {
    /// The ranked neighbours of each document.
    pub neighbours: Vec<Vec<Neighbour>>,
    /// How much each document matters to the others.
    pub weights: Vec<u32>,
}

/// Ranks the neighbours of every document. Integers only, ties broken by the document's order.
pub fn rank(graph: &Graph) -> Relevance {
    let adjacency = explicit::Adjacency::new(graph);
    let ids: Vec<DocId> = graph.ids().collect();
    let reader = Reader::new(graph);
    let near = |scratch: &mut Scratch, id: &DocId| {
        let mut opinions = explicit::opinions(graph, &adjacency, *id);
        opinions.iter_mut().for_each(|opinion| opinion.points *= NAMED);
        opinions.extend(implicit::opinions(graph, &reader, scratch, *id));
        merged(opinions)
    };
    let neighbours = ids.par_iter().map_init(|| reader.scratch(), near).collect();
    let weights = ids.par_iter().map(|id| explicit::weight(graph, &adjacency, *id)).collect();
    Relevance { neighbours, weights }
}

/// Adds the opinions on each neighbour: what is named first, then the strongest reason.
fn merged(mut opinions: Vec<Opinion>) -> Vec<Neighbour> {
    opinions.sort_by(|a, b| {
        (a.id, b.named, b.points, &a.reason).cmp(&(b.id, a.named, a.points, &b.reason))
    });
    let mut neighbours: Vec<Neighbour> = Vec::new();
    for opinion in opinions {
        match neighbours.last_mut().filter(|last| last.id == opinion.id) {
            Some(last) => {
                last.score = last.score.saturating_add(opinion.points);
                last.reasons.push(opinion.reason);
            }
            None => {
                let reasons = vec![opinion.reason];
                neighbours.push(Neighbour { id: opinion.id, score: opinion.points, reasons });
            }
        }
    }
    neighbours.sort_by(|a, b| (b.score, a.id).cmp(&(a.score, b.id)));
    neighbours.truncate(MAX_NEIGHBOURS);
    neighbours
}
