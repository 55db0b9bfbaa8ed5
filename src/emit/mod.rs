//! Writes what changed, atomically, and the manifest last.

mod audit;
mod local;
mod lock;
mod replace;
mod stage;
mod transaction;
mod undo;
mod user;

pub use audit::{AUDIT, AUDIT_BEFORE, is_writable, make_room, note, now, present, today};
pub use local::{
    LOCAL, append, executable, keep, keep_below, keep_in, keep_parts, prepare, put, rescue, retire,
    time,
};
pub use lock::{Gate, Lock, is_locked};
pub use replace::{can_write, discard, discard_folder, missing_folders, replace};
pub use transaction::{Change, Removal, commit, is_pending, pending, recover};
pub use undo::Undo;
pub use user::{KEY, create_key, replace_private};
