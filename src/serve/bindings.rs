//! The documents that bind a file or a folder, from the index of paths.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::Catalogue;
use crate::model::Glob;
use crate::model::escape::escape;
use crate::model::layout::PATHS;
use crate::root::Root;
use crate::wire::jsonl::DocumentLine;
use crate::wire::paths::{PathLine, PathLineKind};

/// A document that binds a path.
#[derive(Debug)]
pub struct Bound {
    /// Its line in the index.
    pub document: DocumentLine,
    /// The reasons, the most specific first; never empty.
    pub because: Vec<Because>,
}

/// A reason why a document binds a path.
#[derive(Debug)]
pub struct Because {
    /// The path or pattern that it names.
    pub path: String,
    /// Its kind.
    pub kind: PathLineKind,
    /// The way in which the document names it.
    pub reason: String,
    /// The line of the document.
    pub line: Option<u32>,
}

impl Because {
    /// In words: `src/parse/ named in code, line 9`.
    pub fn text(&self) -> String {
        let slash = if self.kind == PathLineKind::Folder { "/" } else { "" };
        let line = self.line.map_or(String::new(), |line| format!(", line {line}"));
        format!("{}{slash}: {}{line}", self.path, self.reason)
    }
}

/// The documents that bind a path, and counts of those that are not listed.
#[derive(Debug, Default)]
pub struct Bindings {
    /// The documents that bind it, the most specific first.
    pub bound: Vec<Bound>,
    /// Documents that are left out because they are not live.
    pub n_history: usize,
    /// Named paths below it.
    pub n_below: usize,
    /// Documents that name those.
    pub n_documents_below: usize,
    /// The most similar named path, if no document binds it.
    pub near: Option<String>,
}

/// Sort key, the most specific first: the path itself, then the deepest folder, a folder before a
/// pattern, the more deliberate reason.
type Specificity = (Reverse<usize>, bool, u8);

/// Finds the documents that bind a path below the root; with `all`, also those that are not live.
/// `None` if nothing was built yet.
pub fn bound(
    root: &Root,
    catalogue: &Catalogue,
    path: &str,
    all: bool,
) -> anyhow::Result<Option<Bindings>> {
    let Some(lines) = super::lines::<PathLine>(root, PATHS, 1 << 32, "path")? else {
        return Ok(None);
    };
    let mut found: BTreeMap<usize, Vec<(Specificity, Because)>> = BTreeMap::new();
    let mut below = BTreeSet::new();
    let mut answer = Bindings::default();
    for line in &lines {
        if let Some((depth, is_glob)) = depth_of(line, path) {
            for named in &line.documents {
                let Some(row) = catalogue.row(&named.uri) else { continue };
                let rank = (Reverse(depth), is_glob, deliberate(&named.reason));
                let because = Because {
                    path: escape(&line.path).into_owned(),
                    kind: line.kind,
                    reason: escape(&named.reason).into_owned(),
                    line: named.line,
                };
                found.entry(row).or_default().push((rank, because));
            }
        } else if line.kind != PathLineKind::Glob && is_in(path, &line.path) {
            let live = |uri: &str| catalogue.row(uri).is_some_and(|row| catalogue.is_live(row));
            let uris = line.documents.iter().map(|named| named.uri.as_str());
            let uris: Vec<&str> = uris.filter(|uri| all || live(uri)).collect();
            answer.n_below += usize::from(!uris.is_empty());
            below.extend(uris);
        }
    }
    answer.n_documents_below = below.len();
    answer.bound = ordered(catalogue, found, all, &mut answer.n_history);
    if answer.bound.is_empty() && answer.n_below == 0 {
        answer.near = nearest(&lines, path);
    }
    Ok(Some(answer))
}

fn ordered(
    catalogue: &Catalogue,
    found: BTreeMap<usize, Vec<(Specificity, Because)>>,
    all: bool,
    n_history: &mut usize,
) -> Vec<Bound> {
    let mut bound = Vec::new();
    for (row, mut because) in found {
        if !all && !catalogue.is_live(row) {
            *n_history += 1;
            continue;
        }
        let Some(document) = catalogue.line(row) else { continue };
        because.sort_by(|(a, x), (b, y)| a.cmp(b).then_with(|| x.path.cmp(&y.path)));
        let rank = (because[0].0, Reverse(catalogue.weight(row)), document.uri.clone());
        let because = because.into_iter().map(|(_, because)| because).collect();
        bound.push((rank, Bound { document, because }));
    }
    bound.sort_by(|(a, _), (b, _)| a.cmp(b));
    bound.into_iter().map(|(_, bound)| bound).collect()
}

/// The depth of the folder or pattern that binds a path, and true for a pattern. The path itself
/// counts as deepest. `None` if the line does not bind it.
fn depth_of(line: &PathLine, path: &str) -> Option<(usize, bool)> {
    match line.kind {
        PathLineKind::Glob => {
            let glob = Glob::new(&line.path).filter(|glob| glob.matches(path))?;
            Some((glob.n_literal_folders(), true))
        }
        PathLineKind::File | PathLineKind::Folder if line.path == path => Some((usize::MAX, false)),
        PathLineKind::Folder if is_in(&line.path, path) => {
            Some((line.path.split('/').count(), false))
        }
        PathLineKind::File | PathLineKind::Folder => None,
    }
}

/// Returns true if a path is in a folder. Every path is in the root.
fn is_in(folder: &str, path: &str) -> bool {
    folder.is_empty() || path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

/// Ranks the ways of naming a path, the most deliberate first.
fn deliberate(reason: &str) -> u8 {
    match reason {
        "affects it" => 0,
        "links to it" => 1,
        _ => 2,
    }
}

/// The named path most similar to a path, if any is similar.
fn nearest(lines: &[PathLine], path: &str) -> Option<String> {
    let file = |path: &str| path.rsplit('/').next().unwrap_or_default().to_string();
    let wanted = file(path);
    let named =
        lines.iter().filter(|line| line.kind != PathLineKind::Glob).map(|line| line.path.as_str());
    let distances = named.map(|named| {
        // A file of the same name in another folder is a better guess than a similar path.
        let elsewhere = file(named) != wanted;
        (elsewhere, strsim::damerau_levenshtein(&clipped(path), &clipped(named)), named)
    });
    let (elsewhere, distance, near) = distances.min()?;
    let similar = !elsewhere || distance * 3 <= path.len();
    similar.then(|| escape(near).into_owned())
}

fn clipped(path: &str) -> String {
    path.chars().take(128).collect()
}
