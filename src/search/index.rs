//! The search index: for each term, the documents that contain it and how well they match it.
//!
//! A match is rated by BM25F: the occurrences in each field are weighted, normalized by the length of
//! the field and added before they saturate. All of this is computed at build time, so a search only
//! adds up one byte per document and term.

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::model::word::{stem, stems};
use crate::model::{DocId, Document, Graph, Lexicon, Rows, packed};

/// Occurrences at which the rating of a term reaches half of its maximum (`k1` of BM25).
const SATURATION: f32 = 1.6;

/// Share of the length normalization for the text and for the citing lines (`b` of BM25).
const TEXT_LENGTH: f32 = 0.75;
const CITING_LENGTH: f32 = 0.75;

/// Share of the description in an impact; the text has the rest. The description is what a document
/// is called: its title, summary, file name and the lines that cite it. It is saturated on its own,
/// because a word that is frequent in a text would otherwise count as much as one in a title.
const DESCRIPTION_SHARE: f32 = 0.3;

/// Weights of an occurrence in the title, the summary, the file name and a citing line.
const IN_TITLE: f32 = 2.0;
const IN_SUMMARY: f32 = 0.6;
const IN_FILE_NAME: f32 = 1.0;
const IN_CITING_LINE: f32 = 0.6;

/// Maximum number of terms of a file name and of a summary, and of lines that cite a document.
const MAX_NAME_TERMS: usize = 16;
const MAX_SUMMARY_TERMS: usize = 40;
const MAX_CITING_LINES: usize = 200;

/// Largest impact.
const MAX_IMPACT: f32 = 255.0;

/// The terms of all documents. Rows are those of the graph and of `documents.jsonl`.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct SearchIndex {
    n_documents: u32,
    /// All stems, sorted, one after another.
    stems: String,
    /// End of each stem.
    #[serde(with = "packed")]
    stem_ends: Vec<u32>,
    /// End of each stem's entries.
    #[serde(with = "packed")]
    entry_ends: Vec<u32>,
    /// A row in the upper 24 bits and an impact in the lower 8, by stem and row.
    #[serde(with = "packed")]
    entries: Vec<u32>,
}

/// A document that contains a term.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct TermMatch {
    /// Row of the document.
    pub row: usize,
    /// How well the document matches the term: 1 to 255.
    pub impact: u8,
}

impl SearchIndex {
    /// Indexes the documents of a graph.
    pub fn new(graph: &Graph, lexicon: &Lexicon) -> SearchIndex {
        let stem_table = StemTable::new(lexicon);
        let citing = citing_terms(graph, lexicon);
        let mean = |lengths: &dyn Fn(usize) -> f32| {
            let n = graph.documents.len().max(1) as f32;
            (0..graph.documents.len()).map(lengths).sum::<f32>() / n
        };
        let text_length =
            |row: usize| lexicon.counts.of(row).iter().map(|count| f32::from(*count)).sum::<f32>();
        let fields = RatedFields {
            lexicon,
            stem_table: &stem_table,
            citing: &citing,
            mean_text: mean(&text_length).max(1.0),
            mean_citing: mean(&|row| citing.of(row).len() as f32).max(1.0),
        };
        let rated = graph
            .documents
            .par_iter()
            .enumerate()
            .map(|(row, document)| fields.rate(row, document, text_length(row)));
        let rated: Vec<Vec<(u32, u8)>> = rated.collect();
        stem_table.index(&rated)
    }

    /// Returns the number of documents.
    pub fn n_documents(&self) -> usize {
        self.n_documents as usize
    }

    /// Returns true if rows and offsets are consistent. An index that is not is damaged.
    pub fn is_valid(&self) -> bool {
        let ends_at = |ends: &[u32], len: usize| {
            ends.is_sorted() && ends.last().map_or(0, |end| *end as usize) == len
        };
        ends_at(&self.stem_ends, self.stems.len())
            && ends_at(&self.entry_ends, self.entries.len())
            && self.stem_ends.len() == self.entry_ends.len()
            && self.stem_ends.iter().all(|end| self.stems.is_char_boundary(*end as usize))
            && self.entries.iter().all(|entry| entry >> 8 < self.n_documents)
    }

    /// Returns the index with other rows. Documents without a new row are left out.
    pub fn renumbered(self, rows: &[Option<usize>], n_documents: usize) -> SearchIndex {
        let (mut entries, mut entry_ends) = (Vec::with_capacity(self.entries.len()), Vec::new());
        for number in 0..self.n_stems() {
            let first = entries.len();
            entries.extend(self.entries(number).filter_map(|found| {
                Some((rows[found.row]? as u32) << 8 | u32::from(found.impact))
            }));
            entries[first..].sort_unstable();
            entry_ends.push(entries.len() as u32);
        }
        SearchIndex { n_documents: n_documents as u32, entries, entry_ends, ..self }
    }

    /// Returns the number of a stem.
    pub fn number_of(&self, stem: &str) -> Option<usize> {
        let at = self.first_from(stem);
        (at < self.stem_ends.len() && self.stem(at) == stem).then_some(at)
    }

    /// Returns the numbers of all stems that begin with a text.
    pub fn with_prefix<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = usize> + 'a {
        (self.first_from(prefix)..self.stem_ends.len())
            .take_while(move |at| self.stem(*at).starts_with(prefix))
    }

    /// Returns the number of stems.
    pub fn n_stems(&self) -> usize {
        self.stem_ends.len()
    }

    /// Returns a stem by its number.
    pub fn stem(&self, number: usize) -> &str {
        &self.stems[start(&self.stem_ends, number)..self.stem_ends[number] as usize]
    }

    /// Returns the documents that contain a stem, by row.
    pub fn entries(&self, number: usize) -> impl ExactSizeIterator<Item = TermMatch> + '_ {
        let range = start(&self.entry_ends, number)..self.entry_ends[number] as usize;
        self.entries[range]
            .iter()
            .map(|entry| TermMatch { row: (entry >> 8) as usize, impact: *entry as u8 })
    }

    fn first_from(&self, stem: &str) -> usize {
        let (mut low, mut high) = (0, self.stem_ends.len());
        while low < high {
            let middle = (low + high) / 2;
            match self.stem(middle) < stem {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        low
    }
}

/// Returns the start of a part, given the ends of all parts.
fn start(ends: &[u32], number: usize) -> usize {
    number.checked_sub(1).map_or(0, |before| ends[before] as usize)
}

/// Every term with its stem as text.
struct StemTable<'a> {
    /// Numbers in order of appearance, by hash.
    numbers: FxHashMap<u32, u32>,
    stems: Vec<&'a str>,
}

impl<'a> StemTable<'a> {
    fn new(lexicon: &'a Lexicon) -> StemTable<'a> {
        let (mut numbers, mut stems) = (FxHashMap::default(), Vec::new());
        for (row, words) in lexicon.words.iter().enumerate() {
            for (hash, word) in lexicon.hashes.of(row).iter().zip(words.split(' ')) {
                numbers.entry(*hash).or_insert_with(|| {
                    stems.push(stem(word));
                    stems.len() as u32 - 1
                });
            }
        }
        StemTable { numbers, stems }
    }

    /// Sorts the entries of all documents by stem.
    fn index(&self, rated: &[Vec<(u32, u8)>]) -> SearchIndex {
        let mut order: Vec<u32> = (0..self.stems.len() as u32).collect();
        order.par_sort_unstable_by_key(|number| self.stems[*number as usize]);
        let mut place = vec![0u32; order.len()];
        order.iter().zip(0..).for_each(|(number, at)| place[*number as usize] = at);
        let mut ends = vec![0u32; order.len()];
        for (number, _) in rated.iter().flatten() {
            ends[place[*number as usize] as usize] += 1;
        }
        (1..ends.len()).for_each(|i| ends[i] += ends[i - 1]);
        let mut next: Vec<u32> = (0..ends.len()).map(|i| start(&ends, i) as u32).collect();
        let mut entries = vec![0u32; ends.last().map_or(0, |end| *end as usize)];
        for (row, terms) in (0u32..).zip(rated) {
            for (number, impact) in terms {
                let at = &mut next[place[*number as usize] as usize];
                entries[*at as usize] = row << 8 | u32::from(*impact);
                *at += 1;
            }
        }
        let mut index = SearchIndex {
            n_documents: rated.len() as u32,
            entry_ends: ends,
            entries,
            ..SearchIndex::default()
        };
        for number in order {
            index.stems.push_str(self.stems[number as usize]);
            index.stem_ends.push(index.stems.len() as u32);
        }
        index
    }
}

/// Returns the terms of the lines that cite each document, by row.
fn citing_terms(graph: &Graph, lexicon: &Lexicon) -> Rows<u32> {
    let mut places: Vec<(DocId, DocId, u32)> = graph
        .edges
        .iter()
        .filter(|edge| edge.line > 0 && edge.from != edge.to)
        .map(|edge| (edge.to, edge.from, edge.line))
        .collect();
    places.sort_unstable();
    places.dedup();
    let n = graph.documents.len();
    let mut terms = Rows::with_capacity(n, places.len() * 8);
    let mut rest = places.as_slice();
    let mut all = Vec::new();
    for id in graph.ids() {
        let (own, others) = rest.split_at(rest.partition_point(|(to, ..)| *to <= id));
        rest = others;
        all.clear();
        for (_, from, line) in own.iter().take(MAX_CITING_LINES) {
            all.extend_from_slice(lexicon.citing_line(from.0 as usize, *line));
        }
        terms.push(&all);
    }
    terms
}

/// The fields of all documents.
struct RatedFields<'a> {
    lexicon: &'a Lexicon,
    stem_table: &'a StemTable<'a>,
    citing: &'a Rows<u32>,
    mean_text: f32,
    mean_citing: f32,
}

impl RatedFields<'_> {
    /// Returns the terms of a document with their impacts.
    fn rate(&self, row: usize, document: &Document, text_length: f32) -> Vec<(u32, u8)> {
        let relative = |share: f32, length: f32, mean: f32| 1.0 - share + share * length / mean;
        // For each term, the weights of its occurrences in the text and in the description.
        let mut weights: FxHashMap<u32, (f32, f32)> = FxHashMap::default();
        let text = 1.0 / relative(TEXT_LENGTH, text_length, self.mean_text);
        let counts = self.lexicon.counts.of(row).iter();
        for (hash, count) in self.lexicon.hashes.of(row).iter().zip(counts) {
            if let Some(number) = self.stem_table.numbers.get(hash) {
                weights.entry(*number).or_default().0 += f32::from(*count) * text;
            }
        }
        let mut describe = |hashes: &[u32], weight: f32| {
            for number in hashes.iter().filter_map(|hash| self.stem_table.numbers.get(hash)) {
                weights.entry(*number).or_default().1 += weight;
            }
        };
        describe(self.lexicon.titles.of(row), IN_TITLE);
        describe(&stems(&document.facts.line, MAX_SUMMARY_TERMS), IN_SUMMARY);
        let name = document.uri.as_str().rsplit('/').next().unwrap_or_default();
        describe(&stems(name, MAX_NAME_TERMS), IN_FILE_NAME);
        let citing = self.citing.of(row);
        let length = relative(CITING_LENGTH, citing.len() as f32, self.mean_citing);
        describe(citing, IN_CITING_LINE / length);
        let saturated = |weight: f32| weight / (weight + SATURATION);
        let impact = |(text, description): (f32, f32)| {
            let sum = (1.0 - DESCRIPTION_SHARE) * saturated(text)
                + DESCRIPTION_SHARE * saturated(description);
            (MAX_IMPACT * sum).round().max(1.0) as u8
        };
        weights.into_iter().map(|(number, weights)| (number, impact(weights))).collect()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::model::word::words;
    use crate::model::{Edge, Relation, Terms};

    /// Returns the index of documents with these texts. The first line of each is its title.
    pub(in crate::search) fn index(texts: &[&str], edges: &[(u32, u32)]) -> SearchIndex {
        let documents = texts.iter().enumerate().map(|(row, text)| Document {
            title: text.lines().next().unwrap_or_default().to_string(),
            ..Document::sample(&format!("docs/adrs/{row:04}-x.md"))
        });
        let terms = texts.iter().map(|text| {
            let mut terms = Terms::default();
            words(text, |word, _| terms.push(word, crate::model::term_hash(stem(word)), 1));
            terms.citing_lines.push(1, &stems(text, 40));
            terms
        });
        let documents: Vec<Document> = documents.collect();
        let lexicon = Lexicon::new(&documents, terms.collect());
        let edge = |(from, to): &(u32, u32)| Edge {
            from: DocId(*from),
            to: DocId(*to),
            relation: Relation::Mention,
            line: 1,
            count: 1,
            ambiguous: false,
        };
        let graph =
            Graph { documents, edges: edges.iter().map(edge).collect(), ..Graph::default() };
        SearchIndex::new(&graph, &lexicon)
    }

    fn rows(index: &SearchIndex, stem: &str) -> Vec<(usize, u8)> {
        let number = index.number_of(stem).expect("a stem of some text");
        index.entries(number).map(|found| (found.row, found.impact)).collect()
    }

    #[test]
    fn a_title_counts_more_than_a_text_and_a_citing_line_counts_too() {
        let texts = ["Kettle\nlantern", "Lantern\nharbour", "Tundra\nglacier and harbour"];
        let index = index(&texts, &[(2, 0)]);
        assert!(index.is_valid());
        let lantern = rows(&index, "lantern");
        assert_eq!(lantern.iter().map(|(row, _)| *row).collect::<Vec<_>>(), [0, 1]);
        assert!(lantern[0].1 < lantern[1].1, "{lantern:?}");
        assert_eq!(rows(&index, "tundra").len(), 2, "the line that cites document 0 has it");
        assert_eq!(index.number_of("zebra"), None);
        let prefixed: Vec<&str> = index.with_prefix("lan").map(|at| index.stem(at)).collect();
        assert_eq!(prefixed, ["lantern"]);
    }

    #[test]
    fn rows_can_be_renumbered_and_left_out() {
        let index = index(&["Lantern", "Lantern kettle", "Kettle"], &[]);
        let renumbered = index.renumbered(&[Some(1), None, Some(0)], 2);
        assert!(renumbered.is_valid());
        assert_eq!(rows(&renumbered, "lantern").len(), 1);
        assert_eq!(rows(&renumbered, "kettl")[0].0, 0);
    }

    #[test]
    fn an_index_with_wrong_offsets_is_not_valid() {
        let good = index(&["Lantern", "Kettle"], &[]);
        for damage in [
            |index: &mut SearchIndex| index.n_documents = 1,
            |index: &mut SearchIndex| index.stem_ends[0] = 99,
            |index: &mut SearchIndex| index.entry_ends.truncate(1),
            |index: &mut SearchIndex| index.entries[0] = u32::MAX,
        ] {
            let mut index = good.clone();
            damage(&mut index);
            assert!(!index.is_valid());
        }
        assert!(SearchIndex::default().is_valid());
    }
}
