//! Chooses the passage of a document that answers a query.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use super::Query;
use crate::model::byte_scan::prefix;
use crate::model::word::{is_term, stem, words};
use crate::model::{TextBlock, TextBlocks, rules, term_hash};

/// Weight of a section that the rules do not list, in hundredths.
const USUAL_WEIGHT: u64 = 100;

/// Weight of a code block, in hundredths.
const CODE_WEIGHT: u64 = 60;

/// Length of a block in words at which its score is halved, because long blocks match by chance.
const HALF_LENGTH: u64 = 160;

/// Maximum distance in words of two terms that count as a phrase.
const MAX_DISTANCE: usize = 3;

/// A passage is followed by others of the document whose score is at least this share of the best,
/// in hundredths.
const MIN_SHARE: u64 = 55;

/// Fewest bytes of a passage. A shorter one is continued with the next block.
const MIN_BYTES: usize = 220;

/// Maximum number of bytes of a code block that follows the sentence that introduces it.
const MAX_CODE: usize = 300;

/// Fewest bytes that are worth showing.
const MIN_SHOWN: usize = 60;

static WEIGHTS: LazyLock<FxHashMap<&str, u64>> = LazyLock::new(|| {
    let entries = rules::entries(include_str!("rules/section_weights.txt"));
    let pairs = entries.filter_map(|entry| entry.split_once(' '));
    let names = pairs.flat_map(|(weight, names)| {
        let weight = weight.parse().expect("an entry begins with a weight");
        names.split(", ").map(move |name| (name, weight))
    });
    names.collect()
});

/// A part of a document that matches a query.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Passage {
    /// Its first line, counted from 1.
    pub line: u32,
    /// The title of its section; empty if it has none.
    pub section: String,
    /// Its text.
    pub text: String,
}

/// A document whose parts are rated by a query.
#[derive(Default)]
pub struct RatedBlocks {
    document: TextBlocks,
    /// The score of each block.
    scores: Vec<u64>,
}

/// The passages of a document that match a query.
#[derive(Clone, Debug, Default)]
pub struct BestPassages {
    /// In the order of the document.
    pub passages: Vec<Passage>,
    /// Line of the best one; 0 if there is none.
    pub line: u32,
}

impl RatedBlocks {
    /// Rates the blocks of a document.
    pub fn new(document: TextBlocks, query: &Query) -> RatedBlocks {
        RatedBlocks { scores: scores(&document, query), document }
    }

    /// Returns the score of the best block, relative to one that has all terms as a phrase, in
    /// thousandths.
    pub fn score(&self) -> u32 {
        self.scores.iter().max().map_or(0, |score| (score / 100).min(10_000) as u32)
    }

    /// Returns the passages that match best, with at most `max_bytes` bytes of text in total.
    pub fn best_passages(&self, max_bytes: usize) -> BestPassages {
        let RatedBlocks { document, scores } = self;
        let mut order: Vec<usize> = (0..scores.len()).filter(|at| scores[*at] > 0).collect();
        order.sort_by_key(|at| (std::cmp::Reverse(scores[*at]), *at));
        let Some(best) = order.first().copied() else { return BestPassages::default() };
        let mut chosen: Vec<(usize, usize)> = Vec::new();
        let mut rest = max_bytes;
        for at in order {
            if scores[at] * 100 < scores[best] * MIN_SHARE || rest < MIN_SHOWN {
                break;
            }
            choose(document, at, &mut chosen, &mut rest);
        }
        chosen.sort_unstable();
        // The best block is the first that is chosen.
        let line = if chosen.is_empty() { 0 } else { document.blocks[best].line };
        BestPassages { passages: joined(document, &chosen), line }
    }
}

/// Adds a block and those around it that it needs to be understood, each with the number of bytes
/// that are shown of it.
fn choose(document: &TextBlocks, at: usize, chosen: &mut Vec<(usize, usize)>, rest: &mut usize) {
    let blocks = &document.blocks;
    let mut add = |at: usize, chosen: &mut Vec<(usize, usize)>| {
        if chosen.iter().any(|(known, _)| *known == at) {
            return 0;
        }
        let max = if blocks[at].is_code { MAX_CODE } else { usize::MAX };
        let n = blocks[at].text.len().min(*rest).min(max);
        *rest -= n;
        chosen.push((at, n));
        n
    };
    let in_section =
        |other: usize| blocks.get(other).is_some_and(|block| block.section == blocks[at].section);
    let mut n = add(at, chosen);
    // The first row of a table says what the others mean.
    if is_row(&blocks[at]) {
        let header = (0..at).rev().take_while(|row| in_section(*row) && is_row(&blocks[*row]));
        if let Some(header) = header.last() {
            n += add(header, chosen);
        }
    }
    // The sentence that introduces a list belongs to its items.
    let mut first = at;
    while first > 0 && blocks[first].is_item && in_section(first - 1) && at - first < 12 {
        first -= 1;
    }
    if first < at && blocks[first].text.ends_with(':') && blocks[first].text.len() < MIN_BYTES {
        n += add(first, chosen);
    }
    let mut last = at;
    while in_section(last + 1) {
        let is_introduction = blocks[last].text.ends_with(':');
        if !is_introduction && (n >= MIN_BYTES || blocks[last + 1].is_code) {
            break;
        }
        last += 1;
        n += add(last, chosen).max(1);
    }
}

/// Returns true if a block is a row of a table.
fn is_row(block: &TextBlock) -> bool {
    block.text.starts_with('|')
}

/// Joins blocks that follow each other to passages.
fn joined(document: &TextBlocks, chosen: &[(usize, usize)]) -> Vec<Passage> {
    let mut passages: Vec<Passage> = Vec::new();
    let mut before = None;
    for (at, max) in chosen {
        let block = &document.blocks[*at];
        let text = shortened(block, *max);
        if text.is_empty() {
            continue;
        }
        let section = block.section.map(|row| document.sections[row].title.as_str());
        match passages.last_mut() {
            Some(last) if before == Some((at - 1, block.section)) => {
                last.text.push(if block.is_item || block.is_code { '\n' } else { ' ' });
                last.text.push_str(&text);
            }
            _ => passages.push(Passage {
                line: block.line,
                section: section.unwrap_or_default().to_string(),
                text,
            }),
        }
        before = Some((*at, block.section));
    }
    passages
}

/// Returns the text of a block, cut at the end of a sentence or at least of a word.
fn shortened(block: &TextBlock, max: usize) -> String {
    let after_digits = block.text.trim_start_matches(|c: char| c.is_ascii_digit());
    let has_number = after_digits.len() < block.text.len() && after_digits.starts_with(". ");
    let is_marked = is_row(block) || has_number;
    let item = if block.is_item && !is_marked { "- " } else { "" };
    if block.text.len() <= max {
        return format!("{item}{}", block.text);
    }
    let cut = prefix(&block.text, max);
    let sentence = cut.rfind(". ").map(|at| at + 1).filter(|at| *at * 2 >= cut.len());
    match sentence.or_else(|| cut.rfind(' ')) {
        Some(end) => format!("{item}{} …", &cut[..end]),
        None => String::new(),
    }
}

/// Rates a short text such as a title, like [`RatedBlocks::score`].
pub fn rate_text(text: &str, query: &Query) -> u32 {
    let found = found(&hashes(query), query, text);
    let terms = query.terms.iter().enumerate().filter(|(i, _)| found.has(*i));
    let sum = terms.map(|(_, term)| 2 * term.idf).sum::<u32>() + found.phrases;
    sum * 500 / query.total_idf()
}

/// Returns the terms of a query by hash.
fn hashes(query: &Query) -> FxHashMap<u32, usize> {
    let terms = query.terms.iter().enumerate();
    terms.flat_map(|(i, term)| term.hashes.iter().map(move |hash| (*hash, i))).collect()
}

/// Rates every block. A block that has all terms, in order, gets about 100,000.
fn scores(document: &TextBlocks, query: &Query) -> Vec<u64> {
    let terms = hashes(query);
    let total = u64::from(query.total_idf());
    let weights = section_weights(document);
    let headings: Vec<Found> =
        document.sections.iter().map(|section| found(&terms, query, &section.title)).collect();
    let score = |block: &TextBlock| {
        let own = found(&terms, query, &block.text);
        // Words of the heading are context: they count half.
        let mut sum = 0;
        for (i, term) in query.terms.iter().enumerate() {
            let in_heading = block.section.is_some_and(|row| headings[row].has(i));
            let share = if own.has(i) { 2 } else { u64::from(in_heading) };
            sum += share * u64::from(term.idf);
        }
        sum += u64::from(own.phrases);
        let weight = match block.is_code {
            true => CODE_WEIGHT,
            false => block.section.map_or(USUAL_WEIGHT, |row| weights[row]),
        };
        sum * 500 * weight * HALF_LENGTH / (HALF_LENGTH + own.n_words) / total
    };
    document.blocks.iter().map(score).collect()
}

/// The terms of a query that a text has.
#[derive(Default)]
struct Found {
    /// Bits of the terms.
    terms: u32,
    /// Sum of the IDF of terms that follow each other as in the query.
    phrases: u32,
    n_words: u64,
}

impl Found {
    fn has(&self, term: usize) -> bool {
        self.terms >> term & 1 == 1
    }
}

fn found(terms: &FxHashMap<u32, usize>, query: &Query, text: &str) -> Found {
    let mut found = Found::default();
    let mut phrases = 0u32;
    let (mut last, mut at): (Option<(usize, usize)>, usize) = (None, 0);
    words(text, |word, hash| {
        at += 1;
        let term = is_term(word, hash).then(|| terms.get(&term_hash(stem(word))));
        let Some(term) = term.flatten().copied() else { return };
        found.terms |= 1 << term;
        if let Some((before, place)) = last
            && term == before + 1
            && at - place <= MAX_DISTANCE
            && phrases >> term & 1 == 0
        {
            phrases |= 1 << term;
            found.phrases += (query.terms[before].idf + query.terms[term].idf) / 2;
        }
        last = Some((term, at));
    });
    found.n_words = at as u64;
    found
}

/// Returns the weight of each section. A section has the weight of the one it is part of, unless its
/// own name has one.
fn section_weights(document: &TextBlocks) -> Vec<u64> {
    let mut weights = Vec::with_capacity(document.sections.len());
    let mut open: Vec<(u8, u64)> = Vec::new();
    for section in &document.sections {
        while open.last().is_some_and(|(level, _)| *level >= section.level) {
            open.pop();
        }
        let inherited = open.last().map_or(USUAL_WEIGHT, |(_, weight)| *weight);
        let weight = WEIGHTS.get(section.name.as_str()).copied().unwrap_or(inherited);
        open.push((section.level, weight));
        weights.push(weight);
    }
    weights
}

#[cfg(test)]
mod tests {
    use super::super::index::tests::index;
    use super::*;
    use crate::model::BlockSection;

    /// Returns a document with one section per pair of a name and the text of its blocks.
    fn document(sections: &[(&str, &[&str])]) -> TextBlocks {
        let mut document = TextBlocks::default();
        for (name, texts) in sections {
            let (title, name) = (name.to_string(), name.to_lowercase());
            document.sections.push(BlockSection { level: 2, title, name });
            for text in *texts {
                let item = text.strip_prefix("- ");
                document.blocks.push(TextBlock {
                    line: document.blocks.len() as u32 + 1,
                    section: Some(document.sections.len() - 1),
                    text: item.unwrap_or(text).to_string(),
                    is_item: item.is_some(),
                    is_code: false,
                });
            }
        }
        document
    }

    fn passages(document: &TextBlocks, query: &str, max_bytes: usize) -> BestPassages {
        let titles = document.sections.iter().map(|section| section.title.as_str());
        let texts = document.blocks.iter().map(|block| block.text.as_str()).chain(titles);
        let index = index(&texts.collect::<Vec<&str>>(), &[]);
        RatedBlocks::new(document.clone(), &Query::new(&index, query)).best_passages(max_bytes)
    }

    #[test]
    fn the_decision_comes_before_the_context_and_the_alternatives() {
        let text = "We store the lantern in the harbour.";
        let document = document(&[
            ("Context", &["The lantern is in the harbour now."]),
            ("Alternatives considered", &[text]),
            ("Decision", &[text]),
            ("Notes", &["Nothing else."]),
        ]);
        let best = passages(&document, "where is the lantern of the harbour", 60);
        assert_eq!(best.line, 3);
        assert_eq!(best.passages[0].section, "Decision");
        assert_eq!(best.passages[0].text, text);
    }

    #[test]
    fn an_item_is_shown_with_the_sentence_that_introduces_it() {
        let document = document(&[(
            "Rules",
            &["Every lantern follows these rules:", "- it is lit", "- it is blue at the harbour"],
        )]);
        let best = passages(&document, "blue harbour", 400);
        let shown = "Every lantern follows these rules:\n- it is lit\n- it is blue at the harbour";
        let expected = "Every lantern follows these rules:";
        assert!(best.passages[0].text.starts_with(expected), "{:?} {shown}", best.passages);
        assert_eq!(best.line, 3);
    }

    #[test]
    fn a_row_of_a_table_is_shown_with_the_first_row() {
        let mut rows: Vec<String> = (0..30).map(|n| format!("- | pier {n} | grey |")).collect();
        rows.insert(0, "- | place | colour of the flame |".to_string());
        rows.push("- | lighthouse | green |".to_string());
        let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
        let document = document(&[("Flames", &rows)]);
        let best = passages(&document, "lighthouse", 80);
        let shown: Vec<&str> = best.passages.iter().map(|passage| passage.text.as_str()).collect();
        assert_eq!(shown, ["| place | colour of the flame |", "| lighthouse | green |"]);
    }

    #[test]
    fn a_heading_finds_the_text_below_it() {
        let document = document(&[
            ("Lanterns", &["They are green."]),
            ("Reasons for withdrawal", &["Too few keepers wanted it."]),
        ]);
        let best = passages(&document, "withdrawal reasons", 100);
        assert_eq!(best.passages[0].text, "Too few keepers wanted it.");
    }

    #[test]
    fn passages_are_cut_at_a_sentence_and_fit_the_limit() {
        let long = "The lantern is lit. ".repeat(40);
        let document = document(&[("Decision", &[long.trim()])]);
        for max in [0, 10, 61, 100, 300, 2_000] {
            let best = passages(&document, "lantern", max);
            let n: usize = best.passages.iter().map(|passage| passage.text.len()).sum();
            assert!(n <= max + 4, "{n} of {max}");
        }
        let best = passages(&document, "lantern", 100);
        assert!(best.passages[0].text.ends_with("lit. …"), "{:?}", best.passages);
        assert!(passages(&document, "zebra", 100).passages.is_empty());
    }

    #[test]
    fn every_weight_is_listed_once_in_lower_case() {
        let entries = rules::entries(include_str!("rules/section_weights.txt"));
        let names = entries.flat_map(|entry| entry.split_once(' ').unwrap().1.split(", "));
        let names: Vec<&str> = names.collect();
        assert_eq!(names.len(), WEIGHTS.len());
        assert!(names.iter().all(|name| *name == name.to_lowercase().trim()));
    }
}
