//! `blue mandate`: commands that inspect queue, clock and model, and write the state of containers.

use std::path::Path;

use clap::{Args, ValueEnum};
use serde::Serialize;

use super::mandate_run::{MandateRun, QueueRows, RoleOutcome};
use super::output::OutputFormat;
use super::responsibility::{find, time};
use super::{Exit, build, output, project};
use crate::build::responsibilities::{self, Role};
use crate::model::layout::LOCAL_RESPONSIBILITIES;
use crate::model::plural::counted;
use crate::model::{Severity, timestamp};
use crate::queue::RequestQueue;
use crate::responsibility::registry::Lifecycle;
use crate::root::Root;

/// The mandates that blue can run.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(super) enum MandateName {
    /// Read queue and model, rebuild the files, publish them if the gates allow it
    RefreshAiContext,
    /// Read the queue and rebuild open_requests.md and recent_activity.md
    UpdateOpenRequests,
    /// Append a summary of older events to memory/insights.md
    CompactMemoryEvents,
    /// Compare the model in use with the policy
    CheckModelPreferences,
}

impl MandateName {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            MandateName::RefreshAiContext => "refresh_ai_context",
            MandateName::UpdateOpenRequests => "update_open_requests",
            MandateName::CompactMemoryEvents => "compact_memory_events",
            MandateName::CheckModelPreferences => "check_model_preferences",
        }
    }
}

/// The flags of `blue mandate`.
#[derive(Args, Clone, Debug)]
pub(super) struct MandateArgs {
    /// The mandate
    #[arg(value_enum)]
    pub(super) name: MandateName,
    /// Id of the responsibility
    #[arg(required_unless_present = "all", conflicts_with = "all")]
    pub(super) id: Option<String>,
    /// Run it for every active responsibility
    #[arg(long)]
    pub(super) all: bool,
    /// Use this time instead of the clock
    #[arg(long, value_name = "RFC 3339")]
    pub(super) now: Option<String>,
    /// Write nothing; print what would be written
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Of update_open_requests: record deadlines that are at risk or missed, each once
    #[arg(long)]
    pub(super) alerts: bool,
    /// Of check_model_preferences: the model in use [default: the newest model_detected in logs/,
    /// else what the start of a session reported]
    #[arg(long, value_name = "MODEL")]
    pub(super) detected: Option<String>,
    /// Of check_model_preferences: the mandate that is about to run
    #[arg(long, value_name = "NAME")]
    pub(super) mandate: Option<String>,
    /// Leave last_checked_at alone while the verdict is the same
    #[arg(long)]
    pub(super) sticky: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    pub(super) format: OutputFormat,
}

#[derive(Serialize)]
struct JsonOutcome<'a> {
    version: u32,
    mandate: &'a str,
    now: String,
    results: &'a [RoleOutcome],
}

impl MandateArgs {
    pub(super) fn run(&self, directory: &Path) -> anyhow::Result<Exit> {
        let root = project::open_to_write(&project::find(directory)?)?;
        let now = time(self.now.as_deref())?;
        let results = run_mandate(&root, self, now)?;
        match self.format {
            OutputFormat::Json => {
                let name = self.name.as_str();
                let now = timestamp::format(now);
                let json = JsonOutcome { version: 1, mandate: name, now, results: &results };
                output::out(&format!("{}\n", serde_json::to_string_pretty(&json)?))?;
            }
            OutputFormat::Text => results.iter().for_each(|result| print(result, self.dry_run)),
        }
        Ok(exit_of(&results))
    }
}

/// Returns 2 if a responsibility could not be run, 1 if something was found.
fn exit_of(results: &[RoleOutcome]) -> Exit {
    if results.iter().any(|result| result.error.is_some()) {
        Exit::CouldNotRun
    } else if results.iter().any(|result| !result.findings.is_empty()) {
        Exit::FoundSomething
    } else {
        Exit::Done
    }
}

/// Runs a mandate for one responsibility or all. One that fails does not stop the others.
pub(super) fn run_mandate(
    root: &Root,
    arguments: &MandateArgs,
    now: i64,
) -> anyhow::Result<Vec<RoleOutcome>> {
    let inputs = crate::build::load(root)?;
    let plan = &inputs.plan.responsibilities;
    anyhow::ensure!(
        plan.context_worker.is_some(),
        "no role may write in the containers\nhint: write `responsibilities: {{context_worker: context_curator}}` into .blue/config.yaml"
    );
    let roles = match &arguments.id {
        Some(id) => responsibilities::read_one(root, &inputs, id)?,
        None => responsibilities::read_all(root, &inputs)?.0,
    };
    let roles = chosen(roles, arguments.id.as_deref())?;
    let uses_queue = arguments.name != MandateName::CompactMemoryEvents;
    let queue = match plan.queue.as_deref().filter(|_| uses_queue) {
        None => None,
        Some(path) => {
            anyhow::ensure!(
                plan.workspace.is_some(),
                "responsibilities.queue needs responsibilities.workspace, so that rows of others stay out\nhint: write `workspace: <ID>` into .blue/config.yaml"
            );
            Some(selected(RequestQueue::open(root, path)?, &roles, plan.workspace.as_deref()))
        }
    };
    let is_built = crate::build::is_settled(root);
    let run = MandateRun { root, inputs: &inputs, arguments, queue: queue.as_ref(), now, is_built };
    let mut results: Vec<RoleOutcome> = roles.into_iter().map(|role| run.role(role)).collect();
    if !arguments.dry_run && results.iter().any(|result| result.error.is_none()) {
        let is_idle = is_built && results.iter().all(|result| result.written.is_empty());
        if !is_idle {
            publish(root, &mut results)?;
        }
        if arguments.name == MandateName::RefreshAiContext {
            run.log_digests(&mut results)?;
        }
    }
    Ok(results)
}

/// Selects the rows of every responsibility, in one transaction that ends before anything is written.
fn selected(mut queue: RequestQueue, roles: &[Role], workspace: Option<&str>) -> QueueRows {
    let workspace = workspace.unwrap_or_default();
    let ids = roles.iter().map(|role| role.container.id.clone());
    ids.map(|id| {
        let selected = queue.select(&id, workspace).map_err(|error| format!("{error:#}"));
        (id, selected)
    })
    .collect()
}

/// Returns the responsibility with an id, or all active ones.
fn chosen(roles: Vec<Role>, id: Option<&str>) -> anyhow::Result<Vec<Role>> {
    let Some(id) = id else {
        let is_active = |role: &Role| role.container.lifecycle == Lifecycle::Active;
        return Ok(roles.into_iter().filter(is_active).collect());
    };
    let role = find(roles, id)?;
    anyhow::ensure!(
        role.container.lifecycle == Lifecycle::Active,
        "{id} is {}; only active responsibilities are built\nhint: set `status: active` in {}, or in the registry if it lists a status",
        role.container.lifecycle.as_str(),
        role.container.path("responsibility.md")
    );
    Ok(vec![role])
}

/// Builds, and adds findings that hold the publication of a responsibility to its result.
fn publish(root: &Root, results: &mut [RoleOutcome]) -> anyhow::Result<()> {
    let outcome = build::BuildArgs::default().build(root)?;
    for result in results {
        let folder = format!("{}/", result.folder);
        let own = outcome
            .diagnostics
            .iter()
            .filter(|note| note.severity == Severity::Error && note.path.starts_with(&folder));
        for note in own {
            let message = format!("{}: {}", note.path, note.message);
            if !result.findings.contains(&message) {
                result.findings.push(message);
            }
        }
        let written = outcome.fates.iter().filter(|fate| {
            let local = format!("{LOCAL_RESPONSIBILITIES}/{}/", result.id);
            let is_own = |path: &String| path.starts_with(&folder) || path.starts_with(&local);
            fate.written && (is_own(&fate.path) || fate.path == result.pack)
        });
        result.written.extend(written.map(|fate| fate.path.clone()));
    }
    Ok(())
}

fn print(result: &RoleOutcome, is_dry: bool) {
    let id = output::shown(&result.id);
    if let Some(error) = &result.error {
        output::error(&format!("{id}: {error}"));
        return;
    }
    for finding in &result.findings {
        output::say(&format!("{id}: {}", output::shown(finding)));
    }
    let summary = match (result.written.len(), is_dry) {
        (0, _) => "nothing to do".to_string(),
        (n, false) => format!("wrote {}", counted(n, "file")),
        (n, true) => format!("would write {}", counted(n, "file")),
    };
    output::say(&format!("blue: {id}: {summary}, {}", counted(result.n_requests, "open request")));
}
