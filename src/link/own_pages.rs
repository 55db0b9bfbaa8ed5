//! Infers which repositories on the web are this project's own, from the documents' own URLs.
//!
//! git's remotes are not read. They differ between forks and are absent in copies, so committed
//! artifacts would differ between two clones of the same documents. A URL of a file that exists
//! here at the same path shows the same, and gives every clone the same result.

use std::collections::{BTreeMap, BTreeSet};

use super::index::DocumentIndex;
use crate::model::layout::folder_of;
use crate::model::text_format::EXTENSIONS;
use crate::model::{DocId, Document, Reference, Target};

/// Last line of a document in which the URL of its own pull request is taken for metadata.
const METADATA_END: u32 = 20;

/// Files that tools create with the same name in many projects. Their path proves nothing.
const BOILERPLATE: [&str; 3] = [
    "record-architecture-decisions",
    "use-markdown-architectural-decision-records",
    "use-markdown-any-decision-records",
];

/// The repositories of this project on the web.
#[derive(Debug, Default)]
pub(super) struct OwnPages {
    /// `owner/name` in lower case.
    repositories: BTreeSet<String>,
    /// Repositories whose pull requests number the documents of a collection.
    numbered: BTreeMap<String, usize>,
    /// Folders with the path at which a website has their documents: `doc/rfcs` and `/docs/design`.
    sites: BTreeSet<(String, String)>,
}

/// A URL of a page of a repository.
#[derive(Debug, Eq, PartialEq)]
pub(super) struct RepositoryUrl<'u> {
    /// `owner/name` in lower case.
    pub(super) repository: String,
    pub(super) page: PageKind,
    /// The parts after the kind of page: a ref and a path, or a number.
    pub(super) rest: Vec<&'u str>,
}

/// The kinds of pages of a repository.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum PageKind {
    /// A file or folder at a ref.
    Tree,
    /// A pull request or an issue. They share their numbers.
    Pull,
    /// Anything else.
    Other,
}

impl<'u> RepositoryUrl<'u> {
    /// Parses the URLs of GitHub, GitLab and services with like addresses.
    pub(super) fn parse(url: &'u str) -> Option<RepositoryUrl<'u>> {
        let (_, rest) = url.split_once("://")?;
        let mut parts = Vec::with_capacity(12);
        parts.extend(rest.split('/').filter(|part| !part.is_empty()));
        let (host, parts) = parts.split_first()?;
        let name = |owner: &str, name: &str| [owner, "/", name].concat().to_lowercase();
        if *host == "raw.githubusercontent.com" {
            let (owner, repository) = (parts.first()?, parts.get(1)?);
            let rest = parts.get(2..)?.strip_prefix(&["refs", "heads"]).unwrap_or(&parts[2..]);
            let repository = name(owner, repository);
            return Some(RepositoryUrl { repository, page: PageKind::Tree, rest: rest.to_vec() });
        }
        let kind = |part: &str| {
            Some(match part {
                "blob" | "tree" | "raw" | "blame" | "edit" => PageKind::Tree,
                "pull" | "pulls" | "issues" | "merge_requests" => PageKind::Pull,
                _ => return None,
            })
        };
        let found = parts.iter().enumerate().skip(2).find_map(|(i, part)| Some((i, kind(part)?)));
        let Some((i, page)) = found else {
            let is_repository = matches!(*host, "github.com" | "gitlab.com" | "bitbucket.org");
            let (owner, repository) = (parts.first()?, parts.get(1)?);
            let page = PageKind::Other;
            let repository = name(owner, repository);
            return is_repository.then(|| RepositoryUrl { repository, page, rest: Vec::new() });
        };
        let end = if parts[i - 1] == "-" { i - 1 } else { i };
        let repository = name(parts.get(end.checked_sub(2)?)?, parts[end - 1]);
        Some(RepositoryUrl { repository, page, rest: parts[i + 1..].to_vec() })
    }

    /// Returns the paths that a URL of a file can mean. A ref may contain slashes.
    pub(super) fn paths(&self) -> impl Iterator<Item = String> {
        let n_refs = self.rest.len().min(4);
        (1..=n_refs).map(|n| self.rest[n..].join("/")).filter(|path| !path.is_empty())
    }
}

/// Evidence about one repository.
#[derive(Default)]
struct Votes {
    /// Documents whose path a URL of the repository has.
    paths: BTreeSet<DocId>,
    /// Numbered documents of each collection that name the pull request of their own number.
    own_numbers: BTreeMap<usize, BTreeSet<usize>>,
    /// Documents whose number is that of a pull request and of the id in the link's text.
    labelled: BTreeMap<usize, BTreeSet<DocId>>,
    /// Links to pull requests whose text has another number.
    n_other_labels: usize,
}

impl OwnPages {
    /// Infers the repositories from the URLs in all documents.
    pub(super) fn infer(documents: &[Document], index: &DocumentIndex<'_>) -> OwnPages {
        let mut votes: BTreeMap<String, Votes> = BTreeMap::new();
        let mut n_numbered: BTreeMap<usize, usize> = BTreeMap::new();
        for (row, document) in documents.iter().enumerate() {
            if document.number.is_some() {
                *n_numbered.entry(document.collection).or_default() += 1;
            }
            for reference in &document.facts.references {
                let Target::Url(url) = &reference.target else { continue };
                if let Some(url) = RepositoryUrl::parse(url) {
                    let votes = votes.entry(url.repository.clone()).or_default();
                    votes.add(&url, reference, row, documents, index);
                }
            }
        }
        let mut own = OwnPages { sites: sites(documents, index), ..OwnPages::default() };
        for (repository, votes) in &votes {
            own.numbered.extend(votes.numbers_of(&n_numbered).map(|c| (repository.clone(), c)));
            if !votes.paths.is_empty() {
                own.repositories.insert(repository.clone());
            }
        }
        // Numbers in link texts show less than metadata: another project's RFC 12 has one too.
        if own.numbered.is_empty() {
            for (repository, votes) in &votes {
                let collection = votes.labelled_collection();
                own.numbered.extend(collection.map(|c| (repository.clone(), c)));
            }
        }
        own.repositories.extend(own.numbered.keys().cloned());
        own
    }

    /// Returns true if a repository is this project's, `None` if none is known.
    pub(super) fn is_own(&self, repository: &str) -> Option<bool> {
        (!self.repositories.is_empty()).then(|| self.repositories.contains(repository))
    }

    /// Returns the document of a folder that a path from the root of a website names.
    pub(super) fn page(
        &self,
        folder: &str,
        path: &str,
        index: &DocumentIndex<'_>,
    ) -> Option<DocId> {
        let (site, page) = split_page(path)?;
        let is_site = self.sites.contains(&(folder.to_string(), site.to_string()));
        is_site.then(|| page_in(folder, page, index)).flatten()
    }

    /// Returns the collection that is numbered by a repository's pull requests.
    pub(super) fn numbered_by(&self, repository: &str) -> Option<usize> {
        self.numbered.get(repository).copied()
    }
}

/// Number of documents that links must name below a path of a website before it counts.
const MIN_PAGES: usize = 3;

/// Infers the paths of websites from links such as `/docs/design/request` in the documents of a
/// folder: nearly all links below the path name documents of this folder.
fn sites(documents: &[Document], index: &DocumentIndex<'_>) -> BTreeSet<(String, String)> {
    let mut pages: BTreeMap<(&str, &str), BTreeMap<&str, bool>> = BTreeMap::new();
    for document in documents {
        let folder = folder_of(&document.path);
        for reference in &document.facts.references {
            if let Target::Path(path) = &reference.target
                && let Some((site, page)) = split_page(path)
            {
                let pages = pages.entry((folder, site)).or_default();
                pages.entry(page).or_insert_with(|| page_in(folder, page, index).is_some());
            }
        }
    }
    let is_site = |pages: &BTreeMap<&str, bool>| {
        let n_found = pages.values().filter(|is_found| **is_found).count();
        n_found >= MIN_PAGES && (pages.len() - n_found) * 4 <= n_found
    };
    let found = pages.into_iter().filter(|(_, pages)| is_site(pages));
    found.map(|((folder, site), _)| (folder.to_string(), site.to_string())).collect()
}

/// Splits a path from the root of a website into its folder and its page.
fn split_page(path: &str) -> Option<(&str, &str)> {
    let (site, page) = path.strip_prefix('/')?.trim_end_matches('/').rsplit_once('/')?;
    let page = page.strip_suffix(".html").unwrap_or(page);
    (!page.is_empty() && !page.contains('.')).then_some((site, page))
}

/// Returns the document of a folder with the name of a page.
fn page_in(folder: &str, page: &str, index: &DocumentIndex<'_>) -> Option<DocId> {
    let mut paths = EXTENSIONS.iter().map(|(extension, _)| match folder.is_empty() {
        true => format!("{page}.{extension}"),
        false => format!("{folder}/{page}.{extension}"),
    });
    paths.find_map(|path| index.by_path(&path))
}

impl Votes {
    fn add(
        &mut self,
        url: &RepositoryUrl<'_>,
        reference: &Reference,
        row: usize,
        documents: &[Document],
        index: &DocumentIndex<'_>,
    ) {
        match url.page {
            PageKind::Tree => {
                let found = url.paths().find_map(|path| index.by_path(&path));
                self.paths.extend(found.filter(|id| is_specific(&documents[id.0 as usize])));
            }
            PageKind::Pull => {
                let document = &documents[row];
                let Some(value) = url.rest.first().and_then(|n| n.parse::<u64>().ok()) else {
                    return;
                };
                let own = document.number.as_ref().and_then(|number| number.value());
                if own == Some(value) && reference.line <= METADATA_END {
                    self.own_numbers.entry(document.collection).or_default().insert(row);
                }
                let Some(label) = &reference.label else { return };
                if label.number.value() != Some(value) {
                    self.n_other_labels += 1;
                    return;
                }
                if let [id] = index.by_label(&label.series, label.number.as_str()).as_slice() {
                    let collection = documents[id.0 as usize].collection;
                    self.labelled.entry(collection).or_default().insert(*id);
                }
            }
            PageKind::Other => {}
        }
    }

    /// Returns the collection in which most documents name the pull request of their own number.
    fn numbers_of(&self, n_numbered: &BTreeMap<usize, usize>) -> impl Iterator<Item = usize> {
        let most = self.own_numbers.iter().filter(|(collection, rows)| {
            let total = n_numbered.get(*collection).copied().unwrap_or(0);
            rows.len() >= 3 && rows.len() * 2 > total
        });
        most.map(|(collection, _)| *collection)
    }

    /// Returns the collection whose ids agree with the numbers of pull requests.
    fn labelled_collection(&self) -> Option<usize> {
        let (collection, ids) = self.labelled.iter().max_by_key(|(_, ids)| ids.len())?;
        (ids.len() >= 5 && self.n_other_labels * 5 <= ids.len()).then_some(*collection)
    }
}

/// Returns true if another project is unlikely to have a document at the same path.
pub(super) fn is_specific(document: &Document) -> bool {
    let name = document.path.rsplit('/').next().unwrap_or_default();
    let is_dated = name.starts_with(|c: char| c.is_ascii_digit()) && document.slug.contains('-');
    let is_named = document.number.is_some() || is_dated || document.slug.matches('-').count() >= 2;
    is_named && !BOILERPLATE.contains(&document.slug.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_of_repositories_are_parsed() {
        let check = |url: &str, repository: &str, page: PageKind, rest: &[&str]| {
            let parsed = RepositoryUrl::parse(url).expect("a URL of a repository");
            assert_eq!((parsed.repository.as_str(), parsed.page), (repository, page), "{url}");
            assert_eq!(parsed.rest, rest, "{url}");
        };
        check(
            "https://github.com/A/b/blob/main/x/y.md",
            "a/b",
            PageKind::Tree,
            &["main", "x", "y.md"],
        );
        check("https://github.com/a/b/pull/12/files", "a/b", PageKind::Pull, &["12", "files"]);
        check(
            "https://raw.githubusercontent.com/a/b/main/x",
            "a/b",
            PageKind::Tree,
            &["main", "x"],
        );
        check("https://git.x.org/g/a/b/-/tree/main/x", "a/b", PageKind::Tree, &["main", "x"]);
        check("https://github.com/a/b", "a/b", PageKind::Other, &[]);
        assert_eq!(RepositoryUrl::parse("https://example.org/adr/12"), None);
        assert_eq!(RepositoryUrl::parse("https://"), None);
    }
}
