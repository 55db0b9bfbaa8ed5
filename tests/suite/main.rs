//! The integration tests: one binary, a module for each topic.

#![allow(
    unreachable_pub,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a failed test panics, prepares files with std::fs and prints its measurements"
)]

mod attack;
mod bounds;
mod cli;
mod code;
mod codes;
mod crash;
mod delivery;
mod edit;
mod fuzz;
mod golden;
mod graph;
mod hooks;
mod hostile;
mod install;
mod mcp;
mod mcp_attack;
mod mcp_tools;
mod merge;
mod orders;
mod paths;
mod properties;
mod rank;
mod readme;
mod reproduce;
mod support;
mod tamper;
mod tidy;
mod together;
mod trust;
mod usage;
