//! Signals of a candidate, and the weighted sum that ranks it.

/// Number of signals.
pub const N_SIGNALS: usize = 8;

/// Names of the signals, in the order of [`Signals`].
pub const NAMES: [&str; N_SIGNALS] = [
    "terms",
    "title terms",
    "title phrase",
    "citing phrases",
    "peers",
    "walk",
    "earlier",
    "distance",
];

/// Values of all signals for one candidate, in thousandths.
pub type Signals = [i32; N_SIGNALS];

/// Cosine similarity of the texts.
pub(super) const TERMS: usize = 0;
/// Share of the title's terms that the text contains, squared.
pub(super) const TITLE_TERMS: usize = 1;
/// IDF of the title's bigrams that the text contains, multiplied by their share of the title.
pub(super) const TITLE_PHRASE: usize = 2;
/// Number of bigrams that the text shares with the lines that cite the candidate.
pub(super) const CITING_PHRASES: usize = 3;
/// Share of similar documents that cite the candidate.
pub(super) const PEERS: usize = 4;
/// Probability that a random walk from the document and from similar ones ends at the candidate.
pub(super) const WALK: usize = 5;
/// Priors of the project's references; see [`super::priors::Priors`].
pub(super) const EARLIER: usize = 6;
pub(super) const DISTANCE: usize = 7;

/// Number of signals that compare the two documents. The others are priors.
const N_CONTENT: usize = 6;

/// Weight of each signal, in hundredths. Fitted with `examples/measure`; ADR 0033 has the results.
pub const WEIGHTS: Signals = [330, 127, 24, 155, 394, 109, 134, 47];

/// Returns the weighted sum of all signals, in thousandths.
#[inline]
pub fn weighted_sum(signals: &Signals, weights: &Signals) -> i32 {
    signals.iter().zip(weights).map(|(signal, weight)| signal * weight).sum::<i32>() / 100
}

/// Returns the weighted sum of the content signals, in thousandths.
#[inline]
pub(super) fn content_score(signals: &Signals) -> i32 {
    signals[..N_CONTENT].iter().zip(&WEIGHTS).map(|(signal, weight)| signal * weight).sum::<i32>()
        / 100
}
