//! Finds the agent session that a server answers.

use crate::model::layout::{CLIENTS, SESSIONS};
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

/// Returns the sessions of an agent's process, oldest first.
pub fn of_client(root: &Root, client: &str) -> Vec<String> {
    let bytes = root.readable_bytes(&path_of_client(client), 1 << 16).unwrap_or_default();
    String::from_utf8_lossy(&bytes).lines().map(str::to_string).collect()
}

/// Reads the record of a session by the agent's session id.
pub fn record(root: &Root, name: &str) -> Option<SessionRecord> {
    session::read(&root.readable_bytes(&path_of(name), 1 << 16)?)
}

/// Returns the path of a session's record.
pub fn path_of(name: &str) -> String {
    format!("{SESSIONS}/{name}.json")
}

/// Returns the path of the file that lists the sessions of a process.
pub fn path_of_client(client: &str) -> String {
    format!("{CLIENTS}/{client}")
}
