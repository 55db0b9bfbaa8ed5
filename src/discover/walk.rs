//! One walk over the project: folders, and the files that may matter, `.gitignore` honoured.

use std::sync::Arc;

use anyhow::Context;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use rayon::prelude::*;
use rustix::fs::FileType;

use crate::model::{Code, Diagnostic, Digest, Folder, Noted, Plan, Stat};
use crate::root::{Content, Root};

/// What a directory entry is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Sort {
    /// A regular file.
    Regular,
    /// A symbolic link.
    Link,
    /// A FIFO, a socket, a device.
    Other,
}

/// A file that may matter, by its name.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Seen {
    /// Path below the root.
    pub path: String,
    /// What it is.
    pub sort: Sort,
}

/// What a walk saw, sorted by path.
#[derive(Debug, Default)]
pub struct Tree {
    /// Folders looked into.
    pub folders: Vec<Folder>,
    /// Markdown files, metadata files and links.
    pub files: Vec<Seen>,
    /// The `.gitignore` files that were honoured.
    pub ignores: Vec<String>,
    /// Whether git's index caused a finding: it can go away and no file that is watched changes.
    pub depends_on_index: bool,
}

impl Tree {
    /// Whether a Markdown file is there, if it lies where the walk looked: a file that git ignores
    /// is not, because another clone does not have it. `None` if the walk cannot tell.
    pub fn holds(&self, path: &str) -> Option<bool> {
        let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
        let looked = self.folders.binary_search_by(|seen| seen.path.as_str().cmp(folder)).is_ok();
        let found = || self.files.binary_search_by(|seen| seen.path.as_str().cmp(path)).is_ok();
        (looked && is_markdown(file)).then(found)
    }
}

/// Folders that hold other people's documents or samples, not this project's decisions.
const SKIPPED: &[&str] = &[
    "node_modules",
    "vendor",
    "third_party",
    "tests",
    "test",
    "testdata",
    "test-data",
    "fixtures",
    "__fixtures__",
    "__tests__",
    "target",
    "dist",
    "build",
    "site-packages",
    "bower_components",
];

/// `.gitignore` files larger than this are not read.
const MAX_IGNORE_BYTES: u64 = 1 << 20;

/// Looks into folders.
pub(super) struct Walker<'a> {
    root: &'a Root,
    by_convention: bool,
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

#[derive(Default)]
struct Part {
    tree: Tree,
    notes: Vec<Diagnostic>,
}

/// Walks the project.
pub fn walk(root: &Root, plan: &Plan) -> anyhow::Result<Noted<Tree>> {
    let walker = Walker::new(root, plan);
    let Part { mut tree, notes } = walker.visit("", None, 0)?;
    tree.folders.sort_by(|a, b| a.path.cmp(&b.path));
    tree.files.sort_by(|a, b| a.path.cmp(&b.path));
    tree.ignores.sort();
    Ok(Noted::new(tree, notes))
}

/// One name in a folder.
pub(super) struct Entry {
    pub(super) path: String,
    pub(super) kind: FileType,
}

impl<'a> Walker<'a> {
    pub(super) fn new(root: &'a Root, plan: &Plan) -> Walker<'a> {
        Walker { root, by_convention: plan.rules.is_empty(), max_depth: plan.limits.depth }
    }
}

impl Walker<'_> {
    fn visit(
        &self,
        folder: &str,
        parent: Option<Arc<Ignores>>,
        depth: u64,
    ) -> anyhow::Result<Part> {
        let mut part = Part::default();
        if depth > self.max_depth {
            let message =
                format!("folders nest deeper than {}; it is not looked into", self.max_depth);
            let hint = "move the documents up, or raise limits.depth in .blue/config.yaml";
            part.notes.push(Diagnostic::new(Code::TooDeep, folder, message).hint(hint));
            return Ok(part);
        }
        let shown = if folder.is_empty() { "." } else { folder };
        let read = match self.entries(folder, &mut part.notes) {
            Err(error) if is_too_long(&error) => {
                let message = "the path is too long for the system; it is not looked into";
                part.notes.push(Diagnostic::new(Code::TooDeep, folder, message));
                return Ok(part);
            }
            read => read.with_context(|| format!("read {shown}"))?,
        };
        let Some((stat, entries, listing)) = read else { return Ok(part) };
        part.tree.folders.push(Folder { path: folder.to_string(), stat, listing });
        let ignores = self.ignores(folder, &entries, parent, &mut part)?;
        let mut folders = Vec::new();
        for entry in entries {
            let is_dir = entry.kind == FileType::Directory;
            let ignored =
                ignores.as_ref().is_some_and(|ignores| ignores.ignores(&entry.path, is_dir));
            if ignored || self.is_skipped(&entry.path, is_dir) {
                continue;
            }
            match entry.kind {
                FileType::Directory => folders.push(entry.path),
                kind => self.file(entry.path, kind, &mut part.tree),
            }
        }
        let below: Vec<anyhow::Result<Part>> =
            folders.par_iter().map(|path| self.visit(path, ignores.clone(), depth + 1)).collect();
        for below in below {
            let below = below?;
            part.tree.folders.extend(below.tree.folders);
            part.tree.files.extend(below.tree.files);
            part.tree.ignores.extend(below.tree.ignores);
            part.notes.extend(below.notes);
        }
        Ok(part)
    }

    fn file(&self, path: String, kind: FileType, tree: &mut Tree) {
        let sort = match kind {
            FileType::RegularFile => Sort::Regular,
            FileType::Symlink => Sort::Link,
            _ => Sort::Other,
        };
        let file = path.rsplit('/').next().unwrap_or(&path);
        let link = sort == Sort::Link && !self.is_skipped(&path, true);
        if is_markdown(file) || is_sidecar(file) || link {
            tree.files.push(Seen { path, sort });
        }
    }

    /// The entries of a folder, sorted, with the folder's stat and the sum of its names. `None`
    /// if it vanished or may not be a folder any more.
    pub(super) fn entries(
        &self,
        folder: &str,
        notes: &mut Vec<Diagnostic>,
    ) -> anyhow::Result<Option<(Stat, Vec<Entry>, u128)>> {
        let Some((stat, _)) = self.root.stat(folder)? else { return Ok(None) };
        let mut entries = Vec::new();
        let mut listing = 0u128;
        for entry in self.root.entries(folder)? {
            let name = entry.file_name().to_bytes();
            if matches!(name, b"." | b"..") {
                continue;
            }
            let kind = match entry.file_type() {
                FileType::Unknown => self.kind_of(folder, name)?,
                kind => kind,
            };
            listing = listing.wrapping_add(entry_hash(name, kind));
            let Ok(name) = std::str::from_utf8(name) else {
                let shown = String::from_utf8_lossy(name).into_owned();
                if is_markdown(&shown) {
                    let path = joined(folder, &shown);
                    let message = "its name is not UTF-8; the document is not read";
                    notes
                        .push(Diagnostic::new(Code::NameNotUtf8, &path, message).hint("rename it"));
                }
                continue;
            };
            let path = joined(folder, name);
            entries.push(Entry { path, kind });
        }
        entries.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        Ok(Some((stat, entries, listing)))
    }

    /// What an entry is, where the folder itself does not say.
    fn kind_of(&self, folder: &str, name: &[u8]) -> anyhow::Result<FileType> {
        let path = joined(folder, &String::from_utf8_lossy(name));
        Ok(self.root.stat(&path)?.map_or(FileType::Unknown, |(_, kind)| kind))
    }

    fn ignores(
        &self,
        folder: &str,
        entries: &[Entry],
        parent: Option<Arc<Ignores>>,
        part: &mut Part,
    ) -> anyhow::Result<Option<Arc<Ignores>>> {
        let path = joined(folder, ".gitignore");
        let is_file = |entry: &Entry| entry.path == path && entry.kind == FileType::RegularFile;
        if !entries.iter().any(is_file) {
            return Ok(parent);
        }
        let content =
            self.root.read(&path, MAX_IGNORE_BYTES).with_context(|| format!("read {path}"))?;
        let Some(Content::Bytes(bytes, _)) = content else { return Ok(parent) };
        part.tree.ignores.push(path);
        let mut builder = GitignoreBuilder::new(folder);
        for line in String::from_utf8_lossy(&bytes).lines() {
            // A pattern that does not compile ignores nothing, as in git.
            builder.add_line(None, line).ok();
        }
        // Patterns that are too many to compile ignore nothing; git itself has no such limit.
        match builder.build() {
            Ok(matcher) => Ok(Some(Arc::new(Ignores { matcher, parent }))),
            Err(_) => {
                let message = "it has too many patterns; none of them is honoured";
                let path = joined(folder, ".gitignore");
                part.notes.push(Diagnostic::new(Code::TooLarge, &path, message));
                Ok(parent)
            }
        }
    }

    /// The ignore rules of a folder; their file is added to a list.
    pub(super) fn rules_of(
        &self,
        folder: &str,
        entries: &[Entry],
        parent: Option<Arc<Ignores>>,
        files: &mut Vec<String>,
    ) -> anyhow::Result<Option<Arc<Ignores>>> {
        let mut part = Part::default();
        let ignores = self.ignores(folder, entries, parent, &mut part)?;
        files.append(&mut part.tree.ignores);
        Ok(ignores)
    }

    /// Whether a folder is not looked into at all, whatever `.gitignore` says.
    pub(super) fn is_skipped(&self, path: &str, is_dir: bool) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        if !is_dir {
            return false;
        }
        let own = matches!(path, ".blue/local" | ".blue/context" | ".blue/hooks");
        let hidden = name.starts_with('.') && name != ".blue";
        is_gits(name) || own || (self.by_convention && (hidden || SKIPPED.contains(&name)))
    }
}

/// Whether a walk would come to a file, if nothing ignores it.
pub(super) fn is_walked(root: &Root, plan: &Plan, path: &str) -> bool {
    let walker = Walker::new(root, plan);
    let mut folders = path.match_indices('/').map(|(at, _)| &path[..at]);
    may_be_document(path) && !folders.any(|folder| walker.is_skipped(folder, true))
}

/// Whether a path can be a document's at all: Markdown, and not git's or blue's own.
pub fn may_be_document(path: &str) -> bool {
    let own = [".blue/local/", ".blue/context/", ".blue/hooks/"];
    is_markdown(path)
        && !path.split('/').any(is_gits)
        && !own.iter().any(|folder| path.starts_with(folder))
}

/// Whether a name is git's own folder, in any case, as file systems that ignore case have it; also
/// by the short name that Windows gives it.
fn is_gits(name: &str) -> bool {
    name.eq_ignore_ascii_case(".git") || name.eq_ignore_ascii_case("git~1")
}

/// Whether a file is a document by its ending.
pub(super) fn is_markdown(file: &str) -> bool {
    let is = |ending: &str| {
        let start = file.len().checked_sub(ending.len());
        start
            .and_then(|start| file.as_bytes().get(start..))
            .is_some_and(|end| end.eq_ignore_ascii_case(ending.as_bytes()))
    };
    is(".md") || is(".markdown")
}

/// Files that hold the metadata of the document beside them, the first that is there counting.
pub(super) const SIDECARS: [&str; 3] = ["kep.yaml", "metadata.yaml", "meta.yaml"];

/// Whether a file can hold the metadata of the document beside it.
fn is_sidecar(file: &str) -> bool {
    SIDECARS.contains(&file)
}

fn is_too_long(error: &anyhow::Error) -> bool {
    let code = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::raw_os_error);
    code == Some(rustix::io::Errno::NAMETOOLONG.raw_os_error())
}

fn joined(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_string() } else { [folder, "/", name].concat() }
}

/// The hash of one entry in a folder's listing: its name and what it is.
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

/// The sum of the hashes of all entries in a folder as it is now. `None` if it cannot be read.
pub fn listing(root: &Root, folder: &str) -> Option<u128> {
    let walker = Walker { root, by_convention: true, max_depth: 0 };
    let (_, _, listing) = walker.entries(folder, &mut Vec::new()).ok()??;
    Some(listing)
}
