//! The best of many, without keeping the many.

use crate::model::DocId;

/// The documents with the most points; of equals, those that come first.
pub(super) struct Best {
    most: usize,
    /// At most twice as many as are wanted.
    kept: Vec<(u64, DocId)>,
    /// Who has less is not among the best.
    least: u64,
}

impl Best {
    pub(super) fn new(most: usize) -> Best {
        Best { most, kept: Vec::with_capacity(most * 2), least: 1 }
    }

    pub(super) fn clear(&mut self) {
        self.kept.clear();
        self.least = 1;
    }

    /// Offers a document with its points; none are no points.
    pub(super) fn offer(&mut self, points: u64, id: DocId) {
        if points < self.least {
            return;
        }
        self.kept.push((points, id));
        if self.kept.len() == self.most * 2 {
            self.cut();
        }
    }

    /// The best, in no order.
    pub(super) fn best(&mut self) -> &[(u64, DocId)] {
        if self.kept.len() > self.most {
            self.cut();
        }
        &self.kept
    }

    /// Who has fewer points is not among the best; 0 while there is room for anybody.
    pub(super) fn cutoff(&mut self) -> u64 {
        let most = self.most;
        let best = self.best();
        let least = best.iter().map(|(points, _)| *points).min();
        least.filter(|_| best.len() == most).unwrap_or(0)
    }

    fn cut(&mut self) {
        let by = |(points, id): &(u64, DocId)| (std::cmp::Reverse(*points), *id);
        let (_, last, _) = self.kept.select_nth_unstable_by_key(self.most - 1, by);
        self.least = last.0;
        self.kept.truncate(self.most);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_keeps_what_sorting_all_would_keep() {
        let mut state = 7u64;
        for n in [0, 1, 7, 8, 9, 100, 1_000] {
            let mut best = Best::new(8);
            let mut all = Vec::new();
            for id in 0..n {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let points = (state >> 33) % 20;
                best.offer(points, DocId(id));
                all.push((points, DocId(id)));
            }
            all.retain(|(points, _)| *points > 0);
            all.sort_by_key(|(points, id)| (std::cmp::Reverse(*points), *id));
            all.truncate(8);
            let mut kept = best.best().to_vec();
            kept.sort_by_key(|(points, id)| (std::cmp::Reverse(*points), *id));
            assert_eq!(kept, all);
        }
    }
}
