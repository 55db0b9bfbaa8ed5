//! Decides which symbolic links among the documents are followed, and drops special files.

use std::collections::BTreeSet;
use std::path::Path;

use super::deny::DenyList;
use super::walk::{FileKind, Tree, is_text, may_be_document};
use super::{configured, known_folders};
use crate::model::layout::folder_of;
use crate::model::{Code, Diagnostic, FoundFile, Plan};
use crate::root::Root;

/// Drops special files and links that may not be followed, and reports each.
pub(super) fn drop_refused(
    root: &Root,
    plan: &Plan,
    deny: &DenyList,
    tree: &Tree,
    found: &mut Vec<FoundFile>,
    notes: &mut Vec<Diagnostic>,
) {
    if tree.files.iter().all(|file| file.kind == FileKind::Regular) {
        return;
    }
    let kind_of = |path: &str| {
        let at = tree.files.binary_search_by(|file| file.path.as_str().cmp(path));
        at.map_or(FileKind::Other, |at| tree.files[at].kind)
    };
    let of_kind = |kind: FileKind| {
        found.iter().map(|found| &found.path).filter(move |path| kind_of(path) == kind)
    };
    let has_links = of_kind(FileKind::Link).next().is_some();
    // The paths of regular files are needed only to compare links with them.
    let regular: Vec<String> = match has_links {
        true => of_kind(FileKind::Regular).cloned().collect(),
        false => Vec::new(),
    };
    found.retain(|found| match kind_of(&found.path) {
        FileKind::Regular => true,
        FileKind::Other => {
            notes.push(Diagnostic::new(
                Code::NotRegular,
                &found.path,
                "not a regular file; it is not read",
            ));
            false
        }
        FileKind::Link => may_follow(root, plan, deny, &found.path, &regular, notes),
    });
}

/// Returns true if the document behind a link may be read. A refusal is reported.
fn may_follow(
    root: &Root,
    plan: &Plan,
    deny: &DenyList,
    path: &str,
    regular: &[String],
    notes: &mut Vec<Diagnostic>,
) -> bool {
    let mut refuse = |code: Code, message: &str, hint: &str| {
        notes.push(Diagnostic::new(code, path, message).hint(hint));
        false
    };
    let Ok(resolved) = root.path().join(path).canonicalize() else {
        let message = "the symbolic link is broken or part of a loop";
        return refuse(Code::NotRegular, message, "remove it");
    };
    // The deny-list applies to the target as well as to the link.
    let target = resolved.strip_prefix(root.path()).unwrap_or(&resolved).to_string_lossy();
    if let Some(part) = deny.denied_part(&target) {
        let message = format!(
            "the symbolic link points to {part:?}, which is on the deny-list; it is not read"
        );
        return refuse(Code::Denied, &message, "remove it");
    }
    if !may_be_document(&target) {
        let message = "the symbolic link does not point to a document; it is not read";
        return refuse(Code::NotRegular, message, "remove it");
    }
    match resolved.strip_prefix(root.path()) {
        // A link to a document that is found anyway is only a second name for it.
        Ok(inside) => !regular.iter().any(|other| Path::new(other) == inside),
        Err(_) if plan.allow_external && root.machine().allows(&resolved) => true,
        Err(_) => {
            let message = "the symbolic link points outside the project; it is not followed";
            let hint = match plan.allow_external {
                true => "run `blue trust` to allow it on this machine",
                false => "copy the document here, or set security.allow_external: true",
            };
            refuse(Code::OutsideRoot, message, hint)
        }
    }
}

/// Reports links to folders that would be searched for documents if they were real folders. Links
/// to folders are never followed, so the documents behind them are missing.
pub(super) fn report_linked_folders(
    root: &Root,
    plan: &Plan,
    tree: &Tree,
    found: &[FoundFile],
    notes: &mut Vec<Diagnostic>,
) {
    let links =
        tree.files.iter().filter(|file| file.kind == FileKind::Link && !is_text(&file.path));
    let links: Vec<&str> = links.map(|link| link.path.as_str()).collect();
    if links.is_empty() {
        return;
    }
    let document_folders: BTreeSet<&str> =
        found.iter().map(|found| folder_of(&found.path)).collect();
    let is_folder = |path: &str| root.path().join(path).is_dir();
    for link in links.into_iter().filter(|link| is_folder(link)) {
        let may_contain = match plan.rules.is_empty() {
            true => may_contain_by_convention(link, &document_folders, &is_folder),
            false => plan
                .rules
                .iter()
                .flat_map(|rule| &rule.paths)
                .any(|glob| configured::may_contain_match(glob, link, &is_folder)),
        };
        if !may_contain || is_found_anyway(root, link, found) {
            continue;
        }
        let message = "the symbolic link to a folder is not followed";
        let hint = "name the real folder under `documents:` in .blue/config.yaml, or move it here";
        notes.push(Diagnostic::new(Code::NotRegular, link, message).hint(hint));
    }
}

/// Returns true if a folder, or one of its usual subfolders, would be searched for documents.
fn may_contain_by_convention(
    folder: &str,
    document_folders: &BTreeSet<&str>,
    is_folder: &dyn Fn(&str) -> bool,
) -> bool {
    let parent = folder_of(folder);
    let usual = ["adr", "adrs", "decisions", "rfc", "rfcs", "proposals"];
    let mut subfolders = usual.iter().map(|name| format!("{folder}/{name}"));
    known_folders::is_known(folder)
        || !parent.is_empty()
            && (known_folders::is_known(parent) || document_folders.contains(parent))
        || subfolders.any(|path| known_folders::is_known(&path) && is_folder(&path))
}

/// Returns true if the folder behind a link is in the project and its documents were found there.
fn is_found_anyway(root: &Root, link: &str, found: &[FoundFile]) -> bool {
    let Ok(resolved) = root.path().join(link).canonicalize() else { return false };
    resolved
        .strip_prefix(root.path())
        .is_ok_and(|inside| found.iter().any(|found| Path::new(&found.path).starts_with(inside)))
}
