//! Infers the series of each document from the ids that documents state for themselves.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{Collection, Document, FileName, Relation, Target};

/// The series of every document, by row.
pub(super) struct Series {
    stated: Vec<Option<String>>,
    of_collections: Vec<Vec<String>>,
    /// Other names of a series, with the collection that they mean.
    aliases: BTreeMap<String, usize>,
}

impl Series {
    /// Returns the series that a document states for itself, if its collection has another one.
    pub(super) fn stated(&self, row: usize) -> Option<&str> {
        self.stated[row].as_deref()
    }

    /// Returns the collection that an older name of its series means.
    pub(super) fn alias(&self, name: &str) -> Option<usize> {
        self.aliases.get(name).copied()
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
        let stated = document.facts.label.iter();
        let keyed = document.facts.keyed_numbers.iter();
        let keyed = keyed.filter(|label| Some(&label.number) == document.number.as_ref());
        let series: BTreeSet<&str> = stated.chain(keyed).map(|l| l.series.as_str()).collect();
        for series in series {
            *counts.entry((document.collection, series)).or_default() += 1;
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
    let aliases = aliases(documents, &of_collections);
    Series { stated, of_collections, aliases }
}

/// Minimum number of agreements that show that a name is an alias of a series.
const MIN_AGREEMENTS: usize = 3;

/// Infers other names of a series, such as `task-12` for `back-12`. The number and the title have to
/// agree in paths that contain both, or the number has to be that of the parent: `task-12` in the
/// header of `back-12.3`.
fn aliases(documents: &[Document], of_collections: &[Vec<String>]) -> BTreeMap<String, usize> {
    let is_known = |series: &str| of_collections.iter().flatten().any(|known| known == series);
    let mut votes: BTreeMap<(String, usize), (usize, usize)> = BTreeMap::new();
    let mut slugs: BTreeSet<(usize, &str, &str)> = BTreeSet::new();
    for document in documents {
        if let Some(number) = &document.number {
            slugs.insert((document.collection, number.as_str(), &document.slug));
        }
    }
    for document in documents {
        let collection = document.collection;
        let mut vote = |series: &str, agrees: bool| {
            let (yes, no) = votes.entry((series.to_string(), collection)).or_default();
            *(if agrees { yes } else { no }) += 1;
        };
        let parent = document.number.as_ref().and_then(|n| Some(n.as_str().rsplit_once('.')?.0));
        for reference in &document.facts.references {
            match &reference.target {
                Target::Label(label)
                    if Some(label.number.as_str()) == parent
                        && reference.relation == Relation::Related
                        && !is_known(&label.series) =>
                {
                    vote(&label.series, true);
                }
                Target::Path(path) | Target::FieldPath(path) => {
                    let name = FileName::parse(path);
                    if let (Some(prefix), Some(number)) = (&name.prefix, &name.number)
                        && !name.slug.is_empty()
                        && !is_known(prefix)
                    {
                        vote(prefix, slugs.contains(&(collection, number.as_str(), &name.slug)));
                    }
                }
                _ => {}
            }
        }
    }
    let learned =
        votes.into_iter().filter(|(_, (yes, no))| *yes >= MIN_AGREEMENTS && no * 4 <= *yes);
    learned.map(|(alias, _)| alias).collect()
}
