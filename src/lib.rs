//! blue: a compiler for what a coding agent knows about a project.
//!
//! The modules are listed in the order of the pipeline. Documents enter at `discover`, and `emit`
//! writes the resulting files. `build` calls the stages in this order; no other module knows it.

pub mod model;
pub mod root;
pub mod discover;
pub mod guard;
pub mod parse;
pub mod link;
pub mod rank;
pub mod search;
pub mod condense;
pub mod render;
pub mod wire;
pub mod responsibility;
pub mod queue;
pub mod emit;
pub mod verify;
pub mod build;
pub mod reader;
pub mod serve;
pub mod lifecycle;
pub mod mcp;
pub mod cli;
