//! Words as they are compared: which count, and what their endings hide.

use super::terms::{HASH_START, hash_step, term_hash};

/// A longer word is cut off, and says nothing.
const MAX_WORD: usize = 64;

/// Words that say nothing about what a document is about.
const COMMON: &[&str] = &[
    "about",
    "above",
    "accepted",
    "adr",
    "after",
    "again",
    "all",
    "also",
    "am",
    "an",
    "and",
    "any",
    "are",
    "as",
    "at",
    "author",
    "authors",
    "be",
    "because",
    "been",
    "before",
    "being",
    "between",
    "both",
    "but",
    "by",
    "can",
    "com",
    "could",
    "created",
    "date",
    "did",
    "do",
    "does",
    "draft",
    "each",
    "eip",
    "eips",
    "erc",
    "for",
    "from",
    "github",
    "had",
    "has",
    "have",
    "here",
    "how",
    "html",
    "http",
    "https",
    "if",
    "implemented",
    "in",
    "into",
    "is",
    "it",
    "its",
    "just",
    "may",
    "md",
    "more",
    "most",
    "must",
    "no",
    "not",
    "of",
    "on",
    "one",
    "only",
    "or",
    "org",
    "other",
    "our",
    "out",
    "over",
    "own",
    "proposal",
    "proposed",
    "rfc",
    "same",
    "see",
    "shall",
    "should",
    "so",
    "some",
    "status",
    "such",
    "than",
    "that",
    "the",
    "their",
    "them",
    "then",
    "there",
    "these",
    "they",
    "this",
    "those",
    "to",
    "two",
    "type",
    "up",
    "use",
    "used",
    "uses",
    "using",
    "was",
    "we",
    "were",
    "what",
    "when",
    "where",
    "which",
    "while",
    "who",
    "why",
    "will",
    "with",
    "would",
    "www",
    "you",
    "your",
];

/// Whether a lower-case word says something.
pub fn is_telling(word: &str) -> bool {
    word.len() >= 2
        && word.len() <= 40
        && !word.bytes().all(|b| b.is_ascii_digit())
        && COMMON.binary_search(&word).is_err()
}

/// A word without its ending, so that `caches` and `cached` are one. Made for comparing, not for
/// reading.
pub fn stem(word: &str) -> &str {
    if !word.is_ascii() {
        return word;
    }
    let cut =
        |ending: &str, least: usize| word.strip_suffix(ending).filter(|rest| rest.len() >= least);
    let rest = if let Some(rest) = cut("ies", 3) {
        rest
    } else if word.ends_with("ss") || word.ends_with("us") || word.ends_with("is") {
        word
    } else {
        cut("s", 3).unwrap_or(word)
    };
    let endings = ["ation", "ing", "ed", "er", "ly", "e", "y"];
    let bare =
        endings.iter().find_map(|ending| rest.strip_suffix(ending).filter(|bare| bare.len() >= 4));
    bare.unwrap_or(rest)
}

/// The stems of a text's telling words, each once, by their numbers.
pub fn stems(text: &str, most: usize) -> Vec<u32> {
    let mut hashes = Vec::new();
    words(text, |word, _| {
        if hashes.len() < most && is_telling(word) {
            let hash = term_hash(stem(word));
            if !hashes.contains(&hash) {
                hashes.push(hash);
            }
        }
    });
    hashes
}

/// Every word of a text in lower case, with its hash; names of code are taken apart.
pub fn words(text: &str, mut tell: impl FnMut(&str, u64)) {
    let mut word = String::with_capacity(MAX_WORD + 8);
    let mut hash = HASH_START;
    let mut after_lower = false;
    let mut rest = text;
    while let Some(byte) = rest.bytes().next() {
        // Nearly all text is ASCII, and bytes are quicker than characters.
        let (alphanumeric, upper, lower, c) = if byte < 0x80 {
            rest = &rest[1..];
            let alphanumeric = byte.is_ascii_alphanumeric();
            let c = char::from(byte.to_ascii_lowercase());
            (alphanumeric, byte.is_ascii_uppercase(), byte.is_ascii_lowercase(), c)
        } else {
            let mut chars = rest.chars();
            let Some(c) = chars.next() else { break };
            rest = chars.as_str();
            (c.is_alphanumeric(), c.is_uppercase(), c.is_lowercase(), c)
        };
        if !word.is_empty() && (!alphanumeric || (upper && after_lower)) {
            tell(&word, hash);
            word.clear();
            hash = HASH_START;
        }
        if alphanumeric && word.len() < MAX_WORD {
            let start = word.len();
            match c.is_ascii() {
                true => word.push(c),
                false => word.extend(c.to_lowercase()),
            }
            hash = word.as_bytes()[start..].iter().fold(hash, |hash, byte| hash_step(hash, *byte));
        }
        after_lower = lower;
    }
    if !word.is_empty() {
        tell(&word, hash);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_code_are_taken_apart() {
        let mut all = Vec::new();
        words("The TokenCounter of `src/cache_layout.rs`, HTTPServer, ÄrgerÜber", |word, _| {
            all.push(word.to_string());
        });
        let expected = [
            "the",
            "token",
            "counter",
            "of",
            "src",
            "cache",
            "layout",
            "rs",
            "httpserver",
            "ärger",
            "über",
        ];
        assert_eq!(all, expected);
    }

    #[test]
    fn endings_do_not_count() {
        for words in [
            &["cache", "caches", "cached", "caching"][..],
            &["validator", "validators"],
            &["policy", "policies"],
            &["building", "build", "builder", "builds"],
        ] {
            let stems: Vec<&str> = words.iter().map(|word| stem(word)).collect();
            assert!(stems.iter().all(|stem| *stem == stems[0]), "{stems:?}");
        }
        assert_ne!(stem("class"), stem("clas"));
        assert_eq!(stem("für"), "für");
    }

    #[test]
    fn the_list_of_common_words_is_sorted() {
        assert!(COMMON.is_sorted());
        assert!(is_telling("cache") && !is_telling("the") && !is_telling("2026"));
    }
}
