//! `blue install`.

use std::path::Path;

use anyhow::Context;
use clap::Args;

use super::agent_files::{AgentFiles, AgentName, Servers, config_file};
use super::build::BuildArgs;
use super::connected::{configured_targets, connected_agents, has_responsibilities};
use super::diff::diff;
use super::installation::{
    FileChange, FileStatus, Installation, ScriptState, read_bytes, script_state,
};
use super::next_steps::NextSteps;
use super::{Exit, git_hook, output, project};
use crate::emit;
use crate::model::layout::{CONFIG, HOOKS, MANIFEST};
use crate::model::{BuildTarget, Digest};
use crate::wire::agent::SCRIPTS;
use crate::wire::installed::{self, InstallRecord};

/// Flags of `blue install`.
#[derive(Args, Debug)]
pub(super) struct InstallArgs {
    /// Connect these agents [default: claude, codex and those that are connected]
    #[arg(
        long = "agent",
        value_name = "NAME",
        value_enum,
        value_delimiter = ',',
        conflicts_with = "user"
    )]
    agents: Vec<AgentName>,
    /// Register in ~/.claude/settings.json and ~/.claude.json, for every project, instead of in this
    /// project
    #[arg(long)]
    user: bool,
    /// Show the changes without writing them
    #[arg(long)]
    dry_run: bool,
    /// Do not register the MCP server
    #[arg(long)]
    no_mcp: bool,
    /// Do not connect Codex
    #[arg(long)]
    no_codex: bool,
    /// Add the branch guard to git's pre-commit hook, and nothing else
    #[arg(long, conflicts_with_all = ["user", "agents"])]
    git: bool,
}

/// Planned changes of an installation.
struct InstallPlan {
    changes: Vec<FileChange>,
    scripts: Vec<ScriptPlan>,
    record: InstallRecord,
}

impl InstallArgs {
    pub(super) fn run(&self, directory: &Path) -> anyhow::Result<Exit> {
        if self.git {
            return git_hook::install(directory, self.dry_run);
        }
        if !self.dry_run {
            super::project::create_key();
        }
        let installation = match self.user {
            true => Installation::user(self.servers())?,
            false => self.project(directory)?,
        };
        // The build that follows would refuse an invalid configuration.
        if installation.is_project && installation.base.exists(CONFIG) {
            crate::build::load(&installation.base)?;
        }
        // Every file is checked before the first is written.
        let plan = plan(&installation)?;
        if self.dry_run {
            return preview(&installation, &plan);
        }
        let plan = match plan.is_needed() && installation.is_project {
            true => {
                let _lock = emit::Lock::take(&installation.base, "install", &output::wait_for)?;
                let plan = self::plan(&installation)?;
                apply(&installation, &plan)?;
                plan
            }
            false => {
                apply(&installation, &plan)?;
                plan
            }
        };
        print_report(&installation, &plan)?;
        build_again(&installation)?;
        if plan.is_needed() {
            output::out(&next_steps(&installation))?;
        }
        Ok(Exit::Done)
    }

    fn servers(&self) -> Servers {
        if self.no_mcp { Servers::Excluded } else { Servers::Included }
    }

    /// Returns the files of the agents that the user named and of those that are connected already.
    fn project(&self, directory: &Path) -> anyhow::Result<Installation> {
        let folder = project::find(directory)?;
        let root = project::open(&folder)?;
        let mut targets = configured_targets(&root)?;
        let asked: Vec<BuildTarget> =
            self.agents.iter().filter_map(|agent| agent.target()).collect();
        targets.extend(&asked);
        let mut agents = connected_agents(&root);
        match self.agents.is_empty() {
            true => agents.extend(AgentName::DEFAULT),
            false => agents.extend(&self.agents),
        }
        agents.retain(|agent| *agent != AgentName::Codex || !self.no_codex);
        let (servers, has_roles) = (self.servers(), has_responsibilities(&root));
        let files = AgentFiles { agents: &agents, targets: &targets, servers, has_roles };
        let mut files = files.list();
        files.extend((!asked.is_empty()).then(|| config_file(asked)));
        Installation::project(&folder, files)
    }
}

/// Builds a project that was built before: its documents may name files that were added or removed,
/// and the configuration may have changed.
pub(super) fn build_again(installation: &Installation) -> anyhow::Result<()> {
    if !installation.is_project || !installation.base.exists(MANIFEST) {
        return Ok(());
    }
    let root = project::open_to_write(installation.base.path())?;
    let outcome = BuildArgs::default().build(&root);
    let outcome = outcome.context("the settings of agents are done, but not the build")?;
    for fate in outcome.fates.iter().filter(|fate| fate.written) {
        let word = if root.exists(&fate.path) { "built" } else { "removed" };
        output::out(&format!("{word:8} {}\n", output::visible(&fate.path)))?;
    }
    Ok(())
}

/// A hook script: its path, the bytes that blue ships, and its state on disk.
struct ScriptPlan {
    path: &'static str,
    shipped: &'static [u8],
    state: ScriptState,
}

impl ScriptPlan {
    fn is_written(&self) -> bool {
        matches!(self.state, ScriptState::Absent | ScriptState::Older | ScriptState::Marked(_))
    }
}

impl InstallPlan {
    fn is_needed(&self) -> bool {
        self.changes.iter().any(|change| change.before != change.after)
            || self.scripts.iter().any(ScriptPlan::is_written)
    }
}

fn plan(installation: &Installation) -> anyhow::Result<InstallPlan> {
    let mut record = installation.record()?;
    let mut changes = Vec::new();
    for file in &installation.files {
        let change = file.install(record.files.get(&file.shown))?;
        match &change.record {
            Some(new) => record.files.insert(file.shown.clone(), new.clone()),
            None => record.files.remove(&file.shown),
        };
        if change.before.is_none() && file.root.path() == installation.base.path() {
            record.folders.extend(emit::missing_folders(&file.root, &file.path)?);
        }
        changes.push(change);
    }
    let mut scripts = Vec::new();
    for (path, shipped) in SCRIPTS.iter().filter(|_| installation.is_project) {
        let state = script_state(&installation.base, path, shipped)?;
        let script = ScriptPlan { path, shipped, state };
        if script.state == ScriptState::Absent {
            record.scripts.insert((*path).to_string(), String::new());
            record.folders.extend(emit::missing_folders(&installation.base, path)?);
        }
        if script.is_written()
            && let Some(digest) = record.scripts.get_mut(*path)
        {
            *digest = Digest::of(shipped).to_string();
        }
        scripts.push(script);
    }
    if !installation.is_project {
        record
            .folders
            .extend(emit::missing_folders(&installation.base, &installation.record_path)?);
    }
    Ok(InstallPlan { changes, scripts, record })
}

/// Writes the planned changes. The record comes first: a record of a file that was not written does
/// no harm, but without its record a file cannot be restored exactly.
fn apply(installation: &Installation, plan: &InstallPlan) -> anyhow::Result<()> {
    if !plan.is_needed() {
        return Ok(());
    }
    match &installation.base.machine().key {
        Some(key) => {
            let record = installed::write(&plan.record, key);
            emit::replace(&installation.base, &installation.record_path, &record)?;
        }
        None => output::say(
            "blue: cannot write a key in ~/.blue: `blue uninstall` will remove blue's entries, but not restore the exact bytes",
        ),
    }
    let written = write(installation, plan);
    if written.is_err() {
        roll_back(installation, plan)?;
    }
    written
}

fn write(installation: &Installation, plan: &InstallPlan) -> anyhow::Result<()> {
    for (file, change) in installation.files.iter().zip(&plan.changes) {
        if let Some(after) = change.after.as_ref().filter(|_| change.before != change.after) {
            emit::replace(&file.root, &file.path, after.as_bytes())?;
        }
    }
    for script in &plan.scripts {
        let path = script.path;
        if let ScriptState::Marked(bytes) = &script.state {
            let copy = emit::save_copy(&installation.base, path, bytes)?;
            output::say(&format!("blue: the previous {path} is saved in {copy}"));
        }
        if script.is_written() {
            emit::replace_script(&installation.base, path, script.shipped)?;
        }
    }
    Ok(())
}

/// Restores the files that were written before one that could not be written.
fn roll_back(installation: &Installation, plan: &InstallPlan) -> anyhow::Result<()> {
    for (file, change) in installation.files.iter().zip(&plan.changes) {
        if change.before == change.after || file.text()? != change.after {
            continue;
        }
        match &change.before {
            Some(text) => emit::replace(&file.root, &file.path, text.as_bytes())?,
            None => emit::discard(&file.root, &file.path)?,
        }
    }
    for script in plan.scripts.iter().filter(|script| script.state == ScriptState::Absent) {
        if installation.base.exists(script.path) {
            emit::discard(&installation.base, script.path)?;
        }
    }
    for folder in
        installation.folders().iter().filter(|folder| plan.record.folders.contains(*folder))
    {
        emit::discard_folder(&installation.base, folder)?;
    }
    Ok(())
}

fn script_status(state: &ScriptState) -> (FileStatus, &'static str) {
    match state {
        ScriptState::Absent => (FileStatus::Added, ""),
        ScriptState::Current => (FileStatus::Current, ""),
        ScriptState::Older | ScriptState::Marked(_) => (FileStatus::Updated, ""),
        ScriptState::Edited => (FileStatus::Kept, " (edited by hand)"),
    }
}

fn print_report(installation: &Installation, plan: &InstallPlan) -> anyhow::Result<()> {
    for (file, change) in installation.files.iter().zip(&plan.changes) {
        let note = match change.note {
            "" => String::new(),
            note => format!(" ({note})"),
        };
        output::out(&format!("{:8} {}{note}\n", change.status.word(), file.shown))?;
    }
    for script in &plan.scripts {
        let (status, note) = script_status(&script.state);
        output::out(&format!("{:8} {}{note}\n", status.word(), script.path))?;
    }
    if plan.scripts.iter().any(|script| script.state == ScriptState::Edited) {
        output::say(
            "blue: a hook script that was edited by hand is not replaced\nhint: move it away and run `blue install` again",
        );
    }
    Ok(())
}

fn preview(installation: &Installation, plan: &InstallPlan) -> anyhow::Result<Exit> {
    for (file, change) in installation.files.iter().zip(&plan.changes) {
        output::out(&diff(&file.shown, change.before.as_deref(), change.after.as_deref()))?;
    }
    for script in plan.scripts.iter().filter(|script| script.is_written()) {
        let before = read_bytes(&installation.base, script.path, script.path)?;
        let before = before.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let after = String::from_utf8_lossy(script.shipped);
        output::out(&diff(script.path, before.as_deref(), Some(&after)))?;
    }
    print_report(installation, plan)?;
    output::say("blue: nothing was written (--dry-run)");
    Ok(Exit::Done)
}

fn next_steps(installation: &Installation) -> String {
    let mut next = NextSteps::new(installation.base.path());
    if installation.is_project {
        if !installation.base.exists(MANIFEST) {
            next.blue("init", "find documents and build; until then the hooks print nothing");
        }
        let targets = configured_targets(&installation.base).unwrap_or_default();
        let written = targets.iter().flat_map(|target| [target.shared_file(), target.own_path()]);
        let written = written.flatten().filter(|path| installation.base.exists(path));
        let own = installation.files.iter().map(|file| file.path.as_str());
        let mut files: Vec<&str> = own.chain(written).collect();
        let mut seen = std::collections::BTreeSet::new();
        files.retain(|path| seen.insert(*path));
        next.git(&format!("add {} {HOOKS}", files.join(" ")), "commit what was added");
        next.blue("doctor", "see what an agent receives");
    }
    let dialog = "restart the agent and accept its trust dialog (in Codex: /hooks)";
    match installation.is_project {
        true => format!("{}Then {dialog}.\n", next.text()),
        false => format!("\nNow {dialog}.\n"),
    }
}
