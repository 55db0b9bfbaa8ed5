//! The digest of a collection: `knowledge/<collection>.md`.

use serde::Serialize;

use super::Corpus;
use super::artifacts::{BuiltArtifact, CurrentArtifacts, fit, source_line};
use super::choice::{Choice, Weighted};
use super::file_pattern::file_pattern;
use crate::condense::{Order, tokens};
use crate::model::escape::escape_line;
use crate::model::layout::digest_path;
use crate::model::{Action, Artifact, Budget, Bundle, DocId, Format, Listener};
use crate::render::view::{self, LongerTexts};
use crate::wire::header::{self, Provenance};

#[derive(Serialize)]
struct DigestView {
    project: Option<String>,
    collection: String,
    files: String,
    n_live: usize,
    n_documents: usize,
    in_force: Vec<view::Entry>,
    proposed: Vec<view::Entry>,
    hidden: Option<view::Hidden>,
    history: Vec<view::Entry>,
    n_hidden_history: usize,
}

/// Renders the digest of a collection.
pub(super) fn collection_digest(
    corpus: &Corpus<'_>,
    row: usize,
    ids: &[DocId],
    current: &CurrentArtifacts,
) -> anyhow::Result<BuiltArtifact> {
    let Corpus { inputs, graph, .. } = corpus;
    let collection = &graph.collections[row];
    let path = digest_path(&collection.name);
    let budget = inputs.plan.digests;
    let source = source_line(&collection.globs, ids.len());
    let files = file_pattern(graph, row, ids);
    let choice = choice(corpus, ids, &budget);
    let mut action = Action::new();
    action.add_fact("template", inputs.templates.digest("digest.md").as_bytes());
    action.add_fact("project", inputs.plan.project.as_deref().unwrap_or_default().as_bytes());
    action.add_fact("budget", format!("{budget:?}").as_bytes());
    action.add_fact("source", source.as_bytes());
    action.add_fact("files", files.as_bytes());
    action.add_fact("kind", collection.kind.as_str().as_bytes());
    choice.add_facts(graph, &mut action);
    inputs.plan.allowance.add_facts(&mut action);
    BuiltArtifact::unless_current(&path, action, current, |action| {
        let longer = choice.longer(corpus)?;
        let rest = less_header(&budget, &source);
        let candidates = (choice.candidates.as_slice(), choice.order);
        let fitted = fit(&path, "digest.md", candidates, &rest, &mut |bundle| {
            let view = view(corpus, row, ids, &files, &choice, &longer, bundle);
            inputs.templates.render("digest.md", &view)
        })?;
        let tokens = fitted.tokens + (budget.tokens - rest.tokens);
        let uri = format!("blue://knowledge/{}", collection.name);
        let body = vec![fitted.text.into_bytes()];
        let artifact = Artifact::new(&path, &uri, Format::Markdown, source, body, action.digest());
        Ok(Artifact { tokens, ..artifact })
    })
}

/// Returns the documents that may be listed; history comes last.
fn choice(corpus: &Corpus<'_>, ids: &[DocId], budget: &Budget) -> Choice {
    let graph = &corpus.graph;
    let weighted = |id: &DocId| {
        let weight = u64::from(corpus.ranking.weights[id.0 as usize]);
        Weighted { id: *id, weight, is_last: !graph.is_live(*id) }
    };
    let weighted = ids.iter().map(weighted).collect();
    let candidate =
        |document: &_, w: Weighted| view::candidate(document, w.id, w.weight, w.is_last);
    Choice::new(graph, weighted, Order::TitlesFirst, budget, candidate)
}

fn view(
    corpus: &Corpus<'_>,
    row: usize,
    ids: &[DocId],
    files: &str,
    choice: &Choice,
    longer: &LongerTexts,
    bundle: &Bundle,
) -> DigestView {
    let Corpus { inputs, graph, .. } = corpus;
    let entries = |belongs: &dyn Fn(DocId) -> bool| -> Vec<view::Entry> {
        let shown = bundle.shown.iter().filter(|(id, _)| belongs(*id));
        shown.map(|(id, level)| view::linked(graph, longer, *id, *level)).collect()
    };
    let is_proposal = |id: DocId| graph.document(id).status.is_proposal();
    DigestView {
        project: inputs.plan.project.as_deref().map(escape_line),
        collection: graph.collections[row].name.clone(),
        files: files.to_string(),
        n_live: ids.iter().filter(|id| graph.is_live(**id)).count(),
        n_documents: ids.len(),
        in_force: entries(&|id| graph.is_live(id) && !is_proposal(id)),
        proposed: entries(&|id| graph.is_live(id) && is_proposal(id)),
        hidden: choice.hidden(graph, bundle),
        history: entries(&|id| !graph.is_live(id)),
        n_hidden_history: choice.n_hidden_last(bundle),
    }
}

/// Subtracts the provenance header from a budget. Its dates are not known yet, but have a fixed length.
fn less_header(budget: &Budget, source: &str) -> Budget {
    let provenance = Provenance {
        generated: Some("2026-01-25T12:00:00Z".to_string()),
        commit: Some("0a1b2c3d4e5f".to_string()),
        created: None,
    };
    let header = header::header(Format::Markdown, &provenance, source);
    // The twelve digits of a commit take at most twelve tokens.
    let tokens = tokens::count(&header) + 8;
    let (tokens, bytes) =
        (budget.tokens.saturating_sub(tokens), budget.bytes.saturating_sub(header.len() as u64));
    Budget { tokens, bytes, ..*budget }
}
