//! Documents told at the level of detail that a budget allows.

use super::address::Failure;
use super::library::{Library, Open};
use super::read;
use crate::condense::tokens;
use crate::model::escape::escape_except;
use crate::model::{Level, Source};
use crate::parse;
use crate::wire::jsonl::DocumentLine;

/// The name of a level.
pub(super) fn name_of(level: Level) -> &'static str {
    match level {
        Level::Title => "title",
        Level::Line => "line",
        Level::Brief => "brief",
        Level::Sections => "sections",
        Level::Full => "full",
    }
}

/// The level of a name.
pub(super) fn level_of(name: &str) -> Option<Level> {
    Level::ALL.into_iter().find(|level| name_of(*level) == name)
}

/// Longer texts are not counted, but taken for a token a byte.
const MAX_COUNTED: usize = 1 << 18;

/// A text that can be told at several levels.
pub(super) struct Telling {
    /// From the least to the most, each with its level; never empty.
    texts: Vec<(Level, String)>,
    costs: Vec<u64>,
    pub(super) stale: bool,
}

impl Telling {
    /// A text that is told whole or not at all.
    pub(super) fn whole(text: String, stale: bool) -> Telling {
        Telling::new(vec![(Level::Full, text)], stale)
    }

    fn new(texts: Vec<(Level, String)>, stale: bool) -> Telling {
        // A text of that length is not read to a budget; its tokens need not be known to the last.
        let cost = |text: &str| match text.len() > MAX_COUNTED {
            true => text.len() as u64,
            false => tokens::count(text),
        };
        let costs = texts.iter().map(|(_, text)| cost(text)).collect();
        Telling { texts, costs, stale }
    }

    /// A document as it is now, at every level up to one.
    pub(super) fn document(
        library: &Library,
        open: &Open,
        line: &DocumentLine,
        most: Level,
    ) -> Result<Telling, Failure> {
        let head = head(line);
        let one_line = if line.summary.is_empty() {
            head.clone()
        } else {
            format!("{head}: {}", line.summary)
        };
        let mut texts = vec![(Level::Title, head.clone()), (Level::Line, one_line)];
        let mut stale = false;
        if most > Level::Line {
            let reader = library.reader(open);
            let allowed = reader.allowed(&line.path);
            let read = read::read_document(library, reader, line)?;
            let whole = read.text;
            stale = read.stale;
            let source = Source { bytes: read.bytes, sidecar: None };
            let longer = parse::texts(&source, &reader.plan.limits, &allowed);
            let repeats = longer.repeats();
            let (brief, sections) = (longer.brief.trim(), longer.sections.trim());
            let told = |text: &str| format!("{head}\n\n{}", escape_except(text, &allowed.kept));
            if !brief.is_empty() {
                texts.push((Level::Brief, told(brief)));
            }
            if !sections.is_empty() {
                let all = if repeats || brief.is_empty() {
                    sections.to_string()
                } else {
                    format!("{brief}\n\n{sections}")
                };
                texts.push((Level::Sections, told(&all)));
            }
            texts.push((Level::Full, whole));
        }
        texts.retain(|(level, _)| *level <= most);
        Ok(Telling::new(texts, stale))
    }
}

/// A document's number, title and status.
pub(super) fn head(line: &DocumentLine) -> String {
    let number = line.number.as_ref().map_or(String::new(), |number| format!(" {number}"));
    let replaced = match line.replaced_by.as_slice() {
        [] => String::new(),
        by => format!(", replaced by {}", by.join(" and ")),
    };
    format!("{}{number} {} ({}{replaced})", line.kind.to_uppercase(), line.title, line.status)
}

/// A telling that was chosen.
pub(super) struct Chosen<'a> {
    pub(super) level: Level,
    pub(super) text: &'a str,
    pub(super) tokens: u64,
}

/// Chooses a level for each so that all fit: first everyone's least, in order, then level by level
/// as much as there is room for. `extra` is what each costs beside its text.
pub(super) fn fit(tellings: &[&Telling], budget: u64, extra: u64) -> Vec<Option<usize>> {
    let mut left = budget;
    let mut chosen: Vec<Option<usize>> = tellings
        .iter()
        .map(|telling| {
            let cost = telling.costs[0].saturating_add(extra);
            left = left.checked_sub(cost)?;
            Some(0)
        })
        .collect();
    let most = tellings.iter().map(|telling| telling.texts.len()).max().unwrap_or(0);
    for step in 1..most {
        for (telling, now) in tellings.iter().zip(&mut chosen) {
            let Some(at) = now.filter(|_| step < telling.texts.len()) else { continue };
            // A longer level may take fewer tokens than the one below it.
            let more = telling.costs[step].saturating_sub(telling.costs[at]);
            if more <= left {
                left -= more;
                *now = Some(step);
            }
        }
    }
    chosen
}

impl Telling {
    /// The most there is.
    pub(super) fn most(&self) -> Chosen<'_> {
        self.at(self.texts.len() - 1)
    }

    /// The text of a step that [`fit`] chose.
    pub(super) fn at(&self, step: usize) -> Chosen<'_> {
        let (level, text) = &self.texts[step];
        Chosen { level: *level, text, tokens: self.costs[step] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn telling(lengths: &[usize]) -> Telling {
        let levels = Level::ALL.into_iter().zip(lengths);
        let texts = levels.map(|(level, n)| (level, "word ".repeat(*n))).collect();
        Telling::new(texts, false)
    }

    #[test]
    fn everyone_gets_a_little_before_anyone_gets_a_lot() {
        let (a, b) = (telling(&[2, 10, 50]), telling(&[2, 10, 50]));
        let tokens = |steps: &[Option<usize>]| -> u64 {
            steps.iter().zip([&a, &b]).filter_map(|(step, t)| step.map(|s| t.at(s).tokens)).sum()
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
