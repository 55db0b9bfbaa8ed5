//! The state of the project: its documents, the current work and hints.

use super::address::AddressError;
use super::{Library, work};
use crate::model::layout::{CONFIG, GUIDE};
use crate::wire::jsonl::DocumentLine;

/// The state of a project.
pub struct ProjectStatus {
    /// Number of documents.
    pub n_documents: u64,
    /// Number of live documents.
    pub n_live: u64,
    /// True if an input changed since the last build.
    pub stale: bool,
    /// The current work, or the reason why there is none.
    pub work: Result<CurrentWork, AddressError>,
    /// Suggestions for what to do next.
    pub hints: Vec<String>,
}

/// The RFC that `.blue/worktree.json` or the branch names.
pub struct CurrentWork {
    /// The address of the bundle.
    pub bundle: String,
    /// The line of the RFC in the index.
    pub document: Option<DocumentLine>,
    /// Open tasks of the RFC, then of its plans.
    pub open_tasks: Vec<String>,
}

/// Files that a project should have, each with its purpose.
const RECOMMENDED: [(&str, &str); 2] = [
    (CONFIG, "a configuration; `blue init` writes one"),
    (GUIDE, "how you work here; delivered at the start of every session"),
];

/// Hint for a project whose inputs changed since the last build.
pub const STALE: &str = "something changed since the last build: run `blue knowledge build`";

/// Summarises a project. `stale` is true if an input changed since the last build.
pub fn status(library: &Library<'_>, stale: bool) -> ProjectStatus {
    let documents = &library.built.manifest.documents;
    let work = current_work(library);
    let mut hints = vec![match &work {
        Err(error) => match error.hint() {
            Some(hint) => format!("{error}: {hint}"),
            None => error.to_string(),
        },
        Ok(work) => match work.open_tasks.first() {
            Some(task) => format!("next: {task}"),
            None => format!("no open task is listed in {}", work.bundle),
        },
    }];
    hints.extend(stale.then(|| STALE.to_string()));
    let missing = RECOMMENDED.into_iter().filter(|(path, _)| !library.root.exists(path));
    hints.extend(missing.map(|(path, purpose)| format!("write {path}: {purpose}")));
    let (n_documents, n_live) = (documents.count, documents.live);
    ProjectStatus { n_documents, n_live, stale, work, hints }
}

fn current_work(library: &Library<'_>) -> Result<CurrentWork, AddressError> {
    let bundle = library
        .current_bundle()
        .ok_or_else(|| AddressError::NoCurrentWork(library.work.map(str::to_string)))?;
    let state = work::state(bundle);
    let tasks = state.as_ref().map(work::open_tasks).unwrap_or_default();
    Ok(CurrentWork {
        bundle: bundle.source.clone(),
        document: bundle.names.iter().find_map(|name| library.built.document(name)),
        open_tasks: tasks.into_iter().map(str::to_string).collect(),
    })
}
