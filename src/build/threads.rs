//! Starts the thread pool.

use std::error::Error;
use std::sync::Once;

use anyhow::Context;

/// Starts rayon's global pool, once. With an explicit number of threads, the calling thread is one of
/// them, so that it does not wait for others to start.
pub(super) fn start_pool(threads: Option<usize>) -> anyhow::Result<()> {
    static STARTED: Once = Once::new();
    let mut result = Ok(());
    STARTED.call_once(|| {
        let pool = rayon::ThreadPoolBuilder::new();
        let pool = match threads {
            Some(threads) => pool.num_threads(threads).use_current_thread(),
            None => pool,
        };
        // Without a source, the error is that a pool exists already.
        result = pool.build_global().or_else(|error| match error.source() {
            Some(refused) => Err(anyhow::anyhow!("{refused}")),
            None => Ok(()),
        });
    });
    result.context("start a thread")
}
