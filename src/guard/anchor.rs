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
    Login,
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
    (Kind::Login, super::keyed::LOGINS),
    (Kind::Order, super::phrase::ANCHORS),
    (Kind::Order, super::phrase::WHOLE),
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

/// As many as leave most hashes without an anchor, while a bit for each stays in the nearest cache.
const HASH_BITS: u32 = 17;

/// Finds the anchors of a text without looking at most of it closely: only where four bytes are part
/// of one. In clean text that is hardly anywhere, so this costs a fraction of parsing.
struct Sieve {
    all: Vec<(Kind, &'static str)>,
    /// A bit for the hash of every group that some anchor has where it would be looked up.
    groups: Box<[u64; 1 << (HASH_BITS - 6)]>,
    /// Each hash with an anchor and how far into it the group is, sorted.
    places: Vec<(u32, u16, i8)>,
    /// Anchors too short for that, by the byte that is rarest in them and where they have it.
    short: Vec<(u8, Vec<(u16, i8)>)>,
}

impl Sieve {
    fn new(all: Vec<(Kind, &'static str)>) -> Sieve {
        let mut sieve = Sieve { all, groups: Box::new([0; _]), places: vec![], short: vec![] };
        for which in 0..sieve.all.len() {
            let text = sieve.all[which].1.as_bytes();
            match text.len() {
                0..=GROUP if text.iter().all(u8::is_ascii_alphabetic) => {
                    sieve.add_with_any(text, which as u16);
                }
                0..=GROUP => sieve.add_short(text, which as u16),
                _ => sieve.add_rarest(text, which as u16),
            }
        }
        sieve.places.sort_unstable();
        sieve.places.dedup();
        sieve
    }

    fn add(&mut self, bytes: &[u8], which: u16, offset: i8) {
        let hash = hash_of(group(bytes));
        self.groups[hash as usize / 64] |= 1 << (hash % 64);
        self.places.push((hash, which, offset));
    }

    /// Its rarest groups: of two that lie side by side, one is looked up.
    fn add_rarest(&mut self, text: &[u8], which: u16) {
        let rare = |offset: &usize| commonness(&text[*offset..*offset + GROUP + STEP - 1]);
        let first = (0..=text.len() - (GROUP + STEP - 1)).min_by_key(rare).unwrap_or(0);
        for offset in first..first + STEP {
            self.add(&text[offset..], which, offset as i8);
        }
    }

    /// Three bytes of it, with whatever may stand before or behind them in a group.
    fn add_with_any(&mut self, text: &[u8], which: u16) {
        let [a, b, c, ..] = *text else { return self.add_short(text, which) };
        for any in 0..=u8::MAX {
            self.add(&[a, b, c, any], which, 0);
            self.add(&[any, a, b, c], which, -1);
        }
    }

    fn add_short(&mut self, text: &[u8], which: u16) {
        let bytes = text.iter().map(u8::to_ascii_lowercase).enumerate();
        let rare = |(_, byte): &(usize, u8)| commonness(&[*byte]);
        let (offset, byte) = bytes.min_by_key(rare).expect("no anchor is empty");
        let place = (which, offset as i8);
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
        while let Some(bytes) = text[at..].first_chunk::<8>() {
            let bytes = u64::from_le_bytes(*bytes) | CASE << 32 | CASE;
            let hash = |i: usize| hash_of((bytes >> (8 * STEP * i)) as u32);
            let hashes = [hash(0), hash(1), hash(2)];
            if self.bit(hashes[0]) | self.bit(hashes[1]) | self.bit(hashes[2]) != 0 {
                for (i, hash) in hashes.into_iter().enumerate() {
                    self.look(text, at + STEP * i, hash, tell);
                }
            }
            at += hashes.len() * STEP;
        }
        // The end of the text, as if nothing came after it.
        for at in (at..text.len()).step_by(STEP) {
            self.look(text, at, hash_of(group(&text[at..])), tell);
        }
    }

    /// Whether some anchor has a group with this hash.
    #[inline(always)]
    fn bit(&self, hash: u32) -> u64 {
        self.groups[hash as usize / 64] >> (hash % 64) & 1
    }

    /// Verifies the anchors that have a group with this hash.
    fn look(&self, text: &[u8], at: usize, hash: u32, tell: &mut dyn FnMut(usize, u16)) {
        if self.bit(hash) == 1 {
            let first = self.places.partition_point(|(other, ..)| *other < hash);
            let places = self.places[first..].iter().take_while(|(other, ..)| *other == hash);
            places.for_each(|(_, which, offset)| self.verify(text, at, *which, *offset, tell));
        }
    }

    fn verify(
        &self,
        text: &[u8],
        at: usize,
        which: u16,
        offset: i8,
        tell: &mut dyn FnMut(usize, u16),
    ) {
        let anchor = self.all[usize::from(which)].1.as_bytes();
        let Some(start) = at.checked_add_signed(-isize::from(offset)) else { return };
        let there = text.get(start..start + anchor.len());
        if there.is_some_and(|there| there.eq_ignore_ascii_case(anchor)) {
            tell(start, which);
        }
    }
}

/// Groups that English has everywhere, sorted.
const EVERYWHERE: &[&str] = &[
    " and", " for", " is ", " of ", " the", " to ", "able", "ally", "ance", "and ", "at t", "atio",
    "cont", "ctio", "ding", "e th", "ence", "enti", "ents", "es t", "ever", "for ", "from", "have",
    "he s", "her ", "here", "his ", "ight", "in t", "ing ", "ingt", "inte", "ion ", "ions", "is t",
    "ment", "n th", "ng t", "nter", "ntio", "of t", "on t", "othe", "ould", "over", "pres", "ring",
    "s th", "s to", "sion", "t th", "that", "the ", "ther", "they", "thin", "this", "ting", "tion",
    "tive", "to t", "ture", "ught", "ve t", "with",
];

/// How common bytes are in a text, by a guess: signs are rare, and letters in this order.
fn commonness(bytes: &[u8]) -> usize {
    let common = |byte: u8| b"-zqjxkvbpygfwmucldrhsnioate ".iter().position(|c| *c == byte);
    let letters: usize =
        bytes.iter().map(|byte| common(byte.to_ascii_lowercase()).map_or(0, |at| at + 1)).sum();
    let everywhere =
        |part: &&[u8]| EVERYWHERE.binary_search_by(|group| group.as_bytes().cmp(*part)).is_ok();
    letters + 30 * bytes.windows(GROUP).filter(everywhere).count()
}

/// Makes letters of either case the same, and some signs with them.
const CASE: u64 = 0x2020_2020;

/// The first four bytes in either case; where there are fewer, nothing follows them.
fn group(bytes: &[u8]) -> u32 {
    let mut group = [0; GROUP];
    let n = bytes.len().min(GROUP);
    group[..n].copy_from_slice(&bytes[..n]);
    u32::from_le_bytes(group) | CASE as u32
}

/// A hash of four bytes.
#[inline(always)]
fn hash_of(group: u32) -> u32 {
    group.wrapping_mul(0x9E37_79B1) >> (32 - HASH_BITS)
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
    fn the_list_of_groups_is_sorted() {
        assert!(EVERYWHERE.is_sorted() && EVERYWHERE.iter().all(|group| group.len() == GROUP));
    }

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
