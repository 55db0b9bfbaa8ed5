//! Hands the arguments to `cli` and its answer to the system.

use std::process::ExitCode;

/// A cold build makes small allocations on several threads. Against the system's allocator this one
/// takes a fifth off its user time, and asks for more memory; ADR 0013 has the numbers.
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
