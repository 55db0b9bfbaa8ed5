//! Finds anchors: strings without which no rule can match, in one pass over a text.
//!
//! Rules are checked only near an anchor. Ordinary text has few anchors, so this pass takes most of
//! the time of a scan.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use crate::model::byte_scan::prefix;

/// The rules that are checked at an anchor.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum AnchorKind {
    Url,
    PrivateKey,
    PasswordWord,
    SecretWord,
    Command,
    Authorization,
    EncodedLogin,
    PromptInjection,
    Comment,
    ChatMarkup,
}

/// An anchor in a text.
pub(super) struct Anchor {
    pub(super) kind: AnchorKind,
    pub(super) range: Range<usize>,
}

/// Finds the anchors in a text, in order. Of two that overlap, the first one counts; of two that
/// start at the same place, the longer one.
pub(super) fn find(text: &str) -> Vec<Anchor> {
    let mut found = Vec::new();
    SCANNER.scan(text.as_bytes(), &mut |start, index| found.push((start, index)));
    let length = |index: u16| SCANNER.strings[usize::from(index)].1.len();
    found.sort_unstable_by_key(|(start, index)| (*start, std::cmp::Reverse(length(*index))));
    let mut done = 0;
    found.retain(|(start, index)| {
        let apart = *start >= done;
        done = if apart { start + length(*index) } else { done };
        apart
    });
    let anchor = |(start, index): (usize, u16)| Anchor {
        kind: SCANNER.strings[usize::from(index)].0,
        range: start..start + length(index),
    };
    found.into_iter().map(anchor).collect()
}

/// Returns the ranges of the anchors of one kind.
pub(super) fn of_kind(anchors: &[Anchor], kind: AnchorKind) -> impl Iterator<Item = &Range<usize>> {
    anchors.iter().filter(move |anchor| anchor.kind == kind).map(|anchor| &anchor.range)
}

/// Returns a part of a text, extended to whole characters.
pub(super) fn slice(text: &str, range: Range<usize>) -> &str {
    let start = prefix(text, range.start).len();
    let mut end = range.end.min(text.len());
    while !text.is_char_boundary(end) {
        end += 1;
    }
    &text[start..end]
}

static SCANNER: LazyLock<Scanner> = LazyLock::new(|| {
    let mut strings: Vec<(AnchorKind, Cow<'static, str>)> =
        super::secrets::anchors().chain(super::prompt_injection::anchors()).collect();
    // Several rules share an anchor. The sort is stable, so the first kind of an anchor counts.
    strings.sort_by(|(_, a), (_, b)| a.cmp(b));
    strings.dedup_by(|(_, next), (_, first)| next == first);
    Scanner::new(strings)
});

/// Bytes that are looked up together, and the distance between lookups. An anchor with at least
/// `GROUP + STEP - 1` bytes contains a group that is looked up, wherever it starts.
const GROUP: usize = 4;
const STEP: usize = 2;

/// Bits of a group's hash: enough that most hashes belong to no anchor, while a bit for each still
/// fits into the first-level cache.
const HASH_BITS: u32 = 17;

/// Finds strings in any case of ASCII letters. It hashes four bytes at every second offset and
/// looks closer only if some anchor has a group with that hash.
///
/// An automaton would have to read every byte. This scan takes a fraction of the time of parsing.
struct Scanner {
    strings: Vec<(AnchorKind, Cow<'static, str>)>,
    /// A bit for the hash of every group of an anchor that is looked up.
    groups: Box<[u64; 1 << (HASH_BITS - 6)]>,
    /// Hashes, each with an anchor and the offset of the group in it, sorted.
    places: Vec<(u32, u16, i8)>,
    /// Anchors that are too short for groups, by their least common byte and its offset.
    short: Vec<(u8, Vec<(u16, i8)>)>,
}

impl Scanner {
    fn new(strings: Vec<(AnchorKind, Cow<'static, str>)>) -> Scanner {
        let mut scanner = Scanner {
            strings: Vec::new(),
            groups: Box::new([0; _]),
            places: vec![],
            short: vec![],
        };
        for (index, (_, string)) in strings.iter().enumerate() {
            let (bytes, index) = (string.as_bytes(), index as u16);
            match bytes.len() {
                0..=GROUP if bytes.iter().all(u8::is_ascii_alphabetic) => {
                    scanner.add_with_any_byte(bytes, index);
                }
                0..=GROUP => scanner.add_short(bytes, index),
                _ => scanner.add_uncommon_groups(bytes, index),
            }
        }
        scanner.places.sort_unstable();
        scanner.places.dedup();
        scanner.strings = strings;
        scanner
    }

    fn add_group(&mut self, bytes: &[u8], index: u16, offset: i8) {
        let hash = hash_of(group(bytes));
        self.groups[hash as usize / 64] |= 1 << (hash % 64);
        self.places.push((hash, index, offset));
    }

    /// Adds the least common adjacent groups of an anchor. One of them is always looked up.
    fn add_uncommon_groups(&mut self, anchor: &[u8], index: u16) {
        let frequency =
            |offset: &usize| estimated_frequency(&anchor[*offset..*offset + GROUP + STEP - 1]);
        let first = (0..=anchor.len() - (GROUP + STEP - 1)).min_by_key(frequency).unwrap_or(0);
        for offset in first..first + STEP {
            self.add_group(&anchor[offset..], index, offset as i8);
        }
    }

    /// Adds groups of three bytes of an anchor with any byte before or behind them.
    fn add_with_any_byte(&mut self, anchor: &[u8], index: u16) {
        let [a, b, c, ..] = *anchor else { return self.add_short(anchor, index) };
        for any in 0..=u8::MAX {
            self.add_group(&[a, b, c, any], index, 0);
            self.add_group(&[any, a, b, c], index, -1);
        }
    }

    fn add_short(&mut self, anchor: &[u8], index: u16) {
        let bytes = anchor.iter().map(u8::to_ascii_lowercase).enumerate();
        let frequency = |(_, byte): &(usize, u8)| estimated_frequency(&[*byte]);
        let (offset, byte) = bytes.min_by_key(frequency).expect("no anchor is empty");
        let place = (index, offset as i8);
        match self.short.iter_mut().find(|(other, _)| *other == byte) {
            Some((_, places)) => places.push(place),
            None => self.short.push((byte, vec![place])),
        }
    }

    /// Reports the start and index of every anchor once, in no particular order.
    fn scan(&self, text: &[u8], report: &mut dyn FnMut(usize, u16)) {
        for (byte, places) in &self.short {
            for at in memchr::memchr2_iter(*byte, byte.to_ascii_uppercase(), text) {
                places
                    .iter()
                    .for_each(|(index, offset)| self.verify(text, at, *index, *offset, report));
            }
        }
        let mut at = 0;
        while let Some(bytes) = text[at..].first_chunk::<8>() {
            let bytes = u64::from_le_bytes(*bytes) | CASE << 32 | CASE;
            let hash = |i: usize| hash_of((bytes >> (8 * STEP * i)) as u32);
            let hashes = [hash(0), hash(1), hash(2)];
            if self.bit(hashes[0]) | self.bit(hashes[1]) | self.bit(hashes[2]) != 0 {
                for (i, hash) in hashes.into_iter().enumerate() {
                    self.look_up(text, at + STEP * i, hash, report);
                }
            }
            at += hashes.len() * STEP;
        }
        for at in (at..text.len()).step_by(STEP) {
            self.look_up(text, at, hash_of(group(&text[at..])), report);
        }
    }

    /// Returns 1 if some anchor has a group with this hash.
    #[inline(always)]
    fn bit(&self, hash: u32) -> u64 {
        self.groups[hash as usize / 64] >> (hash % 64) & 1
    }

    /// Verifies the anchors that have a group with this hash.
    fn look_up(&self, text: &[u8], at: usize, hash: u32, report: &mut dyn FnMut(usize, u16)) {
        if self.bit(hash) == 1 {
            let first = self.places.partition_point(|(other, ..)| *other < hash);
            let places = self.places[first..].iter().take_while(|(other, ..)| *other == hash);
            places.for_each(|(_, index, offset)| self.verify(text, at, *index, *offset, report));
        }
    }

    fn verify(
        &self,
        text: &[u8],
        at: usize,
        index: u16,
        offset: i8,
        report: &mut dyn FnMut(usize, u16),
    ) {
        let anchor = self.strings[usize::from(index)].1.as_bytes();
        let Some(start) = at.checked_add_signed(-isize::from(offset)) else { return };
        let candidate = text.get(start..start + anchor.len());
        if candidate.is_some_and(|candidate| candidate.eq_ignore_ascii_case(anchor)) {
            report(start, index);
        }
    }
}

/// Groups that are frequent in English, sorted.
const FREQUENT_GROUPS: &[&str] = &[
    " and", " for", " is ", " of ", " the", " to ", "able", "ally", "ance", "and ", "at t", "atio",
    "cont", "ctio", "ding", "e th", "ence", "enti", "ents", "es t", "ever", "for ", "from", "have",
    "he s", "her ", "here", "his ", "ight", "in t", "ing ", "ingt", "inte", "ion ", "ions", "is t",
    "ment", "n th", "ng t", "nter", "ntio", "of t", "on t", "othe", "ould", "over", "pres", "ring",
    "s th", "s to", "sion", "t th", "that", "the ", "ther", "they", "thin", "this", "ting", "tion",
    "tive", "to t", "ture", "ught", "ve t", "with",
];

/// Estimates how often bytes occur in a text: punctuation seldom, letters as often as in English.
fn estimated_frequency(bytes: &[u8]) -> usize {
    let rank = |byte: u8| b"-zqjxkvbpygfwmucldrhsnioate ".iter().position(|c| *c == byte);
    let letters: usize =
        bytes.iter().map(|byte| rank(byte.to_ascii_lowercase()).map_or(0, |at| at + 1)).sum();
    let is_frequent = |part: &&[u8]| {
        FREQUENT_GROUPS.binary_search_by(|group| group.as_bytes().cmp(*part)).is_ok()
    };
    letters + 30 * bytes.windows(GROUP).filter(is_frequent).count()
}

/// The bit in which the cases of an ASCII letter differ, four times. It also makes some punctuation
/// equal; `verify` compares exactly.
const CASE: u64 = 0x2020_2020;

/// Returns the first four bytes in lower case, with zeros after the end of the text.
fn group(bytes: &[u8]) -> u32 {
    let mut group = [0; GROUP];
    let n = bytes.len().min(GROUP);
    group[..n].copy_from_slice(&bytes[..n]);
    u32::from_le_bytes(group) | CASE as u32
}

#[inline(always)]
fn hash_of(group: u32) -> u32 {
    group.wrapping_mul(0x9E37_79B1) >> (32 - HASH_BITS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use aho_corasick::{AhoCorasick, MatchKind};

    #[test]
    fn frequent_groups_are_sorted() {
        let is_group = |group: &&str| group.len() == GROUP;
        assert!(FREQUENT_GROUPS.is_sorted() && FREQUENT_GROUPS.iter().all(is_group));
    }

    #[test]
    fn finds_the_same_anchors_as_an_automaton() {
        let automaton = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::LeftmostLongest)
            .build(SCANNER.strings.iter().map(|(_, string)| string.as_ref()))
            .expect("a short list of short strings can be compiled");
        let mut state = 5u64;
        let mut random = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as usize % below
        };
        let mut n_found = 0;
        for _ in 0..20_000 {
            let mut text = String::new();
            for _ in 0..6 {
                let anchor = &SCANNER.strings[random(SCANNER.strings.len())].1;
                let end = anchor.char_indices().map(|(at, _)| at).chain([anchor.len()]);
                let cut = end.clone().nth(random(end.count())).expect("the index is in range");
                let piece = if random(3) == 0 { anchor } else { &anchor[cut..] };
                text += &(if random(2) == 0 { piece.to_uppercase() } else { piece.to_string() });
                text += ["", " ", "x", "é", "pw", "<"][random(6)];
            }
            let expected: Vec<_> = automaton.find_iter(&text).map(|found| found.range()).collect();
            let found: Vec<_> = find(&text).into_iter().map(|anchor| anchor.range).collect();
            n_found += found.len();
            assert_eq!(found, expected, "{text}");
        }
        assert!(n_found > 20_000);
    }
}
