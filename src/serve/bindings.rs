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
    /// The document's line in the index.
    pub document: DocumentLine,
    /// The reasons, most specific first; never empty.
    pub because: Vec<Because>,
}

/// A reason why a document binds a path.
#[derive(Debug)]
pub struct Because {
    /// The path or pattern that the document names.
    pub path: String,
    /// Kind of the path.
    pub kind: PathLineKind,
    /// Kind of mention, such as `named in code`.
    pub reason: String,
    /// The line of the mention.
    pub line: Option<u32>,
}

impl Because {
    /// Formats the reason: `src/parse/: named in code, line 9`.
    pub fn text(&self) -> String {
        let slash = if self.kind == PathLineKind::Folder { "/" } else { "" };
        let line = self.line.map_or(String::new(), |line| format!(", line {line}"));
        format!("{}{slash}: {}{line}", self.path, self.reason)
    }
}

/// The documents that bind a path, and counts of those that are not listed.
#[derive(Debug, Default)]
pub struct Bindings {
    /// The documents, most specific first.
    pub bound: Vec<Bound>,
    /// Number of documents that are not listed because they are not live.
    pub n_history: usize,
    /// Number of named paths below this path.
    pub n_below: usize,
    /// Number of documents that name paths below this path.
    pub n_documents_below: usize,
    /// The most similar named path, if no document binds this path.
    pub similar: Option<String>,
}

/// Distance between a path and what a document names, nearest first.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Nearness {
    /// The path itself.
    Exact,
    /// A folder above it or a pattern, in a header field.
    Stated,
    /// A folder above it, in the text.
    Mentioned,
    /// A pattern that names no folder, such as `**/*.rs`.
    Everywhere,
}

/// Sort key, most specific first: by nearness, then by depth of the folder, then folders before
/// patterns, then by how explicit the mention is.
type Specificity = (Nearness, Reverse<usize>, bool, u8);

/// Finds the documents that bind a path below the root. With `all`, documents that are not live are
/// included. `None` if nothing was built yet.
pub fn find(
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
            let is_exact = !is_glob && line.path == path;
            for named in line.documents.iter().filter(|named| is_exact || !named.folder_only) {
                let Some(row) = catalogue.row(&named.uri) else { continue };
                let explicitness = explicitness(&named.reason);
                let nearness = match (is_exact, explicitness) {
                    (true, _) => Nearness::Exact,
                    _ if is_glob && depth == 0 => Nearness::Everywhere,
                    (_, 0) => Nearness::Stated,
                    _ => Nearness::Mentioned,
                };
                let rank = (nearness, Reverse(depth), is_glob, explicitness);
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
    answer.bound = sorted(catalogue, found, all, &mut answer.n_history);
    if answer.bound.is_empty() && answer.n_below == 0 {
        answer.similar = most_similar(&lines, path);
    }
    Ok(Some(answer))
}

fn sorted(
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

/// Returns the depth of the folder or pattern that binds a path, and true for a pattern. An exact
/// match counts as deepest. `None` if the line does not bind the path.
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

/// Ranks the kinds of mentions, most explicit first.
fn explicitness(reason: &str) -> u8 {
    match reason {
        "affects it" => 0,
        "links to it" => 1,
        _ => 2,
    }
}

/// Returns the named path that is most similar to a path, if any is similar.
fn most_similar(lines: &[PathLine], path: &str) -> Option<String> {
    fn file_name(path: &str) -> &str {
        path.rsplit('/').next().unwrap_or_default()
    }
    let clipped = |path: &str| path.chars().take(128).collect::<String>();
    let named =
        lines.iter().filter(|line| line.kind != PathLineKind::Glob).map(|line| line.path.as_str());
    let distances = named.map(|named| {
        // A file of the same name in another folder is a better guess than a similar path.
        let is_other_file = file_name(named) != file_name(path);
        (is_other_file, strsim::damerau_levenshtein(&clipped(path), &clipped(named)), named)
    });
    let (is_other_file, distance, nearest) = distances.min()?;
    let is_similar = !is_other_file || distance * 3 <= path.len();
    is_similar.then(|| escape(nearest).into_owned())
}
