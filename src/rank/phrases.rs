//! Who says another's title: words of titles that follow each other, looked for in every text.

use rayon::prelude::*;

use super::log::log2_16;
use super::shift::{summed, then};
use super::words::class;
use crate::model::word::pairs;
use crate::model::{DocId, Graph, Terms};

/// Pairs of words that are looked at of one title.
const MAX_PAIRS: usize = 12;

/// A pair that more titles have belongs to none of them.
const MAX_TITLES: usize = 48;

/// The pairs of all titles, and the texts they stand in.
pub(super) struct Phrases {
    /// Every pair of words with a document that has it in its title, sorted.
    titles: Vec<(u32, DocId)>,
    /// How many texts have each of those pairs, and how rare that makes it.
    counts: Vec<u32>,
    rarity: Vec<u32>,
    /// How rare the pairs of each document's title are together.
    whole: Vec<u32>,
    /// For each document, where in `titles` the pairs begin that its text has.
    said: Vec<Vec<u32>>,
    places: Places,
}

impl Phrases {
    pub(super) fn new(graph: &Graph) -> Phrases {
        let of = |id: DocId| {
            let pairs = pairs(&graph.document(id).title, MAX_PAIRS);
            pairs.into_iter().map(move |pair| (pair, id))
        };
        let ids: Vec<DocId> = graph.ids().collect();
        let mut titles: Vec<(u32, DocId)> = ids.into_par_iter().flat_map_iter(of).collect();
        titles.par_sort_unstable();
        let places = Places::new(&titles);
        let find = |document: &crate::model::Document| {
            let pairs = document.facts.terms.pairs.iter();
            pairs.filter_map(|pair| places.of(&titles, *pair)).collect()
        };
        let said: Vec<Vec<u32>> = graph.documents.par_iter().map(find).collect();
        let mut counts = vec![0u32; titles.len()];
        said.iter().flatten().for_each(|start| counts[*start as usize] += 1);
        let n_documents = graph.documents.len() as u64;
        let mut rarity = vec![0; titles.len()];
        let mut whole = vec![0; graph.documents.len()];
        let mut start = 0;
        for run in titles.chunk_by(|a, b| a.0 == b.0) {
            if run.len() <= MAX_TITLES {
                rarity[start] = 1 + log2_16(n_documents, u64::from(commonness(counts[start])));
                run.iter().for_each(|(_, id)| whole[id.0 as usize] += rarity[start]);
            }
            start += run.len();
        }
        Phrases { titles, counts, rarity, whole, said, places }
    }

    /// Whether a pair of some title is as rare as it was when these texts had other pairs.
    pub(super) fn are_as_rare(&self, changed: &[(DocId, Terms)]) -> bool {
        let mut before: Vec<(u32, i64)> = Vec::new();
        for (id, terms) in changed {
            let had = terms.pairs.iter().filter_map(|pair| self.places.of(&self.titles, *pair));
            before.extend(had.map(|start| (start, 1)));
            before.extend(self.said[id.0 as usize].iter().map(|start| (*start, -1)));
        }
        summed(before).into_iter().all(|(start, more)| {
            let now = self.counts[start as usize];
            commonness(now) == commonness(then(now, more))
        })
    }

    /// Names whose title is said in a document, each with how much of it, in thousandths.
    pub(super) fn share(&self, id: DocId, sums: &mut [u32], tell: &mut dyn FnMut(DocId, i32)) {
        let mut touched: Vec<DocId> = Vec::new();
        for start in &self.said[id.0 as usize] {
            let rarity = self.rarity[*start as usize];
            let run = &self.titles[*start as usize..];
            let pair = run[0].0;
            let len = run.iter().take(MAX_TITLES).take_while(|(other, _)| *other == pair).count();
            // What a document itself is called names nobody else.
            if rarity == 0 || run[..len].binary_search(&(pair, id)).is_ok() {
                continue;
            }
            for (_, other) in &run[..len] {
                if sums[other.0 as usize] == 0 {
                    touched.push(*other);
                }
                sums[other.0 as usize] += rarity;
            }
        }
        for other in touched {
            let sum = std::mem::take(&mut sums[other.0 as usize]);
            tell(other, (sum * 1_000 / self.whole[other.0 as usize].max(1)) as i32);
        }
    }
}

/// How many texts have a pair, as far as it makes a difference.
fn commonness(n: u32) -> u32 {
    class(n).max(1)
}

/// Where a pair begins in the sorted list of titles, without searching for those that are in none.
struct Places {
    /// A bit for every pair, by its last bits: nearly all pairs of texts are in no title.
    some: Vec<u64>,
    /// Place plus one, by the pair's last bits; 0 where there is none.
    slots: Vec<u32>,
}

impl Places {
    fn new(titles: &[(u32, DocId)]) -> Places {
        let mut slots = vec![0u32; (titles.len() * 2).next_power_of_two().max(16)];
        let last = slots.len() - 1;
        let mut some = vec![0u64; slots.len() / 8];
        let mut start = 0;
        for run in titles.chunk_by(|a, b| a.0 == b.0) {
            let (word, bit) = bit(&some, run[0].0);
            some[word] |= bit;
            let mut at = run[0].0 as usize & last;
            while slots[at] != 0 {
                at = (at + 1) & last;
            }
            slots[at] = start as u32 + 1;
            start += run.len();
        }
        Places { some, slots }
    }

    fn of(&self, titles: &[(u32, DocId)], pair: u32) -> Option<u32> {
        let (word, bit) = bit(&self.some, pair);
        if self.some[word] & bit == 0 {
            return None;
        }
        let last = self.slots.len() - 1;
        let mut at = pair as usize & last;
        while let Some(start) = self.slots[at].checked_sub(1) {
            if titles[start as usize].0 == pair {
                return Some(start);
            }
            at = (at + 1) & last;
        }
        None
    }
}

fn bit(some: &[u64], pair: u32) -> (usize, u64) {
    ((pair >> 6) as usize & (some.len() - 1), 1 << (pair & 63))
}
