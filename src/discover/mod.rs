//! Finds the project and its documents, and reads them, in one fixed order.

mod conventions;
pub mod deny;
pub mod fresh;
pub mod git;
pub mod judge;
pub mod present;
pub mod project_root;
mod rules;
pub mod walk;

use walk::{Seen, Sort};
pub use walk::{Tree, may_be_document};

use crate::model::layout::{LOCAL, folder_of};
use crate::model::{Code, Collection, Diagnostic, FoundFile, Noted, Plan};
use crate::root::Root;

/// Everything one look at the tree found.
pub struct Discovery {
    /// The collections that may have documents.
    pub collections: Vec<Collection>,
    /// The documents to read, sorted by path.
    pub found: Vec<FoundFile>,
    /// What was looked at, for the next build's fast path.
    pub tree: Tree,
}

/// Walks the project and decides what is a document.
pub fn discover(root: &Root, plan: &Plan) -> anyhow::Result<Noted<Discovery>> {
    let mut notes = Vec::new();
    let deny = deny::DenyList::new(&plan.deny)?;
    let (tree, tracked) = rayon::join(|| walk::walk(root, plan), || tracked_state(root));
    let mut tree = tree?.into_value(&mut notes);
    tree.depends_on_index = tracked.is_some();
    notes.extend(tracked);
    let (collections, mut found) = match plan.rules.is_empty() {
        true => conventions::apply(&tree.files),
        false => rules::apply(&plan.rules, &deny, &tree.files, &mut notes)?,
    };
    deny.filter(&mut found, &mut notes);
    judge::links(root, plan, &deny, &tree, &mut found, &mut notes);
    judge::linked_folders(root, plan, &tree, &found, &mut notes);
    drop_emitted(&collections, &mut found);
    tree.depends_on_index |= note_not_checked_out(root, plan, &deny, &tree, &mut notes)?;
    let limit = plan.limits.documents;
    anyhow::ensure!(
        found.len() as u64 <= limit,
        "{} documents are over the limit of {limit} [{}]\nhint: raise limits.documents in .blue/config.yaml, or narrow documents:",
        found.len(),
        Code::TooManyDocuments
    );
    note_collisions(&found, &mut notes);
    Ok(Noted::new(Discovery { collections, found, tree }, notes))
}

/// Reports files of blue's own folder that came with the repository.
fn tracked_state(root: &Root) -> Option<Diagnostic> {
    let files = git::tracked(root.path(), LOCAL);
    let message = match files.as_slice() {
        [] => return None,
        [file] => format!("git tracks {file}; what a clone brings here is not believed"),
        [file, ..] => format!(
            "git tracks {file} and {} more; what a clone brings here is not believed",
            files.len() - 1
        ),
    };
    let hint = "git rm -r --cached .blue/local";
    Some(Diagnostic::new(Code::TrackedState, LOCAL, message).hint(hint))
}

/// Notes documents that git knows and a sparse checkout leaves out: what is built lacks them. Whether
/// there are any.
fn note_not_checked_out(
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
    // The same rules decide as if the files were there.
    let mut files = tree.files.clone();
    files.extend(missing.iter().map(|path| Seen { path: path.clone(), sort: Sort::Regular }));
    files.sort_by(|a, b| a.path.cmp(&b.path));
    let mut unused = Vec::new();
    let (collections, mut found) = match plan.rules.is_empty() {
        true => conventions::apply(&files),
        false => rules::apply(&plan.rules, deny, &files, &mut unused)?,
    };
    deny.filter(&mut found, &mut unused);
    drop_emitted(&collections, &mut found);
    found.retain(|found| missing.binary_search(&found.path).is_ok());
    let Some(first) = found.first() else { return Ok(false) };
    let others = match found.len() - 1 {
        0 => "this document is".to_string(),
        1 => "this document and 1 other are".to_string(),
        n => format!("this document and {n} others are"),
    };
    let lacked = if found.len() == 1 { "it" } else { "them" };
    let message = format!("{others} not checked out; what is built here lacks {lacked}");
    let hint = match folder_of(&first.path) {
        "" => "run `git sparse-checkout disable`, then build".to_string(),
        folder => format!("run `git sparse-checkout add {folder}`, or disable, then build"),
    };
    notes.push(Diagnostic::new(Code::NotCheckedOut, &first.path, message).hint(hint));
    Ok(true)
}

/// `knowledge/<collection>.md` is where a digest goes, whatever lies there now.
fn drop_emitted(collections: &[Collection], found: &mut Vec<FoundFile>) {
    found.retain(|found| {
        let digest =
            found.path.strip_prefix("knowledge/").and_then(|name| name.strip_suffix(".md"));
        !digest.is_some_and(|name| collections.iter().any(|collection| collection.name == name))
    });
}

/// Collections that have a document, sorted by name, with the documents' indexes moved along.
pub fn in_use<'a>(
    collections: &[Collection],
    found: impl Iterator<Item = &'a mut FoundFile>,
) -> Vec<Collection> {
    let mut found: Vec<&mut FoundFile> = found.collect();
    let mut used: Vec<usize> = found.iter().map(|found| found.collection).collect();
    used.sort_unstable();
    used.dedup();
    used.sort_by(|a, b| collections[*a].name.cmp(&collections[*b].name));
    let mut moved = vec![0; collections.len()];
    for (new, old) in used.iter().enumerate() {
        moved[*old] = new;
    }
    for found in &mut found {
        found.collection = moved[found.collection];
    }
    used.iter().map(|old| collections[*old].clone()).collect()
}

/// Names that one file system keeps apart and another cannot.
fn note_collisions(found: &[FoundFile], notes: &mut Vec<Diagnostic>) {
    // Names without a capital differ in more than case; most trees have no others.
    let plain = |path: &str| path.bytes().all(|b| b.is_ascii() && !b.is_ascii_uppercase());
    if found.iter().all(|found| plain(&found.path)) {
        return;
    }
    let mut folded: Vec<(String, &str)> =
        found.iter().map(|f| (f.path.to_lowercase(), f.path.as_str())).collect();
    folded.sort();
    for pair in folded.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
        let message = format!("its name differs from {} only in case", pair[0].1);
        let hint = "rename one: macOS and Windows keep only one of them";
        notes.push(Diagnostic::new(Code::CaseCollision, pair[1].1, message).hint(hint));
    }
}
