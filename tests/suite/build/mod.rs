//! Builds: the files that they read and write, and what they compute.

mod artifacts;
mod concurrency;
mod crash;
mod edits;
mod incremental;
mod merges;
mod names;
mod properties;
mod ranking;
mod reproducible;
