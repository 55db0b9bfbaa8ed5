//! Selects the files of a container that are read.

use crate::discover::Tree;
use crate::discover::walk::FileKind;
use crate::model::layout::{AI_CONTEXT, CORE_FILES, folder_of, is_below};
use crate::model::plan::ResponsibilityPlan;
use crate::responsibility::addons::SourceGlobs;
use crate::responsibility::container::{FILES, FOLDERS, INBOXES};

/// Returns the paths of a container's Markdown files that are read, below its folder.
pub(super) fn container_paths(tree: &Tree, plan: &ResponsibilityPlan, folder: &str) -> Vec<String> {
    let prefix = if folder.is_empty() { String::new() } else { format!("{folder}/") };
    let start = tree.files.partition_point(|file| file.path.as_str() < prefix.as_str());
    let below = tree.files[start..].iter().take_while(|file| file.path.starts_with(&prefix));
    let globs = SourceGlobs::new(plan.addons.iter().flat_map(|addon| &addon.from));
    let is_read = |below: &str| {
        let is_aside = is_below(below, "ai_context/adopted");
        FILES.contains(&below)
            || globs.matches(below)
            || !is_aside && FOLDERS.iter().any(|folder| is_below(below, folder))
    };
    let files = below.filter(|file| {
        file.kind == FileKind::Regular
            && file.path.ends_with(".md")
            && is_read(&file.path[prefix.len()..])
    });
    files.map(|file| file.path[prefix.len()..].to_string()).collect()
}

/// Returns true for the path of a file that every responsibility has in `ai_context/`.
pub(super) fn is_core(below: &str) -> bool {
    let name = below.strip_prefix(AI_CONTEXT).and_then(|rest| rest.strip_prefix('/'));
    name.is_some_and(|name| CORE_FILES.contains(&name))
}

/// Returns the paths of the Markdown files in the inboxes of the workspace.
pub(super) fn workspace_inbox_paths(tree: &Tree) -> Vec<String> {
    let mut paths = Vec::new();
    for folder in INBOXES {
        let start = tree.files.partition_point(|file| file.path.as_str() < folder);
        let below = tree.files[start..].iter().take_while(|file| file.path.starts_with(folder));
        let is_request = |path: &str| folder_of(path) == folder && path.ends_with(".md");
        let files = below.filter(|f| f.kind == FileKind::Regular && is_request(&f.path));
        paths.extend(files.map(|file| file.path.clone()));
    }
    paths
}
