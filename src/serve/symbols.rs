//! Finds the names that a file of code defines, by simple rules for common languages.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::model::rules;

/// Maximum number of names per file.
const MAX_NAMES: usize = 400;

/// Maximum number of words of a line that are looked at.
const MAX_WORDS: usize = 8;

/// Fewest characters of a name of one word, and of several.
const MIN_WORD: usize = 6;
const MIN_COMPOUND: usize = 5;

/// Kinds of words in the rules.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum CodeWord {
    Keyword,
    TopKeyword,
    Modifier,
}

struct DefinitionRules {
    words: FxHashMap<&'static str, CodeWord>,
    extensions: FxHashSet<&'static str>,
    c_like: FxHashSet<&'static str>,
    common: FxHashSet<&'static str>,
    places: FxHashSet<&'static str>,
}

static RULES: LazyLock<DefinitionRules> = LazyLock::new(|| {
    let mut rules = DefinitionRules {
        words: FxHashMap::default(),
        extensions: FxHashSet::default(),
        c_like: FxHashSet::default(),
        common: FxHashSet::default(),
        places: FxHashSet::default(),
    };
    for entry in rules::entries(include_str!("rules/definitions.txt")) {
        let mut words = entry.split_whitespace();
        let mut code_words = |kind: CodeWord, words: std::str::SplitWhitespace<'static>| {
            rules.words.extend(words.map(|word| (word, kind)));
        };
        match words.next() {
            Some("keyword") => code_words(CodeWord::Keyword, words),
            Some("top") => code_words(CodeWord::TopKeyword, words),
            Some("modifier") => code_words(CodeWord::Modifier, words),
            Some("extension") => rules.extensions.extend(words),
            Some("c_like") => rules.c_like.extend(words),
            Some("common") => rules.common.extend(words),
            _ => rules.places.extend(words),
        }
    }
    rules
});

/// Returns the distinctive names that a file defines, in order, each once. The name of the file is
/// one of them if it has several words.
pub fn defined(path: &str, text: &str) -> Vec<String> {
    let file = path.rsplit('/').next().unwrap_or(path);
    let (stem, extension) = file.rsplit_once('.').unwrap_or((file, ""));
    let extension = extension.to_ascii_lowercase();
    if !RULES.extensions.contains(extension.as_str()) {
        return Vec::new();
    }
    let is_c_like = RULES.c_like.contains(extension.as_str());
    let mut names = Vec::new();
    let mut known = BTreeSet::new();
    let mut add = |name: &str| {
        if names.len() < MAX_NAMES && is_distinctive(name) && known.insert(name.to_string()) {
            names.push(name.to_string());
        }
    };
    if is_compound(stem) && stem.bytes().all(is_part) {
        add(stem);
    }
    for line in text.lines() {
        let c_function = is_c_like.then(|| c_function(line)).flatten();
        let name = c_function.or_else(|| defined_in(line)).or_else(|| constant(line));
        if let Some(name) = name {
            add(name);
        }
    }
    names
}

/// Returns true for a word of a path that says nothing about what a file is for.
pub fn is_place(word: &str) -> bool {
    RULES.places.contains(word)
}

/// Returns true if a name has several words: `someName`, `SomeName`, `some_name`.
pub fn is_compound(name: &str) -> bool {
    let bytes = name.trim_matches('_').as_bytes();
    bytes.windows(2).any(|two| {
        (two[0].is_ascii_lowercase() && two[1].is_ascii_uppercase())
            || (two[0] == b'_' && two[1] != b'_')
    })
}

fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Returns true if a name in a text can be expected to mean what this file defines.
fn is_distinctive(name: &str) -> bool {
    let is_test = name.starts_with("test_") || name.starts_with("Test_");
    let min = if is_compound(name) { MIN_COMPOUND } else { MIN_WORD };
    let lower = name.to_ascii_lowercase();
    name.trim_matches('_').len() >= min
        && name.len() <= 64
        && !is_test
        && !RULES.common.contains(name)
        && (is_compound(name) || !RULES.common.contains(lower.as_str()))
}

/// Splits a word of letters, digits and underscores off a text.
fn first_word(text: &str) -> (&str, &str) {
    text.split_at(text.bytes().take_while(|byte| is_part(*byte)).count())
}

/// Returns the name that a line defines after a keyword.
fn defined_in(line: &str) -> Option<&str> {
    let mut rest = line.trim_start();
    let is_at_top = rest.len() == line.len();
    let mut has_keyword = false;
    for _ in 0..MAX_WORDS {
        rest = rest.trim_start_matches([' ', '\t', '*', '&', '!']);
        // Visibility, as in `pub(crate)`, and receivers, as in `func (s *Server) Run()`.
        if let Some(after) = rest.strip_prefix('(') {
            rest = &after[after.find(')')? + 1..];
            continue;
        }
        if let Some(after) = rest.strip_prefix('"') {
            rest = &after[after.find('"')? + 1..];
            continue;
        }
        let (word, after) = first_word(rest);
        let lower = word.to_ascii_lowercase();
        // SQL is often written in capitals.
        let known = RULES.words.get(word).or_else(|| {
            let is_upper_case = word.bytes().all(|byte| byte.is_ascii_uppercase());
            RULES.words.get(lower.as_str()).filter(|_| is_upper_case)
        });
        match known {
            Some(CodeWord::TopKeyword) => has_keyword |= is_at_top,
            Some(CodeWord::Keyword) => has_keyword = true,
            Some(CodeWord::Modifier) => {}
            None => return Some(word).filter(|word| has_keyword && !word.is_empty()),
        }
        rest = after;
    }
    None
}

/// Returns the name of a constant at the start of a line: `MAX_SIZE = 4`, `#define MAX_SIZE 4`.
fn constant(line: &str) -> Option<&str> {
    let defined = line.strip_prefix("#define ").map(str::trim_start);
    let (word, after) = first_word(defined.unwrap_or(line));
    let is_upper_case = word.contains('_') && !word.bytes().any(|byte| byte.is_ascii_lowercase());
    let is_assigned = defined.is_some() || after.trim_start().starts_with(['=', ':']);
    Some(word).filter(|_| is_upper_case && is_assigned)
}

/// Returns the name of a function in C: `static int read_header(struct reader *reader)`.
fn c_function(line: &str) -> Option<&str> {
    if !line.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        return None;
    }
    let before = &line[..line.find('(')?];
    if before.contains(['=', ';', '"', '#']) {
        return None;
    }
    let n = before.bytes().rev().take_while(|byte| is_part(*byte)).count();
    Some(&before[before.len() - n..]).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_common_languages() {
        for (path, text, names) in [
            (
                "a.rs",
                "pub(crate) async fn load_index(x: u8) {\n    let local_name = 1;\n    const fn twoWords() {}\n}\n// fn no_code\nmacro_rules! my_macro {}\n",
                &["load_index", "twoWords", "my_macro"][..],
            ),
            (
                "a.go",
                "func (s *Server) HandleQueue(x int) error {\ntype QueueLimits struct {\nvar maxJobs = 4\n",
                &["HandleQueue", "QueueLimits", "maxJobs"],
            ),
            (
                "a.py",
                "class JobQueue(Base):\n    def run_job(self):\n        MAX = 3\n    def __init__(self): pass\nMAX_JOBS = 3\ndef test_run_job(): pass\n",
                &["JobQueue", "run_job", "MAX_JOBS"],
            ),
            (
                "a.ts",
                "export default abstract class JobQueue {}\nexport const maxJobs = 4;\nexport enum class_ {}\n  const localOnly = 1;\n",
                &["JobQueue", "maxJobs"],
            ),
            ("a.sql", "CREATE TABLE IF NOT EXISTS job_queue (\n", &["job_queue"]),
            (
                "a.c",
                "#define MAX_JOBS 4\nstatic int read_header(struct x *y)\n{\n  call_other(1);\n}\nint x = call_this(1);\n",
                &["MAX_JOBS", "read_header"],
            ),
            ("job_queue.rs", "", &["job_queue"]),
            (
                "a.rs",
                "struct Parser;\nstruct Checkpoint;\nfn toString() {}\nstruct Ab;\n",
                &["Checkpoint"],
            ),
            ("a.md", "class JobQueue\n", &[]),
            ("Makefile", "fn load_index\n", &[]),
        ] {
            assert_eq!(defined(path, text), names, "{path}: {text}");
        }
    }

    #[test]
    fn odd_lines_define_nothing() {
        for line in ["", "fn", "fn (", "é", "fn é", "func (x", "\"fn", "pub pub pub", "class \"a"]
        {
            assert_eq!(defined("a.rs", line), Vec::<String>::new(), "{line}");
        }
        let many: String = (0..2_000).map(|i| format!("fn name_{i}() {{}}\n")).collect();
        assert_eq!(defined("a.rs", &many).len(), MAX_NAMES);
    }
}
