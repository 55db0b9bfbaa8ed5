//! Links and special files among the documents: resolved first, then judged.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use anyhow::Context;

use super::deny::DenyList;
use super::walk::{Sort, Tree, is_markdown, may_be_document};
use super::{conventions, rules};
use crate::model::layout::folder_of;
use crate::model::source::with_lf;
use crate::model::{Code, Diagnostic, FoundFile, Plan};
use crate::root::{Content, Root, read_fd};

/// Drops everything that is not a regular file below the root, with a finding for each.
pub(super) fn links(
    root: &Root,
    plan: &Plan,
    deny: &DenyList,
    tree: &Tree,
    found: &mut Vec<FoundFile>,
    notes: &mut Vec<Diagnostic>,
) {
    if tree.files.iter().all(|seen| seen.sort == Sort::Regular) {
        return;
    }
    let sort_of = |path: &str| {
        let at = tree.files.binary_search_by(|seen| seen.path.as_str().cmp(path));
        at.map_or(Sort::Other, |at| tree.files[at].sort)
    };
    let sorted = |sort: Sort| {
        found.iter().map(|found| &found.path).filter(move |path| sort_of(path) == sort)
    };
    // Names are copied only where a link has to be compared with them.
    let regular: Vec<String> = match sorted(Sort::Link).next() {
        Some(_) => sorted(Sort::Regular).cloned().collect(),
        None => Vec::new(),
    };
    let mut kept = Vec::with_capacity(found.len());
    for found in found.drain(..) {
        let keep = match sort_of(&found.path) {
            Sort::Regular => true,
            Sort::Other => {
                notes.push(Diagnostic::new(
                    Code::NotRegular,
                    &found.path,
                    "it is not a regular file; it is not read",
                ));
                false
            }
            Sort::Link => link_allowed(root, plan, deny, &found.path, &regular, notes),
        };
        if keep {
            kept.push(found);
        }
    }
    *found = kept;
}

fn link_allowed(
    root: &Root,
    plan: &Plan,
    deny: &DenyList,
    path: &str,
    regular: &[String],
    notes: &mut Vec<Diagnostic>,
) -> bool {
    let resolved = match root.path().join(path).canonicalize() {
        Ok(resolved) => resolved,
        Err(_) => {
            let message = "the symbolic link leads nowhere, or in a circle";
            notes.push(Diagnostic::new(Code::NotRegular, path, message).hint("remove it"));
            return false;
        }
    };
    // The name of what is read counts, not only the name of the link to it.
    let behind =
        resolved.strip_prefix(root.path()).unwrap_or(&resolved).to_string_lossy().into_owned();
    if let Some(part) = deny.denied_part(&behind) {
        let message = format!(
            "the symbolic link leads to {part:?}, which is on the deny-list; it is not read"
        );
        notes.push(Diagnostic::new(Code::Denied, path, message).hint("remove it"));
        return false;
    }
    if !may_be_document(&behind) {
        let message = "the symbolic link leads to what is no document; it is not read";
        notes.push(Diagnostic::new(Code::NotRegular, path, message).hint("remove it"));
        return false;
    }
    match resolved.strip_prefix(root.path()) {
        // A second name for a document that is read anyway.
        Ok(inside) => !regular.iter().any(|other| Path::new(other) == inside),
        Err(_) if plan.allow_external && root.machine().allows(&resolved) => true,
        Err(_) => {
            let message = "the symbolic link leads out of the project; it is not followed";
            let hint = match plan.allow_external {
                true => "run `blue trust` to allow it on this machine",
                false => "copy the document here, or set security.allow_external: true",
            };
            notes.push(Diagnostic::new(Code::OutsideRoot, path, message).hint(hint));
            false
        }
    }
}

/// Reads a document, with LF where git converted all its line ends to CRLF. What cannot be read at
/// all stops the build: leaving it out in silence would commit a smaller truth.
pub fn read(root: &Root, plan: &Plan, path: &str) -> anyhow::Result<Option<Content>> {
    let limit = plan.limits.document_bytes;
    let content = match root.read(path, limit) {
        Err(error) if is_link_error(&error) => read_through_link(root, plan, path, limit),
        other => other,
    };
    Ok(match content.with_context(|| format!("read {path}"))? {
        Some(Content::Bytes(bytes, stat)) => {
            Some(Content::Bytes(with_lf(&bytes).unwrap_or(bytes), stat))
        }
        content => content,
    })
}

fn is_link_error(error: &io::Error) -> bool {
    let code = error.raw_os_error();
    code == Some(rustix::io::Errno::LOOP.raw_os_error())
        || code == Some(rustix::io::Errno::MLINK.raw_os_error())
}

/// Resolves a link, judges where it leads, and opens that without following anything further.
fn read_through_link(
    root: &Root,
    plan: &Plan,
    path: &str,
    limit: u64,
) -> io::Result<Option<Content>> {
    let resolved = root.path().join(path).canonicalize()?;
    let behind = resolved.strip_prefix(root.path()).unwrap_or(&resolved).to_string_lossy();
    // It may lead elsewhere than when it was judged.
    let denied = DenyList::new(&plan.deny).map(|deny| deny.denied_part(&behind).is_some());
    if denied.unwrap_or(true) || !may_be_document(&behind) {
        return Ok(Some(Content::NotRegular));
    }
    if let Ok(inside) = resolved.strip_prefix(root.path()) {
        let inside = inside.to_str().ok_or(io::ErrorKind::InvalidInput)?;
        return root.read(inside, limit);
    }
    if !plan.allow_external || !root.machine().allows(&resolved) {
        return Ok(Some(Content::NotRegular));
    }
    let flags = rustix::fs::OFlags::RDONLY
        | rustix::fs::OFlags::NOFOLLOW
        | rustix::fs::OFlags::NONBLOCK
        | rustix::fs::OFlags::CLOEXEC;
    let open = || rustix::fs::open(&resolved, flags, rustix::fs::Mode::empty());
    let fd = rustix::io::retry_on_intr(open)?;
    read_fd(fd, limit).map(Some)
}

/// Notes links to folders that would be looked into if they were real: no link to a folder is followed,
/// so the documents behind it are missing.
pub(super) fn linked_folders(
    root: &Root,
    plan: &Plan,
    tree: &Tree,
    found: &[FoundFile],
    notes: &mut Vec<Diagnostic>,
) {
    let links =
        tree.files.iter().filter(|seen| seen.sort == Sort::Link && !is_markdown(&seen.path));
    let links: Vec<&str> = links.map(|link| link.path.as_str()).collect();
    if links.is_empty() {
        return;
    }
    let held: BTreeSet<&str> = found.iter().map(|found| folder_of(&found.path)).collect();
    let is_folder = |path: &str| root.path().join(path).is_dir();
    for link in links.into_iter().filter(|link| is_folder(link)) {
        let matters = match plan.rules.is_empty() {
            true => may_hold_by_convention(link, &held, &is_folder),
            false => plan
                .rules
                .iter()
                .flat_map(|rule| &rule.paths)
                .any(|glob| rules::may_hold(glob, link, &is_folder)),
        };
        if !matters || is_read_anyway(root, link, found) {
            continue;
        }
        let message = "the symbolic link to a folder is not followed";
        let hint = "name the real folder under `documents:` in .blue/config.yaml, or move it here";
        notes.push(Diagnostic::new(Code::NotRegular, link, message).hint(hint));
    }
}

/// Whether documents would be looked for in a folder, or in one that is expected in it.
fn may_hold_by_convention(
    folder: &str,
    held: &BTreeSet<&str>,
    is_folder: &dyn Fn(&str) -> bool,
) -> bool {
    let above = folder_of(folder);
    let usual = ["adr", "adrs", "decisions", "rfc", "rfcs", "proposals"];
    let mut below = usual.iter().map(|name| format!("{folder}/{name}"));
    conventions::is_known(folder)
        || !above.is_empty() && (conventions::is_known(above) || held.contains(above))
        || below.any(|path| conventions::is_known(&path) && is_folder(&path))
}

/// Whether documents of the folder behind a link are found in their own place.
fn is_read_anyway(root: &Root, link: &str, found: &[FoundFile]) -> bool {
    let Ok(resolved) = root.path().join(link).canonicalize() else { return false };
    resolved
        .strip_prefix(root.path())
        .is_ok_and(|inside| found.iter().any(|found| Path::new(&found.path).starts_with(inside)))
}
