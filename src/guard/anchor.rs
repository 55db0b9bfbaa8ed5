//! The few strings without which nothing needs to be looked at closely.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

/// What may begin at an anchor.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Kind {
    Url,
    Pem,
    Password,
    Word,
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
    (Kind::Url, &["://"]),
    (Kind::Pem, &["private key", "putty-user-key-file-"]),
    (
        Kind::Password,
        &["password", "passwd", "passphrase", "pwd", "secret", "db_pass", "identified by"],
    ),
    (Kind::Word, super::keyed::ANCHORS),
    (Kind::Authorization, &["authorization"]),
    (Kind::Order, super::order::ANCHORS),
    (Kind::Order, super::order::CALLS),
    (Kind::Comment, &["<!--", "[//]: #", "[comment]: #"]),
    (Kind::Tag, super::tag::ANCHORS),
];

struct Finder {
    automaton: AhoCorasick,
    kinds: Vec<Kind>,
}

/// One pass with a table: to find these in clean text costs a fraction of parsing it.
static FINDER: LazyLock<Finder> = LazyLock::new(|| {
    let each = || ANCHORS.iter().flat_map(|(kind, texts)| texts.iter().map(|text| (*kind, *text)));
    let automaton = AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::LeftmostLongest)
        .kind(Some(AhoCorasickKind::DFA))
        .build(each().map(|(_, text)| text))
        .expect("a short list of short strings can be compiled");
    Finder { automaton, kinds: each().map(|(kind, _)| kind).collect() }
});

/// The anchors in a text, in order.
pub(super) fn anchors(text: &str) -> Vec<Anchor> {
    let finder = &*FINDER;
    let found = finder.automaton.find_iter(text);
    found
        .map(|found| Anchor { kind: finder.kinds[found.pattern()], range: found.range() })
        .collect()
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
