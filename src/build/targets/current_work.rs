//! `.blue/local/current.md`: the bundle of the current work under a fixed name.
//!
//! It is for agents that include files and cannot run a hook.

use crate::discover::git;
use crate::emit;
use crate::model::layout::{BUNDLES, CURRENT, WORKTREE};
use crate::root::Root;
use crate::wire::jsonl::{self, BundleLine};

/// Copies the bundle of the current work, or removes the copy if there is no current work. The copy
/// is local, so a failure is no error of the build.
pub(in super::super) fn refresh(root: &Root) {
    let wanted = bundle(root);
    let found = root.readable_bytes(CURRENT, 1 << 20);
    match wanted {
        Some(bytes) if found.as_ref() != Some(&bytes) => {
            emit::write_local_unlocked(root, CURRENT, &bytes).ok();
        }
        None if found.is_some() => {
            emit::discard(root, CURRENT).ok();
        }
        _ => {}
    }
}

/// Returns the bundle of the work that the worktree file or the branch names.
fn bundle(root: &Root) -> Option<Vec<u8>> {
    let worktree = root.readable_bytes(WORKTREE, 1 << 16);
    let named = worktree.and_then(|bytes| jsonl::work_name(&bytes));
    let name = named.or_else(|| git::branch(root.path()))?;
    let index = root.readable_bytes(BUNDLES, 1 << 28)?;
    let index = std::str::from_utf8(&index).ok()?;
    // Most lines are ruled out without parsing them.
    let quoted = serde_json::to_string(&name).ok()?;
    let lines = index.lines().skip(1).filter(|line| line.contains(&quoted));
    let mut lines = lines.filter_map(|line| serde_json::from_str::<BundleLine>(line).ok());
    let line = lines.find(|line| line.names.contains(&name))?;
    root.readable_bytes(&line.artifact, 1 << 20)
}
