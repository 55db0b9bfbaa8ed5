//! The decisions of the session bundle: which documents they are, and how binding each is.

use super::choice::{Choice, Weighted};
use super::{Corpus, Inputs};
use crate::condense::Order;
use crate::model::layout::CONFIG;
use crate::model::{Budget, Code, Collection, Diagnostic, DocId, Graph, ShortId, Status};
use crate::render::view;

/// Returns the documents and the voice that the configuration asks for.
pub(super) fn sources(
    inputs: &Inputs,
    graph: &Graph,
    notes: &mut Vec<Diagnostic>,
) -> (Vec<DocId>, Option<String>) {
    let mut ids = Vec::new();
    let mut voice = None;
    let configured = inputs.files.iter().any(|file| file.path == CONFIG && !file.is_absent());
    for source in &inputs.plan.identity.sources {
        match meaning(graph, source) {
            SourceMeaning::Documents(found) => {
                let short = |id: &DocId| short_means(graph, source, *id);
                if found.len() > 1 && found.iter().all(short) {
                    notes.push(ambiguous(graph, source, &found));
                }
                ids.extend(found);
            }
            SourceMeaning::Voice => voice = inputs.voice.clone(),
            SourceMeaning::Nothing if configured && source != DEFAULT_SOURCE => {
                let message = format!("identity asks for {source}, which is not in this project");
                let hint = "run `blue knowledge list --addresses` to see them";
                notes.push(Diagnostic::new(Code::SourceUnknown, CONFIG, message).hint(hint));
            }
            SourceMeaning::Nothing => {}
        }
    }
    // History is read on demand.
    ids.retain(|id| graph.is_live(*id));
    ids.sort_unstable();
    ids.dedup();
    if ids.is_empty() && inputs.plan.identity.sources.iter().any(|source| source == DEFAULT_SOURCE)
    {
        ids = decided_proposals(graph);
    }
    (ids, voice.filter(|text| !text.trim().is_empty()))
}

/// The source of decisions unless the configuration has another.
const DEFAULT_SOURCE: &str = "blue://docs/adrs/";

/// Returns the documents that are in force in a project without ADRs: proposals that were accepted. A
/// document without a status counts as accepted if most of its collection have none: it was merged.
fn decided_proposals(graph: &Graph) -> Vec<DocId> {
    let decided = |row: usize| {
        let n_documents = graph.of_collection(row).count();
        let is_unstated = |id: &DocId| graph.document(*id).status == Status::Unstated;
        let n_unstated = graph.of_collection(row).filter(is_unstated).count();
        graph.of_collection(row).filter(move |id| match graph.document(*id).status {
            _ if !graph.is_live(*id) || graph.document(*id).facts.moved => false,
            Status::Accepted | Status::Implemented | Status::Active => true,
            Status::Unstated => n_unstated * 2 > n_documents,
            _ => false,
        })
    };
    let rows = (0..graph.collections.len()).filter(|row| has_decisions(graph, *row));
    let mut ids: Vec<DocId> = rows.flat_map(decided).collect();
    ids.sort_unstable();
    ids
}

/// Returns true unless the documents of a collection are records of conversations, or are tasks: by
/// their kind, or because most of their statuses are those of a task list.
fn has_decisions(graph: &Graph, row: usize) -> bool {
    let kind = &graph.collections[row].kind;
    let is_task = |id: &DocId| {
        let status = graph.document(*id).status_text.to_lowercase();
        ["done", "to do", "todo", "doing", "in progress", "backlog"].contains(&status.trim())
    };
    let n_tasks = graph.of_collection(row).filter(is_task).count();
    let n_stated = graph
        .of_collection(row)
        .filter(|id| graph.document(*id).status != Status::Unstated)
        .count();
    !kind.is_work() && !matches!(kind.as_str(), "dialogue" | "note") && n_tasks * 2 <= n_stated
}

/// Returns the finding about a source that fits several documents. All of them are in the bundle.
fn ambiguous(graph: &Graph, source: &str, found: &[DocId]) -> Diagnostic {
    let all: Vec<&str> = found.iter().take(6).map(|id| graph.document(*id).path.as_str()).collect();
    let message = format!(
        "identity asks for {source}, which fits {} documents: {}",
        found.len(),
        all.join(", ")
    );
    let hint = format!("write the address of one, such as {}", graph.document(found[0]).uri);
    Diagnostic::new(Code::Ambiguous, CONFIG, message).hint(hint)
}

/// Meaning of an address among the sources of tier 1.
pub(super) enum SourceMeaning {
    Documents(Vec<DocId>),
    Voice,
    Nothing,
}

/// Returns true if an address means a collection: by its name, or by the plural of its type.
pub(super) fn means_collection(source: &str, collection: &Collection) -> bool {
    let Some(name) = source.strip_prefix("blue://docs/").and_then(|rest| rest.strip_suffix('/'))
    else {
        return false;
    };
    collection.name == name || format!("{}s", collection.kind) == name
}

/// Resolves an address among the sources of tier 1.
pub(super) fn meaning(graph: &Graph, source: &str) -> SourceMeaning {
    if source == "blue://context/voice" {
        return SourceMeaning::Voice;
    }
    if let Some(id) = graph.ids().find(|id| graph.document(*id).uri.as_str() == source) {
        return SourceMeaning::Documents(vec![id]);
    }
    let rows: Vec<usize> = (0..graph.collections.len())
        .filter(|i| means_collection(source, &graph.collections[*i]))
        .collect();
    let ids: Vec<DocId> = graph
        .ids()
        .filter(|id| {
            rows.contains(&graph.document(*id).collection) || short_means(graph, source, *id)
        })
        .collect();
    if ids.is_empty() { SourceMeaning::Nothing } else { SourceMeaning::Documents(ids) }
}

/// Returns true if an address such as `blue://docs/adrs/5` or `blue://adr/5` means a document.
fn short_means(graph: &Graph, source: &str, id: DocId) -> bool {
    let document = graph.document(id);
    let collection = &graph.collections[document.collection];
    let after = |scheme: &str, name: &str| {
        source.strip_prefix(scheme)?.strip_prefix(name)?.strip_prefix('/')
    };
    let short = after("blue://docs/", &collection.name);
    let short = short.or_else(|| after("blue://", document.kind.as_str()));
    let short = short.filter(|short| !short.is_empty()).and_then(ShortId::new);
    short.is_some_and(|id| id.matches(document.number.as_ref(), &document.slug, document.is_plan))
}

/// Returns the decisions that may be listed. Proposals come last, by title only.
pub(super) fn choice(
    corpus: &Corpus<'_>,
    ids: Vec<DocId>,
    list_tokens: u64,
    budget: &Budget,
) -> Choice {
    let graph = &corpus.graph;
    let weights = binding_weights(corpus, &ids);
    let is_decided = |id: &DocId| !graph.document(*id).status.is_proposal();
    // Where nothing is decided yet, the proposals are all there is to list.
    let any_decided = ids.iter().any(is_decided);
    let weighted = ids.iter().zip(weights).map(|(id, weight)| Weighted {
        id: *id,
        weight,
        is_last: any_decided && !is_decided(id),
    });
    // Three quarters are for sentences, at four bytes per token; the rest is for other titles.
    let order = Order::SentencesFirst { bytes: list_tokens * 3 };
    let candidate =
        |document: &_, w: Weighted| view::decision_candidate(document, w.id, w.weight, w.is_last);
    Choice::new(graph, weighted.collect(), order, budget, candidate)
}

/// Returns how binding each of some documents is, from the references to it, the code that it names
/// and its date. A new decision had no time to be cited, so the newest gets as much as two mentions.
fn binding_weights(corpus: &Corpus<'_>, ids: &[DocId]) -> Vec<u64> {
    let graph = &corpus.graph;
    let mut oldest_first: Vec<DocId> = ids.to_vec();
    oldest_first.sort_by_key(|id| {
        let document = graph.document(*id);
        (document.date.clone(), document.number.clone(), *id)
    });
    let mut recency = vec![0; graph.documents.len()];
    for (position, id) in oldest_first.iter().enumerate() {
        recency[id.0 as usize] = position as u64;
    }
    let mut n_paths = vec![0u64; graph.documents.len()];
    for binding in &corpus.bindings {
        n_paths[binding.document.0 as usize] += 1;
    }
    let weight = |id: &DocId| {
        let row = id.0 as usize;
        let cited = u64::from(corpus.ranking.weights[row]);
        cited + n_paths[row].min(4) * 12 + 48 * recency[row] / ids.len() as u64
    };
    ids.iter().map(weight).collect()
}
