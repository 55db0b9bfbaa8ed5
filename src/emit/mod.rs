//! Writes files: artifacts in one transaction, caches, the audit log and files shared with users.

mod append;
mod audit_log;
mod document_edits;
mod local_folder;
mod lock;
mod replace;
mod stage;
mod transaction;
mod undo;
mod user_folder;

pub use append::append;
pub use audit_log::{append_audit_line, current_time, is_writable, now, rotate_audit_log, today};
pub use document_edits::{DocumentEdit, edit_documents};
pub use local_folder::{
    LOCAL, create_local_folder, file_system_time, make_executable, overwrite_local, remove_copied,
    save_copy, write_local, write_local_parts, write_local_unlocked,
};
pub use lock::{BriefLock, FolderLock, Lock, is_locked, lock_folder};
pub use replace::{
    Replacement, can_write, discard, discard_folder, missing_folders, remove_staged, replace,
    replace_script, stage_replacement,
};
pub use transaction::{Change, Removal, commit, is_pending, pending, recover};
pub use undo::Undo;
pub use user_folder::{KEY, create_key, replace_private};
