//! `blue session-start`, `blue session-heartbeat` and `blue session-end`.

use std::path::Path;

use clap::Args;

use super::client::client;
use super::hook_input::HookInput;
use super::responsibility::time;
use super::{Exit, output, project};
use crate::build;
use crate::discover::git;
use crate::emit;
use crate::guard::redacted;
use crate::model::timestamp;
use crate::root::Root;
use crate::serve::{bundles, sessions};
use crate::wire::session::{self, SessionRecord};

/// The flags of the three commands.
#[derive(Args, Debug)]
pub(super) struct SessionArgs {
    /// Session of the agent [default: from the JSON on standard input]
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Use this time instead of the clock
    #[arg(long, value_name = "RFC 3339")]
    now: Option<String>,
}

/// An event that updates the record of a session.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum SessionEvent {
    Start,
    Heartbeat,
    Prompt,
    End,
}

impl SessionArgs {
    pub(super) fn run(&self, directory: &Path, event: SessionEvent) -> anyhow::Result<Exit> {
        let (agent, model) = match &self.session {
            Some(session) => (session::short_id(session), None),
            None => {
                let input = HookInput::read();
                (input.session_id, input.model.filter(|_| event == SessionEvent::Start))
            }
        };
        check_name(&agent)?;
        let folder = project::find(directory)?;
        let root = project::open(&folder)?;
        let now = time(self.now.as_deref())?;
        let mut record = update_record_at(&root, &agent, event, now)?;
        if model.is_some() && record.model != model {
            record.model = model;
            let name = if agent.is_empty() { record.id.as_str() } else { agent.as_str() };
            save(&root, name, &record)?;
        }
        output::out(&format!("{}\n", record.id))?;
        Ok(Exit::Done)
    }
}

/// Checks that the name of a session can be used in a file name.
pub(super) fn check_name(agent: &str) -> anyhow::Result<()> {
    anyhow::ensure!(
        session::is_plain(agent) && !agent.starts_with('.'),
        "{agent:?} cannot be the name of a session\nhint: use letters, digits and -._"
    );
    Ok(())
}

/// Updates the record of a session, and returns it.
pub(super) fn update_record(
    root: &Root,
    agent: &str,
    event: SessionEvent,
) -> anyhow::Result<SessionRecord> {
    update_record_at(root, agent, event, emit::current_time().as_second())
}

/// Records that a session is alive, without a connection to the process of its agent.
pub(super) fn record_alive(root: &Root, agent: &str) -> anyhow::Result<()> {
    let now = emit::current_time().as_second();
    write_record(root, agent, SessionEvent::Heartbeat, now).map(|_| ())
}

/// Updates the record of a session at a time, in seconds since 1970, and connects the session with the
/// process of its agent.
fn update_record_at(
    root: &Root,
    agent: &str,
    event: SessionEvent,
    now: i64,
) -> anyhow::Result<SessionRecord> {
    let record = write_record(root, agent, event, now)?;
    if let Some(client) = client() {
        let name = if agent.is_empty() { record.id.as_str() } else { agent };
        add_to_client(root, &client, name)?;
    }
    Ok(record)
}

/// Writes the record of a session, unless it was written a moment ago. Returns it.
fn write_record(
    root: &Root,
    agent: &str,
    event: SessionEvent,
    now: i64,
) -> anyhow::Result<SessionRecord> {
    let previous = match agent.is_empty() {
        true => None,
        false => sessions::record(root, agent),
    };
    let mut record = match previous {
        // Tools are called often, so not every call is written.
        Some(record) if event == SessionEvent::Heartbeat && is_recent(&record, now) => {
            return Ok(record);
        }
        Some(record) => record,
        None => new_record(root, agent, now)?,
    };
    record.last_heartbeat = timestamp::format(now);
    record.ended = (event == SessionEvent::End).then(|| timestamp::format(now));
    record.turns = record.turns.saturating_add(u64::from(event == SessionEvent::Prompt));
    record.branch = git::branch(root.path());
    record.rfc = bundles::stated_work(root, record.branch.as_deref());
    let worktree = root.path().join(".git").is_file();
    record.worktree = worktree.then(|| redacted(&root.path().display().to_string()));
    let name = if agent.is_empty() { record.id.as_str() } else { agent };
    save(root, name, &record)?;
    Ok(record)
}

fn save(root: &Root, name: &str, record: &SessionRecord) -> anyhow::Result<()> {
    emit::create_local_folder(root)?;
    emit::write_local_unlocked(root, &sessions::path_of(name), &session::bytes(record))
}

/// Adds a session to the list of an agent's process, for the server that the process started.
fn add_to_client(root: &Root, client: &str, name: &str) -> anyhow::Result<()> {
    let mut names = sessions::of_client(root, client);
    if names.iter().any(|session| session == name) {
        return Ok(());
    }
    names.push(name.to_string());
    // Only the last sessions of a long-running process matter.
    let start = names.len().saturating_sub(MAX_SESSIONS);
    let text: String = names[start..].iter().map(|name| format!("{name}\n")).collect();
    emit::write_local_unlocked(root, &sessions::path_of_client(client), text.as_bytes())
}

/// Maximum number of sessions recorded for a process.
const MAX_SESSIONS: usize = 64;

/// Returns true if a record was written less than ten seconds ago.
fn is_recent(record: &SessionRecord, now: i64) -> bool {
    let then = timestamp::parse(&record.last_heartbeat);
    then.is_some_and(|then| (0..10).contains(&(now - then)))
}

fn new_record(root: &Root, agent: &str, now: i64) -> anyhow::Result<SessionRecord> {
    let (id, agent_session, started) = (name(root)?, agent.to_string(), timestamp::format(now));
    Ok(SessionRecord { id, agent_session, started, ..Default::default() })
}

/// Creates a random name: `{project}-{realm}-{random}`.
pub(super) fn name(root: &Root) -> anyhow::Result<String> {
    // An invalid configuration must not stop a session; the build reports it.
    let plan = build::plan(root);
    let folder = root.path().file_name().and_then(|name| name.to_str()).unwrap_or("project");
    let project = crate::model::uri::slugify(&redacted(plan.project.as_deref().unwrap_or(folder)));
    let realm = crate::model::uri::slugify(&plan.realm);
    Ok(format!("{project}-{realm}-{}", random12()?))
}

/// Returns twelve random letters and digits.
fn random12() -> anyhow::Result<String> {
    const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let mut text = String::new();
    while text.len() < 12 {
        let mut bytes = [0u8; 32];
        let n = rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())
            .map_err(std::io::Error::from)?;
        // Bytes above the last multiple of 62 would make some digits more likely.
        let fair = bytes[..n].iter().filter(|byte| **byte < 248);
        let digits = fair.map(|byte| char::from(DIGITS[usize::from(byte % 62)]));
        text.extend(digits.take(12 - text.len()));
    }
    Ok(text)
}
