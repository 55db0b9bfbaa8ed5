//! Answers which decisions are about a file or folder: by path, by symbol and by meaning.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::bindings::{self, Bindings};
use super::path_words::{self, FileWords};
use super::related::Related;
use super::symbol_mentions::{self, NamesSymbols};
use super::{Library, search, symbols};
use crate::search::{Query, RatedBlocks, SearchIndex};
use crate::wire::jsonl::DocumentLine;

/// Maximum number of documents by meaning, and of those that match only weakly.
const MAX_BY_MEANING: usize = 3;
const MAX_WEAK: usize = 2;

/// Number of documents of each search whose ranks are added.
const MAX_RANKED: usize = 10;

/// Number added to a rank, so that the first is worth less than two that are second.
const RANK_OFFSET: u32 = 2;

/// Bytes per token, for dividing a budget.
const BYTES_PER_TOKEN: u64 = 4;

/// Documents about a path, in three groups. A document is in the first group that it belongs to.
#[derive(Debug)]
pub struct PathAnswer {
    /// Documents that name the path, and counts.
    pub bindings: Bindings,
    /// Documents that name what the file defines.
    pub by_symbol: Vec<NamesSymbols>,
    /// Documents with words of the path, of the first comment or of names. Only if no document names
    /// the path.
    pub by_meaning: Vec<Related>,
}

impl PathAnswer {
    /// Returns true if no document was found.
    pub fn is_empty(&self) -> bool {
        let Bindings { bound, n_below, .. } = &self.bindings;
        bound.is_empty() && *n_below == 0 && self.by_symbol.is_empty() && self.by_meaning.is_empty()
    }
}

/// Finds the decisions about a path below the root. With `all`, documents that are not live are
/// included. `budget` is for the passages by meaning. `None` if nothing was built yet.
pub fn find(
    library: &Library<'_>,
    index: &SearchIndex,
    path: &str,
    all: bool,
    budget: u64,
) -> anyhow::Result<Option<PathAnswer>> {
    let bindings = bindings::find(library.root, &library.built.catalogue, path, all)?;
    let Some(mut bindings) = bindings else { return Ok(None) };
    let text = library.reader.code(library.root, path);
    let names = text.as_ref().map(|text| symbols::defined(path, text)).unwrap_or_default();
    let mut known: BTreeSet<String> =
        bindings.bound.iter().map(|bound| bound.document.uri.clone()).collect();
    let mut by_symbol = symbol_mentions::find(library, index, &names, all);
    by_symbol
        .retain(|found| found.document.path != path && known.insert(found.document.uri.clone()));
    if library.root.exists(path) {
        bindings.similar = None;
    }
    let mut by_meaning = Vec::new();
    if bindings.bound.is_empty() {
        let words = path_words::file_words(index, path, text.as_deref(), &names);
        by_meaning = similar(library, index, &words, budget, |document| {
            (all || document.live) && document.path != path && !known.contains(&document.uri)
        });
    }
    Ok(Some(PathAnswer { bindings, by_symbol, by_meaning }))
}

/// Returns the documents that match the words of a file, best first. Its name says most about it but
/// is short; all words say more, but some match by chance. So the ranks of several searches are added.
fn similar(
    library: &Library<'_>,
    index: &SearchIndex,
    words: &FileWords,
    budget: u64,
    is_shown: impl Fn(&DocumentLine) -> bool,
) -> Vec<Related> {
    let queries = words.queries();
    let mut ranked: Vec<(u32, Related)> = Vec::new();
    for text in &queries {
        let found = search::search(library, index, text, MAX_RANKED, 0).found;
        for (found, rank) in found.into_iter().filter(|found| is_shown(&found.document)).zip(1..) {
            let points = 1_000 / (RANK_OFFSET + rank);
            let uri = &found.document.uri;
            match ranked.iter_mut().find(|(_, known)| known.document.uri == *uri) {
                Some((sum, known)) => {
                    *sum += points;
                    known.is_weak &= found.is_weak;
                }
                None => ranked.push((points, found)),
            }
        }
    }
    ranked.sort_by_key(|(sum, found)| (found.is_weak, Reverse(*sum)));
    let n_strong = ranked.iter().filter(|(_, found)| !found.is_weak).count();
    ranked.truncate(if n_strong == 0 { MAX_WEAK } else { n_strong.min(MAX_BY_MEANING) });
    let mut found: Vec<Related> = ranked.into_iter().map(|(_, found)| found).collect();
    let query = Query::new(index, queries.last().map_or("", String::as_str));
    let max_bytes = (budget * BYTES_PER_TOKEN) as usize / found.len().max(1);
    for related in &mut found {
        let blocks = library.reader.blocks(library.root, &related.document);
        if let Ok((blocks, _)) = blocks {
            let best = RatedBlocks::new(blocks, &query).best_passages(max_bytes);
            (related.line, related.passages) = (best.line, best.passages);
        }
    }
    found
}
