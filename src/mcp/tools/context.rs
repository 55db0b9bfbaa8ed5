//! `blue_context_status`: the texts that a session received, and which of them changed since.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::{Value, json};

use super::super::failure::shown;
use super::super::project::{Open, Project};
use super::super::read;
use super::{ToolAnswer, ToolOutput};
use crate::serve::sessions::Asking;
use crate::serve::{AuditLog, Staleness};
use crate::wire::audit::AuditLine;
use crate::wire::session::short_id;

/// Maximum number of listed documents.
const MAX_DOCUMENTS: usize = 40;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ContextArguments {
    #[serde(default)]
    session: Option<String>,
}

pub(super) fn call(project: &Project, arguments: &ContextArguments) -> ToolAnswer {
    let open = project.open();
    let library = open.library(project).map_err(|failure| failure.text())?;
    let asking = match &arguments.session {
        Some(session) => Asking::Known(short_id(session)),
        None => project.asking(),
    };
    let session = match &asking {
        Asking::Known(session) => session.clone(),
        Asking::OneOf(_) | Asking::Unknown => project.session(),
    };
    let log = AuditLog::open(&project.root, None);
    let candidates = candidates(&asking, &log);
    let mut lines = log.lines;
    lines.retain(|line| line.session_id == session);
    let log = AuditLog { lines, n_lost: 0 };
    let is_known = matches!(asking, Asking::Known(_));
    let mut sources = Vec::new();
    let mut listed = BTreeSet::new();
    let bundles = library.built.bundles.session().into_iter().chain(library.current_bundle());
    for bundle in bundles {
        listed.insert(bundle.source.as_str());
        let last = log.last(&bundle.source, None);
        let state = match last.is_some() || is_known {
            true => log.staleness(bundle, None).text(),
            false => "unknown",
        };
        sources.push(source(&bundle.source, state, bundle.tokens, last));
    }
    let mut n = 0;
    for line in log.lines.iter().rev().filter(|line| !line.content_hash.is_empty()) {
        if n < MAX_DOCUMENTS && listed.insert(line.source.as_str()) {
            n += 1;
            sources.push(source(
                &line.source,
                state_of(project, &open, line),
                line.tokens,
                Some(line),
            ));
        }
    }
    let built = super::status::built(&project.root);
    Ok(ToolOutput::Structured(match is_known {
        true => json!({"session": shown(&session), "built": built, "sources": sources}),
        false => json!({
            "session": "unknown", "built": built, "sources": sources, "note": NOTE,
            "sessions": candidates,
        }),
    }))
}

/// Note for an unknown session. The texts of another session would be worse than none.
const NOTE: &str = "the session is unknown: only deliveries of this server are listed. \
    Pass one of `sessions` as `session` to see its deliveries";

/// Maximum number of sessions that are suggested if the session is unknown.
const MAX_SESSIONS: usize = 5;

/// Returns the sessions to suggest, the latest first.
fn candidates(asking: &Asking, log: &AuditLog) -> Vec<String> {
    let all: Vec<&str> = match asking {
        Asking::Known(_) => Vec::new(),
        Asking::OneOf(names) => names.iter().map(String::as_str).collect(),
        Asking::Unknown => {
            let starts = log.lines.iter().filter(|line| line.event == "SessionStart");
            starts.map(|line| line.session_id.as_str()).collect()
        }
    };
    let mut names: Vec<String> = Vec::new();
    for name in all.into_iter().rev().filter(|name| !name.is_empty()).map(shown) {
        if names.len() < MAX_SESSIONS && !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

fn source(uri: &str, state: &str, tokens: u64, last: Option<&AuditLine>) -> Value {
    let mut value = json!({"uri": uri, "state": state, "tokens": tokens});
    if let Some(last) = last {
        value["delivered"] = json!(last.timestamp);
        value["by"] = json!(last.event);
    }
    value
}

/// Compares a delivered text with the current text, and returns the result in words.
fn state_of(project: &Project, open: &Open, line: &AuditLine) -> &'static str {
    if line.event.contains(' ') {
        return "read in part";
    }
    let texts = read::read(project, open, &line.source);
    let is_fresh = texts.is_ok_and(|texts| texts.iter().any(|text| text.hash == line.content_hash));
    if is_fresh { Staleness::Fresh.text() } else { Staleness::ContentChanged.text() }
}
