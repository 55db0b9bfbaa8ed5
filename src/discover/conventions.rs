//! Finds documents by convention: in folders with known names, and in folders of numbered files.

use std::collections::BTreeMap;
use std::sync::Arc;

use rayon::prelude::*;

use super::walk::{SIDECARS, WalkedFile, is_markdown};
use crate::model::layout::folder_of;
use crate::model::series::{known_series, singular};
use crate::model::uri::slugify;
use crate::model::{Collection, Digest, FileName, FoundFile, Kind, document, rules};

/// Names of folders that are too generic to name a part of the project.
const GENERIC_FOLDERS: &str = include_str!("rules/generic_folders.txt");

/// Longest name of a collection, in bytes.
const MAX_NAME: usize = 96;

/// A folder of documents, before it has a row in the list of collections.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
struct DocumentFolder {
    name: String,
    kind: String,
    series: Vec<String>,
    base: String,
    /// True if it was recognised by its numbered files and not by its name.
    by_numbers: bool,
}

impl DocumentFolder {
    /// Returns the length of the folder's path with its slash.
    fn base_len(&self) -> usize {
        if self.base.is_empty() { 0 } else { self.base.len() + 1 }
    }
}

/// Finds documents by convention. `files` must be sorted by path.
pub(super) fn apply(files: &[WalkedFile]) -> (Vec<Collection>, Vec<FoundFile>) {
    let markdown: Vec<&str> =
        files.iter().map(|file| file.path.as_str()).filter(|path| is_markdown(path)).collect();
    // Most folders are recognised by name. File names are parsed only in the others.
    let mut known: BTreeMap<&str, Option<DocumentFolder>> = BTreeMap::new();
    for path in &markdown {
        let folder = folder_of(path);
        known.entry(folder).or_insert_with(|| nearest_known_folder(folder));
    }
    let others = markdown.iter().copied().filter(|path| known[folder_of(path)].is_none());
    let numbered = numbered_folders(others);
    let mut chosen: Vec<(&str, Arc<DocumentFolder>)> = Vec::new();
    let mut folders: BTreeMap<&str, Option<Arc<DocumentFolder>>> = BTreeMap::new();
    for path in &markdown {
        let parent = folder_of(path);
        let folder = folders.entry(parent).or_insert_with(|| {
            let known = known[parent].clone();
            known.or_else(|| nearest_numbered_folder(parent, &numbered)).map(Arc::new)
        });
        let folder = folder.clone().map(|folder| split_by_series(folder, path));
        if let Some(folder) = folder.or_else(|| single_file(path).map(Arc::new)) {
            chosen.push((path, folder));
        }
    }
    collect(&chosen, files, &files_per_folder(&markdown))
}

/// Groups the chosen files into collections, without index pages and templates.
fn collect(
    chosen: &[(&str, Arc<DocumentFolder>)],
    files: &[WalkedFile],
    counts: &BTreeMap<&str, usize>,
) -> (Vec<Collection>, Vec<FoundFile>) {
    let mut rows: BTreeMap<&str, usize> = BTreeMap::new();
    let mut collections: Vec<Collection> = Vec::new();
    let mut found = Vec::new();
    let mut last: Option<(&Arc<DocumentFolder>, usize)> = None;
    let names: Vec<Option<(usize, FileName)>> = chosen
        .par_iter()
        .with_min_len(64)
        .map(|(path, folder)| {
            let base = folder.base_len();
            let name = FileName::parse(&path[base..]);
            is_document(path, &path[base..], &name, counts).then_some((base, name))
        })
        .collect();
    for ((path, folder), base_and_name) in chosen.iter().zip(names) {
        let Some((base, name)) = base_and_name else { continue };
        let row = match last.filter(|(last, _)| Arc::ptr_eq(last, folder)) {
            Some((_, row)) => row,
            None => {
                let row = *rows.entry(&folder.name).or_insert(collections.len());
                add_collection(&mut collections, row, folder);
                row
            }
        };
        last = Some((folder, row));
        collections[row].add_glob(path, base);
        found.push(FoundFile {
            path: path.to_string(),
            base,
            collection: row,
            sidecar: sidecar_of(path, files),
            name,
        });
    }
    add_prefixes(&mut collections, &found);
    (collections, found)
}

/// Adds the collection of a row if there is none yet.
fn add_collection(collections: &mut Vec<Collection>, row: usize, folder: &DocumentFolder) {
    if row == collections.len() {
        let kind = Kind::new(&folder.kind);
        let (name, series) = (folder.name.clone(), folder.series.clone());
        collections.push(Collection { name, kind, series, globs: Vec::new() });
    }
}

/// Counts the Markdown files in each folder.
pub(super) fn files_per_folder<'a>(markdown: &[&'a str]) -> BTreeMap<&'a str, usize> {
    let mut counts = BTreeMap::new();
    for path in markdown {
        *counts.entry(folder_of(path)).or_default() += 1;
    }
    counts
}

/// Returns true if a Markdown file in a collection's folder is a document. Index pages and
/// templates are not.
pub(super) fn is_document(
    path: &str,
    path_in_collection: &str,
    name: &FileName,
    counts: &BTreeMap<&str, usize>,
) -> bool {
    let is_template_folder = |part: &str| {
        part.eq_ignore_ascii_case("templates") || part.eq_ignore_ascii_case("template")
    };
    let mut folders = path_in_collection.split('/').rev().skip(1);
    if name.is_template || folders.any(is_template_folder) {
        return false;
    }
    if !name.is_index {
        return true;
    }
    // A cover page is a document if its folder is numbered or has no other Markdown file.
    let Some((folder, _)) = path_in_collection.rsplit_once('/') else { return false };
    let numbered = FileName::parse(&format!("{folder}.md")).number.is_some();
    numbered || counts.get(folder_of(path)) == Some(&1)
}

/// Returns the path of the metadata file beside a cover page.
pub(super) fn sidecar_of(path: &str, files: &[WalkedFile]) -> Option<String> {
    let (folder, file) = path.rsplit_once('/')?;
    if !document::is_cover(file) {
        return None;
    }
    let mut candidates = SIDECARS.iter().map(|name| format!("{folder}/{name}"));
    candidates.find(|path| files.binary_search_by(|file| file.path.as_str().cmp(path)).is_ok())
}

/// Adds the file-name prefixes that most documents of a collection share to its series.
fn add_prefixes(collections: &mut [Collection], found: &[FoundFile]) {
    let mut counts: BTreeMap<(usize, &str), usize> = BTreeMap::new();
    let mut sizes = vec![0; collections.len()];
    for found in found {
        sizes[found.collection] += 1;
        if let Some(prefix) = found.name.prefix.as_deref() {
            *counts.entry((found.collection, prefix)).or_default() += 1;
        }
    }
    for ((collection, prefix), n) in counts {
        let series = &mut collections[collection].series;
        if n * 2 > sizes[collection] && !series.iter().any(|known| known == prefix) {
            series.push(prefix.to_string());
        }
    }
}

fn parts_of(folder: &str) -> Vec<&str> {
    folder.split('/').filter(|part| !part.is_empty()).collect()
}

/// Recognizes a folder, or the nearest folder above it, by its name.
fn nearest_known_folder(folder: &str) -> Option<DocumentFolder> {
    let parts = parts_of(folder);
    (1..=parts.len()).rev().find_map(|n| known_folder(&parts[..n]))
}

/// Recognizes a folder, or the nearest folder above it, by its numbered files.
fn nearest_numbered_folder(
    folder: &str,
    numbered: &BTreeMap<String, Option<String>>,
) -> Option<DocumentFolder> {
    let parts = parts_of(folder);
    (0..=parts.len()).rev().find_map(|n| numbered_folder(&parts[..n], numbered))
}

/// Returns true if a folder is recognised by its name.
pub(super) fn is_known(folder: &str) -> bool {
    known_folder(&folder.split('/').collect::<Vec<_>>()).is_some()
}

/// Recognizes a folder by its name.
fn known_folder(parts: &[&str]) -> Option<DocumentFolder> {
    let lower: Vec<String> = parts.iter().map(|part| part.to_lowercase()).collect();
    let last = lower.last()?.as_str();
    let parent = lower.len().checked_sub(2).map_or("", |i| lower[i].as_str());
    if let Some(at) = lower.iter().position(|part| part == ".blue") {
        return match &lower[at + 1..] {
            [docs, collection] if docs == "docs" => {
                Some(document_folder(parts, 3, &singular(collection), collection))
            }
            [docs] if docs == "docs" => Some(document_folder(parts, 2, "note", "notes")),
            [contracts] if contracts == "contracts" => {
                Some(document_folder(parts, 2, "contract", "contracts"))
            }
            _ => None,
        };
    }
    let in_docs = matches!(
        parent,
        "" | "docs" | "doc" | "architecture" | "arch" | "design" | "documentation"
    );
    match last {
        "adr"
        | "adrs"
        | "adl"
        | "architecture-decisions"
        | "architecture_decisions"
        | "architectural-decisions"
        | "architecture-decision-records"
        | "decision-records"
        | "decision_records"
        | "decision-log"
        | "decision-logs" => Some(document_folder(parts, 1, "adr", "adrs")),
        "decisions" if in_docs => Some(document_folder(parts, 1, "adr", "adrs")),
        "rfc" | "rfcs" | "active-rfcs" => Some(document_folder(parts, 1, "rfc", "rfcs")),
        "text" if parts.len() == 1 => Some(document_folder(parts, 1, "rfc", "rfcs")),
        "eips" => Some(document_folder(parts, 1, "eip", "eips")),
        "ercs" => Some(document_folder(parts, 1, "erc", "ercs")),
        "proposals" if parts.len() <= 2 => Some(document_folder(parts, 1, "proposal", "proposals")),
        "spikes" | "prds" | "dialogues" | "patterns" | "contracts" | "postmortems" | "runbooks"
            if in_docs =>
        {
            Some(document_folder(parts, 1, &singular(last), last))
        }
        "knowledge" if parts.len() == 1 => Some(document_folder(parts, 1, "note", "knowledge")),
        // Folders named after a series: keps, geps, aip.
        series if parts.len() <= 2 && series.len() <= 5 => {
            let kind = known_series(series)?;
            Some(document_folder(parts, 1, &kind, &format!("{kind}s")))
        }
        _ => None,
    }
}

/// Returns a folder whose last `n_kind_parts` parts name the kind of document. The other parts name
/// the part of the project that it belongs to.
fn document_folder(
    parts: &[&str],
    n_kind_parts: usize,
    kind: &str,
    plural: &str,
) -> DocumentFolder {
    let owner = owner(&parts[..parts.len() - n_kind_parts.min(parts.len())]);
    let plural = Some(slugify(plural)).filter(|name| !name.is_empty());
    let plural = plural.unwrap_or_else(|| "documents".to_string());
    let name = if owner.is_empty() { plural } else { format!("{owner}-{plural}") };
    let series = match kind {
        "proposal" | "note" => Vec::new(),
        kind => vec![kind.to_string()],
    };
    DocumentFolder {
        name,
        kind: kind.to_string(),
        series,
        base: parts.join("/"),
        by_numbers: false,
    }
}

/// Returns the name of the part of the project that a folder belongs to. A very long name is cut
/// and made unique with a digest, because it becomes part of a file name.
fn owner(parts: &[&str]) -> String {
    let specific: Vec<String> = parts
        .iter()
        .filter(|part| {
            !rules::entries(GENERIC_FOLDERS).any(|generic| part.eq_ignore_ascii_case(generic))
        })
        .map(|part| slugify(part))
        .filter(|part| !part.is_empty())
        .collect();
    let name = specific.join("-");
    match name.len() > MAX_NAME {
        true => {
            let start: String = name.chars().take(MAX_NAME / 4).collect();
            format!("{start}-{}", Digest::of(name.as_bytes()).short())
        }
        false => name,
    }
}

/// Numbers of files in one folder.
#[derive(Default)]
struct FileCounts {
    n_documents: usize,
    n_numbered: usize,
    /// Numbered files by the prefix of their name.
    by_prefix: BTreeMap<String, usize>,
}

/// Finds the folders in which at least three files, and at least half of them, are numbered. Maps
/// each to the prefix that its files share.
fn numbered_folders<'a>(
    markdown: impl Iterator<Item = &'a str>,
) -> BTreeMap<String, Option<String>> {
    let mut counts: BTreeMap<String, FileCounts> = BTreeMap::new();
    for path in markdown {
        let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
        // A cover page counts as a file of the folder above, with the name of its own folder.
        let (folder, name) = match document::is_cover(file) && !folder.is_empty() {
            true => {
                let (parent, name) = folder.rsplit_once('/').unwrap_or(("", folder));
                (parent, FileName::parse(&format!("{name}.md")))
            }
            false => (folder, FileName::parse(file)),
        };
        let counts = counts.entry(folder.to_string()).or_default();
        if !name.is_index && !name.is_template {
            counts.n_documents += 1;
        }
        let is_in_series = name.prefix.is_some()
            || name.number_text.len() >= 3
            || (name.slug.is_empty() && name.number_text.len() == 2);
        if name.number.is_some() && name.date.is_none() && is_in_series {
            counts.n_numbered += 1;
            if let Some(prefix) = name.prefix {
                *counts.by_prefix.entry(prefix).or_default() += 1;
            }
        }
    }
    counts
        .into_iter()
        .filter(|(_, counts)| counts.n_numbered >= 3 && counts.n_numbered * 2 >= counts.n_documents)
        .map(|(folder, FileCounts { n_numbered, by_prefix, .. })| {
            // More than half of the files have it, so there is at most one.
            let shared = by_prefix.into_iter().find(|(_, n)| n * 2 > n_numbered);
            (folder, shared.map(|(prefix, _)| prefix))
        })
        .collect()
}

fn numbered_folder(
    parts: &[&str],
    numbered: &BTreeMap<String, Option<String>>,
) -> Option<DocumentFolder> {
    let base = parts.join("/");
    let prefix = numbered.get(&base)?;
    let kind = prefix.clone().unwrap_or_else(|| "document".to_string());
    let owner = owner(parts);
    let name = if owner.is_empty() { format!("{kind}s") } else { owner };
    Some(DocumentFolder {
        name,
        series: prefix.iter().cloned().collect(),
        kind,
        base,
        by_numbers: true,
    })
}

/// Assigns a second series in a folder to a collection of its own: `CIP-0001/` beside `CPS-0001/`.
fn split_by_series(folder: Arc<DocumentFolder>, path: &str) -> Arc<DocumentFolder> {
    if !folder.by_numbers || folder.series.is_empty() {
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
fn single_file(path: &str) -> Option<DocumentFolder> {
    let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
    let name = FileName::parse(file);
    let prefix = name.prefix.filter(|prefix| matches!(prefix.as_str(), "adr" | "rfc"))?;
    Some(document_folder(&parts_of(folder), 0, &prefix, &format!("{prefix}s")))
}
