//! Finds the candidates of each document and reads all signals for them.

use rayon::prelude::*;

use super::anchor_text::{AnchorText, CitingIndex, anchor_texts};
use super::citations::Citations;
use super::citing_phrases::CitingPhrases;
use super::code_names::CodeNames;
use super::inverted_index::{InvertedIndex, Term, Vocabulary, cosine};
use super::priors::Priors;
use super::signals::{
    ANCHOR, BACKLINK, CITING_PHRASES, CODE_NAMES, COLLECTION, DISTANCE, EARLIER, FOLDER, HUB,
    N_SIGNALS, PEERS, Signals, TAGS, TERMS, TITLE_PHRASE, TITLE_TERMS, TOP_USER, term_points,
};
use super::tags::Tags;
use super::title_phrases::TitlePhrases;
use super::top::TopN;
use crate::model::{DocId, Graph, Lexicon};

/// Maximum number of similar documents whose citations are read.
const MAX_PEERS: usize = 30;

/// Maximum number of candidates that are selected by terms. Other signals cannot lift the rest.
const MAX_BY_TERMS: usize = 64;

/// Maximum number of terms per text in the inverted index, the heaviest ones. With all terms, half
/// a percent more of the references held out for evaluation are found, but the index is three times
/// as large.
const MAX_INDEXED: usize = 64;

/// Share of a title or file name that makes a document a candidate, in thousandths.
const MIN_TITLE_SHARE: i32 = 500;

/// Cosine similarity of code names that makes a document a candidate, in thousandths.
const MIN_NAME_COSINE: i32 = 200;

/// Indexes that all signals are read from.
pub struct Ranker<'a> {
    pub(super) graph: &'a Graph,
    pub(super) lexicon: &'a Lexicon,
    vocabulary: Vocabulary,
    /// The terms of each text, heaviest first.
    pub(super) texts: Vec<Vec<Term>>,
    text_index: InvertedIndex,
    pub(super) anchors: Vec<AnchorText>,
    anchor_index: InvertedIndex,
    pub(super) citations: Citations,
    pub(super) tags: Tags<'a>,
    title_phrases: TitlePhrases,
    pub(super) code_names: CodeNames,
    citing_phrases: CitingPhrases,
    priors: Priors,
}

/// Memory for the candidates of one document, reused for the next one.
pub struct Scratch {
    /// For each term of the vocabulary, its position in the document's terms plus one; 0 if absent.
    pub(super) own_terms: Vec<u16>,
    partial: Vec<PartialSignals>,
    /// Dot products with each text and with each anchor text.
    text_products: Vec<u32>,
    anchor_products: Vec<u32>,
    touched: Vec<DocId>,
    best: TopN,
    most_similar: TopN,
    coupling: Vec<u32>,
    name_sums: Vec<u32>,
    /// The most similar documents.
    pub(super) peers: Vec<DocId>,
    /// Start of each of the document's terms in its text of terms.
    pub(super) word_starts: Vec<u32>,
}

/// Signals of a candidate that are found while candidates are collected.
#[derive(Clone, Copy, Default)]
struct PartialSignals {
    is_candidate: bool,
    terms: i32,
    anchor: i32,
    peers: i32,
    backlink: i32,
    tags: i32,
    title_phrase: i32,
    citing_phrases: i32,
    code_names: i32,
    top_user: i32,
}

fn indexed(text: &[Term]) -> &[Term] {
    &text[..text.len().min(MAX_INDEXED)]
}

impl<'a> Ranker<'a> {
    /// Indexes the documents' terms and references.
    pub fn new(graph: &'a Graph, lexicon: &'a Lexicon) -> Ranker<'a> {
        let (vocabulary, rows) = Vocabulary::new(lexicon);
        let weigh = |row: usize| {
            let counts = lexicon.counts.of(row).iter().map(|n| u32::from(*n));
            let rows = &rows[lexicon.hashes.start(row)..];
            vocabulary.weigh(rows.iter().copied().zip(counts))
        };
        let by_terms = || {
            let texts = (0..graph.documents.len()).into_par_iter().map(weigh);
            let texts: Vec<Vec<Term>> = texts.collect();
            let citing = CitingIndex::new(graph);
            let anchors = anchor_texts(lexicon, &citing, &vocabulary);
            let citing_phrases = CitingPhrases::new(graph, lexicon, &citing);
            (texts, anchors, citing_phrases)
        };
        let by_graph = || {
            let citations = Citations::new(graph);
            let priors = Priors::new(graph, &citations.pairs);
            let title_phrases = TitlePhrases::new(graph, lexicon);
            (citations, priors, Tags::new(graph), title_phrases, CodeNames::new(lexicon))
        };
        let (
            (texts, anchors, citing_phrases),
            (citations, priors, tags, title_phrases, code_names),
        ) = rayon::join(by_terms, by_graph);
        let n_terms = vocabulary.len();
        let (text_index, anchor_index) = rayon::join(
            || InvertedIndex::new(texts.iter().map(|text| indexed(text)), n_terms),
            || InvertedIndex::new(anchors.iter().map(|anchor| &anchor.terms[..]), n_terms),
        );
        Ranker {
            graph,
            lexicon,
            vocabulary,
            texts,
            text_index,
            anchors,
            anchor_index,
            citations,
            tags,
            title_phrases,
            code_names,
            citing_phrases,
            priors,
        }
    }

    /// Allocates memory for candidates.
    pub fn scratch(&self) -> Scratch {
        let n = self.graph.documents.len();
        Scratch {
            own_terms: vec![0; self.vocabulary.len()],
            partial: vec![PartialSignals::default(); n],
            text_products: vec![0; n],
            anchor_products: vec![0; n],
            touched: Vec::new(),
            best: TopN::new(MAX_BY_TERMS),
            most_similar: TopN::new(MAX_PEERS),
            coupling: vec![0; n],
            name_sums: self.title_phrases.sums(),
            peers: Vec::new(),
            word_starts: Vec::new(),
        }
    }

    /// Returns the candidates of a document with their signals, unordered. The documents in
    /// `referenced` are always among them. Call [`Ranker::clear`] before the next document.
    pub fn candidates(
        &self,
        id: DocId,
        referenced: &[DocId],
        scratch: &mut Scratch,
    ) -> Vec<(DocId, Signals)> {
        let mut found = Vec::new();
        self.find_by_terms(id, scratch, &mut found);
        self.find_by_peers(id, scratch, &mut found);
        scratch.word_starts.clear();
        let Scratch { own_terms, partial, text_products, anchor_products, name_sums, .. } = scratch;
        // Sets a signal. A document that is not a candidate yet becomes one if `is_enough`.
        let mut set_if = |is_enough: bool, other: DocId, set: &dyn Fn(&mut PartialSignals)| {
            let partial = &mut partial[other.0 as usize];
            if !partial.is_candidate && is_enough {
                partial.is_candidate = true;
                found.push(other);
            }
            if partial.is_candidate {
                set(partial);
            }
        };
        for (other, strength) in self.citations.citing(id) {
            set_if(true, other, &|partial| partial.backlink = partial.backlink.max(strength));
        }
        self.tags.find(id, &mut |other, idf| {
            set_if(true, other, &|partial| partial.tags = partial.tags.max(idf));
        });
        referenced.iter().for_each(|other| set_if(true, *other, &|_| {}));
        self.title_phrases.find(id, name_sums, &mut |other, title, file| {
            // A file name is often an older or shorter title, and counts half.
            let share = (title * title / 1_000).max(file * file / 2_000);
            set_if(title.max(file) >= MIN_TITLE_SHARE, other, &|partial| {
                partial.title_phrase = partial.title_phrase.max(share);
            });
        });
        self.code_names.find(id, text_products, anchor_products, &mut |other, names| {
            set_if(names.cosine >= MIN_NAME_COSINE, other, &|partial| {
                (partial.code_names, partial.top_user) = (names.cosine, names.top_user);
            });
        });
        let bigrams = &self.lexicon.bigrams[id.0 as usize];
        self.citing_phrases.find(bigrams, text_products, &mut |other, count| {
            set_if(false, other, &|partial| partial.citing_phrases = count);
        });
        for (term, at) in self.texts[id.0 as usize].iter().zip(1..) {
            own_terms[term.id as usize] = at;
        }
        let mut candidates = Vec::with_capacity(found.len());
        for other in found {
            let partial = std::mem::take(&mut partial[other.0 as usize]);
            if other != id {
                candidates.push((other, self.signals(id, other, &partial, own_terms)));
            }
        }
        candidates
    }

    /// Resets the scratch memory after [`Ranker::candidates`].
    pub fn clear(&self, id: DocId, scratch: &mut Scratch) {
        for term in &self.texts[id.0 as usize] {
            scratch.own_terms[term.id as usize] = 0;
        }
    }

    fn signals(
        &self,
        id: DocId,
        other: DocId,
        partial: &PartialSignals,
        own_terms: &[u16],
    ) -> Signals {
        let anchor = &self.anchors[other.0 as usize];
        let contained = anchor.title.iter().filter(|term| own_terms[**term as usize] > 0);
        let contained = contained.map(|term| self.vocabulary.idf(*term)).sum::<u32>();
        // The share is squared, because half of a title is weak evidence.
        let covered = (contained * 1_000 / anchor.title_idf.max(1)) as i32;
        let priors = self.priors.of_pair(id, other);
        let mut signals = [0; N_SIGNALS];
        signals[TERMS] = partial.terms;
        signals[ANCHOR] = partial.anchor;
        signals[TITLE_TERMS] = covered * covered / 1_000;
        signals[PEERS] = partial.peers.min(1_000);
        signals[BACKLINK] = partial.backlink;
        signals[TAGS] = partial.tags;
        signals[HUB] = self.citations.hub(other);
        signals[EARLIER] = priors.earlier;
        signals[DISTANCE] = priors.distance;
        signals[COLLECTION] = priors.collection;
        signals[FOLDER] = priors.folder;
        signals[TITLE_PHRASE] = partial.title_phrase;
        signals[CITING_PHRASES] = partial.citing_phrases;
        signals[CODE_NAMES] = partial.code_names;
        signals[TOP_USER] = partial.top_user;
        signals
    }

    /// Finds documents whose text or anchor text is similar.
    fn find_by_terms(&self, id: DocId, scratch: &mut Scratch, found: &mut Vec<DocId>) {
        let terms = &self.texts[id.0 as usize];
        let Scratch {
            partial, text_products, anchor_products, touched, best, most_similar, ..
        } = scratch;
        best.clear();
        most_similar.clear();
        self.text_index.add_products(terms, text_products, touched);
        let n_by_text = touched.len();
        self.anchor_index.add_products(terms, anchor_products, touched);
        for (i, other) in touched.iter().enumerate().filter(|(_, other)| **other != id) {
            let (text, anchor) =
                (text_products[other.0 as usize], anchor_products[other.0 as usize]);
            // A document that both indexes found is listed twice; the second time is skipped.
            if i < n_by_text || text == 0 {
                best.add(term_points(text, anchor), *other);
                most_similar.add(u64::from(text), *other);
            }
        }
        for (_, other) in best.best() {
            let partial = &mut partial[other.0 as usize];
            partial.is_candidate = true;
            partial.terms = cosine(text_products[other.0 as usize]);
            partial.anchor = cosine(anchor_products[other.0 as usize]);
            found.push(*other);
        }
    }

    /// Finds documents that similar documents cite. Similar are those with a similar text, and
    /// those that cite the same documents.
    fn find_by_peers(&self, id: DocId, scratch: &mut Scratch, found: &mut Vec<DocId>) {
        let Scratch {
            partial,
            text_products,
            anchor_products,
            touched,
            coupling,
            most_similar,
            peers,
            ..
        } = scratch;
        let mut close: Vec<DocId> = most_similar.best().iter().map(|(_, other)| *other).collect();
        self.citations.couple(id, coupling, &mut |other| close.push(other));
        let similarity = |other: DocId| {
            let sum = std::mem::take(&mut coupling[other.0 as usize]);
            let coupling = self.citations.coupling(id, other, sum) * 3 / 10;
            (cosine(text_products[other.0 as usize]) + coupling, other)
        };
        let mut similar: Vec<(i32, DocId)> =
            close.into_iter().map(similarity).filter(|(similarity, _)| *similarity > 0).collect();
        for other in touched.drain(..) {
            text_products[other.0 as usize] = 0;
            anchor_products[other.0 as usize] = 0;
        }
        similar
            .sort_unstable_by_key(|(similarity, other)| (*other, std::cmp::Reverse(*similarity)));
        similar.dedup_by_key(|(_, other)| *other);
        similar
            .sort_unstable_by_key(|(similarity, other)| (std::cmp::Reverse(*similarity), *other));
        similar.truncate(MAX_PEERS);
        // Peers vote with the square of their similarity.
        let square = |similarity: &i32| similarity * similarity / 16;
        let sum: i32 = similar.iter().map(|(similarity, _)| square(similarity)).sum::<i32>().max(1);
        for (similarity, peer) in &similar {
            let share = square(similarity) * 1_000 / sum;
            for other in self.citations.cited(*peer) {
                let partial = &mut partial[other.0 as usize];
                if !std::mem::replace(&mut partial.is_candidate, true) {
                    found.push(*other);
                }
                partial.peers += share;
            }
        }
        peers.clear();
        peers.extend(similar.into_iter().map(|(_, peer)| peer));
    }
}
