//! Words as they are compared: which count, and what their endings hide.

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

#[cfg(test)]
mod tests {
    use super::*;

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
