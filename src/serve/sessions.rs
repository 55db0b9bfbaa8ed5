//! Finds the agent session that a server answers.

use jiff::Timestamp;

use super::AuditLog;
use crate::model::layout::{CLIENTS, SESSIONS};
use crate::model::timestamp;
use crate::root::Root;
use crate::wire::session::{self, SessionRecord};

/// The session that a server answers, as far as it can be determined.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Asking {
    /// The session that the agent or its hooks reported.
    Known(String),
    /// One of several open sessions of the agent's process.
    OneOf(Vec<String>),
    /// No hook of this agent recorded a session.
    Unknown,
}

/// Finds the session that a server answers. `declared` is the session that the server was started
/// for, and `client` is the process that started it.
///
/// A server outlives a session that is cleared or resumed, so hooks of the same process take
/// precedence over the declaration. A session of another process is never returned.
pub fn asking(root: &Root, declared: Option<&str>, client: Option<&str>) -> Asking {
    let live = |name: &str| record(root, name).is_none_or(|record| record.ended.is_none());
    let mut open = client.map_or(Vec::new(), |client| of_client(root, client));
    open.retain(|name| live(name));
    match (declared.filter(|name| live(name)), open.as_slice()) {
        (Some(name), open) if open.is_empty() || open.iter().any(|session| session == name) => {
            Asking::Known(name.to_string())
        }
        (_, [name]) => Asking::Known(name.clone()),
        (_, []) => Asking::Unknown,
        (_, several) => Asking::OneOf(several.to_vec()),
    }
}

/// A session that a server probably answers.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LikelySession {
    /// The agent's session id.
    pub name: String,
    /// Seconds from the start of the session to the start of the server; negative if the session
    /// started later.
    pub seconds: i64,
}

/// Maximum number of seconds between the start of a session and the start of its server.
const MAX_SECONDS: i64 = 300;

/// Finds the session that started nearest to the time when the server started, because an agent
/// starts its servers at the start of a session. A session that ended, or that a hook recorded for
/// another process, is not considered. Of two equally near ones, the newer is chosen.
pub fn likely(root: &Root, log: &AuditLog, server_started: Timestamp) -> Option<LikelySession> {
    let mut starts: Vec<LikelySession> = Vec::new();
    for line in log.lines.iter().rev().filter(|line| line.event == "SessionStart") {
        let Ok(time) = line.timestamp.parse::<Timestamp>() else { continue };
        let seconds = server_started.as_second().saturating_sub(time.as_second());
        let is_near = seconds.abs() <= MAX_SECONDS && !line.session_id.is_empty();
        if is_near && starts.iter().all(|start| start.name != line.session_id) {
            starts.push(LikelySession { name: line.session_id.clone(), seconds });
        }
    }
    starts.sort_by_key(|start| start.seconds.abs());
    let recorded = if starts.is_empty() { Vec::new() } else { recorded(root) };
    starts.into_iter().find(|start| {
        let has_ended = record(root, &start.name).is_some_and(|record| record.ended.is_some());
        !has_ended && !recorded.contains(&start.name)
    })
}

/// Returns the sessions that hooks recorded for any process.
fn recorded(root: &Root) -> Vec<String> {
    let entries = root.entries(CLIENTS).unwrap_or_default();
    let clients = entries.iter().map(|entry| entry.file_name().to_string_lossy().into_owned());
    clients.flat_map(|client| of_client(root, &client)).collect()
}

/// Returns the sessions of an agent's process, oldest first.
pub fn of_client(root: &Root, client: &str) -> Vec<String> {
    let bytes = root.readable_bytes(&path_of_client(client), 1 << 16).unwrap_or_default();
    String::from_utf8_lossy(&bytes).lines().map(str::to_string).collect()
}

/// Reads the record of a session by the agent's session id.
pub fn record(root: &Root, name: &str) -> Option<SessionRecord> {
    session::read(&root.readable_bytes(&path_of(name), 1 << 16)?)
}

/// Returns the model that the newest start of a session reported, at a time or before it: from the
/// audit log, which hooks write, and from the records of sessions.
pub fn reported_model(root: &Root, now: Timestamp) -> Option<String> {
    let mut newest: Option<(Timestamp, String)> = None;
    let mut consider = |time: &str, model: Option<String>| {
        let (Some(model), Ok(time)) = (model, time.parse::<Timestamp>()) else { return };
        if time <= now && newest.as_ref().is_none_or(|(known, _)| time >= *known) {
            newest = Some((time, model));
        }
    };
    for line in AuditLog::open(root, None).lines {
        consider(&line.timestamp, line.model);
    }
    for record in newest_records(root) {
        consider(&record.started, record.model);
    }
    newest.map(|(_, model)| model).filter(|model| session::is_model(model))
}

/// Maximum number of records that are read. Of more, the files that changed last are read.
const MAX_RECORDS: usize = 500;

/// Reads the records of the sessions that were active last. Unreadable ones are ignored.
pub fn newest_records(root: &Root) -> Vec<SessionRecord> {
    let mut files = record_files(root);
    files.sort_unstable_by(|(a, time_a), (b, time_b)| time_b.cmp(time_a).then(a.cmp(b)));
    let read = |(path, _): &(String, i64)| session::read(&root.readable_bytes(path, 1 << 16)?);
    files.iter().take(MAX_RECORDS).filter_map(read).collect()
}

/// Returns the records of sessions that had no event since a time, in seconds since 1970.
pub fn records_before(root: &Root, time: i64) -> Vec<String> {
    let mut old = record_files(root);
    old.retain(|(path, modified)| {
        let record = || session::read(&root.readable_bytes(path, 1 << 16)?);
        let heartbeat = || timestamp::parse(&record()?.last_heartbeat);
        // A copied file has a new time, and a file with an old time may be read.
        *modified < time && heartbeat().is_none_or(|heartbeat| heartbeat < time)
    });
    old.into_iter().map(|(path, _)| path).collect()
}

/// Returns the path and the modification time, in seconds, of every record.
fn record_files(root: &Root) -> Vec<(String, i64)> {
    let entries = root.entries(SESSIONS).unwrap_or_default();
    let names = entries.iter().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let paths =
        names.filter(|name| name.ends_with(".json")).map(|name| format!("{SESSIONS}/{name}"));
    let stat = |path: String| {
        let (stat, _) = root.stat(&path).ok()??;
        Some((path, stat.modified / 1_000_000_000))
    };
    paths.filter_map(stat).collect()
}

/// Returns the path of a session's record.
pub fn path_of(name: &str) -> String {
    format!("{SESSIONS}/{name}.json")
}

/// Returns the path of the file that lists the sessions of a process.
pub fn path_of_client(client: &str) -> String {
    format!("{CLIENTS}/{client}")
}
