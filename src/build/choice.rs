//! Candidates of one list, weighed against its budget.

use super::{Corpus, extracts};
use crate::condense;
use crate::model::{Action, Budget, Bundle, Candidate, DocId, Graph, Hasher, Level, Listener};
use crate::render::view::{self, LongerTexts};

/// Candidates of a list, and counts of the documents that the budget cannot reach.
pub(super) struct Choice {
    pub(super) candidates: Vec<Candidate>,
    /// The highest level of each candidate that the budget could reach.
    reach: Vec<Option<Level>>,
    n_beyond_live: usize,
    n_beyond_history: usize,
    n_live: usize,
    /// Tokens of all live documents, estimated and rounded, so that an edit rarely changes it.
    live_tokens: u64,
    first_live: Option<DocId>,
}

impl Choice {
    /// Selects candidates among documents by weight.
    pub(super) fn new(corpus: &Corpus<'_>, ids: &[DocId], budget: &Budget) -> Choice {
        let graph = &corpus.graph;
        let weight = |id: &DocId| u64::from(corpus.ranking.weights[id.0 as usize]);
        let live = || ids.iter().copied().filter(|id| graph.is_live(*id));
        let mut by_weight: Vec<DocId> = ids.to_vec();
        by_weight.sort_by_key(|id| (!graph.is_live(*id), std::cmp::Reverse(weight(id)), *id));
        // A line of a list costs at least four tokens, so at most this many fit.
        let n_reached = (budget.tokens / 4 + 1) as usize;
        let beyond = by_weight.split_off(by_weight.len().min(n_reached));
        let n_beyond_live = beyond.iter().filter(|id| graph.is_live(**id)).count();
        let mut candidates: Vec<_> =
            by_weight.iter().map(|id| view::candidate(graph, *id, weight(id))).collect();
        candidates.sort_by_key(|candidate| candidate.id);
        let live_tokens = live().map(|id| graph.document(id).facts.n_tokens).sum();
        let reach = condense::reach(&candidates, budget);
        Choice {
            candidates,
            reach,
            n_beyond_live,
            n_beyond_history: beyond.len() - n_beyond_live,
            n_live: live().count(),
            live_tokens: view::rounded(live_tokens),
            first_live: live().next(),
        }
    }

    /// Returns the longer texts of the candidates that the budget can reach.
    pub(super) fn longer(&self, corpus: &Corpus<'_>) -> anyhow::Result<LongerTexts> {
        let reached = self.candidates.iter().zip(&self.reach);
        let longer = reached.filter(|(_, level)| **level > Some(Level::Line));
        let ids: Vec<DocId> = longer.map(|(candidate, _)| candidate.id).collect();
        extracts::longer(corpus, &ids)
    }

    /// Returns the live documents that a bundle leaves out, with their average size.
    pub(super) fn hidden(&self, graph: &Graph, bundle: &Bundle, uri: &str) -> Option<view::Hidden> {
        let count = bundle.hidden.len() + self.n_beyond_live;
        let tokens = self.live_tokens * count as u64 / self.n_live.max(1) as u64;
        let example = self.first_live?;
        (count > 0).then(|| view::hidden(graph, example, count, tokens, uri))
    }

    /// Returns the superseded documents that a bundle leaves out.
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

    /// Adds everything that can change the choice and its text: of each candidate, the levels that the
    /// budget could reach, and the size of the next one.
    pub(super) fn add_facts(&self, graph: &Graph, action: &mut Action) {
        let mut hasher = Hasher::new();
        for (candidate, level) in self.candidates.iter().zip(&self.reach) {
            let document = graph.document(candidate.id);
            hasher.number(candidate.weight).number(u64::from(candidate.history));
            hasher.number(candidate.costs[0]);
            let Some(level) = *level else { continue };
            hasher.field(document.uri.as_str().as_bytes()).field(view::head(document).as_bytes());
            hasher.field(view::history(graph, candidate.id).text.as_bytes());
            let next = candidate.next_level(level).map_or(0, |next| candidate.costs[next as usize]);
            hasher.number(level as u64).number(next);
            for level in
                Level::ALL.into_iter().filter(|lower| *lower > Level::Title && *lower <= level)
            {
                let facts = &document.facts;
                match level {
                    Level::Title => &mut hasher,
                    Level::Line => hasher.field(facts.line.as_bytes()),
                    Level::Brief => hasher.field(&facts.sizes.brief.fingerprint),
                    Level::Sections => hasher
                        .field(&facts.sizes.sections.fingerprint)
                        .number(u64::from(facts.sizes.repeats)),
                    Level::Full => hasher.field(&facts.sizes.full.fingerprint),
                };
                hasher.number(candidate.costs[level as usize]);
            }
        }
        hasher.number(self.n_beyond_live as u64).number(self.n_beyond_history as u64);
        hasher.number(self.n_live as u64).number(self.live_tokens);
        action.add_fact("documents", hasher.digest().as_bytes());
    }
}
