//! Updates the open requests before the next session if the queue or a run of a mandate changed.

use super::mandate::{MandateName, run_mandate};
use super::responsibility::{plain, time};
use crate::emit;
use crate::model::Digest;
use crate::model::layout::{CONFIG, QUEUE_STAMP, folder_of};
use crate::model::plan::ResponsibilityPlan;
use crate::root::Root;

/// Returns the settings of responsibilities, if mandates may run.
fn settings(root: &Root) -> Option<ResponsibilityPlan> {
    // Most projects have no roles, and looking for the word is faster than parsing.
    let config = root.readable_bytes(CONFIG, 1 << 20)?;
    memchr::memmem::find(&config, b"context_worker")?;
    let plan = crate::build::plan(root).responsibilities;
    let is_complete = plan.queue.is_none() || plan.workspace.is_some();
    (plan.context_worker.is_some() && is_complete).then_some(plan)
}

/// Returns the folder of the queue, for a watcher.
pub(super) fn queue_folder(root: &Root) -> Option<String> {
    settings(root)?.queue.map(|path| folder_of(&path).to_string())
}

/// Returns the stats of the queue, one line each.
fn queue_stamp(root: &Root, queue: &str) -> String {
    let stamp = [queue.to_string(), format!("{queue}-wal")].map(|path| match root.stat(&path) {
        Ok(Some((stat, _))) if stat.size > 0 => format!("{stat:?}\n"),
        // A reader can leave an empty log beside a database.
        _ => "-\n".to_string(),
    });
    stamp.concat()
}

/// Returns the stats of the files in `mandates/runs` of each container of the registry.
fn runs_stamp(root: &Root, registry: &str) -> String {
    let mut stamp = String::new();
    for id in names(root, registry) {
        let runs = format!("{registry}/{id}/mandates/runs");
        for mandate in names(root, &runs) {
            let folder = format!("{runs}/{mandate}");
            for file in names(root, &folder) {
                let path = format!("{folder}/{file}");
                if let Ok(Some((stat, _))) = root.stat(&path) {
                    stamp += &format!("{path} {} {}\n", stat.size, stat.modified);
                }
            }
        }
    }
    stamp
}

/// Returns the names in a folder, sorted; none if it cannot be read.
fn names(root: &Root, folder: &str) -> Vec<String> {
    let entries = root.entries(folder).unwrap_or_default();
    let mut names: Vec<String> =
        entries.iter().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Runs `update_open_requests` for all responsibilities if the stat of the queue or of a run changed
/// since the last time. Only stats are compared while nothing changes.
pub(super) fn update_requests(root: &Root) -> anyhow::Result<()> {
    let Some(plan) = settings(root) else { return Ok(()) };
    let queue = plan.queue.as_ref().map_or(String::new(), |queue| queue_stamp(root, queue));
    let runs = Digest::of(runs_stamp(root, &plan.registry).as_bytes());
    let stamp = format!("{queue}{runs}\n");
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
