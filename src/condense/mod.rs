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

/// The order in which details are added until the budget is used.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Order {
    /// All titles first, then more of each document by value per byte.
    TitlesFirst,
    /// Titles and sentences of the documents with the most weight, up to some bytes. Then the titles
    /// of the others, and then more of each by value per byte.
    SentencesFirst {
        /// Bytes for these titles and sentences.
        bytes: u64,
    },
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
    order: Order,
    budget: &Budget,
    render: &mut dyn FnMut(&Bundle) -> Result<String, E>,
) -> Result<(Bundle, Fitted), FitError<E>> {
    let steps = steps(candidates, order, budget);
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
    let below = Level::LISTED.into_iter().filter(|level| *level < step.level);
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
pub fn reach(candidates: &[Candidate], order: Order, budget: &Budget) -> Vec<Option<Level>> {
    let mut reached = vec![None; candidates.len()];
    for step in steps(candidates, order, budget) {
        reached[step.candidate] = reached[step.candidate].max(Some(step.level));
    }
    reached
}

/// Returns the steps in the order in which they are taken: sentences of the first documents if the
/// order asks for them, titles of the others by weight, then higher levels by value per byte. The
/// list ends where the budget would be exceeded even at eight bytes per token.
fn steps(candidates: &[Candidate], order: Order, budget: &Budget) -> Vec<Step> {
    let bound = budget.bytes.min(budget.tokens.saturating_mul(8));
    let mut by_weight: Vec<usize> = (0..candidates.len()).collect();
    by_weight
        .sort_by_key(|i| (candidates[*i].is_last, std::cmp::Reverse(candidates[*i].weight), *i));
    let mut n_bytes = 0;
    let mut steps: Vec<Step> = Vec::new();
    let n_sentences = match order {
        Order::TitlesFirst => 0,
        Order::SentencesFirst { bytes } => n_sentences(candidates, &by_weight, bytes.min(bound)),
    };
    let mut taken = vec![Level::Title; candidates.len()];
    for (position, candidate) in by_weight.into_iter().enumerate() {
        let costs = &candidates[candidate].costs;
        n_bytes += costs[Level::Title as usize];
        if n_bytes > bound {
            return steps;
        }
        steps.push(Step { candidate, level: Level::Title });
        if position < n_sentences && costs[Level::Line as usize] > 0 {
            n_bytes += costs[Level::Line as usize];
            steps.push(Step { candidate, level: Level::Line });
            taken[candidate] = Level::Line;
        }
    }
    let mut heap: BinaryHeap<(u64, std::cmp::Reverse<usize>, Level)> = BinaryHeap::new();
    let push = |heap: &mut BinaryHeap<_>, i: usize, above: Level| {
        let candidate = &candidates[i];
        if let Some(level) = candidate.next_level(above).filter(|_| !candidate.is_last) {
            heap.push((value_per_byte(candidate, level), std::cmp::Reverse(i), level));
        }
    };
    for (i, level) in taken.into_iter().enumerate() {
        push(&mut heap, i, level);
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

/// Returns the number of candidates, in an order, whose titles and sentences fit into some bytes.
fn n_sentences(candidates: &[Candidate], order: &[usize], bytes: u64) -> usize {
    let mut n_bytes = 0;
    let fits = order.iter().map(|i| &candidates[*i]).take_while(|candidate| {
        n_bytes += candidate.costs[Level::Title as usize] + candidate.costs[Level::Line as usize];
        !candidate.is_last && n_bytes <= bytes
    });
    fits.count()
}

/// Returns the value of a level per byte. The factors are chosen so that every document gets a
/// first sentence before any gets a second paragraph. Among equals, the weight decides.
fn value_per_byte(candidate: &Candidate, level: Level) -> u64 {
    let gain = match level {
        Level::Line => 4_000_000,
        Level::Brief => 400_000,
        Level::Title | Level::Sections | Level::Full => 0,
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
            None if candidate.is_last => bundle.hidden_last.push(candidate.id),
            None => bundle.hidden.push(candidate.id),
        }
    }
    bundle.shown.sort_unstable();
    bundle.hidden.sort_unstable();
    bundle.hidden_last.sort_unstable();
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
                costs: [20, 80, 200],
                is_last: i % 5 == 4,
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
            match fit(&candidates, Order::TitlesFirst, &budget, &mut render) {
                Ok((bundle, fitted)) => {
                    assert!(tokens::count(&fitted.text) <= max && fitted.text.len() <= 9_500);
                    assert_eq!(
                        bundle.shown.len() + bundle.hidden.len() + bundle.hidden_last.len(),
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
    fn sentences_of_the_heaviest_documents_can_come_before_the_titles_of_others() {
        let levels = |order| {
            let (bundle, _) =
                fit(&candidates(40), order, &Budget::new(150, 0, 9_500), &mut render).unwrap();
            let n_sentences = bundle.shown.iter().filter(|(_, level)| *level == Level::Line);
            (n_sentences.count(), bundle.shown.len())
        };
        let (n_sentences, n_shown) = levels(Order::TitlesFirst);
        assert_eq!(n_sentences, 0);
        let (n_first, n_shown_with_sentences) = levels(Order::SentencesFirst { bytes: 250 });
        assert!(n_first == 2 && n_shown_with_sentences > 2 && n_shown_with_sentences < n_shown);
    }

    #[test]
    fn a_larger_budget_shows_more() {
        let shown = |max| {
            fit(&candidates(40), Order::TitlesFirst, &Budget::new(max, 0, 9_500), &mut render)
                .map(|(b, _)| b.shown.len())
                .unwrap_or(0)
        };
        assert!(shown(60) < shown(300));
        assert_eq!(shown(5_000), 40);
    }
}
