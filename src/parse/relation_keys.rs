//! Maps the names of header fields and sections to relations, and splits their values.

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

/// Returns true for a field that says why a document is no longer valid: `withdrawal-reason`.
pub(super) fn is_reason(key: &str) -> bool {
    key.strip_suffix(" reason").is_some_and(|what| {
        matches!(what, "withdrawal" | "deprecation" | "rejection" | "removal" | "status")
    })
}

/// Returns the text after the number at the start of a field's value.
pub(super) fn after_number(item: &str) -> &str {
    item.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '#' | '[' | '"' | '\''))
}

/// Removes everything in parentheses: `0004 (Evidence)` becomes `0004`.
pub(super) fn without_parentheses(value: &str) -> String {
    let mut depth = 0u32;
    let mut outside = String::with_capacity(value.len());
    for c in value.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            c if depth == 0 => outside.push(c),
            _ => {}
        }
    }
    outside
}
