//! The search index: for each term, the documents that contain it and how well they match it.
//!
//! A match is rated by BM25F: the occurrences in each field are weighted, normalized by the length of
//! the field and added before they saturate. All of this is computed at build time, so a search only
//! adds up one byte per document and term.

use std::ops::Range;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::model::word::{stem, stems};
use crate::model::{DocId, Document, Graph, Lexicon, Rows};

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
///
/// The index is one block of bytes, as in the cache, and is searched in place: decoding it would take
/// longer than most searches. After the three counts come the stems, sorted, one after another; the
/// end of each stem; the end of each stem's entries; and the entries, sorted by stem and row. Ends and
/// entries are 32-bit integers. An entry has a row in its upper 24 bits and an impact in its lower 8.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SearchIndex {
    bytes: Vec<u8>,
    n_documents: usize,
    n_stems: usize,
    /// Offsets of the stems, of their ends, of the ends of their entries and of the entries.
    stems: usize,
    stem_ends: usize,
    entry_ends: usize,
    entries: usize,
}

/// Bytes of the counts: documents, stems, and bytes of all stems.
const COUNTS: usize = 12;

/// A document that contains a term.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct TermMatch {
    /// Row of the document.
    pub row: usize,
    /// Rating of the match, from 1 to 255.
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

    /// Opens an index in the bytes of a file, after `start`. `None` if it is damaged.
    pub fn open(bytes: Vec<u8>, start: usize) -> Option<SearchIndex> {
        let count = |i: usize| Some(number_at(bytes.get(start + 4 * i..)?, 0)? as usize);
        let (n_documents, n_stems, stems_len) = (count(0)?, count(1)?, count(2)?);
        let stems = start + COUNTS;
        let stem_ends = stems + stems_len;
        let entry_ends = stem_ends + 4 * n_stems;
        let entries = entry_ends + 4 * n_stems;
        let index =
            SearchIndex { bytes, n_documents, n_stems, stems, stem_ends, entry_ends, entries };
        index.is_valid(stems_len).then_some(index)
    }

    /// Returns true if all offsets are within the bytes.
    fn is_valid(&self, stems_len: usize) -> bool {
        let ends_at = |at: usize, len: usize| {
            let mut last = 0;
            let is_sorted = (0..self.n_stems).all(|i| {
                let end = self.number(at, i);
                std::mem::replace(&mut last, end) <= end
            });
            is_sorted && last as usize == len
        };
        self.bytes.len() >= self.entries
            && (self.bytes.len() - self.entries).is_multiple_of(4)
            && ends_at(self.stem_ends, stems_len)
            && ends_at(self.entry_ends, (self.bytes.len() - self.entries) / 4)
    }

    /// Returns the bytes of the index.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[self.stems - COUNTS..]
    }

    fn number(&self, at: usize, i: usize) -> u32 {
        number_at(&self.bytes[at..], i).unwrap_or_default()
    }

    /// Returns the range of a part, given the offset of the ends of all parts.
    fn range(&self, ends: usize, number: usize) -> Range<usize> {
        let start = number.checked_sub(1).map_or(0, |before| self.number(ends, before) as usize);
        start..self.number(ends, number) as usize
    }

    /// Returns the number of documents.
    pub fn n_documents(&self) -> usize {
        self.n_documents
    }

    /// Returns the index with other rows. Documents without a new row are left out.
    pub fn renumbered(&self, rows: &[Option<usize>], n_documents: usize) -> SearchIndex {
        let (mut entries, mut ends) = (Vec::new(), Vec::with_capacity(self.n_stems));
        for number in 0..self.n_stems {
            let first = entries.len();
            entries.extend(self.entries(number).filter_map(|found| {
                Some((rows[found.row]? as u32) << 8 | u32::from(found.impact))
            }));
            entries[first..].sort_unstable();
            ends.push(entries.len() as u32);
        }
        let stems = (0..self.n_stems).map(|number| self.stem(number));
        assemble(n_documents, stems, &ends, &entries)
    }

    /// Returns the number of a stem.
    pub fn number_of(&self, stem: &str) -> Option<usize> {
        let at = self.first_from(stem);
        (at < self.n_stems && self.stem(at) == stem).then_some(at)
    }

    /// Returns the numbers of all stems that begin with a text.
    pub fn with_prefix<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = usize> + 'a {
        (self.first_from(prefix)..self.n_stems)
            .take_while(move |at| self.stem(*at).starts_with(prefix))
    }

    /// Returns the number of stems.
    pub fn n_stems(&self) -> usize {
        self.n_stems
    }

    /// Returns a stem by its number.
    pub fn stem(&self, number: usize) -> &str {
        let range = self.range(self.stem_ends, number);
        let bytes = &self.bytes[self.stems + range.start..self.stems + range.end];
        std::str::from_utf8(bytes).unwrap_or_default()
    }

    /// Returns the number of documents that contain a stem.
    pub fn n_entries(&self, number: usize) -> usize {
        self.range(self.entry_ends, number).len()
    }

    /// Returns the documents that contain a stem, by row.
    pub fn entries(&self, number: usize) -> impl Iterator<Item = TermMatch> + '_ {
        let entry = |i| self.number(self.entries, i);
        let found = |entry: u32| TermMatch { row: (entry >> 8) as usize, impact: entry as u8 };
        let all = self.range(self.entry_ends, number).map(entry).map(found);
        all.filter(|found| found.row < self.n_documents)
    }

    fn first_from(&self, stem: &str) -> usize {
        let (mut low, mut high) = (0, self.n_stems);
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

impl Default for SearchIndex {
    fn default() -> SearchIndex {
        assemble(0, std::iter::empty(), &[], &[])
    }
}

/// Returns the 32-bit integer with an index.
fn number_at(bytes: &[u8], i: usize) -> Option<u32> {
    let number = bytes.get(4 * i..4 * i + 4)?;
    Some(u32::from_le_bytes(number.try_into().ok()?))
}

/// Builds an index from sorted stems, the ends of their entries and the entries.
fn assemble<'a>(
    n_documents: usize,
    stems: impl ExactSizeIterator<Item = &'a str>,
    entry_ends: &[u32],
    entries: &[u32],
) -> SearchIndex {
    let n_stems = stems.len();
    let (mut text, mut ends) = (String::new(), Vec::with_capacity(n_stems));
    for stem in stems {
        text.push_str(stem);
        ends.push(text.len() as u32);
    }
    let counts = [n_documents as u32, n_stems as u32, text.len() as u32];
    let mut bytes =
        Vec::with_capacity(COUNTS + text.len() + 4 * (2 * entry_ends.len() + entries.len()));
    let push = |bytes: &mut Vec<u8>, numbers: &[u32]| {
        numbers.iter().for_each(|number| bytes.extend_from_slice(&number.to_le_bytes()));
    };
    push(&mut bytes, &counts);
    bytes.extend_from_slice(text.as_bytes());
    for numbers in [&ends, entry_ends, entries] {
        push(&mut bytes, numbers);
    }
    SearchIndex::open(bytes, 0).expect("the parts have these sizes")
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
        let stems = order.iter().map(|number| self.stems[*number as usize]);
        assemble(rated.len(), stems, &ends, &entries)
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
        assert_eq!(rows(&renumbered, "lantern").len(), 1);
        assert_eq!(rows(&renumbered, "kettl")[0].0, 0);
    }

    #[test]
    fn an_index_is_opened_again_and_damage_is_noticed_or_harmless() {
        let good = index(&["Lantern", "Kettle of the harbour"], &[]);
        let bytes = good.bytes();
        let file = [b"header", bytes].concat();
        let opened = SearchIndex::open(file, 6).expect("the same bytes");
        assert_eq!(opened.bytes(), bytes);
        assert_eq!(rows(&opened, "lantern"), rows(&good, "lantern"));
        for i in 0..bytes.len() {
            assert_eq!(SearchIndex::open(bytes[..i].to_vec(), 0), None, "{i} bytes");
            let mut damaged = bytes.to_vec();
            damaged[i] ^= 0x81;
            let Some(index) = SearchIndex::open(damaged, 0) else { continue };
            for number in 0..index.n_stems() {
                let (_, entries) = (index.stem(number), index.entries(number));
                assert!(entries.into_iter().all(|found| found.row < index.n_documents()));
            }
            index.number_of("lantern");
        }
        assert_eq!(SearchIndex::default().n_stems(), 0);
    }
}
