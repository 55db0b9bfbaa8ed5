//! `blue responsibility`: lists, shows, checks and creates responsibilities.

use std::path::Path;

use anyhow::Context;
use clap::{Args, Subcommand, ValueEnum};
use serde_json::json;

use super::mandate::{MandateArgs, MandateName, run_mandate};
use super::output::OutputFormat;
use super::report::MinSeverity;
use super::{Exit, output, project, report, responsibility_files};
use crate::build::Inputs;
use crate::build::responsibilities::{self, Role};
use crate::emit;
use crate::model::layout::LOCAL_RESPONSIBILITIES;
use crate::model::{Severity, timestamp};
use crate::responsibility::addons::RoleFile;
use crate::responsibility::registry::Lifecycle;
use crate::root::Root;
use crate::verify::{self, OnDisk};

/// The subcommands of `blue responsibility`.
#[derive(Debug, Subcommand)]
pub(super) enum ResponsibilityCommand {
    /// List responsibilities with their statuses and open requests
    #[command(after_help = "Example:\n  blue responsibility list --format json")]
    List(ListRolesArgs),
    /// Print the pack of a responsibility, or one of its files
    #[command(
        after_help = "Examples:\n  blue responsibility show parenting_cos\n  blue responsibility show parenting_cos open_requests"
    )]
    Show(ShowRoleArgs),
    /// Report problems in containers; with --live, also whether their state is outdated
    #[command(
        after_help = "Examples:\n  blue responsibility check parenting_cos\n  blue responsibility check --live --now 2026-01-25T11:58:02Z\n\nExit codes: 0 no problems, 1 problems or an outdated state, 2 could not run."
    )]
    Check(CheckRolesArgs),
    /// Create the container of a responsibility, as a draft
    #[command(after_help = "Example:\n  blue responsibility new parenting_cos")]
    New(RoleId),
    /// Move hand-written files in ai_context/ aside, so that blue can make them
    #[command(after_help = "Example:\n  blue responsibility adopt parenting_cos")]
    Adopt(RoleId),
    /// Signal that a mandate run closed or a request changed: update what depends on it
    #[command(after_help = "Example:\n  blue responsibility signal parenting_cos request_changed")]
    Signal(SignalArgs),
    /// Allow one volume of context to be published, as the steward
    #[command(
        after_help = "Example:\n  blue responsibility override parenting_cos --gate red --reason \"moving to packs\" --as jane"
    )]
    Override(OverrideArgs),
}

/// The flags of `blue responsibility list`.
#[derive(Args, Debug)]
pub(super) struct ListRolesArgs {
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: OutputFormat,
}

/// The arguments of `blue responsibility show`.
#[derive(Args, Debug)]
pub(super) struct ShowRoleArgs {
    /// Id of the responsibility
    id: String,
    /// File of ai_context/, without its ending [default: the pack]
    file: Option<String>,
}

/// The flags of `blue responsibility check`.
#[derive(Args, Debug)]
pub(super) struct CheckRolesArgs {
    /// Id of the responsibility [default: all]
    id: Option<String>,
    /// Read the queue too; exit 1 if a mandate would write another state
    #[arg(long)]
    live: bool,
    /// Use this time instead of the clock
    #[arg(long, value_name = "RFC 3339", requires = "live")]
    now: Option<String>,
}

/// The id of a responsibility.
#[derive(Args, Debug)]
pub(super) struct RoleId {
    /// Id of the responsibility
    id: String,
}

/// The arguments of `blue responsibility signal`.
#[derive(Args, Debug)]
pub(super) struct SignalArgs {
    /// Id of the responsibility
    id: String,
    /// The event
    #[arg(value_enum)]
    event: SignalName,
    /// Use this time instead of the clock
    #[arg(long, value_name = "RFC 3339")]
    now: Option<String>,
}

/// Events that kernels signal.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
#[value(rename_all = "snake_case")]
enum SignalName {
    /// A run of a mandate has an outcome
    MandateRunClosed,
    /// A request has another status
    RequestChanged,
}

/// The flags of `blue responsibility override`.
#[derive(Args, Debug)]
pub(super) struct OverrideArgs {
    /// Id of the responsibility
    pub(super) id: String,
    /// The gate
    #[arg(long, value_enum)]
    pub(super) gate: GateFlag,
    /// Why the volume may be published
    #[arg(long, value_name = "TEXT")]
    pub(super) reason: String,
    /// The steward who allows it
    #[arg(long = "as", value_name = "STEWARD")]
    pub(super) steward: String,
    /// Use this time instead of the clock
    #[arg(long, value_name = "RFC 3339")]
    pub(super) now: Option<String>,
}

/// Gates that can be overridden.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(super) enum GateFlag {
    /// More than 3,000 lines
    Red,
    /// More than a tenth above the last publication
    Growth,
}

impl ResponsibilityCommand {
    pub(super) fn run(&self, directory: &Path) -> anyhow::Result<Exit> {
        let root = project::open_to_write(&project::find(directory)?)?;
        match self {
            ResponsibilityCommand::List(arguments) => list(&root, arguments.format),
            ResponsibilityCommand::Show(arguments) => show(&root, arguments),
            ResponsibilityCommand::Check(arguments) => check(&root, arguments),
            ResponsibilityCommand::New(arguments) => {
                responsibility_files::new(&root, &arguments.id)
            }
            ResponsibilityCommand::Adopt(arguments) => {
                responsibility_files::adopt(&root, &arguments.id)
            }
            ResponsibilityCommand::Signal(arguments) => signal(&root, arguments),
            ResponsibilityCommand::Override(arguments) => {
                responsibility_files::override_gate(&root, arguments)
            }
        }
    }
}

pub(super) fn read(root: &Root) -> anyhow::Result<(Inputs, Vec<Role>)> {
    let inputs = crate::build::load(root)?;
    let (roles, _) = responsibilities::read_all(root, &inputs)?;
    Ok((inputs, roles))
}

/// Returns the responsibility with an id.
pub(super) fn find(roles: Vec<Role>, id: &str) -> anyhow::Result<Role> {
    let known: Vec<String> = roles.iter().map(|role| role.container.id.clone()).collect();
    let role = roles.into_iter().find(|role| role.container.id == id);
    role.ok_or_else(|| {
        let known = if known.is_empty() { "none".to_string() } else { known.join(", ") };
        anyhow::anyhow!("no responsibility has the id {id:?}\nhint: known ids: {known}")
    })
}

fn list(root: &Root, format: OutputFormat) -> anyhow::Result<Exit> {
    let (_, roles) = read(root)?;
    let entry = |role: &Role| {
        let container = &role.container;
        json!({
            "id": container.id,
            "folder": container.folder,
            "status": container.lifecycle.as_str(),
            "open_requests": container.requests().len(),
            "as_of": container.state.as_ref().map(|state| state.head.as_of.clone()),
            "intent_tags": container.capabilities.intent_tags,
            "mandates": container.capabilities.mandates,
            "tools": container.capabilities.tools,
            "dependencies": container.capabilities.dependencies,
        })
    };
    if format == OutputFormat::Json {
        let entries: Vec<_> = roles.iter().map(entry).collect();
        let json = json!({"version": 1, "responsibilities": entries});
        output::out(&format!("{}\n", serde_json::to_string_pretty(&json)?))?;
        return Ok(Exit::Done);
    }
    let mut text = String::new();
    for role in &roles {
        let container = &role.container;
        let as_of = container.state.as_ref().map_or("-", |state| state.head.as_of.as_str());
        text += &format!(
            "{:<24} {:<9} {:>3} open  {as_of}  {}\n",
            container.id,
            container.lifecycle.as_str(),
            container.requests().len(),
            output::shown(&container.folder)
        );
    }
    output::out(&text)?;
    Ok(Exit::Done)
}

fn show(root: &Root, arguments: &ShowRoleArgs) -> anyhow::Result<Exit> {
    let (inputs, roles) = read(root)?;
    let role = find(roles, &arguments.id)?;
    // A file made from a local state has no entry in the manifest.
    let local = |path: &str| root.exists(path).then(|| path.to_string());
    let path = match arguments.file.as_deref().map(|name| name.trim_end_matches(".md")) {
        None => match local(&responsibilities::local_pack(&role.container.id)) {
            Some(path) => path,
            None => role.container.pack_path(),
        },
        Some(name) => {
            let files = RoleFile::all(&inputs.plan.responsibilities.addons);
            let names: Vec<&str> =
                files.iter().map(|file| file.name().trim_end_matches(".md")).collect();
            anyhow::ensure!(
                names.contains(&name),
                "{name:?} is not a file of a responsibility\nhint: one of {}",
                names.join(", ")
            );
            let own = format!("{LOCAL_RESPONSIBILITIES}/{}/{name}.md", role.container.id);
            let folder = responsibilities::folder_of_files(&role.container, &inputs);
            local(&own).unwrap_or_else(|| format!("{folder}/{name}.md"))
        }
    };
    if path.starts_with(LOCAL_RESPONSIBILITIES) {
        let bytes = root.readable_bytes(&path, 1 << 20);
        output::copy(&bytes.with_context(|| format!("read {path}"))?)?;
        return Ok(Exit::Done);
    }
    match verify::on_disk(root, &path, None)? {
        OnDisk::Ours(_, _, bytes) => output::copy(&bytes)?,
        _ => anyhow::bail!("{path} is not built\nhint: run `blue knowledge build`"),
    }
    Ok(Exit::Done)
}

fn check(root: &Root, arguments: &CheckRolesArgs) -> anyhow::Result<Exit> {
    let inputs = crate::build::load(root)?;
    let (roles, mut notes) = responsibilities::read_all(root, &inputs)?;
    let wanted: Vec<Role> = match &arguments.id {
        Some(id) => vec![find(roles, id)?],
        None => roles,
    };
    for role in wanted
        .iter()
        .filter(|role| role.container.lifecycle == Lifecycle::Active && !role.is_state_broken)
    {
        notes.extend(responsibilities::draft(role, &inputs)?.notes(&role.container));
    }
    if arguments.id.is_some() {
        let folder = wanted[0].container.folder.clone();
        notes.retain(|note| note.path.starts_with(&folder));
    }
    let reviewed = inputs.policy.review(notes);
    output::out(&report::text(&reviewed.shown, MinSeverity::Info))?;
    let mut is_good = !reviewed.shown.iter().any(|note| note.severity >= Severity::Warning);
    if arguments.live {
        let mandate = MandateArgs {
            sticky: true,
            dry_run: true,
            // It compares everything but the volume, which a build computes from files.
            ..plain(MandateName::CheckModelPreferences, arguments.id.clone())
        };
        for result in run_mandate(root, &mandate, time(arguments.now.as_deref())?)? {
            if let Some(error) = result.error {
                anyhow::bail!("{}: {error}", result.id);
            }
            let plan = &inputs.plan.responsibilities;
            let state = responsibilities::state_path(plan, &result.folder, &result.id);
            if result.written.contains(&state) {
                is_good = false;
                output::say(&format!(
                    "{state}: outdated\n  hint: run `blue mandate refresh_ai_context {}`",
                    result.id
                ));
            }
        }
    }
    Ok(if is_good { Exit::Done } else { Exit::FoundSomething })
}

/// Returns the flags of a mandate without options.
pub(super) fn plain(name: MandateName, id: Option<String>) -> MandateArgs {
    MandateArgs {
        name,
        all: id.is_none(),
        id,
        now: None,
        dry_run: false,
        alerts: false,
        detected: None,
        mandate: None,
        sticky: false,
        format: OutputFormat::Text,
    }
}

/// Reads a time, or the clock without one.
pub(super) fn time(text: Option<&str>) -> anyhow::Result<i64> {
    match text {
        None => Ok(emit::current_time().as_second()),
        Some(text) => timestamp::parse(text).ok_or_else(|| {
            anyhow::anyhow!("{text:?} is not a time\nhint: write --now 2026-01-25T11:58:02Z")
        }),
    }
}

fn signal(root: &Root, arguments: &SignalArgs) -> anyhow::Result<Exit> {
    // Both events change the requests and the memory, so one mandate covers them.
    let (SignalName::MandateRunClosed | SignalName::RequestChanged) = arguments.event;
    let mandate = plain(MandateName::UpdateOpenRequests, Some(arguments.id.clone()));
    let results = run_mandate(root, &mandate, time(arguments.now.as_deref())?)?;
    let error = results.into_iter().find_map(|result| result.error);
    match error {
        Some(error) => anyhow::bail!("{}: {error}", arguments.id),
        None => Ok(Exit::Done),
    }
}
