//! Drops translations of documents, which are alternates of their originals.

use std::collections::BTreeMap;

use crate::model::layout::folder_of;
use crate::model::{FoundFile, language};

/// The place of a document without the languages in its path. Translations share it with their
/// original.
#[derive(Eq, Ord, PartialEq, PartialOrd)]
struct DocumentPlace {
    folder: String,
    /// The number with its prefix, or else the name of the file.
    id: String,
}

/// Drops each document that has the same place as another one and is in another language. The
/// original is the one without a language in its path, or else the one in English, or else the
/// first one.
pub(super) fn drop_translations(found: &mut Vec<FoundFile>) {
    let languages: Vec<Option<String>> =
        found.iter().map(|found| language_of(&found.path)).collect();
    if languages.iter().all(Option::is_none) {
        return;
    }
    let mut originals: BTreeMap<&DocumentPlace, (u8, usize, usize)> = BTreeMap::new();
    let places: Vec<DocumentPlace> = found.iter().map(place).collect();
    let rank = |i: usize| match &languages[i] {
        None => 0,
        Some(code) if language::is_english(code) => 1,
        Some(_) => 2,
    };
    for (i, place) in places.iter().enumerate() {
        let candidate = (rank(i), found[i].path.matches('/').count(), i);
        let original = originals.entry(place).or_insert(candidate);
        *original = (*original).min(candidate);
    }
    let is_kept = |i: usize| {
        let (.., original) = originals[&places[i]];
        languages[i].is_none() || original == i || languages[original] == languages[i]
    };
    let kept: Vec<bool> = (0..found.len()).map(is_kept).collect();
    let mut kept = kept.into_iter();
    found.retain(|_| kept.next().unwrap_or(true));
}

/// Returns the language in a path: a folder or the end of the file's name.
fn language_of(path: &str) -> Option<String> {
    let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    let in_name = language::split_suffix(stem).map(|(_, code)| code);
    let in_folder = || folder.split('/').find(|part| language::is_code(part));
    in_name.or_else(in_folder).map(str::to_lowercase)
}

fn place(found: &FoundFile) -> DocumentPlace {
    let folder = folder_of(&found.path);
    let is_own = found.name.is_index;
    let folder = if is_own { folder_of(folder) } else { folder };
    let parts =
        folder.split('/').filter(|part| !language::is_code(part) && !language::is_container(part));
    let file = found.path.rsplit('/').next().unwrap_or(&found.path);
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    let id = match &found.name.number {
        Some(number) => format!("{} {number}", found.name.prefix.as_deref().unwrap_or_default()),
        None if is_own => found.name.slug.clone(),
        None => language::without_suffix(stem).to_lowercase(),
    };
    DocumentPlace { folder: parts.collect::<Vec<_>>().join("/"), id }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(paths: &[&str]) -> Vec<String> {
        let mut found: Vec<FoundFile> = paths.iter().map(|path| FoundFile::sample(path)).collect();
        drop_translations(&mut found);
        found.into_iter().map(|found| found.path).collect()
    }

    #[test]
    fn the_original_of_a_translation_stays() {
        let paths =
            ["adr/0001-x.md", "adr/0002-y.md", "adr/zh-CN/0001-z.md", "adr/zh-CN/0003-w.md"];
        assert_eq!(kept(&paths), [paths[0], paths[1], paths[3]]);
        let paths =
            ["locales/de/adr/0001-x.md", "locales/en/adr/0001-x.md", "locales/fr/adr/0002-y.md"];
        assert_eq!(kept(&paths), [paths[1], paths[2]]);
        let paths = ["adr/0001-x.md", "adr/0001-x.ja.md", "adr/plan.fr.md", "adr/plan.md"];
        assert_eq!(kept(&paths), [paths[0], paths[3]]);
        let paths = ["adr/0001-x/README.md", "adr/de/0001-x/README.md"];
        assert_eq!(kept(&paths), [paths[0]]);
    }

    #[test]
    fn documents_of_one_language_are_not_compared() {
        let paths = ["adr/0001-x.md", "adr/0001-y.md", "de/adr/0001-x.md", "de/adr/0001-y.md"];
        assert_eq!(kept(&paths), [paths[0], paths[1]]);
        let paths = ["de/adr/0001-x.md", "de/adr/0001-y.md"];
        assert_eq!(kept(&paths), paths);
    }
}
