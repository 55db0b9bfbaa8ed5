//! Writes what changed, atomically, and the manifest last.

mod local;
mod lock;
mod replace;
mod stage;
mod transaction;

pub use local::{LOCAL, append, executable, keep, keep_parts, prepare, rescue, retire, time};
pub use lock::Lock;
pub use replace::{can_write, discard, discard_folder, missing_folders, replace};
pub use transaction::{Change, Removal, commit, is_pending, recover};
