//! `blue_new`: creates a document. It is the only tool that writes, and off by default.

use serde::Deserialize;
use serde_json::json;

use super::super::failure::shown;
use super::super::project::Project;
use super::{ToolAnswer, ToolOutput};
use crate::build::{self, Options, Silent};
use crate::discover::git;
use crate::emit;
use crate::lifecycle::{
    self, CreateOutcome, DocumentSet, EditGuard, NewDocument, NewKind, Verdict,
};
use crate::model::DocId;
use crate::wire::audit::AuditLine;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NewArguments {
    #[serde(rename = "type")]
    kind: String,
    title: String,
    #[serde(default)]
    supersedes: Option<String>,
}

/// Returns true if the project allows the server to create documents.
pub(super) fn is_allowed(project: &Project) -> bool {
    build::plan(&project.root).mcp_write
}

pub(super) fn call(project: &Project, arguments: &NewArguments) -> ToolAnswer {
    if !is_allowed(project) {
        return Err("blue_new is off; `mcp: {write: true}` in .blue/config.yaml allows it".into());
    }
    let kinds = NewKind::ALL.into_iter().filter(|kind| *kind != NewKind::Plan);
    let names: Vec<&str> = kinds.clone().map(NewKind::as_str).collect();
    let kind = kinds.clone().find(|kind| kind.as_str() == arguments.kind);
    let kind = kind.ok_or_else(|| format!("type is one of {}", names.join(", ")))?;
    created(project, kind, arguments).unwrap_or_else(|error| Err(shown(&format!("{error:#}"))))
}

fn created(
    project: &Project,
    kind: NewKind,
    arguments: &NewArguments,
) -> anyhow::Result<ToolAnswer> {
    let root = &project.root;
    let lock = emit::Lock::take(root, "change of documents", &|_| {})?;
    emit::recover(root)?;
    let set = DocumentSet::read(root, &Silent)?;
    let supersedes = match arguments.supersedes.as_deref().map(|name| find(project, &set, name)) {
        None => None,
        Some(Ok(id)) => Some(id),
        Some(Err(why)) => return Ok(Err(why)),
    };
    let now = emit::now();
    let new = NewDocument {
        kind,
        title: &arguments.title,
        number: None,
        from: None,
        supersedes,
        date: &now[..10],
        time: &format!("{}{}Z", &now[11..13], &now[14..16]),
    };
    let refusal = |path: &str| refusal(project, path);
    let planned = match lifecycle::create(root, &set, &new, false, &refusal)? {
        CreateOutcome::Planned(planned) => planned,
        CreateOutcome::Refused(refusal) => return Ok(Err(shown(&refusal.to_string()))),
    };
    drop(lock);
    build::build(root, &Options::quiet())?;
    Ok(Ok(ToolOutput::Structured(json!({"path": planned.path}))))
}

/// Finds a document by path or address, also a short one.
fn find(project: &Project, set: &DocumentSet, name: &str) -> Result<DocId, String> {
    if let Some(id) = set.find(name) {
        return Ok(id);
    }
    let open = project.open();
    let library = open.library(project).map_err(|failure| failure.text())?;
    let resolved = crate::serve::address::resolve(&project.root, library.built, None, name)
        .map_err(|error| shown(&error.to_string()))?;
    let row = crate::serve::address::document_of(library.built, &resolved);
    let uri = row.map(|row| library.built.catalogue.uri(row));
    uri.and_then(|uri| set.find(uri)).ok_or_else(|| format!("{} is not a document", shown(name)))
}

/// Returns the reason why a file must not be changed on this branch, and records it.
fn refusal(project: &Project, path: &str) -> Option<String> {
    let root = &project.root;
    let branch = git::branch(root.path());
    let guard = EditGuard::open(root, &build::plan(root), branch.as_deref())?;
    let Verdict::Refused(reason) = guard.judge(path) else { return None };
    let line = AuditLine {
        timestamp: emit::now(),
        event: "guard".to_string(),
        source: "blue://guard/refused".to_string(),
        artifact: crate::guard::redacted(path),
        ..AuditLine::default()
    };
    // Without a log, the decision is the same.
    emit::append_audit_line(root, &line).ok();
    Some(reason)
}
