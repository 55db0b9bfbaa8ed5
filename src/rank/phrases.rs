//! Who says another's title, or its file's name: words that follow each other, looked for in texts.

use rayon::prelude::*;

use super::log::log2_16;
use super::places::Places;
use super::shift::{summed, then};
use super::words::class;
use crate::model::word::bigrams;
use crate::model::{Calls, DocId, Document, Graph, Rows, Terms};

/// Pairs of words that are looked at of one title.
const MAX_PAIRS: usize = 12;

/// A pair that more titles and files have belongs to none of them.
const MAX_CALLED: usize = 96;

/// Calls that are looked at for one document, those of the bigrams that name fewest first. Documents that
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

/// The bigrams of all titles and files, and the texts they stand in.
pub(super) struct Phrases {
    calls: Calls,
    /// How rare each of those bigrams is, where it begins.
    rarity: Vec<u32>,
    /// How many are called by each pair, where it begins.
    lens: Vec<u8>,
    /// How rare the bigrams of each call are together.
    whole: Vec<u32>,
    /// For each document, where in `called` the bigrams begin that its text has, if all were looked at.
    said: Option<Rows<u32>>,
    places: Places,
}

/// What was known before, and the texts that are others now: with the bigrams they had then.
pub(super) struct Known {
    pub(super) calls: Calls,
    pub(super) edited: Vec<(DocId, Vec<u32>)>,
}

/// What all documents are called, and which texts say so.
fn found(graph: &Graph) -> (Calls, Places, Rows<u32>) {
    let ids: Vec<DocId> = graph.ids().collect();
    let mut called: Vec<(u32, u32)> =
        ids.into_par_iter().flat_map_iter(|id| calls_of(graph, id)).collect();
    called.par_sort_unstable();
    let runs = called.chunk_by(|a, b| a.0 == b.0).filter(|run| run.len() <= MAX_CALLED);
    let called: Vec<(u32, u32)> = runs.flatten().copied().collect();
    let places = Places::new(&called);
    let find = |document: &Document| said_by(&document.facts.terms.bigrams, &called, &places);
    let found: Vec<Vec<u32>> = graph.documents.par_iter().map(find).collect();
    let mut said = Rows::with_capacity(found.len(), found.iter().map(Vec::len).sum());
    found.iter().for_each(|found| said.push(found));
    let mut counts = vec![0u32; called.len()];
    said.all().iter().for_each(|start| counts[*start as usize] += 1);
    (Calls { called, counts }, places, said)
}

/// The same where documents are called as before and most texts are what they were.
fn said_again(graph: &Graph, known: Known) -> (Calls, Places) {
    let Known { mut calls, edited } = known;
    let places = Places::new(&calls.called);
    for (id, before) in edited {
        let said = said_by(&graph.document(id).facts.terms.bigrams, &calls.called, &places);
        said.into_iter().for_each(|start| calls.counts[start as usize] += 1);
        let had = said_by(&before, &calls.called, &places);
        had.into_iter().for_each(|start| calls.counts[start as usize] -= 1);
    }
    (calls, places)
}

/// Where the bigrams of a text begin that somebody is called by.
fn said_by(bigrams: &[u32], called: &[(u32, u32)], places: &Places) -> Vec<u32> {
    bigrams.iter().filter_map(|pair| places.of(called, *pair)).collect()
}

impl Phrases {
    /// Of what documents say; those of some others are known from before.
    pub(super) fn new(graph: &Graph, known: Option<Known>) -> Phrases {
        let (calls, places, said) = match known {
            None => {
                let (calls, places, said) = found(graph);
                (calls, places, Some(said))
            }
            Some(known) => {
                let (calls, places) = said_again(graph, known);
                (calls, places, None)
            }
        };
        let Calls { called, counts } = &calls;
        let n_documents = graph.documents.len() as u64;
        let mut rarity = vec![0; called.len()];
        let mut lens = vec![0; called.len()];
        let mut whole = vec![0; graph.documents.len() * 2];
        let mut start = 0;
        for run in called.chunk_by(|a, b| a.0 == b.0) {
            lens[start] = run.len() as u8;
            rarity[start] = 1 + log2_16(n_documents, u64::from(commonness(counts[start])));
            run.iter().for_each(|(_, call)| whole[*call as usize] += rarity[start]);
            start += run.len();
        }
        Phrases { calls, rarity, lens, whole, said, places }
    }

    /// Whether a pair of some title is as rare as it was when these texts had other bigrams.
    pub(super) fn are_as_rare(&self, graph: &Graph, changed: &[(DocId, Terms)]) -> bool {
        let mut before: Vec<(u32, i64)> = Vec::new();
        for (id, terms) in changed {
            let now = &graph.document(*id).facts.terms;
            before.extend(self.said_by(&terms.bigrams).map(|start| (start, 1)));
            before.extend(self.said_by(&now.bigrams).map(|start| (start, -1)));
        }
        summed(before).into_iter().all(|(start, more)| {
            let now = self.calls.counts[start as usize];
            commonness(now) == commonness(then(now, more))
        })
    }

    fn said_by(&self, bigrams: &[u32]) -> impl Iterator<Item = u32> {
        said_by(bigrams, &self.calls.called, &self.places).into_iter()
    }

    /// Who is called by the pair that begins here.
    fn run(&self, start: u32) -> &[(u32, u32)] {
        &self.calls.called[start as usize..][..usize::from(self.lens[start as usize])]
    }

    /// Where the bigrams begin that a document names others by. What it is called itself names nobody
    /// else.
    fn looked_at(&self, id: DocId, bigrams: &[u32]) -> Vec<u32> {
        let names_others = |start: &u32| {
            let run = self.run(*start);
            let own = run.partition_point(|(_, call)| *call < Call::title(id).0);
            run.get(own).is_none_or(|(_, call)| Call(*call).id() != id)
        };
        let mut starts: Vec<u32> = match &self.said {
            Some(said) => said.of(id.0 as usize).to_vec(),
            None => self.said_by(bigrams).collect(),
        };
        starts.retain(names_others);
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

    /// What is known from now on.
    pub(super) fn into_calls(self) -> Calls {
        self.calls
    }

    /// Room for [`Phrases::share`].
    pub(super) fn sums(&self) -> Vec<u32> {
        vec![0; self.whole.len()]
    }

    /// Names who is called by what a document says, each with how much of the title is said, and how
    /// much of the file's name, in thousandths; one of them is 0.
    pub(super) fn share(
        &self,
        (id, bigrams): (DocId, &[u32]),
        sums: &mut [u32],
        tell: &mut dyn FnMut(DocId, i32, i32),
    ) {
        let mut touched: Vec<Call> = Vec::new();
        for start in self.looked_at(id, bigrams) {
            for (_, call) in self.run(start) {
                if sums[*call as usize] == 0 {
                    touched.push(Call(*call));
                }
                sums[*call as usize] += self.rarity[start as usize];
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

/// The bigrams of a document's title, and of its file's name where they are others.
fn calls_of(graph: &Graph, id: DocId) -> impl Iterator<Item = (u32, u32)> {
    let document = graph.document(id);
    let title = bigrams(&document.title, MAX_PAIRS);
    let mut file = bigrams(&document.slug, MAX_PAIRS);
    if file == title {
        file.clear();
    }
    let title = title.into_iter().map(move |pair| (pair, Call::title(id).0));
    title.chain(file.into_iter().map(move |pair| (pair, Call::file(id).0)))
}

/// How many texts have a pair, as far as it makes a difference.
fn commonness(n: u32) -> u32 {
    class(n).max(1)
}
