//! Whether a path is in the repository, as every clone of it would answer.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::fs::FileType;

use super::deny::DenyList;
use super::walk::{Entry, Ignores, Tree, Walker};
use crate::model::layout::{MANIFEST, folder_of};
use crate::model::{Folder, Glob, PathKind, Plan};
use crate::root::Root;

/// Folders that are never part of a repository's own code.
const FOREIGN: &[&str] = &[".git", "node_modules", "bower_components", "site-packages"];

/// So many entries are tried against a pattern; one that fits none of them may still fit another.
const MAX_TRIED: usize = 50_000;

/// The repository's files and folders, looked at when somebody asks. What git ignores, what is on the
/// deny-list and what blue itself emits is not there, and neither is a folder without a file: no
/// clone has one.
pub struct Present<'a> {
    walker: Walker<'a>,
    deny: DenyList,
    tree: &'a Tree,
    looked: Mutex<BTreeMap<String, Option<Arc<Listing>>>>,
}

/// One folder as it is.
struct Listing {
    folder: Folder,
    /// Sorted by path.
    entries: Vec<Entry>,
    ignores: Option<Arc<Ignores>>,
    /// Whether it has ignore rules of its own.
    rules: Vec<String>,
}

/// Folders that only answers came from, and their ignore rules: what must not change for the answers
/// to stay.
pub struct Looked {
    folders: Vec<Folder>,
    ignores: Vec<String>,
}

impl Looked {
    /// Adds them to what a walk saw.
    pub fn join(self, tree: &mut Tree) {
        tree.folders.extend(self.folders);
        tree.folders.sort_by(|a, b| a.path.cmp(&b.path));
        tree.ignores.extend(self.ignores);
        tree.ignores.sort();
        tree.ignores.dedup();
    }
}

impl<'a> Present<'a> {
    /// The repository that a walk went through.
    pub fn new(root: &'a Root, plan: &Plan, tree: &'a Tree) -> anyhow::Result<Present<'a>> {
        let deny = DenyList::new(&plan.deny)?;
        let walker = Walker::new(root, plan);
        Ok(Present { walker, deny, tree, looked: Mutex::default() })
    }

    fn looked(&self) -> MutexGuard<'_, BTreeMap<String, Option<Arc<Listing>>>> {
        self.looked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a path is; `None` if it is not there.
    pub fn kind(&self, path: &str) -> Option<PathKind> {
        if !self.may_be(path) || is_emitted(path) || self.deny.denied_part(path).is_some() {
            return None;
        }
        let listing = self.listing(folder_of(path))?;
        let kind = listing.kind(path).filter(|_| !is_foreign(path))?;
        match kind {
            FileType::Directory => self.has_file(path, 0).then_some(PathKind::Folder),
            _ => Some(PathKind::File),
        }
    }

    /// Whether a pattern fits a file or folder that is there.
    pub fn fits(&self, glob: &Glob, below: &str) -> bool {
        let mut open = vec![below.to_string()];
        let mut n_tried = 0;
        while let Some(folder) = open.pop() {
            let Some(listing) = self.listing(&folder) else { continue };
            for entry in listing.entries.iter().rev().filter(|entry| self.counts(&listing, entry)) {
                n_tried += 1;
                if glob.matches(&entry.path) || n_tried > MAX_TRIED {
                    return true;
                }
                if entry.kind == FileType::Directory {
                    open.push(entry.path.clone());
                }
            }
        }
        false
    }

    /// The folders that were looked into besides those of the walk.
    pub fn finish(self) -> Looked {
        let looked = self.looked.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut all = Looked { folders: Vec::new(), ignores: Vec::new() };
        for listing in looked.into_values().flatten() {
            if !is_walked(self.tree, &listing.folder.path) {
                all.folders.push(listing.folder.clone());
                all.ignores.extend(listing.rules.iter().cloned());
            }
        }
        all
    }

    /// Whether a path can be there by what the walk saw: most that are asked for cannot, and cost
    /// no look at the disk.
    fn may_be(&self, path: &str) -> bool {
        let ends = path.match_indices('/').map(|(at, _)| &path[..at]);
        for folder in ends {
            if !is_walked(self.tree, folder) {
                return self.walker.is_skipped(folder, true) && !is_foreign(folder);
            }
        }
        !path.is_empty()
    }

    /// A folder's entries, if it and all above it are there.
    fn listing(&self, folder: &str) -> Option<Arc<Listing>> {
        if let Some(known) = self.looked().get(folder) {
            return known.clone();
        }
        let parent = match folder.is_empty() {
            true => None,
            false => {
                let above = self.listing(folder_of(folder))?;
                let there = above.kind(folder) == Some(FileType::Directory) && !is_foreign(folder);
                if !there {
                    return None;
                }
                above.ignores.clone()
            }
        };
        let listing = self.read(folder, parent).map(Arc::new);
        self.looked().insert(folder.to_string(), listing.clone());
        listing
    }

    /// Reads a folder. One that cannot be read has nothing that anybody can ask for.
    fn read(&self, folder: &str, parent: Option<Arc<Ignores>>) -> Option<Listing> {
        let (stat, entries, listing) = self.walker.entries(folder, &mut Vec::new()).ok()??;
        let mut rules = Vec::new();
        let ignores = self.walker.rules_of(folder, &entries, parent, &mut rules).ok()?;
        let folder = Folder { path: folder.to_string(), stat, listing };
        Some(Listing { folder, entries, ignores, rules })
    }

    fn counts(&self, listing: &Listing, entry: &Entry) -> bool {
        listing.kind(&entry.path).is_some()
            && !is_foreign(&entry.path)
            && !is_emitted(&entry.path)
            && self.deny.denied_part(&entry.path).is_none()
    }

    /// Whether there is a file in a folder or below it.
    fn has_file(&self, folder: &str, depth: u64) -> bool {
        let Some(listing) = self.listing(folder).filter(|_| depth <= self.walker.max_depth) else {
            return false;
        };
        let counted = || listing.entries.iter().filter(|entry| self.counts(&listing, entry));
        counted().any(|entry| entry.kind != FileType::Directory)
            || counted().any(|entry| self.has_file(&entry.path, depth + 1))
    }
}

impl Listing {
    /// What an entry is, unless it is ignored.
    fn kind(&self, path: &str) -> Option<FileType> {
        let at = self.entries.binary_search_by(|entry| entry.path.as_str().cmp(path)).ok()?;
        let kind = self.entries[at].kind;
        let is_dir = kind == FileType::Directory;
        let ignored = self.ignores.as_ref().is_some_and(|ignores| ignores.ignores(path, is_dir));
        (!ignored).then_some(kind)
    }
}

fn is_walked(tree: &Tree, folder: &str) -> bool {
    tree.folders.binary_search_by(|seen| seen.path.as_str().cmp(folder)).is_ok()
}

fn is_foreign(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    FOREIGN.contains(&name)
}

/// Whether a path is blue's own output: it would be there or not by whether blue was run before.
fn is_emitted(path: &str) -> bool {
    let digest = |rest: &str| rest.ends_with(".md") && !rest.contains('/');
    matches!(path, ".blue" | ".blue/context" | ".blue/local" | "knowledge" | MANIFEST)
        || path.starts_with(".blue/context/")
        || path.starts_with(".blue/local/")
        || path.strip_prefix("knowledge/").is_some_and(digest)
}
