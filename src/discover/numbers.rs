//! Corrects numbers in names that only the names beside them explain.

use std::collections::{BTreeMap, BTreeSet};

use super::numbered_folders::is_year;
use crate::model::layout::folder_of;
use crate::model::uri::slugify;
use crate::model::{FileName, FoundFile};

/// The numbers in the names of one folder.
#[derive(Default)]
struct FolderNumbers {
    n_documents: usize,
    /// Names of two hexadecimal digits: `01`, `C7`, `EE`.
    n_hexadecimal: usize,
    n_years: usize,
    n_bare: usize,
    years: BTreeSet<String>,
}

impl FolderNumbers {
    /// Returns true if the numbers are years: `2019-x`, `2019-y`, `2020-z`. Numbers of a series
    /// are rarely all in this range, and are used once.
    fn are_years(&self) -> bool {
        self.n_years == self.n_bare && self.years.len() < self.n_years
    }
}

/// Corrects numbers. Letters such as `EE` are a number only where most names are two hexadecimal
/// digits, and years that repeat are not numbers.
pub(super) fn correct(found: &mut [FoundFile]) {
    let is_letters = |name: &FileName| {
        let text = name.number_text.as_bytes();
        text.len() == 2 && text.iter().all(u8::is_ascii_uppercase)
    };
    let mut folders: BTreeMap<String, FolderNumbers> = BTreeMap::new();
    if !found.iter().any(|found| is_letters(&found.name) || is_bare_year(&found.name)) {
        return;
    }
    for found in found.iter() {
        let numbers = folders.entry(numbering_folder(found).to_string()).or_default();
        let FileName { number_text, slug, prefix, .. } = &found.name;
        numbers.n_documents += 1;
        numbers.n_hexadecimal += usize::from(number_text.len() == 2 && slug.is_empty());
        numbers.n_bare += usize::from(found.name.number.is_some() && prefix.is_none());
        if is_bare_year(&found.name) {
            numbers.n_years += 1;
            numbers.years.insert(number_text.clone());
        }
    }
    for found in found.iter_mut() {
        let numbers = &folders[numbering_folder(found)];
        let is_word = is_letters(&found.name) && numbers.n_hexadecimal * 2 <= numbers.n_documents;
        if is_word || (is_bare_year(&found.name) && numbers.are_years()) {
            let text = std::mem::take(&mut found.name.number_text);
            found.name.number = None;
            if found.name.slug.is_empty() {
                found.name.slug = slugify(&text);
            }
        }
    }
}

fn is_bare_year(name: &FileName) -> bool {
    name.prefix.is_none() && is_year(name)
}

fn numbering_folder(found: &FoundFile) -> &str {
    let folder = folder_of(&found.path);
    if found.name.is_index { folder_of(folder) } else { folder }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(paths: &[&str]) -> Vec<String> {
        let found = |path: &&str| FoundFile {
            path: path.to_string(),
            base: 0,
            collection: 0,
            sidecar: None,
            name: FileName::parse(path),
        };
        let mut found: Vec<FoundFile> = paths.iter().map(found).collect();
        correct(&mut found);
        found.into_iter().map(|found| found.name.number_text).collect()
    }

    #[test]
    fn letters_are_a_number_among_hexadecimal_numbers() {
        assert_eq!(numbers(&["01.md", "C7.md", "EE.md"]), ["01", "C7", "EE"]);
        assert_eq!(numbers(&["0001-x.md", "0002-y.md", "EE.md"]), ["0001", "0002", ""]);
    }

    #[test]
    fn years_that_repeat_are_not_numbers() {
        let paths = ["2019-a/README.md", "2019-b/README.md", "2020-c/README.md"];
        assert_eq!(numbers(&paths), ["", "", ""]);
        assert_eq!(numbers(&["2005-a.md", "2006-b.md"]), ["2005", "2006"]);
        assert_eq!(numbers(&["0001-a.md", "2019-a.md", "2019-b.md"]), ["0001", "2019", "2019"]);
    }
}
