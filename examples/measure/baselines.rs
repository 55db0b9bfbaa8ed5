//! Textbook baselines: TF-IDF, BM25, BM25F and a reciprocal-rank fusion.

use std::collections::BTreeMap;

use blue::model::word::{is_term, stem, stems, words};
use blue::model::{DocId, term_hash};

use super::hide::{Case, referring};

/// Number of occurrences of each term of a text, by the hash of its stem.
pub(crate) type Counts = BTreeMap<u32, f64>;

/// Counts the terms of a text.
pub(crate) fn counts(bytes: &[u8]) -> Counts {
    let mut counts = Counts::new();
    words(&String::from_utf8_lossy(bytes), |word, hash| {
        if is_term(word, hash) {
            *counts.entry(term_hash(stem(word))).or_default() += 1.0;
        }
    });
    counts
}

/// Names of the baselines, in the order of [`scores`].
pub(crate) const BASELINES: [&str; 4] = ["TF-IDF", "BM25", "BM25F", "RRF"];

/// Returns the scores of all documents for each source with hidden references, by baseline.
pub(crate) fn scores(case: &Case) -> Vec<BTreeMap<DocId, Vec<f64>>> {
    let sources: Vec<DocId> = case.hidden.keys().copied().collect();
    let text_scores = |texts: &[Counts], weigh: &Weighting| {
        let queries: Vec<Counts> =
            sources.iter().map(|source| texts[source.0 as usize].clone()).collect();
        let scores = similarities(&queries, texts, weigh);
        sources.iter().copied().zip(scores).collect::<BTreeMap<DocId, Vec<f64>>>()
    };
    let tf_idf = text_scores(&case.texts, &tf_idf);
    let bm25f = text_scores(&weighted_fields(case), &bm25);
    let bm25 = text_scores(&case.texts, &bm25);
    let page_rank = page_rank(case);
    let mut fused = BTreeMap::new();
    for source in case.hidden.keys() {
        let lists = [
            &tf_idf[source],
            &bm25[source],
            &linked(case, *source),
            &title_matches(case, *source),
            &page_rank,
        ];
        fused.insert(*source, reciprocal_ranks(&lists));
    }
    vec![tf_idf, bm25, bm25f, fused]
}

/// Returns the scores of all documents for each query, for TF-IDF, BM25 and BM25F.
pub(crate) fn query_scores(case: &Case, queries: &[String]) -> Vec<Vec<Vec<f64>>> {
    let queries: Vec<Counts> = queries.iter().map(|query| counts(query.as_bytes())).collect();
    let weighted = weighted_fields(case);
    vec![
        similarities(&queries, &case.texts, &tf_idf),
        similarities(&queries, &case.texts, &bm25),
        similarities(&queries, &weighted, &bm25),
    ]
}

/// Returns the term counts of each text, in which titles and headings weigh more.
fn weighted_fields(case: &Case) -> Vec<Counts> {
    let of_row = |row: usize| {
        let counts = case.lexicon.counts.of(row).iter().map(|count| f64::from(*count));
        case.lexicon.hashes.of(row).iter().copied().zip(counts).collect()
    };
    (0..case.texts.len()).map(of_row).collect()
}

/// Term weights of a text as a query and as a document.
type Weighting = dyn Fn(&Counts, &Statistics) -> (Counts, Counts);

/// Statistics of all texts that the baselines need.
struct Statistics {
    n: f64,
    average: f64,
    /// Number of texts that contain each term.
    df: Counts,
}

/// Returns the scores of all texts for each query.
fn similarities(queries: &[Counts], texts: &[Counts], weigh: &Weighting) -> Vec<Vec<f64>> {
    let mut df = Counts::new();
    for term in texts.iter().flat_map(BTreeMap::keys) {
        *df.entry(*term).or_default() += 1.0;
    }
    let n = texts.len() as f64;
    let average = texts.iter().flat_map(BTreeMap::values).sum::<f64>() / n;
    let statistics = Statistics { n, average, df };
    let mut postings: BTreeMap<u32, Vec<(usize, f64)>> = BTreeMap::new();
    for (row, text) in texts.iter().enumerate() {
        for (term, weight) in weigh(text, &statistics).1 {
            postings.entry(term).or_default().push((row, weight));
        }
    }
    let of_query = |query: &Counts| {
        let mut scores = vec![0.0; texts.len()];
        for (term, weight) in weigh(query, &statistics).0 {
            let postings = postings.get(&term).into_iter().flatten();
            postings.for_each(|(row, other)| scores[*row] += weight * other);
        }
        scores
    };
    queries.iter().map(of_query).collect()
}

impl Statistics {
    /// Returns the number of texts that contain a term.
    fn df(&self, term: &u32) -> f64 {
        self.df.get(term).copied().unwrap_or_default()
    }
}

fn tf_idf(text: &Counts, all: &Statistics) -> (Counts, Counts) {
    let weight = |(term, tf): (&u32, &f64)| {
        (*term, (1.0 + tf.ln()) * ((all.n + 1.0) / (all.df(term) + 1.0)).ln())
    };
    let mut weighted: Counts = text.iter().map(weight).collect();
    let length = weighted.values().map(|weight| weight * weight).sum::<f64>().sqrt().max(1e-9);
    weighted.values_mut().for_each(|weight| *weight /= length);
    (weighted.clone(), weighted)
}

fn bm25(text: &Counts, all: &Statistics) -> (Counts, Counts) {
    let length: f64 = text.values().sum();
    let weight = |(term, tf): (&u32, &f64)| {
        let df = all.df(term);
        let idf = ((all.n - df + 0.5) / (df + 0.5) + 1.0).ln();
        (*term, idf * tf * 2.2 / (tf + 1.2 * (0.25 + 0.75 * length / all.average)))
    };
    (text.clone(), text.iter().map(weight).collect())
}

/// Counts the paths of two references between a source and each document, in any direction.
fn linked(case: &Case, source: DocId) -> Vec<f64> {
    let pairs = referring(&case.graph);
    let ends = |id: DocId| {
        let end = move |(from, to): &(DocId, DocId)| match id {
            id if *from == id => Some(*to),
            id if *to == id => Some(*from),
            _ => None,
        };
        pairs.iter().filter_map(end).collect::<Vec<DocId>>()
    };
    let mut scores = vec![0.0; case.texts.len()];
    for near in ends(source) {
        scores[near.0 as usize] += 1.0;
        let far = ends(near);
        far.iter().for_each(|id| scores[id.0 as usize] += 1.0 / far.len() as f64);
    }
    scores
}

/// Returns the share of each title's terms that a text contains.
fn title_matches(case: &Case, source: DocId) -> Vec<f64> {
    let text = &case.texts[source.0 as usize];
    let share = |title: &str| {
        let terms = stems(title, 16);
        let contained = terms.iter().filter(|term| text.contains_key(term)).count();
        contained as f64 / terms.len().max(1) as f64
    };
    case.graph.documents.iter().map(|document| share(&document.title)).collect()
}

fn page_rank(case: &Case) -> Vec<f64> {
    let n = case.texts.len();
    let mut out = vec![Vec::new(); n];
    for (from, to) in referring(&case.graph) {
        out[from.0 as usize].push(to.0 as usize);
    }
    let mut ranks = vec![1.0 / n as f64; n];
    for _ in 0..30 {
        let mut next = vec![0.15 / n as f64; n];
        for (row, targets) in out.iter().enumerate() {
            targets.iter().for_each(|to| next[*to] += 0.85 * ranks[row] / targets.len() as f64);
        }
        ranks = next;
    }
    ranks
}

/// Adds up 1 / (60 + rank) over all lists. A list ranks only documents with a score.
fn reciprocal_ranks(lists: &[&Vec<f64>]) -> Vec<f64> {
    let mut fused = vec![0.0; lists[0].len()];
    for scores in lists {
        let mut order: Vec<usize> = (0..scores.len()).filter(|row| scores[*row] > 0.0).collect();
        order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]));
        for (rank, row) in order.into_iter().enumerate() {
            fused[row] += 1.0 / (61.0 + rank as f64);
        }
    }
    fused
}
