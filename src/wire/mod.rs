//! Formats on disk: configuration, manifest, indexes, caches and agents' settings.

pub mod accepted;
pub mod agent;
pub mod attributes;
pub mod audit;
pub mod cache;
pub mod commit;
pub mod config;
pub mod conflict;
pub mod facts;
pub mod header;
pub mod installed;
pub mod jsonc;
pub mod jsonc_edit;
pub mod jsonl;
pub mod limits;
pub mod manifest;
pub mod older;
pub mod paths;
pub mod plugin;
pub mod register;
pub mod schema;
pub mod security;
pub mod session;
pub mod usage;
pub mod user;
pub mod yaml;
