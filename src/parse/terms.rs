//! What a document is about, in words with counts, and the words around its references.

use super::Page;
use crate::model::terms::{folded, hash};
use crate::model::word::{is_telling, stem, stems, words};
use crate::model::{Around, Reference, Terms};

/// Words kept of one document.
const MAX_TERMS: usize = 160;

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
pub(super) fn around(page: &Page<'_>, references: &[Reference]) -> Around {
    let mut lines: Vec<u32> = references.iter().map(|reference| reference.line).collect();
    lines.sort_unstable();
    lines.dedup();
    let mut around = Around::default();
    for line in lines.into_iter().filter(|line| *line > 0).take(MAX_LINES) {
        around.push(line, &stems(page.lines.text(page.text, line), MAX_AROUND));
    }
    around
}

/// Words counted by a hash of each.
struct Table {
    /// Row of `entries` plus one, by hash; 0 where there is none.
    slots: Vec<u32>,
    entries: Vec<Entry>,
}

struct Entry {
    hash: u64,
    count: u32,
    /// What it was called with first.
    what: u32,
}

impl Table {
    fn new() -> Table {
        Table { slots: vec![0; 1024], entries: Vec::with_capacity(256) }
    }

    #[inline]
    fn add(&mut self, hash: u64, count: u32, what: impl FnOnce() -> u32) {
        let last = self.slots.len() - 1;
        let mut at = folded(hash) as usize & last;
        while let Some(row) = self.slots[at].checked_sub(1) {
            let entry = &mut self.entries[row as usize];
            if entry.hash == hash {
                entry.count += count;
                return;
            }
            at = (at + 1) & last;
        }
        self.entries.push(Entry { hash, count, what: what() });
        self.slots[at] = self.entries.len() as u32;
        if self.entries.len() * 2 > self.slots.len() {
            self.grow();
        }
    }

    fn grow(&mut self) {
        let size = self.slots.len() * 4;
        self.slots = vec![0; size];
        for (row, entry) in self.entries.iter().enumerate() {
            let mut at = folded(entry.hash) as usize & (size - 1);
            while self.slots[at] != 0 {
                at = (at + 1) & (size - 1);
            }
            self.slots[at] = row as u32 + 1;
        }
    }
}

/// Every word of a document once, with how often it counts.
struct Counted {
    table: Table,
    /// The words, one after another, in the order of the table, and where each ends.
    text: String,
    ends: Vec<u32>,
}

impl Counted {
    fn new() -> Counted {
        let (text, ends) = (String::with_capacity(2_048), Vec::with_capacity(256));
        Counted { table: Table::new(), text, ends }
    }

    fn count(&mut self, text: &str, times: u32) {
        let Counted { table, text: all, ends } = self;
        words(text, |word, hash| {
            table.add(hash, times, || {
                all.push_str(word);
                ends.push(all.len() as u32);
                ends.len() as u32 - 1
            });
        });
    }

    fn word(&self, row: usize) -> &str {
        let start = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start as usize..self.ends[row] as usize]
    }

    /// Adds up what has the same stem. Done once for each word and not each time it occurs.
    fn terms(&self) -> Terms {
        let mut stems = Table::new();
        for (row, entry) in self.table.entries.iter().enumerate() {
            let word = self.word(row);
            if is_telling(word, entry.hash) {
                stems.add(hash(stem(word).as_bytes()), entry.count, || row as u32);
            }
        }
        // The most frequent stay; among equals those that come first.
        let key =
            |(row, entry): (usize, &Entry)| u64::from(u32::MAX - entry.count) << 32 | row as u64;
        let mut rows: Vec<u64> = stems.entries.iter().enumerate().map(key).collect();
        rows.sort_unstable();
        rows.truncate(MAX_TERMS);
        let mut terms = Terms::with_capacity(rows.len());
        for row in rows {
            let Entry { hash, count, what } = &stems.entries[row as u32 as usize];
            terms.push(self.word(*what as usize), folded(*hash), *count);
        }
        terms
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::term_hash;

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
        assert_eq!(terms.iter().next(), Some((term_hash(stem("cache")), 3)));
        assert!(terms.words.starts_with("cache "));
        assert_eq!(terms.iter().count(), MAX_TERMS);
    }

    #[test]
    fn a_title_is_taken_apart_as_a_text_is() {
        let mut counted = Counted::new();
        counted.count("HTTPServer für TokenCounter", 1);
        let mut text: Vec<u32> = counted.terms().iter().map(|(hash, _)| hash).collect();
        let mut title = stems("The HTTPServer für TokenCounters", 9);
        text.sort_unstable();
        title.sort_unstable();
        assert_eq!(text, title);
    }
}
