//! Lines of `documents.jsonl`, `relevance.jsonl` and `bundles.jsonl`.

use std::borrow::Cow;

use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::escape::escape_except;
use crate::model::{DocId, Graph, Neighbour};

/// One document.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(title = "line of documents.jsonl")]
pub struct DocumentLine {
    /// The lasting address.
    pub uri: String,
    /// Path below the root.
    pub path: String,
    /// The file beside it that holds its metadata.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sidecar: Option<String>,
    /// Type: adr, rfc, …
    #[serde(rename = "type")]
    pub kind: String,
    /// Number as written in its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<String>,
    /// Its title, without number and type.
    pub title: String,
    /// Status, normalized.
    pub status: String,
    /// Status as written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status_text: Option<String>,
    /// True if it is in force.
    pub live: bool,
    /// Documents that replace it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replaced_by: Vec<String>,
    /// Its date, as stated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// The digest of its content.
    pub hash: String,
    /// Its size.
    pub bytes: u64,
    /// Size of the text that an agent receives, if it differs: hidden characters are made visible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub served: Option<u64>,
    /// Its tokens, estimated from its size: within a quarter for nearly all documents.
    pub tokens: u64,
    /// Importance by references of other documents; larger is more important.
    pub weight: u32,
    /// One sentence of it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub summary: String,
}

/// One document's neighbours.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(title = "line of relevance.jsonl")]
pub struct RelevanceLine {
    /// The document.
    pub uri: String,
    /// Neighbours, most relevant first.
    pub neighbours: Vec<NeighbourLine>,
}

/// One neighbour.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct NeighbourLine {
    /// Its address.
    pub uri: String,
    /// Relevance; larger is more relevant.
    pub score: u32,
    /// Reasons, strongest first.
    pub reasons: Vec<String>,
}

/// One bundle that a hook can deliver.
///
/// Hooks are shell scripts: they find a line by the text of its keys, and copy everything after
/// `inputs` into the audit log. So the order of the keys is part of the format.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(title = "line of bundles.jsonl")]
pub struct BundleLine {
    /// Names in branches and worktrees that mean it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// Condition for delivering it again in the same session: `on_change` or `on_request`.
    pub refresh: RefreshPolicy,
    /// Events after which it is checked for changes, from the configuration.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub triggers: Vec<String>,
    /// The state of the work that it is about, as data: its text follows a template that a project
    /// can replace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work: Option<WorkLine>,
    /// Digest in the first line of the bundle, which identifies it.
    pub inputs: String,
    /// Its address.
    pub source: String,
    /// Path below the root.
    pub artifact: String,
    /// The digest of its bytes.
    pub content_hash: String,
    /// Its tokens.
    pub tokens: u64,
    /// Its size.
    pub bytes: u64,
}

impl BundleLine {
    /// Returns true if a branch or a worktree with this name means it.
    pub fn has_name(&self, name: &str) -> bool {
        self.names.iter().any(|alias| alias == name)
    }
}

/// Name of the bundle that is the current work if no branch or worktree names one. Hooks look it up.
/// After a prefix it means that branches with this prefix name another. git allows no branch with this
/// character.
pub const ONLY_WORK: &str = "*";

/// The state of the work that an RFC or one of its plans asks for.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct WorkLine {
    /// The address of the RFC or the plan.
    pub uri: String,
    /// Its path below the root.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub path: String,
    /// Type, number and title of the RFC; not given for a plan.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub head: String,
    /// Status of the RFC, folded to one small set; not given for a plan.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub status: String,
    /// The phase as stated, or the first that has an open task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// Number of tasks that are done.
    pub n_done: u64,
    /// Number of tasks that are open.
    pub n_open: u64,
    /// The first open tasks, at most 20.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open: Vec<String>,
    /// The first success criteria of the RFC, at most 20.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub criteria: Vec<String>,
    /// The addresses of the documents that the RFC depends on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends: Vec<String>,
    /// The plans of the RFC.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub plans: Vec<WorkLine>,
}

/// Condition for delivering a bundle again in the same session.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RefreshPolicy {
    /// Only at the start of a session.
    SessionStart,
    /// Also when its content changed.
    OnChange,
    /// Only on request.
    OnRequest,
}

/// The first line of every emitted JSONL file.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(title = "first line of an emitted JSONL file")]
pub struct ProvenanceLine {
    /// The date of `commit`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generated: Option<String>,
    /// Sources of the file.
    pub source: String,
    /// HEAD when the content last changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Command that rebuilds it.
    pub regenerate: String,
}

/// Renders the body of `bundles.jsonl`.
pub fn bundles(lines: &[BundleLine]) -> Vec<u8> {
    let mut bytes = Vec::new();
    lines.iter().for_each(|line| push_line(&mut bytes, line));
    bytes
}

/// Renders the body of `documents.jsonl` in parts: a line per document. `allowed` are hidden
/// characters that documents may contain.
pub fn documents(graph: &Graph, weights: &[u32], allowed: &str) -> Vec<Vec<u8>> {
    in_parts(graph, 512, |id, bytes| push_line(bytes, &document_row(graph, weights, id, allowed)))
}

/// Parts of an index that are rendered in parallel.
const MAX_PARTS: usize = 64;

/// A [`RelevanceLine`] to write.
#[derive(Serialize)]
struct RelevanceRow<'a> {
    uri: &'a str,
    neighbours: Vec<NeighbourRow<'a>>,
}

#[derive(Serialize)]
struct NeighbourRow<'a> {
    uri: &'a str,
    score: u32,
    reasons: Vec<String>,
}

/// Renders the body of `relevance.jsonl` in parts: a line per document.
pub fn relevance(graph: &Graph, neighbours: &[Vec<Neighbour>], allowed: &str) -> Vec<Vec<u8>> {
    in_parts(graph, 2_048, |id, bytes| {
        let neighbours = neighbours[id.0 as usize].iter().map(|neighbour| NeighbourRow {
            uri: graph.document(neighbour.id).uri.as_str(),
            score: neighbour.score,
            reasons: neighbour
                .reasons
                .iter()
                .map(|reason| escape_except(&reason.text(graph), allowed).into_owned())
                .collect(),
        });
        let uri = graph.document(id).uri.as_str();
        push_line(bytes, &RelevanceRow { uri, neighbours: neighbours.collect() });
    })
}

/// Renders a line per document in parallel. `n_bytes` is the usual size of a line.
fn in_parts(
    graph: &Graph,
    n_bytes: usize,
    render: impl Fn(DocId, &mut Vec<u8>) + Sync,
) -> Vec<Vec<u8>> {
    let ids: Vec<DocId> = graph.ids().collect();
    let parts = ids.par_chunks(ids.len().div_ceil(MAX_PARTS).max(64)).map(|ids| {
        let mut bytes = Vec::with_capacity(ids.len() * n_bytes);
        ids.iter().for_each(|id| render(*id, &mut bytes));
        bytes
    });
    parts.collect()
}

fn push_line(bytes: &mut Vec<u8>, line: &impl Serialize) {
    serde_json::to_writer(&mut *bytes, line).expect("a line is JSON");
    bytes.push(b'\n');
}

/// A [`DocumentLine`] to write, which borrows from the graph.
#[derive(Serialize)]
struct DocumentRow<'a> {
    uri: &'a str,
    path: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    sidecar: Option<&'a str>,
    #[serde(rename = "type")]
    kind: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    number: Option<Cow<'a, str>>,
    title: Cow<'a, str>,
    status: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    status_text: Option<Cow<'a, str>>,
    live: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    replaced_by: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    date: Option<Cow<'a, str>>,
    hash: String,
    bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    served: Option<u64>,
    tokens: u64,
    weight: u32,
    #[serde(skip_serializing_if = "str::is_empty")]
    summary: Cow<'a, str>,
}

/// Returns the bundle of the current work: named by the worktree file, else by the branch, else that of
/// the only RFC in progress.
pub fn current_bundle<'a>(
    bundles: &'a [BundleLine],
    named: Option<&str>,
    branch: Option<&str>,
) -> Option<&'a BundleLine> {
    let of_name = |name: &str| bundles.iter().find(|line| line.has_name(name));
    if let Some(name) = named {
        return of_name(name);
    }
    let only = || of_name(ONLY_WORK).filter(|line| !names_another(line, branch));
    branch.and_then(of_name).or_else(only)
}

/// Returns true if a branch has the prefix of branches that name an RFC.
fn names_another(only: &BundleLine, branch: Option<&str>) -> bool {
    let prefixes = only.names.iter().filter_map(|name| name.strip_suffix(ONLY_WORK));
    let mut prefixes = prefixes.filter(|prefix| !prefix.is_empty());
    prefixes.any(|prefix| branch.is_some_and(|branch| branch.starts_with(prefix)))
}

fn document_row<'a>(
    graph: &'a Graph,
    weights: &[u32],
    id: DocId,
    allowed: &str,
) -> DocumentRow<'a> {
    let document = graph.document(id);
    let facts = &document.facts;
    let escape = |text: &'a str| escape_except(text, allowed);
    let non_empty = |text| Some(text).filter(|text: &&str| !text.is_empty()).map(escape);
    let replaced_by = graph.replaced_by[id.0 as usize].iter();
    DocumentRow {
        uri: document.uri.as_str(),
        path: &document.path,
        sidecar: document.sidecar.as_deref(),
        kind: document.kind.as_str(),
        number: non_empty(&document.number_text),
        title: escape(&document.title),
        status: document.status.to_string(),
        status_text: non_empty(&document.status_text),
        live: graph.is_live(id),
        replaced_by: replaced_by.map(|by| graph.document(*by).uri.as_str()).collect(),
        date: document.date.as_deref().and_then(non_empty),
        hash: document.digest.to_string(),
        bytes: facts.n_bytes,
        served: Some(facts.n_served).filter(|served| *served != facts.n_bytes),
        tokens: facts.n_tokens,
        weight: weights[id.0 as usize],
        summary: escape(&facts.line),
    }
}
