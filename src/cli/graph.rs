//! `blue knowledge graph`: draws documents and their references.

use std::collections::BTreeSet;
use std::path::Path;

use clap::{Args, ValueEnum};

use super::graph_formats::{self, Picture};
use super::lint::survey;
use super::{Exit, output, project};
use crate::model::{DocId, Document, Graph, ShortId};

/// The flags of `blue knowledge graph`.
#[derive(Args, Debug)]
pub(super) struct GraphArgs {
    /// Collection or type (adrs), or address, path or id of a document [default: all documents]
    about: Option<String>,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: GraphFormat,
    /// Follow at most N references from the document
    #[arg(long, value_name = "N", default_value_t = 1)]
    depth: usize,
    /// Draw at most N edges, the strongest first [default: 500 for mermaid, which draws no more]
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
}

#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
enum GraphFormat {
    /// Mermaid, which GitHub and most Markdown viewers draw
    #[default]
    Mermaid,
    /// DOT, for Graphviz
    Dot,
    /// JSON: every reference with its line and count
    Json,
}

/// Default limits of Mermaid: edges, and characters of text.
const MAX_EDGES: usize = 500;
const MAX_TEXT: usize = 50_000;

/// The documents to draw.
enum Selected {
    All,
    Collection(BTreeSet<usize>),
    Document(DocId),
}

impl GraphArgs {
    pub(super) fn run(&self, directory: &Path) -> anyhow::Result<Exit> {
        let folder = project::find(directory)?;
        let root = project::open(&folder)?;
        let graph = survey(&root)?.0.graph;
        let selected = match &self.about {
            Some(text) => select(&graph, text)?,
            None => Selected::All,
        };
        let (nodes, centre) = match selected {
            Selected::All => (graph.ids().collect(), None),
            Selected::Collection(rows) => {
                let is_selected = |id: &DocId| rows.contains(&graph.document(*id).collection);
                (graph.ids().filter(is_selected).collect(), None)
            }
            Selected::Document(id) => (around(&graph, id, self.depth), Some(id)),
        };
        let (text, picture) = self.draw(&graph, &nodes, centre)?;
        output::out(&text)?;
        if let Some(note) = picture.note() {
            output::say(&format!(
                "blue: {note}\nhint: draw a collection or one document, use --format dot, or set --limit"
            ));
        }
        Ok(Exit::Done)
    }

    fn draw<'a>(
        &self,
        graph: &'a Graph,
        nodes: &BTreeSet<DocId>,
        centre: Option<DocId>,
    ) -> anyhow::Result<(String, Picture<'a>)> {
        let mermaid = self.format == GraphFormat::Mermaid;
        let mut limit = self.limit.unwrap_or(if mermaid { MAX_EDGES } else { usize::MAX });
        loop {
            let picture = Picture::new(graph, nodes, centre, limit);
            let text = match self.format {
                GraphFormat::Mermaid => graph_formats::mermaid(&picture),
                GraphFormat::Dot => graph_formats::dot(&picture),
                GraphFormat::Json => graph_formats::json(&picture)?,
            };
            // If the user sets a limit, the length of the text does not matter.
            let fits = !mermaid || self.limit.is_some() || text.len() <= MAX_TEXT;
            if fits || limit == 0 {
                return Ok((text, picture));
            }
            limit = limit.min(picture.n_edges()) * 4 / 5;
        }
    }
}

/// Returns the documents within `depth` references of a document, in either direction.
fn around(graph: &Graph, centre: DocId, depth: usize) -> BTreeSet<DocId> {
    let mut reached = BTreeSet::from([centre]);
    for _ in 0..depth {
        let ends = graph.edges.iter().flat_map(|edge| {
            let (from, to) = (reached.contains(&edge.from), reached.contains(&edge.to));
            (from != to).then_some(if from { edge.to } else { edge.from })
        });
        let new: Vec<DocId> = ends.collect();
        if new.is_empty() {
            break;
        }
        reached.extend(new);
    }
    reached
}

/// Finds a collection, a type or a document by name, address, path or id.
fn select(graph: &Graph, text: &str) -> anyhow::Result<Selected> {
    let bare = text.strip_prefix("blue://").unwrap_or(text);
    let bare = bare.strip_prefix("docs/").filter(|_| bare != text).unwrap_or(bare);
    let group = bare.trim_end_matches('/');
    let rows = graph.collections.iter().enumerate();
    let rows = rows.filter(|(_, row)| row.name == group || row.kind.as_str() == group);
    let rows: BTreeSet<usize> = rows.map(|(row, _)| row).collect();
    if !rows.is_empty() {
        return Ok(Selected::Collection(rows));
    }
    let path = text.trim_start_matches("./");
    let exact = graph.ids().find(|id| {
        let document = graph.document(*id);
        document.path == path || document.uri.as_str() == text
    });
    if let Some(id) = exact {
        return Ok(Selected::Document(id));
    }
    match by_id(graph, bare).as_slice() {
        [id] => Ok(Selected::Document(*id)),
        [] => anyhow::bail!(
            "{text:?} is neither a collection nor a document\nhint: run `blue knowledge list`"
        ),
        several => {
            let uris = several.iter().take(6).map(|id| graph.document(*id).uri.to_string());
            let uris: Vec<String> = uris.collect();
            anyhow::bail!(
                "{text:?} matches several documents\nhint: name one of {}",
                uris.join(", ")
            )
        }
    }
}

/// Returns the documents that match an id: `adr/5`, `ADR 5`, `adr-0005`, `5`, `0005-slug`.
fn by_id(graph: &Graph, text: &str) -> Vec<DocId> {
    let find = |group: Option<&str>, id: &str| -> Vec<DocId> {
        let Some(wanted) = ShortId::new(id) else { return Vec::new() };
        let is_in_group = |document: &Document| {
            let collection = &graph.collections[document.collection];
            group.is_none_or(|group| {
                collection.name == group
                    || document.kind.as_str() == group
                    || collection.series.iter().any(|series| series == group)
            })
        };
        let matches = |id: &DocId| {
            let document = graph.document(*id);
            is_in_group(document)
                && wanted.matches(document.number.as_ref(), &document.slug, document.is_plan)
        };
        graph.ids().filter(matches).collect()
    };
    let lower = text.to_lowercase();
    let grouped = lower.split_once(['/', ' ', '-', '#']);
    let grouped = grouped.map(|(group, id)| find(Some(group), id.trim()));
    grouped.filter(|found| !found.is_empty()).unwrap_or_else(|| find(None, text))
}
