//! Renders sections of lines within a budget. Lines that do not fit are counted, fixed ones never cut.

use std::collections::BTreeSet;

use crate::condense::{self, FitError, Fitted, Order};
use crate::model::plural::counted;
use crate::model::{Budget, Bundle, Candidate, DocId};

/// A heading with lines below it.
#[derive(Clone, Debug, Default)]
pub struct LineSection {
    /// The heading; empty for none.
    pub heading: &'static str,
    /// The lines, the most needed first.
    pub lines: Vec<Line>,
}

/// One line of a section.
#[derive(Clone, Debug, Default)]
pub struct Line {
    /// Its text, escaped.
    pub text: String,
    /// The file that has more about it.
    pub link: Option<FileLink>,
    /// True if the text is an error without it.
    pub is_fixed: bool,
}

/// A file of the container, by its path below the folder.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum FileLink {
    /// A file to open.
    File(String),
    /// A line of a file, such as `memory/events.md#L3`.
    Place(String),
}

/// Form of the links in a text.
#[derive(Clone, Debug)]
pub enum LinkForm {
    /// Markdown links, relative to the file that has them; the prefix leads to the container.
    Relative(String),
    /// Paths below the container, which the text names once.
    Path,
}

impl Line {
    /// Creates a line that may be cut.
    pub fn new(text: impl Into<String>) -> Line {
        Line { text: text.into(), link: None, is_fixed: false }
    }

    /// Adds a link to a file.
    pub fn file(mut self, path: &str) -> Line {
        self.link = Some(FileLink::File(path.to_string()));
        self
    }

    /// Adds a link to a line of a file.
    pub fn place(mut self, place: String) -> Line {
        self.link = Some(FileLink::Place(place));
        self
    }

    /// Marks the line as one that is never cut.
    pub fn fixed(mut self) -> Line {
        self.is_fixed = true;
        self
    }

    fn render(&self, form: &LinkForm) -> String {
        let link = match (&self.link, form) {
            (None, _) => String::new(),
            (Some(FileLink::File(path)), LinkForm::Relative(prefix)) => {
                let name = path.rsplit('/').next().unwrap_or(path);
                format!("[{name}]({prefix}{path})")
            }
            (Some(FileLink::File(path) | FileLink::Place(path)), LinkForm::Path) => path.clone(),
            (Some(FileLink::Place(place)), LinkForm::Relative(_)) => place.clone(),
        };
        match (self.text.as_str(), link.as_str()) {
            (text, "") => format!("- {text}\n"),
            ("", link) => format!("- {link}\n"),
            (text, link) => format!("- {text} ({link})\n"),
        }
    }
}

/// A text within its budget, and the files that it links to.
#[derive(Clone, Debug, Default)]
pub struct Composed {
    /// The text.
    pub fitted: Fitted,
    /// Paths below the container.
    pub links: BTreeSet<String>,
}

/// Renders sections within a budget. `wrap` adds everything around them. The error is the text with
/// fixed lines only, if that is over the budget.
pub fn compose(
    sections: &[LineSection],
    form: &LinkForm,
    budget: &Budget,
    wrap: &dyn Fn(&str) -> String,
) -> Result<Composed, Fitted> {
    let rendered: Vec<Vec<String>> = sections
        .iter()
        .map(|section| section.lines.iter().map(|line| line.render(form)).collect())
        .collect();
    let mut candidates = Vec::new();
    let mut places = Vec::new();
    for (row, section) in sections.iter().enumerate() {
        for (at, _) in section.lines.iter().enumerate().filter(|(_, line)| !line.is_fixed) {
            let costs = [rendered[row][at].len() as u64, 0, 0];
            // The first lines of every section come before the second lines of any.
            let weight = 10_000u64.saturating_sub(at as u64);
            let id = DocId(candidates.len() as u32);
            candidates.push(Candidate { id, weight, costs, is_last: false });
            places.push((row, at));
        }
    }
    let shown = |bundle: &Bundle| -> Vec<(usize, usize)> {
        bundle.shown.iter().map(|(id, _)| places[id.0 as usize]).collect()
    };
    let mut render = |bundle: &Bundle| -> Result<String, std::convert::Infallible> {
        Ok(wrap(&text(sections, &rendered, &shown(bundle))))
    };
    match condense::fit(&candidates, Order::TitlesFirst, budget, &mut render) {
        Ok((bundle, fitted)) => Ok(Composed { fitted, links: links(sections, &shown(&bundle)) }),
        Err(FitError::FrameTooLarge(fitted)) => Err(fitted),
        Err(FitError::Render(never)) => match never {},
    }
}

/// Returns the files that fixed lines and those that are shown link to.
fn links(sections: &[LineSection], shown: &[(usize, usize)]) -> BTreeSet<String> {
    let mut links = BTreeSet::new();
    for (row, section) in sections.iter().enumerate() {
        for (at, line) in section.lines.iter().enumerate() {
            if let Some(FileLink::File(path)) = &line.link
                && (line.is_fixed || shown.binary_search(&(row, at)).is_ok())
            {
                links.insert(path.clone());
            }
        }
    }
    links
}

/// Renders the fixed lines and those that are shown. `shown` is sorted.
fn text(sections: &[LineSection], rendered: &[Vec<String>], shown: &[(usize, usize)]) -> String {
    let mut text = String::new();
    let mut n_hidden = 0;
    for (row, section) in sections.iter().enumerate() {
        let mut lines = String::new();
        for (at, line) in section.lines.iter().enumerate() {
            match line.is_fixed || shown.binary_search(&(row, at)).is_ok() {
                true => lines += &rendered[row][at],
                false => n_hidden += 1,
            }
        }
        if !lines.is_empty() {
            if !section.heading.is_empty() {
                text += &format!("\n## {}\n\n", section.heading);
            }
            text += &lines;
        }
    }
    if n_hidden > 0 {
        text += &format!("\nNot shown: {}.\n", counted(n_hidden, "line"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_cut_evenly_and_counted_and_fixed_ones_stay() {
        let lines = |name: &str| (0..30).map(|i| Line::new(format!("{name} {i}"))).collect();
        let mut sections = vec![
            LineSection { heading: "One", lines: lines("one") },
            LineSection { heading: "Two", lines: lines("two") },
        ];
        sections[1].lines[29].is_fixed = true;
        let form = LinkForm::Path;
        let wrap = |text: &str| text.to_string();
        let budget = Budget::new(100, 0, 9_500);
        let fitted = compose(&sections, &form, &budget, &wrap).expect("it fits").fitted;
        assert!(fitted.tokens <= 100);
        assert!(fitted.text.contains("- two 29\n"), "{}", fitted.text);
        assert!(fitted.text.contains("- one 3\n") && fitted.text.contains("- two 3\n"));
        assert!(fitted.text.contains("\nNot shown: "), "{}", fitted.text);
        assert!(compose(&sections, &form, &Budget::new(3, 0, 9_500), &wrap).is_err());
    }

    #[test]
    fn links_are_relative_in_files_and_paths_in_bundles() {
        let line = Line::new("The kernel").file("persona/kernel.md");
        assert_eq!(line.render(&LinkForm::Path), "- The kernel (persona/kernel.md)\n");
        let relative = LinkForm::Relative("../".to_string());
        assert_eq!(line.render(&relative), "- The kernel ([kernel.md](../persona/kernel.md))\n");
        let event = Line::new("e").place("memory/events.md#L3".to_string());
        assert_eq!(event.render(&relative), "- e (memory/events.md#L3)\n");
    }
}
