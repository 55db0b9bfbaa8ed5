//! Folders that are named after the status of the documents in them.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::{Status, rules};

/// Names of folders with their status.
static FOLDERS: LazyLock<BTreeMap<&str, Status>> = LazyLock::new(|| {
    let status = |name| Status::ALL.into_iter().find(|status| status.as_str() == name);
    rules::entries(include_str!("rules/status_folders.txt"))
        .filter_map(|entry| {
            let (name, word) = entry.split_once(" = ")?;
            Some((name, status(word)?))
        })
        .collect()
});

/// Returns the status of a folder with its name as written: `Rejected`, `02_accepted`. Of two
/// statuses, the last counts: `Draft-Accepted`.
pub fn parse(folder: &str) -> Option<(Status, String)> {
    let word = folder.trim_start_matches(|c: char| c.is_ascii_digit() || "-_. ".contains(c));
    let status = match word.bytes().any(|b| b.is_ascii_uppercase()) {
        true => status_of(&word.to_ascii_lowercase())?,
        false => status_of(word)?,
    };
    Some((status, folder.to_string()))
}

fn status_of(word: &str) -> Option<Status> {
    if let Some(status) = FOLDERS.get(word) {
        return Some(*status);
    }
    let (first, last) = word.split_once(['-', '_', ' '])?;
    FOLDERS.get(first)?;
    FOLDERS.get(last).copied()
}

/// Returns true for the name of an archive, which also holds documents that are done.
pub fn is_archive(folder: &str) -> bool {
    let word = folder.trim_start_matches(|c: char| !c.is_ascii_alphabetic()).to_ascii_lowercase();
    word.starts_with("archive") || word == "old" || word == "attic" || word == "historical"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_of_the_rule_file_has_a_status() {
        let n_entries = rules::entries(include_str!("rules/status_folders.txt")).count();
        assert_eq!(FOLDERS.len(), n_entries, "an entry is not `name = status`, or repeats");
        assert_eq!(parse("Rejected").map(|(status, _)| status), Some(Status::Rejected));
        assert_eq!(parse("02_accepted").map(|(status, _)| status), Some(Status::Accepted));
        assert_eq!(parse("Draft-Accepted").map(|(status, _)| status), Some(Status::Accepted));
        assert_eq!(parse("active-directory"), None);
        assert_eq!(parse("2020"), None);
    }
}
