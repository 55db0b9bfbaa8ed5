//! Walks the project once, honours `.gitignore`, and lists folders and possible documents.

use std::sync::Arc;

use anyhow::Context;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use rayon::prelude::*;
use rustix::fs::FileType;

use super::{known_folders, unread_formats, worktrees};
use crate::model::layout::{CONTEXT, HOOKS, LOCAL, folder_of};
use crate::model::{Code, Diagnostic, Digest, Folder, Noted, Plan, ProbedFile, TextFormat};
use crate::root::{Content, Root};

/// The kind of a directory entry that is not a folder.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FileKind {
    /// A regular file.
    Regular,
    /// A symbolic link.
    Link,
    /// A FIFO, a socket or a device.
    Other,
}

/// A file that may be a document, its metadata, or a link to one of these.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct WalkedFile {
    /// Path below the root.
    pub path: String,
    /// Its kind.
    pub kind: FileKind,
}

/// The result of a walk. Each list is sorted by path.
#[derive(Debug, Default)]
pub struct Tree {
    /// Folders that were listed.
    pub folders: Vec<Folder>,
    /// Files that may be documents, metadata files and links.
    pub files: Vec<WalkedFile>,
    /// Files named `manifest.json`, which can make a folder the container of a responsibility.
    pub manifests: Vec<String>,
    /// Files beside them in text formats that blue does not read.
    pub(super) unread: Vec<String>,
    /// Files whose first lines decided whether they are documents.
    pub probed: Vec<ProbedFile>,
    /// The `.gitignore` files that were honoured.
    pub ignores: Vec<String>,
    /// True if git's index caused a finding. The finding can go away without a change in any
    /// tracked file.
    pub depends_on_index: bool,
}

impl Tree {
    /// Returns true if the walk found a file in a format that blue reads, and `None` if the walk did
    /// not look there. A file that git ignores does not count, because other clones do not have it.
    pub fn has_text_file(&self, path: &str) -> Option<bool> {
        let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
        let is_found = || self.files.binary_search_by(|file| file.path.as_str().cmp(path)).is_ok();
        (self.has_folder(folder) && is_text(file)).then(is_found)
    }

    /// Returns true if the walk listed a folder.
    pub(super) fn has_folder(&self, path: &str) -> bool {
        self.folders.binary_search_by(|folder| folder.path.as_str().cmp(path)).is_ok()
    }
}

/// Folders with dependencies, samples or build output rather than this project's documents.
const SKIPPED: &[&str] = &[
    "node_modules",
    "vendor",
    "third_party",
    "third-party",
    "thirdparty",
    "testdata",
    "test-data",
    "fixtures",
    "__fixtures__",
    "__tests__",
    "site-packages",
    "bower_components",
    "venv",
    "Pods",
];

/// Such folders, unless they are below a folder of documents: there they name a topic.
const SKIPPED_OUTSIDE_DOCUMENTS: &[&str] = &["tests", "test", "target", "dist", "build"];

/// Folder of worktrees in the user's own project. Their documents belong to other projects.
const WORKTREES: &str = "worktrees";

/// Folders that only blue writes to.
const OWN_FOLDERS: [&str; 3] = [LOCAL, CONTEXT, HOOKS];

/// `.gitignore` files larger than this are not read.
const MAX_IGNORE_BYTES: u64 = 1 << 20;

/// Lists folders below the root.
pub(super) struct Walker<'a> {
    root: &'a Root,
    by_convention: bool,
    is_global: bool,
    pub(super) max_depth: u64,
}

/// The ignore rules of a folder and of those above it.
pub(super) struct Ignores {
    matcher: Gitignore,
    parent: Option<Arc<Ignores>>,
}

impl Ignores {
    pub(super) fn ignores(&self, path: &str, is_dir: bool) -> bool {
        let mut level = Some(self);
        while let Some(ignores) = level {
            match ignores.matcher.matched(path, is_dir) {
                ignore::Match::Ignore(_) => return true,
                ignore::Match::Whitelist(_) => return false,
                ignore::Match::None => level = ignores.parent.as_deref(),
            }
        }
        false
    }
}

/// The result of walking one folder and those below it.
#[derive(Default)]
struct Subtree {
    tree: Tree,
    notes: Vec<Diagnostic>,
}

/// Walks the project.
pub fn walk(root: &Root, plan: &Plan) -> anyhow::Result<Noted<Tree>> {
    let walker = Walker::new(root, plan);
    let Subtree { mut tree, notes } = walker.visit("", None, 0)?;
    tree.folders.sort_by(|a, b| a.path.cmp(&b.path));
    tree.files.sort_by(|a, b| a.path.cmp(&b.path));
    tree.ignores.sort();
    tree.unread.sort();
    tree.manifests.sort();
    Ok(Noted::new(tree, notes))
}

/// One entry of a folder.
pub(super) struct DirectoryEntry {
    pub(super) path: String,
    pub(super) kind: FileType,
}

impl<'a> Walker<'a> {
    pub(super) fn new(root: &'a Root, plan: &Plan) -> Walker<'a> {
        Walker {
            root,
            by_convention: plan.rules.is_empty(),
            is_global: root.machine().is_global,
            max_depth: plan.limits.depth,
        }
    }

    fn visit(
        &self,
        folder: &str,
        parent: Option<Arc<Ignores>>,
        depth: u64,
    ) -> anyhow::Result<Subtree> {
        let mut subtree = Subtree::default();
        if depth > self.max_depth {
            let message = format!("folders nest deeper than {}; not searched", self.max_depth);
            let hint = "move the documents up, or raise limits.depth in .blue/config.yaml";
            subtree.notes.push(Diagnostic::new(Code::TooDeep, folder, message).hint(hint));
            return Ok(subtree);
        }
        let listed = match self.list(folder, &mut subtree.notes) {
            Err(error) if is_too_long(&error) => {
                let message = "the path is too long for the system; not searched";
                subtree.notes.push(Diagnostic::new(Code::TooDeep, folder, message));
                return Ok(subtree);
            }
            listed => listed.with_context(|| {
                format!("read {}", if folder.is_empty() { "." } else { folder })
            })?,
        };
        let Some((listed, entries)) = listed else { return Ok(subtree) };
        subtree.tree.folders.push(listed);
        if worktrees::is_inner(self.root, folder, &entries) {
            return Ok(subtree);
        }
        let Subtree { tree, notes } = &mut subtree;
        let ignores = self.ignores(folder, &entries, parent, &mut tree.ignores, notes)?;
        let mut folders = Vec::new();
        for entry in entries {
            let is_dir = entry.kind == FileType::Directory;
            let ignored =
                ignores.as_ref().is_some_and(|ignores| ignores.ignores(&entry.path, is_dir));
            if ignored || is_dir && self.is_skipped_folder(&entry.path) {
                continue;
            }
            match entry.kind {
                FileType::Directory => folders.push(entry.path),
                file_type => self.add_file(entry.path, file_type, &mut subtree.tree),
            }
        }
        let below: Vec<anyhow::Result<Subtree>> =
            folders.par_iter().map(|path| self.visit(path, ignores.clone(), depth + 1)).collect();
        for below in below {
            let below = below?;
            subtree.tree.folders.extend(below.tree.folders);
            subtree.tree.files.extend(below.tree.files);
            subtree.tree.unread.extend(below.tree.unread);
            subtree.tree.manifests.extend(below.tree.manifests);
            subtree.tree.ignores.extend(below.tree.ignores);
            subtree.notes.extend(below.notes);
        }
        Ok(subtree)
    }

    /// Adds a file to the tree if its name is that of a document or of metadata, or if it is a
    /// link that may point to a folder of documents.
    fn add_file(&self, path: String, file_type: FileType, tree: &mut Tree) {
        let kind = match file_type {
            FileType::RegularFile => FileKind::Regular,
            FileType::Symlink => FileKind::Link,
            _ => FileKind::Other,
        };
        let file = path.rsplit('/').next().unwrap_or(&path);
        let is_link = kind == FileKind::Link && !self.is_skipped_folder(&path);
        if is_text(file) || SIDECARS.contains(&file) || is_link {
            tree.files.push(WalkedFile { path, kind });
        } else if kind == FileKind::Regular && file == "manifest.json" {
            tree.manifests.push(path);
        } else if kind == FileKind::Regular && unread_formats::is_unread(file) {
            tree.unread.push(path);
        }
    }

    /// Lists a folder. Returns the folder's stat and listing hash, and its entries, sorted. `None`
    /// if the folder does not exist any more.
    pub(super) fn list(
        &self,
        folder: &str,
        notes: &mut Vec<Diagnostic>,
    ) -> anyhow::Result<Option<(Folder, Vec<DirectoryEntry>)>> {
        let Some((stat, _)) = self.root.stat(folder)? else { return Ok(None) };
        let mut entries = Vec::new();
        let mut listing = 0u128;
        for entry in self.root.entries(folder)? {
            let name = entry.file_name().to_bytes();
            if matches!(name, b"." | b"..") {
                continue;
            }
            let kind = match entry.file_type() {
                FileType::Unknown => self.file_type(folder, name)?,
                kind => kind,
            };
            listing = listing.wrapping_add(entry_hash(name, kind));
            let Ok(name) = std::str::from_utf8(name) else {
                let name = String::from_utf8_lossy(name);
                if is_text(&name) {
                    let path = joined(folder, &name);
                    let message = "its name is not UTF-8; the document is not read";
                    notes
                        .push(Diagnostic::new(Code::NameNotUtf8, &path, message).hint("rename it"));
                }
                continue;
            };
            let path = joined(folder, name);
            entries.push(DirectoryEntry { path, kind });
        }
        entries.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        Ok(Some((Folder { path: folder.to_string(), stat, listing }, entries)))
    }

    /// Returns the type of an entry with a stat, for file systems whose listings have no types.
    fn file_type(&self, folder: &str, name: &[u8]) -> anyhow::Result<FileType> {
        let path = joined(folder, &String::from_utf8_lossy(name));
        Ok(self.root.stat(&path)?.map_or(FileType::Unknown, |(_, kind)| kind))
    }

    /// Returns the ignore rules of a folder, and adds its `.gitignore` to `files` if it has one.
    pub(super) fn ignores(
        &self,
        folder: &str,
        entries: &[DirectoryEntry],
        parent: Option<Arc<Ignores>>,
        files: &mut Vec<String>,
        notes: &mut Vec<Diagnostic>,
    ) -> anyhow::Result<Option<Arc<Ignores>>> {
        let path = joined(folder, ".gitignore");
        let is_file =
            |entry: &DirectoryEntry| entry.path == path && entry.kind == FileType::RegularFile;
        if !entries.iter().any(is_file) {
            return Ok(parent);
        }
        let content =
            self.root.read(&path, MAX_IGNORE_BYTES).with_context(|| format!("read {path}"))?;
        let Some(Content::Bytes(bytes, _)) = content else { return Ok(parent) };
        files.push(path);
        let mut builder = GitignoreBuilder::new(folder);
        for line in String::from_utf8_lossy(&bytes).lines() {
            // As in git, an invalid pattern ignores nothing.
            builder.add_line(None, line).ok();
        }
        // Too many patterns cannot be compiled and ignore nothing. git has no such limit.
        match builder.build() {
            Ok(matcher) => Ok(Some(Arc::new(Ignores { matcher, parent }))),
            Err(_) => {
                let message = "too many patterns; all of them are ignored";
                let path = joined(folder, ".gitignore");
                notes.push(Diagnostic::new(Code::TooLarge, &path, message));
                Ok(parent)
            }
        }
    }

    /// Returns true if a folder is never searched, whatever `.gitignore` contains.
    pub(super) fn is_skipped_folder(&self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        let hidden = name.starts_with('.') && name != ".blue";
        is_git_folder(name)
            || OWN_FOLDERS.contains(&path)
            || (self.is_global && path == WORKTREES)
            || (self.by_convention && (hidden || is_foreign(path, name)))
    }
}

/// Returns true for a folder with other things than this project's documents.
fn is_foreign(path: &str, name: &str) -> bool {
    let is_topic = || {
        let above = folder_of(path);
        known_folders::nearest(above).is_some() || above.split('/').any(known_folders::is_decided)
    };
    SKIPPED.contains(&name) || (SKIPPED_OUTSIDE_DOCUMENTS.contains(&name) && !is_topic())
}

/// Returns true if a walk would find a file, provided that nothing ignores it.
pub(super) fn is_walked(root: &Root, plan: &Plan, path: &str) -> bool {
    let walker = Walker::new(root, plan);
    let mut folders = path.match_indices('/').map(|(at, _)| &path[..at]);
    may_be_document(path) && !folders.any(|folder| walker.is_skipped_folder(folder))
}

/// Returns true if a path can be a document: in a format that blue reads, and not in a folder of
/// git or blue.
pub fn may_be_document(path: &str) -> bool {
    let is_in = |folder: &&str| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
    is_text(path) && !path.split('/').any(is_git_folder) && !OWN_FOLDERS.iter().any(is_in)
}

/// Returns true for `.git` in any case, because some file systems ignore case, and for the short
/// name of `.git` on Windows.
fn is_git_folder(name: &str) -> bool {
    name.eq_ignore_ascii_case(".git") || name.eq_ignore_ascii_case("git~1")
}

/// Returns true for file names with an extension of a format that blue reads.
pub(super) fn is_text(file: &str) -> bool {
    TextFormat::of_path(file).is_some()
}

/// Files with the metadata of the document beside them. The first one that exists is read.
pub(super) const SIDECARS: [&str; 3] = ["kep.yaml", "metadata.yaml", "meta.yaml"];

fn is_too_long(error: &anyhow::Error) -> bool {
    let code = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::raw_os_error);
    code == Some(rustix::io::Errno::NAMETOOLONG.raw_os_error())
}

fn joined(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_string() } else { [folder, "/", name].concat() }
}

/// Hashes the name and type of one entry of a folder.
pub fn entry_hash(name: &[u8], kind: FileType) -> u128 {
    let kind: &[u8] = match kind {
        FileType::Directory => b"folder",
        FileType::RegularFile => b"file",
        FileType::Symlink => b"link",
        _ => b"other",
    };
    let digest = Digest::of(&[kind, b"/", name].concat());
    u128::from_le_bytes(digest.as_bytes()[..16].try_into().expect("a digest has 32 bytes"))
}

/// Returns the sum of the hashes of all entries in a folder, or `None` if it cannot be read.
pub fn listing_hash(root: &Root, folder: &str) -> Option<u128> {
    let walker = Walker { root, by_convention: true, is_global: false, max_depth: 0 };
    let (folder, _) = walker.list(folder, &mut Vec::new()).ok()??;
    Some(folder.listing)
}
