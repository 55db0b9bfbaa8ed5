//! Counts explicit references as votes for neighbours, in both directions.

use super::Vote;
use crate::model::{DocId, Edge, Graph, Reason, Relation, Rows};

/// The edges of each document, in both directions.
pub(super) struct References<'a> {
    graph: &'a Graph,
    outgoing: Vec<&'a [Edge]>,
    incoming: Rows<u32>,
}

impl<'a> References<'a> {
    pub(super) fn new(graph: &'a Graph) -> References<'a> {
        let mut outgoing: Vec<&[Edge]> = vec![&[]; graph.documents.len()];
        for group in graph.edges.chunk_by(|a, b| a.from == b.from) {
            outgoing[group[0].from.0 as usize] = group;
        }
        let all: Vec<u32> = (0..graph.edges.len() as u32).collect();
        let to = |edge: &u32| graph.edges[*edge as usize].to.0 as usize;
        let incoming = Rows::grouped(graph.documents.len(), &all, to);
        References { graph, outgoing, incoming }
    }

    fn incoming(&self, id: DocId) -> impl Iterator<Item = &'a Edge> {
        let edges = &self.graph.edges;
        self.incoming.of(id.0 as usize).iter().map(move |i| &edges[*i as usize])
    }

    /// Returns the votes of a document's references and of those to it.
    pub(super) fn votes(&self, id: DocId) -> Vec<Vote> {
        let graph = self.graph;
        let mut votes = Vec::new();
        let mut add = |other: DocId, points: u32, reason: Reason| {
            let points = if graph.is_live(other) { points } else { points / 2 };
            if other != id && points > 0 {
                votes.push(Vote { id: other, points, reason });
            }
        };
        for edge in self.outgoing[id.0 as usize] {
            let Edge { relation, line, count, .. } = *edge;
            let points = edge_points(edge, points(relation).0);
            add(edge.to, points, Reason::RefersTo { relation, line, count });
            for successor in &graph.replaced_by[edge.to.0 as usize] {
                add(*successor, points / 2, Reason::Replaces(edge.to));
            }
        }
        for edge in self.incoming(id).filter(|edge| is_mutual(edge.relation)) {
            add(edge.from, edge_points(edge, points(edge.relation).1), referred_by(edge));
        }
        votes
    }

    /// Returns the weight of a document: the points of the references to it. References from live
    /// documents count four times as much as others.
    pub(super) fn weight(&self, id: DocId) -> u32 {
        let incoming = self.incoming(id).filter(|edge| edge.relation != Relation::Supersedes);
        let points = |edge: &Edge| match self.graph.is_live(edge.from) {
            true => points(edge.relation).0,
            false => points(edge.relation).0 / 4,
        };
        incoming.map(points).sum()
    }
}

/// Returns the points of a relation for the document that refers to another, and for the other.
pub(super) fn points(relation: Relation) -> (u32, u32) {
    match relation {
        Relation::SupersededBy => (120, 60),
        Relation::Supersedes => (60, 120),
        Relation::PlanOf => (110, 110),
        Relation::DependsOn => (100, 50),
        Relation::Source => (80, 50),
        Relation::Related => (60, 40),
        Relation::Link | Relation::Address => (40, 20),
        Relation::Mention => (24, 12),
    }
}

/// Returns the points of an edge. Repeated references add a quarter each, at most eight times.
fn edge_points(edge: &Edge, base: u32) -> u32 {
    let repeated = base + base / 4 * (edge.count - 1).min(8);
    if edge.ambiguous { repeated / 2 } else { repeated }
}

/// Returns true if a relation makes each document a neighbour of the other. A document may be the
/// target of hundreds of other references, so those are only one signal among many.
fn is_mutual(relation: Relation) -> bool {
    use Relation::{PlanOf, Source, SupersededBy, Supersedes};
    matches!(relation, Supersedes | SupersededBy | PlanOf | Source)
}

/// Returns the reason that one document refers to another, if it does.
pub(super) fn reason_of_reference(graph: &Graph, from: DocId, to: DocId) -> Option<Reason> {
    let start = graph.edges.partition_point(|edge| (edge.from, edge.to) < (from, to));
    let edge = graph.edges.get(start).filter(|edge| (edge.from, edge.to) == (from, to))?;
    Some(referred_by(edge))
}

fn referred_by(edge: &Edge) -> Reason {
    Reason::ReferredBy { relation: edge.relation, count: edge.count }
}
