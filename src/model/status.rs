//! The status of a document. `status_words` maps the many words in use to this set.

use std::fmt;

/// The status of a document. The word as written is stored separately.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Status {
    /// Being written, and not proposed to anyone yet.
    Draft,
    /// Submitted for a decision.
    Proposed,
    /// In progress, or maintained without an end date.
    Active,
    /// Decided and in force.
    Accepted,
    /// Decided and carried out.
    Implemented,
    /// A finished record of a conversation or an experiment.
    Recorded,
    /// Not worked on, but may be resumed.
    Paused,
    /// Decided against, or withdrawn by its author.
    Rejected,
    /// No longer recommended, without a replacement.
    Deprecated,
    /// Replaced by another document.
    Superseded,
    /// Moved to another place.
    Moved,
    /// The document states a word that blue does not know.
    Unknown,
    /// The document states no status.
    Unstated,
}

impl Status {
    /// All statuses, in order.
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

    /// Returns true if a document with this status can be presented as current.
    pub fn is_live(self) -> bool {
        !matches!(
            self,
            Status::Paused
                | Status::Rejected
                | Status::Deprecated
                | Status::Superseded
                | Status::Moved
        )
    }

    /// Returns true if nothing is decided yet.
    pub fn is_proposal(self) -> bool {
        matches!(self, Status::Draft | Status::Proposed)
    }

    /// Returns true if two statements about one document's status can both be true.
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

    /// Returns the word used in every emitted file.
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
