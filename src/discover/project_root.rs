//! Finds the project's root directory and checks who owns it.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::Context;

/// Returns the nearest folder from `start` upwards that contains a `.blue` or a `.git`, or else
/// `start` itself.
///
/// `home` is the user's own folder of blue. It is a project itself, but the folder that contains it
/// is not, although `home` is named `.blue` by default. The search stops below a ceiling, but
/// `start` itself is always searched.
pub fn find(start: &Path, home: Option<&Path>, ceilings: &[PathBuf]) -> anyhow::Result<PathBuf> {
    let start = start.canonicalize().with_context(|| format!("open {}", start.display()))?;
    anyhow::ensure!(start.is_dir(), "{} is not a folder", start.display());
    let home = home.and_then(|home| home.canonicalize().ok());
    let is_home = |folder: &Path| home.as_deref() == Some(folder);
    let marked = below_ceilings(&start, ceilings).find(|folder| {
        let blue_folder = folder.join(".blue");
        is_home(folder)
            || folder.join(".git").exists()
            || blue_folder.is_dir() && !is_home(&blue_folder)
    });
    Ok(marked.unwrap_or(&start).to_path_buf())
}

/// Iterates over a folder and those above it, up to a ceiling. Ceilings have the meaning of git's
/// `GIT_CEILING_DIRECTORIES`.
pub fn below_ceilings<'a>(start: &'a Path, ceilings: &[PathBuf]) -> impl Iterator<Item = &'a Path> {
    start
        .ancestors()
        .take_while(move |folder| *folder == start || !ceilings.iter().any(|c| c == folder))
}

/// A user id.
pub type Uid = u32;

/// Returns the first of a project's root, its `.blue` and its `.git` that none of these users owns.
/// Its owner could change it at any time. git refuses such repositories for the same reason.
pub fn owned_by_another(root: &Path, users: &[Uid]) -> Option<PathBuf> {
    let paths = [root.to_path_buf(), root.join(".blue"), root.join(".git")];
    paths.into_iter().find(|path| {
        let owner = path.symlink_metadata().map(|metadata| metadata.uid());
        owner.is_ok_and(|owner| !users.contains(&owner))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_search_stops_below_a_ceiling() {
        let ceilings = [PathBuf::from("/a")];
        let seen: Vec<&Path> = below_ceilings(Path::new("/a/b/c"), &ceilings).collect();
        assert_eq!(seen, [Path::new("/a/b/c"), Path::new("/a/b")]);
        // As in git, a ceiling does not apply to a search that starts in it.
        let seen: Vec<&Path> = below_ceilings(Path::new("/a"), &ceilings).collect();
        assert_eq!(seen, [Path::new("/a"), Path::new("/")]);
    }

    #[test]
    fn a_folder_of_another_user_is_found() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        let owner = folder.metadata().expect("the folder exists").uid();
        assert_eq!(owned_by_another(folder, &[owner + 1]), Some(folder.to_path_buf()));
        assert_eq!(owned_by_another(&folder.join("src"), &[owner]), None);
    }
}
