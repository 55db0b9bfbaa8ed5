//! Maps the names of header fields and sections to relations.

use crate::model::Relation;
use crate::model::series::known_series;

/// Returns the relation that a header field or a section of this name gives to its references.
pub(super) fn relation_of_key(key: &str) -> Option<Relation> {
    exact(key).or_else(|| {
        // "supersedes adr" is "supersedes".
        let (verb, series) = key.rsplit_once(' ')?;
        known_series(series).and_then(|_| exact(verb))
    })
}

fn exact(key: &str) -> Option<Relation> {
    Some(match key {
        "depends on" | "depends" | "requires" | "require" | "dependencies" | "prerequisites"
        | "blocked by" | "depends upon" | "required by this" => Relation::DependsOn,
        "supersedes" | "replaces" | "obsoletes" | "supercedes" | "supersede" => {
            Relation::Supersedes
        }
        "superseded by" | "replaced by" | "obsoleted by" | "superceded by" | "supersededby"
        | "replacement" | "successor" => Relation::SupersededBy,
        "source"
        | "source spike"
        | "source spikes"
        | "source dialogue"
        | "spike"
        | "spikes"
        | "dialogue"
        | "dialogues"
        | "alignment dialogue"
        | "alignment dialogues"
        | "derived from"
        | "origin"
        | "ported from"
        | "based on"
        | "source rfc" => Relation::Source,
        "related"
        | "related to"
        | "relates to"
        | "see also"
        | "references"
        | "reference"
        | "related rfcs"
        | "related adrs"
        | "related decisions"
        | "related documents"
        | "related proposals"
        | "related work"
        | "links"
        | "updates"
        | "updated by"
        | "amends"
        | "amended by"
        | "extends"
        | "extended by"
        | "downstream"
        | "upstream"
        | "outcome"
        | "related links"
        | "linked documents"
        | "clarifies"
        | "related features"
        | "proposed replacement"
        | "parent"
        | "parent task id"
        | "parent task"
        | "parent id" => Relation::Related,
        _ => return None,
    })
}
