//! Recognises folders of documents by their names.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use crate::model::layout::folder_of;
use crate::model::series::{known_series, singular};
use crate::model::uri::slugify;
use crate::model::{Digest, Status, rules, status_folders};

/// Names of folders that are too generic to name a part of the project.
const GENERIC_FOLDERS: &str = include_str!("rules/generic_folders.txt");

/// Names of folders that contain documents, with kind, collection and place.
static DOCUMENT_FOLDERS: LazyLock<BTreeMap<&str, [&str; 3]>> = LazyLock::new(|| {
    rules::entries(include_str!("rules/document_folders.txt"))
        .filter_map(|entry| {
            let (name, rest) = entry.split_once(" = ")?;
            let mut words = rest.split(' ');
            Some((name, [words.next()?, words.next()?, words.next()?]))
        })
        .collect()
});

/// Longest name of a collection, in bytes.
const MAX_NAME: usize = 96;

/// The reason why a folder counts as a folder of documents.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum RecognisedBy {
    /// Its name. All documents in it count.
    Name,
    /// Its numbered files. Others count if their first lines have the metadata of a decision.
    Numbers,
    /// The first lines of its files.
    FirstLines,
}

/// A folder of documents, before it has a row in the list of collections.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct DocumentFolder {
    pub(super) name: String,
    pub(super) kind: String,
    pub(super) series: Vec<String>,
    pub(super) base: String,
    /// The status in the folder's own name: `proposals-rejected`.
    pub(super) status: Option<(Status, String)>,
    pub(super) recognised: RecognisedBy,
}

impl DocumentFolder {
    /// Returns a folder whose last `n_kind_parts` parts name the kind of document. The other parts
    /// name the part of the project that it belongs to.
    pub(super) fn named(
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
            "proposal" | "note" | "design" => Vec::new(),
            kind => vec![kind.to_string()],
        };
        DocumentFolder {
            name,
            kind: kind.to_string(),
            series,
            base: parts.join("/"),
            status: None,
            recognised: RecognisedBy::Name,
        }
    }

    /// Returns the length of the folder's path with its slash.
    pub(super) fn base_len(&self) -> usize {
        if self.base.is_empty() { 0 } else { self.base.len() + 1 }
    }
}

pub(super) fn parts_of(folder: &str) -> Vec<&str> {
    folder.split('/').filter(|part| !part.is_empty()).collect()
}

/// Recognizes a folder, or the nearest folder above it, by its name.
pub(super) fn nearest(folder: &str) -> Option<DocumentFolder> {
    let parts = parts_of(folder);
    (1..=parts.len()).rev().find_map(|n| known_folder(&parts[..n]))
}

/// Returns true if a folder is recognised by its name.
pub(super) fn is_known(folder: &str) -> bool {
    known_folder(&folder.split('/').collect::<Vec<_>>()).is_some()
}

/// Recognizes a folder by its name.
fn known_folder(parts: &[&str]) -> Option<DocumentFolder> {
    let lower: Vec<String> =
        parts.iter().map(|part| part.to_lowercase().replace(['_', ' '], "-")).collect();
    let last = lower.last()?.as_str();
    let parent = lower.len().checked_sub(2).map_or("", |i| lower[i].as_str());
    if let Some(at) = lower.iter().position(|part| part == ".blue") {
        return own_folder(parts, &lower[at + 1..]);
    }
    let in_docs = matches!(
        parent,
        "" | "docs" | "doc" | "architecture" | "arch" | "design" | "documentation"
    );
    let below_docs = || lower.iter().any(|part| matches!(part.as_str(), "docs" | "doc"));
    let is_in = |place: &str| match place {
        "docs" => in_docs,
        "below-docs" => in_docs || below_docs(),
        "root" => parts.len() == 1,
        _ => true,
    };
    if let Some([kind, plural, place]) = DOCUMENT_FOLDERS.get(last)
        && is_in(place)
    {
        return Some(DocumentFolder::named(parts, 1, kind, plural));
    }
    if let Some((rest, status)) = split_status(last) {
        let renamed = [&parts[..parts.len() - 1], &[rest]].concat();
        let (base, status) = (parts.join("/"), Some(status));
        return known_folder(&renamed).map(|found| DocumentFolder { base, status, ..found });
    }
    // Folders named after a series: keps, geps, aip.
    if parts.len() > 2 || last.len() > 5 {
        return None;
    }
    let kind = known_series(last)?;
    Some(DocumentFolder::named(parts, 1, &kind, &format!("{kind}s")))
}

/// Returns the status of the documents in a folder that is in an archive or in another folder for
/// what is not live any more: `archive/docs/adr`.
pub(super) fn ended_place(base: &str) -> Option<(Status, String)> {
    let statuses = base.rsplit('/').filter_map(status_folders::parse);
    statuses.into_iter().find(|(status, _)| !status.is_live())
}

/// Splits a status off the name of a folder: `proposals-rejected`, `accepted-rfcs`.
fn split_status(name: &str) -> Option<(&str, (Status, String))> {
    let at_end = name.rsplit_once('-').and_then(|(rest, word)| Some((rest, word_status(word)?)));
    at_end
        .or_else(|| name.split_once('-').and_then(|(word, rest)| Some((rest, word_status(word)?))))
}

fn word_status(word: &str) -> Option<(Status, String)> {
    status_folders::parse(word).filter(|_| word.bytes().all(|b| b.is_ascii_alphabetic()))
}

/// Recognizes one of blue's own folders of documents, from the folders below `.blue`.
fn own_folder(parts: &[&str], below: &[String]) -> Option<DocumentFolder> {
    match below {
        [docs, collection] if docs == "docs" => {
            Some(DocumentFolder::named(parts, 3, &singular(collection), collection))
        }
        [docs] if docs == "docs" => Some(DocumentFolder::named(parts, 2, "note", "notes")),
        [contracts] if contracts == "contracts" => {
            Some(DocumentFolder::named(parts, 2, "contract", "contracts"))
        }
        _ => None,
    }
}

/// Finds the folders that are divided by status, such as one with `accepted/` and `draft/`. Only
/// decisions are accepted, proposed, rejected or superseded, so one such folder beside another with
/// a status is enough.
pub(super) fn divided_by_status<'a>(texts: &[&'a str]) -> BTreeSet<&'a str> {
    let mut divisions: BTreeMap<&str, BTreeMap<String, bool>> = BTreeMap::new();
    let mut last = None;
    for path in texts {
        let mut folder = folder_of(path);
        if last == Some(folder) {
            continue;
        }
        last = Some(folder);
        while !folder.is_empty() {
            let (parent, name) = folder.rsplit_once('/').unwrap_or(("", folder));
            if status_folders::parse(name).is_some() {
                let names = divisions.entry(parent).or_default();
                names.insert(name.to_lowercase(), is_decided(name));
            }
            folder = parent;
        }
    }
    let is_divided = |names: &BTreeMap<String, bool>| {
        names.len() >= 2 && names.values().any(|is_decided| *is_decided)
    };
    divisions.into_iter().filter(|(_, names)| is_divided(names)).map(|(folder, _)| folder).collect()
}

/// Returns true for the name of a folder with a status that only decisions have.
pub(super) fn is_decided(name: &str) -> bool {
    const NAMES: [&str; 10] = [
        "accepted",
        "adopted",
        "approved",
        "declined",
        "deferred",
        "implemented",
        "proposed",
        "rejected",
        "superseded",
        "withdrawn",
    ];
    let is_known = |part: &str| NAMES.iter().any(|known| part.eq_ignore_ascii_case(known));
    name.split(['-', '_', ' ']).any(is_known) && status_folders::parse(name).is_some()
}

/// Recognizes the nearest folder above a folder with a status as its name.
pub(super) fn nearest_divided(folder: &str, divided: &BTreeSet<&str>) -> Option<DocumentFolder> {
    let parts = parts_of(folder);
    let is_below_division = |n: &usize| {
        status_folders::parse(parts[*n]).is_some()
            && divided.contains(parts[..*n].join("/").as_str())
    };
    let n = (0..parts.len()).rev().find(is_below_division)?;
    Some(DocumentFolder::named(&parts[..n], 0, "proposal", "proposals"))
}

/// Returns the name of the part of the project that a folder belongs to. A very long name is cut
/// and made unique with a digest, because it becomes part of a file name.
pub(super) fn owner(parts: &[&str]) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_documents_have_many_names() {
        for (folder, kind) in [
            ("docs/adr", "adr"),
            ("ADR", "adr"),
            ("docs/architecture-decision-record", "adr"),
            ("docs/Architecture_Decision_Records", "adr"),
            ("decision-record", "adr"),
            ("docs/decisions", "adr"),
            ("a/b/design-proposals", "proposal"),
            ("enhancements", "proposal"),
            ("docs/design-docs", "design"),
            ("docs/design", "design"),
            ("keps", "kep"),
            ("rfd", "rfd"),
            ("docs/proposals-rejected", "proposal"),
            ("accepted-rfcs", "rfc"),
        ] {
            assert_eq!(nearest(folder).map(|found| found.kind).as_deref(), Some(kind), "{folder}");
        }
        assert_eq!(
            nearest("docs/proposals-rejected/2020").and_then(|found| found.status),
            Some((Status::Rejected, "rejected".to_string()))
        );
        for folder in
            ["docs", "rejected-things", "src/design", "app/decisions", "lib/text", "guides"]
        {
            assert_eq!(nearest(folder), None, "{folder}");
        }
    }

    #[test]
    fn a_folder_with_folders_for_statuses_has_documents() {
        let texts = ["accepted/2020/x.md", "proposed/y.md", "rejected/z.md", "blog/draft/a.md"];
        let divided = divided_by_status(&texts);
        let base = |path| nearest_divided(folder_of(path), &divided).map(|folder| folder.base);
        assert_eq!(base("accepted/2020/x.md").as_deref(), Some(""));
        assert_eq!(base("blog/draft/a.md"), None);
        let divided = divided_by_status(&["Draft-Accepted/x.md", "Final/y.md"]);
        assert!(divided.contains(""));
        assert!(divided_by_status(&["done/x.md", "old/y.md"]).is_empty());
    }
}
