//! The graph to artifacts: digests, the session bundle and the indexes.

use std::collections::BTreeMap;

use serde::Serialize;

use super::choice::Choice;
use super::ranked::Before;
use super::{Analysis, Inputs, bundles, extracts, session, workflow};
use crate::condense::{self, Misfit, tokens};
use crate::model::artifact::content_digest;
use crate::model::layout::{DOCUMENTS, PATHS, RELEVANCE};
use crate::model::neutral::one_line;
use crate::model::{
    Action, Allowance, Artifact, Budget, Bundle, Collection, Diagnostic, Digest, DocId, Format,
    Graph, Hasher, Listener, Plan,
};
use crate::render::view;
use crate::root::Root;
use crate::wire::header::{self, Provenance};
use crate::wire::manifest::Entry;
use crate::wire::{jsonl, paths};

/// Artifacts on disk that are what the manifest says, by path.
pub(super) type Current<'a> = BTreeMap<&'a str, &'a Entry>;

/// What artifacts are made from.
#[derive(Clone, Copy)]
pub(super) struct From<'a> {
    pub(super) root: &'a Root,
    pub(super) inputs: &'a Inputs,
    pub(super) analysis: &'a Analysis,
}

/// One artifact: what decided it, and itself unless it is current.
pub(super) struct Made {
    pub(super) path: String,
    pub(super) action: Action,
    /// `None` if the action is that of the artifact on disk.
    pub(super) artifact: Option<Artifact>,
}

/// Lines of the indexes that are there already; making an artifact uses them up.
pub(super) struct Ready {
    /// Those of the ranking.
    pub(super) told: Vec<Vec<u8>>,
    /// Those of documents, as they were.
    pub(super) before: Option<Before>,
}

impl Ready {
    /// Takes them out of an analysis.
    pub(super) fn take(analysis: &mut Analysis) -> Ready {
        let told = std::mem::take(&mut analysis.relevance.told);
        Ready { told, before: analysis.before.take() }
    }
}

/// Everything but the manifest, in the order it is written.
pub(super) fn all(
    from: From<'_>,
    ready: Ready,
    current: &Current<'_>,
    notes: &mut Vec<Diagnostic>,
) -> anyhow::Result<Vec<Made>> {
    let From { inputs, analysis, .. } = from;
    let graph = &analysis.graph;
    let mut made = Vec::new();
    for collection in 0..graph.collections.len() {
        let ids: Vec<DocId> = graph.of_collection(collection).collect();
        if ids.iter().any(|id| graph.is_live(*id)) {
            made.push(digest(&from, collection, &ids, current)?);
        }
    }
    made.extend(session::session(&from, current, notes)?);
    let rfcs = &analysis.rfcs;
    made.extend(workflow::bundles(&from, rfcs, current)?);
    made.push(bundles::index(&from, &made, rfcs, current)?);
    let allowance = &inputs.plan.allowance;
    let (documents, relevance) = rayon::join(
        || documents(inputs, analysis, ready.before, current),
        || match Made::standing(&from, RELEVANCE, current)? {
            Some(made) => anyhow::Ok(made),
            None => Ok(relevance(allowance, graph, ready.told, current)),
        },
    );
    made.extend([documents, relevance?, paths(allowance, analysis, current)]);
    Ok(made)
}

impl Made {
    /// An artifact that is known to be as it was, without asking what decides it. What it would be made
    /// of is not here, so it must lie there.
    pub(super) fn standing(
        from: &From<'_>,
        path: &str,
        current: &Current<'_>,
    ) -> anyhow::Result<Option<Made>> {
        let Some(action) = from.analysis.stands.get(path) else { return Ok(None) };
        let known = current.get(path).map(|known| known.action.clone());
        anyhow::ensure!(known == Some(action.digest().to_string()), extracts::moved(path));
        Ok(Some(Made { path: path.to_string(), action: action.clone(), artifact: None }))
    }

    /// Makes an artifact unless the one on disk was decided by the same facts.
    pub(super) fn unless_current(
        path: &str,
        action: Action,
        current: &Current<'_>,
        make: impl FnOnce(&Action) -> anyhow::Result<Artifact>,
    ) -> anyhow::Result<Made> {
        let same =
            current.get(path).is_some_and(|known| known.action == action.digest().to_string());
        let artifact = if same { None } else { Some(make(&action)?) };
        Ok(Made { path: path.to_string(), action, artifact })
    }
}

/// The budget of a collection's digest: tier 1's if it is a source of tier 1, else tier 3's.
pub(super) fn budget_of(plan: &Plan, collection: &Collection) -> Budget {
    let asked =
        plan.identity.sources.iter().any(|source| session::means_collection(source, collection));
    if asked { plan.identity.budget } else { plan.reference.budget }
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

fn digest(
    from: &From<'_>,
    row: usize,
    ids: &[DocId],
    current: &Current<'_>,
) -> anyhow::Result<Made> {
    let From { inputs, analysis, .. } = from;
    let graph = &analysis.graph;
    let collection = &graph.collections[row];
    let path = format!("knowledge/{}.md", collection.name);
    let budget = budget_of(&inputs.plan, collection);
    let source = source_line(&collection.places, ids.len());
    let choice = Choice::new(from, ids, &budget);
    let mut action = Action::new();
    action.fact("template", inputs.templates.digest("digest.md").as_bytes());
    action.fact("project", inputs.plan.project.as_deref().unwrap_or_default().as_bytes());
    action.fact("budget", format!("{budget:?}").as_bytes());
    action.fact("source", source.as_bytes());
    action.fact("kind", collection.kind.as_str().as_bytes());
    choice.tell(graph, &mut action);
    inputs.plan.allowance.tell(&mut action);
    Made::unless_current(&path, action, current, |action| {
        let uri = format!("blue://docs/{}/", collection.name);
        let longer = choice.longer(from)?;
        let mut tell = |bundle: &Bundle| {
            let (entries, history) = view::entries(graph, &longer, bundle);
            let hidden = choice.hidden(graph, bundle, &uri);
            let hidden_history = choice.hidden_history(graph, bundle, &uri);
            inputs.templates.fill(
                "digest.md",
                &DigestView {
                    project: inputs.plan.project.as_deref().map(one_line),
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
        let room = less_header(&budget, &source);
        let told = fitted(&path, "digest.md", &choice.candidates, &room, &mut tell)?;
        let tokens = told.tokens + (budget.tokens - room.tokens);
        let uri = format!("blue://knowledge/{}", collection.name);
        Ok(Artifact {
            tokens,
            ..Artifact::new(
                &path,
                &uri,
                Format::Markdown,
                source,
                vec![told.text.into_bytes()],
                action.digest(),
            )
        })
    })
}

/// Fits a text, with an error that says which budget is too small for what.
pub(super) fn fitted(
    path: &str,
    template: &str,
    candidates: &[crate::model::Candidate],
    budget: &Budget,
    tell: &mut dyn FnMut(&Bundle) -> Result<String, crate::render::TemplateError>,
) -> anyhow::Result<condense::Fitted> {
    match condense::fit(candidates, budget, tell) {
        Ok((_, told)) => Ok(told),
        Err(Misfit::Telling(error)) => Err(error.into()),
        Err(Misfit::Frame(told)) => anyhow::bail!(
            "{path}: the template {template} alone takes {} tokens and {} bytes; the budget leaves {} and {}\nhint: raise max_tokens in .blue/config.yaml, or shorten the template",
            told.tokens,
            told.text.len(),
            budget.tokens,
            budget.bytes
        ),
    }
}

/// What every bundle must be, whatever its template: hooks know it by its tag, whole by the tag's
/// end, and current by the digest in its first line.
pub(super) fn wrapped(template: &str, text: &str, inputs: &str) -> anyhow::Result<()> {
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

/// A budget less the provenance header, whose dates are not known yet but always as long.
fn less_header(budget: &Budget, source: &str) -> Budget {
    let provenance = Provenance {
        generated: Some("2026-01-25T12:00:00Z".to_string()),
        commit: Some("0a1b2c3d4e5f".to_string()),
    };
    let header = header::header(Format::Markdown, &provenance, source);
    // Twelve digits of a commit take at most twelve tokens, whichever they are.
    let tokens = tokens::count(&header) + 8;
    let (tokens, bytes) =
        (budget.tokens.saturating_sub(tokens), budget.bytes.saturating_sub(header.len() as u64));
    Budget { tokens, bytes, ..*budget }
}

/// `Source:` of a header: places and a count, with nothing in it that could end the header.
pub(super) fn source_line(places: &[String], n_documents: usize) -> String {
    let ends = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    let places: String = places.join(", ").chars().map(|c| if ends(c) { '?' } else { c }).collect();
    let noun = if n_documents == 1 { "document" } else { "documents" };
    format!("{} ({n_documents} {noun})", places.replace("--", "- -"))
}

fn documents(
    inputs: &Inputs,
    analysis: &Analysis,
    before: Option<Before>,
    current: &Current<'_>,
) -> Made {
    let graph = &analysis.graph;
    let weights = &analysis.relevance.weights;
    let told = graph.digest(|hasher, id| {
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
    let mut told_with_limits = Hasher::new();
    inputs.plan.limits.tell(told_with_limits.field(told.as_bytes()));
    let allowance = &inputs.plan.allowance;
    let body = || match before.map(Before::parts) {
        Some((index, changed)) => {
            let before = (index, changed.as_slice());
            vec![jsonl::documents_again(graph, weights, before, &allowance.kept())]
        }
        None => jsonl::documents(graph, weights, &allowance.kept()),
    };
    let told = (told_with_limits.digest(), allowance);
    index(DOCUMENTS, "blue://context/documents", graph, told, current, body)
}

/// The lines of the ranking; they are what decides the index, so they are hashed but once.
fn relevance(
    allowance: &Allowance,
    graph: &Graph,
    told: Vec<Vec<u8>>,
    current: &Current<'_>,
) -> Made {
    let source = index_source(graph);
    let hash = content_digest(Format::Jsonl, &source, &told);
    let action = index_action(&source, &hash, allowance);
    let made = Made::unless_current(RELEVANCE, action, current, |action| {
        let (path, uri) = (RELEVANCE.to_string(), "blue://context/relevance".to_string());
        let (format, action) = (Format::Jsonl, action.digest());
        Ok(Artifact { path, uri, format, source, body: told, tokens: 0, action, hash })
    });
    made.expect("an index cannot fail to be made")
}

fn paths(allowance: &Allowance, analysis: &Analysis, current: &Current<'_>) -> Made {
    let graph = &analysis.graph;
    let mut hasher = Hasher::new();
    for binding in &analysis.bindings {
        hasher.field(binding.path.as_bytes()).field(binding.kind.as_str().as_bytes());
        hasher.field(graph.document(binding.document).uri.as_str().as_bytes());
        hasher.field(binding.naming.as_str().as_bytes()).number(u64::from(binding.line));
    }
    let body = || vec![paths::paths(graph, &analysis.bindings)];
    index(PATHS, "blue://context/paths", graph, (hasher.digest(), allowance), current, body)
}

fn index(
    path: &str,
    uri: &str,
    graph: &Graph,
    (documents, allowance): (Digest, &Allowance),
    current: &Current<'_>,
    body: impl FnOnce() -> Vec<Vec<u8>>,
) -> Made {
    let source = index_source(graph);
    let action = index_action(&source, &documents, allowance);
    let made = Made::unless_current(path, action, current, |action| {
        Ok(Artifact::new(path, uri, Format::Jsonl, source, body(), action.digest()))
    });
    made.expect("an index cannot fail to be made")
}

/// `Source:` of an index: every place that documents were found in.
fn index_source(graph: &Graph) -> String {
    let places: Vec<String> =
        graph.collections.iter().flat_map(|collection| collection.places.clone()).collect();
    source_line(&places, graph.documents.len())
}

fn index_action(source: &str, documents: &Digest, allowance: &Allowance) -> Action {
    let mut action = Action::new();
    action.fact("source", source.as_bytes());
    action.fact("documents", documents.as_bytes());
    allowance.tell(&mut action);
    action
}
