//! Chooses the level of detail of each document so that a text fits its budget.

use std::collections::BinaryHeap;

use crate::model::byte_scan::prefix;
use crate::model::{Budget, Bundle, Candidate, Level};

mod levels;
pub mod tokens;

pub use levels::{fit_levels, fit_list};

/// Maximum number of steps that are tried one by one after the longest prefix that fits.
const MAX_TRIES: usize = 12;

/// A text and its size.
#[derive(Clone, Debug, Default)]
pub struct Fitted {
    /// The text.
    pub text: String,
    /// Its tokens, counted.
    pub tokens: u64,
}

/// One decision: show a candidate at a level.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Step {
    candidate: usize,
    level: Level,
}

/// Reasons why no text fits.
#[derive(Debug)]
pub enum FitError<E> {
    /// The text without any document is already over the budget.
    FrameTooLarge(Fitted),
    /// The text could not be rendered.
    Render(E),
}

/// Chooses as much as fits into the budget. `render` renders a bundle. Only a text whose tokens
/// were counted is returned, so the budget holds for any template.
pub fn fit<E>(
    candidates: &[Candidate],
    budget: &Budget,
    render: &mut dyn FnMut(&Bundle) -> Result<String, E>,
) -> Result<(Bundle, Fitted), FitError<E>> {
    let steps = steps(candidates, budget);
    let mut counter = tokens::Counter::default();
    let mut rendered = |bundle: &Bundle| -> Result<Fitted, FitError<E>> {
        let text = render(bundle).map_err(FitError::Render)?;
        // No real text has 24 bytes per token, so a longer one is over the budget uncounted.
        let tokens = if text.len() as u64 > budget.tokens.saturating_mul(24) {
            u64::MAX
        } else {
            counter.count(&text)
        };
        Ok(Fitted { text, tokens })
    };
    let fits = |fitted: &Fitted| budget.holds(fitted.tokens, fitted.text.len() as u64);
    let (mut best, mut n_taken) = (bundle_of(candidates, &[]), 0);
    let mut best_fitted = rendered(&best)?;
    if !fits(&best_fitted) {
        // A very long text was not counted, but the error message needs its tokens.
        let tokens = tokens::count(&best_fitted.text);
        return Err(FitError::FrameTooLarge(Fitted { tokens, ..best_fitted }));
    }
    let mut too_many = steps.len() + 1;
    let mut middle = guess(candidates, &steps, budget);
    while n_taken + 1 < too_many {
        let bundle = bundle_of(candidates, &steps[..middle]);
        let fitted = rendered(&bundle)?;
        // The first guess is usually close, so steps are small; halving makes the search end.
        let step = (too_many - n_taken).div_ceil(2).min(middle.div_ceil(8)).max(1);
        if fits(&fitted) {
            (best, best_fitted, n_taken) = (bundle, fitted, middle);
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
        let fitted = rendered(&bundle)?;
        if fits(&fitted) {
            (best, best_fitted) = (bundle, fitted);
        } else {
            taken.pop();
        }
    }
    Ok((best, best_fitted))
}

/// Cuts a text to at most `max` bytes, at a word, and adds the address of the whole text.
pub fn clip(text: &str, max: usize, uri: &str) -> String {
    let text = text.trim();
    if text.len() <= max {
        return text.to_string();
    }
    let start = prefix(text, max);
    let cut = start.rfind(['\n', ' ']).unwrap_or(start.len());
    format!("{}… Read {uri}", start[..cut].trim_end())
}

/// Cuts a text to at most `max_tokens` tokens, at a word, and adds the address of the whole text.
pub fn clip_to_tokens(text: &str, max_tokens: u64, uri: &str) -> String {
    let mut max = (max_tokens * 6) as usize;
    loop {
        let clipped = clip(text, max, uri);
        if tokens::count(&clipped) <= max_tokens || max < 8 {
            return clipped;
        }
        max = max * 9 / 10;
    }
}

/// Estimates the number of steps that fit, at four bytes per token.
fn guess(candidates: &[Candidate], steps: &[Step], budget: &Budget) -> usize {
    let max_bytes = budget.bytes.min(budget.tokens.saturating_mul(4));
    let mut n_bytes = 0;
    let fits = steps.iter().take_while(|step| {
        n_bytes += candidates[step.candidate].costs[step.level as usize];
        n_bytes <= max_bytes
    });
    fits.count().clamp(1, steps.len().max(1))
}

/// Returns true if the level below a step was taken.
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

/// Returns the highest level of each candidate that a budget could reach, or `None` if not even its
/// title. Levels beyond it cannot change the result of [`fit`].
pub fn reach(candidates: &[Candidate], budget: &Budget) -> Vec<Option<Level>> {
    let mut reached = vec![None; candidates.len()];
    for step in steps(candidates, budget) {
        reached[step.candidate] = reached[step.candidate].max(Some(step.level));
    }
    reached
}

/// Returns the steps in the order in which they are taken: titles of live documents by weight,
/// titles of history, then higher levels by value per byte. The list ends where the budget would be
/// exceeded even at eight bytes per token.
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

/// Returns the value of a level per byte. The factors are chosen so that every document gets a
/// first sentence before any gets a second paragraph. Among equals, the weight decides.
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
    bundle.hidden.sort_unstable();
    bundle.hidden_history.sort_unstable();
    bundle
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::DocId;

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

    fn render(bundle: &Bundle) -> Result<String, ()> {
        let words = |level: Level| "word ".repeat(4 + 16 * level as usize);
        let lines: Vec<String> = bundle
            .shown
            .iter()
            .map(|(id, level)| format!("- {} {}\n", id.0, words(*level)))
            .collect();
        Ok(format!("frame\n{}Not shown: {}\n", lines.concat(), bundle.hidden.len()))
    }

    #[test]
    fn a_bundle_is_within_its_budget_and_accounts_for_every_document() {
        for max in [0, 5, 20, 60, 300, 5_000] {
            let budget = Budget::new(max, 0, 9_500);
            let candidates = candidates(40);
            match fit(&candidates, &budget, &mut render) {
                Ok((bundle, fitted)) => {
                    assert!(tokens::count(&fitted.text) <= max && fitted.text.len() <= 9_500);
                    assert_eq!(
                        bundle.shown.len() + bundle.hidden.len() + bundle.hidden_history.len(),
                        40
                    );
                }
                Err(FitError::FrameTooLarge(frame)) => {
                    assert!(frame.tokens > max);
                    assert_eq!(frame.tokens, tokens::count(&frame.text));
                }
                Err(FitError::Render(())) => unreachable!("this renderer does not fail"),
            }
        }
    }

    #[test]
    fn a_clipped_text_is_within_its_tokens_and_names_its_uri() {
        let text = "some words of a longer text ".repeat(40);
        let clipped = clip_to_tokens(&text, 30, "blue://context/guide");
        assert!(tokens::count(&clipped) <= 30, "{clipped}");
        assert!(clipped.ends_with("… Read blue://context/guide"), "{clipped}");
        assert_eq!(clip_to_tokens(" short\n", 30, "blue://context/guide"), "short");
    }

    #[test]
    fn a_larger_budget_shows_more() {
        let shown = |max| {
            fit(&candidates(40), &Budget::new(max, 0, 9_500), &mut render)
                .map(|(b, _)| b.shown.len())
                .unwrap_or(0)
        };
        assert!(shown(60) < shown(300));
        assert_eq!(shown(5_000), 40);
    }
}
