//! Candidates of one list, weighed against its budget.

use super::{Corpus, extracts};
use crate::condense::{self, Order};
use crate::model::{
    Action, Budget, Bundle, Candidate, DocId, Document, Graph, Hasher, Level, Listener,
};
use crate::render::view::{self, LongerTexts};

/// A document of a list before its costs are known.
#[derive(Clone, Copy)]
pub(super) struct Weighted {
    pub(super) id: DocId,
    pub(super) weight: u64,
    /// True if only its title is rendered, after all others.
    pub(super) is_last: bool,
}

/// Candidates of a list, and counts of the documents that the budget cannot reach.
pub(super) struct Choice {
    pub(super) candidates: Vec<Candidate>,
    pub(super) order: Order,
    /// The highest level of each candidate that the budget could reach.
    reach: Vec<Option<Level>>,
    n_beyond: usize,
    n_beyond_last: usize,
    /// Number of documents that are not shown last.
    n_first: usize,
    /// Tokens of these documents, estimated and rounded, so that an edit rarely changes it.
    first_tokens: u64,
    example: Option<DocId>,
}

impl Choice {
    /// Selects candidates among documents by weight. `to_candidate` computes what each level costs.
    pub(super) fn new(
        graph: &Graph,
        mut documents: Vec<Weighted>,
        order: Order,
        budget: &Budget,
        to_candidate: impl Fn(&Document, Weighted) -> Candidate,
    ) -> Choice {
        let first = documents.iter().filter(|document| !document.is_last);
        let (n_first, example) = (first.clone().count(), first.clone().map(|first| first.id).min());
        let first_tokens = first.map(|first| graph.document(first.id).facts.n_tokens).sum();
        documents.sort_by_key(|d| (d.is_last, std::cmp::Reverse(d.weight), d.id));
        // A line of a list costs at least four tokens, so at most this many fit.
        let n_reached = (budget.tokens / 4 + 1) as usize;
        let beyond = documents.split_off(documents.len().min(n_reached));
        let n_beyond_last = beyond.iter().filter(|document| document.is_last).count();
        let mut candidates: Vec<_> = documents
            .into_iter()
            .map(|weighted| to_candidate(graph.document(weighted.id), weighted))
            .collect();
        candidates.sort_by_key(|candidate| candidate.id);
        let reach = condense::reach(&candidates, order, budget);
        Choice {
            candidates,
            order,
            reach,
            n_beyond: beyond.len() - n_beyond_last,
            n_beyond_last,
            n_first,
            first_tokens: view::rounded(first_tokens),
            example,
        }
    }

    /// Returns the longer texts of the candidates that the budget can reach.
    pub(super) fn longer(&self, corpus: &Corpus<'_>) -> anyhow::Result<LongerTexts> {
        let reached = self.candidates.iter().zip(&self.reach);
        let longer = reached.filter(|(_, level)| **level > Some(Level::Line));
        let ids: Vec<DocId> = longer.map(|(candidate, _)| candidate.id).collect();
        extracts::longer(corpus, &ids)
    }

    /// Returns the documents that a bundle leaves out, with their average size.
    pub(super) fn hidden(&self, graph: &Graph, bundle: &Bundle) -> Option<view::Hidden> {
        let count = bundle.hidden.len() + self.n_beyond;
        let tokens = self.first_tokens * count as u64 / self.n_first.max(1) as u64;
        let example = self.example?;
        (count > 0).then(|| view::hidden(graph, example, count, tokens))
    }

    /// Returns the number of documents that a bundle leaves out of those that are shown last.
    pub(super) fn n_hidden_last(&self, bundle: &Bundle) -> usize {
        bundle.hidden_last.len() + self.n_beyond_last
    }

    /// Adds everything that can change the choice and its text: of each candidate, the levels that the
    /// budget could reach, and the size of the next one.
    pub(super) fn add_facts(&self, graph: &Graph, action: &mut Action) {
        let mut hasher = Hasher::new();
        for (candidate, level) in self.candidates.iter().zip(&self.reach) {
            let document = graph.document(candidate.id);
            hasher.number(candidate.weight).number(u64::from(candidate.is_last));
            hasher.number(candidate.costs[0]);
            let Some(level) = *level else { continue };
            hasher.field(document.uri.as_str().as_bytes()).field(view::head(document).as_bytes());
            hasher.field(view::history(graph, candidate.id).text.as_bytes());
            hasher.field(document.path.as_bytes());
            hasher.field(document.date.as_deref().unwrap_or_default().as_bytes());
            hasher.number(u64::from(document.status.is_proposal()));
            let next = candidate.next_level(level).map_or(0, |next| candidate.costs[next as usize]);
            hasher.number(level as u64).number(next);
            let facts = &document.facts;
            if level >= Level::Line {
                hasher.field(facts.line.as_bytes()).number(candidate.costs[Level::Line as usize]);
            }
            if level >= Level::Brief {
                hasher.field(&facts.brief.fingerprint);
                hasher.number(candidate.costs[Level::Brief as usize]);
            }
        }
        hasher.number(self.n_beyond as u64).number(self.n_beyond_last as u64);
        hasher.number(self.n_first as u64).number(self.first_tokens);
        hasher.field(format!("{:?}", self.order).as_bytes());
        action.add_fact("documents", hasher.digest().as_bytes());
    }
}
