//! `blue hook`: handles events of an agent. It prints little and never fails.

use std::path::Path;
use std::time::Duration;

use clap::{Args, ValueEnum};

use super::agent_files::AgentName;
use super::build::BuildArgs;
use super::connected::configured_targets;
use super::hook_edits::{PATCH_TOOL, rebuild, refuse_edit};
use super::hook_input::HookInput;
use super::open::{Delivery, record};
use super::refresh::{self, Occasion};
use super::session::{SessionEvent, check_name, record_alive, update_record};
use super::{Exit, output, project, queue_changes};
use crate::condense::tokens;
use crate::emit;
use crate::model::BuildTarget;
use crate::model::layout::BUNDLES;
use crate::model::plan::HOOK_BYTES;
use crate::root::Root;
use crate::serve::log::{bundle_line, text_line};
use crate::serve::{bundles, work};
use crate::wire::agent::{SCRIPTS, SessionBy};
use crate::wire::audit::{AuditLine, PROBE};
use crate::wire::copilot_hooks::COPILOT_HOOKS;
use crate::wire::header::{self, HookForm};
use crate::wire::jsonl::BundleLine;
use crate::wire::register;

/// The flags of `blue hook`.
#[derive(Args, Debug)]
pub(super) struct HookArgs {
    /// Event in the agent's session
    #[arg(value_enum)]
    event: HookEvent,
    /// Print the JSON that this agent takes [default: plain text]
    #[arg(long, value_enum, value_name = "NAME")]
    agent: Option<FormName>,
}

/// Agents that take JSON.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum FormName {
    /// Gemini CLI
    Gemini,
    /// Copilot CLI
    Copilot,
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
    /// A session starts: print the pack of $BLUE_RESPONSIBILITY or of .blue/worktree.json
    SessionResponsibility,
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
        let guards = self.event == HookEvent::PreToolUse && self.agent.is_none();
        let handled = match guards && refuse_edit(directory, &input) {
            true => Ok(()),
            false => self.handle(directory, &input),
        };
        if let Err(error) = handled {
            output::error(&format!("{error:#}"));
        }
        if self.event != HookEvent::SessionEnd {
            record_heartbeat(directory, &input);
        }
        Ok(Exit::Done)
    }

    fn handle(&self, directory: &Path, input: &HookInput) -> anyhow::Result<()> {
        if self.event == HookEvent::PostToolUse {
            return rebuild(directory, input);
        }
        let Some(form) = self.form(directory)? else { return Ok(()) };
        match self.event {
            HookEvent::SessionStart
            | HookEvent::SessionWorkflow
            | HookEvent::SessionKnowledge
            | HookEvent::SessionResponsibility
            | HookEvent::SessionGlobal => return self.start(directory, input, form),
            // The output of these events reaches only agents that take text.
            HookEvent::PreToolUse | HookEvent::PreCompact if form != HookForm::Plain => {
                return Ok(());
            }
            _ => {}
        }
        // Without a session there is nothing to record or to compare with.
        if input.session_id.is_empty() && self.event != HookEvent::PreCompact {
            return Ok(());
        }
        // A delivery to a subagent would be logged for the session, which then would not receive it.
        if !input.agent_id.is_empty() && self.event == HookEvent::UserPromptSubmit {
            return Ok(());
        }
        let session = input.session_id.as_str();
        // The last build is still usable if this one fails.
        if self.event == HookEvent::UserPromptSubmit
            && let Err(error) = catch_up(directory)
        {
            output::error(&format!("{error:#}"));
        }
        let delivery = Delivery::open(directory, Some(session))?;
        match self.event {
            HookEvent::UserPromptSubmit => {
                let turn = update_record(&delivery.root, session, SessionEvent::Prompt)?.turns;
                let due = refresh::due(&delivery, session, &Occasion::Prompt(turn))?;
                let event = self.event_name("UserPromptSubmit");
                due.map_or(Ok(()), |due| due.deliver(&delivery, session, event, form))
            }
            HookEvent::PreToolUse => {
                update_record(&delivery.root, session, SessionEvent::Heartbeat)?;
                // Codex registers this event for the branch guard only.
                if input.tool_name == PATCH_TOOL {
                    return Ok(());
                }
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
    /// Returns the form of the output, or `None` if another hook delivers to this agent. Copilot also
    /// runs the hooks of Claude Code.
    fn form(&self, directory: &Path) -> anyhow::Result<Option<HookForm>> {
        Ok(match self.agent {
            Some(FormName::Gemini) => Some(HookForm::Gemini),
            Some(FormName::Copilot) => Some(HookForm::Copilot),
            None if std::env::var_os("COPILOT_CLI").is_none_or(|value| value.is_empty()) => {
                Some(HookForm::Plain)
            }
            None => {
                let root = project::open(&project::find(directory)?)?;
                (!root.exists(COPILOT_HOOKS)).then_some(HookForm::Copilot)
            }
        })
    }

    /// Returns the agent's own name of an event, which its output repeats.
    fn event_name(&self, event: &'static str) -> &'static str {
        match (self.agent, event) {
            (Some(FormName::Gemini), "UserPromptSubmit") => "BeforeAgent",
            _ => event,
        }
    }

    /// Returns true if the agent reads the session text in a file of the project.
    fn is_in_file(&self, root: &Root, form: HookForm) -> bool {
        let agent = match form {
            HookForm::Plain => AgentName::Claude,
            HookForm::Gemini => AgentName::Gemini,
            HookForm::Copilot => AgentName::Copilot,
        };
        let targets = configured_targets(root).unwrap_or_default();
        // CLAUDE.md is often a link to AGENTS.md.
        let link = std::fs::read_link(root.path().join("CLAUDE.md"));
        let is_linked = agent == AgentName::Claude
            && targets.contains(&BuildTarget::AgentsMd)
            && link.is_ok_and(|link| link == Path::new("AGENTS.md"));
        self.event == HookEvent::SessionStart
            && (is_linked || agent.session_by(&targets) == SessionBy::File)
    }

    /// Returns true if Claude Code also runs the project's own hook for this text. Settings of the user
    /// and of the project both run, and their texts are not merged.
    fn is_delivered_by_project(&self) -> bool {
        let folder = std::env::var_os("CLAUDE_PROJECT_DIR").filter(|folder| !folder.is_empty());
        let Some(Ok(root)) = folder.map(|folder| project::open(Path::new(&folder))) else {
            return false;
        };
        let (settings, registration) = AgentName::Claude.own_file();
        let text = root.readable_bytes(settings, 16 << 20).and_then(|b| String::from_utf8(b).ok());
        // Claude Code ignores settings that are not strict JSON.
        let is_json = |text: &String| serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
        let roles = text.filter(is_json).map(|text| register::roles(&text, &registration));
        let role = match self.event {
            HookEvent::SessionStart => "session-start",
            HookEvent::SessionWorkflow => "session-workflow",
            HookEvent::SessionKnowledge => "session-start knowledge",
            HookEvent::SessionGlobal => "session-start global",
            HookEvent::SessionResponsibility => "session-responsibility",
            _ => return false,
        };
        root.exists(SCRIPTS[0].0)
            && roles.is_some_and(|roles| roles.iter().any(|registered| registered == role))
    }

    /// Prints a bundle as `hooks/session-start` does. Settings that apply to every repository call
    /// this, because they must not run a script of an unknown repository.
    fn start(&self, directory: &Path, input: &HookInput, form: HookForm) -> anyhow::Result<()> {
        if form == HookForm::Plain && self.is_delivered_by_project() {
            return Ok(());
        }
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
        if !root.exists(BUNDLES) || self.is_in_file(&root, form) {
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
        let text = String::from_utf8_lossy(&bytes);
        let event = match (input.hook_event_name.as_str(), form) {
            ("SubagentStart", HookForm::Plain) => {
                output::copy(header::hook_json("SubagentStart", &text).as_bytes())?;
                "SubagentStart"
            }
            (_, HookForm::Plain) => {
                output::copy(&bytes)?;
                "SessionStart"
            }
            _ => {
                output::copy(form.output("SessionStart", &text).as_bytes())?;
                "SessionStart"
            }
        };
        let model = input.model.clone();
        let line = AuditLine { model, ..bundle_line(&bundle) };
        record(&root, line, &input.session_id, event)
    }

    fn bundle(&self, delivery: &Delivery) -> Option<BundleLine> {
        if self.event == HookEvent::SessionResponsibility {
            let stated =
                std::env::var_os("BLUE_RESPONSIBILITY").and_then(|name| name.into_string().ok());
            let stated = stated.filter(|name| !name.is_empty());
            return bundles::of_responsibility(&delivery.root, &delivery.bundles, stated);
        }
        let bundle = match self.event {
            HookEvent::SessionWorkflow => delivery.current(),
            HookEvent::SessionKnowledge => delivery.bundles.knowledge(),
            _ => delivery.bundles.session(),
        };
        bundle.cloned()
    }
}

/// Records that the session of an event is alive. Agents differ in the events that they report, so every
/// event counts. A failure must not prevent the delivery.
fn record_heartbeat(directory: &Path, input: &HookInput) {
    let session = &input.session_id;
    if session.is_empty() || session == PROBE || check_name(session).is_err() {
        return;
    }
    let root = project::find(directory).and_then(|folder| project::open(&folder));
    if let Ok(root) = root
        && root.exists(BUNDLES)
    {
        record_alive(&root, session).ok();
    }
}

/// Reads the bytes of a bundle, if a build wrote them. If a build was killed between two renames, a
/// bundle can be newer than its index. Then the commit record has its digest.
pub(super) fn bundle_bytes(root: &Root, bundle: &mut BundleLine) -> Option<Vec<u8>> {
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
    queue_changes::update_requests(&root)?;
    if crate::build::has_changes(&root, MAX_CHECKED) == Some(true) {
        BuildArgs::default().build(&root)?;
    } else {
        crate::build::refresh_current_work(&root);
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
