//! What is said of a candidate, signal by signal, and how that is made one number.

/// How many signals there are.
pub const N_SIGNALS: usize = 15;

/// Their names, in the order of [`Signals`].
pub const NAMES: [&str; N_SIGNALS] = [
    "words",
    "cited",
    "title",
    "peers",
    "back",
    "marks",
    "hub",
    "earlier",
    "distance",
    "collection",
    "folder",
    "phrase",
    "saying",
    "names",
    "most",
];

/// What is said of one candidate, each in thousandths.
pub type Signals = [i32; N_SIGNALS];

/// How alike the words of the texts are.
pub(super) const WORDS: usize = 0;
/// How much of the text is what others say where they refer to it, and what its title says.
pub(super) const CITED: usize = 1;
/// How much of its title the text has.
pub(super) const TITLE: usize = 2;
/// How much documents like this one refer to it.
pub(super) const PEERS: usize = 3;
/// Whether it refers to this one.
pub(super) const BACK: usize = 4;
/// How rare an author or tag is that both have.
pub(super) const MARKS: usize = 5;
/// How often it is referred to at all.
pub(super) const HUB: usize = 6;
/// What references of this project are like; see [`super::habits::Habits`].
pub(super) const EARLIER: usize = 7;
pub(super) const DISTANCE: usize = 8;
pub(super) const COLLECTION: usize = 9;
pub(super) const FOLDER: usize = 10;
/// How much of its title the text says, words that follow each other; or of its file's name.
pub(super) const PHRASE: usize = 11;
/// How much the text says what others say where they refer to it, words that follow each other.
pub(super) const SAYING: usize = 12;
/// How alike the names of code are that both use.
pub(super) const NAMES_ALIKE: usize = 13;
/// How many of the names in the text it uses more than anybody.
pub(super) const NAMES_MOST: usize = 14;

/// Signals of what the two documents say, and not of what is usual.
const CONTENT: [usize; 10] =
    [WORDS, CITED, TITLE, PEERS, BACK, MARKS, PHRASE, SAYING, NAMES_ALIKE, NAMES_MOST];

/// What each signal counts for, in hundredths. Chosen by
/// `cargo run --release --example measure -- --tune FOLDER…`; the numbers are in ADR 0018 and ADR 0025.
pub const WEIGHTS: Signals = [500, 1278, 80, 640, 90, 98, 35, 123, 56, 82, 30, 430, 60, 450, 60];

/// One number, in thousandths.
#[inline]
pub fn fused(signals: &Signals, weights: &Signals) -> i32 {
    signals.iter().zip(weights).map(|(signal, weight)| signal * weight).sum::<i32>() / 100
}

/// What the two documents say to each other counts for, in thousandths.
#[inline]
pub(super) fn content(signals: &Signals) -> i32 {
    CONTENT.iter().map(|which| signals[*which] * WEIGHTS[*which]).sum::<i32>() / 100
}

/// What makes a candidate by words: what it shares, and what it is known by.
pub(super) fn by_words(shared: u32, known: u32) -> u64 {
    u64::from(shared) * WEIGHTS[WORDS] as u64 + u64::from(known) * WEIGHTS[CITED] as u64
}
