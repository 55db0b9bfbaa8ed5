//! Recognises headings that name a section or a kind of document instead of its subject.

use std::borrow::Cow;
use std::sync::LazyLock;

use rustc_hash::FxHashSet;

use super::translated_names::english;
use crate::model::rules;

static SECTIONS: LazyLock<FxHashSet<&str>> =
    LazyLock::new(|| rules::entries(include_str!("rules/section_names.txt")).collect());

static COVERS: LazyLock<FxHashSet<&str>> =
    LazyLock::new(|| rules::entries(include_str!("rules/cover_names.txt")).collect());

static PLACEHOLDERS: LazyLock<FxHashSet<&str>> =
    LazyLock::new(|| rules::entries(include_str!("rules/placeholder_titles.txt")).collect());

/// The longest heading that can be a name in any language, in bytes; decorations need a few.
const MAX_BYTES: usize = 64;

/// Texts that join two names.
const JOINTS: [&str; 6] = ["/", " & ", " and ", " And ", " + ", ", "];

/// Returns true if a heading names a section of many documents, so that it cannot be a title.
/// Nor can one that joins such names: `Summary / Motivation`, `Context & Goals`.
pub(super) fn is_section_name(heading: &str) -> bool {
    contains(&SECTIONS, heading)
        || heading.len() <= MAX_BYTES
            && JOINTS.iter().any(|joint| {
                heading.contains(joint)
                    && heading.split(joint).all(|part| contains(&SECTIONS, part))
            })
}

/// Returns true if a heading says only that a header or a document of some kind follows.
pub(super) fn is_cover_name(heading: &str) -> bool {
    contains(&COVERS, heading)
}

/// Returns true for a title that is left from a template: `3. Short descriptive title`.
pub(super) fn is_placeholder_name(title: &str) -> bool {
    title.len() <= MAX_BYTES + 4 && PLACEHOLDERS.contains(&*normal_name(title))
}

fn contains(names: &FxHashSet<&str>, heading: &str) -> bool {
    if heading.len() > MAX_BYTES {
        return false;
    }
    let name = normal_name(heading);
    let name = english(&name).unwrap_or(&name);
    names.contains(name)
}

/// Normalizes a heading: lower case, without a number in front and punctuation at either end.
pub(super) fn normal_name(heading: &str) -> Cow<'_, str> {
    let heading = heading.trim_start_matches(|c: char| !c.is_alphabetic());
    let heading = heading.trim_end_matches(|c: char| !c.is_alphanumeric());
    match heading.bytes().any(|b| b.is_ascii_uppercase() || !b.is_ascii()) {
        true => Cow::Owned(heading.to_lowercase()),
        false => Cow::Borrowed(heading),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decorated_section_names_are_recognised() {
        for heading in ["Summary", "1. Motivation", "**Context:**", "🎯 Goals", "TL;DR", "Why?"] {
            assert!(is_section_name(heading), "{heading}");
        }
        assert!(is_cover_name("## Preamble"));
        assert!(!is_section_name("Summary tables for reports"));
        for heading in
            ["Summary / Motivation", "Context and problem", "Summary & Motivation", "Goals/Scope"]
        {
            assert!(is_section_name(heading), "{heading}");
        }
        for heading in ["Design and cache", "Summary / Index files", "/", "Sand and testing"] {
            assert!(!is_section_name(heading), "{heading}");
        }
    }

    #[test]
    fn names_are_normal_sorted_and_in_one_list() {
        let sections: Vec<&str> = rules::entries(include_str!("rules/section_names.txt")).collect();
        let covers: Vec<&str> = rules::entries(include_str!("rules/cover_names.txt")).collect();
        for names in [&sections, &covers] {
            assert!(names.is_sorted_by(|a, b| a < b), "{names:?}");
            assert!(names.iter().all(|name| normal_name(name) == *name));
        }
        assert!(!covers.iter().any(|name| sections.contains(name)));
    }
}
