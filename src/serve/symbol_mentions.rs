//! Finds the documents that name symbols of code.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashSet;

use super::Library;
use super::symbols::is_compound;
use crate::model::word::{is_term, stem, words};
use crate::search::SearchIndex;
use crate::wire::jsonl::DocumentLine;

/// Maximum number of documents whose text is read.
const MAX_READ: usize = 400;

/// A symbol that more than a tenth of the documents name, and more than this many, is too common.
const MAX_NAMING: usize = 5;

/// A document that names symbols.
#[derive(Debug)]
pub struct NamesSymbols {
    /// The document's line in the index.
    pub document: DocumentLine,
    /// The symbols, rarest first.
    pub symbols: Vec<SymbolMention>,
}

/// The first place in a document that names a symbol.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SymbolMention {
    /// The symbol.
    pub name: String,
    /// The line, counted from 1.
    pub line: usize,
}

/// Returns the documents that name any of these symbols, those with the most and rarest first. With
/// `all`, documents that are not live are included.
///
/// The search index has the words of a symbol, so only documents that have all of them are read.
pub fn find(
    library: &Library<'_>,
    index: &SearchIndex,
    symbols: &[String],
    all: bool,
) -> Vec<NamesSymbols> {
    let catalogue = &library.built.catalogue;
    let mut candidates: BTreeMap<usize, usize> = BTreeMap::new();
    for row in symbols.iter().flat_map(|symbol| rows_with_words(index, symbol)) {
        if row < catalogue.n_documents() && (all || catalogue.is_live(row)) {
            *candidates.entry(row).or_default() += 1;
        }
    }
    let mut rows: Vec<(usize, usize)> = candidates.into_iter().collect();
    rows.sort_by_key(|(row, n)| (Reverse(*n), Reverse(catalogue.weight(*row)), *row));
    let read = rows.into_iter().take(MAX_READ).filter_map(|(row, _)| {
        let document = catalogue.line(row)?;
        let text = library.reader.document(library.root, &document).ok()?.text;
        Some((row, document, mentions(&text, symbols)))
    });
    let read: Vec<(usize, DocumentLine, Vec<SymbolMention>)> = read.collect();
    let mut n_naming: BTreeMap<String, usize> = BTreeMap::new();
    for mention in read.iter().flat_map(|(_, _, mentions)| mentions) {
        *n_naming.entry(mention.name.clone()).or_default() += 1;
    }
    let max = MAX_NAMING.max(catalogue.n_documents() / 10);
    let mut found = Vec::new();
    for (row, document, mut symbols) in read {
        symbols.retain(|mention| n_naming[&mention.name] <= max);
        symbols.sort_by_key(|mention| (n_naming[&mention.name], mention.line));
        let score: usize = symbols.iter().map(|mention| 1_000 / n_naming[&mention.name]).sum();
        if score > 0 {
            let key = (Reverse(score), Reverse(catalogue.weight(row)), row);
            found.push((key, NamesSymbols { document, symbols }));
        }
    }
    found.sort_by_key(|(key, _)| *key);
    found.into_iter().map(|(_, found)| found).collect()
}

/// Returns the rows of the documents that have all words of a symbol.
fn rows_with_words(index: &SearchIndex, symbol: &str) -> BTreeSet<usize> {
    let mut rows: Option<BTreeSet<usize>> = None;
    words(symbol, |word, hash| {
        if !is_term(word, hash) {
            return;
        }
        let number = index.number_of(stem(word));
        let having: BTreeSet<usize> = number
            .map(|number| index.entries(number).map(|found| found.row).collect())
            .unwrap_or_default();
        rows = Some(match rows.take() {
            Some(rows) => rows.intersection(&having).copied().collect(),
            None => having,
        });
    });
    rows.unwrap_or_default()
}

/// Returns the first mention of each symbol in a text.
fn mentions(text: &str, symbols: &[String]) -> Vec<SymbolMention> {
    let mut wanted: FxHashSet<&str> = symbols.iter().map(String::as_str).collect();
    let mut found = Vec::new();
    let mut is_fenced = false;
    for (i, line) in text.lines().enumerate() {
        let start = line.trim_start();
        if start.starts_with("```") || start.starts_with("~~~") {
            is_fenced = !is_fenced;
            continue;
        }
        for (at, word) in identifiers(line) {
            if wanted.contains(word) && is_mention(line, at, word, is_fenced) {
                wanted.remove(word);
                found.push(SymbolMention { name: word.to_string(), line: i + 1 });
            }
        }
    }
    found
}

/// Returns true if a word of a line means a symbol. A symbol of one word may be an ordinary word, so
/// it counts only in code; in lower case, only in a call or a path, because code spans also contain
/// keys, flags and values.
fn is_mention(line: &str, at: usize, word: &str, is_fenced: bool) -> bool {
    let (before, after) = (&line[..at], &line[at + word.len()..]);
    let is_code = || is_fenced || before.bytes().filter(|byte| *byte == b'`').count() % 2 == 1;
    let is_used = || after.starts_with('(') || before.ends_with("::");
    let is_lower_case = !word.bytes().any(|byte| byte.is_ascii_uppercase());
    is_compound(word) || (is_code() && (!is_lower_case || is_used()))
}

/// Returns the words of a line that can be identifiers, with their offsets.
fn identifiers(line: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let mut at = 0;
    std::iter::from_fn(move || {
        let bytes = line.as_bytes();
        at += bytes[at..].iter().position(|byte| is_part(*byte))?;
        let len = bytes[at..].iter().take_while(|byte| is_part(**byte)).count();
        at += len;
        Some((at - len, &line[at - len..at]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_one_word_counts_only_in_code() {
        let symbols = ["job_queue", "Checkpoint", "JobQueue"].map(str::to_string);
        let found = |text: &str| -> Vec<(String, usize)> {
            let mentions = mentions(text, &symbols);
            mentions.into_iter().map(|mention| (mention.name, mention.line)).collect()
        };
        let text =
            "The Checkpoint.\n\nA job_queue, `x` Checkpoint.\nThe `a.Checkpoint()` job_queue.\n";
        assert_eq!(found(text), [("job_queue".to_string(), 3), ("Checkpoint".to_string(), 4)]);
        assert_eq!(found("```\nCheckpoint\n```\n"), [("Checkpoint".to_string(), 2)]);
        let symbols = ["review".to_string()];
        let lines = |text: &str| -> Vec<usize> {
            mentions(text, &symbols).iter().map(|mention| mention.line).collect()
        };
        assert_eq!(lines("`review`, `--review`\n`a::review` and `review(x)`\n"), [2]);
        assert!(found("my_job_queue job_queues JOB_QUEUE jobqueue é").is_empty());
    }
}
