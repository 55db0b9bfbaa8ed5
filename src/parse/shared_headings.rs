//! Finds headings that several documents of a collection share. They name sections, not documents.

use super::section_names::normal_name;
use crate::model::terms::hash;
use crate::model::{FoundFile, Parsed};

/// A heading of this many documents is not a title. Two documents may have the same title, such as
/// a translation and its original.
const MIN_DOCUMENTS: usize = 3;

/// Hashes of the shared headings with their collection, sorted.
pub(super) struct SharedHeadings(Vec<(usize, u64)>);

impl SharedHeadings {
    /// Counts the first headings of all documents.
    pub(super) fn new<'a>(files: impl Iterator<Item = (&'a FoundFile, &'a Parsed)>) -> Self {
        let mut keys: Vec<(usize, u64)> = Vec::new();
        for (file, parsed) in files {
            let start = keys.len();
            let headings = parsed.facts.titles.headings.iter();
            keys.extend(headings.map(|heading| key(file.collection, &heading.text)));
            keys[start..].sort_unstable();
            let mut previous = None;
            let mut end = start;
            for at in start..keys.len() {
                if previous.replace(keys[at]) != Some(keys[at]) {
                    keys[end] = keys[at];
                    end += 1;
                }
            }
            keys.truncate(end);
        }
        keys.sort_unstable();
        let groups = keys.chunk_by(|a, b| a == b).filter(|group| group.len() >= MIN_DOCUMENTS);
        SharedHeadings(groups.map(|group| group[0]).collect())
    }

    /// Returns true if several documents of a collection have a heading.
    pub(super) fn contain(&self, collection: usize, heading: &str) -> bool {
        self.0.binary_search(&key(collection, heading)).is_ok()
    }
}

fn key(collection: usize, heading: &str) -> (usize, u64) {
    (collection, hash(normal_name(heading).as_bytes()))
}
