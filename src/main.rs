//! Hands the arguments to `cli` and its answer to the system.

use std::process::ExitCode;

fn main() -> ExitCode {
    blue::cli::run(std::env::args_os()).into()
}
