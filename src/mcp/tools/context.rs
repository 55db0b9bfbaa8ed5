//! `blue_context_status`: the texts that a session received, and which of them changed since.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::{Value, json};

use super::super::failure::shown;
use super::super::project::{Open, Project};
use super::super::read;
use super::{ToolAnswer, ToolOutput};
use crate::model::plural::counted;
use crate::serve::sessions::{self, Asking, LikelySession};
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
    let log = AuditLog::open(&project.root, None);
    let described = Described::choose(project, arguments.session.as_deref(), &log);
    let Described { session, because, is_known, candidates } = described;
    let mut lines = log.lines;
    lines.retain(|line| line.session_id == session);
    let log = AuditLog { lines, n_lost: 0 };
    let mut sources = Vec::new();
    let mut listed = BTreeSet::new();
    let bundles = library.built.bundles.identity().chain(library.current_bundle());
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
    let name = if is_known { shown(&session) } else { "unknown".to_string() };
    let mut answer =
        json!({"session": name, "because": because, "built": built, "sources": sources});
    if !is_known {
        answer["sessions"] = json!(candidates);
    }
    Ok(ToolOutput::Structured(answer))
}

/// The session that an answer describes.
struct Described {
    session: String,
    /// The reason for this session, in words.
    because: String,
    is_known: bool,
    /// Sessions to suggest if it is not known.
    candidates: Vec<String>,
}

/// Note for an unknown session. The texts of another session would be worse than none.
const UNKNOWN: &str = "no hook named the session of this server, and none started with it: only \
    deliveries of this server are listed. Pass one of `sessions` as `session` to see its deliveries";

impl Described {
    /// Chooses the session that was named, that hooks reported, or that started with the server.
    fn choose(project: &Project, named: Option<&str>, log: &AuditLog) -> Described {
        let known = |session: String, because: String| Described {
            session,
            because,
            is_known: true,
            candidates: Vec::new(),
        };
        if let Some(session) = named {
            return known(short_id(session), "it was named in the call".to_string());
        }
        let asking = project.asking();
        let likely = match &asking {
            Asking::Known(session) => {
                let because = "the agent or its hooks reported it for this server's process";
                return known(session.clone(), because.to_string());
            }
            // Hooks reported several sessions, so the time says nothing.
            Asking::OneOf(_) => None,
            Asking::Unknown => sessions::likely(&project.root, log, project.started),
        };
        match likely {
            Some(LikelySession { name, seconds }) => {
                let order = if seconds < 0 { "after" } else { "before" };
                let seconds = counted(seconds.unsigned_abs(), "second");
                let because = format!(
                    "probably: it started {seconds} {order} this server, and no hook named another"
                );
                known(name, because)
            }
            None => Described {
                session: project.session(),
                because: UNKNOWN.to_string(),
                is_known: false,
                candidates: candidates(&asking, log),
            },
        }
    }
}

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
