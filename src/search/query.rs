//! Finds the documents that match the words of a query.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::SearchIndex;
use crate::model::integer_log::log2_16;
use crate::model::word::{is_term, stem, words};
use crate::model::{rules, terms, word};

/// Maximum number of words of a query that are searched.
const MAX_WORDS: usize = 24;

/// Fewest letters of a word whose beginning or misspelling is searched.
const MIN_PREFIX: usize = 3;
const MIN_MISSPELLED: usize = 4;

/// Maximum number of stems that stand for one word of a query.
const MAX_VARIANTS: usize = 32;

/// Weights of a match with the beginning of a longer word and with a misspelled word, in hundredths.
const PREFIX_WEIGHT: u32 = 60;
const MISSPELLED_WEIGHT: u32 = 70;

/// Weight of a match with a word of nearly the same meaning, in hundredths.
const SYNONYM_WEIGHT: u32 = 40;

/// Stems of nearly the same meaning, by stem.
static SYNONYMS: LazyLock<BTreeMap<&str, Vec<&str>>> = LazyLock::new(|| {
    let mut synonyms: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for group in rules::entries(include_str!("rules/synonyms.txt")) {
        let stems: Vec<&str> = group.split(", ").map(stem).collect();
        for stem in &stems {
            let others = stems.iter().copied().filter(|other| other != stem);
            synonyms.entry(stem).or_default().extend(others);
        }
    }
    synonyms
});

/// The words of a query, looked up in an index.
pub struct Query {
    /// In the order of the query, each once.
    pub terms: Vec<QueryTerm>,
    /// The numbers of the query.
    pub numbers: Vec<u32>,
}

/// A word of a query.
pub struct QueryTerm {
    /// The word in lower case.
    pub word: String,
    /// Hashes of the stems that match it in a text.
    pub hashes: Vec<u32>,
    /// Inverse document frequency, in sixteenths of a bit.
    pub idf: u32,
    /// Stems in the index, each with the weight of a match in hundredths.
    stems: Vec<(usize, u32)>,
}

/// A document that matches a query.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Match {
    /// Row of the document.
    pub row: usize,
    /// Sum over the terms.
    pub score: u32,
    /// Share of the query that the document contains, weighted by IDF, in thousandths.
    pub covered: u32,
}

impl Query {
    /// Splits a text into words and looks them up.
    pub fn new(index: &SearchIndex, text: &str) -> Query {
        let mut query = Query { terms: Vec::new(), numbers: Vec::new() };
        words(text, |word, hash| {
            if word.bytes().all(|byte| byte.is_ascii_digit()) {
                query.numbers.extend(word.parse::<u32>());
            } else if is_term(word, hash) {
                query.add(index, word);
            }
        });
        query
    }

    fn add(&mut self, index: &SearchIndex, word: &str) {
        let stem = stem(word);
        let is_known = self.terms.iter().any(|term| word::stem(&term.word) == stem);
        if is_known || self.terms.len() >= MAX_WORDS {
            return;
        }
        let mut stems = match index.number_of(stem) {
            Some(number) => vec![(number, 100)],
            None => longer_words(index, stem),
        };
        let n_same = stems.len();
        let others = SYNONYMS.get(stem).into_iter().flatten();
        let others = others.filter_map(|other| index.number_of(other));
        stems.extend(others.map(|number| (number, SYNONYM_WEIGHT)));
        if stems.is_empty() {
            stems = misspelled(index, stem);
        }
        let counted = if n_same > 0 { &stems[..n_same] } else { &stems[..] };
        let n = counted.iter().map(|(number, _)| index.n_entries(*number) as u64).sum::<u64>();
        let hash = |(number, _): &(usize, u32)| terms::term_hash(index.stem(*number));
        self.terms.push(QueryTerm {
            word: word.to_string(),
            hashes: stems.iter().map(hash).collect(),
            // BM25's IDF. A word that occurs nowhere is the rarest of all.
            idf: log2_16(2 * index.n_documents() as u64 + 2, 2 * n + 1).max(1),
            stems,
        });
    }

    /// Returns all documents that contain a term of the query, in the order of their rows.
    pub fn matches(&self, index: &SearchIndex) -> Vec<Match> {
        let mut scores = vec![(0u32, 0u32); index.n_documents()];
        // The best match of each document with the term: its impact times the weight, and the weight.
        let mut best = vec![(0u32, 0u32); index.n_documents()];
        for term in &self.terms {
            let mut rows = Vec::new();
            for (number, weight) in &term.stems {
                for found in index.entries(*number) {
                    let best = &mut best[found.row];
                    if *best == (0, 0) {
                        rows.push(found.row);
                    }
                    *best = (*best).max((u32::from(found.impact) * weight, *weight));
                }
            }
            for row in rows {
                let (impact, weight) = std::mem::take(&mut best[row]);
                scores[row].0 += term.idf * impact / 100;
                scores[row].1 += term.idf * weight / 100;
            }
        }
        let total = self.total_idf();
        let found = scores.iter().enumerate().filter(|(_, (score, _))| *score > 0);
        let found = found.map(|(row, (score, covered))| Match {
            row,
            score: *score,
            covered: covered * 1_000 / total,
        });
        found.collect()
    }

    /// Returns the share of the words that this query has in common with another one, weighted by
    /// IDF, in thousandths. It is 1,000 only if both have the same words.
    pub fn overlap(&self, other: &Query) -> u32 {
        let is_common = |term: &&QueryTerm| {
            other.terms.iter().any(|other| stem(&other.word) == stem(&term.word))
        };
        let common = self.terms.iter().filter(is_common).map(|term| term.idf).sum::<u32>();
        common * 1_000 / self.total_idf().max(other.total_idf())
    }

    /// Returns the sum of the IDF of all terms, at least 1.
    pub fn total_idf(&self) -> u32 {
        self.terms.iter().map(|term| term.idf).sum::<u32>().max(1)
    }
}

/// Returns longer words that begin with a stem, each with the weight of a match.
fn longer_words(index: &SearchIndex, stem: &str) -> Vec<(usize, u32)> {
    let longer = index.with_prefix(stem).take(MAX_VARIANTS);
    let longer = longer.filter(|_| stem.chars().count() >= MIN_PREFIX);
    longer.map(|number| (number, PREFIX_WEIGHT)).collect()
}

/// Returns the words that differ from a stem in one letter, each with the weight of a match.
fn misspelled(index: &SearchIndex, stem: &str) -> Vec<(usize, u32)> {
    if stem.chars().count() < MIN_MISSPELLED {
        return Vec::new();
    }
    let similar = (0..index.n_stems()).filter(|number| differs_in_one(stem, index.stem(*number)));
    similar.take(MAX_VARIANTS).map(|number| (number, MISSPELLED_WEIGHT)).collect()
}

/// Returns true if one letter was replaced, inserted, removed, or swapped with the next.
fn differs_in_one(a: &str, b: &str) -> bool {
    if a.len().abs_diff(b.len()) > 4 {
        return false;
    }
    let prefix = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    let prefix = (0..=prefix).rev().find(|at| a.is_char_boundary(*at) && b.is_char_boundary(*at));
    let (rest_a, rest_b) = (&a[prefix.unwrap_or(0)..], &b[prefix.unwrap_or(0)..]);
    let (mut after_a, mut after_b) = (rest_a.chars(), rest_b.chars());
    let (first_a, first_b) = (after_a.next(), after_b.next());
    let (next_a, next_b) = (after_a.as_str(), after_b.as_str());
    let is_swapped = || {
        let (mut last_a, mut last_b) = (next_a.chars(), next_b.chars());
        first_a == last_b.next() && first_b == last_a.next() && last_a.as_str() == last_b.as_str()
    };
    match (first_a, first_b) {
        (None, None) => false,
        (None, Some(_)) => next_b.is_empty(),
        (Some(_), None) => next_a.is_empty(),
        (Some(_), Some(_)) => {
            next_a == next_b || rest_a == next_b || next_a == rest_b || is_swapped()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::index::tests::index;
    use super::*;

    fn rows(index: &SearchIndex, text: &str) -> Vec<(usize, u32)> {
        let query = Query::new(index, text);
        let mut matches = query.matches(index);
        matches.sort_by_key(|found| std::cmp::Reverse(found.score));
        matches.iter().map(|found| (found.row, found.covered)).collect()
    }

    #[test]
    fn a_document_with_more_and_rarer_words_is_first() {
        let texts = ["Lantern policy", "Harbour policy", "Policy of the lantern harbour", "Quorum"];
        let index = index(&texts, &[]);
        let found = rows(&index, "how do we treat the lantern of a harbour?");
        assert_eq!(found[0].0, 2);
        assert_eq!(found.len(), 3);
        assert!(found[0].1 > found[1].1, "{found:?}");
        assert_eq!(rows(&index, "zebra"), []);
        assert_eq!(rows(&index, ""), []);
    }

    #[test]
    fn unknown_words_match_longer_and_misspelled_ones() {
        let index = index(&["Authentication of users", "Lantern"], &[]);
        assert_eq!(rows(&index, "auth")[0].0, 0);
        assert_eq!(rows(&index, "lanterm")[0].0, 1);
        assert_eq!(rows(&index, "lnatern")[0].0, 1);
        assert_eq!(rows(&index, "lnatrn"), []);
    }

    #[test]
    fn a_word_of_the_same_meaning_counts_less_than_the_word_itself() {
        let index = index(&["Authentication of users", "Login of users", "Lantern"], &[]);
        assert_eq!(rows(&index, "login").iter().map(|(row, _)| *row).collect::<Vec<_>>(), [1, 0]);
        assert_eq!(rows(&index, "signin").len(), 2);
    }

    #[test]
    fn two_texts_overlap_fully_only_if_they_have_the_same_words() {
        let index = index(&["Lantern policy", "Harbour policy", "Quorum"], &[]);
        let overlap = |a, b| Query::new(&index, a).overlap(&Query::new(&index, b));
        assert_eq!(overlap("the lantern policy", "Policies for lanterns"), 1_000);
        assert!((1..1_000).contains(&overlap("lantern", "Lantern policy")));
        assert_eq!(overlap("lantern", "Lantern policy"), overlap("Lantern policy", "lantern"));
        assert_eq!(overlap("lantern", "quorum"), 0);
        assert_eq!(overlap("", ""), 0);
    }

    #[test]
    fn synonyms_are_words_in_lower_case_each_once_in_a_group() {
        let mut groups = rules::entries(include_str!("rules/synonyms.txt"));
        assert!(groups.all(|group| {
            let words: Vec<&str> = group.split(", ").collect();
            let is_word = |word: &&str| !word.contains(' ') && word.to_lowercase() == **word;
            let mut unique = words.clone();
            unique.sort_unstable();
            unique.dedup();
            words.len() > 1 && words.iter().all(is_word) && unique.len() == words.len()
        }));
    }

    #[test]
    fn numbers_are_kept_and_stop_words_are_not_searched() {
        let index = index(&["The who", "Lantern"], &[]);
        let query = Query::new(&index, "ADR-0012 and the lantern");
        assert_eq!(query.numbers, [12]);
        let words: Vec<&str> = query.terms.iter().map(|term| term.word.as_str()).collect();
        assert_eq!(words, ["lantern"]);
    }

    #[test]
    fn a_misspelled_word_differs_in_one_letter() {
        for (a, b) in [
            ("cache", "cachh"),
            ("cache", "cche"),
            ("cach", "cache"),
            ("cahce", "cache"),
            ("ü", "u"),
        ] {
            assert!(differs_in_one(a, b) && differs_in_one(b, a), "{a} {b}");
        }
        for (a, b) in [("cache", "cache"), ("cache", "chace2"), ("ab", "ba2"), ("", "ab")] {
            assert!(!differs_in_one(a, b) && !differs_in_one(b, a), "{a} {b}");
        }
    }
}
