//! Reports documents in formats that blue does not read.

use std::collections::{BTreeMap, BTreeSet};

use super::companions::is_companion;
use crate::model::layout::folder_of;
use crate::model::plural::counted;
use crate::model::{Code, Collection, Diagnostic, FileName, FoundFile};

/// Extensions of text formats in which documents are written and which blue does not read.
const EXTENSIONS: &[&str] = &["creole", "org", "rdoc", "rest", "tex", "textile", "typ"];

/// Returns true for file names with an extension of such a format.
pub(super) fn is_unread(file: &str) -> bool {
    let extension = file.rsplit_once('.').map(|(_, extension)| extension);
    extension.is_some_and(|extension| EXTENSIONS.iter().any(|e| extension.eq_ignore_ascii_case(e)))
}

/// Reports the files in other formats beside the documents of each collection, once for each.
pub(super) fn report(
    unread: &[String],
    collections: &[Collection],
    found: &[FoundFile],
    notes: &mut Vec<Diagnostic>,
) {
    if unread.is_empty() {
        return;
    }
    let folders: BTreeMap<&str, usize> =
        found.iter().map(|found| (folder_of(&found.path), found.collection)).collect();
    let mut beside: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
    for path in unread {
        let file = path.rsplit('/').next().unwrap_or(path);
        let name = FileName::parse(file);
        if let Some(collection) = folders.get(folder_of(path))
            && !name.is_index
            && !name.is_template
            && !is_companion(file, &name)
        {
            beside.entry(*collection).or_default().push(path);
        }
    }
    for (collection, paths) in beside {
        let extension = |path: &&str| format!(".{}", path.rsplit('.').next().unwrap_or_default());
        let extensions: BTreeSet<String> = paths.iter().map(extension).collect();
        let extensions: Vec<String> = extensions.into_iter().collect();
        let message = format!(
            "{} beside the documents of {} in a format that blue does not read ({})",
            counted(paths.len(), "file"),
            collections[collection].name,
            extensions.join(", ")
        );
        let hint = "convert them to Markdown if agents should know them";
        notes.push(Diagnostic::new(Code::UnreadFormat, paths[0], message).hint(hint));
    }
}
