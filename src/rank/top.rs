//! Selects the best of many candidates without storing them all.

use crate::model::DocId;

/// The documents with the most points; of equals, those that come first.
pub(super) struct TopN {
    n: usize,
    /// At most `2 * n` candidates.
    candidates: Vec<(u64, DocId)>,
    /// Candidates with fewer points are not among the best.
    min: u64,
}

impl TopN {
    pub(super) fn new(n: usize) -> TopN {
        TopN { n, candidates: Vec::with_capacity(n * 2), min: 1 }
    }

    pub(super) fn clear(&mut self) {
        self.candidates.clear();
        self.min = 1;
    }

    /// Adds a candidate unless it has no points.
    pub(super) fn add(&mut self, points: u64, id: DocId) {
        if points < self.min {
            return;
        }
        self.candidates.push((points, id));
        if self.candidates.len() == self.n * 2 {
            self.cut();
        }
    }

    /// Returns the best candidates, unordered.
    pub(super) fn best(&mut self) -> &[(u64, DocId)] {
        if self.candidates.len() > self.n {
            self.cut();
        }
        &self.candidates
    }

    fn cut(&mut self) {
        let order = |(points, id): &(u64, DocId)| (std::cmp::Reverse(*points), *id);
        let (_, last, _) = self.candidates.select_nth_unstable_by_key(self.n - 1, order);
        self.min = last.0;
        self.candidates.truncate(self.n);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selects_the_same_candidates_as_sorting_all() {
        let mut state = 7u64;
        for n in [0, 1, 7, 8, 9, 100, 1_000] {
            let mut top = TopN::new(8);
            let mut all = Vec::new();
            for id in 0..n {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let points = (state >> 33) % 20;
                top.add(points, DocId(id));
                all.push((points, DocId(id)));
            }
            all.retain(|(points, _)| *points > 0);
            all.sort_by_key(|(points, id)| (std::cmp::Reverse(*points), *id));
            all.truncate(8);
            let mut best = top.best().to_vec();
            best.sort_by_key(|(points, id)| (std::cmp::Reverse(*points), *id));
            assert_eq!(best, all);
        }
    }
}
