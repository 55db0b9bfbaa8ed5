//! Folders that are named after the status of the documents in them.

use super::{Status, rules};

/// Names of folders with their status.
const FOLDERS: &str = include_str!("rules/status_folders.txt");

/// Returns the status of a folder with its name as written: `Rejected`, `02_accepted`.
pub fn parse(folder: &str) -> Option<(Status, String)> {
    let word = folder.trim_start_matches(|c: char| c.is_ascii_digit() || "-_. ".contains(c));
    let mut entries = rules::entries(FOLDERS).filter_map(|entry| entry.split_once(" = "));
    let (_, status) = entries.find(|(name, _)| word.eq_ignore_ascii_case(name))?;
    let status = Status::ALL.into_iter().find(|known| known.as_str() == status)?;
    Some((status, folder.to_string()))
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
        for entry in rules::entries(FOLDERS) {
            let name = entry.split_once(" = ").map(|(name, _)| name);
            assert!(name.and_then(parse).is_some(), "{entry}");
        }
        assert_eq!(parse("Rejected").map(|(status, _)| status), Some(Status::Rejected));
        assert_eq!(parse("02_accepted").map(|(status, _)| status), Some(Status::Accepted));
        assert_eq!(parse("active-directory"), None);
        assert_eq!(parse("2020"), None);
    }
}
