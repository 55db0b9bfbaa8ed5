//! Finds documents by convention: in folders with known names, and in folders of numbered files.

use std::collections::BTreeMap;
use std::sync::Arc;

use rayon::prelude::*;

use super::walk::{SIDECARS, WalkedFile, is_markdown};
use crate::model::layout::folder_of;
use crate::model::series::known_series;
use crate::model::uri::slugify;
use crate::model::{Collection, Digest, FileName, FoundFile, Kind, document, rules};

/// Names of folders that do not identify a part of the project.
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
    /// True if it was recognized by its numbered files and not by its name.
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
    // Most folders are known by name. File names are parsed only in the others.
    let mut known: BTreeMap<&str, Option<DocumentFolder>> = BTreeMap::new();
    for path in &markdown {
        let folder = folder_of(path);
        known.entry(folder).or_insert_with(|| known_or_below(folder));
    }
    let others = markdown.iter().copied().filter(|path| known[folder_of(path)].is_none());
    let numbered = numbered_folders(others);
    let mut chosen: Vec<(&str, Arc<DocumentFolder>)> = Vec::new();
    let mut folders: BTreeMap<&str, Option<Arc<DocumentFolder>>> = BTreeMap::new();
    for path in &markdown {
        let parent = folder_of(path);
        let folder = folders.entry(parent).or_insert_with(|| {
            let known = known[parent].clone();
            known.or_else(|| numbered_or_below(parent, &numbered)).map(Arc::new)
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
    for ((path, folder), named) in chosen.iter().zip(names) {
        let Some((base, name)) = named else { continue };
        let row = match last.filter(|(last, _)| Arc::ptr_eq(last, folder)) {
            Some((_, row)) => row,
            None => {
                let row = *rows.entry(&folder.name).or_insert(collections.len());
                add_folder(&mut collections, row, folder);
                row
            }
        };
        last = Some((folder, row));
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

/// Adds a folder to the collection of a row, and adds the collection if there is none yet.
fn add_folder(collections: &mut Vec<Collection>, row: usize, folder: &DocumentFolder) {
    if row == collections.len() {
        let kind = Kind::new(&folder.kind);
        let (name, series) = (folder.name.clone(), folder.series.clone());
        collections.push(Collection { name, kind, series, globs: Vec::new() });
    }
    let glob =
        if folder.base.is_empty() { "*.md".to_string() } else { format!("{}/*.md", folder.base) };
    let globs = &mut collections[row].globs;
    if !globs.contains(&glob) {
        globs.push(glob);
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
    below: &str,
    name: &FileName,
    counts: &BTreeMap<&str, usize>,
) -> bool {
    let is_template_folder = |part: &str| {
        part.eq_ignore_ascii_case("templates") || part.eq_ignore_ascii_case("template")
    };
    if name.is_template || below.split('/').rev().skip(1).any(is_template_folder) {
        return false;
    }
    if !name.is_index {
        return true;
    }
    // A cover page is a document if its folder stands for one: the folder is numbered, or has no
    // other Markdown file.
    let Some((folder, _)) = below.rsplit_once('/') else { return false };
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
fn known_or_below(folder: &str) -> Option<DocumentFolder> {
    let parts = parts_of(folder);
    (1..=parts.len()).rev().find_map(|n| known_folder(&parts[..n]))
}

/// Recognizes a folder, or the nearest folder above it, by its numbered files.
fn numbered_or_below(
    folder: &str,
    numbered: &BTreeMap<String, Option<String>>,
) -> Option<DocumentFolder> {
    let parts = parts_of(folder);
    (0..=parts.len()).rev().find_map(|n| numbered_folder(&parts[..n], numbered))
}

/// Returns true if a folder's name is one that is usual for documents.
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
                Some(document_folder(parts, 3, singular(collection), collection))
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
            Some(document_folder(parts, 1, singular(last), last))
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

fn singular(word: &str) -> &str {
    word.strip_suffix('s').filter(|stem| stem.len() > 2).unwrap_or(word)
}

/// Returns a folder whose last `n_own` parts name the kind of document. The other parts name the
/// part of the project that it belongs to.
fn document_folder(parts: &[&str], n_own: usize, kind: &str, plural: &str) -> DocumentFolder {
    let owner = owner(&parts[..parts.len() - n_own.min(parts.len())]);
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

/// Finds the folders in which at least three files, and at least half of them, are numbered. Maps
/// each to the prefix that its files share.
fn numbered_folders<'a>(
    markdown: impl Iterator<Item = &'a str>,
) -> BTreeMap<String, Option<String>> {
    let mut counts: BTreeMap<String, (usize, usize, BTreeMap<String, usize>)> = BTreeMap::new();
    for path in markdown {
        let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
        let cover = document::is_cover(file) && !folder.is_empty();
        let (holder, entry) = match cover {
            true => folder.rsplit_once('/').unwrap_or(("", folder)),
            false => (folder, file),
        };
        let name =
            FileName::parse(if cover { format!("{entry}.md") } else { entry.to_string() }.as_str());
        let counts = counts.entry(holder.to_string()).or_default();
        if !name.is_index && !name.is_template {
            counts.0 += 1;
        }
        let series = name.prefix.is_some()
            || name.number_text.len() >= 3
            || (name.slug.is_empty() && name.number_text.len() == 2);
        if name.number.is_some() && name.date.is_none() && series {
            counts.1 += 1;
            if let Some(prefix) = name.prefix {
                *counts.2.entry(prefix).or_default() += 1;
            }
        }
    }
    counts
        .into_iter()
        .filter(|(_, (n_all, n_numbered, _))| *n_numbered >= 3 && n_numbered * 2 >= *n_all)
        .map(|(folder, (_, n_numbered, prefixes))| {
            let most = prefixes
                .into_iter()
                .max_by_key(|(prefix, n)| (*n, std::cmp::Reverse(prefix.clone())));
            (folder, most.filter(|(_, n)| n * 2 > n_numbered).map(|(prefix, _)| prefix))
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
    let name = match (owner.is_empty(), prefix) {
        (false, _) => owner,
        (true, _) => format!("{kind}s"),
    };
    Some(DocumentFolder {
        name,
        series: prefix.iter().cloned().collect(),
        kind,
        base,
        by_numbers: true,
    })
}

/// Makes two series in one folder two collections: `CIP-0001/` beside `CPS-0001/`.
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
    let parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    Some(document_folder(&parts, 0, &prefix, &format!("{prefix}s")))
}
