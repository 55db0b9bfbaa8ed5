//! Fits the weights of signals to hidden references: a conditional logit model.

use blue::model::DocId;
use blue::rank::signals::{N_SIGNALS, Signals};

/// Candidates of a source, and the hidden targets that it should find.
pub(crate) struct Question {
    pub(crate) candidates: Vec<(DocId, Signals)>,
    pub(crate) targets: Vec<DocId>,
}

/// Weights of signals that are not rounded yet.
pub(crate) type Weights = [f64; N_SIGNALS];

/// Steps of gradient descent.
const N_STEPS: usize = 150;
const RATE: f64 = 0.05;

/// Strength of the penalty for large weights.
const PENALTY: f64 = 0.002;

/// Returns the score of a candidate.
pub(crate) fn score(weights: &Weights, signals: &Signals) -> f64 {
    weights.iter().zip(signals).map(|(weight, signal)| weight * f64::from(*signal) / 1e3).sum()
}

/// Fits weights that are not negative. Each tree counts the same, and so does each of its sources.
/// The weights of signals that are not `used` are 0.
pub(crate) fn fit(trees: &[&[Question]], used: &[usize]) -> Weights {
    let scale = scale(trees);
    let mut weights = [0.0; N_SIGNALS];
    used.iter().for_each(|signal| weights[*signal] = 0.3 / scale[*signal]);
    // Adam, with the gradient of each weight divided by the scale of its signal.
    let (mut mean, mut square) = ([0.0; N_SIGNALS], [0.0; N_SIGNALS]);
    for step in 1..=N_STEPS as i32 {
        let mut gradient = [0.0; N_SIGNALS];
        for questions in trees {
            for question in *questions {
                add_gradient(question, &weights, 1.0 / questions.len() as f64, &mut gradient);
            }
        }
        for signal in used.iter().copied() {
            let slope =
                gradient[signal] / scale[signal] + PENALTY * weights[signal] * scale[signal];
            mean[signal] = 0.9 * mean[signal] + 0.1 * slope;
            square[signal] = 0.99 * square[signal] + 0.01 * slope * slope;
            let (mean, square): (f64, f64) = (
                mean[signal] / (1.0 - 0.9f64.powi(step)),
                square[signal] / (1.0 - 0.99f64.powi(step)),
            );
            let weight = weights[signal] - RATE * mean / (square.sqrt() + 1e-8) / scale[signal];
            weights[signal] = weight.max(0.0);
        }
    }
    weights
}

/// Returns the root mean square of each signal.
fn scale(trees: &[&[Question]]) -> Weights {
    let (mut squares, mut n) = ([0.0; N_SIGNALS], 0.0);
    let questions = trees.iter().flat_map(|questions| questions.iter());
    for (_, signals) in questions.flat_map(|question| &question.candidates) {
        n += 1.0;
        for (square, signal) in squares.iter_mut().zip(signals) {
            *square += (f64::from(*signal) / 1e3).powi(2);
        }
    }
    squares.map(|square: f64| (square / f64::max(n, 1.0)).sqrt().max(1e-4))
}

/// Adds the gradient of the loss: the negative log-probability of each target against all
/// candidates that are not targets.
fn add_gradient(question: &Question, weights: &Weights, share: f64, gradient: &mut Weights) {
    let is_target = |id: &DocId| question.targets.contains(id);
    let scored = question.candidates.iter().map(|(id, signals)| {
        (is_target(id), score(weights, signals).clamp(-50.0, 50.0).exp(), signals)
    });
    let scored: Vec<(bool, f64, &Signals)> = scored.collect();
    let others: f64 = scored.iter().filter(|(target, ..)| !target).map(|(_, e, _)| e).sum();
    let share = share / question.targets.len() as f64;
    let mut inverse = 0.0;
    let mut add = |signals: &Signals, factor: f64| {
        for (slope, signal) in gradient.iter_mut().zip(signals) {
            *slope += share * factor * f64::from(*signal) / 1e3;
        }
    };
    for (_, e, signals) in scored.iter().filter(|(target, ..)| *target) {
        add(signals, e / (others + e) - 1.0);
        inverse += 1.0 / (others + e);
    }
    for (_, e, signals) in scored.iter().filter(|(target, ..)| !target) {
        add(signals, e * inverse);
    }
}
