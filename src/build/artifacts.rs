//! The graph to artifacts: digests, the session bundle and the indexes.

use std::collections::BTreeMap;

use rayon::prelude::*;
use serde::Serialize;

use super::{Analysis, Inputs, session};
use crate::condense::{self, Misfit, tokens};
use crate::model::place::{DOCUMENTS, RELEVANCE};
use crate::model::{
    Action, Artifact, Budget, Bundle, Collection, Digest, DocId, Format, Graph, Hasher, Level,
    Listener, Plan,
};
use crate::render::view;
use crate::wire::header::{self, Provenance};
use crate::wire::jsonl;

/// Artifacts on disk that are what the manifest says: path to action digest.
pub(super) type Current<'a> = BTreeMap<&'a str, &'a str>;

/// One artifact: what decided it, and itself unless it is current.
pub(super) struct Made {
    pub(super) path: String,
    pub(super) action: Action,
    /// `None` if the action is that of the artifact on disk.
    pub(super) artifact: Option<Artifact>,
}

/// Everything but the manifest, in the order it is written.
pub(super) fn all(
    inputs: &Inputs,
    analysis: &mut Analysis,
    current: &Current<'_>,
) -> anyhow::Result<Vec<Made>> {
    let graph = &analysis.graph;
    let mut made = Vec::new();
    for collection in 0..graph.collections.len() {
        let ids: Vec<DocId> = graph.of_collection(collection).collect();
        if ids.iter().any(|id| graph.is_live(*id)) {
            made.push(digest(inputs, analysis, collection, &ids, current)?);
        }
    }
    let mut notes = Vec::new();
    made.push(session::session(inputs, analysis, current, &mut notes)?);
    made.push(documents(graph, current));
    made.push(relevance(analysis, current));
    analysis.notes.extend(notes);
    Ok(made)
}

impl Made {
    /// Makes an artifact unless the one on disk was decided by the same facts.
    pub(super) fn unless_current(
        path: &str,
        action: Action,
        current: &Current<'_>,
        make: impl FnOnce(&Action) -> anyhow::Result<Artifact>,
    ) -> anyhow::Result<Made> {
        let same = current.get(path).is_some_and(|known| *known == action.digest().to_string());
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
    inputs: &Inputs,
    analysis: &Analysis,
    row: usize,
    ids: &[DocId],
    current: &Current<'_>,
) -> anyhow::Result<Made> {
    let graph = &analysis.graph;
    let collection = &graph.collections[row];
    let path = format!("knowledge/{}.md", collection.name);
    let budget = budget_of(&inputs.plan, collection);
    let source = source_line(&collection.places, ids.len());
    let choice = Choice::new(analysis, ids, &budget);
    let mut action = Action::new();
    action.fact("template", inputs.templates.digest("digest.md").as_bytes());
    action.fact("project", inputs.plan.project.as_deref().unwrap_or_default().as_bytes());
    action.fact("budget", format!("{budget:?}").as_bytes());
    action.fact("source", source.as_bytes());
    action.fact("kind", collection.kind.as_str().as_bytes());
    choice.tell(graph, &budget, &mut action);
    Made::unless_current(&path, action, current, |action| {
        let uri = format!("blue://docs/{}/", collection.name);
        let mut tell = |bundle: &Bundle| {
            let (entries, history) = view::entries(graph, bundle);
            let hidden = choice.hidden(graph, bundle, &uri);
            let hidden_history = choice.hidden_history(graph, bundle, &uri);
            inputs.templates.fill(
                "digest.md",
                &DigestView {
                    project: inputs.plan.project.clone(),
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
                told.text.into_bytes(),
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
) -> anyhow::Result<condense::Told> {
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
    let places: String =
        places.join(", ").chars().map(|c| if c.is_control() { '?' } else { c }).collect();
    let noun = if n_documents == 1 { "document" } else { "documents" };
    format!("{} ({n_documents} {noun})", places.replace("--", "- -"))
}

/// The candidates of a list, and those that no budget could reach.
pub(super) struct Choice {
    pub(super) candidates: Vec<crate::model::Candidate>,
    n_beyond_live: usize,
    n_beyond_history: usize,
    n_live: usize,
    /// Tokens of all live documents, estimated and rounded, so that an edit rarely moves it.
    live_tokens: u64,
    first_live: Option<DocId>,
}

impl Choice {
    pub(super) fn new(analysis: &Analysis, ids: &[DocId], budget: &Budget) -> Choice {
        let graph = &analysis.graph;
        let weight = |id: &DocId| u64::from(analysis.relevance.weights[id.0 as usize]);
        let live = || ids.iter().copied().filter(|id| graph.is_live(*id));
        let mut by_weight: Vec<DocId> = ids.to_vec();
        by_weight.sort_by_key(|id| (!graph.is_live(*id), std::cmp::Reverse(weight(id)), *id));
        // A line of a list costs at least four tokens, so no more than this many can be told.
        let reach = (budget.tokens / 4 + 1) as usize;
        let beyond = by_weight.split_off(by_weight.len().min(reach));
        let n_beyond_live = beyond.iter().filter(|id| graph.is_live(**id)).count();
        let mut candidates: Vec<_> =
            by_weight.iter().map(|id| view::candidate(graph, *id, weight(id))).collect();
        candidates.sort_by_key(|candidate| candidate.id);
        let live_tokens = live().map(|id| graph.document(id).facts.n_tokens).sum();
        Choice {
            candidates,
            n_beyond_live,
            n_beyond_history: beyond.len() - n_beyond_live,
            n_live: live().count(),
            live_tokens: view::rounded(live_tokens),
            first_live: live().next(),
        }
    }

    /// The live documents that a bundle leaves out, those beyond reach included, at their
    /// average size.
    pub(super) fn hidden(&self, graph: &Graph, bundle: &Bundle, uri: &str) -> Option<view::Hidden> {
        let count = bundle.hidden.len() + self.n_beyond_live;
        let tokens = self.live_tokens * count as u64 / self.n_live.max(1) as u64;
        let example = self.first_live?;
        (count > 0).then(|| view::hidden(graph, example, count, tokens, uri))
    }

    /// The documents of history that a bundle leaves out.
    pub(super) fn hidden_history(
        &self,
        graph: &Graph,
        bundle: &Bundle,
        uri: &str,
    ) -> Option<view::Hidden> {
        let count = bundle.hidden_history.len() + self.n_beyond_history;
        let example = self.first_live?;
        (count > 0).then(|| view::hidden(graph, example, count, 0, uri))
    }

    /// Tells everything that can change what is chosen and how it reads: of each candidate the
    /// levels that the budget could reach, and the size of the next one.
    pub(super) fn tell(&self, graph: &Graph, budget: &Budget, action: &mut Action) {
        let mut hasher = Hasher::new();
        for (candidate, level) in
            self.candidates.iter().zip(condense::reach(&self.candidates, budget))
        {
            let document = graph.document(candidate.id);
            hasher.number(candidate.weight).number(u64::from(candidate.history));
            hasher.number(candidate.costs[0]);
            let Some(level) = level else { continue };
            hasher.field(document.uri.as_str().as_bytes()).field(view::head(document).as_bytes());
            hasher.field(view::history(graph, candidate.id).text.as_bytes());
            let next = candidate.next(level).map_or(0, |next| candidate.costs[next as usize]);
            hasher.number(level as u64).number(next);
            for level in
                Level::ALL.into_iter().filter(|told| *told > Level::Title && *told <= level)
            {
                let entry = view::entry(graph, candidate.id, level);
                hasher.field(entry.text.as_bytes()).field(entry.more.as_bytes());
                hasher.number(candidate.costs[level as usize]);
            }
        }
        hasher.number(self.n_beyond_live as u64).number(self.n_beyond_history as u64);
        hasher.number(self.n_live as u64).number(self.live_tokens);
        action.fact("documents", hasher.digest().as_bytes());
    }
}

fn documents(graph: &Graph, current: &Current<'_>) -> Made {
    let told = in_chunks(graph, |hasher, id| {
        let document = graph.document(id);
        hasher.field(document.path.as_bytes()).field(document.uri.as_str().as_bytes());
        hasher.field(document.digest.as_bytes()).field(document.kind.as_str().as_bytes());
        hasher.number(u64::from(graph.is_live(id)));
        for by in &graph.replaced_by[id.0 as usize] {
            hasher.field(graph.document(*by).uri.as_str().as_bytes());
        }
    });
    index(DOCUMENTS, "blue://context/documents", graph, told, current, || jsonl::documents(graph))
}

fn relevance(analysis: &Analysis, current: &Current<'_>) -> Made {
    let graph = &analysis.graph;
    let neighbours = &analysis.relevance.neighbours;
    let told = in_chunks(graph, |hasher, id| {
        hasher.field(graph.document(id).uri.as_str().as_bytes());
        for neighbour in &neighbours[id.0 as usize] {
            hasher.field(graph.document(neighbour.id).uri.as_str().as_bytes());
            hasher.number(u64::from(neighbour.score));
            for reason in &neighbour.reasons {
                hasher.field(reason.as_bytes());
            }
        }
    });
    let body = || jsonl::relevance(graph, neighbours);
    index(RELEVANCE, "blue://context/relevance", graph, told, current, body)
}

/// One digest over what is told of every document, in parallel: chunks of rows are hashed apart
/// and their digests together, so the number of threads does not show.
fn in_chunks(graph: &Graph, tell: impl Fn(&mut Hasher, DocId) + Sync) -> Digest {
    let ids: Vec<DocId> = graph.ids().collect();
    let chunks = ids.par_chunks(512).map(|ids| {
        let mut hasher = Hasher::new();
        ids.iter().for_each(|id| tell(&mut hasher, *id));
        hasher.digest()
    });
    let mut all = Hasher::new();
    for chunk in chunks.collect::<Vec<Digest>>() {
        all.field(chunk.as_bytes());
    }
    all.digest()
}

fn index(
    path: &str,
    uri: &str,
    graph: &Graph,
    documents: Digest,
    current: &Current<'_>,
    body: impl FnOnce() -> Vec<u8>,
) -> Made {
    let mut action = Action::new();
    let places: Vec<String> =
        graph.collections.iter().flat_map(|collection| collection.places.clone()).collect();
    let source = source_line(&places, graph.documents.len());
    action.fact("source", source.as_bytes());
    action.fact("documents", documents.as_bytes());
    let made = Made::unless_current(path, action, current, |action| {
        Ok(Artifact::new(path, uri, Format::Jsonl, source, body(), action.digest()))
    });
    made.expect("an index cannot fail to be made")
}
