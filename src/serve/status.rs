//! The state of the project: its documents, the current work, and what would help.

use super::address::AddressError;
use super::{Library, work};
use crate::model::layout::{CONFIG, GUIDE};
use crate::wire::jsonl::DocumentLine;

/// The state of a project.
pub struct ProjectStatus {
    /// Documents in the index.
    pub n_documents: u64,
    /// Live documents among them.
    pub n_live: u64,
    /// True if something changed since the last build.
    pub stale: bool,
    /// The current work, or the reason why there is none.
    pub work: Result<CurrentWork, AddressError>,
    /// Things to do next, in words.
    pub hints: Vec<String>,
}

/// The work that the branch or `.blue/worktree.json` names.
pub struct CurrentWork {
    /// The address of its bundle.
    pub bundle: String,
    /// The line of its document in the index.
    pub document: Option<DocumentLine>,
    /// Its open tasks, those of its plans last.
    pub open_tasks: Vec<String>,
}

/// Files that a project should have, with what each is for.
const WANTED: [(&str, &str); 2] = [
    (CONFIG, "a configuration; `blue init` writes one"),
    (GUIDE, "how you work here; every session is given it at its start"),
];

/// Hint of a project that changed since it was built.
pub const STALE: &str = "something changed since the last build: run `blue knowledge build`";

/// Summarises a project. `stale` is true if something changed since the last build.
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
    let missing = WANTED.into_iter().filter(|(path, _)| !library.root.exists(path));
    hints.extend(missing.map(|(path, what)| format!("write {path}: {what}")));
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
