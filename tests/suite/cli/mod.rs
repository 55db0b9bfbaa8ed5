//! The commands of blue.

mod accepted_findings;
mod commands;
mod documents_for_code;
mod documents_for_path;
mod findings;
mod graph;
mod init;
mod listing;
mod parts_of_documents;
mod search;
