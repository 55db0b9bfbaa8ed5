//! Threads that share the work; where none can be started, an error says so.

use std::error::Error;
use std::sync::Once;
use std::thread::{Builder, JoinHandle, Scope, ScopedJoinHandle};

use anyhow::Context;

const REFUSED: &str = "start a thread";

/// Starts the pool that shares the work, once. The calling thread is one of an explicit number, so
/// that it does not wait for others to begin. A build with little to look at needs no pool.
pub(super) fn start_pool(threads: Option<usize>) -> anyhow::Result<()> {
    static STARTED: Once = Once::new();
    let mut result = Ok(());
    STARTED.call_once(|| {
        let pool = rayon::ThreadPoolBuilder::new();
        let pool = match threads {
            // Some threads are not of the pool, and wait for it; it must not be waiting for them.
            Some(threads) if threads > 1 => pool.num_threads(threads).use_current_thread(),
            Some(threads) => pool.num_threads(threads),
            None => pool,
        };
        // If there are threads already, those do; only what the system refused has a source.
        result = pool.build_global().or_else(|error| match error.source() {
            Some(refused) => Err(anyhow::anyhow!("{refused}")),
            None => Ok(()),
        });
    });
    result.context(REFUSED)
}

/// Starts a thread apart from the pool.
pub(super) fn start<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> anyhow::Result<JoinHandle<T>> {
    Builder::new().spawn(work).context(REFUSED)
}

/// Starts a thread apart from the pool that may borrow from its caller.
pub(super) fn start_in<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    work: impl FnOnce() -> T + Send + 'scope,
) -> anyhow::Result<ScopedJoinHandle<'scope, T>> {
    Builder::new().spawn_scoped(scope, work).context(REFUSED)
}
