//! `blue hook`: what an agent's hooks call. They say little, never fail, and cost little.

use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use clap::{Args, ValueEnum};

use super::delivery::{Delivery, Said};
use super::refresh::{self, Asked};
use super::session::{Happened, remember};
use super::{Exit, build, output, project};
use crate::condense::tokens;
use crate::emit;
use crate::model::Digest;
use crate::model::layout::BUNDLES;
use crate::model::plan::HOOK_BYTES;
use crate::root::Root;
use crate::serve::{bundles, work};
use crate::wire::audit::AuditLine;
use crate::wire::header;
use crate::wire::jsonl::BundleLine;

/// The flags of `blue hook`.
#[derive(Args, Debug)]
pub(super) struct Hook {
    /// What happened in the agent's session.
    #[arg(value_enum)]
    event: Event,
}

/// Events of a session that blue does something about.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum Event {
    /// A session or a subagent starts: prints the session bundle, as the script does.
    SessionStart,
    /// The same with the bundle of the current work.
    SessionWorkflow,
    /// The same with the session bundle of `$BLUE_HOME` or `~/.blue`.
    SessionGlobal,
    /// A prompt: gives the current work again if it changed.
    UserPromptSubmit,
    /// A tool is about to run: the session is alive.
    PreToolUse,
    /// A tool ran: builds again if it changed a document.
    PostToolUse,
    /// The session is about to be summarised: what the summary must keep.
    PreCompact,
    /// The session is over.
    SessionEnd,
}

impl Hook {
    /// Whatever goes wrong is for the agent's debug log; the session goes on.
    pub(super) fn run(&self, directory: &Path) -> anyhow::Result<Exit> {
        let said = Said::read();
        if let Err(error) = self.hear(directory, &said) {
            output::error(&format!("{error:#}"));
        }
        Ok(Exit::Done)
    }

    fn hear(&self, directory: &Path, said: &Said) -> anyhow::Result<()> {
        match self.event {
            Event::PostToolUse => return rebuild(directory, said),
            Event::SessionStart | Event::SessionWorkflow | Event::SessionGlobal => {
                return self.start(directory, said);
            }
            _ => {}
        }
        // An agent that does not say which session it means cannot be given anything for it.
        let named = !said.session_id.is_empty();
        if !named
            && matches!(self.event, Event::UserPromptSubmit | Event::PreToolUse | Event::SessionEnd)
        {
            return Ok(());
        }
        // A subagent would take what its session is due.
        if !said.agent_id.is_empty() && self.event == Event::UserPromptSubmit {
            return Ok(());
        }
        let session = said.session_id.as_str();
        if self.event == Event::UserPromptSubmit {
            // What cannot be built now is told by the next build; what was built is still good.
            if let Err(error) = catch_up(directory) {
                output::error(&format!("{error:#}"));
            }
        }
        let delivery = Delivery::of_session(directory, session)?;
        match self.event {
            Event::UserPromptSubmit => {
                let turn = remember(&delivery.root, session, Happened::Prompt)?.turns;
                let due = refresh::due(&delivery, session, &Asked::Prompt(turn))?;
                due.map_or(Ok(()), |due| due.deliver(&delivery, session, "UserPromptSubmit"))
            }
            Event::PreToolUse => {
                remember(&delivery.root, session, Happened::Heartbeat)?;
                let due = refresh::due(&delivery, session, &Asked::Tool(&said.tool_name))?;
                due.map_or(Ok(()), |due| due.deliver_as_json(&delivery, session, "PreToolUse"))
            }
            Event::PreCompact => {
                let Some((text, line)) = to_keep(&delivery, session) else { return Ok(()) };
                output::out(&text)?;
                emit::append_audit_line(&delivery.root, &line)
            }
            Event::SessionEnd => remember(&delivery.root, session, Happened::End).map(|_| ()),
            _ => unreachable!("the others were heard above"),
        }
    }
}

impl Hook {
    /// Prints a bundle as `hooks/session-start` does, for settings that hold in every repository: no
    /// script of a stranger's is run, only blue's own.
    fn start(&self, directory: &Path, said: &Said) -> anyhow::Result<()> {
        let folder = match (self.event, project::home()) {
            (Event::SessionGlobal, Some(home)) => {
                let here = project::find(directory)?;
                if !home.is_dir() || home.canonicalize()? == here {
                    return Ok(());
                }
                home
            }
            _ => directory.to_path_buf(),
        };
        let root = project::open(&project::find(&folder)?)?;
        if !root.exists(BUNDLES) {
            return Ok(());
        }
        let mut delivery = Delivery::of_session(&folder, &said.session_id)?;
        let Some(mut bundle) = self.bundle(&delivery) else { return Ok(()) };
        let mut bytes = built(&delivery.root, &mut bundle);
        for _ in 0..WAITS {
            if bytes.is_some() {
                break;
            }
            // A build that is just being written has some files of it before others.
            std::thread::sleep(Duration::from_millis(10));
            delivery = Delivery::of_session(&folder, &said.session_id)?;
            let Some(mut now) = self.bundle(&delivery) else { return Ok(()) };
            bytes = built(&delivery.root, &mut now);
            bundle = now;
        }
        let bytes = bytes.with_context(|| {
            format!("{} is not what was built\nhint: run `blue knowledge build`", bundle.artifact)
        })?;
        if !bytes.starts_with(b"<blue-") || bytes.len() as u64 > HOOK_BYTES {
            return Ok(());
        }
        let event = match said.hook_event_name.as_str() {
            "SubagentStart" => {
                let text = String::from_utf8_lossy(&bytes);
                output::copy(header::hook_json("SubagentStart", &text).as_bytes())?;
                "SubagentStart"
            }
            _ => {
                output::copy(&bytes)?;
                "SessionStart"
            }
        };
        delivery.note(&bundle, &said.session_id, event)
    }

    fn bundle(&self, delivery: &Delivery) -> Option<BundleLine> {
        let bundle = match self.event {
            Event::SessionWorkflow => delivery.current(),
            _ => delivery.bundles.session(),
        };
        bundle.cloned()
    }
}

/// The bytes of a bundle, if a build made them. Where a build was killed between two renames, a
/// bundle can be newer than its index; the commit record then knows its digest.
fn built(root: &Root, bundle: &mut BundleLine) -> Option<Vec<u8>> {
    if let Some(bytes) = bundles::bytes(root, bundle) {
        return Some(bytes);
    }
    let hash = emit::pending(root).remove(&bundle.artifact)?;
    let bytes = bundles::bytes_of(root, &bundle.artifact, &hash)?;
    bundle.tokens = tokens::count(&String::from_utf8_lossy(&bytes));
    bundle.bytes = bytes.len() as u64;
    bundle.content_hash = hash;
    Some(bytes)
}

/// How often a bundle is looked at again that is not what its index says.
const WAITS: u32 = 20;

/// A project of more files is not looked at with every prompt.
const MAX_LOOK: usize = 2_000;

/// Builds if something moved that no tool told of: an edit in a shell, by a person, by git.
fn catch_up(directory: &Path) -> anyhow::Result<()> {
    let folder = project::find(directory)?;
    let root = project::open(&folder)?;
    if crate::build::moved(&root, MAX_LOOK) == Some(true) {
        build::build(&root, false, false, false)?;
    }
    Ok(())
}

/// Builds if the tool changed a document, or anything else that people write for blue.
fn rebuild(directory: &Path, said: &Said) -> anyhow::Result<()> {
    let path = ["file_path", "notebook_path", "path"]
        .iter()
        .find_map(|key| said.tool_input.get(*key).and_then(serde_json::Value::as_str));
    let matters = path.is_none_or(|path| {
        let path = path.to_lowercase();
        path.ends_with(".md") || path.ends_with(".markdown") || path.contains("/.blue/")
    });
    if matters {
        let root = project::open_to_write(&project::find(directory)?)?;
        build::build(&root, false, false, false)?;
    }
    Ok(())
}

/// Lines that a summary is asked to keep.
const MAX_KEPT: usize = 24;

/// The few lines that a summary must keep: what is worked on, its phase, its open tasks and its
/// success criteria. With what the log says of them.
fn to_keep(delivery: &Delivery, session: &str) -> Option<(String, AuditLine)> {
    let bundle = delivery.current()?;
    let lines = work::lines(&work::of(bundle)?);
    let lines = &lines[..lines.len().min(MAX_KEPT)];
    let text = format!("Keep in the summary:\n{}\n", lines.join("\n"));
    let line = AuditLine {
        timestamp: emit::now(),
        session_id: session.to_string(),
        event: "PreCompact".to_string(),
        source: "blue://state/active-tasks".to_string(),
        artifact: bundle.artifact.clone(),
        content_hash: Digest::of(text.as_bytes()).to_string(),
        tokens: tokens::count(&text),
        bytes: text.len() as u64,
    };
    Some((text, line))
}
