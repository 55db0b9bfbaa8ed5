//! The integration tests: one binary, a module for each topic.

#![allow(
    unreachable_pub,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a failed test panics, prepares files with std::fs and prints its measurements"
)]

mod agents;
mod build;
mod cli;
mod fuzz;
mod golden;
mod lifecycle;
mod mcp;
mod readme;
mod responsibilities;
mod security;
mod support;
mod tidy;
mod worktrees;
