//! Where a document stands: one small set for the many words in use.

use std::fmt;

/// Where a document stands. The raw word is kept beside it.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Status {
    /// Being written; nothing is asked of anybody yet.
    Draft,
    /// Put to others for a decision.
    Proposed,
    /// Under way, or alive without an end in sight.
    Active,
    /// Decided and in force.
    Accepted,
    /// Decided and done.
    Implemented,
    /// A finished record of a conversation or an experiment.
    Recorded,
    /// Nobody works on it; it may come back.
    Paused,
    /// Decided against, or taken back by its author.
    Rejected,
    /// No longer advised, with nothing named in its place.
    Deprecated,
    /// Another document stands in its place.
    Superseded,
    /// Its text lives elsewhere now.
    Moved,
    /// It states a word that blue does not know.
    Unknown,
    /// It states nothing.
    Unstated,
}

impl Status {
    /// Every status, in order.
    pub const ALL: [Status; 13] = [
        Status::Draft,
        Status::Proposed,
        Status::Active,
        Status::Accepted,
        Status::Implemented,
        Status::Recorded,
        Status::Paused,
        Status::Rejected,
        Status::Deprecated,
        Status::Superseded,
        Status::Moved,
        Status::Unknown,
        Status::Unstated,
    ];

    /// Whether a document of this status may be told as current.
    pub fn live(self) -> bool {
        !matches!(
            self,
            Status::Paused
                | Status::Rejected
                | Status::Deprecated
                | Status::Superseded
                | Status::Moved
        )
    }

    /// Whether two statements of one document's status can both be true.
    pub fn agrees_with(self, other: Status) -> bool {
        let vague = |s: Status| matches!(s, Status::Unknown | Status::Unstated);
        let in_force = |s: Status| matches!(s, Status::Active | Status::Accepted);
        let finished = |s: Status| matches!(s, Status::Implemented | Status::Recorded);
        self == other
            || vague(self)
            || vague(other)
            || (in_force(self) && in_force(other))
            || (finished(self) && finished(other))
    }

    /// The word used in every emitted file.
    pub fn as_str(self) -> &'static str {
        match self {
            Status::Draft => "draft",
            Status::Proposed => "proposed",
            Status::Active => "active",
            Status::Accepted => "accepted",
            Status::Implemented => "implemented",
            Status::Recorded => "recorded",
            Status::Paused => "paused",
            Status::Rejected => "rejected",
            Status::Deprecated => "deprecated",
            Status::Superseded => "superseded",
            Status::Moved => "moved",
            Status::Unknown => "unknown",
            Status::Unstated => "unstated",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
