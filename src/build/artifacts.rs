//! Renders the artifacts of a build: digests of collections, bundles and indexes.

use std::collections::BTreeMap;

use serde::Serialize;

use super::choice::Choice;
use super::{Corpus, bundles, session, workflow};
use crate::condense::{self, FitError, tokens};
use crate::model::artifact::content_digest;
use crate::model::escape::escape_line;
use crate::model::layout::{DOCUMENTS, PATHS, RELEVANCE, digest_path};
use crate::model::{
    Action, Allowance, Artifact, Budget, Bundle, Collection, Diagnostic, Digest, DocId, Format,
    Graph, Hasher, Listener, Plan,
};
use crate::render::view;
use crate::wire::header::{self, Provenance};
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
            built.push(collection_digest(corpus, collection, &ids, current)?);
        }
    }
    built.extend(session::session(corpus, current, notes)?);
    built.extend(workflow::bundles(corpus, current)?);
    built.push(bundles::index(corpus, &built, current)?);
    let (documents, relevance) =
        rayon::join(|| documents(corpus, current), || relevance(corpus, current));
    built.extend([documents, relevance, paths(corpus, current)]);
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

/// Returns the budget of a collection's digest: that of tier 1 if the collection is a source of tier 1,
/// else that of tier 3.
pub(super) fn budget_of(plan: &Plan, collection: &Collection) -> Budget {
    let is_source =
        plan.identity.sources.iter().any(|source| session::means_collection(source, collection));
    if is_source { plan.identity.budget } else { plan.reference.budget }
}

#[derive(Serialize)]
struct DigestView {
    project: Option<String>,
    collection: String,
    uri: String,
    n_live: usize,
    n_documents: usize,
    entries: Vec<view::Entry>,
    hidden: Option<view::Hidden>,
    history: Vec<view::Entry>,
    hidden_history: Option<view::Hidden>,
}

fn collection_digest(
    corpus: &Corpus<'_>,
    row: usize,
    ids: &[DocId],
    current: &CurrentArtifacts,
) -> anyhow::Result<BuiltArtifact> {
    let Corpus { inputs, graph, .. } = corpus;
    let collection = &graph.collections[row];
    let path = digest_path(&collection.name);
    let budget = budget_of(&inputs.plan, collection);
    let source = source_line(&collection.globs, ids.len());
    let choice = Choice::new(corpus, ids, &budget);
    let mut action = Action::new();
    action.add_fact("template", inputs.templates.digest("digest.md").as_bytes());
    action.add_fact("project", inputs.plan.project.as_deref().unwrap_or_default().as_bytes());
    action.add_fact("budget", format!("{budget:?}").as_bytes());
    action.add_fact("source", source.as_bytes());
    action.add_fact("kind", collection.kind.as_str().as_bytes());
    choice.add_facts(graph, &mut action);
    inputs.plan.allowance.add_facts(&mut action);
    BuiltArtifact::unless_current(&path, action, current, |action| {
        let uri = format!("blue://docs/{}/", collection.name);
        let longer = choice.longer(corpus)?;
        let mut render = |bundle: &Bundle| {
            let (entries, history) = view::entries(graph, &longer, bundle);
            let hidden = choice.hidden(graph, bundle, &uri);
            let hidden_history = choice.hidden_history(graph, bundle, &uri);
            inputs.templates.render(
                "digest.md",
                &DigestView {
                    project: inputs.plan.project.as_deref().map(escape_line),
                    collection: collection.name.clone(),
                    uri: uri.clone(),
                    n_live: ids.iter().filter(|id| graph.is_live(**id)).count(),
                    n_documents: ids.len(),
                    entries,
                    hidden,
                    history,
                    hidden_history,
                },
            )
        };
        let rest = less_header(&budget, &source);
        let fitted = fit(&path, "digest.md", &choice.candidates, &rest, &mut render)?;
        let tokens = fitted.tokens + (budget.tokens - rest.tokens);
        let uri = format!("blue://knowledge/{}", collection.name);
        Ok(Artifact {
            tokens,
            ..Artifact::new(
                &path,
                &uri,
                Format::Markdown,
                source,
                vec![fitted.text.into_bytes()],
                action.digest(),
            )
        })
    })
}

/// Fits a text to a budget. The error says which budget is too small for which template.
pub(super) fn fit(
    path: &str,
    template: &str,
    candidates: &[crate::model::Candidate],
    budget: &Budget,
    render: &mut dyn FnMut(&Bundle) -> Result<String, crate::render::TemplateError>,
) -> anyhow::Result<condense::Fitted> {
    match condense::fit(candidates, budget, render) {
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
    let name = template.trim_end_matches(".md");
    anyhow::ensure!(
        whole,
        ".blue/templates/{template}: a bundle is one tag named blue-…, by which agents and hooks know it\nhint: begin it with <blue-{name} inputs=\"{{{{ inputs }}}}\"> and end it with </blue-{name}>"
    );
    Ok(())
}

/// Subtracts the provenance header from a budget. Its dates are not known yet, but have a fixed length.
fn less_header(budget: &Budget, source: &str) -> Budget {
    let provenance = Provenance {
        generated: Some("2026-01-25T12:00:00Z".to_string()),
        commit: Some("0a1b2c3d4e5f".to_string()),
    };
    let header = header::header(Format::Markdown, &provenance, source);
    // The twelve digits of a commit take at most twelve tokens.
    let tokens = tokens::count(&header) + 8;
    let (tokens, bytes) =
        (budget.tokens.saturating_sub(tokens), budget.bytes.saturating_sub(header.len() as u64));
    Budget { tokens, bytes, ..*budget }
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
