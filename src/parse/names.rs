//! Names of code that a text uses, whole: `someName`, `some_name`, `SOMENAME`.

use crate::model::terms::{folded, hash, used};

/// Names kept of one document, those used most.
const MAX_NAMES: usize = 64;

/// Uses that are counted.
const MAX_USES: usize = 1 << 14;

/// A longer name is no name.
const MAX_LEN: usize = 64;

/// Bytes that are looked at together.
const BLOCK: usize = 32;

/// The names of a text with how often each is used; see [`used`].
pub(super) fn names(text: &str) -> Vec<u32> {
    let bytes = text.as_bytes();
    let (mut uses, mut from) = (Vec::new(), 1);
    while let Some(at) = next(bytes, from) {
        let before = bytes[..at].iter().rposition(|byte| !is_part(*byte));
        let start = before.map_or(0, |before| before + 1);
        let len = bytes[at..].iter().position(|byte| !is_part(*byte));
        let end = len.map_or(bytes.len(), |len| at + len);
        if uses.len() < MAX_USES && is_name(&bytes[start..end]) {
            uses.push(folded(hash(&bytes[start..end])));
        }
        from = end + 1;
    }
    counted(uses)
}

/// The names used most, sorted.
fn counted(mut uses: Vec<u32>) -> Vec<u32> {
    uses.sort_unstable_by_key(|name| used(*name, 1));
    let runs = uses.chunk_by(|a, b| used(*a, 1) == used(*b, 1));
    let mut names: Vec<(usize, u32)> = runs.map(|run| (run.len(), run[0])).collect();
    if names.len() > MAX_NAMES {
        names.sort_unstable_by_key(|(n, name)| (std::cmp::Reverse(*n), used(*name, 1)));
        names.truncate(MAX_NAMES);
    }
    let mut names: Vec<u32> = names.into_iter().map(|(n, name)| used(name, n as u32)).collect();
    names.sort_unstable();
    names
}

/// The next place that may be inside a name: a capital after a letter, or an underscore.
fn next(bytes: &[u8], mut from: usize) -> Option<usize> {
    // Nearly all of a text is neither, so it is passed over in blocks.
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

/// Without a branch, so that a whole block is looked at by the same instructions.
#[inline]
fn is_inside(before: u8, now: u8) -> bool {
    (now.is_ascii_uppercase() & (before | 32).is_ascii_lowercase()) | (now == b'_')
}

/// Signs that names are made of.
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

/// Whether a word is a name.
fn is_name(word: &[u8]) -> bool {
    if word.len() < 3 || word.len() > MAX_LEN || word[0].is_ascii_digit() {
        return false;
    }
    let is_camel = |two: &[u8]| two[0].is_ascii_lowercase() && two[1].is_ascii_uppercase();
    let is_loud = || word.len() >= 4 && word.iter().all(u8::is_ascii_uppercase);
    // An underscore with something else on both sides.
    let is_joined = || {
        let first = word.iter().position(|byte| *byte != b'_').unwrap_or(0);
        let last = word.iter().rposition(|byte| *byte != b'_').unwrap_or(0);
        first < last && word[first..last].contains(&b'_')
    };
    word.windows(2).any(is_camel) || is_joined() || is_loud()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(u32, u32)> {
        names(text).into_iter().map(|name| (name >> 3, name & 7)).collect()
    }

    fn number(name: &str) -> u32 {
        folded(hash(name.as_bytes())) >> 3
    }

    #[test]
    fn names_are_told_from_words_wherever_they_stand() {
        let no_names = "Words and Words, an ETH of 0xABCDEF [Link](x) __init__ Aa _b_ 3aB été";
        assert_eq!(found(no_names), []);
        for name in ["someName", "some_name", "SOME_NAME", "SLOAD", "aB1", "_a_b", "x_1"] {
            for text in [name.to_string(), format!("({name})"), format!("a {name}'s é{name}.")] {
                assert_eq!(found(&text)[0].0, number(name), "{text}");
            }
            let far = format!("{}{name} {}", "plain words ".repeat(20), "and more ".repeat(20));
            assert_eq!(found(&far), [(number(name), 0)]);
        }
    }

    #[test]
    fn uses_are_counted_in_doublings_and_the_most_used_stay() {
        assert_eq!(found(&"anId ".repeat(5)), [(number("anId"), 2)]);
        let many: String = (0..200).map(|i| format!("name_{i} ")).collect();
        let kept = found(&format!("{many} kept_one kept_one"));
        assert_eq!(kept.len(), MAX_NAMES);
        assert!(kept.contains(&(number("kept_one"), 1)));
    }
}
