//! How documents are used on this machine, for the commands that tell what lies near.

use crate::emit::{self, AUDIT, AUDIT_BEFORE};
use crate::model::layout::USAGE;
use crate::root::Root;
use crate::serve::Overlay;

/// What is known now.
pub(super) fn overlay(root: &Root) -> Overlay {
    Overlay::open(root, [AUDIT_BEFORE, AUDIT], emit::today())
}

/// What is known now, kept for the time when the log has made room.
pub(super) fn kept(root: &Root) -> Overlay {
    let overlay = overlay(root);
    if let Some(bytes) = overlay.to_keep(root) {
        // What cannot be kept is added up again the next time.
        emit::write_local_unlocked(root, USAGE, &bytes).ok();
    }
    overlay
}
