//! Hands the arguments to `cli` and its answer to the system.

use std::process::ExitCode;

/// A cold build makes small allocations on several threads. Against the system's allocator this one
/// takes a fifth off its user time, and asks for more memory; ADR 0013 has the numbers.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    blue::cli::start(std::env::args_os()).into()
}
