//! What a document is about, in words with counts, and the words around its references.

use super::Page;
use crate::model::terms::{HASH_START, folded, hash_step};
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
    let mut table = Table::new();
    words(title.unwrap_or_default(), |word, hash| table.add(word, hash, IN_TITLE));
    for heading in &page.body.headings {
        words(&heading.title, |word, hash| table.add(word, hash, IN_HEADING));
    }
    words(&page.text[page.start..], |word, hash| table.add(word, hash, IN_TEXT));
    table.terms()
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

/// Words counted by a number of each.
struct Table {
    /// Row of `entries` plus one, by hash; 0 where there is none.
    slots: Vec<u32>,
    entries: Vec<Entry>,
    text: String,
}

struct Entry {
    hash: u64,
    start: u32,
    len: u8,
    count: u32,
}

impl Table {
    fn new() -> Table {
        Table { slots: vec![0; 1024], entries: Vec::new(), text: String::new() }
    }

    fn add(&mut self, word: &str, hash: u64, count: u32) {
        let mut at = folded(hash) as usize & (self.slots.len() - 1);
        while let Some(row) = self.slots[at].checked_sub(1) {
            let entry = &mut self.entries[row as usize];
            if entry.hash == hash {
                entry.count += count;
                return;
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
        let start = self.text.len() as u32;
        self.text.push_str(word);
        self.entries.push(Entry { hash, start, len: word.len() as u8, count });
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

    fn word(&self, entry: &Entry) -> &str {
        let start = entry.start as usize;
        &self.text[start..start + usize::from(entry.len)]
    }

    /// Adds up what has the same stem. Done once for each word and not each time it occurs.
    fn terms(&self) -> Terms {
        let mut stems = Table::new();
        for entry in &self.entries {
            let word = self.word(entry);
            if is_telling(word) {
                let hash = stem(word).bytes().fold(HASH_START, hash_step);
                stems.add(word, hash, entry.count);
            }
        }
        // The most frequent stay; among equals those that come first.
        let mut rows: Vec<&Entry> = stems.entries.iter().collect();
        rows.sort_by_key(|entry| std::cmp::Reverse(entry.count));
        rows.truncate(MAX_TERMS);
        let mut terms = Terms::default();
        for entry in rows {
            terms.push(stems.word(entry), folded(entry.hash), entry.count);
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
        let mut table = Table::new();
        let add = |table: &mut Table, word: &str| {
            words(word, |word, hash| table.add(word, hash, 1));
        };
        for i in 0..2_000 {
            add(&mut table, &format!("word{i}x"));
        }
        for word in ["cache", "caches", "cached", "the", "the", "the", "the"] {
            add(&mut table, word);
        }
        let terms = table.terms();
        assert_eq!(terms.iter().next(), Some((term_hash(stem("cache")), 3)));
        assert!(terms.words.starts_with("cache "));
        assert_eq!(terms.iter().count(), MAX_TERMS);
    }

    #[test]
    fn a_title_is_taken_apart_as_a_text_is() {
        let mut table = Table::new();
        words("HTTPServer für TokenCounter", |word, hash| table.add(word, hash, 1));
        let mut text: Vec<u32> = table.terms().iter().map(|(hash, _)| hash).collect();
        let mut title = stems("The HTTPServer für TokenCounters", 9);
        text.sort_unstable();
        title.sort_unstable();
        assert_eq!(text, title);
    }
}
