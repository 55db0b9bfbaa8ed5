//! Writes what changed, atomically, and the manifest last.

mod local;
mod lock;
mod stage;
mod transaction;

pub use local::{LOCAL, append, executable, keep, keep_parts, prepare, rescue, retire, time};
pub use lock::Lock;
pub use transaction::{Change, Removal, commit, is_pending, recover};
