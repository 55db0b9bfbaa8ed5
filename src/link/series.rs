//! Infers the series of each document from the ids that documents state for themselves.

use std::collections::BTreeMap;

use crate::model::{Collection, Document};

/// The series of every document, by row.
pub(super) struct Series {
    stated: Vec<Option<String>>,
    of_collections: Vec<Vec<String>>,
}

impl Series {
    /// Returns the series that a document states for itself, if its collection has another one.
    pub(super) fn stated(&self, row: usize) -> Option<&str> {
        self.stated[row].as_deref()
    }

    /// Returns every series that a document can be referred to by.
    pub(super) fn of<'a>(&'a self, row: usize, document: &Document) -> Vec<&'a str> {
        match self.stated(row) {
            Some(series) => vec![series],
            None => self.of_collections[document.collection].iter().map(String::as_str).collect(),
        }
    }
}

/// Infers the series of every document. A collection has the series of its convention, and those
/// that most of its documents state. A document has another series if it states one, and at least
/// two documents and a tenth of the collection state the same.
pub(super) fn infer(collections: &[Collection], documents: &[Document]) -> Series {
    let mut counts: BTreeMap<(usize, &str), usize> = BTreeMap::new();
    let mut sizes = vec![0usize; collections.len()];
    for document in documents {
        sizes[document.collection] += 1;
        if let Some(label) = &document.facts.label {
            *counts.entry((document.collection, &label.series)).or_default() += 1;
        }
    }
    let mut of_collections: Vec<Vec<String>> =
        collections.iter().map(|c| c.series.clone()).collect();
    let established = |collection: usize, series: &str| {
        let n = counts.get(&(collection, series)).copied().unwrap_or(0);
        n >= 2 && n * 10 >= sizes[collection]
    };
    for (collection, series) in counts.keys() {
        let collection_series = &mut of_collections[*collection];
        let is_majority = counts[&(*collection, *series)] * 2 > sizes[*collection];
        if is_majority && !collection_series.iter().any(|name| name == series) {
            collection_series.push(series.to_string());
        }
    }
    let stated = documents
        .iter()
        .map(|document| {
            let label = document.facts.label.as_ref()?;
            let is_known = of_collections[document.collection].contains(&label.series);
            // A document in one series of its collection is in all of them: `RFC 16` is `rfcs#16`.
            (!is_known
                && (established(document.collection, &label.series)
                    || sizes[document.collection] < 2))
                .then(|| label.series.clone())
        })
        .collect();
    Series { stated, of_collections }
}
