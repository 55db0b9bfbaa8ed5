//! Reasons for neighbours that a document does not refer to.

use super::inverted_index::Term;
use super::ranker::{Ranker, Scratch};
use super::references::reason_of_reference;
use super::signals::{
    ANCHOR, BACKLINK, CITING_PHRASES, CODE_NAMES, PEERS, Signals, TAGS, TERMS, TITLE_PHRASE,
    TITLE_TERMS, WEIGHTS,
};
use crate::model::{DocId, Reason};

/// Terms named in one reason, and reasons of one neighbour.
const MAX_TERMS: usize = 3;
const MAX_REASONS: usize = 2;

/// Documents named in one reason.
const MAX_NAMED: usize = 2;

/// Returns the reasons for a neighbour: the signals that contributed most, strongest first.
pub(super) fn reasons(
    ranker: &Ranker<'_>,
    scratch: &mut Scratch,
    id: DocId,
    other: DocId,
    signals: &Signals,
) -> Vec<Reason> {
    let mut parts =
        [TERMS, ANCHOR, TITLE_TERMS, PEERS, TAGS, TITLE_PHRASE, CITING_PHRASES, CODE_NAMES]
            .map(|signal| (signals[signal] * WEIGHTS[signal], signal));
    let sum: i32 = parts.iter().map(|(points, _)| points).sum();
    parts.sort_by_key(|(points, signal)| (std::cmp::Reverse(*points), *signal));
    if scratch.word_starts.is_empty() {
        let words = &ranker.lexicon.words[id.0 as usize];
        let ends = memchr::memchr_iter(b' ', words.as_bytes()).map(|end| end as u32 + 1);
        scratch.word_starts.extend(std::iter::once(0).chain(ends));
    }
    let scratch = &*scratch;
    let shared_terms = || {
        let terms = own_terms(ranker, scratch, id, ranker.texts[other.0 as usize].iter());
        (!terms.is_empty()).then(|| Reason::SharedTerms(terms.join(", ").into()))
    };
    let mut reasons = Vec::new();
    if signals[BACKLINK] > 0 {
        reasons.extend(reason_of_reference(ranker.graph, other, id));
    }
    for (points, signal) in parts {
        // A signal that contributes less than a sixth of the sum is not a reason.
        let is_weak = points < sum / 6 && !reasons.is_empty();
        if points == 0 || is_weak || reasons.len() >= MAX_REASONS {
            continue;
        }
        let reason = match signal {
            TERMS => shared_terms(),
            ANCHOR => cited_for(ranker, scratch, id, other).or_else(shared_terms),
            TITLE_PHRASE => (signals[TITLE_PHRASE] >= 1_000).then_some(Reason::ContainsTitle),
            TITLE_TERMS => (signals[TITLE_TERMS] >= 1_000).then_some(Reason::HasTitleTerms),
            PEERS => cited_by_peers(ranker, scratch, other),
            CITING_PHRASES => Some(Reason::HasCitingPhrases),
            CODE_NAMES => match ranker.code_names.n_shared(id, other) {
                0 => None,
                n => Some(Reason::SharedNames(n as u32)),
            },
            _ => {
                ranker.tags.least_common_shared(id, other).map(|tag| Reason::SharedTag(tag.into()))
            }
        };
        reasons.extend(reason.filter(|reason| !reasons.contains(reason)));
    }
    reasons.extend(co_citation(ranker, id, other));
    if reasons.is_empty() {
        reasons.extend(shared_terms());
    }
    reasons
}

/// Returns the terms of a list that the document has, as it writes them. The terms with the largest
/// product of both weights come first.
fn own_terms<'a>(
    ranker: &'a Ranker<'_>,
    scratch: &Scratch,
    id: DocId,
    theirs: impl Iterator<Item = &'a Term>,
) -> Vec<&'a str> {
    let own = &ranker.texts[id.0 as usize];
    let mut best: Vec<(u32, u16)> = Vec::with_capacity(MAX_TERMS + 1);
    let max = own.first().map_or(0, |term| u32::from(term.weight));
    for term in theirs {
        // Terms are sorted by weight: none of the remaining ones can be among the best.
        if best.len() == MAX_TERMS && best[MAX_TERMS - 1].0 > u32::from(term.weight) * max {
            break;
        }
        let Some(at) = scratch.own_terms[term.id as usize].checked_sub(1) else { continue };
        let mine = &own[usize::from(at)];
        let product = u32::from(term.weight) * u32::from(mine.weight);
        let place = best.partition_point(|(other, at)| (*other, mine.at) >= (product, *at));
        if place < MAX_TERMS {
            best.insert(place, (product, mine.at));
            best.truncate(MAX_TERMS);
        }
    }
    let words = ranker.lexicon.words[id.0 as usize].as_str();
    let word = |at: u16| {
        let start = *scratch.word_starts.get(usize::from(at))? as usize;
        words[start..].split(' ').next()
    };
    best.iter().filter_map(|(_, at)| word(*at)).collect()
}

fn cited_for(ranker: &Ranker<'_>, scratch: &Scratch, id: DocId, other: DocId) -> Option<Reason> {
    let anchor = &ranker.anchors[other.0 as usize];
    let not_in_title = anchor.terms.iter().filter(|term| !anchor.title.contains(&term.id));
    let terms = own_terms(ranker, scratch, id, not_in_title);
    (!terms.is_empty()).then(|| Reason::CitedFor(terms.join(", ").into()))
}

fn co_citation(ranker: &Ranker<'_>, id: DocId, other: DocId) -> Option<Reason> {
    let first = |mut ids: Vec<DocId>| {
        ids.truncate(MAX_NAMED);
        ids
    };
    let cited = first(ranker.citations.both_cite(id, other));
    if !cited.is_empty() {
        return Some(Reason::BothCite(cited));
    }
    let citing = first(ranker.citations.citing_both(id, other));
    (!citing.is_empty()).then_some(Reason::CitedTogether(citing))
}

fn cited_by_peers(ranker: &Ranker<'_>, scratch: &Scratch, other: DocId) -> Option<Reason> {
    let peers = scratch.peers.iter().copied();
    let cites = |peer: &DocId| ranker.citations.cites(*peer, other);
    let peers: Vec<DocId> = peers.filter(cites).take(MAX_NAMED).collect();
    (!peers.is_empty()).then_some(Reason::CitedByPeers(peers))
}
