//! Priors of references: their direction, distance, collections and folders.
//!
//! Each prior is a likelihood ratio: the share of references with a property, divided by the share
//! of random pairs of documents with it. Its logarithm is added to the other signals. Only
//! references of the project itself are counted, so no project influences the ranking of another.

use std::ops::RangeInclusive;

use super::integer_log::ratio;
use crate::model::{DocId, Graph, Number};

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
    n_collections: usize,
    by_collections: Vec<i32>,
    same_folder: i32,
    other_folder: i32,
    positions: Vec<Position>,
}

/// Position of a document in the project.
#[derive(Clone, Copy)]
struct Position {
    number: Option<u64>,
    collection: u32,
    folder: u32,
}

/// Priors of one pair of documents.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct PairPriors {
    pub(super) earlier: i32,
    pub(super) distance: i32,
    pub(super) collection: i32,
    pub(super) folder: i32,
}

impl Priors {
    /// Counts references, each pair of documents once.
    pub(super) fn new(graph: &Graph, pairs: &[(DocId, DocId)]) -> Priors {
        let positions = positions(graph);
        let pair =
            |(from, to): &(DocId, DocId)| (positions[from.0 as usize], positions[to.0 as usize]);
        let (mut n_earlier, mut n_later) = (0u64, 0u64);
        let mut distances = [0u64; N_BUCKETS];
        let n_collections = graph.collections.len();
        let mut between = vec![0u64; n_collections * n_collections];
        let (mut n_inside, mut n_same_folder) = (0u64, 0u64);
        for (from, to) in pairs.iter().map(pair) {
            between[from.collection as usize * n_collections + to.collection as usize] += 1;
            if let Some((distance, earlier)) = distance_between(&from, &to) {
                *(if earlier { &mut n_earlier } else { &mut n_later }) += 1;
                distances[bucket(distance)] += 1;
            }
            if from.collection == to.collection {
                n_inside += 1;
                n_same_folder += u64::from(from.folder == to.folder);
            }
        }
        let n_directed = n_earlier + n_later + 4;
        let random = RandomPairs::sample(&positions);
        let (same_folder, other_folder) = by_folder(&random, n_same_folder, n_inside);
        Priors {
            earlier: ratio((n_earlier + 2) * 2, n_directed),
            later: ratio((n_later + 2) * 2, n_directed),
            by_distance: by_distance(&random.distances, &distances),
            n_collections,
            by_collections: by_collections(&positions, &between, n_collections),
            same_folder,
            other_folder,
            positions,
        }
    }

    /// Returns the priors of a reference from one document to another.
    pub(super) fn of_pair(&self, from: DocId, to: DocId) -> PairPriors {
        let (from, to) = (&self.positions[from.0 as usize], &self.positions[to.0 as usize]);
        let at = from.collection as usize * self.n_collections + to.collection as usize;
        let mut priors =
            PairPriors { collection: self.by_collections[at], ..PairPriors::default() };
        if let Some((distance, earlier)) = distance_between(from, to) {
            priors.earlier = if earlier { self.earlier } else { self.later };
            priors.distance = self.by_distance[bucket(distance)];
        }
        if from.collection == to.collection {
            let same = from.folder == to.folder;
            priors.folder = if same { self.same_folder } else { self.other_folder };
        }
        priors
    }
}

fn positions(graph: &Graph) -> Vec<Position> {
    let folder = |path: &str| path.rsplit_once('/').map_or(0, |(folder, _)| folder.len());
    let mut folders: Vec<&str> =
        graph.documents.iter().map(|document| &document.path[..folder(&document.path)]).collect();
    let folder_of_row = folders.clone();
    // Most documents follow another one of their folder, so this removes nearly all duplicates.
    folders.dedup();
    folders.sort_unstable();
    folders.dedup();
    let position = |(document, own): (&crate::model::Document, &str)| Position {
        number: document.number.as_ref().and_then(Number::value),
        collection: document.collection as u32,
        folder: folders.partition_point(|folder| *folder < own) as u32,
    };
    graph.documents.iter().zip(folder_of_row).map(position).collect()
}

/// Returns the distance of two numbers of one collection, and true if the target comes first.
fn distance_between(from: &Position, to: &Position) -> Option<(u64, bool)> {
    let (own, other) = (from.number?, to.number?);
    (from.collection == to.collection && own != other).then(|| (own.abs_diff(other), other < own))
}

fn bucket(distance: u64) -> usize {
    (distance.max(1).ilog2() as usize).min(N_BUCKETS - 1)
}

/// Numbers of random pairs by property: a sample of documents, each with every other document.
struct RandomPairs {
    distances: [u64; N_BUCKETS],
    same_collection: u64,
    same_folder: u64,
}

impl RandomPairs {
    fn sample(positions: &[Position]) -> RandomPairs {
        let mut pairs =
            RandomPairs { distances: [0; N_BUCKETS], same_collection: 0, same_folder: 0 };
        let mut numbers: Vec<(u32, u64)> = positions
            .iter()
            .filter_map(|position| Some((position.collection, position.number?)))
            .collect();
        numbers.sort_unstable();
        let mut folders: Vec<(u32, u32)> =
            positions.iter().map(|position| (position.collection, position.folder)).collect();
        folders.sort_unstable();
        for from in positions.iter().step_by(positions.len().div_ceil(MAX_SAMPLE).max(1)) {
            let all_folders = (from.collection, 0)..=(from.collection, u32::MAX);
            let folder = (from.collection, from.folder);
            pairs.same_collection += count_in(&folders, all_folders);
            pairs.same_folder += count_in(&folders, folder..=folder);
            let Some(number) = from.number else { continue };
            for (bucket, n_pairs) in pairs.distances.iter_mut().enumerate() {
                let least = 1u64 << bucket;
                let most = if bucket == N_BUCKETS - 1 { u64::MAX } else { least * 2 - 1 };
                let earlier = (number >= least).then(|| {
                    let start = number.saturating_sub(most);
                    count_in(&numbers, (from.collection, start)..=(from.collection, number - least))
                });
                let later = number.checked_add(least).map(|start| {
                    let end = number.saturating_add(most);
                    count_in(&numbers, (from.collection, start)..=(from.collection, end))
                });
                *n_pairs += earlier.unwrap_or(0) + later.unwrap_or(0);
            }
        }
        pairs
    }
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

fn by_collections(positions: &[Position], between: &[u64], n_collections: usize) -> Vec<i32> {
    let mut sizes = vec![0u64; n_collections];
    for position in positions {
        sizes[position.collection as usize] += 1;
    }
    let n = positions.len() as u64;
    let mut log_ratios = vec![0; between.len()];
    for (row, row_ratios) in log_ratios.chunks_mut(n_collections.max(1)).enumerate() {
        let seen = &between[row * n_collections..][..n_collections];
        let n_seen: u64 = seen.iter().sum();
        for (log_ratio, (seen, size)) in row_ratios.iter_mut().zip(seen.iter().zip(&sizes)) {
            *log_ratio = ratio(seen * n + SMOOTHING * size, (n_seen + SMOOTHING) * (*size).max(1));
        }
    }
    log_ratios
}

/// Returns the priors of references inside a collection to the same and to another folder.
fn by_folder(random: &RandomPairs, n_same: u64, n_inside: u64) -> (i32, i32) {
    let (chance_same, chance) = (random.same_folder, random.same_collection);
    // If nearly all documents are in one folder, the folder carries no information.
    if chance_same * 100 >= chance * 99 || chance_same == 0 {
        return (0, 0);
    }
    let (other, chance_other) = (n_inside - n_same, chance - chance_same);
    (
        ratio(n_same * chance + SMOOTHING * chance_same, (n_inside + SMOOTHING) * chance_same),
        ratio(other * chance + SMOOTHING * chance_other, (n_inside + SMOOTHING) * chance_other),
    )
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
        assert_eq!(earlier.folder, 0, "there is one folder");
    }
}
