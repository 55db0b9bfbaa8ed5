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
    /// The offer to set up `.blue/workflow.md`, while it is missing.
    pub hint: Option<&'static str>,
}

/// The offer to set up the guide.
pub const NO_GUIDE: &str = "No .blue/workflow.md found. Ask me to help set up project workflow.";

/// The RFC that `.blue/worktree.json` or the branch names.
pub struct CurrentWork {
    /// The address of the bundle.
    pub bundle: String,
    /// The line of the RFC in the index.
    pub document: Option<DocumentLine>,
    /// Open tasks of the RFC, then of its plans.
    pub open_tasks: Vec<String>,
}

/// Hint for a project whose inputs changed since the last build.
pub const STALE: &str = "something changed since the last build: run `blue knowledge build`";

/// Number of decisions in force above which the default session bundle is too small for most of what
/// they say.
pub const MANY_DECISIONS: usize = 25;

/// Tokens of a session bundle for many decisions.
pub const LARGE_SESSION: u64 = 2_000;

/// Suggests a larger session bundle for a project with many decisions.
fn larger_session(library: &Library<'_>) -> Option<String> {
    let catalogue = &library.built.catalogue;
    let is_decision = |row: &usize| {
        let is_proposal =
            |line: DocumentLine| ["draft", "proposed"].contains(&line.status.as_str());
        catalogue.is_live(*row)
            && catalogue.is_kind(*row, "adr")
            && !catalogue.line(*row).is_some_and(is_proposal)
    };
    let n_decisions = (0..catalogue.n_documents()).filter(is_decision).count();
    let max_tokens = library.built.manifest.identity.max_tokens;
    let is_small = n_decisions > MANY_DECISIONS && max_tokens < LARGE_SESSION;
    is_small.then(|| {
        format!(
            "{n_decisions} decisions are in force, and {max_tokens} tokens have no room for what most of them say: write `identity: {{max_tokens: {LARGE_SESSION}}}` into {CONFIG}"
        )
    })
}

/// Summarises a project. `stale` is true if an input changed since the last build.
pub fn status(library: &Library<'_>, stale: bool) -> ProjectStatus {
    let documents = &library.built.manifest.documents;
    let work = current_work(library);
    let about_work = match &work {
        // Where there is no RFC to work on, nothing has to be named.
        Err(_) if !library.built.bundles.has_work() => None,
        Err(error) => Some(match error.hint() {
            Some(hint) => format!("{error}: {hint}"),
            None => error.to_string(),
        }),
        Ok(work) => Some(match work.open_tasks.first() {
            Some(task) => format!("next: {task}"),
            None => format!("no open task is listed in {}", work.bundle),
        }),
    };
    let mut hints: Vec<String> = about_work.into_iter().collect();
    hints.extend(stale.then(|| STALE.to_string()));
    let no_config = (!library.root.exists(CONFIG))
        .then(|| format!("write {CONFIG}: a configuration; `blue init` writes one"));
    hints.extend(no_config);
    hints.extend(larger_session(library));
    let (n_documents, n_live) = (documents.count, documents.live);
    let hint = (!library.root.exists(GUIDE)).then_some(NO_GUIDE);
    ProjectStatus { n_documents, n_live, stale, work, hints, hint }
}

fn current_work(library: &Library<'_>) -> Result<CurrentWork, AddressError> {
    let bundle = library.current_bundle().ok_or_else(|| {
        let named = library.work.filter(|_| library.built.bundles.has_work());
        AddressError::NoCurrentWork(named.map(str::to_string))
    })?;
    let state = work::state(bundle);
    let tasks = state.as_ref().map(work::open_tasks).unwrap_or_default();
    Ok(CurrentWork {
        bundle: bundle.source.clone(),
        document: bundle.names.iter().find_map(|name| library.built.document(name)),
        open_tasks: tasks.into_iter().map(str::to_string).collect(),
    })
}
