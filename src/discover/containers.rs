//! Finds folders that are containers of responsibilities, by the names of their files.

use super::walk::{FileKind, Tree};
use crate::model::layout::{AI_CONTEXT, folder_of, is_below};

/// Files of which each makes a folder of the registry a container.
const CORE: [&str; 4] = ["kernel.md", "guardrails.md", "persona.md", "responsibility.md"];

/// Returns the folders that are containers by the names of their files: those directly in the
/// registry with a core file, and any folder with `guardrails.md` beside `persona.md`. Sorted.
pub fn find(tree: &Tree, registry: &str) -> Vec<String> {
    let is_regular = |path: &str| {
        let at = tree.files.binary_search_by(|file| file.path.as_str().cmp(path));
        at.is_ok_and(|at| tree.files[at].kind == FileKind::Regular)
    };
    let mut found: Vec<String> = Vec::new();
    for file in tree.files.iter().filter(|file| file.kind == FileKind::Regular) {
        let folder = folder_of(&file.path);
        let name = file.path.rsplit('/').next().unwrap_or_default();
        if !CORE.contains(&name) {
            continue;
        }
        let in_registry = !folder.is_empty() && folder_of(folder) == registry;
        let has_both = name == "guardrails.md"
            && is_regular(&format!("{}persona.md", file.path.trim_end_matches(name)));
        if in_registry || has_both {
            found.push(folder.to_string());
        }
    }
    found.sort();
    found.dedup();
    found
}

/// Returns the links directly in the registry. They are never followed.
pub fn links<'a>(tree: &'a Tree, registry: &'a str) -> impl Iterator<Item = &'a str> {
    let links = tree.files.iter().filter(|file| file.kind == FileKind::Link);
    links.map(|file| file.path.as_str()).filter(move |path| folder_of(path) == registry)
}

/// Folders of a container whose files belong to the role, and are no documents of the project.
const OF_ROLE: [&str; 7] = [AI_CONTEXT, "logs", "mandates", "memory", "queue", "requests", "tasks"];

/// Returns true if a path is in a folder of a container that belongs to the role.
pub(super) fn is_of_role(containers: &[String], path: &str) -> bool {
    let below = |container: &String| match container.as_str() {
        "" => Some(path),
        container => path.strip_prefix(container)?.strip_prefix('/'),
    };
    let mut below = containers.iter().filter_map(below);
    below.any(|below| OF_ROLE.iter().any(|folder| is_below(below, folder)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discover::walk::WalkedFile;

    #[test]
    fn a_container_is_known_by_its_files() {
        let mut tree = Tree::default();
        for path in [
            "docs/kernel.md",
            "guides/x/guardrails.md",
            "guides/x/persona.md",
            "registry/a/kernel.md",
            "registry/b/notes.md",
            "registry/deep/c/kernel.md",
        ] {
            tree.files.push(WalkedFile { path: path.to_string(), kind: FileKind::Regular });
        }
        tree.files.sort_by(|a, b| a.path.cmp(&b.path));
        let found = find(&tree, "registry");
        assert_eq!(found, ["guides/x", "registry/a"]);
        assert!(is_of_role(&found, "registry/a/ai_context/current_focus.md"));
        assert!(!is_of_role(&found, "registry/b/ai_context/current_focus.md"));
    }
}
