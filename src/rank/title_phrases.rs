//! Bigrams of titles and file names, looked up in the texts of other documents.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::integer_log::log2_16;
use super::inverted_index::rounded_count;
use crate::model::word::bigrams;
use crate::model::{DocId, Graph, Lexicon, Rows};

/// Maximum number of bigrams per title.
const MAX_BIGRAMS: usize = 12;

/// Bigrams that occur in more titles and file names than this are too common to identify one.
const MAX_NAMED: usize = 96;

/// Maximum number of names that are compared with one document, those of the least common bigrams
/// first. Real documents contain bigrams of some dozens of names.
const MAX_COMPARED: usize = 512;

/// A name of a document: its title, or its file name.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
struct NameId(u32);

impl NameId {
    fn title(id: DocId) -> NameId {
        NameId(id.0 * 2)
    }

    fn file(id: DocId) -> NameId {
        NameId(id.0 * 2 + 1)
    }

    fn document(self) -> DocId {
        DocId(self.0 / 2)
    }

    fn is_title(self) -> bool {
        self.0.is_multiple_of(2)
    }
}

/// The bigrams of all titles and file names, and the texts that contain them.
///
/// A bigram is identified by the start of its run in `names`.
pub(super) struct TitlePhrases {
    /// Each bigram with a name that has it, sorted.
    names: Vec<(u32, NameId)>,
    /// IDF of each bigram, by start.
    idf: Vec<u32>,
    /// Number of names with each bigram, by start.
    lens: Vec<u8>,
    /// Sum of the IDF of each name's bigrams, by name.
    name_idf: Vec<u32>,
    /// Starts of the bigrams that each text contains, by row.
    contained: Rows<u32>,
}

impl TitlePhrases {
    pub(super) fn new(graph: &Graph, lexicon: &Lexicon) -> TitlePhrases {
        let ids: Vec<DocId> = graph.ids().collect();
        let mut names: Vec<(u32, NameId)> =
            ids.into_par_iter().flat_map_iter(|id| bigrams_of_names(graph, id)).collect();
        names.par_sort_unstable();
        let runs = names.chunk_by(|a, b| a.0 == b.0).filter(|run| run.len() <= MAX_NAMED);
        let names: Vec<(u32, NameId)> = runs.flatten().copied().collect();
        let contained = contained(lexicon, &starts_by_bigram(&names));
        let mut counts = vec![0u32; names.len()];
        contained.all().iter().for_each(|start| counts[*start as usize] += 1);
        let n_documents = graph.documents.len() as u64;
        let (mut idf, mut lens) = (vec![0; names.len()], vec![0; names.len()]);
        let mut name_idf = vec![0; graph.documents.len() * 2];
        let mut start = 0;
        for run in names.chunk_by(|a, b| a.0 == b.0) {
            lens[start] = run.len() as u8;
            let count = rounded_count(counts[start]).max(1);
            idf[start] = 1 + log2_16(n_documents, u64::from(count));
            run.iter().for_each(|(_, name)| name_idf[name.0 as usize] += idf[start]);
            start += run.len();
        }
        TitlePhrases { names, idf, lens, name_idf, contained }
    }

    /// Returns the names with a bigram.
    fn run(&self, start: u32) -> &[(u32, NameId)] {
        &self.names[start as usize..][..usize::from(self.lens[start as usize])]
    }

    /// Returns the starts of the bigrams in a document's text that name only other documents.
    fn foreign_bigrams(&self, id: DocId) -> Vec<u32> {
        let is_foreign = |start: &u32| {
            let run = self.run(*start);
            let own = run.partition_point(|(_, name)| *name < NameId::title(id));
            run.get(own).is_none_or(|(_, name)| name.document() != id)
        };
        let mut starts = self.contained.of(id.0 as usize).to_vec();
        starts.retain(is_foreign);
        let len = |start: &u32| usize::from(self.lens[*start as usize]);
        if starts.iter().map(len).sum::<usize>() > MAX_COMPARED {
            starts.sort_unstable_by_key(|start| (len(start), *start));
            let mut budget = MAX_COMPARED;
            starts.retain(|start| {
                let fits = len(start) <= budget;
                budget -= if fits { len(start) } else { 0 };
                fits
            });
        }
        starts
    }

    /// Returns memory for [`TitlePhrases::find`].
    pub(super) fn sums(&self) -> Vec<u32> {
        vec![0; self.name_idf.len()]
    }

    /// Calls `found` with each document that a text names, and the share of its title and of its
    /// file name that the text contains, in thousandths. One of the two is 0.
    pub(super) fn find(&self, id: DocId, sums: &mut [u32], found: &mut dyn FnMut(DocId, i32, i32)) {
        let mut touched: Vec<NameId> = Vec::new();
        for start in self.foreign_bigrams(id) {
            for (_, name) in self.run(start) {
                if sums[name.0 as usize] == 0 {
                    touched.push(*name);
                }
                sums[name.0 as usize] += self.idf[start as usize];
            }
        }
        for name in touched {
            let sum = std::mem::take(&mut sums[name.0 as usize]);
            let share = (sum * 1_000 / self.name_idf[name.0 as usize].max(1)) as i32;
            match name.is_title() {
                true => found(name.document(), share, 0),
                false => found(name.document(), 0, share),
            }
        }
    }
}

/// Maps each bigram of a sorted list to the start of its run.
pub(super) fn starts_by_bigram<T>(sorted: &[(u32, T)]) -> FxHashMap<u32, u32> {
    let mut starts = FxHashMap::default();
    let mut start = 0;
    for run in sorted.chunk_by(|a, b| a.0 == b.0) {
        starts.insert(run[0].0, start);
        start += run.len() as u32;
    }
    starts
}

/// Finds the bigrams of names in each text, by row.
fn contained(lexicon: &Lexicon, starts: &FxHashMap<u32, u32>) -> Rows<u32> {
    let find = |bigrams: &Vec<u32>| -> Vec<u32> {
        bigrams.iter().filter_map(|bigram| starts.get(bigram).copied()).collect()
    };
    let found: Vec<Vec<u32>> = lexicon.bigrams.par_iter().map(find).collect();
    let mut contained = Rows::with_capacity(found.len(), found.iter().map(Vec::len).sum());
    found.iter().for_each(|found| contained.push(found));
    contained
}

/// Returns the bigrams of a document's title, and those of its file name if they differ.
fn bigrams_of_names(graph: &Graph, id: DocId) -> impl Iterator<Item = (u32, NameId)> {
    let document = graph.document(id);
    let title = bigrams(&document.title, MAX_BIGRAMS);
    let mut file = bigrams(&document.slug, MAX_BIGRAMS);
    if file == title {
        file.clear();
    }
    let title = title.into_iter().map(move |bigram| (bigram, NameId::title(id)));
    title.chain(file.into_iter().map(move |bigram| (bigram, NameId::file(id))))
}
