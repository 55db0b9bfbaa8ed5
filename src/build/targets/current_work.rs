//! `.blue/local/current.md`: the bundle of the current work under a fixed name.
//!
//! It is for agents that include files and cannot run a hook.

use crate::discover::git;
use crate::emit;
use crate::model::layout::{BUNDLES, CURRENT, WORKTREE};
use crate::root::Root;
use crate::wire::jsonl::{self, BundleLine};
use crate::wire::worktree;

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

/// Returns the bundle of the current work.
fn bundle(root: &Root) -> Option<Vec<u8>> {
    let file = root.readable_bytes(WORKTREE, 1 << 16);
    let named = file.and_then(|bytes| worktree::work_name(&bytes));
    let branch = git::branch(root.path());
    let index = root.readable_bytes(BUNDLES, 1 << 28)?;
    let lines = std::str::from_utf8(&index).ok()?.lines().skip(1);
    let bundles: Vec<BundleLine> =
        lines.filter_map(|line| serde_json::from_str(line).ok()).collect();
    let line = jsonl::current_bundle(&bundles, named.as_deref(), branch.as_deref())?;
    root.readable_bytes(&line.artifact, 1 << 20)
}
