//! Notices that the queue changed, and updates the open requests before the next session.

use super::mandate::{MandateName, run_mandate};
use super::responsibility::{plain, time};
use crate::emit;
use crate::model::layout::{CONFIG, QUEUE_STAMP, folder_of};
use crate::root::Root;

/// Returns the path of the queue, if mandates may run.
pub(super) fn queue_path(root: &Root) -> Option<String> {
    // Most projects have no queue, and looking for the word is faster than parsing.
    let config = root.readable_bytes(CONFIG, 1 << 20)?;
    memchr::memmem::find(&config, b"queue")?;
    let plan = crate::build::plan(root).responsibilities;
    plan.queue.filter(|_| plan.context_worker.is_some() && plan.workspace.is_some())
}

/// Returns the folder of the queue, for a watcher.
pub(super) fn queue_folder(root: &Root) -> Option<String> {
    queue_path(root).map(|path| folder_of(&path).to_string())
}

/// Runs `update_open_requests` for all responsibilities if the stat of the queue changed since the
/// last time. Only files are compared while nothing changes.
pub(super) fn update_requests(root: &Root) -> anyhow::Result<()> {
    let Some(queue) = queue_path(root) else { return Ok(()) };
    let stamp = [queue.clone(), format!("{queue}-wal")].map(|path| match root.stat(&path) {
        Ok(Some((stat, _))) if stat.size > 0 => format!("{stat:?}\n"),
        // A reader can leave an empty log beside a database.
        _ => "-\n".to_string(),
    });
    let stamp = stamp.concat();
    if root.readable_bytes(QUEUE_STAMP, 1 << 16).as_deref() == Some(stamp.as_bytes()) {
        return Ok(());
    }
    let results = run_mandate(root, &plain(MandateName::UpdateOpenRequests, None), time(None)?)?;
    if let Some(error) = results.into_iter().find_map(|result| result.error) {
        anyhow::bail!("{error}");
    }
    emit::create_local_folder(root)?;
    emit::write_local_unlocked(root, QUEUE_STAMP, stamp.as_bytes())
}
