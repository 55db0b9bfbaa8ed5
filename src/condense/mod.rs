//! Chooses levels of detail so that a text fits its budget.

use std::collections::BinaryHeap;

use crate::model::{Budget, Bundle, Candidate, DocId, Level};

pub mod tokens;

/// Steps tried one by one after the longest prefix that fits.
const MAX_TRIES: usize = 12;

/// A text and its size.
#[derive(Clone, Debug, Default)]
pub struct Fitted {
    /// The text.
    pub text: String,
    /// Its tokens, counted.
    pub tokens: u64,
}

/// One decision: tell a candidate at a level.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Step {
    candidate: usize,
    level: Level,
}

/// Why nothing could be chosen.
#[derive(Debug)]
pub enum Misfit<E> {
    /// Even the frame without any document is over the budget.
    Frame(Fitted),
    /// The text could not be made.
    Telling(E),
}

/// Chooses the most that fits. `tell` makes the text of a bundle; only a text that was made and
/// counted is ever accepted, so the budget is hard whatever the template does.
pub fn fit<E>(
    candidates: &[Candidate],
    budget: &Budget,
    tell: &mut dyn FnMut(&Bundle) -> Result<String, E>,
) -> Result<(Bundle, Fitted), Misfit<E>> {
    let steps = steps(candidates, budget);
    let mut counter = tokens::Counter::default();
    let mut told = |bundle: &Bundle| -> Result<Fitted, Misfit<E>> {
        let text = tell(bundle).map_err(Misfit::Telling)?;
        // A text of two dozen bytes a token does not occur; far too long ones need no counting.
        let tokens = if text.len() as u64 > budget.tokens.saturating_mul(24) {
            u64::MAX
        } else {
            counter.count(&text)
        };
        Ok(Fitted { text, tokens })
    };
    let holds = |told: &Fitted| budget.holds(told.tokens, told.text.len() as u64);
    let (mut best, mut n_taken) = (bundle_of(candidates, &[]), 0);
    let mut best_told = told(&best)?;
    if !holds(&best_told) {
        // It may not have been counted, but whoever is told should know by how much it is over.
        let tokens = tokens::count(&best_told.text);
        return Err(Misfit::Frame(Fitted { tokens, ..best_told }));
    }
    let mut too_many = steps.len() + 1;
    let mut middle = guess(candidates, &steps, budget);
    while n_taken + 1 < too_many {
        let bundle = bundle_of(candidates, &steps[..middle]);
        let text = told(&bundle)?;
        // Sizes tell how far off the guess was; halves make sure that the search ends.
        let step = (too_many - n_taken).div_ceil(2).min(middle.div_ceil(8)).max(1);
        if holds(&text) {
            (best, best_told, n_taken) = (bundle, text, middle);
            middle = (middle + step).min(too_many - 1);
        } else {
            too_many = middle;
            middle = middle.saturating_sub(step).max(n_taken + 1);
        }
    }
    let mut taken: Vec<Step> = steps[..n_taken].to_vec();
    for step in steps[n_taken..].iter().skip(1).take(MAX_TRIES) {
        if !follows(&taken, step, candidates) {
            continue;
        }
        taken.push(*step);
        let bundle = bundle_of(candidates, &taken);
        let text = told(&bundle)?;
        if holds(&text) {
            (best, best_told) = (bundle, text);
        } else {
            taken.pop();
        }
    }
    Ok((best, best_told))
}

/// How many steps will fit, at four bytes a token.
fn guess(candidates: &[Candidate], steps: &[Step], budget: &Budget) -> usize {
    let room = budget.bytes.min(budget.tokens.saturating_mul(4));
    let mut n_bytes = 0;
    let fits = steps.iter().take_while(|step| {
        n_bytes += candidates[step.candidate].costs[step.level as usize];
        n_bytes <= room
    });
    fits.count().clamp(1, steps.len().max(1))
}

/// Whether the level below a step was taken.
fn follows(taken: &[Step], step: &Step, candidates: &[Candidate]) -> bool {
    let below = Level::ALL.into_iter().filter(|level| *level < step.level);
    let below = below.rev().find(|level| {
        *level == Level::Title || candidates[step.candidate].costs[*level as usize] > 0
    });
    match below {
        None => true,
        Some(level) => taken.contains(&Step { candidate: step.candidate, level }),
    }
}

/// The highest level of each candidate that a budget could reach; `None` if not even its title.
/// What lies beyond cannot change what [`fit`] chooses.
pub fn reach(candidates: &[Candidate], budget: &Budget) -> Vec<Option<Level>> {
    let mut reached = vec![None; candidates.len()];
    for step in steps(candidates, budget) {
        reached[step.candidate] = reached[step.candidate].max(Some(step.level));
    }
    reached
}

/// Every step worth taking, in order: live titles by weight, history, then the raises that give
/// most per byte. Ends where the budget could not reach even at eight bytes a token.
fn steps(candidates: &[Candidate], budget: &Budget) -> Vec<Step> {
    let bound = budget.bytes.min(budget.tokens.saturating_mul(8));
    let mut by_weight: Vec<usize> = (0..candidates.len()).collect();
    by_weight
        .sort_by_key(|i| (candidates[*i].history, std::cmp::Reverse(candidates[*i].weight), *i));
    let mut n_bytes = 0;
    let mut steps: Vec<Step> = Vec::new();
    for candidate in by_weight {
        n_bytes += candidates[candidate].costs[Level::Title as usize];
        if n_bytes > bound {
            return steps;
        }
        steps.push(Step { candidate, level: Level::Title });
    }
    let mut heap: BinaryHeap<(u64, std::cmp::Reverse<usize>, Level)> = BinaryHeap::new();
    let push = |heap: &mut BinaryHeap<_>, i: usize, above: Level| {
        let candidate = &candidates[i];
        if let Some(level) = candidate.next_level(above).filter(|_| !candidate.history) {
            heap.push((value_per_byte(candidate, level), std::cmp::Reverse(i), level));
        }
    };
    for i in 0..candidates.len() {
        push(&mut heap, i, Level::Title);
    }
    while let Some((_, std::cmp::Reverse(candidate), level)) = heap.pop() {
        n_bytes += candidates[candidate].costs[level as usize];
        if n_bytes > bound {
            break;
        }
        steps.push(Step { candidate, level });
        push(&mut heap, candidate, level);
    }
    steps
}

/// What a level is worth, per byte it costs. A first sentence of every document comes before the
/// second paragraph of any; among equals, weight decides.
fn value_per_byte(candidate: &Candidate, level: Level) -> u64 {
    let gain = match level {
        Level::Title => 0,
        Level::Line => 4_000_000,
        Level::Brief => 400_000,
        Level::Sections => 100_000,
        Level::Full => 40_000,
    };
    gain * (100 + candidate.weight.min(10_000)) / candidate.costs[level as usize].max(1)
}

fn bundle_of(candidates: &[Candidate], steps: &[Step]) -> Bundle {
    let mut levels: Vec<Option<Level>> = vec![None; candidates.len()];
    for step in steps {
        levels[step.candidate] = levels[step.candidate].max(Some(step.level));
    }
    let mut bundle = Bundle::default();
    for (candidate, level) in candidates.iter().zip(levels) {
        match level {
            Some(level) => bundle.shown.push((candidate.id, level)),
            None if candidate.history => bundle.hidden_history.push(candidate.id),
            None => bundle.hidden.push(candidate.id),
        }
    }
    bundle.shown.sort_unstable();
    let sort = |ids: &mut Vec<DocId>| ids.sort_unstable();
    sort(&mut bundle.hidden);
    sort(&mut bundle.hidden_history);
    bundle
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidates(n: u32) -> Vec<Candidate> {
        (0..n)
            .map(|i| Candidate {
                id: DocId(i),
                weight: u64::from(i % 7),
                costs: [20, 80, 200, 0, 0],
                history: i % 5 == 4,
            })
            .collect()
    }

    fn tell(bundle: &Bundle) -> Result<String, ()> {
        let words = |level: Level| "word ".repeat(4 + 16 * level as usize);
        let lines: Vec<String> = bundle
            .shown
            .iter()
            .map(|(id, level)| format!("- {} {}\n", id.0, words(*level)))
            .collect();
        Ok(format!("frame\n{}Not shown: {}\n", lines.concat(), bundle.hidden.len()))
    }

    #[test]
    fn a_bundle_never_exceeds_its_budget_and_loses_nobody() {
        for max in [0, 5, 20, 60, 300, 5_000] {
            let budget = Budget::new(max, 0, 9_500);
            let candidates = candidates(40);
            match fit(&candidates, &budget, &mut tell) {
                Ok((bundle, told)) => {
                    assert!(tokens::count(&told.text) <= max && told.text.len() <= 9_500);
                    assert_eq!(
                        bundle.shown.len() + bundle.hidden.len() + bundle.hidden_history.len(),
                        40
                    );
                }
                Err(Misfit::Frame(told)) => {
                    assert!(told.tokens > max);
                    assert_eq!(told.tokens, tokens::count(&told.text));
                }
                Err(Misfit::Telling(())) => unreachable!("telling cannot go wrong here"),
            }
        }
    }

    #[test]
    fn a_larger_budget_tells_more() {
        let shown = |max| {
            fit(&candidates(40), &Budget::new(max, 0, 9_500), &mut tell)
                .map(|(b, _)| b.shown.len())
                .unwrap_or(0)
        };
        assert!(shown(60) < shown(300));
        assert_eq!(shown(5_000), 40);
    }
}
