//! What references are like in this project: whether they go back in time, how far, and where to.
//!
//! Each habit is a ratio: how often references do something, against how often pairs of documents
//! would by chance. As logarithms the ratios are added to the other signals. A project's own references are
//! the only measure, so no habit of one project is brought into another.

use std::ops::RangeInclusive;

use super::log::ratio;
use crate::model::{DocId, Graph, Number};

/// Distances are told apart by doublings.
const STEPS: usize = 14;

/// Documents whose distances to all others are counted, to know what chance gives.
const MAX_SAMPLE: usize = 128;

/// What is believed of a project before its references are counted.
const BELIEF: u64 = 3;

/// The habits of one project's references, in thousandths of a natural logarithm.
pub(super) struct Habits {
    earlier: i32,
    later: i32,
    by_distance: [i32; STEPS],
    n_collections: usize,
    by_collections: Vec<i32>,
    same_folder: i32,
    other_folder: i32,
    places: Vec<Place>,
}

/// Where a document stands.
#[derive(Clone, Copy)]
struct Place {
    number: Option<u64>,
    collection: u32,
    folder: u32,
}

/// What habit says of a pair.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Said {
    pub(super) earlier: i32,
    pub(super) distance: i32,
    pub(super) collection: i32,
    pub(super) folder: i32,
}

impl Habits {
    /// Reads the habits off references, each pair of documents once.
    pub(super) fn new(graph: &Graph, pairs: &[(DocId, DocId)]) -> Habits {
        let places = places(graph);
        let pair = |(from, to): &(DocId, DocId)| (places[from.0 as usize], places[to.0 as usize]);
        let (mut n_earlier, mut n_later) = (0u64, 0u64);
        let mut distances = [0u64; STEPS];
        let n_collections = graph.collections.len();
        let mut between = vec![0u64; n_collections * n_collections];
        let (mut n_inside, mut n_same_folder) = (0u64, 0u64);
        for (from, to) in pairs.iter().map(pair) {
            between[from.collection as usize * n_collections + to.collection as usize] += 1;
            if let Some((away, earlier)) = away(&from, &to) {
                *(if earlier { &mut n_earlier } else { &mut n_later }) += 1;
                distances[step(away)] += 1;
            }
            if from.collection == to.collection {
                n_inside += 1;
                n_same_folder += u64::from(from.folder == to.folder);
            }
        }
        let both = n_earlier + n_later + 4;
        let chance = Chance::of(&places);
        let (same_folder, other_folder) = by_folder(&chance, n_same_folder, n_inside);
        Habits {
            earlier: ratio((n_earlier + 2) * 2, both),
            later: ratio((n_later + 2) * 2, both),
            by_distance: by_distance(&chance.distances, &distances),
            n_collections,
            by_collections: by_collections(&places, &between, n_collections),
            same_folder,
            other_folder,
            places,
        }
    }

    /// What habit says of one referring to another.
    pub(super) fn of(&self, from: DocId, to: DocId) -> Said {
        let (from, to) = (&self.places[from.0 as usize], &self.places[to.0 as usize]);
        let at = from.collection as usize * self.n_collections + to.collection as usize;
        let mut said = Said { collection: self.by_collections[at], ..Said::default() };
        if let Some((away, earlier)) = away(from, to) {
            said.earlier = if earlier { self.earlier } else { self.later };
            said.distance = self.by_distance[step(away)];
        }
        if from.collection == to.collection {
            let same = from.folder == to.folder;
            said.folder = if same { self.same_folder } else { self.other_folder };
        }
        said
    }
}

fn places(graph: &Graph) -> Vec<Place> {
    let folder = |path: &str| path.rsplit_once('/').map_or(0, |(folder, _)| folder.len());
    let mut folders: Vec<&str> =
        graph.documents.iter().map(|document| &document.path[..folder(&document.path)]).collect();
    let all = folders.clone();
    // Most follow another of their folder.
    folders.dedup();
    folders.sort_unstable();
    folders.dedup();
    let place = |(document, own): (&crate::model::Document, &str)| Place {
        number: document.number.as_ref().and_then(Number::value),
        collection: document.collection as u32,
        folder: folders.partition_point(|folder| *folder < own) as u32,
    };
    graph.documents.iter().zip(all).map(place).collect()
}

/// How far apart two numbers of one collection are, and whether it is the other that comes first.
fn away(from: &Place, to: &Place) -> Option<(u64, bool)> {
    let (own, other) = (from.number?, to.number?);
    (from.collection == to.collection && own != other).then(|| (own.abs_diff(other), other < own))
}

fn step(away: u64) -> usize {
    (away.max(1).ilog2() as usize).min(STEPS - 1)
}

/// What pairs of documents are like by chance: some, spread over all, with every other.
struct Chance {
    distances: [u64; STEPS],
    inside: u64,
    same_folder: u64,
}

impl Chance {
    fn of(places: &[Place]) -> Chance {
        let mut chance = Chance { distances: [0; STEPS], inside: 0, same_folder: 0 };
        let mut numbers: Vec<(u32, u64)> =
            places.iter().filter_map(|place| Some((place.collection, place.number?))).collect();
        numbers.sort_unstable();
        let mut folders: Vec<(u32, u32)> =
            places.iter().map(|place| (place.collection, place.folder)).collect();
        folders.sort_unstable();
        for from in places.iter().step_by(places.len().div_ceil(MAX_SAMPLE).max(1)) {
            let inside = within(&folders, (from.collection, 0)..=(from.collection, u32::MAX));
            let own = (from.collection, from.folder);
            chance.inside += inside;
            chance.same_folder += within(&folders, own..=own);
            let Some(number) = from.number else { continue };
            for (step, chance) in chance.distances.iter_mut().enumerate() {
                let least = 1u64 << step;
                let most = if step == STEPS - 1 { u64::MAX } else { least * 2 - 1 };
                let earlier = (number >= least).then(|| {
                    let all = number.saturating_sub(most)..=number - least;
                    within(
                        &numbers,
                        (from.collection, *all.start())..=(from.collection, *all.end()),
                    )
                });
                let later = number.checked_add(least).map(|start| {
                    let end = number.saturating_add(most);
                    within(&numbers, (from.collection, start)..=(from.collection, end))
                });
                *chance += earlier.unwrap_or(0) + later.unwrap_or(0);
            }
        }
        chance
    }
}

/// How many of a sorted list are in a range.
fn within<T: Ord>(sorted: &[T], range: RangeInclusive<T>) -> u64 {
    let start = sorted.partition_point(|one| one < range.start());
    let end = sorted.partition_point(|one| one <= range.end());
    end.saturating_sub(start) as u64
}

fn by_distance(chance: &[u64; STEPS], seen: &[u64; STEPS]) -> [i32; STEPS] {
    let (n_seen, n_chance) = (seen.iter().sum::<u64>(), chance.iter().sum::<u64>());
    let mut habit = [0; STEPS];
    for (habit, (seen, chance)) in habit.iter_mut().zip(seen.iter().zip(chance)) {
        if *chance > 0 {
            // (seen + belief · chance / n_chance) / (n_seen + belief), against chance / n_chance.
            *habit = ratio(seen * n_chance + BELIEF * chance, (n_seen + BELIEF) * chance);
        }
    }
    habit
}

fn by_collections(places: &[Place], between: &[u64], n_collections: usize) -> Vec<i32> {
    let mut sizes = vec![0u64; n_collections];
    for place in places {
        sizes[place.collection as usize] += 1;
    }
    let n = places.len() as u64;
    let mut habit = vec![0; between.len()];
    for (row, habits) in habit.chunks_mut(n_collections.max(1)).enumerate() {
        let seen = &between[row * n_collections..][..n_collections];
        let n_seen: u64 = seen.iter().sum();
        for (habit, (seen, size)) in habits.iter_mut().zip(seen.iter().zip(&sizes)) {
            *habit = ratio(seen * n + BELIEF * size, (n_seen + BELIEF) * (*size).max(1));
        }
    }
    habit
}

/// Whether references inside a collection stay in their folder.
fn by_folder(chance: &Chance, n_same: u64, n_inside: u64) -> (i32, i32) {
    let (chance_same, chance) = (chance.same_folder, chance.inside);
    // One folder for everything says nothing.
    if chance_same * 100 >= chance * 99 || chance_same == 0 {
        return (0, 0);
    }
    let (other, chance_other) = (n_inside - n_same, chance - chance_same);
    (
        ratio(n_same * chance + BELIEF * chance_same, (n_inside + BELIEF) * chance_same),
        ratio(other * chance + BELIEF * chance_other, (n_inside + BELIEF) * chance_other),
    )
}
