//! `blue worktree-context`.

use std::path::Path;

use anyhow::Context;
use clap::Args;
use serde_json::{Value, json};

use super::hook::bundle_bytes;
use super::open::{Delivery, open_built, record};
use super::output::OutputFormat;
use super::{Exit, output};
use crate::discover::{git, worktrees};
use crate::emit;
use crate::model::layout::DOCUMENTS;
use crate::root::Root;
use crate::serve::log::bundle_line;
use crate::serve::{Built, Overlay, bundles, reference, work};
use crate::wire::jsonl::{BundleLine, DocumentLine};

/// The flags of `blue worktree-context`.
#[derive(Args, Debug)]
pub(super) struct WorktreeContextArgs {
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: OutputFormat,
    /// Session of the agent, for the audit log
    #[arg(long, value_name = "ID", default_value = "")]
    session: String,
}

impl WorktreeContextArgs {
    pub(super) fn run(&self, directory: &Path) -> anyhow::Result<Exit> {
        let delivery = Delivery::open(directory, None)?;
        let Some(mut bundle) = delivery.current().cloned() else {
            let named = delivery.work.as_deref().unwrap_or("no branch");
            output::error(&format!(
                "{named} names no unfinished RFC\nhint: run `blue worktree list`, or `blue next`"
            ));
            return Ok(Exit::FoundSomething);
        };
        let root = &delivery.root;
        let bytes = bundle_bytes(root, &mut bundle).with_context(|| {
            format!(
                "{} differs from the last build\nhint: run `blue knowledge build`",
                bundle.artifact
            )
        })?;
        let built = open_built(root)?;
        let document = bundles::document(&bundle).and_then(|uri| built.document(uri));
        match self.format {
            OutputFormat::Text => output::copy(&bytes)?,
            OutputFormat::Json => {
                let value = json(root, &built, &bundle, document.as_ref(), &bytes);
                output::copy(format!("{}\n", serde_json::to_string_pretty(&value)?).as_bytes())?;
            }
        }
        if let Some(difference) = document.as_ref().and_then(|line| difference(root, line)) {
            output::say(&format!("blue: {}", output::shown(&difference)));
        }
        record(root, bundle_line(&bundle), &self.session, "worktree-context")?;
        Ok(Exit::Done)
    }
}

fn json(
    root: &Root,
    built: &Built,
    bundle: &BundleLine,
    document: Option<&DocumentLine>,
    bytes: &[u8],
) -> Value {
    let state = work::state(bundle).unwrap_or_default();
    let overlay = Overlay::open(root, emit::today());
    let related =
        reference::neighbours(root, &built.catalogue, &overlay, &state.uri).ok().flatten();
    let related: Vec<Value> = related.unwrap_or_default().iter().take(MAX_LINKED).map(|related| {
        json!({"uri": related.document.uri, "path": related.document.path, "title": related.document.title})
    }).collect();
    let plans: Vec<Value> = state
        .plans
        .iter()
        .map(|plan| json!({"path": plan.path, "open_tasks": plan.open}))
        .collect();
    json!({
        "version": 1, "uri": state.uri, "path": state.path, "title": state.head,
        "status": state.status, "summary": document.map(|line| &line.summary),
        "phase": state.phase, "open_tasks": state.open, "n_done": state.n_done,
        "n_open": state.n_open, "success_criteria": state.criteria, "plans": plans,
        "depends": state.depends, "linked": related,
        "text": String::from_utf8_lossy(bytes),
    })
}

/// Maximum number of linked documents in JSON.
const MAX_LINKED: usize = 5;

/// Describes how an RFC differs on the base branch. The base's index names the status and the path
/// there, because a new status may have renamed the file.
fn difference(root: &Root, line: &DocumentLine) -> Option<String> {
    let folder = root.path();
    let configured = crate::build::plan(root).base;
    let base = worktrees::list(folder, configured.as_deref())?.base?;
    let commit = worktrees::commit_id(folder, &base)?;
    let index = git::files(folder, &[format!("{commit}:./{DOCUMENTS}")]).pop().flatten();
    let index = String::from_utf8_lossy(&index.unwrap_or_default()).into_owned();
    let key = format!("\"uri\":{}", serde_json::to_string(&line.uri).ok()?);
    let there = index.lines().find(|text| text.contains(&key));
    let there: Option<DocumentLine> = there.and_then(|text| serde_json::from_str(text).ok());
    let path = there.as_ref().map_or(line.path.as_str(), |there| there.path.as_str());
    let blobs =
        git::files(folder, &[format!("{commit}:./{path}"), format!("{commit}:./{}", line.path)]);
    let Some(blob) = blobs.into_iter().flatten().next() else {
        return Some(format!("{} does not exist on {base}", line.path));
    };
    let own = root.readable_bytes(&line.path, 64 << 20)?;
    let status =
        there.as_ref().map(|there| there.status.clone()).filter(|status| *status != line.status);
    match (status, with_lf(&own) == with_lf(&blob)) {
        (None, true) => None,
        (Some(status), _) => Some(format!(
            "{} is {} here and {status} on {base} ({path}); this copy is delivered",
            line.path, line.status
        )),
        (None, false) => {
            Some(format!("{} has another content on {base}; this copy is delivered", line.path))
        }
    }
}

fn with_lf(bytes: &[u8]) -> Vec<u8> {
    crate::model::source::with_lf(bytes).unwrap_or_else(|| bytes.to_vec())
}
