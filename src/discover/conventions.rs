//! Where people keep documents: known folders, and folders full of numbered files.

use std::collections::BTreeMap;
use std::sync::Arc;

use rayon::prelude::*;

use super::walk::{SIDECARS, Seen, is_markdown};
use crate::model::FileName;
use crate::model::layout::folder_of;
use crate::model::series::known_series;
use crate::model::uri::slugify;
use crate::model::{Collection, Digest, FoundFile, Kind, document};

/// Words in a path that say nothing about whose documents lie there.
const GENERIC: &[&str] = &[
    "docs",
    "doc",
    "documentation",
    "packages",
    "apps",
    "libs",
    "crates",
    "modules",
    "src",
    "architecture",
    "arch",
    "design",
    "engineering",
    ".blue",
    "text",
    "content",
    "pages",
];

/// Longest name of a collection, in bytes.
const MAX_NAME: usize = 96;

/// A folder of documents, before it has a row in the list of collections.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
struct Place {
    name: String,
    kind: String,
    series: Vec<String>,
    base: String,
    /// FoundFile because its files are numbered, not by its name.
    by_numbers: bool,
}

/// Finds documents by convention. Files come sorted by path.
pub(super) fn apply(files: &[Seen]) -> (Vec<Collection>, Vec<FoundFile>) {
    let markdown: Vec<&str> =
        files.iter().map(|seen| seen.path.as_str()).filter(|path| is_markdown(path)).collect();
    // Most folders are known by their names; only the files of the others are looked at closely.
    let mut known_places: BTreeMap<&str, Option<Place>> = BTreeMap::new();
    for path in &markdown {
        let folder = folder_of(path);
        known_places.entry(folder).or_insert_with(|| known_place(folder));
    }
    let others = markdown.iter().copied().filter(|path| known_places[folder_of(path)].is_none());
    let numbered = numbered_folders(others);
    let mut chosen: Vec<(&str, Arc<Place>)> = Vec::new();
    let mut places: BTreeMap<&str, Option<Arc<Place>>> = BTreeMap::new();
    for path in &markdown {
        let folder = folder_of(path);
        let place = places.entry(folder).or_insert_with(|| {
            let known = known_places[folder].clone();
            known.or_else(|| numbered_place(folder, &numbered)).map(Arc::new)
        });
        let place = place.clone().map(|place| own_series(place, path));
        if let Some(place) = place.or_else(|| lone(path).map(Arc::new)) {
            chosen.push((path, place));
        }
    }
    gather(&chosen, files, &per_folder(&markdown))
}

/// Makes collections of the chosen files; leaves out indexes and templates.
fn gather(
    chosen: &[(&str, Arc<Place>)],
    files: &[Seen],
    counts: &BTreeMap<&str, usize>,
) -> (Vec<Collection>, Vec<FoundFile>) {
    let mut rows: BTreeMap<&str, usize> = BTreeMap::new();
    let mut collections: Vec<Collection> = Vec::new();
    let mut found = Vec::new();
    let mut last: Option<(&Arc<Place>, usize)> = None;
    let names: Vec<Option<(usize, FileName)>> = chosen
        .par_iter()
        .with_min_len(64)
        .map(|(path, place)| {
            let base = if place.base.is_empty() { 0 } else { place.base.len() + 1 };
            let name = FileName::parse(&path[base..]);
            is_document(path, &path[base..], &name, counts).then_some((base, name))
        })
        .collect();
    for ((path, place), named) in chosen.iter().zip(names) {
        let Some((base, name)) = named else { continue };
        let row = match last.filter(|(last, _)| Arc::ptr_eq(last, place)) {
            Some((_, row)) => row,
            None => {
                let row = *rows.entry(&place.name).or_insert(collections.len());
                add_place(&mut collections, row, place);
                row
            }
        };
        last = Some((place, row));
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

/// Adds a folder to the collection of a row, which is new if it is the next one.
fn add_place(collections: &mut Vec<Collection>, row: usize, place: &Place) {
    if row == collections.len() {
        let kind = Kind::new(&place.kind);
        let (name, series) = (place.name.clone(), place.series.clone());
        collections.push(Collection { name, kind, series, places: Vec::new() });
    }
    let glob =
        if place.base.is_empty() { "*.md".to_string() } else { format!("{}/*.md", place.base) };
    let places = &mut collections[row].places;
    if !places.contains(&glob) {
        places.push(glob);
    }
}

/// How many Markdown files lie in each folder.
pub(super) fn per_folder<'a>(markdown: &[&'a str]) -> BTreeMap<&'a str, usize> {
    let mut counts = BTreeMap::new();
    for path in markdown {
        *counts.entry(folder_of(path)).or_default() += 1;
    }
    counts
}

/// Whether a Markdown file in a collection's folder is a document of it.
pub(super) fn is_document(
    path: &str,
    below: &str,
    name: &FileName,
    counts: &BTreeMap<&str, usize>,
) -> bool {
    let form = |part: &str| {
        part.eq_ignore_ascii_case("templates") || part.eq_ignore_ascii_case("template")
    };
    if name.is_template || below.split('/').rev().skip(1).any(form) {
        return false;
    }
    if !name.is_index {
        return true;
    }
    // A cover page is a document if its folder is one: numbered, or with nothing beside it.
    let Some((folder, _)) = below.rsplit_once('/') else { return false };
    let numbered = FileName::parse(&format!("{folder}.md")).number.is_some();
    numbered || counts.get(folder_of(path)) == Some(&1)
}

/// The metadata file beside a cover page.
pub(super) fn sidecar_of(path: &str, files: &[Seen]) -> Option<String> {
    let (folder, file) = path.rsplit_once('/')?;
    if !document::is_cover(file) {
        return None;
    }
    let mut candidates = SIDECARS.iter().map(|name| format!("{folder}/{name}"));
    candidates.find(|path| files.binary_search_by(|seen| seen.path.as_str().cmp(path)).is_ok())
}

/// File-name prefixes that most of a collection shares are a series of it.
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

/// The collection that a folder, or the nearest folder above it, is known to be.
fn known_place(folder: &str) -> Option<Place> {
    let parts = parts_of(folder);
    (1..=parts.len()).rev().find_map(|n| known(&parts[..n]))
}

/// The collection that a folder, or the nearest folder above it, is because of its numbers.
fn numbered_place(folder: &str, numbered: &BTreeMap<String, Option<String>>) -> Option<Place> {
    let parts = parts_of(folder);
    (0..=parts.len()).rev().find_map(|n| by_numbers(&parts[..n], numbered))
}

/// Whether a folder is one where documents are expected.
pub(super) fn is_known(folder: &str) -> bool {
    known(&folder.split('/').collect::<Vec<_>>()).is_some()
}

/// Folders known by their names.
fn known(parts: &[&str]) -> Option<Place> {
    let lower: Vec<String> = parts.iter().map(|part| part.to_lowercase()).collect();
    let last = lower.last()?.as_str();
    let parent = lower.len().checked_sub(2).map_or("", |i| lower[i].as_str());
    if let Some(at) = lower.iter().position(|part| part == ".blue") {
        return match &lower[at + 1..] {
            [docs, collection] if docs == "docs" => {
                Some(place(parts, 3, singular(collection), collection))
            }
            [docs] if docs == "docs" => Some(place(parts, 2, "note", "notes")),
            [contracts] if contracts == "contracts" => {
                Some(place(parts, 2, "contract", "contracts"))
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
        | "decision-logs" => Some(place(parts, 1, "adr", "adrs")),
        "decisions" if in_docs => Some(place(parts, 1, "adr", "adrs")),
        "rfc" | "rfcs" | "active-rfcs" => Some(place(parts, 1, "rfc", "rfcs")),
        "text" if parts.len() == 1 => Some(place(parts, 1, "rfc", "rfcs")),
        "eips" => Some(place(parts, 1, "eip", "eips")),
        "ercs" => Some(place(parts, 1, "erc", "ercs")),
        "proposals" if parts.len() <= 2 => Some(place(parts, 1, "proposal", "proposals")),
        "spikes" | "prds" | "dialogues" | "patterns" | "contracts" | "postmortems" | "runbooks"
            if in_docs =>
        {
            Some(place(parts, 1, singular(last), last))
        }
        "knowledge" if parts.len() == 1 => Some(place(parts, 1, "note", "knowledge")),
        // Folders named after a series: keps, geps, aip.
        series if parts.len() <= 2 && series.len() <= 5 => {
            let kind = known_series(series)?;
            Some(place(parts, 1, &kind, &format!("{kind}s")))
        }
        _ => None,
    }
}

fn singular(word: &str) -> &str {
    word.strip_suffix('s').filter(|stem| stem.len() > 2).unwrap_or(word)
}

/// A place whose last `n_own` parts say what it is, and whose other parts say whose it is.
fn place(parts: &[&str], n_own: usize, kind: &str, plural: &str) -> Place {
    let owner = owner(&parts[..parts.len() - n_own.min(parts.len())]);
    let plural = Some(slugify(plural)).filter(|name| !name.is_empty());
    let plural = plural.unwrap_or_else(|| "documents".to_string());
    let name = if owner.is_empty() { plural } else { format!("{owner}-{plural}") };
    let series = match kind {
        "proposal" | "note" => Vec::new(),
        kind => vec![kind.to_string()],
    };
    Place { name, kind: kind.to_string(), series, base: parts.join("/"), by_numbers: false }
}

/// Whose documents a folder holds, from the parts of its path that tell. A very long name is cut
/// and told apart by a digest, because it becomes a file's name.
fn owner(parts: &[&str]) -> String {
    let telling: Vec<String> = parts
        .iter()
        .filter(|part| !GENERIC.contains(&part.to_lowercase().as_str()))
        .map(|part| slugify(part))
        .filter(|part| !part.is_empty())
        .collect();
    let name = telling.join("-");
    match name.len() > MAX_NAME {
        true => {
            let start: String = name.chars().take(MAX_NAME / 4).collect();
            format!("{start}-{}", Digest::of(name.as_bytes()).short())
        }
        false => name,
    }
}

/// Folders in which at least three files, and at least half, are numbered documents; with the
/// prefix they share.
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

fn by_numbers(parts: &[&str], numbered: &BTreeMap<String, Option<String>>) -> Option<Place> {
    let base = parts.join("/");
    let prefix = numbered.get(&base)?;
    let kind = prefix.clone().unwrap_or_else(|| "document".to_string());
    let owner = owner(parts);
    let name = match (owner.is_empty(), prefix) {
        (false, _) => owner,
        (true, _) => format!("{kind}s"),
    };
    Some(Place { name, series: prefix.iter().cloned().collect(), kind, base, by_numbers: true })
}

/// Two series in one folder are two collections: `CIP-0001/` beside `CPS-0001/`.
fn own_series(place: Arc<Place>, path: &str) -> Arc<Place> {
    if !place.by_numbers || place.series.is_empty() {
        return place;
    }
    let base = if place.base.is_empty() { 0 } else { place.base.len() + 1 };
    let other = FileName::parse(&path[base..]).prefix.filter(|prefix| *prefix != place.kind);
    match other {
        Some(prefix) => Arc::new(Place {
            name: format!("{prefix}s"),
            series: vec![prefix.clone()],
            kind: prefix,
            ..Place::clone(&place)
        }),
        None => place,
    }
}

/// A single file that says by its name what it is: `adr-001-x.md` anywhere.
fn lone(path: &str) -> Option<Place> {
    let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
    let name = FileName::parse(file);
    let prefix = name.prefix.filter(|prefix| matches!(prefix.as_str(), "adr" | "rfc"))?;
    let parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    Some(place(&parts, 0, &prefix, &format!("{prefix}s")))
}
