//! Finds the project and its documents, in an order that does not depend on the file system.

mod companions;
mod configured;
pub mod containers;
mod conventions;
mod decision_trees;
pub mod deny;
mod first_lines;
pub mod git;
pub mod git_names;
mod known_folders;
mod numbered_folders;
mod numbers;
pub mod project_root;
mod read;
pub mod repository_files;
mod symlinks;
mod translations;
pub mod unchanged;
mod unread_formats;
pub mod walk;
pub mod worktrees;

use conventions::Conventional;
pub use read::read_document;
use walk::{FileKind, WalkedFile};
pub use walk::{Tree, may_be_document};

use crate::model::layout::{KNOWLEDGE, LOCAL, WORKTREE, folder_of};
use crate::model::{Code, Collection, Diagnostic, FoundFile, Noted, Plan};
use crate::root::Root;

/// The documents of a project, before they are read.
pub struct Discovery {
    /// The collections that may have documents.
    pub collections: Vec<Collection>,
    /// The documents to read, sorted by path.
    pub found: Vec<FoundFile>,
    /// Folders that look like containers of responsibilities, sorted.
    pub containers: Vec<String>,
    /// The folders and files that the walk found, for the no-op check of the next build.
    pub tree: Tree,
}

/// Walks the project and decides which files are documents.
pub fn discover(root: &Root, plan: &Plan) -> anyhow::Result<Noted<Discovery>> {
    let mut notes = Vec::new();
    let deny = deny::DenyList::of_plan(plan)?;
    let (tree, tracked) = rayon::join(|| walk::walk(root, plan), || tracked_state(root));
    let mut tree = tree?.into_value(&mut notes);
    tree.depends_on_index = !tracked.is_empty();
    notes.extend(tracked);
    let Conventional { collections, mut found, probed } =
        find_documents(root, plan, &deny, &tree.files, &mut notes)?;
    tree.probed = probed;
    symlinks::drop_refused(root, plan, &deny, &tree, &mut found, &mut notes);
    symlinks::report_linked_folders(root, plan, &tree, &found, &mut notes);
    drop_emitted(&collections, &mut found);
    let containers = containers::find(&tree, &plan.responsibilities.registry);
    found.retain(|found| !containers::is_of_role(&containers, &found.path));
    unread_formats::report(&tree.unread, &collections, &found, &mut notes);
    tree.depends_on_index |= report_not_checked_out(root, plan, &deny, &tree, &mut notes)?;
    let limit = plan.limits.documents;
    anyhow::ensure!(
        found.len() as u64 <= limit,
        "{} documents are over the limit of {limit} [{}]\nhint: raise limits.documents in .blue/config.yaml, or narrow documents:",
        found.len(),
        Code::TooManyDocuments
    );
    report_case_collisions(&found, &mut notes);
    Ok(Noted::new(Discovery { collections, found, containers, tree }, notes))
}

/// Finds the documents among files by rule or by convention, without denied ones.
fn find_documents(
    root: &Root,
    plan: &Plan,
    deny: &deny::DenyList,
    files: &[WalkedFile],
    notes: &mut Vec<Diagnostic>,
) -> anyhow::Result<Conventional> {
    let probe = |path: &str| match deny.access(path) {
        deny::Access::Denied(_) => None,
        _ => first_lines::probe(root, path),
    };
    let mut documents = match plan.rules.is_empty() {
        true => conventions::apply(files, &probe),
        false => {
            let (collections, found) = configured::apply(&plan.rules, deny, files, notes)?;
            Conventional { collections, found, probed: Vec::new() }
        }
    };
    deny.filter(&mut documents.found, notes);
    numbers::correct(&mut documents.found);
    Ok(documents)
}

/// Reports files in `.blue/local` that git tracks, and a tracked worktree file.
fn tracked_state(root: &Root) -> Vec<Diagnostic> {
    let mut files = git::tracked(root.path(), &[LOCAL, WORKTREE]);
    let n_files = files.len();
    files.retain(|file| file != WORKTREE);
    let of_worktree = (files.len() < n_files).then(|| {
        let message = "git tracks it, so that every clone claims to be this worktree";
        let hint = format!("git rm --cached {WORKTREE}");
        Diagnostic::new(Code::TrackedWorktree, WORKTREE, message).hint(hint)
    });
    tracked_caches(&files).into_iter().chain(of_worktree).collect()
}

fn tracked_caches(files: &[String]) -> Option<Diagnostic> {
    let message = match files {
        [] => return None,
        [file] => format!("git tracks {file}; local state from a clone is not trusted"),
        [file, ..] => format!(
            "git tracks {file} and {} more; local state from a clone is not trusted",
            files.len() - 1
        ),
    };
    let hint = "git rm -r --cached .blue/local";
    Some(Diagnostic::new(Code::TrackedState, LOCAL, message).hint(hint))
}

/// Reports documents that a sparse checkout leaves out, because the artifacts lack them. Returns
/// true if there are any.
fn report_not_checked_out(
    root: &Root,
    plan: &Plan,
    deny: &deny::DenyList,
    tree: &Tree,
    notes: &mut Vec<Diagnostic>,
) -> anyhow::Result<bool> {
    let mut missing = git::not_checked_out(root.path());
    missing.retain(|path| walk::is_walked(root, plan, path) && !root.exists(path));
    if missing.is_empty() {
        return Ok(false);
    }
    missing.sort();
    // The usual rules decide which of them are documents, as if the files existed.
    let mut files = tree.files.clone();
    let missing_files = missing.iter().cloned();
    files.extend(missing_files.map(|path| WalkedFile { path, kind: FileKind::Regular }));
    files.sort_by(|a, b| a.path.cmp(&b.path));
    let mut unused = Vec::new();
    let Conventional { collections, mut found, .. } =
        find_documents(root, plan, deny, &files, &mut unused)?;
    drop_emitted(&collections, &mut found);
    found.retain(|found| missing.binary_search(&found.path).is_ok());
    let Some(first) = found.first() else { return Ok(false) };
    let documents = match found.len() - 1 {
        0 => "this document is".to_string(),
        1 => "this document and 1 other are".to_string(),
        n => format!("this document and {n} others are"),
    };
    let message = format!("{documents} not checked out and missing from the artifacts");
    let hint = match folder_of(&first.path) {
        "" => "run `git sparse-checkout disable`, then build".to_string(),
        folder => format!("run `git sparse-checkout add {folder}`, or disable, then build"),
    };
    notes.push(Diagnostic::new(Code::NotCheckedOut, &first.path, message).hint(hint));
    Ok(true)
}

/// Drops `knowledge/<collection>.md`, which is the path of an artifact.
fn drop_emitted(collections: &[Collection], found: &mut Vec<FoundFile>) {
    found.retain(|found| {
        let name = found.path.strip_prefix(KNOWLEDGE).and_then(|name| name.strip_suffix(".md"));
        !name.is_some_and(|name| collections.iter().any(|collection| collection.name == name))
    });
}

/// Returns the collections that have a document, sorted by name, and updates the documents'
/// indexes into the list.
pub fn in_use<'a>(
    collections: &[Collection],
    found: impl Iterator<Item = &'a mut FoundFile>,
) -> Vec<Collection> {
    let mut found: Vec<&mut FoundFile> = found.collect();
    let mut used: Vec<usize> = found.iter().map(|found| found.collection).collect();
    used.sort_unstable();
    used.dedup();
    used.sort_by(|a, b| collections[*a].name.cmp(&collections[*b].name));
    let mut new_index = vec![0; collections.len()];
    for (new, old) in used.iter().enumerate() {
        new_index[*old] = new;
    }
    for found in &mut found {
        found.collection = new_index[found.collection];
    }
    used.iter().map(|old| collections[*old].clone()).collect()
}

/// Reports paths that differ only in case, which some file systems cannot store side by side.
fn report_case_collisions(found: &[FoundFile], notes: &mut Vec<Diagnostic>) {
    // In most projects all paths are lower case, so that none can collide.
    let is_lower = |path: &str| path.bytes().all(|b| b.is_ascii() && !b.is_ascii_uppercase());
    if found.iter().all(|found| is_lower(&found.path)) {
        return;
    }
    let mut folded: Vec<(String, &str)> =
        found.iter().map(|f| (f.path.to_lowercase(), f.path.as_str())).collect();
    folded.sort();
    for pair in folded.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
        let message = format!("its name differs from {} only in case", pair[0].1);
        let hint = "rename one of them; macOS and Windows cannot store both";
        notes.push(Diagnostic::new(Code::CaseCollision, pair[1].1, message).hint(hint));
    }
}
