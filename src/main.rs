//! Hands the arguments to `cli` and its answer to the system.

use std::process::ExitCode;

/// Most of a cold build is small allocations on several threads, where the system's allocator
/// costs about a fifth of the whole.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    blue::cli::run(std::env::args_os()).into()
}
