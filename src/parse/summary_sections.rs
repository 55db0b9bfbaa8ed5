//! Knows in which sections a summary is searched, by their names.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use super::excerpts::section_name;
use super::markdown::Heading;
use crate::model::rules;

/// Meaning of the name of a section for its first sentences.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum SectionKind {
    /// They state the decision.
    Decision,
    /// They summarise the document.
    Summary,
    /// They describe the proposal.
    Proposal,
    /// They introduce the document, as the text under the title does.
    Opening,
    /// They describe the effect of the decision, or the reasons for it.
    Effect,
    /// They describe the situation, or the name says nothing.
    Other,
    /// They are about other options, or about the document itself.
    Skipped,
}

/// Kinds by names of sections, and by starts of names.
struct Kinds {
    by_name: FxHashMap<&'static str, SectionKind>,
    by_start: Vec<(&'static str, SectionKind)>,
}

static KINDS: LazyLock<Kinds> = LazyLock::new(|| {
    let lines = rules::entries(include_str!("rules/summary_sections.txt"));
    let kinds = lines.filter_map(|line| line.split_once(": "));
    let (starts, names): (Vec<_>, Vec<_>) =
        kinds.map(|(kind, name)| (name, parse(kind))).partition(|(name, _)| name.ends_with('*'));
    let by_start = starts.into_iter().map(|(name, kind)| (name.trim_end_matches('*'), kind));
    Kinds { by_name: names.into_iter().collect(), by_start: by_start.collect() }
});

fn parse(kind: &str) -> SectionKind {
    match kind {
        "decision" => SectionKind::Decision,
        "summary" => SectionKind::Summary,
        "proposal" => SectionKind::Proposal,
        "opening" => SectionKind::Opening,
        "effect" => SectionKind::Effect,
        "skipped" => SectionKind::Skipped,
        other => panic!("no such kind of section: {other}"),
    }
}

impl SectionKind {
    pub(super) fn of(heading: &Heading) -> SectionKind {
        let name = heading.english.unwrap_or_else(|| section_name(&heading.title)).to_lowercase();
        let starts = || KINDS.by_start.iter().find(|(start, _)| name.starts_with(start));
        let kind = KINDS.by_name.get(&*name).or_else(|| starts().map(|(_, kind)| kind));
        kind.copied().unwrap_or(SectionKind::Other)
    }

    /// Returns the points of a sentence for being in a section of this kind.
    pub(super) fn points(self) -> i32 {
        match self {
            SectionKind::Decision => 25,
            SectionKind::Summary => 10,
            SectionKind::Opening => 6,
            SectionKind::Proposal => 0,
            SectionKind::Effect | SectionKind::Other | SectionKind::Skipped => -20,
        }
    }

    /// Returns the points of a sentence in a section of this kind that neither says that something
    /// is decided nor describes the situation.
    pub(super) fn points_of_statement(self) -> i32 {
        match self {
            SectionKind::Decision => 27,
            SectionKind::Proposal => 18,
            SectionKind::Summary => 10,
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_lower_case_and_sorted() {
        let lines: Vec<&str> = rules::entries(include_str!("rules/summary_sections.txt")).collect();
        assert!(lines.is_sorted_by(|a, b| a < b), "{lines:?}");
        assert!(lines.iter().all(|line| line.contains(": ") && *line == line.to_lowercase()));
    }
}
