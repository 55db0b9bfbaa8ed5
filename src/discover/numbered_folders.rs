//! Recognises folders of documents by their numbered files, and documents in folders of their own.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock};

use super::companions::is_companion_name;
use super::known_folders::{DocumentFolder, RecognisedBy, owner, parts_of};
use crate::model::layout::folder_of;
use crate::model::uri::slugify;
use crate::model::{FileName, document, rules, status_folders};

/// Words before a number that count parts of a text, not documents of a series: `chapter`, `lab`.
static COUNTED_PARTS: LazyLock<BTreeSet<&str>> =
    LazyLock::new(|| rules::entries(include_str!("rules/counted_parts.txt")).collect());

/// Names of the main document in a folder of its own that has no cover page.
const MAIN_NAMES: &[&str] =
    &["adr", "decision", "design", "document", "main", "overview", "proposal", "rfc", "spec"];

/// The main documents of numbered folders, by folder: `0012-x/README.md`, `0012-x/proposal.md`.
pub(super) struct MainDocuments<'a>(BTreeMap<&'a str, &'a str>);

impl<'a> MainDocuments<'a> {
    /// Finds the main document of each numbered folder: a file beside the folder with the same
    /// name or number, its cover page, its only file, a file with the folder's name, or one called
    /// `proposal` or `spec`. `texts` must be sorted.
    pub(super) fn new(texts: &[&'a str]) -> MainDocuments<'a> {
        let mut folders: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        let mut beside: BTreeMap<(&str, String), &str> = BTreeMap::new();
        for path in texts {
            let folder = folder_of(path);
            if !folder.is_empty() {
                folders.entry(folder).or_default().push(path);
            }
        }
        folders.retain(|folder, _| folder_number(folder).is_some());
        let parents: BTreeSet<&str> = folders.keys().map(|folder| folder_of(folder)).collect();
        for path in texts.iter().filter(|path| parents.contains(folder_of(path))) {
            let file = path.rsplit('/').next().unwrap_or(path);
            beside.extend(
                number_key(&FileName::parse(file)).map(|key| ((folder_of(path), key), *path)),
            );
        }
        let stem = |path: &str| {
            let file = path.rsplit('/').next().unwrap_or(path);
            slugify(file.rsplit_once('.').map_or(file, |(stem, _)| stem))
        };
        let main = folders.into_iter().filter_map(|(folder, mut files)| {
            files.retain(|path| !is_companion_name(&stem(path)));
            let name = slugify(folder.rsplit('/').next().unwrap_or(folder));
            let number = folder_number(folder)?;
            if let Some(path) = beside.get(&(folder_of(folder), number_key(&number)?)) {
                return Some((folder, *path));
            }
            let slug = number.slug;
            let is_cover =
                |path: &&&str| document::is_cover(path.rsplit('/').next().unwrap_or(path));
            let is_named = |path: &&&str| stem(path) == name || stem(path) == slug;
            let is_main = |path: &&&str| MAIN_NAMES.contains(&stem(path).as_str());
            let only = files.first().filter(|_| files.len() == 1);
            let found = files.iter().find(is_cover).or(only);
            let found = found.or_else(|| files.iter().find(is_named));
            Some((folder, *found.or_else(|| files.iter().find(is_main))?))
        });
        MainDocuments(main.collect())
    }

    /// Returns the main document of the nearest numbered folder of a file, below a folder of
    /// `base_len` bytes.
    pub(super) fn of(&self, path: &str, base_len: usize) -> Option<&'a str> {
        let mut folder = folder_of(path);
        while folder.len() > base_len {
            if let Some(main) = self.0.get(folder) {
                return Some(main);
            }
            folder = folder_of(folder);
        }
        None
    }

    /// Parses the name of a file. The main document of a numbered folder has the folder's name.
    pub(super) fn name(&self, path: &str, base_len: usize) -> FileName {
        let in_collection = &path[base_len..];
        let name = FileName::parse(in_collection);
        let folder = folder_of(path);
        if name.number.is_some() || self.0.get(folder) != Some(&path) || folder.len() <= base_len {
            return name;
        }
        let cover = format!("{}/README.md", folder_of(in_collection));
        FileName { is_index: name.is_index, ..FileName::parse(&cover) }
    }
}

/// Returns a key that a document and the folder of its annexes have in common.
fn number_key(name: &FileName) -> Option<String> {
    let number = name.number.as_ref()?;
    Some(format!("{} {number}", name.prefix.as_deref().unwrap_or_default()))
}

/// Returns the parsed name of a folder that has the number of a document. A year is not one.
pub(super) fn folder_number(folder: &str) -> Option<FileName> {
    let name = FileName::parse(&format!("{}.md", folder.rsplit('/').next().unwrap_or(folder)));
    let is_year = name.prefix.is_none() && name.slug.is_empty() && is_year(&name);
    (name.number.is_some() && !is_year).then_some(name)
}

/// Returns true if the number of a name is a year.
pub(super) fn is_year(name: &FileName) -> bool {
    let year = name.number.as_ref().and_then(|number| number.value());
    name.number_text.len() == 4 && year.is_some_and(|year| (1990..2050).contains(&year))
}

/// Numbers of files in one folder.
#[derive(Default)]
struct FileCounts {
    n_documents: usize,
    n_numbered: usize,
    /// Files with a number of two digits and a name, which also count chapters: `29-x`.
    n_short: usize,
    /// Files with a number over 99 that has no zeros in front: `104-x`.
    n_over_99: usize,
    /// Numbered files by the prefix of their name.
    by_prefix: BTreeMap<String, usize>,
}

/// Folders in which at least three files, and at least half of them, are numbered, each with the
/// prefix that its files share.
pub(super) struct NumberedFolders(BTreeMap<String, Option<String>>);

impl NumberedFolders {
    /// Finds the numbered folders of files.
    pub(super) fn new<'a>(
        texts: impl Iterator<Item = &'a str>,
        mains: &MainDocuments<'_>,
    ) -> NumberedFolders {
        let mut counts: BTreeMap<String, FileCounts> = BTreeMap::new();
        for path in texts {
            let (mut folder, file) = path.rsplit_once('/').unwrap_or(("", path));
            let is_main = mains.0.get(folder) == Some(&path);
            if mains.0.contains_key(folder) && !is_main {
                continue;
            }
            // A cover page counts as a file of the folder above, with the name of its own folder.
            let name = match (document::is_cover(file) || is_main) && !folder.is_empty() {
                true => {
                    let (parent, name) = folder.rsplit_once('/').unwrap_or(("", folder));
                    folder = parent;
                    FileName::parse(&format!("{name}.md"))
                }
                false => FileName::parse(file),
            };
            // Folders that are named after a status divide the folder above.
            let (parent, last) = folder.rsplit_once('/').unwrap_or(("", folder));
            let folder = if status_folders::parse(last).is_some() { parent } else { folder };
            let counts = counts.entry(folder.to_string()).or_default();
            if !name.is_index && !name.is_template {
                counts.n_documents += 1;
            }
            let is_bare = name.prefix.is_none() && name.date.is_none() && !name.is_template;
            if is_bare && !name.number_text.starts_with('0') {
                counts.n_short += usize::from(name.number_text.len() == 2 && !name.slug.is_empty());
                counts.n_over_99 += usize::from(name.number_text.len() == 3);
            }
            if is_in_series(&name, file) {
                counts.n_numbered += 1;
                if let Some(prefix) = name.prefix {
                    *counts.by_prefix.entry(prefix).or_default() += 1;
                }
            }
        }
        // `29-x` beside `104-y` is a series that outgrew two digits. Chapters would have zeros.
        let is_numbered = |folder: &str, counts: &FileCounts| {
            // `TIPs/TIP-59.md`: the folder has the name of the series.
            let last = folder.rsplit('/').next().unwrap_or(folder).to_lowercase();
            let series = last.strip_suffix('s').filter(|_| last.len() > 2);
            if series.is_some_and(|series| counts.by_prefix.contains_key(series)) {
                return counts.n_numbered * 2 >= counts.n_documents;
            }
            let n_short = if counts.n_over_99 > 0 { counts.n_short } else { 0 };
            let n_numbered = counts.n_numbered + n_short;
            n_numbered >= 3 && n_numbered * 2 >= counts.n_documents
        };
        let numbered = counts.into_iter().filter(|(folder, counts)| is_numbered(folder, counts));
        let with_prefix = numbered.map(|(folder, FileCounts { n_numbered, by_prefix, .. })| {
            // More than half of the files have it, so there is at most one.
            let shared = by_prefix.into_iter().find(|(_, n)| n * 2 > n_numbered);
            (folder, shared.map(|(prefix, _)| prefix))
        });
        NumberedFolders(with_prefix.collect())
    }

    /// Recognizes a folder, or the nearest folder above it, by its numbered files.
    pub(super) fn nearest(&self, folder: &str) -> Option<DocumentFolder> {
        let parts = parts_of(folder);
        (0..=parts.len()).rev().find_map(|n| self.folder(&parts[..n]))
    }

    fn folder(&self, parts: &[&str]) -> Option<DocumentFolder> {
        let base = parts.join("/");
        let prefix = self.0.get(&base)?;
        let kind = prefix.clone().unwrap_or_else(|| "document".to_string());
        let owner = owner(parts);
        let name = if owner.is_empty() { format!("{kind}s") } else { owner };
        Some(DocumentFolder {
            name,
            series: prefix.iter().cloned().collect(),
            kind,
            base,
            status: None,
            recognised: RecognisedBy::Numbers,
        })
    }
}

/// Returns true if a name is that of a document in a numbered series.
pub(super) fn is_in_series(name: &FileName, file: &str) -> bool {
    if name.number.is_none() || name.date.is_some() || name.is_template {
        return false;
    }
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    match &name.prefix {
        Some(prefix) => {
            // `CA1001.md` is the page of a code.
            let is_code = name.slug.is_empty()
                && stem.len() == prefix.len() + name.number_text.len()
                && crate::model::series::known_series(prefix).is_none();
            !is_code && !COUNTED_PARTS.contains(prefix.as_str())
        }
        None => {
            name.number_text.len() >= 3 || (name.slug.is_empty() && name.number_text.len() == 2)
        }
    }
}

/// Assigns a second series in a folder to a collection of its own: `CIP-0001/` beside `CPS-0001/`.
pub(super) fn split_by_series(folder: Arc<DocumentFolder>, path: &str) -> Arc<DocumentFolder> {
    if folder.recognised != RecognisedBy::Numbers || folder.series.is_empty() {
        return folder;
    }
    let other =
        FileName::parse(&path[folder.base_len()..]).prefix.filter(|prefix| *prefix != folder.kind);
    match other {
        Some(prefix) => Arc::new(DocumentFolder {
            name: format!("{prefix}s"),
            series: vec![prefix.clone()],
            kind: prefix,
            ..DocumentFolder::clone(&folder)
        }),
        None => folder,
    }
}

/// Recognizes a single file in any folder by its name: `adr-001-x.md`.
pub(super) fn single_file(path: &str) -> Option<DocumentFolder> {
    let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
    let name = FileName::parse(file);
    let prefix = name.prefix.filter(|prefix| matches!(prefix.as_str(), "adr" | "rfc"))?;
    Some(DocumentFolder::named(&parts_of(folder), 0, &prefix, &format!("{prefix}s")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_numbered_folder_has_one_main_document() {
        let texts = [
            "specs/001-a/plan.md",
            "specs/001-a/spec.md",
            "specs/002-b/text.md",
            "specs/003-c/003-c.md",
            "specs/003-c/other.md",
            "specs/2020/x.md",
            "specs/nep-0004.md",
            "specs/nep-0004/events.md",
        ];
        let mains = MainDocuments::new(&texts);
        assert_eq!(mains.of("specs/001-a/plan.md", 6), Some("specs/001-a/spec.md"));
        assert_eq!(mains.of("specs/002-b/text.md", 6), Some("specs/002-b/text.md"));
        assert_eq!(mains.of("specs/003-c/other.md", 6), Some("specs/003-c/003-c.md"));
        assert_eq!(mains.of("specs/2020/x.md", 6), None);
        assert_eq!(mains.of("specs/nep-0004/events.md", 6), Some("specs/nep-0004.md"));
        let name = mains.name("specs/001-a/spec.md", 6);
        assert_eq!((name.number_text.as_str(), name.slug.as_str()), ("001", "a"));
    }

    #[test]
    fn numbers_of_two_digits_are_a_series_beside_longer_ones() {
        let is_found = |texts: &[&str]| {
            let folders = NumberedFolders::new(texts.iter().copied(), &MainDocuments::new(texts));
            folders.nearest("").is_some()
        };
        assert!(is_found(&["104-c/proposal.md", "29-a/a.md", "30-b/30-b.md", "30-b/notes.md"]));
        assert!(is_found(&["104-c.md", "29-a.md", "30-b.md"]));
        assert!(!is_found(&["01-a/a.md", "02-b/b.md", "03-c/c.md", "10-d/d.md"]));
        assert!(!is_found(&["29-a.md", "30-b.md", "31-c.md"]));
    }

    #[test]
    fn chapters_codes_and_dates_are_not_series() {
        for file in ["lab-01.md", "CA1001.md", "LDM-2013-10-07.md", "01-intro.md"] {
            assert!(!is_in_series(&FileName::parse(file), file), "{file}");
        }
        for file in ["cap-0001.md", "adr001.md", "0001-x.md", "12.md", "C7.md", "sip-1.md"] {
            assert!(is_in_series(&FileName::parse(file), file), "{file}");
        }
    }
}
