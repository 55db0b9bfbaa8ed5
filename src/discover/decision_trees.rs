//! Recognises folders of documents by the first lines of their files.

use std::collections::BTreeMap;

use super::known_folders::{DocumentFolder, RecognisedBy, owner, parts_of};
use super::numbered_folders::is_in_series;
use crate::model::layout::folder_of;
use crate::model::{FileName, document};

/// Numbers of undecided files in a folder, and in the folders below it.
#[derive(Clone, Copy, Debug, Default)]
struct DecisionCounts {
    n_decisions: usize,
    n_files: usize,
}

impl DecisionCounts {
    fn add(&mut self, is_decision: bool) {
        self.n_decisions += usize::from(is_decision);
        self.n_files += 1;
    }

    /// Returns true if at least three files, and a part of them, are decisions.
    fn has_majority(self, of: usize, at_least: usize) -> bool {
        self.n_decisions >= 3 && self.n_decisions * of >= self.n_files * at_least
    }
}

/// A folder on the way to undecided files.
#[derive(Default)]
struct Branch<'a> {
    files: DecisionCounts,
    all: DecisionCounts,
    below: BTreeMap<&'a str, Branch<'a>>,
}

/// Finds folders of documents among files about which names do not decide. `is_decision` says for
/// each file whether its first lines have the metadata of a decision.
///
/// A folder with all folders below it is one collection if four of five files are decisions. If
/// that is not so, a folder alone counts if two of three files are. Folders beside each other that
/// are collections by themselves are not joined.
pub(super) fn find<'a>(files: &[(&'a str, bool)]) -> Vec<(&'a str, DocumentFolder)> {
    let mut root = Branch::default();
    for (path, is_decision) in files {
        // A cover page without metadata is an index.
        let file = path.rsplit('/').next().unwrap_or(path);
        if *is_decision || !document::is_cover(file) {
            root.add(folder_of(path), *is_decision);
        }
    }
    let mut trees = BTreeMap::new();
    root.settle("", &mut trees);
    files
        .iter()
        .filter_map(|(path, is_decision)| Some((*path, tree_of(path, *is_decision, &trees)?)))
        .collect()
}

/// Returns the folder of documents that a file belongs to, if it is a document.
fn tree_of(
    path: &str,
    is_decision: bool,
    trees: &BTreeMap<String, bool>,
) -> Option<DocumentFolder> {
    if !is_decision {
        return None;
    }
    let parts = parts_of(folder_of(path));
    let in_tree = (0..=parts.len()).rev().find(|n| {
        let with_subfolders = trees.get(&parts[..*n].join("/"));
        with_subfolders.is_some_and(|with_subfolders| *with_subfolders || *n == parts.len())
    });
    let n = match in_tree {
        Some(n) => n,
        // A decision with the number of a series needs no others beside it.
        None => {
            let file = path.rsplit('/').next().unwrap_or(path);
            is_in_series(&FileName::parse(file), file).then_some(parts.len())?
        }
    };
    let owner = owner(&parts[..n]);
    Some(DocumentFolder {
        name: if owner.is_empty() { "documents".to_string() } else { owner },
        kind: "document".to_string(),
        series: Vec::new(),
        base: parts[..n].join("/"),
        status: None,
        recognised: RecognisedBy::FirstLines,
    })
}

impl<'a> Branch<'a> {
    fn add(&mut self, folder: &'a str, is_decision: bool) {
        self.all.add(is_decision);
        let mut branch = self;
        for part in parts_of(folder) {
            branch = branch.below.entry(part).or_default();
            branch.all.add(is_decision);
        }
        branch.files.add(is_decision);
    }

    /// Adds the folders of documents in this folder and below it to `trees`, each with true if the
    /// folders below it belong to it.
    fn settle(&self, folder: &str, trees: &mut BTreeMap<String, bool>) {
        let with_decisions = || self.below.values().filter(|branch| branch.all.n_decisions > 0);
        let is_split = self.files.n_decisions == 0
            && (with_decisions().count() == 1
                || with_decisions().all(|b| b.all.has_majority(5, 4)));
        if self.all.has_majority(5, 4) && !is_split {
            trees.insert(folder.to_string(), true);
            return;
        }
        if self.files.has_majority(3, 2) {
            trees.insert(folder.to_string(), false);
        }
        for (name, branch) in &self.below {
            let path =
                if folder.is_empty() { name.to_string() } else { format!("{folder}/{name}") };
            branch.settle(&path, trees);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bases(files: &[(&str, bool)]) -> Vec<String> {
        find(files).into_iter().map(|(path, folder)| format!("{path} {}", folder.base)).collect()
    }

    #[test]
    fn a_tree_of_decisions_is_one_collection() {
        let files = [
            ("plans/a/x.md", true),
            ("plans/b/README.md", false),
            ("plans/b/y.md", true),
            ("plans/c/z.md", true),
            ("guide/intro.md", false),
            ("guide/setup.md", false),
        ];
        assert_eq!(
            bases(&files),
            ["plans/a/x.md plans", "plans/b/y.md plans", "plans/c/z.md plans"]
        );
    }

    #[test]
    fn a_few_decisions_among_other_pages_are_not_a_collection() {
        let files = [
            ("docs/a.md", true),
            ("docs/b.md", true),
            ("docs/c.md", true),
            ("docs/d.md", false),
            ("docs/e.md", false),
        ];
        assert_eq!(bases(&files), [""; 0]);
        assert_eq!(bases(&[("docs/0001-a.md", true)]), ["docs/0001-a.md docs"]);
        assert_eq!(bases(&[("docs/a.md", true), ("docs/b.md", true)]), [""; 0]);
    }
}
