//! Names of code that documents share, whole: who uses the same, and who uses each of them most.

use rayon::prelude::*;

use super::log::{log2_16, ratio};
use super::shift::{summed, then};
use super::words::class;
use crate::model::{DocId, Lexicon, Terms};

/// A name that more documents use belongs to the language, not to them. A power of two, so that
/// who is past it is of another class.
const MAX_USED: u32 = 32;

/// Names that everybody is believed to use besides, as a length: one shared name is no proof.
const BELIEF: u64 = 320;

/// What documents that use a name are to each other.
pub(super) struct Shared {
    /// How alike the names of both are, in thousandths.
    pub(super) alike: i32,
    /// How many names the other uses most, as a logarithm in thousandths.
    pub(super) most: i32,
}

/// Names that a few documents use.
pub(super) struct Names {
    /// Each name with who uses it, sorted.
    uses: Vec<Use>,
    /// Where in `uses` the names of all documents begin, and where in these each document's.
    places: Vec<u32>,
    starts: Vec<u32>,
    /// The names of each document together, as a length.
    lengths: Vec<u32>,
    /// How rare a name is that so many use, by the doublings of that.
    rarity: Vec<u32>,
    /// How rare a name can be.
    rarest: u32,
}

/// A name, who uses it, and how often in doublings: one number, which is sorted quicker than three.
#[derive(Clone, Copy, Eq, Ord, PartialEq, PartialOrd)]
struct Use(u64);

impl Use {
    /// Of a name as [`crate::model::terms::used`] gives it.
    fn new(name: u32, id: DocId) -> Use {
        Use(u64::from(name >> 3) << 35 | u64::from(id.0) << 3 | u64::from(name & 7))
    }

    fn name(self) -> u64 {
        self.0 >> 35
    }

    fn id(self) -> DocId {
        DocId((self.0 >> 3) as u32)
    }

    fn level(self) -> u32 {
        (self.0 & 7) as u32 + 1
    }
}

/// The names of a text without how often they are used.
fn bare(names: &[u32]) -> impl Iterator<Item = u32> {
    names.iter().map(|name| name >> 3)
}

/// Whether a name that so many use is looked at.
fn is_shared(n: u32) -> bool {
    (2..=MAX_USED).contains(&n)
}

impl Names {
    pub(super) fn new(lexicon: &Lexicon) -> Names {
        let n = lexicon.names.len();
        let of = |id: DocId| {
            let names = lexicon.names.of(id.0 as usize).iter();
            names.map(move |name| Use::new(*name, id))
        };
        let ids: Vec<DocId> = (0..n as u32).map(DocId).collect();
        let mut uses: Vec<Use> = ids.into_par_iter().flat_map_iter(of).collect();
        uses.par_sort_unstable();
        let runs = uses.chunk_by(|a, b| a.name() == b.name());
        let shared = runs.filter(|run| is_shared(run.len() as u32));
        let uses: Vec<Use> = shared.flatten().copied().collect();
        let doublings = 0..=MAX_USED.ilog2();
        let rarity = doublings.map(|doublings| log2_16(n as u64, 1 << doublings)).collect();
        let rarest = log2_16(n as u64, 1).max(1);
        let (places, starts, lengths) = (Vec::new(), vec![0; n + 1], Vec::new());
        let mut names = Names { uses, places, starts, lengths, rarity, rarest };
        names.place(n);
        names
    }

    /// Notes where each document's names are, and how much they tell together.
    fn place(&mut self, n: usize) {
        self.uses.iter().for_each(|one| self.starts[one.id().0 as usize + 1] += 1);
        (1..=n).for_each(|i| self.starts[i] += self.starts[i - 1]);
        let mut next = self.starts.clone();
        self.places = vec![0; self.uses.len()];
        let mut squares = vec![BELIEF * BELIEF; n];
        let mut start = 0;
        for run in self.uses.chunk_by(|a, b| a.name() == b.name()) {
            let rarity = self.rarity_of(run);
            for one in run {
                let row = one.id().0 as usize;
                self.places[next[row] as usize] = start;
                next[row] += 1;
                let weight = u64::from(one.level() * rarity);
                squares[row] += weight * weight;
            }
            start += run.len() as u32;
        }
        self.lengths = squares.into_iter().map(|squares| squares.isqrt() as u32).collect();
    }

    fn rarity_of(&self, run: &[Use]) -> u32 {
        self.rarity[class(run.len() as u32).ilog2() as usize]
    }

    /// The uses of each name that a document shares with others.
    fn runs(&self, id: DocId) -> impl Iterator<Item = &[Use]> {
        let row = id.0 as usize;
        let places = &self.places[self.starts[row] as usize..self.starts[row + 1] as usize];
        places.iter().map(|start| {
            let run = &self.uses[*start as usize..];
            let len = run.iter().take_while(|one| one.name() == run[0].name()).count();
            &run[..len]
        })
    }

    /// Names who uses the same names as a document.
    pub(super) fn share(
        &self,
        id: DocId,
        (sums, most): (&mut [u32], &mut [u32]),
        tell: &mut dyn FnMut(DocId, Shared),
    ) {
        let mut touched: Vec<DocId> = Vec::new();
        for run in self.runs(id) {
            let rarity = self.rarity_of(run);
            let Ok(own) = run.binary_search_by_key(&id, |one| one.id()) else { continue };
            let own = run[own].level() * rarity;
            // Of equals the one that comes first.
            let first = run.iter().rev().max_by_key(|one| one.level());
            for one in run.iter().filter(|one| one.id() != id && rarity > 0) {
                let row = one.id().0 as usize;
                if sums[row] == 0 {
                    touched.push(one.id());
                }
                sums[row] += own * one.level() * rarity;
                most[row] += if first == Some(one) { rarity } else { 0 };
            }
        }
        for other in touched {
            let row = other.0 as usize;
            let both = u64::from(std::mem::take(&mut sums[row])) * 1_000;
            let lengths = u64::from(self.lengths[id.0 as usize]) * u64::from(self.lengths[row]);
            let most = std::mem::take(&mut most[row]);
            let most = ratio(u64::from(self.rarest + most), u64::from(self.rarest));
            tell(other, Shared { alike: (both / lengths) as i32, most });
        }
    }

    /// How many names two documents share.
    pub(super) fn n_shared(&self, one: DocId, other: DocId) -> usize {
        let has = |run: &&[Use]| run.binary_search_by_key(&other, |one| one.id()).is_ok();
        self.runs(one).filter(has).count()
    }
}

/// Notes who shares a name with a document whose names count differently than before, by row.
pub(super) fn reach(lexicon: &Lexicon, changed: &[(DocId, Terms)], reached: &mut [bool]) {
    let now = |id: DocId| lexicon.names.of(id.0 as usize);
    let changed: Vec<&(DocId, Terms)> =
        changed.iter().filter(|(id, terms)| terms.names != now(*id)).collect();
    if changed.is_empty() {
        return;
    }
    let mut more: Vec<(u32, i64)> = Vec::new();
    for (id, terms) in &changed {
        more.extend(bare(&terms.names).map(|name| (name, 1)));
        more.extend(bare(now(*id)).map(|name| (name, -1)));
    }
    let more = summed(more);
    let before = |name: u32, now: u32| {
        let at = more.binary_search_by_key(&name, |(name, _)| *name);
        then(now, at.map_or(0, |at| more[at].1))
    };
    let is_moved = |name: u32, now: u32| {
        let before = before(name, now);
        class(before) != class(now) && (is_shared(before) || is_shared(now))
    };
    // A name that counts differently changes what all names of who uses it are worth.
    let mut names: Vec<u32> = more.iter().map(|(name, _)| *name).collect();
    keep(lexicon, &mut names, is_moved);
    let all = || (0..lexicon.names.len()).map(|row| lexicon.names.of(row));
    let moved = all().filter(|own| has(own, &names));
    let mut names: Vec<u32> = moved.flat_map(bare).collect();
    names.extend(changed.iter().flat_map(|(id, terms)| bare(&terms.names).chain(bare(now(*id)))));
    names.sort_unstable();
    names.dedup();
    keep(lexicon, &mut names, |name, now| is_shared(now) || is_shared(before(name, now)));
    for (own, reached) in all().zip(reached) {
        *reached |= has(own, &names);
    }
}

/// Whether some names of a text are among others, which are sorted.
fn has(own: &[u32], names: &[u32]) -> bool {
    !names.is_empty() && bare(own).any(|name| names.binary_search(&name).is_ok())
}

/// Keeps those of some sorted names of which something holds, given how many use each now.
fn keep(lexicon: &Lexicon, names: &mut Vec<u32>, holds: impl Fn(u32, u32) -> bool) {
    let mut counts = vec![0u32; names.len()];
    for name in bare(lexicon.names.all()) {
        if let Ok(at) = names.binary_search(&name) {
            counts[at] += 1;
        }
    }
    let mut counts = counts.into_iter();
    names.retain(|name| counts.next().is_some_and(|n| holds(*name, n)));
}
