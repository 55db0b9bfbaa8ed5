//! Words that say what a file is for: of its path, of its first comment and of the names it defines.

use super::symbols::is_place;
use crate::model::word::{is_term, stem, words};
use crate::search::SearchIndex;

/// Maximum number of words of the path, and of a comment or names.
const MAX_PATH: usize = 6;
const MAX_TEXT: usize = 12;

/// Maximum number of lines in which the first comment is searched.
const MAX_LINES: usize = 80;

/// Words of a comment that is about the licence of a file.
const LICENCE: [&str; 4] = ["licen", "copyright", "spdx", "all rights reserved"];

/// Starts of lines of a comment.
const MARKS: [&str; 12] =
    ["//!", "///", "//", "/**", "/*", "*/", "*", "\"\"\"", "'''", "<!--", "--", "#"];

/// Words about a file, in lower case. Each stem occurs once.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct FileWords {
    /// Words of the most specific part of the path: the file name, or the folder of `mod.rs`.
    pub of_name: Vec<String>,
    /// Words of the whole path, the last parts first.
    pub of_path: Vec<String>,
    /// Words of the first comment; without a comment, of the names that the file defines.
    pub of_text: Vec<String>,
}

impl FileWords {
    /// Returns queries from the most specific to the most general, without repetitions.
    pub fn queries(&self) -> Vec<String> {
        let all = [self.of_path.as_slice(), &self.of_text].concat();
        let mut queries = vec![self.of_name.join(" "), self.of_path.join(" "), all.join(" ")];
        queries.dedup();
        queries.retain(|query| !query.is_empty());
        queries
    }
}

/// Returns the words of a file for a search. Words that no document has are left out, so that no
/// similar word is searched instead. `names` are those that the file defines.
pub fn file_words(
    index: &SearchIndex,
    path: &str,
    text: Option<&str>,
    names: &[String],
) -> FileWords {
    let place = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
    let parts: Vec<&str> = place.rsplit('/').collect();
    let specific = parts.iter().find(|part| has_specific_word(part)).copied().unwrap_or_default();
    let of_name = indexed(index, &[specific], MAX_PATH, is_place);
    let comment = text.map(first_comment).unwrap_or_default();
    let mut of_text = indexed(index, &[&comment], MAX_TEXT, |_| false);
    if of_text.is_empty() {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        of_text = indexed(index, &names, MAX_TEXT, is_place);
    }
    if of_name.is_empty() && of_text.is_empty() {
        // The folders alone say too little about a file.
        return FileWords::default();
    }
    let of_path = indexed(index, &parts, MAX_PATH, is_place);
    of_text.retain(|word| !of_path.iter().any(|known| stem(known) == stem(word)));
    FileWords { of_name, of_path, of_text }
}

fn has_specific_word(part: &str) -> bool {
    let mut has_word = false;
    words(part, |word, hash| has_word |= word.len() > 2 && is_term(word, hash) && !is_place(word));
    has_word
}

/// Returns the first words of texts that documents have, each once.
fn indexed(
    index: &SearchIndex,
    texts: &[&str],
    max: usize,
    is_left_out: fn(&str) -> bool,
) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for text in texts {
        words(text, |word, hash| {
            let is_wanted = found.len() < max
                && word.len() > 2
                && is_term(word, hash)
                && !is_left_out(word)
                && index.number_of(stem(word)).is_some()
                && !found.iter().any(|known| stem(known) == stem(word));
            if is_wanted {
                found.push(word.to_string());
            }
        });
    }
    found
}

/// Returns the first paragraph of the first comment that is not about the licence.
fn first_comment(text: &str) -> String {
    let mut comment = String::new();
    let mut is_open = None;
    for line in text.lines().take(MAX_LINES) {
        let bare = line.trim();
        let mark = MARKS.into_iter().find(|mark| bare.starts_with(mark));
        let is_code = matches!(mark, Some("#")) && is_directive(bare);
        let is_comment = (mark.is_some() && !is_code) || is_open.is_some();
        if let Some(mark @ ("\"\"\"" | "'''")) = mark {
            let is_one_line = bare.len() > 5 && bare.ends_with(mark);
            is_open = if is_open.is_some() || is_one_line { None } else { Some(mark) };
        }
        let words = bare.trim_matches(|c: char| !c.is_alphanumeric() && c != '.');
        if is_comment && !words.is_empty() {
            comment.push_str(words);
            comment.push(' ');
        } else if !comment.is_empty() {
            let lower = comment.to_lowercase();
            if !LICENCE.iter().any(|word| lower.contains(word)) {
                break;
            }
            comment.clear();
        }
    }
    let lower = comment.to_lowercase();
    if LICENCE.iter().any(|word| lower.contains(word)) {
        comment.clear();
    }
    comment
}

/// Returns true for a line such as `#include`, `#!` or `#[derive]`, which is no comment.
fn is_directive(line: &str) -> bool {
    let after = line.trim_start_matches('#');
    after.starts_with(['!', '['])
        || ["include", "define", "if", "pragma", "import", "region"]
            .iter()
            .any(|word| after.starts_with(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_comment_says_what_a_file_is_for() {
        for (text, expected) in [
            ("//! Owns the queue.\n//! And more.\n\nuse x;\n", "Owns the queue. And more. "),
            ("#!/bin/sh\n# Copyright me\n# Licensed\n\n# Runs the jobs\nx\n", "Runs the jobs "),
            ("\"\"\"Keeps jobs.\n\nLong text.\n\"\"\"\n", "Keeps jobs. "),
            ("\"\"\"Keeps jobs.\"\"\"\nx = 1\n", "Keeps jobs. "),
            ("/**\n * Keeps jobs.\n */\n", "Keeps jobs. "),
            ("#include <x.h>\n/* SPDX-License: MIT */\nint x;\n", ""),
            ("fn x() {}\n// Later.\n", "Later. "),
            ("", ""),
        ] {
            assert_eq!(first_comment(text), expected, "{text}");
        }
    }
}
