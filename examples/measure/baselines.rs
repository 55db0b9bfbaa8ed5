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
    let weighted: Vec<Counts> = (0..case.texts.len()).map(|row| fields(case, row)).collect();
    let tf_idf = similarities(case, &case.texts, &tf_idf);
    let bm25 = similarities(case, &case.texts, &bm25);
    let bm25f = similarities(case, &weighted, &self::bm25);
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

/// Returns the counts of a text in which titles and headings weigh more.
fn fields(case: &Case, row: usize) -> Counts {
    let counts = case.lexicon.counts.of(row).iter().map(|count| f64::from(*count));
    case.lexicon.hashes.of(row).iter().copied().zip(counts).collect()
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

fn similarities(case: &Case, texts: &[Counts], weigh: &Weighting) -> BTreeMap<DocId, Vec<f64>> {
    let mut df = Counts::new();
    for term in texts.iter().flat_map(BTreeMap::keys) {
        *df.entry(*term).or_default() += 1.0;
    }
    let n = texts.len() as f64;
    let average = texts.iter().flat_map(BTreeMap::values).sum::<f64>() / n;
    let statistics = Statistics { n, average, df };
    let weighted: Vec<(Counts, Counts)> =
        texts.iter().map(|text| weigh(text, &statistics)).collect();
    let mut postings: BTreeMap<u32, Vec<(usize, f64)>> = BTreeMap::new();
    for (row, (_, document)) in weighted.iter().enumerate() {
        for (term, weight) in document {
            postings.entry(*term).or_default().push((row, *weight));
        }
    }
    let of_source = |source: &DocId| {
        let mut scores = vec![0.0; texts.len()];
        for (term, weight) in &weighted[source.0 as usize].0 {
            postings[term].iter().for_each(|(row, other)| scores[*row] += weight * other);
        }
        (*source, scores)
    };
    case.hidden.keys().map(of_source).collect()
}

fn tf_idf(text: &Counts, all: &Statistics) -> (Counts, Counts) {
    let weight = |(term, tf): (&u32, &f64)| {
        (*term, (1.0 + tf.ln()) * ((all.n + 1.0) / (all.df[term] + 1.0)).ln())
    };
    let mut weighted: Counts = text.iter().map(weight).collect();
    let length = weighted.values().map(|weight| weight * weight).sum::<f64>().sqrt().max(1e-9);
    weighted.values_mut().for_each(|weight| *weight /= length);
    (weighted.clone(), weighted)
}

fn bm25(text: &Counts, all: &Statistics) -> (Counts, Counts) {
    let length: f64 = text.values().sum();
    let weight = |(term, tf): (&u32, &f64)| {
        let df = all.df[term];
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
