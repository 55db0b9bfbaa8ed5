//! Priors of references: their direction and their distance.
//!
//! Each prior is a likelihood ratio: the share of references with a property, divided by the share
//! of random pairs of documents with it. Its logarithm is added to the other signals. Only
//! references of the project itself are counted, so no project influences the ranking of another.

use std::ops::RangeInclusive;

use crate::model::integer_log::ratio;
use crate::model::{DocId, Document, Graph, Number};

/// Number of groups of distances. Each group ends at a power of two.
const N_BUCKETS: usize = 14;

/// Maximum number of documents that are paired with all others to sample random pairs.
const MAX_SAMPLE: usize = 128;

/// Prior count that is added to every observation (additive smoothing).
const SMOOTHING: u64 = 3;

/// Logarithms of the likelihood ratios, in thousandths.
pub(super) struct Priors {
    earlier: i32,
    later: i32,
    by_distance: [i32; N_BUCKETS],
    positions: Vec<Position>,
}

/// Collection and number of a document.
type Position = (u32, Option<u64>);

/// Priors of one pair of documents.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct PairPriors {
    pub(super) earlier: i32,
    pub(super) distance: i32,
}

impl Priors {
    /// Counts references, each pair of documents once.
    pub(super) fn new(graph: &Graph, pairs: &[(DocId, DocId)]) -> Priors {
        let position = |document: &Document| {
            (document.collection as u32, document.number.as_ref().and_then(Number::value))
        };
        let positions: Vec<Position> = graph.documents.iter().map(position).collect();
        let (mut n_earlier, mut n_later) = (0u64, 0u64);
        let mut distances = [0u64; N_BUCKETS];
        for (from, to) in pairs {
            let (from, to) = (positions[from.0 as usize], positions[to.0 as usize]);
            if let Some((distance, earlier)) = distance_between(from, to) {
                *(if earlier { &mut n_earlier } else { &mut n_later }) += 1;
                distances[bucket(distance)] += 1;
            }
        }
        let n_directed = n_earlier + n_later + 4;
        Priors {
            earlier: ratio((n_earlier + 2) * 2, n_directed),
            later: ratio((n_later + 2) * 2, n_directed),
            by_distance: by_distance(&random_distances(&positions), &distances),
            positions,
        }
    }

    /// Returns the priors of a reference from one document to another.
    pub(super) fn of_pair(&self, from: DocId, to: DocId) -> PairPriors {
        let (from, to) = (self.positions[from.0 as usize], self.positions[to.0 as usize]);
        match distance_between(from, to) {
            Some((distance, earlier)) => PairPriors {
                earlier: if earlier { self.earlier } else { self.later },
                distance: self.by_distance[bucket(distance)],
            },
            None => PairPriors::default(),
        }
    }
}

/// Returns the distance of two numbers of one collection, and true if the target comes first.
fn distance_between(from: Position, to: Position) -> Option<(u64, bool)> {
    let (own, other) = (from.1?, to.1?);
    (from.0 == to.0 && own != other).then(|| (own.abs_diff(other), other < own))
}

fn bucket(distance: u64) -> usize {
    (distance.max(1).ilog2() as usize).min(N_BUCKETS - 1)
}

/// Counts the distances of random pairs: a sample of documents, each with every other document.
fn random_distances(positions: &[Position]) -> [u64; N_BUCKETS] {
    let mut distances = [0; N_BUCKETS];
    let numbered =
        positions.iter().filter_map(|(collection, number)| Some((*collection, (*number)?)));
    let mut numbers: Vec<(u32, u64)> = numbered.collect();
    numbers.sort_unstable();
    for (collection, number) in numbers.iter().step_by(numbers.len().div_ceil(MAX_SAMPLE).max(1)) {
        for (bucket, n_pairs) in distances.iter_mut().enumerate() {
            let least = 1u64 << bucket;
            let most = if bucket == N_BUCKETS - 1 { u64::MAX } else { least * 2 - 1 };
            let earlier = (*number >= least).then(|| {
                let start = number.saturating_sub(most);
                count_in(&numbers, (*collection, start)..=(*collection, number - least))
            });
            let later = number.checked_add(least).map(|start| {
                let end = number.saturating_add(most);
                count_in(&numbers, (*collection, start)..=(*collection, end))
            });
            *n_pairs += earlier.unwrap_or(0) + later.unwrap_or(0);
        }
    }
    distances
}

/// Counts the items of a sorted list in a range.
fn count_in<T: Ord>(sorted: &[T], range: RangeInclusive<T>) -> u64 {
    let start = sorted.partition_point(|item| item < range.start());
    let end = sorted.partition_point(|item| item <= range.end());
    end.saturating_sub(start) as u64
}

fn by_distance(chance: &[u64; N_BUCKETS], seen: &[u64; N_BUCKETS]) -> [i32; N_BUCKETS] {
    let (n_seen, n_chance) = (seen.iter().sum::<u64>(), chance.iter().sum::<u64>());
    let mut log_ratios = [0; N_BUCKETS];
    for (log_ratio, (seen, chance)) in log_ratios.iter_mut().zip(seen.iter().zip(chance)) {
        if *chance > 0 {
            // (seen + smoothing · chance / n_chance) / (n_seen + smoothing), against chance /
            // n_chance.
            *log_ratio = ratio(seen * n_chance + SMOOTHING * chance, (n_seen + SMOOTHING) * chance);
        }
    }
    log_ratios
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Relation;
    use crate::rank::tests::graph;

    #[test]
    fn references_to_earlier_documents_make_earlier_ones_more_likely() {
        let titles = vec!["x"; 40];
        let back: Vec<(u32, u32, Relation)> =
            (1..40).map(|i| (i, i - 1, Relation::Mention)).collect();
        let graph = graph(&titles, &back);
        let pairs: Vec<(DocId, DocId)> =
            back.iter().map(|(from, to, _)| (DocId(*from), DocId(*to))).collect();
        let priors = Priors::new(&graph, &pairs);
        let (earlier, later) =
            (priors.of_pair(DocId(20), DocId(19)), priors.of_pair(DocId(20), DocId(21)));
        assert!(earlier.earlier > 0 && later.earlier < 0, "{earlier:?} {later:?}");
        assert!(earlier.distance > priors.of_pair(DocId(20), DocId(2)).distance);
    }
}
