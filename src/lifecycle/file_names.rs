//! Changes the name of a document's file: its status, number and slug.

use crate::model::{FileName, Status, status_words};

/// Returns the name of a file with another status. `suffix` is the word for the status after the
/// slug. The name is unchanged if it has no status, or a letter and the status has none.
pub(super) fn with_status(file: &str, status: Status, suffix: &str) -> String {
    let Some((_, word)) = FileName::parse(file).status else { return file.to_string() };
    let (old, new) = match word.chars().count() {
        1 => {
            let letters = ['D', 'A', 'I', 'S'].into_iter();
            let mut letters = letters.filter(|c| status_words::parse_letter(*c) == Some(status));
            match letters.next() {
                Some(letter) => (format!("-{word}-"), format!("-{letter}-")),
                None => return file.to_string(),
            }
        }
        _ => (format!(".{word}."), format!(".{suffix}.")),
    };
    match file.rfind(&old).filter(|_| old.starts_with('.')).or_else(|| file.find(&old)) {
        Some(at) => format!("{}{new}{}", &file[..at], &file[at + old.len()..]),
        None => file.to_string(),
    }
}

/// Returns the usual suffix for a status. Work that is done once is done.
pub(super) fn usual_suffix(status: Status, is_work: bool) -> &'static str {
    match status {
        Status::Active => "wip",
        Status::Implemented if is_work => "done",
        Status::Implemented => "impl",
        Status::Superseded => "super",
        other => other.as_str(),
    }
}

/// Returns the name of a file with another number or slug. Everything else stays, the width of the
/// number included.
pub(super) fn with_number_and_slug(file: &str, number: Option<u64>, slug: Option<&str>) -> String {
    let name = FileName::parse(file);
    let mut result = file.to_string();
    if let Some(number) = number
        && let Some(at) = file.find(&name.number_text).filter(|_| !name.number_text.is_empty())
    {
        let length = name.number_text.len();
        let is_plain = name.number_text.bytes().all(|b| b.is_ascii_digit());
        let width = if is_plain { length } else { 0 };
        result.replace_range(at..at + length, &format!("{number:0width$}"));
    }
    if let Some(slug) = slug
        && let Some(range) = slug_range(&result)
    {
        result.replace_range(range, slug);
    }
    result
}

/// Returns the place of the slug in the name of a file: the shortest part that ends before a suffix
/// and has this slug.
fn slug_range(file: &str) -> Option<std::ops::Range<usize>> {
    let name = FileName::parse(file);
    let ends = file.match_indices('.').map(|(at, _)| at);
    let starts =
        std::iter::once(0).chain(file.match_indices(['-', '_', ' ']).map(|(at, _)| at + 1));
    let ends: Vec<usize> = ends.collect();
    starts
        .flat_map(|start| ends.iter().map(move |end| start..*end))
        .filter(|range| range.start < range.end)
        .rfind(|range| crate::model::uri::slugify(&file[range.clone()]) == name.slug)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_of_a_name_is_a_suffix_or_a_letter() {
        for (old, status, new) in [
            ("0001-x.draft.md", Status::Accepted, "0001-x.accepted.md"),
            ("0001-x.wip.md", Status::Implemented, "0001-x.impl.md"),
            ("0016-D-x-D-y.md", Status::Accepted, "0016-A-x-D-y.md"),
            ("0016-D-x.md", Status::Rejected, "0016-D-x.md"),
            ("0016-x.md", Status::Accepted, "0016-x.md"),
            ("x.dialogue.draft.md", Status::Superseded, "x.dialogue.super.md"),
            ("2026-01-25T0200Z-x.wip.md", Status::Rejected, "2026-01-25T0200Z-x.rejected.md"),
        ] {
            assert_eq!(with_status(old, status, usual_suffix(status, false)), new, "{old}");
        }
    }

    #[test]
    fn number_and_slug_change_alone() {
        let renamed = |file: &str| with_number_and_slug(file, Some(20), Some("new-name"));
        for (old, new) in [
            ("0016-D-old-name.md", "0020-D-new-name.md"),
            ("ADR-016-old.accepted.md", "ADR-020-new-name.accepted.md"),
            ("2026-01-25-old.done.md", "2026-01-25-new-name.done.md"),
            ("0017-old.plan.md", "0020-new-name.plan.md"),
            ("back-12.3 - Old Title.md", "back-20 - new-name.md"),
        ] {
            assert_eq!(renamed(old), new);
        }
    }
}
