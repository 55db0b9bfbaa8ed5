//! Looks up tokens and character classes in the embedded vocabulary.

use super::layout::{Class, EMPTY, ID_BITS, N_SLOTS, fingerprint, first_slot, hash};

static SLOTS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/o200k.slots"));
static ENDS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/o200k.ends"));
static BYTES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/o200k.bytes"));
static CLASSES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/o200k.classes"));

/// The length of the longest token.
const MAX_BYTES: usize = 128;

/// Returns the rank of a token, or `None` if the bytes are not a token.
pub(super) fn rank(bytes: &[u8]) -> Option<u32> {
    if bytes.len() > MAX_BYTES {
        return None;
    }
    let hash = hash(bytes);
    let mut at = first_slot(hash);
    loop {
        let slot = number(SLOTS, at);
        if slot == EMPTY {
            return None;
        }
        let id = slot & ((1 << ID_BITS) - 1);
        if slot >> ID_BITS == fingerprint(hash) && token(id as usize) == bytes {
            return Some(id);
        }
        at = (at + 1) % N_SLOTS;
    }
}

fn token(id: usize) -> &'static [u8] {
    let start = id.checked_sub(1).map_or(0, |before| number(ENDS, before));
    &BYTES[start as usize..number(ENDS, id) as usize]
}

/// Returns the class of a character.
pub(super) fn class(c: char) -> Class {
    let at = match c {
        'a'..='z' => return Class::Lower,
        ' ' => return Class::Space,
        'A'..='Z' => return Class::Upper,
        c => u32::from(c),
    };
    // Finds the last range that starts at or before the character.
    let (mut low, mut high) = (0, CLASSES.len() / 4);
    while low + 1 < high {
        let middle = (low + high) / 2;
        match number(CLASSES, middle) & 0xFF_FFFF <= at {
            true => low = middle,
            false => high = middle,
        }
    }
    match number(CLASSES, low) >> 24 {
        1 => Class::Upper,
        2 => Class::Lower,
        3 => Class::Caseless,
        4 => Class::Mark,
        5 => Class::Number,
        6 => Class::Space,
        7 => Class::Newline,
        _ => Class::Other,
    }
}

fn number(bytes: &[u8], i: usize) -> u32 {
    let four = bytes[4 * i..4 * i + 4].try_into().expect("a range of four has four bytes");
    u32::from_le_bytes(four)
}
