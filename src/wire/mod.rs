//! The serializable types: what config, manifest, indexes and caches look like on disk.

pub mod audit;
pub mod cache;
pub mod commit;
pub mod config;
pub mod header;
pub mod jsonl;
pub mod manifest;
pub mod older;
pub mod record;
pub mod schema;
pub mod session;
pub mod yaml;
