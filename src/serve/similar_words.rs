//! Suggests words that find something, for words that no document contains.

use super::Built;
use crate::model::layout::KNOWLEDGE;
use crate::model::word;
use crate::search::{Query, SearchIndex};

/// A word of a query that no document contains.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct UnknownWord {
    /// The word in lower case.
    pub word: String,
    /// Similar words that documents contain, the most similar first.
    pub similar: Vec<String>,
}

/// Maximum number of unknown words that are reported, and of suggestions for each.
const MAX_UNKNOWN: usize = 5;
const MAX_SIMILAR: usize = 3;

/// Maximum number of documents in which the spelling of a stem is looked up.
const MAX_LOOKED_UP: usize = 8;

/// Maximum number of digests that are listed.
const MAX_DIGESTS: usize = 8;

/// Returns the words of a query that no document contains, with similar words.
pub fn unknown(built: &Built, index: &SearchIndex, query: &Query) -> Vec<UnknownWord> {
    let unknown = query.terms.iter().filter(|term| term.hashes.is_empty()).take(MAX_UNKNOWN);
    let unknown = unknown.map(|term| {
        let numbers = index.similar(word::stem(&term.word), MAX_SIMILAR);
        let similar = numbers.into_iter().map(|number| spelling(built, index, number)).collect();
        UnknownWord { word: term.word.clone(), similar }
    });
    unknown.collect()
}

/// Returns a word with a stem, as in a title or a summary. If there is none, the stem itself, which
/// finds the word by its beginning.
fn spelling(built: &Built, index: &SearchIndex, number: usize) -> String {
    let stem = index.stem(number);
    for found in index.entries(number).take(MAX_LOOKED_UP) {
        let Some(line) = built.catalogue.line(found.row) else { continue };
        let mut spelling = None;
        word::words(&format!("{} {}", line.title, line.summary), |word, _| {
            if spelling.is_none() && word::stem(word) == stem {
                spelling = Some(word.to_string());
            }
        });
        if let Some(word) = spelling {
            return word;
        }
    }
    stem.to_string()
}

/// Returns the paths of the digests, each of which lists the documents of a collection.
pub fn digests(built: &Built) -> Vec<String> {
    let artifacts = built.manifest.artifacts.iter();
    let digests = artifacts.filter(|entry| entry.path.starts_with(KNOWLEDGE));
    digests.take(MAX_DIGESTS).map(|entry| entry.path.clone()).collect()
}
