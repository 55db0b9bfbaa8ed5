//! Finds documents by the globs of the configuration.

use globset::{Glob, GlobBuilder};

use super::companions::{files_per_folder, is_document};
use super::conventions::sidecar_of;
use super::deny::{Access, DenyList};
use super::walk::{WalkedFile, is_text};
use crate::model::layout::folder_of;
use crate::model::plan::Rule;
use crate::model::{Code, Collection, Diagnostic, FileName, FoundFile};

/// Finds documents by rule. A file belongs to the first rule that matches it.
pub(super) fn apply(
    rules: &[Rule],
    deny: &DenyList,
    files: &[WalkedFile],
    notes: &mut Vec<Diagnostic>,
) -> anyhow::Result<(Vec<Collection>, Vec<FoundFile>)> {
    let mut collections: Vec<Collection> = Vec::new();
    let mut found: Vec<FoundFile> = Vec::new();
    let texts: Vec<&str> =
        files.iter().map(|file| file.path.as_str()).filter(|path| is_text(path)).collect();
    let counts = files_per_folder(&texts);
    let mut taken = vec![false; texts.len()];
    for rule in rules {
        let row = collection_row(&mut collections, rule);
        for pattern in &rule.paths {
            let glob = compiled(pattern, deny)?.compile_matcher();
            let base = base_len(pattern);
            let folder = &pattern[..base];
            let mut n_matched = 0;
            for (i, path) in texts.iter().enumerate() {
                if !glob.is_match(path) || !path.starts_with(folder) {
                    continue;
                }
                n_matched += 1;
                let name = FileName::parse(&path[base..]);
                let n_files = counts.get(folder_of(path)).copied().unwrap_or_default();
                if taken[i] || !(pattern == path || is_document(&path[base..], &name, n_files)) {
                    continue;
                }
                taken[i] = true;
                let (path, sidecar) = (path.to_string(), sidecar_of(path, files));
                found.push(FoundFile { path, base, collection: row, sidecar, name });
            }
            if n_matched == 0 {
                let message = format!("no document matches {pattern:?}");
                notes.push(
                    Diagnostic::new(Code::SourceUnknown, ".blue/config.yaml", message)
                        .hint("correct documents.paths"),
                );
            }
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok((collections, found))
}

/// Returns the index of a rule's collection, which is added if it is new.
fn collection_row(collections: &mut Vec<Collection>, rule: &Rule) -> usize {
    let row = collections
        .iter()
        .position(|collection| collection.name == rule.collection)
        .unwrap_or_else(|| {
            collections.push(Collection {
                name: rule.collection.clone(),
                kind: rule.kind.clone(),
                series: Vec::new(),
                globs: Vec::new(),
            });
            collections.len() - 1
        });
    let collection = &mut collections[row];
    collection.series.extend(rule.series.iter().cloned());
    collection.globs.extend(rule.paths.iter().cloned());
    collection.series.dedup();
    row
}

/// Compiles a pattern, and refuses one that leaves the project or names something denied.
fn compiled(pattern: &str, deny: &DenyList) -> anyhow::Result<Glob> {
    anyhow::ensure!(
        !pattern.contains('\\'),
        ".blue/config.yaml: documents path {pattern:?} has a backslash\nhint: write `/` between folders; nothing needs escaping"
    );
    let outside = pattern.starts_with('/') || pattern.split('/').any(|part| part == "..");
    anyhow::ensure!(
        !outside,
        ".blue/config.yaml: documents path {pattern:?} leaves the project\nhint: name a path below the project; for documents elsewhere, link to them and set security.allow_external: true"
    );
    let denied = pattern.split('/').find(|part| {
        !part.contains(['*', '?', '[', '{']) && matches!(deny.access(part), Access::Denied(_))
    });
    anyhow::ensure!(
        denied.is_none(),
        ".blue/config.yaml: documents path {pattern:?} names {:?}, which is on the deny-list\nhint: take the pattern out of security.deny to allow it",
        denied.unwrap_or_default()
    );
    Ok(GlobBuilder::new(pattern).literal_separator(true).build()?)
}

/// Returns true if files below a folder can match a pattern: the folder's path matches the start of
/// the pattern, and the folders that the pattern names next exist.
pub(super) fn may_contain_match(
    pattern: &str,
    folder: &str,
    is_folder: &dyn Fn(&str) -> bool,
) -> bool {
    let mut at = folder.to_string();
    let mut names = folder.split('/').peekable();
    let mut parts = pattern.split('/').peekable();
    while let Some(part) = parts.next() {
        let is_last = parts.peek().is_none();
        match names.next() {
            _ if part == "**" => return true,
            Some(_) if is_last => return false,
            Some(name) => {
                let glob = GlobBuilder::new(part).literal_separator(true).build();
                if !glob.is_ok_and(|glob| glob.compile_matcher().is_match(name)) {
                    return false;
                }
            }
            None if is_last || part.contains(['*', '?', '[', '{']) => return true,
            None => {
                at = format!("{at}/{part}");
                if !is_folder(&at) {
                    return false;
                }
            }
        }
    }
    true
}

/// Returns the length of a pattern's leading folders without wildcards, including the slash.
fn base_len(pattern: &str) -> usize {
    let wildcard = pattern.find(['*', '?', '[', '{']).unwrap_or(pattern.len());
    pattern[..wildcard].rfind('/').map_or(0, |at| at + 1)
}
