//! Where blue's own files lie below the root, and how a path is taken apart.

/// The configuration, written by people.
pub const CONFIG: &str = ".blue/config.yaml";
/// The findings that were reviewed and accepted, written by `lint --accept`.
pub const ACCEPTED: &str = ".blue/accepted.jsonl";
/// The project's voice, written by people.
pub const VOICE: &str = ".blue/voice.md";
/// How people work here, written by people.
pub const GUIDE: &str = ".blue/workflow.md";
/// The manifest.
pub const MANIFEST: &str = ".blue/context.manifest.yaml";
/// What the session-start hook prints.
pub const SESSION: &str = ".blue/context/session.md";
/// The same text as the JSON that a subagent's start wants.
pub const SESSION_JSON: &str = ".blue/context/session.json";
/// The bundles of tier 2, a file for each live RFC.
pub const WORKFLOW: &str = ".blue/context/workflow";
/// blue's own folder, ignored by git: caches, logs, locks.
pub const LOCAL: &str = ".blue/local";
/// The bundles of tier 2 as they were before they last changed; not committed.
pub const WORKFLOW_BEFORE: &str = ".blue/local/before";
/// What hooks can deliver, a line for each bundle.
pub const BUNDLES: &str = ".blue/context/bundles.jsonl";
/// The index of documents.
pub const DOCUMENTS: &str = ".blue/context/documents.jsonl";
/// The relevance index.
pub const RELEVANCE: &str = ".blue/context/relevance.jsonl";
/// Which documents name which files and folders.
pub const PATHS: &str = ".blue/context/paths.jsonl";
/// What was read on this machine; not committed.
pub const USAGE: &str = ".blue/local/usage";

/// A record of each session of an agent; not committed.
pub const SESSIONS: &str = ".blue/local/sessions";
/// The names of the sessions of each agent's process; not committed.
pub const CLIENTS: &str = ".blue/local/clients";

/// The folder of a path; empty for the root.
pub fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}
