//! Finds documents by words, each with the passage that matches best.

use std::cmp::Reverse;

use super::Library;
use super::related::Related;
use super::similar_words::{self, UnknownWord};
use crate::reader::Unread;
use crate::search::{BestPassages, Match, Query, RatedBlocks, SearchIndex, rate_text};
use crate::wire::jsonl::DocumentLine;

/// Maximum number of documents whose text is read to find the best passages.
const MAX_READ: usize = 12;

/// Share of the score that a document keeps if it is not live, in hundredths.
const HISTORY_SHARE: u64 = 60;

/// Share of the score that a record of a discussion keeps, in hundredths. It says what was considered;
/// another document says what was decided.
const DISCUSSION_SHARE: u64 = 85;

/// Types of documents that record discussions.
const DISCUSSIONS: &[&str] = &["dialogue", "discussion", "meeting", "minutes", "note", "spike"];

/// Share of the score of a document that goes to the one that replaced it, in hundredths.
const SUCCESSOR_SHARE: u64 = 95;

/// Weight of the best passage: a document whose best passage has all terms gets this share more, in
/// hundredths.
const PASSAGE_SHARE: u64 = 60;

/// Weight of a title, compared with a passage, in hundredths.
const TITLE_WEIGHT: u64 = 130;

/// Weight of a title that has the same words as the query, in hundredths of the best score. Such a
/// query names a document, and documents that only discuss its subject come after it.
const SAME_TITLE_SHARE: u64 = 40;

/// Of two documents whose scores differ by less than this, in hundredths, the newer is first.
const SIMILAR: u64 = 6;

/// A document that has less than this share of the query's words, weighted by rarity, is a weak
/// match; in thousandths.
const WEAK: u32 = 350;

/// Documents with less than this share of the best score are left out, in hundredths.
const MIN_SCORE: u64 = 25;

/// Bytes per token, for dividing a budget.
const BYTES_PER_TOKEN: u64 = 4;

/// Largest budget. More tokens than this are never printed.
const MAX_BUDGET: u64 = 1 << 32;

/// Tokens that the head of a document takes.
const HEAD_TOKENS: u64 = 32;

/// Share of the budget that the first document gets, and each one after it of the rest, in
/// hundredths.
const FIRST_SHARE: u64 = 60;
const NEXT_SHARE: u64 = 40;

/// Documents found by words.
pub struct SearchResult {
    /// Best first.
    pub found: Vec<Related>,
    /// Number of all documents that have a word of the query.
    pub n_all: usize,
    /// Words of the query that no document has.
    pub unknown: Vec<UnknownWord>,
    /// Paths of the digests, which list all documents, if nothing was found.
    pub digests: Vec<String>,
}

impl SearchResult {
    /// Returns the result of a search that needed no words.
    pub fn of(found: Vec<Related>) -> SearchResult {
        SearchResult { n_all: found.len(), found, unknown: Vec::new(), digests: Vec::new() }
    }
}

/// A document that may be shown.
struct SearchCandidate {
    document: DocumentLine,
    score: u64,
    covered: u32,
    blocks: RatedBlocks,
}

/// Finds at most `limit` documents by words, with passages that have at most `budget` tokens in
/// total.
pub fn search(
    library: &Library<'_>,
    index: &SearchIndex,
    text: &str,
    limit: usize,
    budget: u64,
) -> SearchResult {
    let query = Query::new(index, text);
    let scored = scored(library, &query, index);
    let n_all = scored.len();
    let mut candidates = candidates(library, index, &query, scored, limit);
    order(&mut candidates);
    let best = candidates.first().map_or(0, |candidate| candidate.score);
    candidates.retain(|candidate| candidate.score * 100 >= best * MIN_SCORE);
    candidates.truncate(limit);
    let mut rest = budget.min(MAX_BUDGET);
    let mut share = FIRST_SHARE;
    let found = candidates.into_iter().map(|candidate| {
        rest = rest.saturating_sub(HEAD_TOKENS);
        let tokens = rest * share / 100;
        share = NEXT_SHARE;
        let best = candidate.blocks.best_passages((tokens * BYTES_PER_TOKEN) as usize);
        let n_bytes: usize = best.passages.iter().map(|passage| passage.text.len()).sum();
        rest = rest.saturating_sub(n_bytes as u64 / BYTES_PER_TOKEN);
        related(candidate, &query, best)
    });
    let found: Vec<Related> = found.collect();
    let unknown = similar_words::unknown(library.built, index, &query);
    let digests = if found.is_empty() { similar_words::digests(library.built) } else { Vec::new() };
    SearchResult { found, n_all, unknown, digests }
}

/// Returns the passages of one document that match words best, with at most `budget` tokens in total.
pub fn passages_of(
    library: &Library<'_>,
    index: &SearchIndex,
    document: DocumentLine,
    text: &str,
    budget: u64,
) -> Result<Related, Unread> {
    let query = Query::new(index, text);
    let (blocks, _) = library.reader.blocks(library.root, &document)?;
    let blocks = RatedBlocks::new(blocks, &query);
    let best = blocks.best_passages((budget.min(MAX_BUDGET) * BYTES_PER_TOKEN) as usize);
    let candidate = SearchCandidate { document, score: 0, covered: 1_000, blocks };
    Ok(related(candidate, &query, best))
}

/// Returns all documents that match, with their scores. A document that is not live counts less, and
/// passes its score on to the one that replaced it.
fn scored(library: &Library<'_>, query: &Query, index: &SearchIndex) -> Vec<(u64, Match)> {
    let catalogue = &library.built.catalogue;
    let mut scored: Vec<(u64, Match)> = Vec::new();
    let mut inherited: Vec<(usize, u64, Match)> = Vec::new();
    let matches = query.matches(index);
    let best = matches.iter().map(|found| found.score).max().unwrap_or(0);
    for found in matches {
        let score = u64::from(found.score) * 100;
        if catalogue.is_live(found.row) {
            scored.push((score, found));
            continue;
        }
        scored.push((score * HISTORY_SHARE / 100, found));
        if found.score < best / 2 {
            continue;
        }
        for successor in catalogue.replaced_by(found.row) {
            if let Some(row) = catalogue.row(&successor) {
                inherited.push((row, score * SUCCESSOR_SHARE / 100, found));
            }
        }
    }
    for (row, score, found) in inherited {
        match scored.binary_search_by_key(&row, |(_, found)| found.row) {
            Ok(at) => {
                scored[at].0 = scored[at].0.max(score);
                scored[at].1.covered = scored[at].1.covered.max(found.covered);
            }
            Err(at) => scored.insert(at, (score, Match { row, ..found })),
        }
    }
    for number in &query.numbers {
        for row in catalogue.with_number(*number) {
            let bonus = u64::from(query.total_idf().max(64)) * 255 * 50;
            match scored.binary_search_by_key(&row, |(_, found)| found.row) {
                Ok(at) => scored[at].0 += bonus,
                Err(at) => scored.insert(at, (bonus, Match { row, score: 0, covered: 0 })),
            }
        }
    }
    scored
}

/// Reads the documents with the highest scores and adds the scores of their best passages.
fn candidates(
    library: &Library<'_>,
    index: &SearchIndex,
    query: &Query,
    mut scored: Vec<(u64, Match)>,
    limit: usize,
) -> Vec<SearchCandidate> {
    let catalogue = &library.built.catalogue;
    scored.sort_unstable_by_key(|(score, found)| {
        (Reverse(*score), Reverse(catalogue.weight(found.row)), found.row)
    });
    scored.truncate(limit.max(MAX_READ));
    let best = scored.first().map_or(0, |(score, _)| *score);
    let candidates = scored.into_iter().enumerate().filter_map(|(i, (score, found))| {
        let document = catalogue.line(found.row)?;
        let read = || library.reader.blocks(library.root, &document).ok();
        let blocks = (i < MAX_READ).then(read).flatten();
        let blocks = blocks.map(|(blocks, _)| RatedBlocks::new(blocks, query)).unwrap_or_default();
        let title = u64::from(rate_text(&document.title, query)) * TITLE_WEIGHT / 100;
        let passage = u64::from(blocks.score()).max(title);
        let share = if document.live { 100 } else { HISTORY_SHARE };
        let mut score =
            score + best * passage.min(1_500) / 1_000 * PASSAGE_SHARE / 100 * share / 100;
        let overlap = u64::from(query.overlap(&Query::new(index, &document.title)));
        score += best * overlap * overlap / 1_000_000 * SAME_TITLE_SHARE / 100;
        if DISCUSSIONS.contains(&document.kind.as_str()) {
            score = score * DISCUSSION_SHARE / 100;
        }
        Some(SearchCandidate { document, score, covered: found.covered, blocks })
    });
    candidates.collect()
}

/// Sorts candidates by score. Of two live ones with similar scores, the newer is first.
fn order(candidates: &mut [SearchCandidate]) {
    candidates.sort_by_key(|candidate| Reverse(candidate.score));
    for i in 1..candidates.len() {
        let (after, before) = (&candidates[i], &candidates[i - 1]);
        let is_similar = (before.score - after.score) * 100 <= before.score * SIMILAR;
        if is_similar && after.document.live && is_newer(&after.document, &before.document) {
            candidates.swap(i, i - 1);
        }
    }
}

/// Compares two documents by date or, if one has none, by their numbers in one collection.
pub(super) fn is_newer(document: &DocumentLine, other: &DocumentLine) -> bool {
    if let (Some(date), Some(other)) = (&document.date, &other.date) {
        return date > other;
    }
    let collection = |uri: &str| uri.rsplit_once('/').map(|(collection, _)| collection.to_string());
    let number = |line: &DocumentLine| line.number.as_ref()?.parse::<u32>().ok();
    collection(&document.uri) == collection(&other.uri) && number(document) > number(other)
}

fn related(candidate: SearchCandidate, query: &Query, best: BestPassages) -> Related {
    let SearchCandidate { document, score, covered, .. } = candidate;
    let words = query.terms.iter().filter(|term| !term.hashes.is_empty());
    let words: Vec<&str> = words.map(|term| term.word.as_str()).collect();
    let is_weak = covered < WEAK && query.numbers.is_empty();
    Related {
        document,
        score: (score / 100).min(u64::from(u32::MAX)) as u32,
        reasons: vec![format!("has: {}", words.join(", "))],
        line: best.line,
        passages: best.passages,
        is_weak,
    }
}
