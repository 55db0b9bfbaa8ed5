//! Which project a command is about, and where a person keeps knowledge of their own.

use std::path::{Path, PathBuf};

use crate::discover::root;

/// The root of the project around a folder.
pub(super) fn find(directory: &Path) -> anyhow::Result<PathBuf> {
    root::find(directory, home().as_deref())
}

/// `$BLUE_HOME`, or `~/.blue`: knowledge that is told in every project.
pub(super) fn home() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let home = set("BLUE_HOME").map(PathBuf::from);
    home.or_else(|| set("HOME").map(|home| Path::new(&home).join(".blue")))
}
