//! Renders the artifacts of a build: digests of collections, bundles and indexes.

use std::collections::BTreeMap;

use super::{Corpus, bundles, digest, knowledge, responsibilities, session, targets, workflow};
use crate::condense::{self, FitError, Order};
use crate::model::artifact::content_digest;
use crate::model::layout::{DOCUMENTS, PATHS, RELEVANCE};
use crate::model::{
    Action, Allowance, Artifact, Budget, Bundle, Candidate, Diagnostic, Digest, DocId, Format,
    Graph, Hasher, Listener,
};
use crate::wire::manifest::ManifestEntry;
use crate::wire::{jsonl, paths};

/// Artifacts on disk that are exactly what the manifest lists, by path.
pub(super) type CurrentArtifacts = BTreeMap<String, ManifestEntry>;

/// One artifact with the facts that decide it.
pub(super) struct BuiltArtifact {
    pub(super) path: String,
    pub(super) action: Action,
    /// `None` if the artifact on disk was decided by the same facts, so that it need not be rendered.
    pub(super) artifact: Option<Artifact>,
}

/// Renders all artifacts except the manifest, in the order they are written.
pub(super) fn render(
    corpus: &Corpus<'_>,
    current: &CurrentArtifacts,
    notes: &mut Vec<Diagnostic>,
) -> anyhow::Result<Vec<BuiltArtifact>> {
    let graph = &corpus.graph;
    let mut built = Vec::new();
    for collection in 0..graph.collections.len() {
        let ids: Vec<DocId> = graph.of_collection(collection).collect();
        if ids.iter().any(|id| graph.is_live(*id)) {
            built.push(digest::collection_digest(corpus, collection, &ids, current)?);
        }
    }
    built.extend(session::session(corpus, current, notes)?);
    built.extend(knowledge::bundle(corpus, current)?);
    built.extend(workflow::bundles(corpus, current)?);
    built.extend(responsibilities::artifacts(corpus, current, notes)?);
    built.push(bundles::index(corpus, &built, current)?);
    let (documents, relevance) =
        rayon::join(|| documents(corpus, current), || relevance(corpus, current));
    built.extend([documents, relevance, paths(corpus, current)]);
    let for_agents = targets::artifacts(corpus, &built, current)?;
    built.extend(for_agents);
    Ok(built)
}

impl BuiltArtifact {
    /// Renders an artifact unless the one on disk was decided by the same facts.
    pub(super) fn unless_current(
        path: &str,
        action: Action,
        current: &CurrentArtifacts,
        render: impl FnOnce(&Action) -> anyhow::Result<Artifact>,
    ) -> anyhow::Result<BuiltArtifact> {
        let is_current =
            current.get(path).is_some_and(|known| known.action == action.digest().to_string());
        let artifact = if is_current { None } else { Some(render(&action)?) };
        Ok(BuiltArtifact { path: path.to_string(), action, artifact })
    }
}

/// Fits a text to a budget. The error says which budget is too small for which template.
pub(super) fn fit(
    path: &str,
    template: &str,
    (candidates, order): (&[Candidate], Order),
    budget: &Budget,
    render: &mut dyn FnMut(&Bundle) -> Result<String, crate::render::TemplateError>,
) -> anyhow::Result<condense::Fitted> {
    match condense::fit(candidates, order, budget, render) {
        Ok((_, fitted)) => Ok(fitted),
        Err(FitError::Render(error)) => Err(error.into()),
        Err(FitError::FrameTooLarge(fitted)) => anyhow::bail!(
            "{path}: the template {template} alone takes {} tokens and {} bytes; the budget leaves {} and {}\nhint: raise max_tokens in .blue/config.yaml, or shorten the template",
            fitted.tokens,
            fitted.text.len(),
            budget.tokens,
            budget.bytes
        ),
    }
}

/// Checks the wrapper of a bundle, which its template may not change: hooks recognise a bundle by its
/// tag, a complete one by the closing tag, and a current one by the digest in its first line.
pub(super) fn check_wrapper(template: &str, text: &str, inputs: &str) -> anyhow::Result<()> {
    let tag = text.split([' ', '>', '\n']).next().unwrap_or_default();
    let first = text.lines().next().unwrap_or_default();
    let whole = tag.starts_with("<blue-")
        && first.contains(&format!("inputs=\"{inputs}\""))
        && text.ends_with(&format!("\n{}>\n", tag.replace('<', "</")));
    let name = template.trim_end_matches(".md").trim_end_matches("-global");
    anyhow::ensure!(
        whole,
        ".blue/templates/{template}: a bundle is one tag named blue-…, by which agents and hooks know it\nhint: begin it with <blue-{name} inputs=\"{{{{ inputs }}}}\"> and end it with </blue-{name}>"
    );
    Ok(())
}

/// Returns the `Source:` line of a header: places and a count, without characters that could end the
/// header.
pub(super) fn source_line(places: &[String], n_documents: usize) -> String {
    let ends = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    let places: String = places.join(", ").chars().map(|c| if ends(c) { '?' } else { c }).collect();
    let noun = if n_documents == 1 { "document" } else { "documents" };
    format!("{} ({n_documents} {noun})", places.replace("--", "- -"))
}

fn documents(corpus: &Corpus<'_>, current: &CurrentArtifacts) -> BuiltArtifact {
    let Corpus { inputs, graph, ranking, .. } = corpus;
    let weights = &ranking.weights;
    let documents = graph.digest(|hasher, id| {
        let document = graph.document(id);
        hasher.field(document.path.as_bytes()).field(document.uri.as_str().as_bytes());
        hasher.field(document.digest.as_bytes()).field(document.kind.as_str().as_bytes());
        hasher.field(document.sidecar.as_deref().unwrap_or_default().as_bytes());
        hasher.number(u64::from(graph.is_live(id)));
        hasher.number(u64::from(weights[id.0 as usize]));
        for by in &graph.replaced_by[id.0 as usize] {
            hasher.field(graph.document(*by).uri.as_str().as_bytes());
        }
    });
    let mut hasher = Hasher::new();
    inputs.plan.limits.hash_into(hasher.field(documents.as_bytes()));
    let body = || jsonl::documents(graph, weights, &inputs.plan.allowance.hidden_chars());
    index(corpus, DOCUMENTS, "blue://context/documents", hasher.digest(), current, body)
}

/// Renders the relevance index. Its lines are what decides it, so they are always rendered.
fn relevance(corpus: &Corpus<'_>, current: &CurrentArtifacts) -> BuiltArtifact {
    let Corpus { inputs, graph, ranking, .. } = corpus;
    let allowance = &inputs.plan.allowance;
    let body = jsonl::relevance(graph, &ranking.neighbours, &allowance.hidden_chars());
    let source = index_source(graph);
    let hash = content_digest(Format::Jsonl, &source, &body);
    let action = index_action(&source, &hash, allowance);
    let built = BuiltArtifact::unless_current(RELEVANCE, action, current, |action| {
        let (path, uri) = (RELEVANCE.to_string(), "blue://context/relevance".to_string());
        let (format, action) = (Format::Jsonl, action.digest());
        Ok(Artifact { path, uri, format, source, body, tokens: 0, action, hash })
    });
    built.expect("an index is always rendered")
}

fn paths(corpus: &Corpus<'_>, current: &CurrentArtifacts) -> BuiltArtifact {
    let Corpus { graph, bindings, .. } = corpus;
    let mut hasher = Hasher::new();
    for binding in bindings {
        hasher.field(binding.path.as_bytes()).field(binding.kind.as_str().as_bytes());
        hasher.field(graph.document(binding.document).uri.as_str().as_bytes());
        hasher.field(binding.naming.as_str().as_bytes()).number(u64::from(binding.line));
        hasher.number(u64::from(binding.folder_only));
    }
    let body = || vec![paths::paths(graph, bindings)];
    index(corpus, PATHS, "blue://context/paths", hasher.digest(), current, body)
}

fn index(
    corpus: &Corpus<'_>,
    path: &str,
    uri: &str,
    documents: Digest,
    current: &CurrentArtifacts,
    body: impl FnOnce() -> Vec<Vec<u8>>,
) -> BuiltArtifact {
    let source = index_source(&corpus.graph);
    let action = index_action(&source, &documents, &corpus.inputs.plan.allowance);
    let built = BuiltArtifact::unless_current(path, action, current, |action| {
        Ok(Artifact::new(path, uri, Format::Jsonl, source, body(), action.digest()))
    });
    built.expect("an index is always rendered")
}

/// Returns the `Source:` line of an index: all places with documents.
fn index_source(graph: &Graph) -> String {
    let places: Vec<String> =
        graph.collections.iter().flat_map(|collection| collection.globs.clone()).collect();
    source_line(&places, graph.documents.len())
}

fn index_action(source: &str, documents: &Digest, allowance: &Allowance) -> Action {
    let mut action = Action::new();
    action.add_fact("source", source.as_bytes());
    action.add_fact("documents", documents.as_bytes());
    allowance.add_facts(&mut action);
    action
}
