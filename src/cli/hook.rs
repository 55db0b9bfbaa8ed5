//! `blue hook`: handles events of an agent. It prints little and never fails.

use std::path::Path;
use std::time::Duration;

use clap::{Args, ValueEnum};

use super::build::BuildArgs;
use super::hook_input::HookInput;
use super::open::{Delivery, record};
use super::refresh::{self, Occasion};
use super::session::{SessionEvent, update_record};
use super::{Exit, output, project};
use crate::condense::tokens;
use crate::emit;
use crate::model::TextFormat;
use crate::model::layout::BUNDLES;
use crate::model::plan::HOOK_BYTES;
use crate::root::Root;
use crate::serve::log::{bundle_line, text_line};
use crate::serve::{bundles, work};
use crate::wire::header;
use crate::wire::jsonl::BundleLine;

/// The flags of `blue hook`.
#[derive(Args, Debug)]
pub(super) struct HookArgs {
    /// Event in the agent's session
    #[arg(value_enum)]
    event: HookEvent,
}

/// Events that blue handles.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum HookEvent {
    /// A session or a subagent starts: print the session bundle, as hooks/session-start does
    SessionStart,
    /// A session starts: print the bundle of the current work, as hooks/session-workflow does
    SessionWorkflow,
    /// A session starts: print the session bundle of $BLUE_HOME or ~/.blue
    SessionGlobal,
    /// A session starts: print the bundle of the hand-written files in knowledge/
    SessionKnowledge,
    /// The user sent a prompt: print the current work if it changed
    UserPromptSubmit,
    /// A tool is about to run: record that the session is alive
    PreToolUse,
    /// A tool ran: build if it changed a document
    PostToolUse,
    /// The session is about to be summarised: print what the summary must keep
    PreCompact,
    /// The session ended
    SessionEnd,
}

impl HookArgs {
    /// Handles the event. Errors are printed for the agent's debug log, but must not stop its session.
    pub(super) fn run(&self, directory: &Path) -> anyhow::Result<Exit> {
        let input = HookInput::read();
        if let Err(error) = self.handle(directory, &input) {
            output::error(&format!("{error:#}"));
        }
        Ok(Exit::Done)
    }

    fn handle(&self, directory: &Path, input: &HookInput) -> anyhow::Result<()> {
        match self.event {
            HookEvent::PostToolUse => return rebuild(directory, input),
            HookEvent::SessionStart
            | HookEvent::SessionWorkflow
            | HookEvent::SessionKnowledge
            | HookEvent::SessionGlobal => return self.start(directory, input),
            _ => {}
        }
        // Without a session there is nothing to record or to compare with.
        if input.session_id.is_empty()
            && matches!(
                self.event,
                HookEvent::UserPromptSubmit | HookEvent::PreToolUse | HookEvent::SessionEnd
            )
        {
            return Ok(());
        }
        // A delivery to a subagent would be logged for the session, which then would not receive it.
        if !input.agent_id.is_empty() && self.event == HookEvent::UserPromptSubmit {
            return Ok(());
        }
        let session = input.session_id.as_str();
        if self.event == HookEvent::UserPromptSubmit {
            // The last build is still usable if this one fails.
            if let Err(error) = catch_up(directory) {
                output::error(&format!("{error:#}"));
            }
        }
        let delivery = Delivery::open(directory, Some(session))?;
        match self.event {
            HookEvent::UserPromptSubmit => {
                let turn = update_record(&delivery.root, session, SessionEvent::Prompt)?.turns;
                let due = refresh::due(&delivery, session, &Occasion::Prompt(turn))?;
                due.map_or(Ok(()), |due| due.deliver(&delivery, session, "UserPromptSubmit"))
            }
            HookEvent::PreToolUse => {
                update_record(&delivery.root, session, SessionEvent::Heartbeat)?;
                let due = refresh::due(&delivery, session, &Occasion::Tool(&input.tool_name))?;
                due.map_or(Ok(()), |due| due.deliver_as_json(&delivery, session, "PreToolUse"))
            }
            HookEvent::PreCompact => deliver_summary(&delivery, session),
            HookEvent::SessionEnd => {
                update_record(&delivery.root, session, SessionEvent::End).map(|_| ())
            }
            _ => unreachable!("the other events are handled above"),
        }
    }
}

impl HookArgs {
    /// Prints a bundle as `hooks/session-start` does. Settings that apply to every repository call
    /// this, because they must not run a script of an unknown repository.
    fn start(&self, directory: &Path, input: &HookInput) -> anyhow::Result<()> {
        let folder = match (self.event, project::home()) {
            (HookEvent::SessionGlobal, Some(home)) => {
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
        let mut n_waits = 0;
        let (bundle, bytes) = loop {
            let delivery = Delivery::open(&folder, Some(&input.session_id))?;
            let Some(mut bundle) = self.bundle(&delivery) else { return Ok(()) };
            if let Some(bytes) = bundle_bytes(&root, &mut bundle) {
                break (bundle, bytes);
            }
            anyhow::ensure!(
                n_waits < MAX_WAITS,
                "{} differs from the last build\nhint: run `blue knowledge build`",
                bundle.artifact
            );
            // A running build replaces its files one after the other.
            n_waits += 1;
            std::thread::sleep(Duration::from_millis(10));
        };
        if !bytes.starts_with(b"<blue-") || bytes.len() as u64 > HOOK_BYTES {
            return Ok(());
        }
        let event = match input.hook_event_name.as_str() {
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
        record(&root, bundle_line(&bundle), &input.session_id, event)
    }

    fn bundle(&self, delivery: &Delivery) -> Option<BundleLine> {
        let bundle = match self.event {
            HookEvent::SessionWorkflow => delivery.current(),
            HookEvent::SessionKnowledge => delivery.bundles.knowledge(),
            _ => delivery.bundles.session(),
        };
        bundle.cloned()
    }
}

/// Reads the bytes of a bundle, if a build wrote them. If a build was killed between two renames, a
/// bundle can be newer than its index. Then the commit record has its digest.
fn bundle_bytes(root: &Root, bundle: &mut BundleLine) -> Option<Vec<u8>> {
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

/// Maximum number of waits for a bundle that does not match its index.
const MAX_WAITS: u32 = 20;

/// Maximum number of files of a project that is checked with every prompt.
const MAX_CHECKED: usize = 2_000;

/// Builds if an input was changed by something else than a tool of the agent: a person, git, a shell.
fn catch_up(directory: &Path) -> anyhow::Result<()> {
    let folder = project::find(directory)?;
    let root = project::open(&folder)?;
    if crate::build::has_changes(&root, MAX_CHECKED) == Some(true) {
        BuildArgs::default().build(&root)?;
    }
    Ok(())
}

/// Builds if a tool may have changed a document or another input of the build.
fn rebuild(directory: &Path, input: &HookInput) -> anyhow::Result<()> {
    let path = ["file_path", "notebook_path", "path"]
        .iter()
        .find_map(|key| input.tool_input.get(*key).and_then(serde_json::Value::as_str));
    let is_input = path.is_none_or(|path| {
        TextFormat::of_path(path).is_some() || path.to_lowercase().contains("/.blue/")
    });
    if is_input {
        let root = project::open_to_write(&project::find(directory)?)?;
        BuildArgs::default().build(&root)?;
    }
    Ok(())
}

/// Maximum number of lines for a summary.
const MAX_SUMMARY: usize = 24;

/// Prints the lines that a summary must contain: the current work with its phase, open tasks and
/// success criteria.
fn deliver_summary(delivery: &Delivery, session: &str) -> anyhow::Result<()> {
    let Some((bundle, work)) = delivery.current().and_then(|line| Some((line, work::state(line)?)))
    else {
        return Ok(());
    };
    let lines = work::lines(&work);
    let lines = &lines[..lines.len().min(MAX_SUMMARY)];
    let text = format!("Keep in the summary:\n{}\n", lines.join("\n"));
    output::out(&text)?;
    let uri = "blue://state/active-tasks";
    let line = text_line(uri, &bundle.artifact, &text, tokens::count(&text));
    record(&delivery.root, line, session, "PreCompact")
}
