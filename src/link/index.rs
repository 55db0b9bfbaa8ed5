//! Look-up tables over the documents of one build.

use std::cmp::Ordering;
use std::sync::OnceLock;

use rayon::prelude::*;

use super::series::Series;
use crate::model::uri::slugify;
use crate::model::{DocId, Document};

/// Sorted tables; each answers with the rows that match. Those that only some documents need are
/// made on demand.
pub(super) struct Index<'a> {
    paths: Table<&'a str>,
    files: OnceLock<Table<String>>,
    labels: Table<(&'a str, &'a str)>,
    slugs: Table<&'a str>,
    titles: OnceLock<Table<String>>,
    uris: OnceLock<Table<&'a str>>,
    series: Vec<&'a str>,
    own: &'a Series,
    documents: &'a [Document],
}

/// Pairs sorted by key.
struct Table<K>(Vec<(K, DocId)>);

impl<K: Ord + Send> Table<K> {
    fn new(mut pairs: Vec<(K, DocId)>) -> Table<K> {
        pairs.par_sort_unstable();
        Table(pairs)
    }

    /// The rows of a key; `compare` orders a stored key against the one asked for.
    fn get(&self, compare: impl Fn(&K) -> Ordering) -> Vec<DocId> {
        let first = self.0.partition_point(|(key, _)| compare(key) == Ordering::Less);
        let rest = self.0[first..].iter();
        rest.take_while(|(key, _)| compare(key) == Ordering::Equal).map(|(_, id)| *id).collect()
    }
}

impl<'a> Index<'a> {
    pub(super) fn new(documents: &'a [Document], own: &'a Series) -> Index<'a> {
        let rows = || documents.iter().enumerate().map(|(i, document)| (document, DocId(i as u32)));
        let mut labels = Vec::new();
        for (document, id) in rows().filter(|(document, _)| !document.is_plan) {
            if let Some(number) = &document.number {
                for series in own.of(id.0 as usize, document) {
                    labels.push(((series, number.as_str()), id));
                }
            }
        }
        let mut series: Vec<&str> =
            rows().flat_map(|(document, id)| own.of(id.0 as usize, document)).collect();
        series.sort_unstable();
        series.dedup();
        Index {
            paths: Table::new(rows().map(|(document, id)| (document.path.as_str(), id)).collect()),
            files: OnceLock::new(),
            labels: Table::new(labels),
            slugs: Table::new(
                rows()
                    .filter(|(d, _)| !d.slug.is_empty())
                    .map(|(d, id)| (d.slug.as_str(), id))
                    .collect(),
            ),
            titles: OnceLock::new(),
            uris: OnceLock::new(),
            series,
            own,
            documents,
        }
    }

    /// A table that few builds need, made when it is first asked.
    fn table<'s, K: Ord + Send>(
        &'s self,
        table: &'s OnceLock<Table<K>>,
        key: impl Fn(&'a Document) -> K,
    ) -> &'s Table<K> {
        table.get_or_init(|| {
            let rows = self.documents.iter().enumerate();
            Table::new(rows.map(|(i, document)| (key(document), DocId(i as u32))).collect())
        })
    }

    pub(super) fn by_path(&self, path: &str) -> Option<DocId> {
        self.paths.get(|key| (*key).cmp(path)).first().copied()
    }

    /// Documents whose file has this name, whatever its folder; the folder counts for covers.
    pub(super) fn by_file(&self, path: &str) -> Vec<DocId> {
        let key = file_key(path);
        self.table(&self.files, |document| file_key(&document.path))
            .get(|file| file.as_str().cmp(&key))
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

    /// Whether a prefix is one of this project's own.
    pub(super) fn owns(&self, series: &str) -> bool {
        self.series.binary_search(&series).is_ok()
    }

    pub(super) fn series_of(&self, id: DocId, document: &Document) -> Vec<&'a str> {
        self.own.of(id.0 as usize, document)
    }
}

fn file_key(path: &str) -> String {
    let mut parts = path.rsplit('/');
    let file = parts.next().unwrap_or(path);
    match parts.next().filter(|_| crate::model::document::is_cover(file)) {
        Some(folder) => format!("{}/{}", folder.to_lowercase(), file.to_lowercase()),
        None => file.to_lowercase(),
    }
}
