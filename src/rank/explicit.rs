//! The signal of explicit references, in both directions.

use super::Opinion;
use crate::model::{DocId, Edge, Graph, Relation, Rows};

/// The edges of each document, in both directions.
pub(super) struct Adjacency<'a> {
    outgoing: Vec<&'a [Edge]>,
    incoming: Rows<u32>,
    edges: &'a [Edge],
}

impl<'a> Adjacency<'a> {
    pub(super) fn new(graph: &'a Graph) -> Adjacency<'a> {
        let mut outgoing: Vec<&[Edge]> = vec![&[]; graph.documents.len()];
        for group in graph.edges.chunk_by(|a, b| a.from == b.from) {
            outgoing[group[0].from.0 as usize] = group;
        }
        let all: Vec<u32> = (0..graph.edges.len() as u32).collect();
        let to = |edge: &u32| graph.edges[*edge as usize].to.0 as usize;
        let incoming = Rows::grouped(graph.documents.len(), &all, to);
        Adjacency { outgoing, incoming, edges: &graph.edges }
    }

    fn outgoing(&self, id: DocId) -> &'a [Edge] {
        self.outgoing[id.0 as usize]
    }

    fn incoming(&self, id: DocId) -> impl Iterator<Item = &'a Edge> {
        let edges = self.edges;
        self.incoming.of(id.0 as usize).iter().map(move |i| &edges[*i as usize])
    }
}

/// Points for speaking of another document, and for being spoken of.
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

/// Points for an edge: repeated references count, with less and less effect.
fn edge_points(edge: &Edge, base: u32) -> u32 {
    let repeated = base + base / 4 * (edge.count - 1).min(8);
    if edge.ambiguous { repeated / 2 } else { repeated }
}

/// What the references of one document, and those to it, say of its neighbours.
pub(super) fn opinions(graph: &Graph, adjacency: &Adjacency<'_>, id: DocId) -> Vec<Opinion> {
    let mut opinions = Vec::new();
    let mut add = |other: DocId, points: u32, reason: String| {
        let points = if graph.is_live(other) { points } else { points / 2 };
        if other != id && points > 0 {
            opinions.push(Opinion { id: other, points, reason });
        }
    };
    for edge in adjacency.outgoing(id) {
        let points = edge_points(edge, points(edge.relation).0);
        add(edge.to, points, outgoing_reason(edge));
        for successor in &graph.replaced_by[edge.to.0 as usize] {
            let old = graph.document(edge.to);
            add(*successor, points / 2, format!("replaces {}", old.title));
        }
    }
    for edge in adjacency.incoming(id).filter(|edge| is_bond(edge.relation)) {
        add(edge.from, edge_points(edge, points(edge.relation).1), incoming_reason(edge));
    }
    opinions
}

/// Whether a relation binds both ends alike. Of the others a document may be the end of hundreds;
/// those are one signal among many.
fn is_bond(relation: Relation) -> bool {
    use Relation::{PlanOf, Source, SupersededBy, Supersedes};
    matches!(relation, Supersedes | SupersededBy | PlanOf | Source)
}

/// Why one is near that refers to a document.
pub(super) fn incoming(graph: &Graph, from: DocId, to: DocId) -> Option<String> {
    let start = graph.edges.partition_point(|edge| (edge.from, edge.to) < (from, to));
    let edge = graph.edges.get(start).filter(|edge| (edge.from, edge.to) == (from, to))?;
    Some(incoming_reason(edge))
}

/// How much the others lean on a document; live ones lean harder.
pub(super) fn weight(graph: &Graph, adjacency: &Adjacency<'_>, id: DocId) -> u32 {
    let leaning = adjacency.incoming(id).filter(|edge| edge.relation != Relation::Supersedes);
    leaning
        .map(|edge| {
            if graph.is_live(edge.from) {
                points(edge.relation).0
            } else {
                points(edge.relation).0 / 4
            }
        })
        .sum()
}

fn times(count: u32) -> String {
    if count == 1 { String::new() } else { format!(" {count}×") }
}

fn outgoing_reason(edge: &Edge) -> String {
    let line = match edge.line {
        0 => String::new(),
        line => format!(", line {line}"),
    };
    match edge.relation {
        Relation::Supersedes => format!("supersedes it{line}"),
        Relation::SupersededBy => format!("superseded by it{line}"),
        Relation::DependsOn => format!("depends on it{line}"),
        Relation::Source => format!("comes from it{line}"),
        Relation::PlanOf => "plan of it".to_string(),
        Relation::Related => format!("related{line}"),
        Relation::Link => format!("links to it{}{line}", times(edge.count)),
        Relation::Address => format!("addresses it{}{line}", times(edge.count)),
        Relation::Mention => format!("mentions it{}{line}", times(edge.count)),
    }
}

fn incoming_reason(edge: &Edge) -> String {
    match edge.relation {
        Relation::Supersedes => "superseded by it".to_string(),
        Relation::SupersededBy => "supersedes it".to_string(),
        Relation::DependsOn => "it depends on this".to_string(),
        Relation::Source => "it comes from this".to_string(),
        Relation::PlanOf => "its plan".to_string(),
        Relation::Related => "it names this as related".to_string(),
        Relation::Link => format!("it links here{}", times(edge.count)),
        Relation::Address => format!("it addresses this{}", times(edge.count)),
        Relation::Mention => format!("it mentions this{}", times(edge.count)),
    }
}
