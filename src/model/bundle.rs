//! The documents chosen for one text, each with its level of detail.

use super::DocId;

/// The level of detail at which a document is rendered.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Level {
    /// Number and title only.
    Title,
    /// Adds one sentence.
    Line,
    /// Adds the summary or decision paragraph.
    Brief,
    /// Adds the sections with the rules that the document sets.
    Sections,
    /// The whole document.
    Full,
}

impl Level {
    /// All levels, from least to most detailed.
    pub const ALL: [Level; 5] =
        [Level::Title, Level::Line, Level::Brief, Level::Sections, Level::Full];

    /// The levels at which a list shows a document.
    pub const LISTED: [Level; 3] = [Level::Title, Level::Line, Level::Brief];

    /// Returns the name used in answers and arguments.
    pub fn name(self) -> &'static str {
        match self {
            Level::Title => "title",
            Level::Line => "line",
            Level::Brief => "brief",
            Level::Sections => "sections",
            Level::Full => "full",
        }
    }

    /// Returns the level of a name.
    pub fn parse(name: &str) -> Option<Level> {
        Level::ALL.into_iter().find(|level| level.name() == name)
    }
}

/// A document that may be rendered, with the cost of each level of detail.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The document.
    pub id: DocId,
    /// Importance: documents with more weight get more detail.
    pub weight: u64,
    /// Bytes that each of [`Level::LISTED`] adds to the one below it; 0 if it adds nothing.
    pub costs: [u64; 3],
    /// True if only its title is rendered, after all others: history, or a proposal among decisions.
    pub is_last: bool,
}

impl Candidate {
    /// Returns the next level above `above` that adds anything.
    pub fn next_level(&self, above: Level) -> Option<Level> {
        Level::LISTED.into_iter().find(|level| *level > above && self.costs[*level as usize] > 0)
    }
}

/// The documents chosen for one text.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Bundle {
    /// The chosen documents with their level, in the graph's order.
    pub shown: Vec<(DocId, Level)>,
    /// Documents that did not fit.
    pub hidden: Vec<DocId>,
    /// Documents that only their titles would have shown, and that did not fit.
    pub hidden_last: Vec<DocId>,
}
