//! What a document is about, in words with counts.

use super::Page;
use crate::model::Terms;
use crate::model::word::{is_telling, stem};

/// Words kept of one document.
const MAX_TERMS: usize = 240;

/// How often a word of a title, of a heading and of the text counts.
const IN_TITLE: u32 = 6;
const IN_HEADING: u32 = 3;
const IN_TEXT: u32 = 1;

/// The words of a document, the most frequent ones.
pub(super) fn terms(page: &Page<'_>, title: Option<&str>) -> Terms {
    let mut table = Table::new();
    words(title.unwrap_or_default(), &mut |word| table.add(word, IN_TITLE));
    for heading in &page.body.headings {
        words(&heading.title, &mut |word| table.add(word, IN_HEADING));
    }
    words(&page.text[page.start..], &mut |word| table.add(word, IN_TEXT));
    table.terms()
}

/// Every word of a text in lower case; names of code are taken apart.
fn words(text: &str, tell: &mut dyn FnMut(&str)) {
    let mut word = String::new();
    let mut before = ' ';
    for c in text.chars() {
        let ends = !c.is_alphanumeric() || (c.is_uppercase() && before.is_lowercase());
        if ends && !word.is_empty() {
            if is_telling(&word) {
                tell(&word);
            }
            word.clear();
        }
        if c.is_alphanumeric() && word.len() < 64 {
            match c.is_ascii() {
                true => word.push(c.to_ascii_lowercase()),
                false => word.extend(c.to_lowercase()),
            }
        }
        before = c;
    }
    if is_telling(&word) {
        tell(&word);
    }
}

/// Words counted by their stem.
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

    fn add(&mut self, word: &str, count: u32) {
        let hash = crate::model::term_hash(stem(word));
        let mut at = hash as usize & (self.slots.len() - 1);
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
            let mut at = entry.hash as usize & (size - 1);
            while self.slots[at] != 0 {
                at = (at + 1) & (size - 1);
            }
            self.slots[at] = row as u32 + 1;
        }
    }

    fn terms(mut self) -> Terms {
        // The most frequent stay; among equals those that come first.
        self.entries.sort_by_key(|entry| std::cmp::Reverse(entry.count));
        self.entries.truncate(MAX_TERMS);
        let mut terms = Terms::default();
        for entry in &self.entries {
            let start = entry.start as usize;
            terms.push(&self.text[start..start + usize::from(entry.len)], entry.count);
        }
        terms
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_code_are_taken_apart() {
        let mut all = Vec::new();
        words("The TokenCounter of `src/cache_layout.rs`, HTTPServer", &mut |word| {
            all.push(word.to_string());
        });
        assert_eq!(all, ["token", "counter", "src", "cache", "layout", "rs", "httpserver"]);
    }

    #[test]
    fn words_are_counted_by_their_stem_and_the_frequent_stay() {
        let mut table = Table::new();
        for i in 0..2_000 {
            table.add(&format!("word{i}x"), 1);
        }
        for word in ["cache", "caches", "cached"] {
            table.add(word, 1);
        }
        let terms = table.terms();
        assert_eq!(terms.iter().next(), Some(("cache", 3)));
        assert_eq!(terms.iter().count(), MAX_TERMS);
    }
}
