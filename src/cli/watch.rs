//! `blue watch`: builds after every change.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use anyhow::Context;
use clap::Args;
use notify::{RecursiveMode, Watcher};

use super::{Exit, build, output, project, queue_changes};
use crate::model::layout::{BLUE, TEMPLATES};
use crate::root::Root;

/// Default time without a change before a build begins, in milliseconds.
const QUIET: u64 = 200;

/// Maximum number of waits before a build begins even if files still change.
const MAX_WAITS: u32 = 20;

/// The flags of `blue watch`.
#[derive(Args, Debug)]
pub(super) struct WatchArgs {
    /// Build after MS milliseconds without a change
    #[arg(long, value_name = "MS", default_value_t = QUIET)]
    quiet: u64,
}

impl WatchArgs {
    pub(super) fn run(&self, directory: &Path) -> anyhow::Result<Exit> {
        let folder = project::find(directory)?;
        let root = project::open_to_write(&folder)?;
        let (sender, changes) = channel();
        let mut watcher =
            notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
                if event.map_or(true, |event| !event.kind.is_access()) {
                    // This fails only when the command is about to end.
                    sender.send(()).ok();
                }
            })
            .context("watch the project")?;
        let mut watched = BTreeSet::new();
        let shown = crate::guard::redacted(&folder.display().to_string());
        output::say(&format!("blue: watching {shown}; stop with Ctrl-C"));
        loop {
            let started = Instant::now();
            if let Err(error) = queue_changes::update_requests(&root) {
                output::error(&format!("{error:#}"));
            }
            match build::BuildArgs::default().build(&root) {
                Ok(outcome) if outcome.wrote() => {
                    build::report_build(&root, &outcome, started)?;
                }
                Ok(_) => {}
                // The next change may fix it.
                Err(error) => output::error(&format!("{error:#}")),
            }
            follow(&root, &mut watcher, &mut watched)?;
            if !self.wait(&changes) {
                return Ok(Exit::Done);
            }
        }
    }

    /// Waits for a change, and then until changes stop. Returns false if the watcher ended.
    fn wait(&self, changes: &Receiver<()>) -> bool {
        if changes.recv().is_err() {
            return false;
        }
        for _ in 0..MAX_WAITS {
            match changes.recv_timeout(Duration::from_millis(self.quiet)) {
                // Many changes cause one build.
                Ok(()) => while changes.try_recv().is_ok() {},
                Err(RecvTimeoutError::Timeout) => return true,
                Err(RecvTimeoutError::Disconnected) => return false,
            }
        }
        true
    }
}

/// Watches exactly the folders that the last build read.
fn follow(
    root: &Root,
    watcher: &mut notify::RecommendedWatcher,
    watched: &mut BTreeSet<PathBuf>,
) -> anyhow::Result<()> {
    let folder = root.path();
    let mut wanted: BTreeSet<PathBuf> =
        crate::build::folders(root).iter().map(|path| folder.join(path)).collect();
    wanted.extend(queue_changes::queue_folder(root).map(|path| folder.join(path)));
    wanted.extend([folder.to_path_buf(), folder.join(BLUE), folder.join(TEMPLATES)]);
    for gone in watched.difference(&wanted) {
        watcher.unwatch(gone).ok();
    }
    for path in wanted.difference(watched).filter(|path| path.is_dir()) {
        watcher
            .watch(path, RecursiveMode::NonRecursive)
            .with_context(|| format!("watch {}", path.display()))?;
    }
    *watched = wanted.into_iter().filter(|path| path.is_dir()).collect();
    Ok(())
}
