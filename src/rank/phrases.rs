//! Who says another's title, or its file's name: words that follow each other, looked for in texts.

use rayon::prelude::*;

use super::log::log2_16;
use super::places::Places;
use super::shift::{summed, then};
use super::words::class;
use crate::model::word::pairs;
use crate::model::{DocId, Graph, Terms};

/// Pairs of words that are looked at of one title.
const MAX_PAIRS: usize = 12;

/// A pair that more titles and files have belongs to none of them.
const MAX_CALLED: usize = 96;

/// Calls that are looked at for one document, those of the pairs that name fewest first. Documents that
/// people wrote have some dozens, hardly one has three hundred.
const MAX_LOOKED: usize = 512;

/// What a document is called: by its title, or by its file.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
struct Call(u32);

impl Call {
    fn title(id: DocId) -> Call {
        Call(id.0 * 2)
    }

    fn file(id: DocId) -> Call {
        Call(id.0 * 2 + 1)
    }

    fn id(self) -> DocId {
        DocId(self.0 / 2)
    }

    fn is_title(self) -> bool {
        self.0.is_multiple_of(2)
    }
}

/// The pairs of all titles and files, and the texts they stand in.
pub(super) struct Phrases {
    /// Every pair of words with what is called by it, sorted.
    called: Vec<(u32, Call)>,
    /// How many texts have each of those pairs, and how rare that makes it.
    counts: Vec<u32>,
    rarity: Vec<u32>,
    /// How many are called by each pair, where it begins.
    lens: Vec<u8>,
    /// How rare the pairs of each call are together.
    whole: Vec<u32>,
    /// For each document, where in `called` the pairs begin that its text has.
    said: Vec<Vec<u32>>,
    places: Places,
}

impl Phrases {
    pub(super) fn new(graph: &Graph) -> Phrases {
        let ids: Vec<DocId> = graph.ids().collect();
        let mut called: Vec<(u32, Call)> =
            ids.into_par_iter().flat_map_iter(|id| calls(graph, id)).collect();
        called.par_sort_unstable();
        let places = Places::new(&called);
        let find = |document: &crate::model::Document| {
            let pairs = document.facts.terms.pairs.iter();
            pairs.filter_map(|pair| places.of(&called, *pair)).collect()
        };
        let said: Vec<Vec<u32>> = graph.documents.par_iter().map(find).collect();
        let mut counts = vec![0u32; called.len()];
        said.iter().flatten().for_each(|start| counts[*start as usize] += 1);
        let n_documents = graph.documents.len() as u64;
        let mut rarity = vec![0; called.len()];
        let mut lens = vec![0; called.len()];
        let mut whole = vec![0; graph.documents.len() * 2];
        let mut start = 0;
        for run in called.chunk_by(|a, b| a.0 == b.0) {
            if run.len() <= MAX_CALLED {
                lens[start] = run.len() as u8;
                rarity[start] = 1 + log2_16(n_documents, u64::from(commonness(counts[start])));
                run.iter().for_each(|(_, call)| whole[call.0 as usize] += rarity[start]);
            }
            start += run.len();
        }
        Phrases { called, counts, rarity, lens, whole, said, places }
    }

    /// Whether a pair of some title is as rare as it was when these texts had other pairs.
    pub(super) fn are_as_rare(&self, changed: &[(DocId, Terms)]) -> bool {
        let mut before: Vec<(u32, i64)> = Vec::new();
        for (id, terms) in changed {
            let had = terms.pairs.iter().filter_map(|pair| self.places.of(&self.called, *pair));
            before.extend(had.map(|start| (start, 1)));
            before.extend(self.said[id.0 as usize].iter().map(|start| (*start, -1)));
        }
        summed(before).into_iter().all(|(start, more)| {
            let now = self.counts[start as usize];
            commonness(now) == commonness(then(now, more))
        })
    }

    /// Who is called by the pair that begins here.
    fn run(&self, start: u32) -> &[(u32, Call)] {
        &self.called[start as usize..][..usize::from(self.lens[start as usize])]
    }

    /// Where the pairs begin that a document names others by. What it is called itself names nobody
    /// else.
    fn looked_at(&self, id: DocId) -> Vec<u32> {
        let names_others = |start: &u32| {
            let run = self.run(*start);
            let own = run.partition_point(|(_, call)| *call < Call::title(id));
            !run.is_empty() && run.get(own).is_none_or(|(_, call)| call.id() != id)
        };
        let said = self.said[id.0 as usize].iter().copied();
        let mut starts: Vec<u32> = said.filter(names_others).collect();
        let len = |start: &u32| usize::from(self.lens[*start as usize]);
        if starts.iter().map(len).sum::<usize>() > MAX_LOOKED {
            starts.sort_unstable_by_key(|start| (len(start), *start));
            let mut left = MAX_LOOKED;
            starts.retain(|start| {
                let fits = len(start) <= left;
                left -= if fits { len(start) } else { 0 };
                fits
            });
        }
        starts
    }

    /// Room for [`Phrases::share`].
    pub(super) fn sums(&self) -> Vec<u32> {
        vec![0; self.whole.len()]
    }

    /// Names who is called by what a document says, each with how much of the title is said, and how
    /// much of the file's name, in thousandths; one of them is 0.
    pub(super) fn share(&self, id: DocId, sums: &mut [u32], tell: &mut dyn FnMut(DocId, i32, i32)) {
        let mut touched: Vec<Call> = Vec::new();
        for start in self.looked_at(id) {
            for (_, call) in self.run(start) {
                if sums[call.0 as usize] == 0 {
                    touched.push(*call);
                }
                sums[call.0 as usize] += self.rarity[start as usize];
            }
        }
        for call in touched {
            let sum = std::mem::take(&mut sums[call.0 as usize]);
            let share = (sum * 1_000 / self.whole[call.0 as usize].max(1)) as i32;
            match call.is_title() {
                true => tell(call.id(), share, 0),
                false => tell(call.id(), 0, share),
            }
        }
    }
}

/// The pairs of a document's title, and of its file's name where they are others.
fn calls(graph: &Graph, id: DocId) -> impl Iterator<Item = (u32, Call)> {
    let document = graph.document(id);
    let title = pairs(&document.title, MAX_PAIRS);
    let mut file = pairs(&document.slug, MAX_PAIRS);
    if file == title {
        file.clear();
    }
    let title = title.into_iter().map(move |pair| (pair, Call::title(id)));
    title.chain(file.into_iter().map(move |pair| (pair, Call::file(id))))
}

/// How many texts have a pair, as far as it makes a difference.
fn commonness(n: u32) -> u32 {
    class(n).max(1)
}
