//! The session of an agent that a server answers.

use crate::model::layout::{CLIENTS, SESSIONS};
use crate::root::{Content, Root};
use crate::wire::session::{self, SessionRecord};

/// The session that a server answers, as far as that is known.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Asking {
    /// The agent or its hooks named it.
    Known(String),
    /// One of several that a process of the agent has open.
    OneOf(Vec<String>),
    /// No hook of this agent recorded a session.
    Unknown,
}

/// Finds the session that asks. `declared` is the session that the server was started for and
/// `client` the process that started it.
///
/// A server outlives a session that is cleared or resumed, so a hook of the same process is believed
/// before the declaration. A session of another process is never the answer, however recent it is.
pub fn asking(root: &Root, declared: Option<&str>, client: Option<&str>) -> Asking {
    let live = |name: &str| record(root, name).is_none_or(|record| record.ended.is_none());
    let mut open = client.map_or(Vec::new(), |client| of_client(root, client));
    open.retain(|name| live(name));
    match (declared.filter(|name| live(name)), open.as_slice()) {
        (Some(name), open) if open.is_empty() || open.iter().any(|known| known == name) => {
            Asking::Known(name.to_string())
        }
        (_, [one]) => Asking::Known(one.clone()),
        (_, []) => Asking::Unknown,
        (_, several) => Asking::OneOf(several.to_vec()),
    }
}

/// The sessions of a process of an agent, oldest first.
pub fn of_client(root: &Root, client: &str) -> Vec<String> {
    match root.read(&path_of_client(client), 1 << 16) {
        Ok(Some(Content::Bytes(bytes, _))) => {
            String::from_utf8_lossy(&bytes).lines().map(str::to_string).collect()
        }
        _ => Vec::new(),
    }
}

/// Reads the record of a session, by the agent's name of it.
pub fn record(root: &Root, name: &str) -> Option<SessionRecord> {
    match root.read(&path_of(name), 1 << 16) {
        Ok(Some(Content::Bytes(bytes, _))) => session::read(&bytes),
        _ => None,
    }
}

/// The file of a session's record.
pub fn path_of(name: &str) -> String {
    format!("{SESSIONS}/{name}.json")
}

/// The file with the names of the sessions of a process.
pub fn path_of_client(client: &str) -> String {
    format!("{CLIENTS}/{client}")
}
