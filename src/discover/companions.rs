//! Decides which files in a folder of documents are documents.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use super::known_folders::{DocumentFolder, RecognisedBy, is_decided};
use super::numbered_folders::{MainDocuments, folder_number};
use crate::model::layout::folder_of;
use crate::model::uri::slugify;
use crate::model::{FileName, FoundFile, language, rules, status_folders};

/// Names of files that accompany documents.
static FILES: LazyLock<Vec<&str>> =
    LazyLock::new(|| rules::entries(include_str!("rules/companion_files.txt")).collect());

/// Names of folders below a collection's folder whose files accompany documents.
static FOLDERS: LazyLock<BTreeSet<&str>> =
    LazyLock::new(|| rules::entries(include_str!("rules/companion_folders.txt")).collect());

/// Decision about a file from its name.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Judgement {
    /// A document.
    Document,
    /// An index, a template, or a file that accompanies documents.
    Companion,
    /// Names do not decide; its first lines do.
    Undecided,
    /// A document unless its first lines are those of a template.
    UnlessTemplate,
}

/// Counts of the files in a folder of documents and the folders below it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Numbering {
    pub(super) n_numbered: usize,
    pub(super) n_other: usize,
}

impl Numbering {
    /// Returns true if nearly all documents of a folder have a number or a date. A file without
    /// one is then probably a text about the documents.
    fn is_strict(self) -> bool {
        self.n_numbered >= 5 && self.n_numbered >= self.n_other * 4
    }
}

/// Counts the files in each folder and the folders below it.
pub(super) fn files_per_folder<'a>(texts: &[&'a str]) -> BTreeMap<&'a str, usize> {
    let mut in_folder: BTreeMap<&str, usize> = BTreeMap::new();
    for path in texts {
        *in_folder.entry(folder_of(path)).or_default() += 1;
    }
    let mut counts = BTreeMap::new();
    for (mut folder, n) in in_folder {
        while !folder.is_empty() {
            *counts.entry(folder).or_default() += n;
            folder = folder_of(folder);
        }
    }
    counts
}

/// Returns true if a file in a collection's folder is a document. Index pages and
/// templates are not.
pub(super) fn is_document(path_in_collection: &str, name: &FileName, n_files: usize) -> bool {
    if is_template(path_in_collection, name) {
        return false;
    }
    if !name.is_index {
        return true;
    }
    // A cover page is a document if its folder is numbered or has no other file.
    let Some((folder, _)) = path_in_collection.rsplit_once('/') else { return false };
    folder_number(folder).is_some() || n_files == 1
}

/// Returns true for a template to copy and fill in.
pub(super) fn is_template(path_in_collection: &str, name: &FileName) -> bool {
    let is_template_folder = |part: &str| {
        part.eq_ignore_ascii_case("templates") || part.eq_ignore_ascii_case("template")
    };
    name.is_template || path_in_collection.split('/').rev().skip(1).any(is_template_folder)
}

/// Decides by names whether a file in a folder of documents is a document.
pub(super) fn judge(
    path: &str,
    folder: &DocumentFolder,
    name: &FileName,
    mains: &MainDocuments<'_>,
    n_files: usize,
    numbering: Numbering,
    texts: &[&str],
) -> Judgement {
    let in_collection = &path[folder.base_len()..];
    // blue's own folders contain nothing else.
    if folder.base.split('/').any(|part| part == ".blue") {
        return match is_document(in_collection, name, n_files) {
            true => Judgement::Document,
            false => Judgement::Companion,
        };
    }
    if is_template(in_collection, name) || is_companion(in_collection, name) {
        return Judgement::Companion;
    }
    if let Some(main) = mains.of(path, folder.base_len()) {
        // The other files in a document's own folder are annexes of the document.
        let is_numbered = FileName::parse(in_collection).number.is_some() && !name.is_index;
        let is_own = main == path || is_numbered;
        return if is_own { document(name) } else { Judgement::Companion };
    }
    if name.is_index && is_below_document(path, folder.base_len(), texts) {
        return Judgement::Companion;
    }
    // Nearly all documents of a strictly numbered folder have a number.
    let is_loose = folder.recognised == RecognisedBy::Name && !numbering.is_strict();
    if name.is_index {
        let Some((parent, _)) = in_collection.rsplit_once('/') else { return Judgement::Companion };
        let last = parent.rsplit('/').next().unwrap_or(parent);
        let divides = status_folders::parse(last).is_some()
            || language::is_code(last)
            || last.bytes().all(|b| b.is_ascii_digit());
        return match n_files {
            _ if divides => Judgement::Companion,
            1 if is_loose => Judgement::Document,
            _ => Judgement::Undecided,
        };
    }
    let has_id = name.number.is_some() || name.date.is_some();
    let mut folders = in_collection.split('/').rev().skip(1);
    match has_id || is_loose || folders.any(is_decided) {
        true => document(name),
        false => Judgement::Undecided,
    }
}

/// Judges a document by its number. Number 0 is often that of a template.
fn document(name: &FileName) -> Judgement {
    match name.number.as_ref().is_some_and(|number| number.as_str() == "0") {
        true => Judgement::UnlessTemplate,
        false => Judgement::Document,
    }
}

/// Returns true if a folder of the path has the name of a document beside it: `x.md` for
/// `x/part/README.md`. A page that names such a folder is an annex. `texts` must be sorted.
fn is_below_document(path: &str, base_len: usize, texts: &[&str]) -> bool {
    let mut folder = folder_of(path);
    while folder.len() > base_len {
        let beside = format!("{folder}.md");
        if texts.binary_search(&beside.as_str()).is_ok() {
            return true;
        }
        folder = folder_of(folder);
    }
    false
}

/// Returns true for a file that accompanies documents: a changelog, minutes, an annex, a task list.
pub(super) fn is_companion(path_in_collection: &str, name: &FileName) -> bool {
    let mut folders = path_in_collection.split('/').rev();
    let file = folders.next().unwrap_or(path_in_collection);
    let is_companion_folder = |folder: &str| {
        let folder = folder.to_lowercase().replace(['_', ' '], "-");
        FOLDERS.contains(folder.as_str())
    };
    if folders.any(is_companion_folder) {
        return true;
    }
    let is_cover = crate::model::document::is_cover(file);
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    name.number.is_none()
        && !is_cover
        && is_companion_name(&slugify(language::without_suffix(stem)))
}

/// Returns true for the slug of a file that accompanies documents. An entry that ends in `*` is the
/// start of such names, one that starts with `*` their end.
pub(super) fn is_companion_name(slug: &str) -> bool {
    FILES.iter().any(|entry| match (entry.strip_prefix('*'), entry.strip_suffix('*')) {
        (Some(end), _) => slug.ends_with(end),
        (_, Some(start)) => slug.starts_with(start),
        _ => slug == *entry,
    })
}

/// Drops annexes that have the number of the document they belong to: `0012-x-test-vectors.md`.
pub(super) fn drop_numbered_annexes(found: &mut Vec<FoundFile>) {
    type Key<'a> = (usize, &'a str, Option<&'a str>, &'a str);
    fn key(found: &FoundFile) -> Option<Key<'_>> {
        let number = found.name.number.as_ref()?.as_str();
        let prefix = found.name.prefix.as_deref();
        Some((found.collection, folder_of(&found.path), prefix, number))
    }
    let is_annex = |found: &FoundFile| is_companion_name(&found.name.slug);
    let mut has_document: BTreeMap<Key<'_>, bool> = BTreeMap::new();
    if !found.iter().any(is_annex) {
        return;
    }
    for found in found.iter() {
        if let Some(key) = key(found) {
            *has_document.entry(key).or_default() |= !is_annex(found);
        }
    }
    let dropped: Vec<bool> = found
        .iter()
        .map(|found| is_annex(found) && key(found).is_some_and(|key| has_document[&key]))
        .collect();
    let mut dropped = dropped.into_iter();
    found.retain(|_| !dropped.next().unwrap_or(false));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cover_page_below_a_document_is_an_annex() {
        let texts = ["rfcs/cache.md", "rfcs/cache/server/README.md", "rfcs/queue/README.md"];
        assert!(is_below_document(texts[1], 5, &texts));
        assert!(!is_below_document(texts[2], 5, &texts));
    }

    #[test]
    fn files_that_accompany_documents_are_recognised() {
        for path in [
            "meetings/2020-01-02.md",
            "0012-x/test-vectors/README.md",
            "sub/CHANGELOG.md",
            "tasks.md",
            "review-notes.md",
            "meeting-2020-01-02.md",
            "appendix-a.md",
            "wallet-test-vectors.md",
        ] {
            assert!(is_companion(path, &FileName::parse(path)), "{path}");
        }
        for path in [
            "0012-changelog.md",
            "review-apps.md",
            "task-queues.md",
            "0012-x/README.md",
            "sub/summary.md",
            "meeting-room-booking.md",
        ] {
            assert!(!is_companion(path, &FileName::parse(path)), "{path}");
        }
    }
}
