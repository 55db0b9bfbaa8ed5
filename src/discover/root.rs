//! Where the project is.

use std::path::{Path, PathBuf};

use anyhow::Context;

/// The nearest folder from `start` upwards that has a `.blue` or a `.git`; else `start` itself.
pub fn find(start: &Path) -> anyhow::Result<PathBuf> {
    let start = start.canonicalize().with_context(|| format!("open {}", start.display()))?;
    anyhow::ensure!(start.is_dir(), "{} is not a folder", start.display());
    let marked = start
        .ancestors()
        .find(|folder| folder.join(".blue").is_dir() || folder.join(".git").exists());
    Ok(marked.unwrap_or(&start).to_path_buf())
}
