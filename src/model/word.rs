//! Words as they are compared: which count, and what their endings hide.

use std::sync::LazyLock;

use super::terms::{HASH_START, bigram, hash, hash_step, term_hash};

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

/// Hashes of the common words, each where [`place`] begins to look for it; 0 where there is none.
static COMMON_HASHES: LazyLock<[u64; 512]> = LazyLock::new(|| {
    let mut hashes = [0; 512];
    for word in COMMON {
        let hash = hash(word.as_bytes());
        let at = place(&hashes, hash);
        hashes[at] = hash;
    }
    hashes
});

/// Where a hash is, or would be. Most places are empty.
fn place(hashes: &[u64; 512], hash: u64) -> usize {
    let mut at = (hash >> 40) as usize % 512;
    while hashes[at] != 0 && hashes[at] != hash {
        at = (at + 1) % 512;
    }
    at
}

/// Whether a lower-case word with this hash says something.
#[inline]
pub fn is_telling(word: &str, hash: u64) -> bool {
    let bytes = word.as_bytes();
    bytes.len() >= 2
        && bytes.len() <= 40
        && !(bytes[0].is_ascii_digit() && bytes.iter().all(u8::is_ascii_digit))
        && COMMON_HASHES[place(&COMMON_HASHES, hash)] == 0
}

/// A word without its ending, so that `caches` and `cached` are one. Made for comparing, not for
/// reading.
#[inline]
pub fn stem(word: &str) -> &str {
    // An ending is ASCII, so what is left is whole characters.
    let len = stem_len(word.as_bytes());
    if len < word.len() && !word.is_ascii() { word } else { &word[..len] }
}

fn stem_len(word: &[u8]) -> usize {
    let rest = match word {
        [rest @ .., b'i', b'e', b's'] if rest.len() >= 3 => rest,
        [.., b's' | b'u' | b'i', b's'] => word,
        [rest @ .., b's'] if rest.len() >= 3 => rest,
        _ => word,
    };
    match rest {
        [bare @ .., b'a', b't', b'i', b'o', b'n'] if bare.len() >= 4 => bare.len(),
        [bare @ .., b'i', b'n', b'g'] if bare.len() >= 4 => bare.len(),
        [bare @ .., b'e', b'd' | b'r'] | [bare @ .., b'l', b'y'] if bare.len() >= 4 => bare.len(),
        [bare @ .., b'e' | b'y'] if bare.len() >= 4 => bare.len(),
        _ => rest.len(),
    }
}

/// The stems of a text's telling words, each once, by their numbers.
pub fn stems(text: &str, most: usize) -> Vec<u32> {
    let mut hashes = Vec::new();
    words(text, |word, whole| {
        if hashes.len() < most && is_telling(word, whole) {
            let hash = term_hash(stem(word));
            if !hashes.contains(&hash) {
                hashes.push(hash);
            }
        }
    });
    hashes
}

/// Every two telling words of a short text that follow each other, once, by their numbers.
pub fn bigrams(text: &str, most: usize) -> Vec<u32> {
    let (mut bigrams, mut last) = (Vec::new(), None);
    words(text, |word, whole| {
        if is_telling(word, whole) {
            let hash = term_hash(stem(word));
            let found = last.replace(hash).map(|last| bigram(last, hash));
            bigrams.extend(found.filter(|found| bigrams.len() < most && !bigrams.contains(found)));
        }
    });
    bigrams
}

/// Every word of a text in lower case, with its hash; names of code are taken apart.
pub fn words(text: &str, mut tell: impl FnMut(&str, u64)) {
    let bytes = text.as_bytes();
    let mut lower = String::new();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        if CLASSES[usize::from(*byte)] == OTHER {
            at += 1;
            continue;
        }
        let (mut len, number) = lower_word(&bytes[at..]);
        let class = bytes.get(at + len).map_or(OTHER, |byte| CLASSES[usize::from(*byte)]);
        // Nearly every word is letters in lower case, and ends where they do.
        if class == OTHER || (class == UPPER && len > 0) {
            tell_short(&text[at..at + len], number, &mut tell);
            at += len;
            continue;
        }
        let (ascii, classes) = ascii_word(&bytes[at..]);
        len = if classes & WIDE != 0 { wide_word(&text[at..]) } else { ascii };
        let word = &text[at..at + len];
        if classes & (WIDE | UPPER) == 0 {
            tell_short(word, hash(word.as_bytes()), &mut tell);
        } else {
            lower.clear();
            if classes & WIDE == 0 {
                lower.push_str(word);
                lower.make_ascii_lowercase();
            } else {
                lower.extend(word.chars().flat_map(char::to_lowercase));
            }
            tell_short(&lower, hash(lower.as_bytes()), &mut tell);
        }
        // Where no word begins there is one character to leave out.
        at += match len {
            0 => text[at..].chars().next().map_or(1, char::len_utf8),
            len => len,
        };
    }
}

#[inline]
fn tell_short(word: &str, hash: u64, tell: &mut impl FnMut(&str, u64)) {
    if !word.is_empty() && word.len() <= MAX_WORD {
        tell(word, hash);
    }
}

/// What a byte is in a word, a bit each.
const OTHER: u8 = 0;
const LOWER: u8 = 1;
const UPPER: u8 = 2;
const DIGIT: u8 = 4;
/// A part of a character that is not ASCII.
const WIDE: u8 = 8;

const CLASSES: [u8; 256] = {
    let mut classes = [OTHER; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b'a'..=b'z' => LOWER,
            b'A'..=b'Z' => UPPER,
            b'0'..=b'9' => DIGIT,
            0x80.. => WIDE,
            _ => OTHER,
        };
        byte += 1;
    }
    classes
};

/// How many letters in lower case these bytes begin with, and their hash.
#[inline]
fn lower_word(bytes: &[u8]) -> (usize, u64) {
    let (mut len, mut hash) = (0, HASH_START);
    let last = loop {
        let Some(part) = bytes[len..].first_chunk::<8>() else { break first_eight(&bytes[len..]) };
        let part = u64::from_le_bytes(*part);
        if n_lower(part) < 8 {
            break part;
        }
        hash = hash_step(hash, part);
        len += 8;
    };
    let n = n_lower(last);
    if n > 0 {
        hash = hash_step(hash, last & ((1 << (8 * n)) - 1));
    }
    (len + n, hash)
}

/// Bytes where there are fewer than eight of them, as if nothing came after.
fn first_eight(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |part, byte| part << 8 | u64::from(*byte))
}

/// How many letters in lower case eight bytes begin with.
#[inline]
fn n_lower(part: u64) -> usize {
    const EACH: u64 = 0x0101_0101_0101_0101;
    // The top bit of each byte says whether it is at least `a`, and whether it is more than `z`.
    let low = part & (0x7f * EACH);
    let from_a = low + (0x80 - b'a' as u64) * EACH;
    let past_z = low + (0x7f - b'z' as u64) * EACH;
    let lower = from_a & !past_z & !part & (0x80 * EACH);
    (lower ^ (0x80 * EACH)).trailing_zeros() as usize / 8
}

/// How long the word is that begins here as far as it is ASCII, and what is in it and ends it.
fn ascii_word(bytes: &[u8]) -> (usize, u8) {
    let (mut classes, mut before) = (0, OTHER);
    for (len, byte) in bytes.iter().enumerate() {
        let class = CLASSES[usize::from(*byte)];
        if class == OTHER || (class == UPPER && before == LOWER) {
            return (len, classes);
        }
        classes |= class;
        if class == WIDE {
            return (len, classes);
        }
        before = class;
    }
    (bytes.len(), classes)
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
        let pieces = [
            "a", "B", "7", "ä", "É", "ß", " ", "-", "„", "漢", "🙂", "xy", "QR", "İ", "abcdefgh",
            "{", "`", "z",
        ];
        let mut state = 1u64;
        for _ in 0..20_000 {
            let mut text = String::new();
            for _ in 0..9 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                text += pieces[(state >> 33) as usize % pieces.len()];
            }
            let mut found = Vec::new();
            words(&text, |word, number| {
                assert_eq!(number, hash(word.as_bytes()), "{text}");
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
        let is_telling = |word: &str| is_telling(word, hash(word.as_bytes()));
        assert!(COMMON.iter().all(|word| !is_telling(word)));
        assert!(is_telling("cache") && !is_telling("the") && !is_telling("2026"));
    }
}
