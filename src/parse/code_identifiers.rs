//! Finds the code identifiers in a text: `someName`, `some_name`, `SOMENAME`.

use crate::model::terms::{folded, hash, pack_count};

/// Maximum number of identifiers stored per document.
const MAX_IDENTIFIERS: usize = 64;

/// Maximum number of occurrences counted per document.
const MAX_USES: usize = 1 << 14;

/// Longer words are not identifiers.
const MAX_LEN: usize = 64;

/// Bytes tested at once.
const BLOCK: usize = 32;

/// Returns the identifiers of a text, each hashed and packed with its count; see [`pack_count`].
pub(super) fn identifiers(text: &str) -> Vec<u32> {
    let bytes = text.as_bytes();
    let (mut uses, mut from) = (Vec::new(), 1);
    while let Some(at) = next_candidate(bytes, from) {
        let before = bytes[..at].iter().rposition(|byte| !is_part(*byte));
        let start = before.map_or(0, |before| before + 1);
        let len = bytes[at..].iter().position(|byte| !is_part(*byte));
        let end = len.map_or(bytes.len(), |len| at + len);
        if uses.len() < MAX_USES && is_identifier(&bytes[start..end]) {
            uses.push(folded(hash(&bytes[start..end])));
        }
        from = end + 1;
    }
    most_frequent(uses)
}

/// Returns the most frequent identifiers with their counts, sorted.
fn most_frequent(mut uses: Vec<u32>) -> Vec<u32> {
    uses.sort_unstable_by_key(|hash| pack_count(*hash, 1));
    let runs = uses.chunk_by(|a, b| pack_count(*a, 1) == pack_count(*b, 1));
    let mut counts: Vec<(usize, u32)> = runs.map(|run| (run.len(), run[0])).collect();
    if counts.len() > MAX_IDENTIFIERS {
        counts.sort_unstable_by_key(|(n, hash)| (std::cmp::Reverse(*n), pack_count(*hash, 1)));
        counts.truncate(MAX_IDENTIFIERS);
    }
    let mut packed: Vec<u32> =
        counts.into_iter().map(|(n, hash)| pack_count(hash, n as u32)).collect();
    packed.sort_unstable();
    packed
}

/// Returns the next offset that may be inside an identifier: a capital after a letter, or an
/// underscore.
fn next_candidate(bytes: &[u8], mut from: usize) -> Option<usize> {
    // Most blocks have no candidate and are skipped as a whole.
    while let Some(block) = bytes.get(from - 1..).and_then(|rest| rest.first_chunk()) {
        if has_inside(block) {
            break;
        }
        from += BLOCK;
    }
    (from..bytes.len()).find(|at| is_inside(bytes[at - 1], bytes[*at]))
}

#[inline]
fn has_inside(block: &[u8; BLOCK + 1]) -> bool {
    let mut any = 0;
    for at in 0..BLOCK {
        any |= u8::from(is_inside(block[at], block[at + 1]));
    }
    any != 0
}

/// Returns true if these two bytes may be inside an identifier. There is no branch, so that the
/// compiler can vectorize the test of a block.
#[inline]
fn is_inside(before: u8, byte: u8) -> bool {
    (byte.is_ascii_uppercase() & (before | 32).is_ascii_lowercase()) | (byte == b'_')
}

/// Bytes that can be part of an identifier.
const PARTS: [bool; 256] = {
    let mut parts = [false; 256];
    let mut byte = 0;
    while byte < 128 {
        parts[byte] = (byte as u8).is_ascii_alphanumeric() || byte as u8 == b'_';
        byte += 1;
    }
    parts
};

#[inline]
fn is_part(byte: u8) -> bool {
    PARTS[usize::from(byte)]
}

fn is_identifier(word: &[u8]) -> bool {
    if word.len() < 3 || word.len() > MAX_LEN || word[0].is_ascii_digit() {
        return false;
    }
    let is_hump = |two: &[u8]| two[0].is_ascii_lowercase() && two[1].is_ascii_uppercase();
    let is_upper_case = || word.len() >= 4 && word.iter().all(u8::is_ascii_uppercase);
    // An underscore at the start or the end does not count: Markdown uses it for emphasis.
    let is_snake_case = || {
        let first = word.iter().position(|byte| *byte != b'_').unwrap_or(0);
        let last = word.iter().rposition(|byte| *byte != b'_').unwrap_or(0);
        first < last && word[first..last].contains(&b'_')
    };
    word.windows(2).any(is_hump) || is_snake_case() || is_upper_case()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(u32, u32)> {
        identifiers(text).into_iter().map(|packed| (packed >> 3, packed & 7)).collect()
    }

    fn hash_of(name: &str) -> u32 {
        folded(hash(name.as_bytes())) >> 3
    }

    #[test]
    fn identifiers_are_found_among_ordinary_words() {
        let no_identifiers =
            "Words and Words, an ETH of 0xABCDEF [Link](x) __init__ Aa _b_ 3aB été";
        assert_eq!(found(no_identifiers), []);
        for name in ["someName", "some_name", "SOME_NAME", "SLOAD", "aB1", "_a_b", "x_1"] {
            for text in [name.to_string(), format!("({name})"), format!("a {name}'s é{name}.")] {
                assert_eq!(found(&text)[0].0, hash_of(name), "{text}");
            }
            let far = format!("{}{name} {}", "plain words ".repeat(20), "and more ".repeat(20));
            assert_eq!(found(&far), [(hash_of(name), 0)]);
        }
    }

    #[test]
    fn counts_are_powers_of_two_and_the_most_frequent_are_returned() {
        assert_eq!(found(&"anId ".repeat(5)), [(hash_of("anId"), 2)]);
        let many: String = (0..200).map(|i| format!("name_{i} ")).collect();
        let found = found(&format!("{many} used_twice used_twice"));
        assert_eq!(found.len(), MAX_IDENTIFIERS);
        assert!(found.contains(&(hash_of("used_twice"), 1)));
    }
}
