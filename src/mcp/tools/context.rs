//! `blue_context_status`: what a session has, and what changed since.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::{Value, json};

use super::super::library::{Library, Open};
use super::super::{address, read};
use super::Answer;
use crate::emit::{AUDIT, AUDIT_BEFORE};
use crate::serve::{Log, Staleness};
use crate::wire::audit::AuditLine;

/// Documents that are told one by one.
const MAX_DOCUMENTS: usize = 40;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    #[serde(default)]
    session: Option<String>,
}

pub(super) fn call(library: &Library, arguments: &Arguments) -> Answer {
    let open = library.open();
    let shelf = open.shelf.as_ref().map_err(|why| why.to_string())?;
    let log = Log::open(&library.root, [AUDIT_BEFORE, AUDIT], None);
    // The agent's hooks know its session; the server only knows its own readings.
    let starts = |line: &&AuditLine| line.event == "SessionStart" && !line.session_id.is_empty();
    let latest = log.lines.iter().rev().find(starts);
    let latest = latest.map(|line| line.session_id.clone());
    let session = arguments.session.clone().or(latest).unwrap_or(library.session.clone());
    // What this server gave belongs to whoever asks, unless another session is named.
    let mine = arguments.session.is_none();
    let own = |line: &&AuditLine| {
        line.session_id == session || (mine && line.session_id == library.session)
    };
    let log = Log { lines: log.lines.iter().filter(own).cloned().collect(), n_lost: 0 };
    let mut sources = Vec::new();
    let mut told = BTreeSet::new();
    for bundle in shelf.bundles.session().into_iter().chain(library.current(shelf)) {
        told.insert(bundle.source.as_str());
        let state = log.staleness(bundle, None);
        let last = log.last(&bundle.source, None);
        sources.push(source(&bundle.source, state.text(), bundle.tokens, last));
    }
    let mut n = 0;
    for line in log.lines.iter().rev().filter(|line| !line.content_hash.is_empty()) {
        if n < MAX_DOCUMENTS && told.insert(line.source.as_str()) {
            n += 1;
            sources.push(source(
                &line.source,
                state_of(library, &open, line),
                line.tokens,
                Some(line),
            ));
        }
    }
    Ok(
        json!({"session": address::shown(&session), "built": super::status::built(library), "sources": sources}),
    )
}

fn source(uri: &str, state: &str, tokens: u64, last: Option<&AuditLine>) -> Value {
    let mut value = json!({"uri": uri, "state": state, "tokens": tokens});
    if let Some(last) = last {
        value["delivered"] = json!(last.timestamp);
        value["by"] = json!(last.event);
    }
    value
}

/// Whether what was read is still what is there, in words.
fn state_of(library: &Library, open: &Open, line: &AuditLine) -> &'static str {
    if line.event.contains(' ') {
        return "read in part";
    }
    let now = read::read(library, open, &line.source);
    let same = now.is_ok_and(|now| now.iter().any(|given| given.hash == line.content_hash));
    if same { Staleness::Fresh.text() } else { Staleness::ContentChanged.text() }
}
