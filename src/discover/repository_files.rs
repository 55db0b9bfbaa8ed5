//! Looks up files and folders of the repository, with the same result in every clone.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::fs::FileType;

use super::deny::DenyList;
use super::walk::{DirectoryEntry, Ignores, Tree, Walker};
use crate::model::layout::{
    BLUE, CONTEXT, KNOWLEDGE, KNOWLEDGE_FOLDER, LOCAL, MANIFEST, WORKTREE, folder_of, is_below,
};
use crate::model::{BuildTarget, Folder, Glob, PathKind, Plan};
use crate::root::Root;

/// Folders that are never part of a repository's own code.
const FOREIGN: &[&str] = &[".git", "node_modules", "bower_components", "site-packages"];

/// Maximum number of entries that are matched against a glob. If there are more, the glob counts as
/// matching.
const MAX_GLOB_ENTRIES: usize = 50_000;

/// In a repository with fewer folders, no share of them says anything.
const MIN_FOLDERS: usize = 16;

/// The files and folders of the repository, listed on demand. Files that git ignores, files on the
/// deny-list and blue's own artifacts are left out. So are folders without a file, because git does
/// not track them.
pub struct RepositoryFiles<'a> {
    walker: Walker<'a>,
    deny: DenyList,
    targets: Vec<BuildTarget>,
    tree: &'a Tree,
    listed: Mutex<BTreeMap<String, Option<Arc<ListedFolder>>>>,
}

/// One folder and its entries.
struct ListedFolder {
    folder: Folder,
    /// Sorted by path.
    entries: Vec<DirectoryEntry>,
    ignores: Option<Arc<Ignores>>,
    /// The path of its own `.gitignore`, if it has one.
    ignore_files: Vec<String>,
}

/// Folders that were listed in addition to those of the walk, and their ignore files. A change in
/// them can change the result of a lookup, so the next build has to notice it.
pub struct ListedFolders {
    folders: Vec<Folder>,
    ignores: Vec<String>,
}

impl ListedFolders {
    /// Adds the folders and ignore files to those of the walk.
    pub fn add_to(self, tree: &mut Tree) {
        tree.folders.extend(self.folders);
        tree.folders.sort_by(|a, b| a.path.cmp(&b.path));
        tree.ignores.extend(self.ignores);
        tree.ignores.sort();
        tree.ignores.dedup();
    }
}

impl<'a> RepositoryFiles<'a> {
    /// Prepares lookups in the project that was walked.
    pub fn new(root: &'a Root, plan: &Plan, tree: &'a Tree) -> anyhow::Result<RepositoryFiles<'a>> {
        let deny = DenyList::new(&plan.deny)?;
        let walker = Walker::new(root, plan);
        let targets = plan.targets.clone();
        Ok(RepositoryFiles { walker, deny, targets, tree, listed: Mutex::default() })
    }

    fn listed(&self) -> MutexGuard<'_, BTreeMap<String, Option<Arc<ListedFolder>>>> {
        self.listed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns true for a folder at the root, and for one with more than half of the repository's
    /// folders. blue's own folders do not count, because the first build creates them.
    pub fn is_broad(&self, path: &str) -> bool {
        let folders = &self.tree.folders;
        let first_at = |path: &str| folders.partition_point(|folder| folder.path.as_str() < path);
        // In the order of bytes, `0` follows `/`.
        let n_in = |folder: &str| first_at(&format!("{folder}0")) - first_at(&format!("{folder}/"));
        let n_own = |own: &str| n_in(own) + usize::from(self.tree.has_folder(own));
        let n_all = folders.len() - n_own(BLUE) - n_own(KNOWLEDGE_FOLDER);
        !path.contains('/') || n_all >= MIN_FOLDERS && n_in(path) * 2 > n_all
    }

    /// Returns the kind of a path, or `None` if it is not in the repository.
    pub fn kind(&self, path: &str) -> Option<PathKind> {
        // A build creates these files, so they exist in every clone.
        if self.targets.iter().any(|target| target.shared_file() == Some(path)) {
            return Some(PathKind::File);
        }
        if !self.may_exist(path) || self.is_built(path) || self.deny.denied_part(path).is_some() {
            return None;
        }
        let folder = self.list(folder_of(path))?;
        let kind = folder.kind(path).filter(|_| !is_foreign(path))?;
        match kind {
            FileType::Directory => self.has_file(path, 0).then_some(PathKind::Folder),
            _ => Some(PathKind::File),
        }
    }

    /// Returns true if a glob matches a file or folder below a folder.
    pub fn has_match(&self, glob: &Glob, folder: &str) -> bool {
        let mut open = vec![folder.to_string()];
        let mut n_tried = 0;
        while let Some(folder) = open.pop() {
            let Some(folder) = self.list(&folder) else { continue };
            for entry in
                folder.entries.iter().rev().filter(|entry| self.is_included(&folder, entry))
            {
                n_tried += 1;
                if glob.matches(&entry.path) || n_tried > MAX_GLOB_ENTRIES {
                    return true;
                }
                if entry.kind == FileType::Directory {
                    open.push(entry.path.clone());
                }
            }
        }
        false
    }

    /// Returns the folders that were listed in addition to those of the walk.
    pub fn into_listed_folders(self) -> ListedFolders {
        let listed = self.listed.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut additional = ListedFolders { folders: Vec::new(), ignores: Vec::new() };
        for listed in listed.into_values().flatten() {
            if !self.tree.has_folder(&listed.folder.path) {
                additional.folders.push(listed.folder.clone());
                additional.ignores.extend(listed.ignore_files.iter().cloned());
            }
        }
        additional
    }

    /// Returns false if the walk shows that a path does not exist. This rules out most of the paths
    /// that documents name, without a system call.
    fn may_exist(&self, path: &str) -> bool {
        let folders = path.match_indices('/').map(|(at, _)| &path[..at]);
        for folder in folders {
            if !self.tree.has_folder(folder) {
                return self.walker.is_skipped_folder(folder) && !is_foreign(folder);
            }
        }
        !path.is_empty()
    }

    /// Lists a folder, if it and the folders above it are in the repository.
    fn list(&self, folder: &str) -> Option<Arc<ListedFolder>> {
        if let Some(listed) = self.listed().get(folder) {
            return listed.clone();
        }
        let parent = match folder.is_empty() {
            true => None,
            false => {
                let parent = self.list(folder_of(folder))?;
                let is_folder = parent.kind(folder) == Some(FileType::Directory);
                if !is_folder || is_foreign(folder) {
                    return None;
                }
                parent.ignores.clone()
            }
        };
        let listed = self.read(folder, parent).map(Arc::new);
        self.listed().insert(folder.to_string(), listed.clone());
        listed
    }

    /// Reads a folder. One that cannot be read counts as missing.
    fn read(&self, folder: &str, parent: Option<Arc<Ignores>>) -> Option<ListedFolder> {
        let mut notes = Vec::new();
        let (listed, entries) = self.walker.list(folder, &mut notes).ok()??;
        let mut ignore_files = Vec::new();
        let ignores =
            self.walker.ignores(folder, &entries, parent, &mut ignore_files, &mut notes).ok()?;
        Some(ListedFolder { folder: listed, entries, ignores, ignore_files })
    }

    /// Returns true if an entry is part of the repository.
    fn is_included(&self, folder: &ListedFolder, entry: &DirectoryEntry) -> bool {
        folder.kind(&entry.path).is_some()
            && !is_foreign(&entry.path)
            && !self.is_built(&entry.path)
            && self.deny.denied_part(&entry.path).is_none()
    }

    /// Returns true if a build writes a path, so that a folder must not count because of it.
    fn is_built(&self, path: &str) -> bool {
        let mut targets = self.targets.iter();
        is_emitted(path)
            || targets.any(|target| target.owns(path) || target.shared_file() == Some(path))
    }

    /// Returns true if there is a file in a folder or below it.
    fn has_file(&self, folder: &str, depth: u64) -> bool {
        let Some(folder) = self.list(folder).filter(|_| depth <= self.walker.max_depth) else {
            return false;
        };
        let included = || folder.entries.iter().filter(|entry| self.is_included(&folder, entry));
        included().any(|entry| entry.kind != FileType::Directory)
            || included().any(|entry| self.has_file(&entry.path, depth + 1))
    }
}

impl ListedFolder {
    /// Returns the type of an entry, or `None` if it is ignored or not in the folder.
    fn kind(&self, path: &str) -> Option<FileType> {
        let at = self.entries.binary_search_by(|entry| entry.path.as_str().cmp(path)).ok()?;
        let kind = self.entries[at].kind;
        let is_dir = kind == FileType::Directory;
        let ignored = self.ignores.as_ref().is_some_and(|ignores| ignores.ignores(path, is_dir));
        (!ignored).then_some(kind)
    }
}

fn is_foreign(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    FOREIGN.contains(&name)
}

/// Returns true if a path is an artifact or local state of blue. Another clone may not have it, so a
/// lookup must not depend on it.
fn is_emitted(path: &str) -> bool {
    let digest = |rest: &str| rest.ends_with(".md") && !rest.contains('/');
    matches!(path, BLUE | CONTEXT | LOCAL | KNOWLEDGE_FOLDER | MANIFEST | WORKTREE)
        || is_below(path, CONTEXT)
        || is_below(path, LOCAL)
        || path.strip_prefix(KNOWLEDGE).is_some_and(digest)
}
