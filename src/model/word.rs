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

/// The lengths of common words, a bit for each, by their first letter.
const LENGTHS: [u32; 26] = {
    let mut lengths = [0; 26];
    let mut i = 0;
    while i < COMMON.len() {
        let word = COMMON[i].as_bytes();
        lengths[(word[0] - b'a') as usize] |= 1 << word.len();
        i += 1;
    }
    lengths
};

fn may_be_common(word: &str) -> bool {
    let first = word.as_bytes().first().map_or(u8::MAX, |byte| byte.wrapping_sub(b'a'));
    LENGTHS
        .get(usize::from(first))
        .is_some_and(|lengths| word.len() < 32 && lengths >> word.len() & 1 == 1)
}

/// Whether a lower-case word says something.
pub fn is_telling(word: &str) -> bool {
    word.len() >= 2
        && word.len() <= 40
        && !word.bytes().all(|b| b.is_ascii_digit())
        && !(may_be_common(word) && COMMON.binary_search(&word).is_ok())
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
    let mut lower = String::new();
    let mut at = 0;
    while let Some(byte) = text.as_bytes().get(at) {
        // Nearly all text is ASCII, and bytes are quicker than characters.
        let (len, hash, is_lower) = match CLASSES[usize::from(*byte)] {
            Class::Other => {
                at += 1;
                continue;
            }
            Class::Wide => (0, HASH_START, false),
            _ => ascii_word(&text.as_bytes()[at..]),
        };
        let ends = text.as_bytes().get(at + len);
        let wide = ends.is_some_and(|byte| CLASSES[usize::from(*byte)] == Class::Wide);
        if !wide && is_lower {
            tell_short(&text[at..at + len], hash, &mut tell);
            at += len;
            continue;
        }
        let len = if wide { wide_word(&text[at..]) } else { len };
        lower.clear();
        lower.extend(text[at..at + len].chars().flat_map(char::to_lowercase));
        let hash = lower.bytes().fold(HASH_START, hash_step);
        tell_short(&lower, hash, &mut tell);
        // Where no word begins there is one character to leave out.
        at += match len {
            0 => text[at..].chars().next().map_or(1, char::len_utf8),
            len => len,
        };
    }
}

fn tell_short(word: &str, hash: u64, tell: &mut impl FnMut(&str, u64)) {
    if !word.is_empty() && word.len() <= MAX_WORD {
        tell(word, hash);
    }
}

/// What a byte is in a word.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Class {
    Other,
    Lower,
    Upper,
    Digit,
    /// A part of a character that is not ASCII.
    Wide,
}

const CLASSES: [Class; 256] = {
    let mut classes = [Class::Other; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b'a'..=b'z' => Class::Lower,
            b'A'..=b'Z' => Class::Upper,
            b'0'..=b'9' => Class::Digit,
            0x80.. => Class::Wide,
            _ => Class::Other,
        };
        byte += 1;
    }
    classes
};

/// How long the word is that begins here as far as it is ASCII, its hash, and whether it is in
/// lower case.
fn ascii_word(bytes: &[u8]) -> (usize, u64, bool) {
    let (mut hash, mut is_lower, mut before) = (HASH_START, true, Class::Other);
    for (len, byte) in bytes.iter().enumerate() {
        let class = CLASSES[usize::from(*byte)];
        match class {
            Class::Other | Class::Wide => return (len, hash, is_lower),
            Class::Upper if before == Class::Lower => return (len, hash, is_lower),
            Class::Upper => is_lower = false,
            Class::Lower | Class::Digit => {}
        }
        hash = hash_step(hash, *byte);
        before = class;
    }
    (bytes.len(), hash, is_lower)
}

/// How long the word is that begins here.
fn wide_word(text: &str) -> usize {
    let mut after_lower = false;
    for (len, c) in text.char_indices() {
        if !c.is_alphanumeric() || (c.is_uppercase() && after_lower) {
            return len;
        }
        after_lower = c.is_lowercase();
    }
    text.len()
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

    /// The same words, a character at a time.
    fn plainly(text: &str) -> Vec<String> {
        let (mut all, mut word, mut before) = (Vec::new(), String::new(), ' ');
        for c in text.chars().chain([' ']) {
            if !c.is_alphanumeric() || (c.is_uppercase() && before.is_lowercase()) {
                all.push(std::mem::take(&mut word));
            }
            if c.is_alphanumeric() {
                word.extend(c.to_lowercase());
            }
            before = c;
        }
        all.retain(|word| !word.is_empty());
        all
    }

    #[test]
    fn words_are_those_that_are_found_a_character_at_a_time() {
        let pieces = ["a", "B", "7", "ä", "É", "ß", " ", "-", "„", "漢", "🙂", "xy", "QR", "İ"];
        let mut state = 1u64;
        for _ in 0..20_000 {
            let mut text = String::new();
            for _ in 0..9 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                text += pieces[(state >> 33) as usize % pieces.len()];
            }
            let mut found = Vec::new();
            words(&text, |word, hash| {
                assert_eq!(hash, word.bytes().fold(HASH_START, hash_step), "{text}");
                found.push(word.to_string());
            });
            assert_eq!(found, plainly(&text), "{text}");
        }
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
        assert!(COMMON.iter().all(|word| !is_telling(word)));
        assert!(is_telling("cache") && !is_telling("the") && !is_telling("2026"));
    }
}
