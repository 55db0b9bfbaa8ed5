//! `blue knowledge graph`: documents and their references, as a drawing.

use std::collections::BTreeSet;
use std::path::Path;

use clap::{Args, ValueEnum};

use super::draw::{self, Picture};
use super::lint::look;
use super::{Exit, output, project};
use crate::model::{DocId, Document, Graph, ShortId};

/// The flags of `blue knowledge graph`.
#[derive(Args, Debug)]
pub(super) struct Draw {
    /// A collection or type (adrs), or a document by address, path or id; default: everything.
    about: Option<String>,
    /// How it is written.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// How many references away from the document.
    #[arg(long, value_name = "N", default_value_t = 1)]
    depth: usize,
    /// At most so many edges, the most telling first; default: 500 for mermaid, which draws no more.
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
}

#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
enum Format {
    /// For Markdown: GitHub and most viewers draw it.
    #[default]
    Mermaid,
    /// For Graphviz.
    Dot,
    /// For programs: every reference with its line and count.
    Json,
}

/// What Mermaid draws unless it is configured otherwise: edges, and characters of text.
const MAX_EDGES: usize = 500;
const MAX_TEXT: usize = 50_000;

/// What is to be drawn.
enum About {
    All,
    Collection(BTreeSet<usize>),
    Document(DocId),
}

impl Draw {
    pub(super) fn run(&self, directory: &Path) -> anyhow::Result<Exit> {
        let folder = project::find(directory)?;
        let root = project::open(&folder)?;
        let graph = look(&root)?.0.graph;
        let about = match &self.about {
            Some(text) => found(&graph, text)?,
            None => About::All,
        };
        let (nodes, centre) = match about {
            About::All => (graph.ids().collect(), None),
            About::Collection(rows) => {
                let within = |id: &DocId| rows.contains(&graph.document(*id).collection);
                (graph.ids().filter(within).collect(), None)
            }
            About::Document(id) => (around(&graph, id, self.depth), Some(id)),
        };
        let (text, picture) = self.drawn(&graph, &nodes, centre)?;
        output::out(&text)?;
        if let Some(note) = picture.note() {
            output::say(&format!(
                "blue: {note}\nhint: draw a collection or one document, use --format dot, or set --limit"
            ));
        }
        Ok(Exit::Done)
    }

    fn drawn<'a>(
        &self,
        graph: &'a Graph,
        nodes: &BTreeSet<DocId>,
        centre: Option<DocId>,
    ) -> anyhow::Result<(String, Picture<'a>)> {
        let mermaid = self.format == Format::Mermaid;
        let mut limit = self.limit.unwrap_or(if mermaid { MAX_EDGES } else { usize::MAX });
        loop {
            let picture = Picture::new(graph, nodes, centre, limit);
            let text = match self.format {
                Format::Mermaid => draw::mermaid(&picture),
                Format::Dot => draw::dot(&picture),
                Format::Json => draw::json(&picture)?,
            };
            // Whoever sets a limit knows what their viewer takes.
            let fits = !mermaid || self.limit.is_some() || text.len() <= MAX_TEXT;
            if fits || limit == 0 {
                return Ok((text, picture));
            }
            limit = limit.min(picture.n_edges()) * 4 / 5;
        }
    }
}

/// The documents within some references of one, whichever way these lead.
fn around(graph: &Graph, centre: DocId, depth: usize) -> BTreeSet<DocId> {
    let mut reached = BTreeSet::from([centre]);
    for _ in 0..depth {
        let ends = graph.edges.iter().flat_map(|edge| {
            let (from, to) = (reached.contains(&edge.from), reached.contains(&edge.to));
            (from != to).then_some(if from { edge.to } else { edge.from })
        });
        let more: Vec<DocId> = ends.collect();
        if more.is_empty() {
            break;
        }
        reached.extend(more);
    }
    reached
}

/// What a text means: a collection, a type, or one document.
fn found(graph: &Graph, text: &str) -> anyhow::Result<About> {
    let bare = text.strip_prefix("blue://").unwrap_or(text);
    let bare = bare.strip_prefix("docs/").filter(|_| bare != text).unwrap_or(bare);
    let group = bare.trim_end_matches('/');
    let rows = graph.collections.iter().enumerate();
    let rows = rows.filter(|(_, known)| known.name == group || known.kind.as_str() == group);
    let rows: BTreeSet<usize> = rows.map(|(row, _)| row).collect();
    if !rows.is_empty() {
        return Ok(About::Collection(rows));
    }
    let path = text.trim_start_matches("./");
    let exact = graph.ids().find(|id| {
        let document = graph.document(*id);
        document.path == path || document.uri.as_str() == text
    });
    if let Some(id) = exact {
        return Ok(About::Document(id));
    }
    let several = by_id(graph, bare);
    match several.as_slice() {
        [one] => Ok(About::Document(*one)),
        [] => anyhow::bail!(
            "{text:?} is no collection and no document\nhint: run `blue knowledge list`"
        ),
        several => {
            let uris = several.iter().take(6).map(|id| graph.document(*id).uri.to_string());
            let uris: Vec<String> = uris.collect();
            anyhow::bail!("{text:?} fits several documents\nhint: say which: {}", uris.join(", "))
        }
    }
}

/// The documents of an id: `adr/5`, `ADR 5`, `adr-0005`, `5`, `0005-slug`.
fn by_id(graph: &Graph, text: &str) -> Vec<DocId> {
    let fitting = |group: Option<&str>, id: &str| -> Vec<DocId> {
        let Some(wanted) = ShortId::new(id) else { return Vec::new() };
        let of_group = |document: &Document| {
            let collection = &graph.collections[document.collection];
            group.is_none_or(|group| {
                collection.name == group
                    || document.kind.as_str() == group
                    || collection.series.iter().any(|series| series == group)
            })
        };
        let fits = |id: &DocId| {
            let document = graph.document(*id);
            of_group(document)
                && wanted.matches(document.number.as_ref(), &document.slug, document.is_plan)
        };
        graph.ids().filter(fits).collect()
    };
    let lower = text.to_lowercase();
    let grouped = lower.split_once(['/', ' ', '-', '#']);
    let grouped = grouped.map(|(group, id)| fitting(Some(group), id.trim()));
    grouped.filter(|found| !found.is_empty()).unwrap_or_else(|| fitting(None, text))
}
