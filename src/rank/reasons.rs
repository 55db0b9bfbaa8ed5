//! Reasons for neighbours that a document does not refer to.

use std::sync::LazyLock;

use rustc_hash::FxHashSet;

use super::ranker::{RankedCandidate, Ranker, Scratch};
use super::references::reason_of_reference;
use super::signals::{CITING_PHRASES, PEERS, TERMS, TITLE_PHRASE, TITLE_TERMS, WALK, WEIGHTS};
use crate::model::word::stem;
use crate::model::{DocId, Reason, rules, term_hash};

/// Terms named in one reason, and the fewest that are one. A single word says little.
const MAX_TERMS: usize = 3;
const MIN_TERMS: usize = 2;

/// Maximum number of reasons of one neighbour.
pub(super) const MAX_REASONS: usize = 2;

/// Documents named in one reason.
const MAX_NAMED: usize = 2;

/// Number of the heaviest terms of a text that are typical of it.
const MAX_HEAVY: usize = 64;

/// Fewest letters of a word that is named in a reason.
const MIN_LETTERS: usize = 3;

/// A word is specific if at most one in this many documents contains it, or few documents at all.
const SPECIFIC: usize = 8;
const FEW: usize = 10;

/// A document with more citations than this is too general to be named.
const MAX_CITATIONS: usize = 20;

/// Number of the most similar documents that may be named as such.
const MAX_PEERS: usize = 10;

/// Words that say nothing about a document's subject, by the hash of their stems.
static VAGUE_WORDS: LazyLock<FxHashSet<u32>> = LazyLock::new(|| {
    let words = rules::entries(include_str!("rules/vague_words.txt"));
    words.map(|word| term_hash(stem(word))).collect()
});

/// The terms of a document as it writes them.
pub(super) struct OwnWords<'a> {
    words: &'a str,
    /// Offset of each word.
    starts: Vec<u32>,
}

impl<'a> OwnWords<'a> {
    pub(super) fn new(words: &'a str) -> OwnWords<'a> {
        let ends = memchr::memchr_iter(b' ', words.as_bytes()).map(|end| end as u32 + 1);
        OwnWords { words, starts: std::iter::once(0).chain(ends).collect() }
    }

    fn get(&self, at: usize) -> Option<&'a str> {
        let (start, end) = (*self.starts.get(at)?, *self.starts.get(at + 1)?);
        self.words.get(start as usize..end as usize - 1)
    }
}

/// Returns the reasons for a neighbour: the signals that contributed most, strongest first.
pub(super) fn reasons(
    ranker: &Ranker<'_>,
    scratch: &Scratch,
    id: DocId,
    words: &OwnWords<'_>,
    candidate: &RankedCandidate,
) -> Vec<Reason> {
    let other = candidate.id;
    let mut parts = [TERMS, TITLE_TERMS, TITLE_PHRASE, CITING_PHRASES, PEERS, WALK]
        .map(|signal| (candidate.signals[signal] * WEIGHTS[signal], signal));
    let sum: i32 = parts.iter().map(|(points, _)| points).sum();
    parts.sort_by_key(|(points, signal)| (std::cmp::Reverse(*points), *signal));
    let mut reasons: Vec<Reason> = Vec::new();
    reasons.extend(reason_of_reference(ranker.graph, other, id));
    for (points, signal) in parts {
        // A signal that contributes less than a tenth of the sum is not a reason.
        let is_weak = points < sum / 10 && !reasons.is_empty();
        if points == 0 || is_weak || reasons.len() >= MAX_REASONS {
            continue;
        }
        let reason = match signal {
            TERMS | TITLE_TERMS => {
                shared_terms(ranker, scratch, (id, words), other, NamedTerms::Heavy)
            }
            TITLE_PHRASE => candidate.has_title.then_some(Reason::ContainsTitle),
            CITING_PHRASES => cited_with(ranker, (id, words), candidate),
            PEERS => cited_by_peers(ranker, scratch, other),
            _ => co_citation(ranker, id, other),
        };
        let is_known = |reason: &Reason| {
            reasons.contains(reason) || reasons.iter().any(|known| names_same_citing(known, reason))
        };
        let is_new = reason.as_ref().is_some_and(|reason| !is_known(reason));
        reasons.extend(reason.filter(|_| is_new));
    }
    if reasons.is_empty() {
        let co_citation = co_citation(ranker, id, other);
        let terms = || shared_terms(ranker, scratch, (id, words), other, NamedTerms::Any);
        reasons.extend(co_citation.or_else(terms));
    }
    reasons
}

/// Returns true if both reasons name the same document that cites the neighbour.
fn names_same_citing(a: &Reason, b: &Reason) -> bool {
    use Reason::{CitedByPeers, CitedTogether};
    match (a, b) {
        (CitedByPeers(a), CitedTogether(b)) | (CitedTogether(a), CitedByPeers(b)) => {
            a.iter().any(|id| b.contains(id))
        }
        _ => false,
    }
}

/// Which terms a reason may name.
#[derive(Clone, Copy, Eq, PartialEq)]
enum NamedTerms {
    /// Those that both texts contain more than once and that are among the heaviest of both.
    /// Others are often accidental.
    Heavy,
    /// All that both texts contain, if there is no better reason.
    Any,
}

/// Returns true if a word may be named in a reason.
fn is_specific(ranker: &Ranker<'_>, hash: u32, word: &str) -> bool {
    let most = (ranker.graph.documents.len() / SPECIFIC).max(FEW);
    let is_common = |id: u32| ranker.vocabulary.n_texts(id) > most;
    word.chars().count() >= MIN_LETTERS
        && !word.chars().all(|c| c.is_ascii_digit())
        && !VAGUE_WORDS.contains(&hash)
        && !ranker.vocabulary.id(hash).is_some_and(is_common)
}

/// Returns the terms that both texts have most of, as the document writes them.
fn shared_terms(
    ranker: &Ranker<'_>,
    scratch: &Scratch,
    (id, words): (DocId, &OwnWords<'_>),
    other: DocId,
    terms: NamedTerms,
) -> Option<Reason> {
    let (lexicon, row) = (ranker.lexicon, id.0 as usize);
    let own = &ranker.texts[row];
    // Terms are sorted by weight.
    let max = if terms == NamedTerms::Any { usize::MAX } else { MAX_HEAVY };
    let mut shared: Vec<(u32, u16)> = Vec::new();
    for term in ranker.texts[other.0 as usize].iter().take(max) {
        let Some(at) = scratch.own_terms[term.id as usize].checked_sub(1) else { continue };
        let mine = &own[usize::from(at)];
        let counts = (
            lexicon.counts.of(row)[usize::from(mine.at)],
            lexicon.counts.of(other.0 as usize)[usize::from(term.at)],
        );
        let is_heavy = usize::from(at) < max && counts.0 > 1 && counts.1 > 1;
        if is_heavy || terms == NamedTerms::Any {
            shared.push((u32::from(term.weight) * u32::from(mine.weight), mine.at));
        }
    }
    shared.sort_unstable_by_key(|(product, at)| (std::cmp::Reverse(*product), *at));
    let named = shared.iter().take(MAX_TERMS * 8).filter_map(|(_, at)| {
        let hash = lexicon.hashes.of(row)[usize::from(*at)];
        words.get(usize::from(*at)).filter(|word| is_specific(ranker, hash, word))
    });
    let named: Vec<&str> = named.take(MAX_TERMS).collect();
    (named.len() >= MIN_TERMS).then(|| Reason::SharedTerms(named.join(", ").into()))
}

/// Returns the phrase that other documents cite the candidate with, as the document writes it.
fn cited_with(
    ranker: &Ranker<'_>,
    (id, words): (DocId, &OwnWords<'_>),
    candidate: &RankedCandidate,
) -> Option<Reason> {
    let (first, second) = ranker.citing_phrases.terms(candidate.cited_with?);
    let hashes = ranker.lexicon.hashes.of(id.0 as usize);
    let word = |hash: u32| words.get(hashes.iter().position(|other| *other == hash)?);
    let (first, second) = (word(first).map(|w| (w, first))?, word(second).map(|w| (w, second))?);
    let is_specific = |(word, hash): (&str, u32)| is_specific(ranker, hash, word);
    (is_specific(first) || is_specific(second)).then(|| {
        let phrase = format!("{} {}", first.0, second.0);
        Reason::CitedWith(phrase.into())
    })
}

/// Returns the reason that both cite the same documents, or that the same documents cite both. The
/// documents with the fewest citations come first, and very common ones are not named.
fn co_citation(ranker: &Ranker<'_>, id: DocId, other: DocId) -> Option<Reason> {
    let citations = &ranker.citations;
    let most = (ranker.graph.documents.len() / SPECIFIC).clamp(4, MAX_CITATIONS);
    let named = |mut ids: Vec<DocId>, degree: &dyn Fn(DocId) -> usize| {
        ids.retain(|named| degree(*named) <= most);
        ids.sort_by_key(|named| (degree(*named), *named));
        ids.truncate(MAX_NAMED);
        ids
    };
    let cited = named(citations.both_cite(id, other), &|cited| citations.n_citing(cited));
    if !cited.is_empty() {
        return Some(Reason::BothCite(cited));
    }
    let citing = named(citations.citing_both(id, other), &|citing| citations.cited(citing).len());
    (!citing.is_empty()).then_some(Reason::CitedTogether(citing))
}

fn cited_by_peers(ranker: &Ranker<'_>, scratch: &Scratch, other: DocId) -> Option<Reason> {
    let peers = scratch.peers.iter().copied().take(MAX_PEERS);
    let cites = |peer: &DocId| ranker.citations.cites(*peer, other);
    let peers: Vec<DocId> = peers.filter(cites).take(MAX_NAMED).collect();
    (!peers.is_empty()).then_some(Reason::CitedByPeers(peers))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vague_words_are_sorted_and_known_by_their_stems() {
        let words = || rules::entries(include_str!("rules/vague_words.txt"));
        assert!(words().is_sorted_by(|a, b| a < b));
        assert!(
            ["entirely", "instead", "readme", "settings"]
                .iter()
                .all(|word| { VAGUE_WORDS.contains(&term_hash(stem(word))) })
        );
        assert!(!VAGUE_WORDS.contains(&term_hash(stem("cache"))));
    }
}
