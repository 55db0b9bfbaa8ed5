//! Hands the arguments to `cli` and its answer to the system.

use std::process::ExitCode;

/// Most of a cold build is small allocations on several threads, where the system's allocator
/// costs about a fifth of the whole.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // Expressions in a template nest on the stack; it is only reserved until it is used.
    let run = || blue::cli::run(std::env::args_os());
    let thread = std::thread::Builder::new().stack_size(256 << 20).spawn(run);
    match thread.map(std::thread::JoinHandle::join) {
        Ok(Ok(exit)) => exit.into(),
        _ => blue::cli::Exit::CouldNotRun.into(),
    }
}
