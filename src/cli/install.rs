//! `blue install`.

use std::path::Path;

use clap::Args;

use super::connect::{Fate, Place, Script, Step, script};
use super::diff::diff;
use super::next::Next;
use super::{Exit, output};
use crate::emit;
use crate::model::Digest;
use crate::wire::agent::SCRIPTS;
use crate::wire::installed::{self, Installed};

/// The flags of `blue install`.
#[derive(Args, Debug)]
pub(super) struct Install {
    /// Register in ~/.claude/settings.json, for every project, instead of in this one.
    #[arg(long)]
    user: bool,
    /// Show what would change; write nothing.
    #[arg(long)]
    dry_run: bool,
    /// Leave .mcp.json alone.
    #[arg(long)]
    no_mcp: bool,
    /// Leave .codex/hooks.json alone.
    #[arg(long)]
    no_codex: bool,
}

/// Everything an installation would do.
struct Plan {
    steps: Vec<Step>,
    scripts: Vec<(&'static str, &'static [u8], Script)>,
    memory: Installed,
}

impl Install {
    pub(super) fn run(&self, directory: &Path) -> anyhow::Result<Exit> {
        if !self.dry_run {
            super::project::create_key();
        }
        let place = match self.user {
            true => Place::user()?,
            false => {
                Place::project(&super::project::find(directory)?, !self.no_mcp, !self.no_codex)?
            }
        };
        // Every file is looked at before the first is written.
        let plan = plan(&place)?;
        if self.dry_run {
            return preview(&place, &plan);
        }
        let plan = match plan.is_needed() && place.is_project {
            true => {
                let lock = emit::Lock::take(&place.base, "install", &output::wait_for)?;
                let plan = self::plan(&place)?;
                carry_out(&place, &plan)?;
                drop(lock);
                plan
            }
            false => {
                carry_out(&place, &plan)?;
                plan
            }
        };
        tell(&place, &plan)?;
        if plan.is_needed() {
            output::out(&next_steps(&place))?;
        }
        Ok(Exit::Done)
    }
}

impl Plan {
    fn is_needed(&self) -> bool {
        self.steps.iter().any(|step| step.before != step.after)
            || self.scripts.iter().any(|(.., found)| is_written(found))
    }
}

fn is_written(found: &Script) -> bool {
    matches!(found, Script::Absent | Script::Older | Script::Marked(_))
}

fn plan(place: &Place) -> anyhow::Result<Plan> {
    let mut memory = place.remembered()?;
    let mut steps = Vec::new();
    for target in &place.targets {
        let step = target.install(memory.files.get(&target.shown))?;
        match &step.memory {
            Some(file) => memory.files.insert(target.shown.clone(), file.clone()),
            None => memory.files.remove(&target.shown),
        };
        if step.before.is_none() && target.root.path() == place.base.path() {
            memory.folders.extend(emit::missing_folders(&target.root, &target.path)?);
        }
        steps.push(step);
    }
    let mut scripts = Vec::new();
    for (path, shipped) in SCRIPTS.iter().filter(|_| place.is_project) {
        let found = script(&place.base, path, shipped)?;
        if found == Script::Absent {
            memory.scripts.insert((*path).to_string(), String::new());
            memory.folders.extend(emit::missing_folders(&place.base, path)?);
        }
        if is_written(&found)
            && let Some(digest) = memory.scripts.get_mut(*path)
        {
            *digest = Digest::of(shipped).to_string();
        }
        scripts.push((*path, *shipped, found));
    }
    if !place.is_project {
        memory.folders.extend(emit::missing_folders(&place.base, &place.memory)?);
    }
    Ok(Plan { steps, scripts, memory })
}

/// Writes what is planned, what is remembered first: a record of a file that was not written
/// does no harm, but a file without its record cannot be taken back exactly.
fn carry_out(place: &Place, plan: &Plan) -> anyhow::Result<()> {
    if !plan.is_needed() {
        return Ok(());
    }
    match &place.base.machine().key {
        Some(key) => {
            let record = installed::write(&plan.memory, key);
            emit::replace(&place.base, &place.memory, &record, false)?;
        }
        None => output::say(
            "blue: no key can be kept in ~/.blue, so `blue uninstall` will take out what is blue's, but cannot restore the exact bytes",
        ),
    }
    let written = write(place, plan);
    if written.is_err() {
        take_back(place, plan)?;
    }
    written
}

fn write(place: &Place, plan: &Plan) -> anyhow::Result<()> {
    for (target, step) in place.targets.iter().zip(&plan.steps) {
        if let Some(after) = step.after.as_ref().filter(|_| step.before != step.after) {
            emit::replace(&target.root, &target.path, after.as_bytes(), false)?;
        }
    }
    for (path, shipped, found) in &plan.scripts {
        if let Script::Marked(bytes) = found {
            let copy = emit::rescue(&place.base, path, bytes)?;
            output::say(&format!("blue: what was in {path} is kept in {copy}"));
        }
        if is_written(found) {
            emit::replace(&place.base, path, shipped, true)?;
        }
    }
    Ok(())
}

/// After a disk refused one file, gives back those that were written before it.
fn take_back(place: &Place, plan: &Plan) -> anyhow::Result<()> {
    for (target, step) in place.targets.iter().zip(&plan.steps) {
        if step.before == step.after || target.text()? != step.after {
            continue;
        }
        match &step.before {
            Some(text) => emit::replace(&target.root, &target.path, text.as_bytes(), false)?,
            None => emit::discard(&target.root, &target.path)?,
        }
    }
    for (path, ..) in plan.scripts.iter().filter(|(.., found)| *found == Script::Absent) {
        if place.base.exists(path) {
            emit::discard(&place.base, path)?;
        }
    }
    for folder in place.folders().iter().filter(|folder| plan.memory.folders.contains(*folder)) {
        emit::discard_folder(&place.base, folder)?;
    }
    Ok(())
}

fn fate(found: &Script) -> (Fate, &'static str) {
    match found {
        Script::Absent => (Fate::Added, ""),
        Script::Current => (Fate::Current, ""),
        Script::Older | Script::Marked(_) => (Fate::Updated, ""),
        Script::Edited => (Fate::Kept, " (edited by hand)"),
    }
}

fn tell(place: &Place, plan: &Plan) -> anyhow::Result<()> {
    for (target, step) in place.targets.iter().zip(&plan.steps) {
        output::out(&format!("{:8} {}{}\n", step.fate.word(), target.shown, step.note))?;
    }
    for (path, _, found) in &plan.scripts {
        let (fate, note) = fate(found);
        output::out(&format!("{:8} {path}{note}\n", fate.word()))?;
    }
    if plan.scripts.iter().any(|(.., found)| *found == Script::Edited) {
        output::say(
            "blue: a script that is not blue's stays as it is\nhint: move it away and run `blue install` again to have blue's",
        );
    }
    Ok(())
}

fn preview(place: &Place, plan: &Plan) -> anyhow::Result<Exit> {
    for (target, step) in place.targets.iter().zip(&plan.steps) {
        output::out(&diff(&target.shown, step.before.as_deref(), step.after.as_deref()))?;
    }
    for (path, shipped, found) in &plan.scripts {
        let before = super::connect::bytes(&place.base, path, path)?;
        let before = before.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        if is_written(found) {
            let after = String::from_utf8_lossy(shipped);
            output::out(&diff(path, before.as_deref(), Some(&after)))?;
        }
    }
    tell(place, plan)?;
    output::say("blue: nothing was written (--dry-run)");
    Ok(Exit::Done)
}

fn next_steps(place: &Place) -> String {
    let mut next = Next::new(place.base.path());
    if place.is_project {
        if !place.base.exists(crate::model::layout::MANIFEST) {
            next.blue("init", "find the documents and build; until then the hooks print nothing");
        }
        let files: Vec<&str> = place.targets.iter().map(|target| target.path.as_str()).collect();
        next.git(&format!("add {} .blue/hooks", files.join(" ")), "commit what was added");
        next.blue("doctor", "see what an agent receives");
    }
    let dialog = "restart the agent and accept its trust dialog (in Codex: /hooks)";
    match place.is_project {
        true => format!("{}Then {dialog}.\n", next.text()),
        false => format!("\nNow {dialog}.\n"),
    }
}
