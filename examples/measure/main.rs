//! Measures the ranking: hides some references of real documents and counts how many it finds.
//!
//! `cargo run --release --example measure -- FOLDER…` copies each tree, removes a seeded random
//! fifth of its references from the text and builds the graph. It reports how many hidden
//! references are among the first ten neighbours (recall@10) and how high (MRR@10), for:
//!
//! - the signals with weights that were fitted on the other trees only (leave-one-tree-out), with
//!   bootstrap intervals, and the same without each signal (`--drop`);
//! - the signals with the weights of `rank::signals`, and the neighbours that a build lists;
//! - the baselines TF-IDF, BM25, BM25F and an untuned reciprocal-rank fusion.
//!
//! A link is removed together with its words; with `--soft` the words stay as plain text.
//! `--reasons N` prints N randomly chosen reasons of each tree for reading. `--search` measures the
//! search instead of the ranking: see [`known_items`].

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a development tool, not part of blue"
)]

mod baselines;
mod fit;
mod hide;
mod known_items;

use std::path::Path;

use blue::model::DocId;
use blue::rank::rank;
use blue::rank::ranker::Ranker;
use blue::rank::signals::{N_SIGNALS, NAMES, WEIGHTS};

use fit::{Question, Weights, fit, score};
use hide::{Case, LinkWords, case, referring};

/// Number of times that each tree is measured, with other references hidden.
const N_RUNS: u64 = 3;

/// A tree with fewer sources of hidden references is not measured.
const MIN_SOURCES: usize = 3;

/// Number of bootstrap samples.
const N_SAMPLES: usize = 1_000;

/// All runs of one tree.
struct Tree {
    name: String,
    questions: Vec<Question>,
    /// Results of methods that need no fitting: name, and the result of each question.
    fixed: Vec<(String, Vec<Answer>)>,
}

/// Number of targets of a question, of targets in the first ten, and the reciprocal of the best
/// rank.
type Answer = (usize, usize, f64);

/// Returns the next number of a linear congruential generator, the same on every machine.
pub(crate) fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
    let words = if has("--soft") { LinkWords::Keep } else { LinkWords::Remove };
    let folders = arguments.iter().filter(|argument| Path::new(argument).is_dir());
    if let Some(at) = arguments.iter().position(|argument| argument == "--reasons") {
        let n = arguments[at + 1].parse().unwrap();
        return folders.for_each(|folder| print_reasons(Path::new(folder), n));
    }
    if has("--search") {
        let folders: Vec<&Path> = folders.map(Path::new).collect();
        return known_items::measure(&folders);
    }
    let trees: Vec<Tree> = folders.filter_map(|folder| tree(Path::new(folder), words)).collect();
    if trees.is_empty() {
        return println!("no folder has {MIN_SOURCES} documents with references");
    }
    let all: Vec<usize> = (0..N_SIGNALS).collect();
    println!(
        "{:16} {}",
        "recall@10/MRR@10",
        trees.iter().map(|t| format!("{:>12.11}", t.name)).collect::<String>()
    );
    for (at, (name, _)) in trees[0].fixed.iter().enumerate() {
        row(name, trees.iter().map(|tree| &tree.fixed[at].1[..]));
    }
    let fitted = leave_one_out(&trees, &all);
    row("fitted on others", fitted.iter().map(|(_, answers)| &answers[..]));
    intervals(&trees, fitted.iter().map(|(_, answers)| &answers[..]));
    for (tree, (weights, _)) in trees.iter().zip(&fitted) {
        let weights: Vec<String> = weights.iter().map(|weight| format!("{weight:.2}")).collect();
        println!("without {:16} {}", tree.name, weights.join(" "));
    }
    let questions: Vec<&[Question]> = trees.iter().map(|tree| &tree.questions[..]).collect();
    let weights = fit(&questions, &all).map(|weight| format!("{weight:.2}"));
    println!("fitted on all trees: {}", weights.join(" "));
    if has("--drop") {
        for (dropped, name) in NAMES.iter().enumerate() {
            let used: Vec<usize> = all.iter().copied().filter(|at| *at != dropped).collect();
            let fitted = leave_one_out(&trees, &used);
            row(&format!("no {name}"), fitted.iter().map(|(_, answers)| &answers[..]));
        }
    }
}

/// Measures all runs of a tree.
fn tree(folder: &Path, words: LinkWords) -> Option<Tree> {
    let name = folder.file_name()?.to_string_lossy().into_owned();
    let mut tree = Tree { name, questions: Vec::new(), fixed: Vec::new() };
    for seed in 0..N_RUNS {
        let case = case(folder, seed, words)?;
        if case.hidden.len() < MIN_SOURCES {
            return None;
        }
        let first = tree.questions.len();
        tree.questions.extend(questions(&case));
        let mut results: Vec<(String, Vec<Answer>)> = Vec::new();
        for (name, scores) in baselines::BASELINES.iter().zip(baselines::scores(&case)) {
            results.push((name.to_string(), baseline_answers(&case, &scores)));
        }
        let weights = WEIGHTS.map(|weight| f64::from(weight) / 100.0);
        results.push(("signals".to_string(), answers(&tree.questions[first..], &weights)));
        results.push(("emitted".to_string(), emitted_answers(&case)));
        match tree.fixed.is_empty() {
            true => tree.fixed = results,
            false => {
                for ((_, all), (_, more)) in tree.fixed.iter_mut().zip(results) {
                    all.extend(more);
                }
            }
        }
    }
    Some(tree)
}

fn questions(case: &Case) -> Vec<Question> {
    let ranker = Ranker::new(&case.graph, &case.lexicon);
    let mut scratch = ranker.scratch();
    let referring = referring(&case.graph);
    let question = |(source, targets): (&DocId, &Vec<DocId>)| {
        let candidates = ranker.candidates(*source, &[], &mut scratch);
        ranker.clear(*source, &mut scratch);
        let new = candidates.into_iter().filter(|new| !referring.contains(&(*source, new.id)));
        let candidates = new.map(|new| (new.id, new.signals)).collect();
        Question { candidates, targets: targets.clone() }
    };
    case.hidden.iter().map(question).collect()
}

/// Returns the result of a ranked list.
fn answer(order: &[DocId], targets: &[DocId]) -> Answer {
    let places = targets.iter().filter_map(|target| order.iter().position(|id| id == target));
    let places: Vec<usize> = places.filter(|place| *place < 10).collect();
    let best = places.iter().min().map_or(0.0, |place| 1.0 / (*place as f64 + 1.0));
    (targets.len(), places.len(), best)
}

fn answers(questions: &[Question], weights: &Weights) -> Vec<Answer> {
    let of_question = |question: &Question| {
        let scored = question.candidates.iter().map(|(id, signals)| (score(weights, signals), *id));
        let mut order: Vec<(f64, DocId)> = scored.collect();
        order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let order: Vec<DocId> = order.into_iter().map(|(_, id)| id).collect();
        answer(&order, &question.targets)
    };
    questions.iter().map(of_question).collect()
}

fn baseline_answers(
    case: &Case,
    scores: &std::collections::BTreeMap<DocId, Vec<f64>>,
) -> Vec<Answer> {
    let referring = referring(&case.graph);
    let of_source = |(source, targets): (&DocId, &Vec<DocId>)| {
        let scores = &scores[source];
        let mut order: Vec<DocId> = case.graph.ids().collect();
        order.retain(|id| id != source && !referring.contains(&(*source, *id)));
        order.sort_by(|a, b| scores[b.0 as usize].total_cmp(&scores[a.0 as usize]));
        answer(&order, targets)
    };
    case.hidden.iter().map(of_source).collect()
}

/// Scores the emitted ranking: the neighbours that the document does not refer to.
fn emitted_answers(case: &Case) -> Vec<Answer> {
    let ranking = rank(&case.graph, &case.lexicon);
    let referring = referring(&case.graph);
    let of_source = |(source, targets): (&DocId, &Vec<DocId>)| {
        let ids = ranking.neighbours[source.0 as usize].iter().map(|neighbour| neighbour.id);
        let new: Vec<DocId> = ids.filter(|id| !referring.contains(&(*source, *id))).collect();
        answer(&new, targets)
    };
    case.hidden.iter().map(of_source).collect()
}

/// Fits weights for each tree on all others. Returns them with the results on the tree.
fn leave_one_out(trees: &[Tree], used: &[usize]) -> Vec<(Weights, Vec<Answer>)> {
    let without = |left_out: usize| {
        let others = trees.iter().enumerate().filter(|(at, _)| *at != left_out);
        let others: Vec<&[Question]> = others.map(|(_, tree)| &tree.questions[..]).collect();
        let weights = fit(&others, used);
        (weights, answers(&trees[left_out].questions, &weights))
    };
    (0..trees.len()).map(without).collect()
}

/// Returns recall@10 and MRR@10.
fn recall_and_mrr<'a>(answers: impl Iterator<Item = &'a Answer>) -> (f64, f64) {
    let (mut n, mut n_targets, mut n_found, mut reciprocals) = (0, 0, 0, 0.0);
    for (targets, found, reciprocal) in answers {
        (n, n_targets, n_found) = (n + 1, n_targets + targets, n_found + found);
        reciprocals += reciprocal;
    }
    (n_found as f64 / n_targets.max(1) as f64, reciprocals / f64::from(n.max(1)))
}

/// Prints the results of each tree, and their mean.
fn row<'a>(name: &str, trees: impl Iterator<Item = &'a [Answer]>) {
    let results: Vec<(f64, f64)> = trees.map(|answers| recall_and_mrr(answers.iter())).collect();
    let each: String =
        results.iter().map(|(r, m)| format!("  {r:.3}/{m:.3}").replace("0.", ".")).collect();
    let mean = |value: fn(&(f64, f64)) -> f64| {
        results.iter().map(value).sum::<f64>() / results.len() as f64
    };
    println!("{name:16} {each} | {:.3}/{:.3}", mean(|r| r.0), mean(|r| r.1));
}

/// Prints 95 % intervals of the results, and of the gain over TF-IDF and BM25, from samples of each
/// tree's sources.
fn intervals<'a>(trees: &[Tree], results: impl Iterator<Item = &'a [Answer]>) {
    for (tree, answers) in trees.iter().zip(results) {
        let n = answers.len();
        let mut state = 7;
        let mut samples: [Vec<f64>; 4] = Default::default();
        for _ in 0..N_SAMPLES {
            let rows: Vec<usize> = (0..n).map(|_| random(&mut state) as usize % n).collect();
            let of = |answers: &[Answer]| recall_and_mrr(rows.iter().map(|row| &answers[*row]));
            let (own, tf_idf, bm25) = (of(answers), of(&tree.fixed[0].1), of(&tree.fixed[1].1));
            let values = [own.0, own.1, own.0 - tf_idf.0, own.0 - bm25.0];
            samples.iter_mut().zip(values).for_each(|(all, value)| all.push(value));
        }
        let [recall, mrr, over_tf_idf, over_bm25] = samples.map(|mut values| {
            values.sort_by(f64::total_cmp);
            format!("{:+.3} to {:+.3}", values[N_SAMPLES / 40], values[N_SAMPLES - N_SAMPLES / 40])
        });
        println!(
            "{:16} {n} sources: recall {recall}, MRR {mrr}, over TF-IDF {over_tf_idf}, over BM25 {over_bm25}",
            tree.name
        );
    }
}

/// Prints random neighbours with their reasons.
fn print_reasons(folder: &Path, n: usize) {
    let Some(case) = case(folder, 0, LinkWords::Remove) else { return };
    let ranking = rank(&case.graph, &case.lexicon);
    let referring = referring(&case.graph);
    let mut all = Vec::new();
    for id in case.graph.ids() {
        let neighbours = ranking.neighbours[id.0 as usize].iter();
        let new = neighbours.filter(|other| !referring.contains(&(id, other.id)));
        all.extend(new.take(5).map(|neighbour| (id, neighbour)));
    }
    let mut state = 11;
    for _ in 0..n.min(all.len()) {
        let (id, neighbour) = all[random(&mut state) as usize % all.len()];
        let (own, other) = (case.graph.document(id), case.graph.document(neighbour.id));
        println!("{} | {}\n  -> {} | {}", own.path, own.title, other.path, other.title);
        let reasons = neighbour.reasons.iter().map(|reason| reason.text(&case.graph));
        println!("  {}", reasons.collect::<Vec<String>>().join("; "));
    }
}
