//! Where the project is.

use std::path::{Path, PathBuf};

use anyhow::Context;

/// The nearest folder from `start` upwards that has a `.blue` or a `.git`; else `start` itself.
/// `home` is a project of its own, whatever the folder above it looks like because of its name.
pub fn find(start: &Path, home: Option<&Path>) -> anyhow::Result<PathBuf> {
    let start = start.canonicalize().with_context(|| format!("open {}", start.display()))?;
    anyhow::ensure!(start.is_dir(), "{} is not a folder", start.display());
    let home = home.and_then(|home| home.canonicalize().ok());
    let is_home = |folder: &Path| home.as_deref() == Some(folder);
    let marked = start.ancestors().find(|folder| {
        let own = folder.join(".blue");
        is_home(folder) || folder.join(".git").exists() || own.is_dir() && !is_home(&own)
    });
    Ok(marked.unwrap_or(&start).to_path_buf())
}
