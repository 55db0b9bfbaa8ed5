//! Translates names of header fields and sections from other languages to English.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use crate::model::rules;

/// Names in other languages with their English name.
static NAMES: LazyLock<FxHashMap<&str, &str>> = LazyLock::new(|| {
    let entries = rules::entries(include_str!("rules/translated_names.txt"));
    let entries = entries.filter_map(|entry| entry.split_once(" = "));
    let names =
        entries.flat_map(|(english, names)| names.split(", ").map(move |name| (name, english)));
    names.collect()
});

/// Length of the longest name, in bytes.
static MAX_BYTES: LazyLock<usize> =
    LazyLock::new(|| NAMES.keys().map(|name| name.len()).max().unwrap_or(0));

/// Returns the English name of a field or section, or `None` if the name is not in the table.
/// `name` must be in lower case.
pub(super) fn english(name: &str) -> Option<&'static str> {
    if name.len() > *MAX_BYTES {
        return None;
    }
    NAMES.get(name).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_translation_is_in_lower_case_and_has_one_meaning() {
        let entries = rules::entries(include_str!("rules/translated_names.txt"));
        let mut n_names = 0;
        for entry in entries {
            let (english, names) = entry.split_once(" = ").expect(entry);
            assert_eq!(super::english(english), None, "{english}");
            for name in names.split(", ") {
                assert_eq!(name, name.trim().to_lowercase());
                n_names += 1;
            }
        }
        assert_eq!(n_names, NAMES.len(), "a name is in the table twice");
        assert_eq!(english("statut"), Some("status"));
        assert_eq!(english("상태"), Some("status"));
    }
}
