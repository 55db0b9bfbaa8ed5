//! Lookup tables over the documents of one build.

use std::cmp::Ordering;
use std::sync::OnceLock;

use rayon::prelude::*;

use super::numbering_folder;
use super::series::Series;
use crate::model::document::is_cover;
use crate::model::uri::slugify;
use crate::model::{DocId, Document, Number, TextFormat};

/// Finds documents by path, file name, label, slug, title and URI. Tables that few projects need
/// are built on first use.
pub(super) struct DocumentIndex<'a> {
    paths: SortedTable<&'a str>,
    pages: OnceLock<SortedTable<String>>,
    labels: SortedTable<(&'a str, &'a str)>,
    slugs: SortedTable<&'a str>,
    titles: OnceLock<SortedTable<String>>,
    uris: OnceLock<SortedTable<&'a str>>,
    routes: OnceLock<SortedTable<String>>,
    numbers: OnceLock<SortedTable<(&'a str, &'a str)>>,
    name_patterns: OnceLock<SortedTable<String>>,
    /// Every series of the project, sorted.
    all_series: Vec<&'a str>,
    series: &'a Series,
    documents: &'a [Document],
}

/// Documents sorted by a key that several of them may share.
struct SortedTable<K>(Vec<(K, DocId)>);

impl<K: Ord + Send> SortedTable<K> {
    fn new(mut entries: Vec<(K, DocId)>) -> SortedTable<K> {
        entries.par_sort_unstable();
        SortedTable(entries)
    }

    /// Returns the documents of a key; `compare` orders a stored key against the wanted one.
    fn get(&self, compare: impl Fn(&K) -> Ordering) -> Vec<DocId> {
        let first = self.0.partition_point(|(key, _)| compare(key) == Ordering::Less);
        let rest = self.0[first..].iter();
        rest.take_while(|(key, _)| compare(key) == Ordering::Equal).map(|(_, id)| *id).collect()
    }
}

impl<'a> DocumentIndex<'a> {
    pub(super) fn new(documents: &'a [Document], series: &'a Series) -> DocumentIndex<'a> {
        let rows = || documents.iter().enumerate().map(|(i, document)| (document, DocId(i as u32)));
        let mut labels = Vec::new();
        for (document, id) in rows().filter(|(document, _)| !document.is_plan) {
            if let Some(number) = &document.number {
                for series in series.of(id.0 as usize, document) {
                    labels.push(((series, number.as_str()), id));
                }
            }
        }
        let mut all_series: Vec<&str> =
            rows().flat_map(|(document, id)| series.of(id.0 as usize, document)).collect();
        all_series.sort_unstable();
        all_series.dedup();
        DocumentIndex {
            paths: SortedTable::new(
                rows().map(|(document, id)| (document.path.as_str(), id)).collect(),
            ),
            pages: OnceLock::new(),
            labels: SortedTable::new(labels),
            slugs: SortedTable::new(
                rows()
                    .filter(|(d, _)| !d.slug.is_empty())
                    .map(|(d, id)| (d.slug.as_str(), id))
                    .collect(),
            ),
            titles: OnceLock::new(),
            uris: OnceLock::new(),
            routes: OnceLock::new(),
            numbers: OnceLock::new(),
            name_patterns: OnceLock::new(),
            all_series,
            series,
            documents,
        }
    }

    /// Returns a table, building it on first use.
    fn table<'s, K: Ord + Send>(
        &'s self,
        table: &'s OnceLock<SortedTable<K>>,
        key: impl Fn(&'a Document) -> K,
    ) -> &'s SortedTable<K> {
        table.get_or_init(|| {
            let rows = self.documents.iter().enumerate();
            SortedTable::new(rows.map(|(i, document)| (key(document), DocId(i as u32))).collect())
        })
    }

    pub(super) fn by_path(&self, path: &str) -> Option<DocId> {
        self.paths.get(|key| (*key).cmp(path)).first().copied()
    }

    /// Returns true if the path of any document starts with a text.
    pub(super) fn has_path_below(&self, start: &str) -> bool {
        let first = self.paths.0.partition_point(|(path, _)| *path < start);
        self.paths.0.get(first).is_some_and(|(path, _)| path.starts_with(start))
    }

    /// Returns the documents with a file name without extension, in any folder. A cover page such as
    /// `README.md` has the name of its folder.
    pub(super) fn by_page(&self, name: &str) -> Vec<DocId> {
        let key = name.to_lowercase();
        self.table(&self.pages, |document| page_key(&document.path))
            .get(|page| page.as_str().cmp(&key))
    }

    pub(super) fn by_label(&self, series: &str, number: &str) -> Vec<DocId> {
        self.labels.get(|key| (*key).cmp(&(series, number)))
    }

    pub(super) fn by_slug(&self, slug: &str) -> Vec<DocId> {
        self.slugs.get(|key| (*key).cmp(slug))
    }

    pub(super) fn by_title(&self, slug: &str) -> Vec<DocId> {
        self.table(&self.titles, |document| slugify(&document.title))
            .get(|key| key.as_str().cmp(slug))
    }

    pub(super) fn by_uri(&self, uri: &str) -> Option<DocId> {
        self.table(&self.uris, |document| document.uri.as_str())
            .get(|key| (*key).cmp(uri))
            .first()
            .copied()
    }

    /// Returns the documents whose path equals another one but for case, extension and the name
    /// of a cover page.
    pub(super) fn by_route(&self, path: &str) -> Vec<DocId> {
        let key = route_key(path);
        self.table(&self.routes, |document| route_key(&document.path))
            .get(|route| route.as_str().cmp(&key))
    }

    /// Returns the documents with a number in the folder where the number must be unique.
    pub(super) fn by_number_in(&self, folder: &str, number: &Number) -> Vec<DocId> {
        let no_number = "";
        let number_of = |document: &'a Document| match &document.number {
            Some(number) if !document.is_plan => number.as_str(),
            _ => no_number,
        };
        self.table(&self.numbers, |document| (numbering_folder(document), number_of(document)))
            .get(|key| (*key).cmp(&(folder, number.as_str())))
    }

    /// Returns true if the file name of a document differs from that of a path only in its numbers.
    pub(super) fn has_name_like(&self, path: &str) -> bool {
        let key = name_pattern(path);
        let table = self.table(&self.name_patterns, |document| name_pattern(&document.path));
        !table.get(|name| name.as_str().cmp(&key)).is_empty()
    }

    /// Returns the documents of a collection with a number.
    pub(super) fn by_number(&self, collection: usize, number: &Number) -> Vec<DocId> {
        let first = self.documents.partition_point(|document| document.collection < collection);
        let rows = self.documents.iter().enumerate().skip(first);
        rows.take_while(|(_, document)| document.collection == collection)
            .filter(|(_, document)| document.number.as_ref() == Some(number) && !document.is_plan)
            .map(|(i, _)| DocId(i as u32))
            .collect()
    }

    /// Returns true if documents of this project belong to a series.
    pub(super) fn has_series(&self, series: &str) -> bool {
        self.all_series.binary_search(&series).is_ok()
    }

    /// Returns the documents of a number in the collection whose series has another name too.
    pub(super) fn by_alias(&self, series: &str, number: &Number) -> Vec<DocId> {
        let collection = self.series.alias(series);
        collection.map_or(Vec::new(), |collection| self.by_number(collection, number))
    }

    pub(super) fn series_of(&self, id: DocId, document: &Document) -> Vec<&'a str> {
        self.series.of(id.0 as usize, document)
    }
}

fn page_key(path: &str) -> String {
    let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
    match is_cover(file) && !folder.is_empty() {
        true => folder.rsplit('/').next().unwrap_or(folder).to_lowercase(),
        false => TextFormat::without_extension(file).to_lowercase(),
    }
}

fn route_key(path: &str) -> String {
    let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
    let page = [".html", ".mdx"].iter().find_map(|end| file.strip_suffix(end));
    let stem = page.unwrap_or_else(|| TextFormat::without_extension(file));
    match is_cover(stem) {
        true => folder.to_lowercase(),
        false => format!("{folder}/{stem}").trim_start_matches('/').to_lowercase(),
    }
}

/// Returns a file name without its digits.
fn name_pattern(path: &str) -> String {
    let file = path.rsplit('/').next().unwrap_or(path);
    file.chars().filter(|c| !c.is_ascii_digit()).collect()
}
