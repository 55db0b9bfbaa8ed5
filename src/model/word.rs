//! Splits text into terms: lower-case words without stop words and endings.

use std::sync::LazyLock;

use super::rules;
use super::terms::{HASH_START, bigram, first_eight, hash, hash_step, term_hash};

/// Maximum length of a word in bytes. Longer ones are skipped.
const MAX_WORD: usize = 64;

/// Words that are never terms.
const STOP_WORDS: &str = include_str!("rules/stop_words.txt");

/// Open-addressed hash table of the stop words' hashes; 0 is an empty slot.
static STOP_WORD_HASHES: LazyLock<[u64; 512]> = LazyLock::new(|| {
    let mut hashes = [0; 512];
    for word in rules::entries(STOP_WORDS) {
        let hash = hash(word.as_bytes());
        let at = slot(&hashes, hash);
        hashes[at] = hash;
    }
    hashes
});

/// Returns the slot of a hash, or the empty slot where it would be inserted.
fn slot(hashes: &[u64; 512], hash: u64) -> usize {
    let mut at = (hash >> 40) as usize % 512;
    while hashes[at] != 0 && hashes[at] != hash {
        at = (at + 1) % 512;
    }
    at
}

/// Returns true if a lower-case word with this hash is a term: not a stop word, a number, a single
/// byte or very long.
#[inline]
pub fn is_term(word: &str, hash: u64) -> bool {
    let bytes = word.as_bytes();
    bytes.len() >= 2
        && bytes.len() <= 40
        && !(bytes[0].is_ascii_digit() && bytes.iter().all(u8::is_ascii_digit))
        && STOP_WORD_HASHES[slot(&STOP_WORD_HASHES, hash)] == 0
}

/// Removes the ending of a word, so that `caches` and `cached` are the same term. Stems are for
/// comparison, not for display.
#[inline]
pub fn stem(word: &str) -> &str {
    // The endings are English, so words with letters outside ASCII are not stemmed.
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

/// Returns the hashes of the stems of a text's terms, each once, at most `max` of them.
pub fn stems(text: &str, max: usize) -> Vec<u32> {
    let mut hashes = Vec::new();
    words(text, |word, whole| {
        if hashes.len() < max && is_term(word, whole) {
            let hash = term_hash(stem(word));
            if !hashes.contains(&hash) {
                hashes.push(hash);
            }
        }
    });
    hashes
}

/// Returns the hashes of the bigrams of a short text's terms, each once, at most `max` of them.
pub fn bigrams(text: &str, max: usize) -> Vec<u32> {
    let (mut bigrams, mut last) = (Vec::new(), None);
    words(text, |word, whole| {
        if is_term(word, whole) {
            let hash = term_hash(stem(word));
            let bigram = last.replace(hash).map(|last| bigram(last, hash));
            bigrams.extend(bigram.filter(|hash| bigrams.len() < max && !bigrams.contains(hash)));
        }
    });
    bigrams
}

/// Calls `visit` with every word of a text in lower case and its hash. Identifiers such as
/// `TokenCounter` are split into their words.
pub fn words(text: &str, mut visit: impl FnMut(&str, u64)) {
    let bytes = text.as_bytes();
    let mut lower = String::new();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        if CLASSES[usize::from(*byte)] == OTHER {
            at += 1;
            continue;
        }
        let (mut len, lower_hash) = lower_word(&bytes[at..]);
        let class = bytes.get(at + len).map_or(OTHER, |byte| CLASSES[usize::from(*byte)]);
        // Fast path: nearly every word consists of lower-case ASCII letters only.
        if class == OTHER || (class == UPPER && len > 0) {
            visit_short(&text[at..at + len], lower_hash, &mut visit);
            at += len;
            continue;
        }
        let (ascii, classes) = ascii_word(&bytes[at..]);
        len = if classes & WIDE != 0 { wide_word(&text[at..]) } else { ascii };
        let word = &text[at..at + len];
        if classes & (WIDE | UPPER) == 0 {
            visit_short(word, hash(word.as_bytes()), &mut visit);
        } else {
            lower.clear();
            if classes & WIDE == 0 {
                lower.push_str(word);
                lower.make_ascii_lowercase();
            } else {
                lower.extend(word.chars().flat_map(char::to_lowercase));
            }
            visit_short(&lower, hash(lower.as_bytes()), &mut visit);
        }
        // If no word begins here, one character is skipped.
        at += match len {
            0 => text[at..].chars().next().map_or(1, char::len_utf8),
            len => len,
        };
    }
}

#[inline]
fn visit_short(word: &str, hash: u64, visit: &mut impl FnMut(&str, u64)) {
    if !word.is_empty() && word.len() <= MAX_WORD {
        visit(word, hash);
    }
}

/// Classes of bytes in a word, one bit each.
const OTHER: u8 = 0;
const LOWER: u8 = 1;
const UPPER: u8 = 2;
const DIGIT: u8 = 4;
/// Part of a character that is not ASCII.
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

/// Returns the length of the prefix of lower-case ASCII letters, and its hash.
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

/// Returns the number of lower-case ASCII letters that eight bytes begin with.
#[inline]
fn n_lower(part: u64) -> usize {
    const EACH: u64 = 0x0101_0101_0101_0101;
    // In `from_a` the top bit of each byte is set if the byte is at least `a`, in `past_z` if it is
    // greater than `z`.
    let low = part & (0x7f * EACH);
    let from_a = low + (0x80 - b'a' as u64) * EACH;
    let past_z = low + (0x7f - b'z' as u64) * EACH;
    let lower = from_a & !past_z & !part & (0x80 * EACH);
    (lower ^ (0x80 * EACH)).trailing_zeros() as usize / 8
}

/// Returns the length of the ASCII prefix of the word that begins here, and the classes of its
/// bytes. The classes include `WIDE` if a character that is not ASCII follows.
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

/// Returns the length of the word that begins here, which may have any characters.
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
    fn identifiers_are_split_into_words() {
        let mut all = Vec::new();
        words("The TokenCounter of `src/cache_layout.rs`, HTTPServer, ÄrgerÜber", |word, _| {
            all.push(word.to_string());
        });
        let expected = "the token counter of src cache layout rs httpserver ärger über";
        assert_eq!(all.join(" "), expected);
    }

    /// Reference implementation that looks at one character at a time.
    fn words_by_character(text: &str) -> Vec<String> {
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
    fn words_agree_with_the_reference_implementation() {
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
            words(&text, |word, word_hash| {
                assert_eq!(word_hash, hash(word.as_bytes()), "{text}");
                found.push(word.to_string());
            });
            assert_eq!(found, words_by_character(&text), "{text}");
        }
    }

    #[test]
    fn endings_are_removed() {
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
    fn stop_words_are_sorted_and_are_no_terms() {
        assert!(rules::entries(STOP_WORDS).is_sorted_by(|a, b| a < b));
        let is_term = |word: &str| is_term(word, hash(word.as_bytes()));
        assert!(rules::entries(STOP_WORDS).all(|word| !is_term(word)));
        assert!(is_term("cache") && !is_term("the") && !is_term("2026"));
    }
}
