//! What a build reads, computes and writes.

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
