//! Paths of blue's own files below the root.

/// Folder of all files that blue reads and writes, except digests of collections.
pub const BLUE: &str = ".blue";
/// Configuration, written by people.
pub const CONFIG: &str = ".blue/config.yaml";
/// Findings that were reviewed and accepted, written by `lint --accept`.
pub const ACCEPTED: &str = ".blue/accepted.jsonl";
/// Description of the project's voice, written by people.
pub const VOICE: &str = ".blue/voice.md";
/// Description of the project's workflow, written by people.
pub const GUIDE: &str = ".blue/workflow.md";
/// The project's own templates, which replace those of blue.
pub const TEMPLATES: &str = ".blue/templates/";
/// Manifest of all emitted files.
pub const MANIFEST: &str = ".blue/context.manifest.yaml";
/// The folder of bundles and indexes.
pub const CONTEXT: &str = ".blue/context";
/// Session bundle, printed by the session-start hook.
pub const SESSION: &str = ".blue/context/session.md";
/// Session bundle as the JSON that the hook for a starting subagent prints.
pub const SESSION_JSON: &str = ".blue/context/session.json";
/// Bundle of the files that people wrote into [`KNOWLEDGE`].
pub const KNOWLEDGE_BUNDLE: &str = ".blue/context/knowledge.md";
/// Folder of the hook scripts.
pub const HOOKS: &str = ".blue/hooks";
/// Folder of the tier 2 bundles, one file for each RFC or spike that is worked on.
pub const WORKFLOW: &str = ".blue/context/workflow";
/// Folder of the packs of responsibilities, one file for each, and of their files where blue may not
/// write in the containers.
pub const RESPONSIBILITIES: &str = ".blue/context/responsibilities";
/// Folder in the container of a responsibility that blue writes to.
pub const AI_CONTEXT: &str = "ai_context";
/// Folder of the states of containers that are not committed, and of the texts made from them: a
/// folder for each responsibility.
pub const LOCAL_RESPONSIBILITIES: &str = ".blue/local/responsibilities";
/// Index of the packs in [`LOCAL_RESPONSIBILITIES`].
pub const LOCAL_BUNDLES: &str = ".blue/local/responsibilities/bundles.jsonl";
/// Folder for caches, logs and locks, ignored by git.
pub const LOCAL: &str = ".blue/local";
/// Folder of the previous version of each tier 2 bundle; not committed.
pub const WORKFLOW_BEFORE: &str = ".blue/local/before";
/// Index of the bundles that hooks can deliver, one line each.
pub const BUNDLES: &str = ".blue/context/bundles.jsonl";
/// Index of documents.
pub const DOCUMENTS: &str = ".blue/context/documents.jsonl";
/// Relevance index: each document's neighbours.
pub const RELEVANCE: &str = ".blue/context/relevance.jsonl";
/// Index of the files and folders that documents name.
pub const PATHS: &str = ".blue/context/paths.jsonl";
/// The digests of collections and hand-written notes, a Markdown file for each.
pub const KNOWLEDGE: &str = "knowledge/";
/// The same folder without its slash.
pub const KNOWLEDGE_FOLDER: &str = "knowledge";
/// The name of the work that this checkout is for, written by people or their tools.
pub const WORKTREE: &str = ".blue/worktree.json";
/// The audit log; not committed.
pub const AUDIT: &str = ".blue/local/audit.jsonl";
/// The previous audit log, renamed when it grew too large; not committed.
pub const ROTATED_AUDIT: &str = ".blue/local/audit.1.jsonl";
/// The cache of parsed documents; not committed.
pub const FACTS: &str = ".blue/local/facts";
/// The search index of the last build; not committed.
pub const SEARCH: &str = ".blue/local/search";
/// The state of the last build; not committed.
pub const STATE: &str = ".blue/local/state";
/// Counts of the documents that were read on this machine; not committed.
pub const USAGE: &str = ".blue/local/usage";
/// The last commit of each document; not committed.
pub const DATES: &str = ".blue/local/dates";
/// The warnings that builds have reported; not committed.
pub const REPORTED: &str = ".blue/local/reported";

/// Folder with a record of each agent session; not committed.
pub const SESSIONS: &str = ".blue/local/sessions";
/// Folder that maps each agent process to its session names; not committed.
pub const CLIENTS: &str = ".blue/local/clients";
/// Copy of the bundle of the current work, for agents that include files by name; not committed.
pub const CURRENT: &str = ".blue/local/current.md";
/// Record of `blue install`; not committed.
pub const INSTALLED: &str = ".blue/local/installed.json";
/// The stat of the queue when its requests were last read; not committed.
pub const QUEUE_STAMP: &str = ".blue/local/queue";
/// Makes git ignore [`LOCAL`].
pub const IGNORE: &str = ".blue/.gitignore";
/// Backup of a hand-written manifest, created by `blue init`.
pub const OLD_MANIFEST: &str = ".blue/context.manifest.old.yaml";

/// Returns the path of a collection's digest.
pub fn digest_path(collection: &str) -> String {
    format!("{KNOWLEDGE}{collection}.md")
}

/// Names of the files in [`AI_CONTEXT`] that every responsibility has.
pub const CORE_FILES: [&str; 5] = [
    "system_context.md",
    "current_focus.md",
    "recent_activity.md",
    "open_requests.md",
    "model_preferences.md",
];

/// Returns true if a path is that of a file which blue makes for a responsibility: in `ai_context/`,
/// or in a folder of [`RESPONSIBILITIES`].
pub fn is_role_file(path: &str) -> bool {
    let folder = folder_of(path);
    let name = folder.rsplit('/').next().unwrap_or_default();
    path.ends_with(".md") && (name == AI_CONTEXT || is_below(folder, RESPONSIBILITIES))
}

/// Returns true if a path is below a folder.
pub fn is_below(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

/// Returns the folder of a path, which is empty for a file in the root.
pub fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}
