//! Measures the ranking: hides some references of real documents and counts how many it finds.
//!
//! `cargo run --release --example measure -- FOLDER…` copies each tree, removes a seeded random fifth
//! of its references from the text and builds the graph. It reports how many hidden references are
//! among the first ten and five neighbours (recall@10, recall@5) and how high (MRR@10). It does so for
//! each signal, for their weighted sum, for the neighbours that a build lists, and for the baselines
//! BM25 and TF-IDF over whole texts. A link is removed together with its words; with `--soft` the
//! words stay as plain text. `--tune` searches for better weights.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a development tool, not part of blue"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use blue::build::{self, Silent, Survey};
use blue::model::word::{is_term, stem, words};
use blue::model::{DocId, Document, Graph, Lexicon, Number, term_hash};
use blue::rank::rank;
use blue::rank::ranker::Ranker;
use blue::rank::signals::{N_SIGNALS, NAMES, Signals, WEIGHTS, weighted_sum};
use blue::root::Root;

/// A tree with hidden references.
struct Case {
    name: String,
    graph: Graph,
    lexicon: Lexicon,
    /// Term counts of each whole text.
    texts: Vec<Counts>,
    /// Hidden references, by source.
    hidden: BTreeMap<DocId, Vec<DocId>>,
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let tune = arguments.iter().any(|argument| argument == "--tune");
    let soft = arguments.iter().any(|argument| argument == "--soft");
    let seeds: u64 = if tune { 6 } else { 3 };
    let mut cases = Vec::new();
    for folder in arguments.iter().filter(|argument| !argument.starts_with("--")) {
        for seed in 0..seeds {
            cases.extend(case(Path::new(folder), seed, soft));
        }
    }
    let tables: Vec<Table> = cases.iter().map(Table::new).collect();
    let runs = seeds as usize;
    let weights = if tune { tuned(&tables) } else { WEIGHTS };
    println!("{weights:?}");
    println!("recall@10 recall@5 MRR@10, by tree, then the mean");
    for (which, name) in NAMES.iter().enumerate() {
        row(name, runs, tables.iter().map(|table| table.score(&|s| i64::from(s[which]))));
    }
    row(
        "fused",
        runs,
        tables.iter().map(|table| table.score(&|s| i64::from(weighted_sum(s, &weights)))),
    );
    row("emitted", runs, cases.iter().map(score_emitted));
    for (name, baseline) in [("tf-idf", tf_idf as Baseline), ("bm25", bm25)] {
        row(name, runs, cases.iter().map(|case| score_baseline(case, baseline)));
    }
    for table in &tables {
        println!("{}: {} hidden of {} sources", table.name, table.n_hidden, table.rows.len());
    }
}

/// Prints the mean scores of each tree, and of all of them.
fn row(name: &str, runs: usize, scores: impl Iterator<Item = [f64; 3]>) {
    let scores: Vec<[f64; 3]> = scores.collect();
    let mean = |i: usize| scores.iter().map(|score| score[i]).sum::<f64>() / scores.len() as f64;
    let format_scores = |s: [f64; 3]| format!("{:.3} {:.3} {:.3}", s[0], s[1], s[2]);
    let each: Vec<String> = scores
        .chunks(runs)
        .map(|runs| {
            let mean =
                |i: usize| runs.iter().map(|score| score[i]).sum::<f64>() / runs.len() as f64;
            format_scores([mean(0), mean(1), mean(2)])
        })
        .collect();
    println!("{name:8} {} | {}", each.join(" | "), format_scores([mean(0), mean(1), mean(2)]));
}

/// Candidates of a source, and the hidden targets that it should find.
type Row = (Vec<(DocId, Signals)>, Vec<DocId>);

/// Signals of all candidates of one tree, with the hidden targets.
struct Table {
    name: String,
    n_hidden: usize,
    rows: Vec<Row>,
}

impl Table {
    fn new(case: &Case) -> Table {
        let ranker = Ranker::new(&case.graph, &case.lexicon);
        let mut scratch = ranker.scratch();
        let outgoing = outgoing(&case.graph);
        let rows: Vec<Row> = case
            .hidden
            .iter()
            .map(|(source, targets)| {
                let mut candidates = ranker.candidates(*source, &[], &mut scratch);
                ranker.clear(*source, &mut scratch);
                candidates.retain(|(other, _)| !outgoing.contains(&(*source, *other)));
                (candidates, targets.clone())
            })
            .collect();
        let n_hidden = rows.iter().map(|(_, targets)| targets.len()).sum();
        Table { name: case.name.clone(), n_hidden, rows }
    }

    fn score(&self, score_of: &dyn Fn(&Signals) -> i64) -> [f64; 3] {
        let ranked = self.rows.iter().map(|(candidates, targets)| {
            let mut order: Vec<(i64, DocId)> =
                candidates.iter().map(|(id, signals)| (score_of(signals), *id)).collect();
            order.retain(|(score, _)| *score > 0);
            order.sort_unstable_by_key(|(score, id)| (std::cmp::Reverse(*score), *id));
            (order.into_iter().take(10).map(|(_, id)| id).collect(), targets.clone())
        });
        recall_and_mrr(ranked)
    }
}

/// Returns recall@10, recall@5 and MRR@10 of ranked candidates.
fn recall_and_mrr(ranked: impl Iterator<Item = (Vec<DocId>, Vec<DocId>)>) -> [f64; 3] {
    let (mut n, mut ten, mut five, mut reciprocal, mut n_sources) = (0, 0, 0, 0.0, 0);
    for (order, targets) in ranked {
        let places: Vec<Option<usize>> =
            targets.iter().map(|target| order.iter().position(|id| id == target)).collect();
        n += places.len();
        n_sources += 1;
        ten += places.iter().filter(|place| place.is_some()).count();
        five += places.iter().filter(|place| place.is_some_and(|place| place < 5)).count();
        let first = places.iter().flatten().min();
        reciprocal += first.map_or(0.0, |place| 1.0 / (*place as f64 + 1.0));
    }
    let share = |k: usize| k as f64 / n.max(1) as f64;
    [share(ten), share(five), reciprocal / f64::from(n_sources.max(1))]
}

fn outgoing(graph: &Graph) -> BTreeSet<(DocId, DocId)> {
    graph.edges.iter().map(|edge| (edge.from, edge.to)).collect()
}

/// Scores the emitted ranking: the first ten neighbours that the document does not refer to.
fn score_emitted(case: &Case) -> [f64; 3] {
    let ranking = rank(&case.graph, &case.lexicon);
    let outgoing = outgoing(&case.graph);
    let ranked = case.hidden.iter().map(|(source, targets)| {
        let ids = ranking.neighbours[source.0 as usize].iter().map(|neighbour| neighbour.id);
        let new = ids.filter(|id| !outgoing.contains(&(*source, *id)));
        (new.take(10).collect(), targets.clone())
    });
    recall_and_mrr(ranked)
}

/// Improves the current weights by hill climbing, one weight at a time.
fn tuned(tables: &[Table]) -> Signals {
    let value = |weights: &Signals| -> f64 {
        let scores = tables.iter().map(|t| t.score(&|s| i64::from(weighted_sum(s, weights))));
        scores.map(|score| score[0] + score[2]).sum::<f64>()
    };
    let mut best = WEIGHTS;
    let mut best_value = value(&best);
    loop {
        let before = best_value;
        for which in 0..N_SIGNALS {
            for factor in [0, 50, 70, 80, 90, 110, 125, 150, 200] {
                let mut weights = best;
                let at = &mut weights[which];
                *at = if factor > 100 {
                    (*at * factor / 100).max(*at + 1)
                } else {
                    *at * factor / 100
                };
                let value = value(&weights);
                if value > best_value {
                    (best, best_value) = (weights, value);
                }
            }
        }
        if best_value <= before {
            return best;
        }
    }
}

/// Reads and links the documents of a project without writing anything.
fn survey(folder: &Path) -> Survey {
    let root = Root::open(folder).unwrap();
    let inputs = build::load(&root).unwrap();
    build::survey(&root, &inputs, &Silent).unwrap()
}

fn case(folder: &Path, seed: u64, soft: bool) -> Option<Case> {
    let folder = folder.canonicalize().ok()?;
    let before = survey(&folder).graph;
    let copy = tempfile::tempdir().ok()?;
    let mut chosen: BTreeMap<DocId, Vec<DocId>> = BTreeMap::new();
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) + 1;
    // A number that two documents share does not show which of them was meant.
    let certain = before.edges.iter().filter(|edge| !edge.ambiguous && edge.from != edge.to);
    let certain: BTreeSet<(DocId, DocId)> = certain.map(|edge| (edge.from, edge.to)).collect();
    for (from, to) in certain {
        // A linear congruential generator gives the same numbers on every machine.
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        if (state >> 33).is_multiple_of(5) {
            chosen.entry(from).or_default().push(to);
        }
    }
    for (row, document) in before.documents.iter().enumerate() {
        let text = std::fs::read(folder.join(&document.path)).ok()?;
        let mut text = String::from_utf8_lossy(&text).into_owned();
        for target in chosen.get(&DocId(row as u32)).into_iter().flatten() {
            text = without(&text, &before, *target, soft);
        }
        let place: PathBuf = copy.path().join(&document.path);
        std::fs::create_dir_all(place.parent()?).ok()?;
        std::fs::write(place, text).ok()?;
        if let Some(sidecar) = &document.sidecar {
            std::fs::copy(folder.join(sidecar), copy.path().join(sidecar)).ok()?;
        }
    }
    if let Ok(config) = std::fs::read(folder.join(".blue/config.yaml")) {
        std::fs::create_dir_all(copy.path().join(".blue")).ok()?;
        std::fs::write(copy.path().join(".blue/config.yaml"), config).ok()?;
    }
    let Survey { graph: after, terms, .. } = survey(copy.path());
    let lexicon = Lexicon::new(&after.documents, terms);
    let row_of: BTreeMap<&str, DocId> =
        after.ids().map(|id| (after.document(id).path.as_str(), id)).collect();
    let seen = outgoing(&after);
    let mut hidden: BTreeMap<DocId, Vec<DocId>> = BTreeMap::new();
    for (from, targets) in chosen {
        for to in targets {
            let path = |id: DocId| row_of.get(before.document(id).path.as_str()).copied();
            // A reference that could not be removed completely is not counted.
            if let (Some(from), Some(to)) = (path(from), path(to))
                && !seen.contains(&(from, to))
            {
                hidden.entry(from).or_default().push(to);
            }
        }
    }
    let name = folder.file_name()?.to_string_lossy().into_owned();
    let text = |document: &Document| std::fs::read(copy.path().join(&document.path)).ok();
    let texts = after.documents.iter().map(|document| Some(counts(&text(document)?)));
    let texts = texts.collect::<Option<_>>()?;
    Some(Case { name, graph: after, lexicon, texts, hidden })
}

/// Removes the references to a document from a text: links to its file, and its id.
fn without(text: &str, graph: &Graph, target: DocId, soft: bool) -> String {
    let document = graph.document(target);
    let file = document.path.rsplit('/').next().unwrap_or_default();
    let stem = file.trim_end_matches(".md");
    let mut text = without_links(text, &[file, stem], soft);
    let Some(number) = document.number.as_ref().and_then(Number::value) else { return text };
    let mut series: Vec<String> = graph.collections[document.collection].series.clone();
    series.push(document.kind.as_str().to_string());
    let lower = text.to_ascii_lowercase();
    let mut cut: Vec<(usize, usize)> = Vec::new();
    for word in series {
        for (at, _) in lower.match_indices(&word) {
            let rest = &lower[at + word.len()..];
            let gap = rest.len() - rest.trim_start_matches([' ', '-', '#', ':', '_']).len();
            let digits: String = rest[gap..].chars().take_while(char::is_ascii_digit).collect();
            if gap <= 2 && !digits.is_empty() && digits.parse() == Ok(number) {
                cut.push((at, at + word.len() + gap + digits.len()));
            }
        }
    }
    cut.sort_unstable();
    for (start, end) in cut.into_iter().rev() {
        if text.is_char_boundary(start) && text.is_char_boundary(end) && end <= text.len() {
            text.replace_range(start..end, " ");
        }
    }
    // Headers can list bare numbers: `requires: 20, 165`.
    let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
    for line in lines.iter_mut().take(40) {
        let lists = ["requires", "replaces", "superseded", "supersedes", "depends", "related"];
        if lists.iter().any(|key| {
            line.to_lowercase().trim_start_matches(['-', '*', '|', ' ']).starts_with(key)
        }) {
            let others: Vec<&str> = line
                .split(',')
                .filter(|part| {
                    !part.split(|c: char| !c.is_ascii_digit()).any(|n| n.parse() == Ok(number))
                })
                .collect();
            *line = others.join(",");
        }
    }
    lines.join("\n")
}

/// Removes links to files with these names, and the names themselves, from a text.
fn without_links(text: &str, names: &[&str], soft: bool) -> String {
    let mut text = text.to_string();
    for name in names {
        let mut from = 0;
        while let Some(at) = text[from..].find(name).map(|at| from + at) {
            let end = at + name.len();
            // `eip-20` must not match in `eip-2015`.
            if text[end..].starts_with(|c: char| c.is_ascii_alphanumeric()) {
                from = end;
                continue;
            }
            let open = text[..at].rfind('[').filter(|open| {
                let between = &text[*open..at];
                between.contains("](") && !between.contains('\n') && !between.contains(')')
            });
            match open {
                Some(open) => {
                    let close = text[end..].find(')').map_or(end, |close| end + close + 1);
                    let words = text[open + 1..at].split("](").next().unwrap_or_default();
                    // A link text that repeats the name would give the target away.
                    let words = if soft { words.replace(name, " ") } else { " ".to_string() };
                    text.replace_range(open..close, &words);
                }
                None => text.replace_range(at..end, " "),
            }
        }
    }
    text
}

/// Number of occurrences of each term of a text, by the hash of its stem.
type Counts = BTreeMap<u32, f64>;

fn counts(bytes: &[u8]) -> Counts {
    let mut counts = Counts::new();
    words(&String::from_utf8_lossy(bytes), |word, hash| {
        if is_term(word, hash) {
            *counts.entry(term_hash(stem(word))).or_default() += 1.0;
        }
    });
    counts
}

/// Term weights of a text as a query and as a document.
type Baseline = fn(&Counts, &Corpus) -> (Counts, Counts);

/// Statistics of all texts that the baselines need.
struct Corpus {
    n: f64,
    average: f64,
    /// Number of texts that contain each term.
    df: Counts,
}

/// Scores a textbook baseline over whole texts, without limits.
fn score_baseline(case: &Case, baseline: Baseline) -> [f64; 3] {
    let mut df = Counts::new();
    for term in case.texts.iter().flat_map(BTreeMap::keys) {
        *df.entry(*term).or_default() += 1.0;
    }
    let n = case.texts.len() as f64;
    let average = case.texts.iter().flat_map(BTreeMap::values).sum::<f64>() / n;
    let corpus = Corpus { n, average, df };
    let weighted: Vec<(Counts, Counts)> =
        case.texts.iter().map(|text| baseline(text, &corpus)).collect();
    let mut postings: BTreeMap<u32, Vec<(usize, f64)>> = BTreeMap::new();
    for (row, (_, found)) in weighted.iter().enumerate() {
        for (term, weight) in found {
            postings.entry(*term).or_default().push((row, *weight));
        }
    }
    let outgoing = outgoing(&case.graph);
    let ranked = case.hidden.iter().map(|(source, targets)| {
        let mut scores = vec![0.0; case.texts.len()];
        for (term, weight) in &weighted[source.0 as usize].0 {
            for (row, other) in &postings[term] {
                scores[*row] += weight * other;
            }
        }
        let named = |i: usize| outgoing.contains(&(*source, DocId(i as u32)));
        let mut order: Vec<usize> =
            (0..scores.len()).filter(|i| *i != source.0 as usize && !named(*i)).collect();
        order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]));
        (order.into_iter().take(10).map(|i| DocId(i as u32)).collect(), targets.clone())
    });
    recall_and_mrr(ranked)
}

fn tf_idf(text: &Counts, corpus: &Corpus) -> (Counts, Counts) {
    let weight = |(term, tf): (&u32, &f64)| {
        (*term, (1.0 + tf.ln()) * ((corpus.n + 1.0) / (corpus.df[term] + 1.0)).ln())
    };
    let mut weighted: Counts = text.iter().map(weight).collect();
    let length = weighted.values().map(|weight| weight * weight).sum::<f64>().sqrt().max(1e-9);
    weighted.values_mut().for_each(|weight| *weight /= length);
    (weighted.clone(), weighted)
}

fn bm25(text: &Counts, corpus: &Corpus) -> (Counts, Counts) {
    let length: f64 = text.values().sum();
    let weight = |(term, tf): (&u32, &f64)| {
        let df = corpus.df[term];
        let idf = ((corpus.n - df + 0.5) / (df + 0.5) + 1.0).ln();
        (*term, idf * tf * 2.2 / (tf + 1.2 * (0.25 + 0.75 * length / corpus.average)))
    };
    (text.clone(), text.iter().map(weight).collect())
}
