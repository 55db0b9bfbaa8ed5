//! Orders documents for each reader: neighbours with reasons, and how much each one matters.

mod explicit;

use rayon::prelude::*;

use crate::model::{DocId, Graph, Neighbour};

/// Neighbours kept per document.
const MAX_NEIGHBOURS: usize = 10;

/// What one signal says of a neighbour. Every signal speaks in these, so that more of them can
/// be added without touching the others or the room's callers.
pub(crate) struct Opinion {
    pub(crate) id: DocId,
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
    let neighbours =
        ids.par_iter().map(|id| merged(explicit::opinions(graph, &adjacency, *id))).collect();
    let weights = ids.par_iter().map(|id| explicit::weight(graph, &adjacency, *id)).collect();
    Relevance { neighbours, weights }
}

/// Adds the opinions on each neighbour, strongest reason first.
fn merged(mut opinions: Vec<Opinion>) -> Vec<Neighbour> {
    opinions.sort_by(|a, b| (a.id, b.points, &a.reason).cmp(&(b.id, a.points, &b.reason)));
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
