//! The documents chosen for one reader, each at a level of detail.

use super::DocId;

/// How much of a document is told.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Level {
    /// Number and title.
    Title,
    /// With one sentence.
    Line,
    /// With the summary or decision paragraph.
    Brief,
    /// With the parts that bind.
    Sections,
    /// Whole.
    Full,
}

impl Level {
    /// Every level, from the least to the most.
    pub const ALL: [Level; 5] =
        [Level::Title, Level::Line, Level::Brief, Level::Sections, Level::Full];
}

/// A document that may be told, and what each level of it would cost.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// Who.
    pub id: DocId,
    /// How much it matters.
    pub weight: u64,
    /// Bytes added by each level to the one before; 0 where the level adds nothing.
    pub costs: [u64; 5],
    /// Told as history: never beyond its title.
    pub history: bool,
}

impl Candidate {
    /// The next level above one that adds anything.
    pub fn next(&self, above: Level) -> Option<Level> {
        Level::ALL.into_iter().find(|level| *level > above && self.costs[*level as usize] > 0)
    }
}

/// What was chosen.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Bundle {
    /// The chosen documents with their level, in the graph's order.
    pub shown: Vec<(DocId, Level)>,
    /// Live documents that did not fit.
    pub hidden: Vec<DocId>,
    /// Documents of history that did not fit.
    pub hidden_history: Vec<DocId>,
}
