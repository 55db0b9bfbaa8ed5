//! Bigrams of titles, looked up in the texts of other documents.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::model::integer_log::ratio;
use crate::model::word::bigrams;
use crate::model::{DocId, Graph, Lexicon, Rows};

/// Maximum number of bigrams per title.
const MAX_BIGRAMS: usize = 12;

/// Bigrams that occur in more titles than this are too common to identify one.
const MAX_TITLED: usize = 96;

/// Maximum number of titles that are compared with one document, those of the least common bigrams
/// first. Real documents contain bigrams of some dozens of titles.
const MAX_COMPARED: usize = 512;

/// Bigrams of all titles, and the texts that contain them.
pub(super) struct TitlePhrases {
    /// The documents whose title has each bigram.
    titled: Rows<DocId>,
    /// IDF of each bigram, in thousandths.
    idf: Vec<u32>,
    /// Sum of the IDF of each title's bigrams, by document.
    title_idf: Vec<u32>,
    /// The bigrams of titles that each text contains.
    contained: Rows<u32>,
}

/// A document whose title a text contains in whole or in part.
pub(super) struct ContainedTitle {
    pub(super) id: DocId,
    /// IDF of the contained bigrams multiplied by their share of the title, in thousandths.
    pub(super) points: i32,
    /// True if the text contains all bigrams of the title.
    pub(super) is_whole: bool,
}

impl TitlePhrases {
    /// Indexes the names of documents: see [`names`].
    pub(super) fn new(names: &[&str], lexicon: &Lexicon) -> TitlePhrases {
        let of_name = |(row, name): (usize, &&str)| {
            let bigrams = bigrams(name, MAX_BIGRAMS).into_iter();
            bigrams.map(move |bigram| (bigram, DocId(row as u32))).collect::<Vec<_>>()
        };
        let mut all: Vec<(u32, DocId)> =
            names.par_iter().enumerate().flat_map_iter(of_name).collect();
        all.par_sort_unstable();
        let (mut rows, mut titled) = (FxHashMap::default(), Rows::default());
        for run in all.chunk_by(|a, b| a.0 == b.0).filter(|run| run.len() <= MAX_TITLED) {
            rows.insert(run[0].0, titled.len() as u32);
            titled.push(&run.iter().map(|(_, id)| *id).collect::<Vec<DocId>>());
        }
        let contained = contained(lexicon, &rows);
        let mut counts = vec![0u64; titled.len()];
        contained.all().iter().for_each(|row| counts[*row as usize] += 1);
        let n = names.len() as u64;
        let idf = counts.iter().map(|count| ratio(n, (*count).max(1)).max(1) as u32);
        let idf: Vec<u32> = idf.collect();
        let mut title_idf = vec![0; names.len()];
        for (row, idf) in idf.iter().enumerate() {
            titled.of(row).iter().for_each(|id| title_idf[id.0 as usize] += idf);
        }
        TitlePhrases { titled, idf, title_idf, contained }
    }

    /// Returns the bigrams in a document's text that are part of other titles only.
    fn foreign_bigrams(&self, id: DocId) -> Vec<u32> {
        let mut rows = self.contained.of(id.0 as usize).to_vec();
        let len = |row: &u32| self.titled.of(*row as usize).len();
        rows.retain(|row| self.titled.of(*row as usize).binary_search(&id).is_err());
        if rows.iter().map(len).sum::<usize>() > MAX_COMPARED {
            rows.sort_unstable_by_key(|row| (len(row), *row));
            let mut budget = MAX_COMPARED;
            rows.retain(|row| {
                let fits = len(row) <= budget;
                budget -= if fits { len(row) } else { 0 };
                fits
            });
        }
        rows
    }

    /// Returns the documents whose title a text contains at least in part. `sums` is scratch
    /// memory.
    pub(super) fn find(&self, id: DocId, sums: &mut [u32]) -> Vec<ContainedTitle> {
        let mut touched: Vec<DocId> = Vec::new();
        for row in self.foreign_bigrams(id) {
            for other in self.titled.of(row as usize) {
                if sums[other.0 as usize] == 0 {
                    touched.push(*other);
                }
                sums[other.0 as usize] += self.idf[row as usize];
            }
        }
        let title = |id: DocId| {
            let sum = u64::from(std::mem::take(&mut sums[id.0 as usize]));
            let whole = u64::from(self.title_idf[id.0 as usize]).max(1);
            ContainedTitle { id, points: (sum * sum / whole) as i32, is_whole: sum == whole }
        };
        touched.into_iter().map(title).collect()
    }
}

/// Finds the bigrams of titles in each text, by row.
fn contained(lexicon: &Lexicon, rows: &FxHashMap<u32, u32>) -> Rows<u32> {
    let find = |bigrams: &Vec<u32>| -> Vec<u32> {
        bigrams.iter().filter_map(|bigram| rows.get(bigram).copied()).collect()
    };
    let found: Vec<Vec<u32>> = lexicon.bigrams.par_iter().map(find).collect();
    let mut contained = Rows::with_capacity(found.len(), found.iter().map(Vec::len).sum());
    found.iter().for_each(|found| contained.push(found));
    contained
}

/// Returns the name of each document: its title, or its file name if other documents have the same
/// title. Such a title is often a section of a template, and identifies none of them.
pub(super) fn names(graph: &Graph) -> Vec<&str> {
    let title = |title: &str| title.to_lowercase();
    let mut titles: Vec<String> =
        graph.documents.iter().map(|document| title(&document.title)).collect();
    titles.sort_unstable();
    let name = |document: &'_ crate::model::Document| -> bool {
        let title = title(&document.title);
        let start = titles.partition_point(|other| *other < title);
        titles.get(start + 1) == Some(&title)
    };
    let is_shared: Vec<bool> = graph.documents.par_iter().map(name).collect();
    let names = graph.documents.iter().zip(is_shared);
    names
        .map(|(document, shared)| if shared { &*document.slug } else { &*document.title })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Terms;
    use crate::rank::tests::graph;

    #[test]
    fn a_title_that_two_documents_share_counts_as_none() {
        let titles = ["Detailed design", "Detailed design", "Lantern protocol", "x"];
        let graph = graph(&titles, &[]);
        let names = names(&graph);
        assert_eq!(names, ["x", "x", "Lantern protocol", "x"]);
        let text = "the detailed design of the lantern protocol";
        let terms = |row| match row {
            3 => Terms { bigrams: bigrams(text, 9), ..Terms::default() },
            _ => Terms::default(),
        };
        let lexicon = Lexicon::new(&graph.documents, (0..4).map(terms).collect());
        let phrases = TitlePhrases::new(&names, &lexicon);
        let found = phrases.find(DocId(3), &mut [0; 4]);
        assert!(matches!(&found[..], [title] if title.id == DocId(2) && title.is_whole));
    }

    #[test]
    fn a_rare_phrase_counts_more_than_a_common_one() {
        let graph = graph(&["Common phrase", "Rare phrase", "x", "y", "z"], &[]);
        let text =
            |row: usize| if row == 2 { "common phrase, rare phrase" } else { "common phrase" };
        let terms = |row| Terms { bigrams: bigrams(text(row), 9), ..Terms::default() };
        let lexicon = Lexicon::new(&graph.documents, (0..5).map(terms).collect());
        let phrases = TitlePhrases::new(&names(&graph), &lexicon);
        let found = phrases.find(DocId(2), &mut [0; 5]);
        let points = |id: u32| found.iter().find(|title| title.id == DocId(id)).map(|t| t.points);
        assert!(points(1) > points(0).map(|points| points * 10), "{:?} {:?}", points(1), points(0));
    }
}
