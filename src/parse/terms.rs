//! Counts the terms of a document, and collects the terms of the lines that cite others.

use indexmap::{IndexMap, IndexSet};
use rustc_hash::FxBuildHasher;

use super::Page;
use crate::model::terms::{bigram, folded, hash};
use crate::model::word::{is_term, stem, stems, words};
use crate::model::{CitingLines, Reference, Terms};

/// Maximum number of terms stored per document.
const MAX_TERMS: usize = 2_000;

/// Maximum number of bigrams stored per document.
const MAX_BIGRAMS: usize = 4_096;

/// Maximum number of terms per citing line, and of citing lines per document.
const MAX_LINE_TERMS: usize = 40;
const MAX_LINES: usize = 1_000;

/// Weights of an occurrence in the title, in a heading and in the text.
const IN_TITLE: u32 = 6;
const IN_HEADING: u32 = 3;
const IN_TEXT: u32 = 1;

/// Returns the most frequent terms of a document and its bigrams.
pub(super) fn terms(page: &Page<'_>, title: Option<&str>) -> Terms {
    let mut counter = TermCounter::new();
    counter.count(title.unwrap_or_default(), IN_TITLE);
    page.body.headings.iter().for_each(|heading| counter.count(&heading.title, IN_HEADING));
    counter.count(&page.text[page.start..], IN_TEXT);
    counter.terms()
}

/// Returns the terms of every line that contains a reference.
pub(super) fn citing_lines(page: &Page<'_>, references: &[Reference]) -> CitingLines {
    let in_document = references.iter().filter(|reference| !reference.in_sidecar);
    let mut lines: Vec<u32> = in_document.map(|reference| reference.line).collect();
    lines.sort_unstable();
    lines.dedup();
    let mut citing_lines = CitingLines::default();
    for line in lines.into_iter().filter(|line| *line > 0).take(MAX_LINES) {
        citing_lines.push(line, &stems(page.lines.text(page.text, line), MAX_LINE_TERMS));
    }
    citing_lines
}

/// A word of the text and the weighted number of its occurrences.
struct Word {
    /// Hash of the word's stem, or `None` for a stop word.
    stem: Option<u64>,
    count: u32,
}

/// Initial capacity of the tables of words and bigrams. It is large enough for most documents,
/// because growing a table takes longer than allocating unused slots.
const CAPACITY: usize = 1_024;

/// Counts words first and stems second, so that each distinct word is stemmed only once.
struct TermCounter {
    /// Words by their hash, in order of first occurrence.
    words: IndexMap<u64, Word, FxBuildHasher>,
    /// The same words as text, one after another, and the offset at which each ends.
    text: String,
    ends: Vec<u32>,
    /// Hashes of two terms that follow each other, with stop words skipped.
    bigrams: IndexSet<u32, FxBuildHasher>,
}

impl TermCounter {
    fn new() -> TermCounter {
        TermCounter {
            words: IndexMap::with_capacity_and_hasher(CAPACITY, FxBuildHasher),
            text: String::with_capacity(2_048),
            ends: Vec::with_capacity(256),
            bigrams: IndexSet::with_capacity_and_hasher(CAPACITY, FxBuildHasher),
        }
    }

    /// Counts the words of a text, each with a weight.
    fn count(&mut self, text: &str, weight: u32) {
        let TermCounter { words: counts, text: all, ends, bigrams } = self;
        let mut previous: Option<u64> = None;
        words(text, |word, word_hash| {
            let entry = counts.entry(word_hash).or_insert_with(|| {
                all.push_str(word);
                ends.push(all.len() as u32);
                let stem = is_term(word, word_hash).then(|| hash(stem(word).as_bytes()));
                Word { stem, count: 0 }
            });
            entry.count += weight;
            let Some(stem) = entry.stem else { return };
            if let Some(previous) = previous.filter(|_| bigrams.len() < MAX_BIGRAMS) {
                bigrams.insert(bigram(folded(previous), folded(stem)));
            }
            previous = Some(stem);
        });
    }

    fn word(&self, row: usize) -> &str {
        let start = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start as usize..self.ends[row] as usize]
    }

    /// Adds up the words with the same stem and returns the most frequent stems. Among equally
    /// frequent ones, those that occur first are returned.
    fn terms(self) -> Terms {
        // The row of the first word of each stem, and the occurrences of all its words.
        let mut stems: IndexMap<u64, (usize, u32), FxBuildHasher> =
            IndexMap::with_capacity_and_hasher(self.words.len(), FxBuildHasher);
        for (row, word) in self.words.values().enumerate() {
            if let Some(stem) = word.stem {
                stems.entry(stem).or_insert((row, 0)).1 += word.count;
            }
        }
        // One integer per stem sorts by falling count, then by first occurrence.
        let sort_key = |(row, (_, count)): (usize, &(usize, u32))| {
            u64::from(u32::MAX - count) << 32 | row as u64
        };
        let mut keys: Vec<u64> = stems.values().enumerate().map(sort_key).collect();
        if keys.len() > MAX_TERMS {
            keys.select_nth_unstable(MAX_TERMS);
            keys.truncate(MAX_TERMS);
        }
        keys.sort_unstable();
        let mut terms = Terms::with_capacity(keys.len());
        for key in keys {
            let row = key as u32 as usize;
            let (stem, (word, count)) = stems.get_index(row).expect("a key ends in a row");
            terms.push(self.word(*word), folded(*stem), *count);
        }
        terms.bigrams = self.bigrams.into_iter().collect();
        terms
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::term_hash;
    use crate::model::word::bigrams;

    #[test]
    fn words_are_counted_by_stem_and_the_most_frequent_are_returned() {
        let mut counter = TermCounter::new();
        for i in 0..2_000 {
            counter.count(&format!("word{i}x"), 1);
        }
        for word in ["cache", "caches", "cached", "the", "the", "the", "the"] {
            counter.count(word, 1);
        }
        let terms = counter.terms();
        assert_eq!((terms.hashes[0], terms.counts[0]), (term_hash(stem("cache")), 3));
        assert!(terms.words.starts_with("cache "));
        assert_eq!(terms.hashes.len(), MAX_TERMS);
    }

    #[test]
    fn a_title_is_split_into_words_like_a_text() {
        let mut counter = TermCounter::new();
        counter.count("HTTPServer für TokenCounter", 1);
        let mut text: Vec<u32> = counter.terms().hashes;
        let mut title = stems("The HTTPServer für TokenCounters", 9);
        text.sort_unstable();
        title.sort_unstable();
        assert_eq!(text, title);
    }

    #[test]
    fn a_text_that_contains_a_title_has_all_its_bigrams() {
        let mut counter = TermCounter::new();
        counter.count("We found freedom through the\nconstraints of it, and no more.", 1);
        let in_text = counter.terms().bigrams;
        let title = bigrams("Freedom Through Constraint", 9);
        assert!(!title.is_empty() && title.iter().all(|bigram| in_text.contains(bigram)));
        assert!(
            bigrams("Constraint and freedom", 9).iter().all(|bigram| !in_text.contains(bigram))
        );
    }
}
