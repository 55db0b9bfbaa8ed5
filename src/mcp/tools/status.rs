//! `blue_status`: the state of the project, recent deliveries and hints.

use serde::Deserialize;
use serde_json::{Value, json};

use super::super::failure::shown;
use super::super::project::Project;
use super::{ToolAnswer, ToolOutput, next};
use crate::build;
use crate::root::Root;
use crate::serve::AuditLog;
use crate::serve::status::{self, STALE};

/// Maximum number of listed deliveries.
const MAX_LINES: usize = 8;

/// Maximum number of listed RFCs, the most active first.
const MAX_WORKS: usize = 40;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StatusArguments {}

pub(super) fn call(project: &Project, _: &StatusArguments) -> ToolAnswer {
    let open = project.open();
    let library = open.library(project).map_err(|failure| failure.text())?;
    let status = status::status(&library, is_stale(&project.root));
    let mut work = json!({});
    if let Some(branch) = project.branch() {
        work["branch"] = json!(shown(&branch));
    }
    if let Ok(current) = &status.work {
        work["bundle"] = json!(current.bundle);
        if let Some(line) = &current.document {
            work["uri"] = json!(line.uri);
            work["title"] = json!(line.title);
            work["status"] = json!(line.status);
        }
        work["open_tasks"] = json!(current.open_tasks);
    }
    let log = AuditLog::open(&project.root, None);
    let lines = log.lines.iter().rev().take(MAX_LINES).map(|line| {
        json!({"time": line.timestamp, "event": line.event, "uri": line.source,
            "session": line.session_id})
    });
    let (mut works, notes) = next::activity(&library);
    works.sort_by_key(|work| (work.activity.level, work.activity.age));
    works.truncate(MAX_WORKS);
    let hints: Vec<String> = status.hints.iter().map(|hint| shown(hint)).collect();
    let mut answer = json!({
        "documents": {"count": status.n_documents, "live": status.n_live},
        "built": built_text(status.stale), "work": work,
        "activity": lines.collect::<Vec<Value>>(), "rfcs": works, "notes": notes, "hints": hints,
    });
    if let Some(hint) = status.hint {
        answer["hint"] = json!(hint);
    }
    Ok(ToolOutput::Structured(answer))
}

/// Returns true if an input changed since the last build, or if that cannot be determined.
fn is_stale(root: &Root) -> bool {
    build::is_stale(root).unwrap_or(true)
}

/// Returns the state of the build in words.
pub(super) fn built(root: &Root) -> &'static str {
    built_text(is_stale(root))
}

fn built_text(stale: bool) -> &'static str {
    if stale { STALE } else { "current" }
}
