//! A text at several levels of detail, and the choice of levels that fit a budget.

use super::{ProjectReader, Unread};
use crate::condense::tokens;
use crate::model::escape::escape_except;
use crate::model::{Level, Source};
use crate::parse;
use crate::root::Root;
use crate::wire::jsonl::DocumentLine;

/// Longer texts are not counted: each byte of them is taken for a token.
const MAX_COUNTED: usize = 1 << 18;

/// A text at several levels of detail.
pub struct Levels {
    /// Level, text and tokens, from the least detail to the most; never empty.
    texts: Vec<(Level, String, u64)>,
    /// True if the document changed since the build.
    pub stale: bool,
}

impl Levels {
    /// Returns a text that has one level only.
    pub fn whole(text: String, stale: bool) -> Levels {
        Levels::new(vec![(Level::Full, text)], stale)
    }

    fn new(texts: Vec<(Level, String)>, stale: bool) -> Levels {
        // A text of that length does not fit a budget; its exact number of tokens does not matter.
        let cost = |text: &str| match text.len() > MAX_COUNTED {
            true => text.len() as u64,
            false => tokens::count(text),
        };
        let counted = |(level, text): (Level, String)| {
            let n_tokens = cost(&text);
            (level, text, n_tokens)
        };
        Levels { texts: texts.into_iter().map(counted).collect(), stale }
    }

    /// The level, the text and the tokens of a step that [`fit`] chose.
    pub fn at(&self, step: usize) -> (Level, &str, u64) {
        let (level, text, n_tokens) = &self.texts[step];
        (*level, text, *n_tokens)
    }

    /// The most detailed level.
    pub fn most(&self) -> (Level, &str, u64) {
        self.at(self.texts.len() - 1)
    }
}

impl ProjectReader {
    /// Reads a document as it is now, at every level up to `most`.
    pub fn levels(&self, root: &Root, line: &DocumentLine, most: Level) -> Result<Levels, Unread> {
        let heading = heading(line);
        let one_line = match line.summary.as_str() {
            "" => heading.clone(),
            summary => format!("{heading}: {summary}"),
        };
        let mut texts = vec![(Level::Title, heading.clone()), (Level::Line, one_line)];
        let mut stale = false;
        if most > Level::Line {
            let document = self.document(root, line)?;
            let allowed = self.allowed(&line.path);
            stale = document.stale;
            let source = Source { bytes: document.bytes, sidecar: None };
            let longer = parse::texts(&source, &self.plan.limits, &allowed);
            let (brief, sections) = (longer.brief.trim(), longer.sections.trim());
            let below = |text: &str| format!("{heading}\n\n{}", escape_except(text, &allowed.kept));
            if !brief.is_empty() {
                texts.push((Level::Brief, below(brief)));
            }
            if !sections.is_empty() {
                let all = match longer.repeats() || brief.is_empty() {
                    true => below(sections),
                    false => below(&format!("{brief}\n\n{sections}")),
                };
                texts.push((Level::Sections, all));
            }
            texts.push((Level::Full, document.text));
        }
        texts.retain(|(level, _)| *level <= most);
        Ok(Levels::new(texts, stale))
    }
}

/// A document's type, number, title and status.
pub fn heading(line: &DocumentLine) -> String {
    let number = line.number.as_ref().map_or(String::new(), |number| format!(" {number}"));
    let replaced = match line.replaced_by.as_slice() {
        [] => String::new(),
        by => format!(", replaced by {}", by.join(" and ")),
    };
    format!("{}{number} {} ({}{replaced})", line.kind.to_uppercase(), line.title, line.status)
}

/// Chooses a step for each text so that all fit: first the least detail of each, in order, then one
/// level more for each while the budget lasts. `extra` is the cost of each beside its text.
pub fn fit(texts: &[&Levels], budget: u64, extra: u64) -> Vec<Option<usize>> {
    let mut rest = budget;
    let mut chosen: Vec<Option<usize>> = texts
        .iter()
        .map(|levels| {
            rest = rest.checked_sub(levels.at(0).2.saturating_add(extra))?;
            Some(0)
        })
        .collect();
    let n_steps = texts.iter().map(|levels| levels.texts.len()).max().unwrap_or(0);
    for step in 1..n_steps {
        for (levels, now) in texts.iter().zip(&mut chosen) {
            let Some(at) = now.filter(|_| step < levels.texts.len()) else { continue };
            // A longer level may take fewer tokens than the one below it.
            let more = levels.at(step).2.saturating_sub(levels.at(at).2);
            if more <= rest {
                rest -= more;
                *now = Some(step);
            }
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    fn levels(lengths: &[usize]) -> Levels {
        let levels = Level::ALL.into_iter().zip(lengths);
        Levels::new(levels.map(|(level, n)| (level, "word ".repeat(*n))).collect(), false)
    }

    #[test]
    fn every_text_gets_its_least_level_before_any_gets_more() {
        let (a, b) = (levels(&[2, 10, 50]), levels(&[2, 10, 50]));
        let tokens = |steps: &[Option<usize>]| -> u64 {
            steps
                .iter()
                .zip([&a, &b])
                .filter_map(|(step, levels)| Some(levels.at((*step)?).2))
                .sum()
        };
        assert_eq!(fit(&[&a, &b], 1_000, 0), [Some(2), Some(2)]);
        assert_eq!(fit(&[&a, &b], 70, 0), [Some(2), Some(1)]);
        assert_eq!(fit(&[&a, &b], 24, 0), [Some(1), Some(1)]);
        assert_eq!(fit(&[&a, &b], 4, 0), [Some(0), None]);
        for budget in 0..130 {
            assert!(tokens(&fit(&[&a, &b], budget, 0)) <= budget);
        }
    }
}
