//! The few strings without which nothing needs to be looked at closely.

use std::ops::Range;
use std::sync::LazyLock;

/// What may begin at an anchor.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Kind {
    Url,
    Pem,
    Password,
    Word,
    Command,
    Authorization,
    Order,
    Comment,
    Tag,
}

/// An anchor and where it stands.
pub(super) struct Anchor {
    pub(super) kind: Kind,
    pub(super) range: Range<usize>,
}

/// Every anchor, in any case of letters.
const ANCHORS: &[(Kind, &[&str])] = &[
    (Kind::Url, &["://", super::url::ORACLE]),
    (Kind::Pem, &["private key", "putty-user-key-file-"]),
    (Kind::Password, super::keyed::PASSWORDS),
    (Kind::Word, super::keyed::ANCHORS),
    (Kind::Command, super::command::ANCHORS),
    (Kind::Authorization, &["authorization"]),
    (Kind::Order, super::phrase::ANCHORS),
    (Kind::Order, super::phrase::CALLS),
    (Kind::Order, super::address::ANCHORS),
    (Kind::Order, super::tongue::ANCHORS),
    (Kind::Comment, &["<!--", "[//]: #", "[comment]: #"]),
    (Kind::Tag, super::tag::ANCHORS),
];

/// The anchors in a text, in order; where two overlap, the first, and of two that begin together the
/// longer one.
pub(super) fn anchors(text: &str) -> Vec<Anchor> {
    let mut found = Vec::new();
    SIEVE.find(text.as_bytes(), &mut |start, which| found.push((start, which)));
    let length = |which: u16| SIEVE.all[usize::from(which)].1.len();
    found.sort_unstable_by_key(|(start, which)| (*start, std::cmp::Reverse(length(*which))));
    let mut done = 0;
    found.retain(|(start, which)| {
        let apart = *start >= done;
        done = if apart { start + length(*which) } else { done };
        apart
    });
    let anchor = |(start, which): (usize, u16)| Anchor {
        kind: SIEVE.all[usize::from(which)].0,
        range: start..start + length(which),
    };
    found.into_iter().map(anchor).collect()
}

static SIEVE: LazyLock<Sieve> = LazyLock::new(|| {
    let each = ANCHORS.iter().flat_map(|(kind, texts)| texts.iter().map(|text| (*kind, *text)));
    Sieve::new(each.collect())
});

/// Bytes that are looked up together, and how far apart. An anchor that is longer than both together
/// has such a group wherever it begins.
const GROUP: usize = 4;
const STEP: usize = 2;

/// Finds the anchors of a text without looking at most of it closely: only where four bytes are part
/// of one. In clean text that is hardly anywhere, so this costs a fraction of parsing.
struct Sieve {
    all: Vec<(Kind, &'static str)>,
    /// A bit for the hash of every group that some anchor has where it would be looked up.
    groups: Vec<u64>,
    /// Each hash with an anchor and how far into it the group is, sorted.
    places: Vec<(u16, u16, u8)>,
    /// Anchors too short for that, by the byte that is rarest in them and where they have it.
    short: Vec<(u8, Vec<(u16, u8)>)>,
}

impl Sieve {
    fn new(all: Vec<(Kind, &'static str)>) -> Sieve {
        let mut sieve = Sieve { all, groups: vec![0; 1 << 10], places: vec![], short: vec![] };
        for which in 0..sieve.all.len() {
            let text = sieve.all[which].1.as_bytes();
            if text.len() < GROUP + STEP - 1 {
                sieve.add_short(text, which as u16);
                continue;
            }
            // Its rarest groups: of two that lie side by side, one is looked up.
            let rare = |offset: &usize| commonness(&text[*offset..*offset + GROUP + STEP - 1]);
            let first = (0..=text.len() - (GROUP + STEP - 1)).min_by_key(rare).unwrap_or(0);
            for offset in first..first + STEP {
                let hash = group(&text[offset..]);
                sieve.groups[usize::from(hash / 64)] |= 1 << (hash % 64);
                sieve.places.push((hash, which as u16, offset as u8));
            }
        }
        sieve.places.sort_unstable();
        sieve
    }

    fn add_short(&mut self, text: &[u8], which: u16) {
        let bytes = text.iter().map(u8::to_ascii_lowercase).enumerate();
        let rare = |(_, byte): &(usize, u8)| commonness(&[*byte]);
        let (offset, byte) = bytes.min_by_key(rare).expect("no anchor is empty");
        let place = (which, offset as u8);
        match self.short.iter_mut().find(|(other, _)| *other == byte) {
            Some((_, places)) => places.push(place),
            None => self.short.push((byte, vec![place])),
        }
    }

    /// Names every anchor with where it begins, in no order; none is named twice.
    fn find(&self, text: &[u8], tell: &mut dyn FnMut(usize, u16)) {
        for (byte, places) in &self.short {
            for at in memchr::memchr2_iter(*byte, byte.to_ascii_uppercase(), text) {
                places
                    .iter()
                    .for_each(|(which, offset)| self.verify(text, at, *which, *offset, tell));
            }
        }
        let mut at = 0;
        while let Some(bytes) = text.get(at..at + GROUP) {
            let hash = group(bytes);
            if self.groups[usize::from(hash / 64)] >> (hash % 64) & 1 == 1 {
                let first = self.places.partition_point(|(other, ..)| *other < hash);
                let places = self.places[first..].iter().take_while(|(other, ..)| *other == hash);
                places.for_each(|(_, which, offset)| self.verify(text, at, *which, *offset, tell));
            }
            at += STEP;
        }
    }

    fn verify(
        &self,
        text: &[u8],
        at: usize,
        which: u16,
        offset: u8,
        tell: &mut dyn FnMut(usize, u16),
    ) {
        let anchor = self.all[usize::from(which)].1.as_bytes();
        let start = at.checked_sub(usize::from(offset));
        let there = start.and_then(|start| text.get(start..start + anchor.len()));
        if there.is_some_and(|there| there.eq_ignore_ascii_case(anchor)) {
            tell(at - usize::from(offset), which);
        }
    }
}

/// How common bytes are in a text, by a guess: signs are rare, and letters in this order.
fn commonness(bytes: &[u8]) -> usize {
    let common = |byte: u8| b"-zqjxkvbpygfwmucldrhsnioate ".iter().position(|c| *c == byte);
    bytes.iter().map(|byte| common(byte.to_ascii_lowercase()).map_or(0, |at| at + 1)).sum()
}

/// A hash of four bytes, the same for letters of either case.
#[inline]
fn group(bytes: &[u8]) -> u16 {
    let group = bytes.first_chunk::<GROUP>().copied().unwrap_or_default();
    let group = u32::from_le_bytes(group) | 0x2020_2020;
    (group.wrapping_mul(0x9E37_79B1) >> 16) as u16
}

/// The anchors of one kind.
pub(super) fn of(anchors: &[Anchor], kind: Kind) -> impl Iterator<Item = &Range<usize>> {
    anchors.iter().filter(move |anchor| anchor.kind == kind).map(|anchor| &anchor.range)
}

/// A part of a text, moved outwards to whole characters.
pub(super) fn part(text: &str, range: Range<usize>) -> &str {
    let mut start = range.start.min(text.len());
    let mut end = range.end.min(text.len());
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    while !text.is_char_boundary(end) {
        end += 1;
    }
    &text[start..end]
}

#[cfg(test)]
mod tests {
    use super::*;
    use aho_corasick::{AhoCorasick, MatchKind};

    #[test]
    fn what_is_found_is_what_an_automaton_finds() {
        let plain = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::LeftmostLongest)
            .build(SIEVE.all.iter().map(|(_, text)| text))
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
                let anchor = SIEVE.all[random(SIEVE.all.len())].1;
                let end = anchor.char_indices().map(|(at, _)| at).chain([anchor.len()]);
                let cut = end.clone().nth(random(end.count())).expect("it is one of them");
                let piece = if random(3) == 0 { anchor } else { &anchor[cut..] };
                text += &(if random(2) == 0 { piece.to_uppercase() } else { piece.to_string() });
                text += ["", " ", "x", "é", "pw", "<"][random(6)];
            }
            let expected: Vec<_> = plain.find_iter(&text).map(|found| found.range()).collect();
            let found: Vec<_> = anchors(&text).into_iter().map(|anchor| anchor.range).collect();
            n_found += found.len();
            assert_eq!(found, expected, "{text}");
        }
        assert!(n_found > 20_000);
    }
}
