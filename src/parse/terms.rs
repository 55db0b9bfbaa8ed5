//! What a document is about, in words with counts, and the words citing_lines its references.

use super::Page;
use crate::model::terms::{bigram, folded, hash};
use crate::model::word::{is_term, stem, stems, words};
use crate::model::{CitingLines, Reference, Terms};

/// Words kept of one document.
const MAX_TERMS: usize = 160;

/// Pairs of words kept of one document.
const MAX_PAIRS: usize = 4_096;

/// Words kept of one line, and lines that are looked at.
const MAX_AROUND: usize = 40;
const MAX_LINES: usize = 1_000;

/// How often a word of a title, of a heading and of the text counts.
const IN_TITLE: u32 = 6;
const IN_HEADING: u32 = 3;
const IN_TEXT: u32 = 1;

/// The words of a document, the most frequent ones.
pub(super) fn terms(page: &Page<'_>, title: Option<&str>) -> Terms {
    let mut counted = Counted::new();
    counted.count(title.unwrap_or_default(), IN_TITLE);
    page.body.headings.iter().for_each(|heading| counted.count(&heading.title, IN_HEADING));
    counted.count(&page.text[page.start..], IN_TEXT);
    counted.terms()
}

/// The words of every line that refers to something.
pub(super) fn citing_lines(page: &Page<'_>, references: &[Reference]) -> CitingLines {
    let mut lines: Vec<u32> = references.iter().map(|reference| reference.line).collect();
    lines.sort_unstable();
    lines.dedup();
    let mut citing_lines = CitingLines::default();
    for line in lines.into_iter().filter(|line| *line > 0).take(MAX_LINES) {
        citing_lines.push(line, &stems(page.lines.text(page.text, line), MAX_AROUND));
    }
    citing_lines
}

/// Words counted by a hash of each.
struct Table {
    /// Row of `entries` plus one, by hash; 0 where there is none.
    slots: Vec<u32>,
    entries: Vec<Entry>,
}

struct Entry {
    hash: u64,
    /// What it was called with first.
    what: u64,
    count: u32,
}

impl Table {
    fn new() -> Table {
        Table { slots: vec![0; 1024], entries: Vec::with_capacity(256) }
    }

    /// Counts a hash; what it is, is asked for the first time, and given every time.
    #[inline]
    fn add(&mut self, hash: u64, count: u32, what: impl FnOnce() -> u64) -> u64 {
        let last = self.slots.len() - 1;
        let mut at = folded(hash) as usize & last;
        while let Some(row) = self.slots[at].checked_sub(1) {
            let entry = &mut self.entries[row as usize];
            if entry.hash == hash {
                entry.count += count;
                return entry.what;
            }
            at = (at + 1) & last;
        }
        let what = what();
        self.entries.push(Entry { hash, what, count });
        self.slots[at] = self.entries.len() as u32;
        if self.entries.len() * 2 > self.slots.len() {
            self.grow();
        }
        what
    }

    fn grow(&mut self) {
        self.slots = vec![0; self.slots.len() * 4];
        for (row, entry) in self.entries.iter().enumerate() {
            let mut at = folded(entry.hash) as usize & (self.slots.len() - 1);
            while self.slots[at] != 0 {
                at = (at + 1) & (self.slots.len() - 1);
            }
            self.slots[at] = row as u32 + 1;
        }
    }
}

/// Numbers, each once, in the order in which they came.
struct Set {
    /// Numbers by themselves; 0 where there is none.
    slots: Vec<u32>,
    all: Vec<u32>,
}

impl Set {
    fn new() -> Set {
        Set { slots: vec![0; 1024], all: Vec::with_capacity(256) }
    }

    /// Adds a number that is not 0.
    #[inline]
    fn add(&mut self, number: u32) {
        let at = self.place(number);
        if self.slots[at] == 0 {
            self.slots[at] = number;
            self.all.push(number);
            if self.all.len() * 2 > self.slots.len() {
                self.grow();
            }
        }
    }

    /// Where a number is, or would be.
    #[inline]
    fn place(&self, number: u32) -> usize {
        let last = self.slots.len() - 1;
        let mut at = number as usize & last;
        while self.slots[at] != 0 && self.slots[at] != number {
            at = (at + 1) & last;
        }
        at
    }

    fn grow(&mut self) {
        self.slots = vec![0; self.slots.len() * 4];
        for i in 0..self.all.len() {
            let at = self.place(self.all[i]);
            self.slots[at] = self.all[i];
        }
    }
}

/// Every word of a document once, with how often it counts and what it is compared by.
struct Counted {
    /// Words with the hash of their stem, or 0 for one that says nothing.
    table: Table,
    /// The words, one after another, in the order of the table, and where each ends.
    text: String,
    ends: Vec<u32>,
    /// Telling words that follow each other.
    bigrams: Set,
}

impl Counted {
    fn new() -> Counted {
        Counted {
            table: Table::new(),
            text: String::with_capacity(2_048),
            ends: Vec::with_capacity(256),
            bigrams: Set::new(),
        }
    }

    fn count(&mut self, text: &str, times: u32) {
        let Counted { table, text: all, ends, bigrams } = self;
        let mut last = 0;
        words(text, |word, whole| {
            let stem = table.add(whole, times, || {
                all.push_str(word);
                ends.push(all.len() as u32);
                if is_term(word, whole) { hash(stem(word).as_bytes()) } else { 0 }
            });
            if stem == 0 {
                return;
            }
            if last != 0 && bigrams.all.len() < MAX_PAIRS {
                bigrams.add(bigram(folded(last), folded(stem)));
            }
            last = stem;
        });
    }

    fn word(&self, row: usize) -> &str {
        let start = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start as usize..self.ends[row] as usize]
    }

    /// Adds up what has the same stem. Done once for each word and not each time it occurs.
    fn terms(self) -> Terms {
        let mut stems = Table::new();
        for (row, entry) in self.table.entries.iter().enumerate() {
            if entry.what != 0 {
                stems.add(entry.what, entry.count, || row as u64);
            }
        }
        // The most frequent stay; among equals those that come first.
        let key =
            |(row, entry): (usize, &Entry)| u64::from(u32::MAX - entry.count) << 32 | row as u64;
        let mut rows: Vec<u64> = stems.entries.iter().enumerate().map(key).collect();
        if rows.len() > MAX_TERMS {
            rows.select_nth_unstable(MAX_TERMS);
            rows.truncate(MAX_TERMS);
        }
        rows.sort_unstable();
        let mut terms = Terms::with_capacity(rows.len());
        for row in rows {
            let Entry { hash, what, count } = &stems.entries[row as u32 as usize];
            terms.push(self.word(*what as usize), folded(*hash), *count);
        }
        terms.bigrams = self.bigrams.all;
        terms
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::term_hash;
    use crate::model::word::bigrams;

    #[test]
    fn words_are_counted_by_their_stem_and_the_frequent_stay() {
        let mut counted = Counted::new();
        for i in 0..2_000 {
            counted.count(&format!("word{i}x"), 1);
        }
        for word in ["cache", "caches", "cached", "the", "the", "the", "the"] {
            counted.count(word, 1);
        }
        let terms = counted.terms();
        assert_eq!((terms.hashes[0], terms.counts[0]), (term_hash(stem("cache")), 3));
        assert!(terms.words.starts_with("cache "));
        assert_eq!(terms.hashes.len(), MAX_TERMS);
    }

    #[test]
    fn a_title_is_taken_apart_as_a_text_is() {
        let mut counted = Counted::new();
        counted.count("HTTPServer für TokenCounter", 1);
        let mut text: Vec<u32> = counted.terms().hashes;
        let mut title = stems("The HTTPServer für TokenCounters", 9);
        text.sort_unstable();
        title.sort_unstable();
        assert_eq!(text, title);
    }

    #[test]
    fn a_text_that_says_a_title_has_all_its_pairs() {
        let mut counted = Counted::new();
        counted.count("We found freedom through the\nconstraints of it, and no more.", 1);
        let said = counted.terms().bigrams;
        let title = bigrams("Freedom Through Constraint", 9);
        assert!(!title.is_empty() && title.iter().all(|pair| said.contains(pair)));
        assert!(bigrams("Constraint and freedom", 9).iter().all(|pair| !said.contains(pair)));
    }
}
