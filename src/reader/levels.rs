//! Reads a document at several levels of detail.

use super::{ProjectReader, Unread};
use crate::condense::{fit_levels, tokens};
use crate::model::escape::escape_except;
use crate::model::{Level, Source};
use crate::parse;
use crate::root::Root;
use crate::wire::jsonl::DocumentLine;

/// Size above which the tokens of a text are not counted. It does not fit any budget, so its size in
/// bytes is used instead.
const MAX_COUNTED: usize = 1 << 18;

/// A text at several levels of detail.
pub struct Levels {
    /// From the least detail to the most; never empty.
    texts: Vec<LevelText>,
    /// True if the document changed since the build.
    pub stale: bool,
}

/// A text at one level of detail.
pub struct LevelText {
    /// The level of detail.
    pub level: Level,
    /// The text.
    pub text: String,
    /// Number of tokens.
    pub tokens: u64,
}

impl LevelText {
    fn new(level: Level, text: String) -> LevelText {
        let is_counted = text.len() <= MAX_COUNTED;
        let tokens = if is_counted { tokens::count(&text) } else { text.len() as u64 };
        LevelText { level, text, tokens }
    }
}

impl Levels {
    /// Returns a text that has only the full level.
    pub fn whole(text: String, stale: bool) -> Levels {
        Levels { texts: vec![LevelText::new(Level::Full, text)], stale }
    }

    /// Returns the text with an index that [`fit`] chose.
    pub fn at(&self, index: usize) -> &LevelText {
        &self.texts[index]
    }

    /// Returns the most detailed text.
    pub fn most_detailed(&self) -> &LevelText {
        &self.texts[self.texts.len() - 1]
    }
}

impl ProjectReader {
    /// Reads the current text of a document at every level up to `max`.
    pub fn levels(&self, root: &Root, line: &DocumentLine, max: Level) -> Result<Levels, Unread> {
        let heading = heading(line);
        let one_line = match line.summary.as_str() {
            "" => heading.clone(),
            summary => format!("{heading}: {summary}"),
        };
        let mut texts = vec![(Level::Title, heading.clone()), (Level::Line, one_line)];
        let mut stale = false;
        if max > Level::Line {
            let document = self.document(root, line)?;
            let allowed = self.allowed(&line.path);
            stale = document.stale;
            let source = Source::new(&line.path, document.bytes, None);
            let excerpts = parse::texts(&source, &self.plan.limits, &allowed);
            let (brief, sections) = (excerpts.brief.trim(), excerpts.sections.trim());
            let with_heading =
                |text: &str| format!("{heading}\n\n{}", escape_except(text, &allowed.characters));
            if !brief.is_empty() {
                texts.push((Level::Brief, with_heading(brief)));
            }
            if !sections.is_empty() {
                let text = match excerpts.repeats() || brief.is_empty() {
                    true => with_heading(sections),
                    false => with_heading(&format!("{brief}\n\n{sections}")),
                };
                texts.push((Level::Sections, text));
            }
            texts.push((Level::Full, document.text));
        }
        let texts = texts.into_iter().filter(|(level, _)| *level <= max);
        let texts = texts.map(|(level, text)| LevelText::new(level, text)).collect();
        Ok(Levels { texts, stale })
    }
}

/// Formats a document's type, number, title and status.
pub fn heading(line: &DocumentLine) -> String {
    let number = line.number.as_ref().map_or(String::new(), |number| format!(" {number}"));
    let replaced = match line.replaced_by.as_slice() {
        [] => String::new(),
        by => format!(", replaced by {}", by.join(" and ")),
    };
    format!("{}{number} {} ({}{replaced})", line.kind.to_uppercase(), line.title, line.status)
}

/// Chooses for each document the index of a text so that all fit the budget. `extra` is the number of
/// tokens that each document needs beside its text.
pub fn fit<'a>(
    documents: impl Iterator<Item = &'a Levels>,
    budget: u64,
    extra: u64,
) -> Vec<Option<usize>> {
    let costs = |levels: &Levels| {
        levels.texts.iter().map(|text| text.tokens.saturating_add(extra)).collect()
    };
    fit_levels(&documents.map(costs).collect::<Vec<_>>(), budget)
}
