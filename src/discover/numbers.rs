//! Corrects numbers in names that only the names beside them explain.

use std::collections::{BTreeMap, BTreeSet};

use super::numbered_folders::is_year;
use crate::model::layout::folder_of;
use crate::model::uri::slugify;
use crate::model::{FileName, FoundFile, Number};

/// The numbers in the names of one folder.
#[derive(Default)]
struct FolderNumbers {
    n_documents: usize,
    /// Names of two hexadecimal digits: `01`, `C7`, `EE`.
    n_hexadecimal: usize,
    /// Documents with the number 0, which stands for a number that is not assigned yet.
    n_zeros: usize,
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
/// digits. Years that repeat and a zero that repeats are not numbers. `A6-x` and `MIP7` have
/// numbers where most names have this form.
pub(super) fn correct(found: &mut [FoundFile]) {
    drop_repeated(found);
    add_attached(found);
}

fn drop_repeated(found: &mut [FoundFile]) {
    let is_letters = |name: &FileName| {
        let text = name.number_text.as_bytes();
        text.len() == 2 && text.iter().all(u8::is_ascii_uppercase)
    };
    let mut folders: BTreeMap<String, FolderNumbers> = BTreeMap::new();
    let is_doubtful = |name: &FileName| is_letters(name) || is_bare_year(name) || is_zero(name);
    if !found.iter().any(|found| is_doubtful(&found.name)) {
        return;
    }
    for found in found.iter() {
        let numbers = folders.entry(numbering_folder(found).to_string()).or_default();
        let FileName { number_text, slug, prefix, .. } = &found.name;
        numbers.n_documents += 1;
        numbers.n_zeros += usize::from(is_zero(&found.name));
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
        let is_unassigned = is_zero(&found.name) && numbers.n_zeros > 1;
        let is_year = is_bare_year(&found.name) && numbers.are_years();
        if is_word || is_unassigned || is_year {
            let text = std::mem::take(&mut found.name.number_text);
            found.name.number = None;
            if found.name.slug.is_empty() {
                found.name.slug = slugify(&text);
            }
        }
    }
}

/// Adds the numbers of names such as `MIP7`, if at least three documents of a folder, and at least
/// half of them, have such names with the same letters. Elsewhere, `S3-x` and `UTF8` are words.
fn add_attached(found: &mut [FoundFile]) {
    let mut folders: BTreeMap<String, (BTreeMap<String, usize>, usize)> = BTreeMap::new();
    let has_attached = |found: &FoundFile| found.name.number.is_none() && attached(found).is_some();
    if !found.iter().any(has_attached) {
        return;
    }
    for found in found.iter() {
        let (by_prefix, n_documents) =
            folders.entry(numbering_folder(found).to_string()).or_default();
        *n_documents += 1;
        if let Some((prefix, ..)) = attached(found).filter(|_| has_attached(found)) {
            *by_prefix.entry(prefix.to_string()).or_default() += 1;
        }
    }
    for found in found.iter_mut().filter(|found| has_attached(found)) {
        let (by_prefix, n_documents) = &folders[numbering_folder(found)];
        let Some((prefix, digits, rest)) = attached(found) else { continue };
        let n_attached = by_prefix.get(prefix).copied().unwrap_or_default();
        if n_attached >= 3 && n_attached * 2 >= *n_documents {
            let (prefix, digits, slug) = (prefix.to_lowercase(), digits.to_string(), slugify(rest));
            found.name.number = Number::new(&digits);
            found.name = FileName {
                prefix: Some(prefix),
                number_text: digits,
                slug,
                ..std::mem::take(&mut found.name)
            };
        }
    }
}

/// Splits a name of capitals and digits: `A6-x` gives `A`, `6` and `-x`.
fn attached(found: &FoundFile) -> Option<(&str, &str, &str)> {
    let mut parts = found.path.rsplit('/');
    let file = parts.next().unwrap_or_default();
    let stem = match found.name.is_index {
        true => parts.next().unwrap_or_default(),
        false => file.rsplit_once('.').map_or(file, |(stem, _)| stem),
    };
    let n_letters = stem.bytes().take_while(u8::is_ascii_uppercase).count();
    let n_digits = stem[n_letters..].bytes().take_while(u8::is_ascii_digit).count();
    let (prefix, rest) = stem.split_at(n_letters);
    let (digits, rest) = rest.split_at(n_digits);
    let ends = rest.is_empty() || rest.starts_with(['-', '_', ' ', '.']);
    let is_number = (1..=4).contains(&n_letters) && (1..=4).contains(&n_digits);
    (is_number && ends && found.name.date.is_none()).then_some((prefix, digits, rest))
}

fn is_zero(name: &FileName) -> bool {
    name.number.as_ref().is_some_and(|number| number.as_str() == "0")
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
        let mut found: Vec<FoundFile> = paths.iter().map(|path| FoundFile::sample(path)).collect();
        correct(&mut found);
        found.into_iter().map(|found| found.name.number_text).collect()
    }

    #[test]
    fn letters_are_a_number_among_hexadecimal_numbers() {
        assert_eq!(numbers(&["01.md", "C7.md", "EE.md"]), ["01", "C7", "EE"]);
        assert_eq!(numbers(&["0001-x.md", "0002-y.md", "EE.md"]), ["0001", "0002", ""]);
    }

    #[test]
    fn numbers_are_attached_to_letters_where_most_names_are() {
        assert_eq!(numbers(&["R6-x.md", "R13-y.md", "R1.md", "z.md"]), ["6", "13", "1", ""]);
        assert_eq!(numbers(&["R6-x.md", "L6-y.md", "P6.md"]), ["", "", ""]);
        assert_eq!(
            numbers(&["MIP0/README.md", "MIP7/README.md", "MIP12/README.md"]),
            ["0", "7", "12"]
        );
        assert_eq!(numbers(&["S3-x.md", "0001-y.md", "0002-z.md"]), ["", "0001", "0002"]);
    }

    #[test]
    fn a_zero_that_repeats_is_not_a_number() {
        assert_eq!(numbers(&["0000-x.md", "0000-y.md", "0001-z.md"]), ["", "", "0001"]);
        assert_eq!(numbers(&["0000-x.md", "0001-z.md"]), ["0000", "0001"]);
    }

    #[test]
    fn years_that_repeat_are_not_numbers() {
        let paths = ["2019-a/README.md", "2019-b/README.md", "2020-c/README.md"];
        assert_eq!(numbers(&paths), ["", "", ""]);
        assert_eq!(numbers(&["2005-a.md", "2006-b.md"]), ["2005", "2006"]);
        assert_eq!(numbers(&["0001-a.md", "2019-a.md", "2019-b.md"]), ["0001", "2019", "2019"]);
    }
}
