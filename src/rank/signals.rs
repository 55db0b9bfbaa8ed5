//! Signals of a candidate, and the weighted sum that ranks it.

/// Number of signals.
pub const N_SIGNALS: usize = 15;

/// Names of the signals, in the order of [`Signals`].
pub const NAMES: [&str; N_SIGNALS] = [
    "terms",
    "anchor",
    "title terms",
    "peers",
    "backlink",
    "tags",
    "hub",
    "earlier",
    "distance",
    "collection",
    "folder",
    "title phrase",
    "citing phrases",
    "code names",
    "top user",
];

/// Values of all signals for one candidate, in thousandths.
pub type Signals = [i32; N_SIGNALS];

/// Cosine similarity of the texts.
pub(super) const TERMS: usize = 0;
/// Cosine similarity of the text and the candidate's anchor text: its title, and the lines that
/// cite it.
pub(super) const ANCHOR: usize = 1;
/// Share of the title's terms that the text contains.
pub(super) const TITLE_TERMS: usize = 2;
/// Share of similar documents that cite the candidate.
pub(super) const PEERS: usize = 3;
/// Strength of the candidate's reference to this document.
pub(super) const BACKLINK: usize = 4;
/// IDF of an author or tag that both have.
pub(super) const TAGS: usize = 5;
/// Logarithm of the number of documents that cite the candidate.
pub(super) const HUB: usize = 6;
/// Priors of the project's references; see [`super::priors::Priors`].
pub(super) const EARLIER: usize = 7;
pub(super) const DISTANCE: usize = 8;
pub(super) const COLLECTION: usize = 9;
pub(super) const FOLDER: usize = 10;
/// Share of the title's or file name's bigrams that the text contains.
pub(super) const TITLE_PHRASE: usize = 11;
/// Number of bigrams that the text shares with the lines that cite the candidate.
pub(super) const CITING_PHRASES: usize = 12;
/// Cosine similarity of the code names that both use.
pub(super) const CODE_NAMES: usize = 13;
/// Number of the text's code names that the candidate uses more than any other document.
pub(super) const TOP_USER: usize = 14;

/// Signals that compare the contents of the two documents. The others are priors.
const CONTENT: [usize; 10] = [
    TERMS,
    ANCHOR,
    TITLE_TERMS,
    PEERS,
    BACKLINK,
    TAGS,
    TITLE_PHRASE,
    CITING_PHRASES,
    CODE_NAMES,
    TOP_USER,
];

/// Weight of each signal, in hundredths. Chosen with `cargo run --release --example measure --
/// --tune FOLDER…`; ADR 0018 and ADR 0025 have the results.
pub const WEIGHTS: Signals = [500, 1278, 80, 640, 90, 98, 35, 123, 56, 82, 30, 430, 60, 450, 60];

/// Returns the weighted sum of all signals, in thousandths.
#[inline]
pub fn weighted_sum(signals: &Signals, weights: &Signals) -> i32 {
    signals.iter().zip(weights).map(|(signal, weight)| signal * weight).sum::<i32>() / 100
}

/// Returns the weighted sum of the content signals, in thousandths.
#[inline]
pub(super) fn content_score(signals: &Signals) -> i32 {
    CONTENT.iter().map(|signal| signals[*signal] * WEIGHTS[*signal]).sum::<i32>() / 100
}

/// Returns the points by which candidates are selected before the other signals are read.
pub(super) fn term_points(text: u32, anchor: u32) -> u64 {
    u64::from(text) * WEIGHTS[TERMS] as u64 + u64::from(anchor) * WEIGHTS[ANCHOR] as u64
}
