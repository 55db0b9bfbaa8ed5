//! The serializable types: what config, manifest, indexes and caches look like on disk.

pub mod accepted;
pub mod agent;
pub mod audit;
pub mod cache;
pub mod commit;
pub mod config;
pub mod header;
pub mod installed;
pub mod jsonl;
pub mod limits;
pub mod manifest;
pub mod paths;
pub mod older;
pub mod ranking;
pub mod record;
pub mod register;
pub mod schema;
mod sealed;
pub mod security;
pub mod span;
pub mod splice;
pub mod session;
pub mod usage;
pub mod yaml;
