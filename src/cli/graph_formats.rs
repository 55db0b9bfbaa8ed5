//! Renders a graph of documents as Mermaid, DOT or JSON.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;

use crate::model::escape::escape;
use crate::model::hidden_chars::hidden_in;
use crate::model::plural::counted_of;
use crate::model::{DocId, Graph, Relation};

/// The part of a graph that is drawn.
pub(super) struct Picture<'a> {
    graph: &'a Graph,
    nodes: BTreeSet<DocId>,
    /// Sorted by both ends.
    arrows: Vec<Arrow>,
    /// Number of documents without the limit.
    n_all_nodes: usize,
    /// Number of edges without the limit.
    n_all_edges: usize,
}

/// All references from one document to another.
struct Arrow {
    from: DocId,
    to: DocId,
    /// Relations, strongest first; never empty.
    relations: BTreeSet<Relation>,
    /// True if every reference matches other documents too.
    ambiguous: bool,
}

impl<'a> Picture<'a> {
    /// Selects at most `limit` edges between documents: edges of the centre first, then the strongest.
    /// Documents without an edge are drawn only if all edges are.
    pub(super) fn new(
        graph: &'a Graph,
        nodes: &BTreeSet<DocId>,
        centre: Option<DocId>,
        limit: usize,
    ) -> Picture<'a> {
        let mut arrows = arrows(graph, nodes);
        let (n_all_nodes, n_all_edges) = (nodes.len(), arrows.len());
        let mut nodes = nodes.clone();
        if arrows.len() > limit {
            arrows.sort_by_key(|arrow| {
                let is_other = centre.is_some_and(|id| arrow.from != id && arrow.to != id);
                (is_other, arrow.ambiguous, arrow.relations.first().copied(), arrow.from, arrow.to)
            });
            arrows.truncate(limit);
            arrows.sort_by_key(|arrow| (arrow.from, arrow.to));
            nodes = arrows.iter().flat_map(|arrow| [arrow.from, arrow.to]).chain(centre).collect();
        }
        Picture { graph, nodes, arrows, n_all_nodes, n_all_edges }
    }

    /// Returns the number of drawn edges.
    pub(super) fn n_edges(&self) -> usize {
        self.arrows.len()
    }

    /// Returns a note if documents or edges are not drawn.
    pub(super) fn note(&self) -> Option<String> {
        let (n_nodes, n_edges) = (self.nodes.len(), self.arrows.len());
        ((n_nodes, n_edges) != (self.n_all_nodes, self.n_all_edges)).then(|| {
            let edges = counted_of(n_edges, self.n_all_edges, "edge");
            let documents = counted_of(n_nodes, self.n_all_nodes, "document");
            format!("{edges} and {documents} are drawn")
        })
    }
}

/// Merges the references between two documents into an arrow. `superseded by` becomes `supersedes` in
/// the other direction.
fn arrows(graph: &Graph, nodes: &BTreeSet<DocId>) -> Vec<Arrow> {
    let mut pairs: BTreeMap<(DocId, DocId), (BTreeSet<Relation>, bool)> = BTreeMap::new();
    let is_drawn = |id: DocId| nodes.contains(&id);
    for edge in graph.edges.iter().filter(|edge| is_drawn(edge.from) && is_drawn(edge.to)) {
        let (key, relation) = match edge.relation {
            Relation::SupersededBy => ((edge.to, edge.from), Relation::Supersedes),
            relation => ((edge.from, edge.to), relation),
        };
        let (relations, ambiguous) = pairs.entry(key).or_insert((BTreeSet::new(), true));
        relations.insert(relation);
        *ambiguous &= edge.ambiguous;
    }
    let arrow = |((from, to), (relations, ambiguous))| Arrow { from, to, relations, ambiguous };
    pairs.into_iter().map(arrow).collect()
}

impl Arrow {
    fn label(&self) -> String {
        let mut words: Vec<&str> = self.relations.iter().map(|relation| word(*relation)).collect();
        words.dedup();
        let doubt = if self.ambiguous { " (one of several)" } else { "" };
        format!("{}{doubt}", words.join(", "))
    }

    /// Returns true if all references are mentions.
    fn is_faint(&self) -> bool {
        self.relations.first().is_none_or(|relation| *relation == Relation::Mention)
    }
}

fn word(relation: Relation) -> &'static str {
    match relation {
        Relation::Supersedes => "supersedes",
        Relation::SupersededBy => "superseded by",
        Relation::DependsOn => "depends on",
        Relation::Source => "comes from",
        Relation::PlanOf => "plan of",
        Relation::Related => "related to",
        Relation::Link | Relation::Address => "links to",
        Relation::Mention => "mentions",
    }
}

/// Returns the lines of a document's label: id, title and status.
fn label_lines(graph: &Graph, id: DocId) -> [String; 3] {
    let document = graph.document(id);
    let kind = document.kind.as_str().to_uppercase();
    let number = &document.number_text;
    let name = if number.is_empty() { kind } else { format!("{kind} {number}") };
    [clean(&name), clean(&document.title), document.status.to_string()]
}

/// Maximum number of characters of a title.
const MAX_TITLE: usize = 100;

/// Joins the lines of a text, replaces hidden characters and cuts it to [`MAX_TITLE`].
fn clean(text: &str) -> String {
    let mut clean = String::new();
    let hidden = hidden_in(text);
    for (at, c) in text.char_indices().take(MAX_TITLE + 1) {
        match c {
            c if c.is_whitespace() => clean.push(' '),
            _ if hidden.binary_search(&(at, c)).is_ok() => clean.push('\u{FFFD}'),
            c => clean.push(c),
        }
    }
    if let Some((end, _)) = clean.char_indices().nth(MAX_TITLE) {
        clean.truncate(end);
        clean.push('…');
    }
    clean
}

/// Escapes a text for a quoted label of Mermaid. Characters with a special meaning are written as
/// numbers: quotes, tags, directives, Markdown, and the `#` of such numbers.
fn mermaid_text(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            c if c.is_alphanumeric() || !c.is_ascii() || " ,.-()/'?!+".contains(c) => {
                escaped.push(c);
            }
            c => escaped.push_str(&format!("#{};", c as u32)),
        }
    }
    escaped
}

/// Renders a Mermaid diagram.
pub(super) fn mermaid(picture: &Picture<'_>) -> String {
    let graph = picture.graph;
    let mut text = String::from("flowchart LR\n");
    if let Some(note) = picture.note() {
        text += &format!("  %% {note}\n");
    }
    // Names of documents could be keywords of Mermaid, such as `end`, so nodes are numbered.
    for id in &picture.nodes {
        let [name, title, status] = label_lines(graph, *id).map(|line| mermaid_text(&line));
        let class = if graph.is_live(*id) { "" } else { ":::dead" };
        text += &format!("  d{}[\"{name}<br/>{title}<br/>{status}\"]{class}\n", id.0);
    }
    for arrow in &picture.arrows {
        let line = if arrow.is_faint() { "-.->" } else { "-->" };
        text += &format!("  d{} {line}|\"{}\"| d{}\n", arrow.from.0, arrow.label(), arrow.to.0);
    }
    if picture.nodes.iter().any(|id| !graph.is_live(*id)) {
        text += "  classDef dead fill:whitesmoke,stroke:grey,color:grey,stroke-dasharray:4 3\n";
    }
    text
}

/// Escapes a text for a quoted string of DOT.
fn dot_text(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

/// Renders a DOT diagram.
pub(super) fn dot(picture: &Picture<'_>) -> String {
    let graph = picture.graph;
    let mut text = String::from("digraph blue {\n");
    if let Some(note) = picture.note() {
        text += &format!("  // {note}\n");
    }
    text += "  rankdir=LR;\n  node [shape=box];\n";
    let name = |id: DocId| dot_text(graph.document(id).uri.as_str());
    for id in &picture.nodes {
        // Graphviz decodes `&lt;`; an agent that reads the text does not.
        let label = label_lines(graph, *id).map(|line| dot_text(&escape(&line))).join("\\n");
        let dead = match graph.is_live(*id) {
            true => "",
            false => ", style=dashed, color=grey, fontcolor=grey",
        };
        text += &format!("  \"{}\" [label=\"{label}\"{dead}];\n", name(*id));
    }
    for arrow in &picture.arrows {
        let faint = if arrow.is_faint() { ", style=dotted" } else { "" };
        let (from, to, label) = (name(arrow.from), name(arrow.to), dot_text(&arrow.label()));
        text += &format!("  \"{from}\" -> \"{to}\" [label=\"{label}\"{faint}];\n");
    }
    text + "}\n"
}

/// Renders documents and references as JSON.
pub(super) fn json(picture: &Picture<'_>) -> anyhow::Result<String> {
    let graph = picture.graph;
    let uri = |id: DocId| graph.document(id).uri.as_str();
    let node = |id: &DocId| {
        let document = graph.document(*id);
        let number = Some(&document.number_text).filter(|number| !number.is_empty());
        json!({
            "uri": document.uri.as_str(), "path": document.path, "type": document.kind.as_str(),
            "number": number, "title": escape(&document.title), "status": document.status.as_str(),
            "live": graph.is_live(*id),
        })
    };
    let drawn = |from: DocId, to: DocId| {
        picture.arrows.binary_search_by_key(&(from, to), |arrow| (arrow.from, arrow.to)).is_ok()
    };
    let edges = graph.edges.iter().filter(|edge| match edge.relation {
        Relation::SupersededBy => drawn(edge.to, edge.from),
        _ => drawn(edge.from, edge.to),
    });
    let edges = edges.map(|edge| {
        json!({
            "from": uri(edge.from), "to": uri(edge.to), "relation": edge.relation.as_str(),
            "line": edge.line, "count": edge.count, "ambiguous": edge.ambiguous,
        })
    });
    let value = json!({
        "nodes": picture.nodes.iter().map(node).collect::<Vec<_>>(),
        "edges": edges.collect::<Vec<_>>(),
        "not_drawn": {
            "nodes": picture.n_all_nodes - picture.nodes.len(),
            "edges": picture.n_all_edges - picture.arrows.len(),
        },
    });
    Ok(format!("{}\n", serde_json::to_string_pretty(&value)?))
}
