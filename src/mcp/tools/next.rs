//! `blue_next`: recommendations, and the activity that `blue_status` also returns.

use serde::Deserialize;
use serde_json::json;

use super::super::project::Project;
use super::{ToolAnswer, ToolOutput};
use crate::build;
use crate::discover::worktrees;
use crate::emit;
use crate::model::worktree::GitRepository;
use crate::serve::Library;
use crate::serve::activity::{ActivityReport, AssignedWorktree, OTHER_CLONES};
use crate::serve::next::{LiveWork, recommend};

/// Default number of recommendations.
pub(super) const LIMIT: usize = 3;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NextArguments {
    #[serde(default)]
    limit: Option<usize>,
}

pub(super) fn call(project: &Project, arguments: &NextArguments) -> ToolAnswer {
    let open = project.open();
    let library = open.library(project).map_err(|failure| failure.text())?;
    let (works, notes) = activity(&library);
    let found = recommend(&library, works, arguments.limit.unwrap_or(LIMIT));
    Ok(ToolOutput::Structured(json!({
        "current": found.current, "next": found.next, "notes": notes,
    })))
}

/// Returns the RFCs that are worked on with their activity, and notes about its limits.
pub(super) fn activity(library: &Library<'_>) -> (Vec<LiveWork>, Vec<String>) {
    let now = emit::current_time().as_second();
    let folder = library.root.path();
    let base = build::plan(library.root).base;
    let repository = worktrees::survey(folder, base.as_deref(), now)
        .unwrap_or_else(|| GitRepository::only(folder));
    let assigned = AssignedWorktree::read_all(&repository);
    let report = ActivityReport::new(&library.built.bundles, &repository, &assigned, now);
    let works = LiveWork::all(&report, &assigned);
    let mut notes = report.notes;
    notes.push(OTHER_CLONES.to_string());
    (works, notes)
}
