//! Which words count differently since some texts changed.

use super::words::{Vocabulary, class};
use crate::model::{DocId, Lexicon, Terms};

/// What changed in the number of texts that have a word.
#[derive(Default)]
pub(super) struct Shift {
    /// Words, and in how many more texts they were before; sorted.
    before: Vec<(u32, i64)>,
    /// Those of them that are rarer or more common now, sorted.
    pub(super) moved: Vec<u32>,
}

impl Shift {
    /// The difference that some documents make, each with the words it had.
    pub(super) fn new(
        lexicon: &Lexicon,
        vocabulary: &Vocabulary,
        changed: &[(DocId, Terms)],
    ) -> Shift {
        let mut all: Vec<(u32, i64)> = Vec::new();
        for (id, terms) in changed {
            all.extend(terms.hashes.iter().map(|hash| (*hash, 1)));
            all.extend(lexicon.hashes.of(id.0 as usize).iter().map(|hash| (*hash, -1)));
        }
        let mut shift = Shift { before: summed(all), moved: vec![] };
        let is_moved =
            |hash: &u32| class(vocabulary.count(*hash)) != class(shift.count(vocabulary, *hash));
        shift.moved = shift.before.iter().map(|(hash, _)| *hash).filter(is_moved).collect();
        shift
    }

    /// In how many texts a word was before.
    fn count(&self, vocabulary: &Vocabulary, hash: u32) -> u32 {
        let at = self.before.binary_search_by_key(&hash, |(hash, _)| *hash);
        let more = at.map_or(0, |at| self.before[at].1);
        then(vocabulary.count(hash), more)
    }

    /// The row of a word and how rare it was before; `None` if no text had it. A word that no text
    /// has any more has a row that no other word has.
    pub(super) fn rarity(&self, vocabulary: &Vocabulary, hash: u32) -> Option<(u32, u32)> {
        let n = self.count(vocabulary, hash);
        (n > 0).then(|| (vocabulary.id(hash).unwrap_or(GONE), vocabulary.rarity_of(n)))
    }

    /// Whether a text has a word that counts differently now.
    pub(super) fn reaches(&self, hashes: &[u32]) -> bool {
        hashes.iter().any(|hash| self.moved.binary_search(hash).is_ok())
    }
}

/// Differences added up for each key, sorted; what makes no difference is left out.
pub(super) fn summed(mut all: Vec<(u32, i64)>) -> Vec<(u32, i64)> {
    all.sort_unstable();
    let sum = |run: &[(u32, i64)]| (run[0].0, run.iter().map(|(_, more)| more).sum());
    let sums = all.chunk_by(|a, b| a.0 == b.0).map(sum);
    sums.filter(|(_, more)| *more != 0).collect()
}

/// How many there were where there are so many now.
pub(super) fn then(now: u32, more: i64) -> u32 {
    (i64::from(now) + more).max(0) as u32
}

/// The row of a word that is in no text.
pub(super) const GONE: u32 = u32::MAX;
