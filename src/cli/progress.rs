//! A progress bar for work that takes longer than half a second.

use std::io::IsTerminal;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use crate::build::Progress;

/// Time before the bar appears.
const DELAY: Duration = Duration::from_millis(500);

/// A progress bar, on a terminal only.
pub(super) struct Bar {
    started: Instant,
    n_total: AtomicU64,
    n_done: AtomicU64,
    bar: OnceLock<ProgressBar>,
    shown: bool,
}

impl Bar {
    pub(super) fn new() -> Bar {
        let shown = std::io::stderr().is_terminal();
        Bar {
            started: Instant::now(),
            n_total: AtomicU64::new(0),
            n_done: AtomicU64::new(0),
            bar: OnceLock::new(),
            shown,
        }
    }
}

impl Progress for Bar {
    fn total(&self, n_documents: u64) {
        self.n_total.store(n_documents, Ordering::Relaxed);
    }

    fn step(&self) {
        let n_done = self.n_done.fetch_add(1, Ordering::Relaxed) + 1;
        if !self.shown || !n_done.is_multiple_of(64) || self.started.elapsed() < DELAY {
            return;
        }
        let bar = self.bar.get_or_init(|| {
            let style =
                ProgressStyle::with_template("blue: reading {bar:30} {pos}/{len} documents");
            let bar = ProgressBar::new(self.n_total.load(Ordering::Relaxed));
            bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        });
        bar.set_position(n_done);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }
}
