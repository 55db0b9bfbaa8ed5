//! `blue_status`: where the project stands, what happened lately, and what would help.

use serde::Deserialize;
use serde_json::{Value, json};

use super::super::library::Library;
use super::super::{address, read};
use super::Answer;
use crate::build::{self};
use crate::emit::{AUDIT, AUDIT_BEFORE};
use crate::model::layout::{CONFIG, GUIDE};
use crate::serve::{Log, Shelf, work};

/// Deliveries that are told.
const MAX_LINES: usize = 8;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {}

pub(super) fn call(library: &Library, _: &Arguments) -> Answer {
    let open = library.open();
    let shelf = open.shelf.as_ref().map_err(|why| why.to_string())?;
    let log = Log::open(&library.root, [AUDIT_BEFORE, AUDIT], None);
    let activity: Vec<Value> = log
        .lines
        .iter()
        .rev()
        .take(MAX_LINES)
        .map(|line| {
            json!({"time": line.timestamp, "event": line.event, "uri": line.source,
                "session": line.session_id})
        })
        .collect();
    let (work, mut hints) = current_work(library, shelf);
    let built = built(library);
    if built != "current" {
        hints.push(built.to_string());
    }
    for (path, what) in [
        (CONFIG, "a configuration; `blue init` writes one"),
        (GUIDE, "how you work here; it is told at session start"),
    ] {
        if !library.root.exists(path) {
            hints.push(format!("write {path}: {what}"));
        }
    }
    let documents = &shelf.manifest.documents;
    Ok(json!({
        "documents": {"count": documents.count, "live": documents.live},
        "built": built, "work": work, "activity": activity, "hints": hints,
    }))
}

/// The current work with its open tasks, and how to name one if there is none.
fn current_work(library: &Library, shelf: &Shelf) -> (Value, Vec<String>) {
    let mut work = json!({});
    if let Some(branch) = library.branch() {
        work["branch"] = json!(address::shown(&branch));
    }
    let Some(bundle) = library.current(shelf) else {
        let failure = read::read(library, &library.open(), "blue://state/current-rfc");
        let hint = failure.err().map(|failure| failure.text()).into_iter().collect();
        return (work, hint);
    };
    work["bundle"] = json!(bundle.source);
    let document = bundle.names.iter().find_map(|name| shelf.document(name));
    if let Some(line) = document {
        work["uri"] = json!(line.uri);
        work["title"] = json!(line.title);
        work["status"] = json!(line.status);
    }
    let state = work::of(bundle);
    let tasks = state.as_ref().map(work::open_tasks).unwrap_or_default();
    let hint = match tasks.first() {
        Some(task) => format!("next: {task}"),
        None => format!("no open task is listed in {}", bundle.source),
    };
    work["open_tasks"] = json!(tasks);
    (work, vec![hint])
}

/// Whether what was built is current, in words.
pub(super) fn built(library: &Library) -> &'static str {
    match build::is_stale(&library.root) {
        Ok(false) => "current",
        _ => "something changed since the last build: run `blue knowledge build`",
    }
}
