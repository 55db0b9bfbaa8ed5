//! Hostile documents, repositories, paths and clients.

mod documents;
mod paths;
mod repository;
mod resources;
mod server;
mod tampering;
mod trust;
