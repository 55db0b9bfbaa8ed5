//! Finds the candidates of each document and reads all signals for them.

use rayon::prelude::*;

use super::citations::{CERTAIN, Citations};
use super::citing_phrases::CitingPhrases;
use super::inverted_index::{InvertedIndex, Term, Vocabulary, cosine};
use super::priors::Priors;
use super::signals::{
    CITING_PHRASES, DISTANCE, EARLIER, N_SIGNALS, PEERS, Signals, TERMS, TITLE_PHRASE, TITLE_TERMS,
    WALK, WEIGHTS,
};
use super::title_phrases::{TitlePhrases, names};
use super::top::TopN;
use crate::model::integer_log::ratio;
use crate::model::word::stems;
use crate::model::{DocId, Graph, Lexicon};

/// Maximum number of similar documents whose citations are read.
const MAX_PEERS: usize = 30;

/// Maximum number of candidates that are selected by terms. Other signals cannot lift the rest.
const MAX_BY_TERMS: usize = 64;

/// Maximum number of terms of a title.
const MAX_TITLE_TERMS: usize = 16;

/// A weighted signal of at least this much, in thousandths, makes a document a candidate.
const MIN_SIGNAL: i32 = 500;

/// Square of the cosine similarity, in thousandths, of one more peer that cites nothing. Without it,
/// a single peer that is hardly similar would decide.
const NO_PEER: u64 = 100 * 100;

/// Indexes that all signals are read from.
pub struct Ranker<'a> {
    pub(super) graph: &'a Graph,
    pub(super) lexicon: &'a Lexicon,
    pub(super) vocabulary: Vocabulary,
    /// The terms of each text, heaviest first.
    pub(super) texts: Vec<Vec<Term>>,
    index: InvertedIndex,
    titles: Vec<TitleTerms>,
    pub(super) citations: Citations,
    title_phrases: TitlePhrases,
    pub(super) citing_phrases: CitingPhrases,
    priors: Priors,
}

/// Terms of a title, by row of the vocabulary, and the sum of their IDF.
struct TitleTerms {
    terms: Vec<u32>,
    idf: u32,
}

/// Memory for the candidates of one document, reused for the next one.
pub struct Scratch {
    /// For each term of the vocabulary, its position in the document's terms plus one; 0 if absent.
    pub(super) own_terms: Vec<u16>,
    /// For each document, its position in the candidates plus one; 0 if it is none.
    rows: Vec<u32>,
    products: Vec<u32>,
    touched: Vec<DocId>,
    best: TopN,
    walked: Vec<[u64; 2]>,
    /// The most similar documents, best first.
    pub(super) peers: Vec<DocId>,
}

/// A document that may be a neighbour, with its signals.
pub struct RankedCandidate {
    /// The document.
    pub id: DocId,
    /// Its signals.
    pub signals: Signals,
    /// True if the text contains its whole title.
    pub(super) has_title: bool,
    /// The bigram that others cite it with and that the text contains; see [`CitingPhrases`].
    pub(super) cited_with: Option<u32>,
}

impl<'a> Ranker<'a> {
    /// Indexes the documents' terms and references.
    pub fn new(graph: &'a Graph, lexicon: &'a Lexicon) -> Ranker<'a> {
        let names = names(graph);
        let by_terms = || {
            let (vocabulary, texts) = Vocabulary::new(lexicon);
            let weigh = |row: usize| {
                let counts = lexicon.counts.of(row).iter().map(|n| u32::from(*n));
                vocabulary.weigh(texts.of(row).iter().copied().zip(counts))
            };
            let texts = (0..graph.documents.len()).into_par_iter().map(weigh);
            let texts: Vec<Vec<Term>> = texts.collect();
            let index = InvertedIndex::new(texts.iter().map(Vec::as_slice), vocabulary.len());
            (vocabulary, texts, index)
        };
        let by_phrases =
            || (TitlePhrases::new(&names, lexicon), CitingPhrases::new(graph, lexicon));
        let ((vocabulary, texts, index), (title_phrases, citing_phrases)) =
            rayon::join(by_terms, by_phrases);
        let citations = Citations::new(graph);
        let priors = Priors::new(graph, &citations.pairs);
        let title = |name: &&str| {
            let terms = stems(name, MAX_TITLE_TERMS).into_iter();
            let terms: Vec<u32> = terms.filter_map(|hash| vocabulary.id(hash)).collect();
            let idf = terms.iter().map(|term| vocabulary.idf(*term)).sum();
            TitleTerms { terms, idf }
        };
        let titles = names.par_iter().map(title).collect();
        Ranker {
            graph,
            lexicon,
            vocabulary,
            texts,
            index,
            titles,
            citations,
            title_phrases,
            citing_phrases,
            priors,
        }
    }

    /// Allocates memory for candidates.
    pub fn scratch(&self) -> Scratch {
        let n = self.graph.documents.len();
        Scratch {
            own_terms: vec![0; self.vocabulary.len()],
            rows: vec![0; n],
            products: vec![0; n],
            touched: Vec::new(),
            best: TopN::new(MAX_BY_TERMS),
            walked: vec![[0; 2]; n],
            peers: Vec::new(),
        }
    }

    /// Returns the candidates of a document with their signals, unordered. The documents in
    /// `referenced` and those that cite it are always among them. Call [`Ranker::clear`] before the next document.
    pub fn candidates(
        &self,
        id: DocId,
        referenced: &[DocId],
        scratch: &mut Scratch,
    ) -> Vec<RankedCandidate> {
        let mut found =
            FoundCandidates { rows: &mut scratch.rows, candidates: Vec::with_capacity(256) };
        // The document itself is the first candidate, so that no signal adds it; it is removed
        // again below.
        found.add(id);
        let similar =
            self.similar(id, &mut scratch.products, &mut scratch.touched, &mut scratch.best);
        for (similarity, other) in &similar {
            found.add(*other).signals[TERMS] = *similarity;
        }
        let peers = &similar[..similar.len().min(MAX_PEERS)];
        self.add_cited_by_peers(id, peers, &mut scratch.walked, &mut found);
        scratch.peers.clear();
        scratch.peers.extend(peers.iter().map(|(_, peer)| *peer));
        for title in self.title_phrases.find(id, &mut scratch.products) {
            let is_enough = title.points * WEIGHTS[TITLE_PHRASE] / 100 >= MIN_SIGNAL;
            if let Some(candidate) = found.add_if(is_enough, title.id) {
                candidate.signals[TITLE_PHRASE] = title.points;
                candidate.has_title = title.is_whole;
            }
        }
        let bigrams = &self.lexicon.bigrams[id.0 as usize];
        for cited in self.citing_phrases.find(bigrams, &mut scratch.products) {
            let is_enough = cited.points * WEIGHTS[CITING_PHRASES] / 100 >= MIN_SIGNAL;
            if let Some(candidate) = found.add_if(is_enough, cited.id) {
                candidate.signals[CITING_PHRASES] = cited.points;
                candidate.cited_with = Some(cited.best);
            }
        }
        for other in referenced.iter().copied().chain(self.citations.citing(id)) {
            found.add(other);
        }
        let mut candidates = found.finish();
        candidates.swap_remove(0);
        for (term, at) in self.texts[id.0 as usize].iter().zip(1..) {
            scratch.own_terms[term.id as usize] = at;
        }
        for candidate in &mut candidates {
            self.add_title_and_priors(id, candidate, &scratch.own_terms);
        }
        candidates
    }

    /// Resets the scratch memory after [`Ranker::candidates`].
    pub fn clear(&self, id: DocId, scratch: &mut Scratch) {
        for term in &self.texts[id.0 as usize] {
            scratch.own_terms[term.id as usize] = 0;
        }
    }

    fn add_title_and_priors(&self, id: DocId, candidate: &mut RankedCandidate, own_terms: &[u16]) {
        let title = &self.titles[candidate.id.0 as usize];
        let contained = title.terms.iter().filter(|term| own_terms[**term as usize] > 0);
        let contained = contained.map(|term| self.vocabulary.idf(*term)).sum::<u32>();
        // The share is squared, because half of a title is weak evidence.
        let share = (contained * 1_000 / title.idf.max(1)) as i32;
        let priors = self.priors.of_pair(id, candidate.id);
        candidate.signals[TITLE_TERMS] = share * share / 1_000;
        candidate.signals[EARLIER] = priors.earlier;
        candidate.signals[DISTANCE] = priors.distance;
    }

    /// Returns the documents with the most similar texts and their cosine similarity, best first.
    fn similar(
        &self,
        id: DocId,
        products: &mut [u32],
        touched: &mut Vec<DocId>,
        best: &mut TopN,
    ) -> Vec<(i32, DocId)> {
        best.clear();
        self.index.add_products(&self.texts[id.0 as usize], products, touched);
        for other in touched.drain(..) {
            let product = std::mem::take(&mut products[other.0 as usize]);
            if other != id {
                best.add(u64::from(product), other);
            }
        }
        let mut similar: Vec<(u64, DocId)> = best.best().to_vec();
        similar.sort_unstable_by_key(|(product, other)| (std::cmp::Reverse(*product), *other));
        similar.into_iter().map(|(product, other)| (cosine(product as u32), other)).collect()
    }

    /// Adds the documents that similar documents cite, and those that a random walk reaches.
    fn add_cited_by_peers(
        &self,
        id: DocId,
        peers: &[(i32, DocId)],
        walked: &mut [[u64; 2]],
        found: &mut FoundCandidates<'_>,
    ) {
        // Peers vote with the square of their similarity.
        let square = |similarity: i32| similarity as u64 * similarity as u64;
        let sum = peers.iter().map(|(similarity, _)| square(*similarity)).sum::<u64>() + NO_PEER;
        // Half of the walks begin at the document itself.
        let mut starts = vec![(id, CERTAIN / 2)];
        for (similarity, peer) in peers {
            let square = square(*similarity);
            starts.push((*peer, CERTAIN / 2 * square / sum));
            for other in self.citations.cited(*peer) {
                found.add(*other).signals[PEERS] += (square * 1_000 / sum) as i32;
            }
        }
        let n = self.graph.documents.len() as u64;
        for (other, probability) in self.citations.walk(&starts, walked) {
            // Most documents are reached by chance. Up to 1.5 times their share of the walks, the
            // signal is too small for a new candidate, and its logarithm is slow.
            if 2 * n * probability < CERTAIN && !found.has(other) {
                continue;
            }
            let signal = ratio(CERTAIN + n * probability, CERTAIN);
            let is_enough = signal * WEIGHTS[WALK] / 100 >= MIN_SIGNAL;
            if let Some(candidate) = found.add_if(is_enough, other) {
                candidate.signals[WALK] = signal;
            }
        }
    }
}

/// Candidates that were found so far.
struct FoundCandidates<'a> {
    rows: &'a mut [u32],
    candidates: Vec<RankedCandidate>,
}

impl FoundCandidates<'_> {
    /// Returns the candidate of a document, which is added if it is new.
    fn add(&mut self, id: DocId) -> &mut RankedCandidate {
        let row = &mut self.rows[id.0 as usize];
        if *row == 0 {
            let signals = [0; N_SIGNALS];
            self.candidates.push(RankedCandidate {
                id,
                signals,
                has_title: false,
                cited_with: None,
            });
            *row = self.candidates.len() as u32;
        }
        &mut self.candidates[*row as usize - 1]
    }

    fn has(&self, id: DocId) -> bool {
        self.rows[id.0 as usize] > 0
    }

    /// Returns the candidate of a document. A new one is added only if `is_enough`.
    fn add_if(&mut self, is_enough: bool, id: DocId) -> Option<&mut RankedCandidate> {
        (is_enough || self.has(id)).then(|| self.add(id))
    }

    fn finish(self) -> Vec<RankedCandidate> {
        self.candidates.iter().for_each(|candidate| self.rows[candidate.id.0 as usize] = 0);
        self.candidates
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_walk_that_is_skipped_makes_no_candidate() {
        assert!(ratio(3, 2) * WEIGHTS[WALK] / 100 < MIN_SIGNAL);
    }
}
