//! `blue session-start`, `blue session-heartbeat` and `blue session-end`.

use std::path::Path;

use clap::Args;
use jiff::{SignedDuration, Timestamp};

use super::client::client;
use super::delivery::Said;
use super::{Exit, output, project};
use crate::build;
use crate::discover::git;
use crate::emit::{self, now};
use crate::guard::shown;
use crate::root::Root;
use crate::serve::{bundles, sessions};
use crate::wire::session::{self, SessionRecord};

/// The flags of the three commands.
#[derive(Args, Debug)]
pub(super) struct Session {
    /// The agent's own name of its session; default: what it says on standard input.
    #[arg(long, value_name = "ID")]
    session: Option<String>,
}

/// What happened to a session.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Happened {
    Start,
    Heartbeat,
    Prompt,
    End,
}

impl Session {
    pub(super) fn run(&self, directory: &Path, happened: Happened) -> anyhow::Result<Exit> {
        let said = match &self.session {
            Some(_) => Said::default(),
            None => Said::read(),
        };
        let agent = self.session.as_deref().map_or(said.session_id, session::short_id);
        checked(&agent)?;
        let folder = project::find(directory)?;
        let root = project::open(&folder)?;
        let record = remember(&root, &agent, happened)?;
        output::out(&format!("{}\n", record.id))?;
        Ok(Exit::Done)
    }
}

/// A name that can be a file's and stand in a line.
pub(super) fn checked(agent: &str) -> anyhow::Result<&str> {
    anyhow::ensure!(
        session::is_plain(agent) && !agent.starts_with('.'),
        "{agent:?} cannot be the name of a session\nhint: use letters, digits and -._"
    );
    Ok(agent)
}

/// Brings the record of a session up to date, and gives it.
pub(super) fn remember(
    root: &Root,
    agent: &str,
    happened: Happened,
) -> anyhow::Result<SessionRecord> {
    let known = match agent.is_empty() {
        true => None,
        false => sessions::record(root, agent),
    };
    let mut record = match known {
        // Tools are called often; once in a while is enough to know that a session is alive.
        Some(record) if happened == Happened::Heartbeat && is_recent(&record.last_heartbeat) => {
            return Ok(record);
        }
        Some(record) => record,
        None => new(root, agent)?,
    };
    record.last_heartbeat = now();
    record.ended = (happened == Happened::End).then(now);
    record.turns = record.turns.saturating_add(u64::from(happened == Happened::Prompt));
    record.branch = git::branch(root.path());
    record.rfc = bundles::work_name(root, record.branch.as_deref());
    let worktree = root.path().join(".git").is_file();
    record.worktree = worktree.then(|| shown(&root.path().display().to_string()));
    let name = if agent.is_empty() { record.id.as_str() } else { agent };
    emit::create_local_folder(root)?;
    emit::write_local_unlocked(root, &sessions::path_of(name), &session::bytes(&record))?;
    if let Some(client) = client() {
        belongs(root, &client, name)?;
    }
    Ok(record)
}

/// Notes that a session is one of an agent's process, for the server that the process started.
fn belongs(root: &Root, client: &str, name: &str) -> anyhow::Result<()> {
    let mut names = sessions::of_client(root, client);
    if names.iter().any(|known| known == name) {
        return Ok(());
    }
    names.push(name.to_string());
    // A process that goes on for weeks has few sessions that still matter.
    let start = names.len().saturating_sub(MAX_OF_CLIENT);
    let text: String = names[start..].iter().map(|name| format!("{name}\n")).collect();
    emit::write_local_unlocked(root, &sessions::path_of_client(client), text.as_bytes())
}

/// Sessions remembered of one process.
const MAX_OF_CLIENT: usize = 64;

fn is_recent(time: &str) -> bool {
    let then = time.parse::<Timestamp>().ok();
    let age = then.map(|then| emit::current_time().duration_since(then));
    age.is_some_and(|age| !age.is_negative() && age < SignedDuration::from_secs(10))
}

fn new(root: &Root, agent: &str) -> anyhow::Result<SessionRecord> {
    let (id, agent_session) = (name(root)?, agent.to_string());
    Ok(SessionRecord { id, agent_session, started: now(), ..Default::default() })
}

/// A new name: `{project}-{realm}-{random}`.
pub(super) fn name(root: &Root) -> anyhow::Result<String> {
    // A bad configuration is told by the build; a session goes on.
    let plan = build::plan(root);
    let folder = root.path().file_name().and_then(|name| name.to_str()).unwrap_or("project");
    let project = crate::model::uri::slugify(&shown(plan.project.as_deref().unwrap_or(folder)));
    let realm = crate::model::uri::slugify(&plan.realm);
    Ok(format!("{project}-{realm}-{}", random12()?))
}

/// Twelve letters and digits that nobody can guess.
fn random12() -> anyhow::Result<String> {
    const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let mut text = String::new();
    while text.len() < 12 {
        let mut bytes = [0u8; 32];
        let n = rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())
            .map_err(std::io::Error::from)?;
        // Bytes above the last whole multiple of 62 would make some digits likelier.
        let fair = bytes[..n].iter().filter(|byte| **byte < 248);
        let digits = fair.map(|byte| char::from(DIGITS[usize::from(byte % 62)]));
        text.extend(digits.take(12 - text.len()));
    }
    Ok(text)
}
