//! blue: a compiler for what a coding agent knows about a project.
//!
//! Documents go in at the top of this list and come out as files at the bottom. `build` walks
//! the rooms in this order; no other room knows it.

pub mod model;
pub mod root;
pub mod discover;
pub mod guard;
pub mod parse;
pub mod link;
pub mod rank;
pub mod condense;
pub mod render;
pub mod wire;
pub mod emit;
pub mod verify;
pub mod build;
pub mod serve;
pub mod mcp;
pub mod cli;
