//! Finds headings that several documents of a collection share. They name sections, not documents.

use super::section_names::normal_name;
use super::title_candidates::shares_word;
use crate::model::terms::hash;
use crate::model::{FoundFile, Parsed};

/// A heading of this many documents is not a title. Two documents may have the same title, such as
/// a translation and its original.
const MIN_DOCUMENTS: usize = 3;

/// Headings that more than one document of a collection has.
pub(super) struct SharedHeadings {
    /// Hashes of headings with their collection, and true if at least `MIN_DOCUMENTS` have it,
    /// sorted.
    repeated: Vec<((usize, u64), bool)>,
}

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
        let groups = keys.chunk_by(|a, b| a == b).filter(|group| group.len() >= 2);
        let repeated = groups.map(|group| (group[0], group.len() >= MIN_DOCUMENTS));
        SharedHeadings { repeated: repeated.collect() }
    }

    /// Returns true if a heading is not the title of a document with a slug: several documents of
    /// its collection have the heading, or another one has it and the slug has no word of it, as in
    /// a copy in which the title was not changed.
    pub(super) fn contain(&self, collection: usize, heading: &str, slug: &str) -> bool {
        let wanted = key(collection, heading);
        let found = self.repeated.binary_search_by_key(&wanted, |(key, _)| *key);
        let is_copied = || slug.contains('-') && !shares_word(heading, slug);
        found.is_ok_and(|at| self.repeated[at].1 || is_copied())
    }
}

fn key(collection: usize, heading: &str) -> (usize, u64) {
    (collection, hash(normal_name(heading).as_bytes()))
}
