//! `blue worktree list`.

use std::path::Path;

use clap::Args;
use rayon::prelude::*;
use serde::Serialize;

use super::unfinished;
use super::{WorktreeProject, output};
use crate::cli::output::OutputFormat;
use crate::cli::responsibility::time;
use crate::cli::{Exit, project};
use crate::discover::worktrees;
use crate::model::plural::counted;
use crate::serve::activity::{Activity, ActivityReport, AssignedWorktree, OTHER_CLONES};
use crate::serve::next::LiveWork;
use crate::wire::jsonl::DocumentLine;
use crate::wire::worktree::UnfinishedWorktree;

/// The flags of `blue worktree list`.
#[derive(Args, Debug)]
pub(in crate::cli) struct ListWorktreesArgs {
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: OutputFormat,
    /// Use this time instead of the clock
    #[arg(long, value_name = "RFC 3339")]
    now: Option<String>,
}

/// One worktree.
#[derive(Serialize)]
struct WorktreeRow {
    path: String,
    branch: Option<String>,
    rfc: Option<String>,
    uri: Option<String>,
    title: Option<String>,
    status: Option<String>,
    activity: Option<Activity>,
    done_tasks: Option<u64>,
    n_tasks: Option<u64>,
    ahead: Option<u64>,
    behind: Option<u64>,
    changed: Option<usize>,
    merged: bool,
    missing: bool,
    unfinished: bool,
    main: bool,
    locked: Option<String>,
}

#[derive(Serialize)]
struct WorktreeList<'a> {
    version: u32,
    base: Option<&'a str>,
    worktrees: Vec<WorktreeRow>,
    notes: Vec<String>,
}

impl ListWorktreesArgs {
    pub(super) fn run(&self, directory: &Path) -> anyhow::Result<Exit> {
        let open = WorktreeProject::open(directory, time(self.now.as_deref())?)?;
        let assigned = AssignedWorktree::read_all(&open.repository);
        let bundles = &open.project.built.bundles;
        let now = time(self.now.as_deref())?;
        let report = ActivityReport::new(bundles, &open.repository, &assigned, now);
        let works = LiveWork::all(&report, &assigned);
        let keeper = open.repository.keeper().map(|tree| open.repository.project_in(tree));
        let keeper = keeper.and_then(|folder| project::open(&folder).ok());
        let interrupted = keeper.map(|root| unfinished::read_all(&root)).unwrap_or_default();
        let mut rows: Vec<WorktreeRow> = assigned
            .par_iter()
            .filter(|tree| !tree.worktree.is_bare)
            .map(|tree| row(&open, tree, &works, &interrupted))
            .collect();
        // An interrupted command may not have come to the worktree itself.
        let listed = |record: &&UnfinishedWorktree| rows.iter().all(|row| row.path != record.path);
        let unmade: Vec<WorktreeRow> = interrupted.iter().filter(listed).map(unmade).collect();
        rows.extend(unmade);
        let mut notes = report.notes;
        notes.push(OTHER_CLONES.to_string());
        let base = open.repository.base.as_deref();
        let list = WorktreeList { version: 1, base, worktrees: rows, notes };
        match self.format {
            OutputFormat::Json => {
                output::copy(format!("{}\n", serde_json::to_string_pretty(&list)?).as_bytes())?;
            }
            OutputFormat::Text => output::out(&text(&list))?,
        }
        Ok(Exit::Done)
    }
}

fn row(
    open: &WorktreeProject,
    tree: &AssignedWorktree<'_>,
    works: &[LiveWork],
    interrupted: &[UnfinishedWorktree],
) -> WorktreeRow {
    let document = tree.work.as_deref().and_then(|work| open.document_of(work));
    let document: Option<DocumentLine> = document;
    let uri = document.as_ref().map(|line| line.uri.clone());
    let work = works.iter().find(|work| Some(&work.uri) == uri.as_ref());
    let worktree = tree.worktree;
    let folder = open.folder();
    let base = open.repository.base.as_deref().filter(|_| !worktree.is_main);
    let head = worktree.head.as_deref();
    let counts = base.zip(head).and_then(|(base, head)| worktrees::divergence(folder, base, head));
    let path = worktree.path.display().to_string();
    let is_interrupted = interrupted.iter().any(|record| record.path == path);
    WorktreeRow {
        branch: worktree.branch.clone(),
        rfc: uri.as_deref().and_then(|uri| uri.rsplit('/').next()).map(str::to_string),
        title: document.as_ref().map(|line| line.title.clone()),
        status: document.as_ref().map(|line| line.status.clone()),
        activity: work.map(|work| work.activity.clone()),
        done_tasks: work.map(|work| work.done_tasks),
        n_tasks: work.map(|work| work.done_tasks + work.open_tasks),
        ahead: counts.map(|(ahead, _)| ahead),
        behind: counts.map(|(_, behind)| behind),
        changed: worktree.n_changed,
        // A branch that has nothing of its own yet is not merged.
        merged: counts.is_some_and(|(ahead, _)| ahead == 0) && has_own_commits(open, tree),
        missing: worktree.is_missing,
        unfinished: is_interrupted || worktree.is_initializing(),
        main: worktree.is_main,
        locked: worktree.locked.clone(),
        path,
        uri,
    }
}

/// Returns true if a worktree's branch moved since it was made, as far as its worktree file shows.
fn has_own_commits(open: &WorktreeProject, tree: &AssignedWorktree<'_>) -> bool {
    let root = crate::root::Root::open(&open.repository.project_in(tree.worktree)).ok();
    let bytes = root.and_then(|root| root.readable_bytes(crate::model::layout::WORKTREE, 1 << 16));
    let file: Option<serde_json::Value> = bytes.and_then(|b| serde_json::from_slice(&b).ok());
    let start = file.as_ref().and_then(|file| file.get("base_commit")?.as_str());
    let head = tree.worktree.head.as_deref().unwrap_or_default();
    match start.filter(|start| start.len() >= 7) {
        Some(start) => !head.starts_with(start),
        None => open.repository.base.as_deref().is_some_and(|base| {
            worktrees::commit_id(open.folder(), base).is_some_and(|base| base != head)
        }),
    }
}

/// Returns the row of a worktree whose creation was interrupted before git listed it.
fn unmade(record: &UnfinishedWorktree) -> WorktreeRow {
    WorktreeRow {
        path: record.path.clone(),
        branch: Some(record.file.branch.clone()),
        rfc: Some(record.file.rfc.clone()),
        uri: Some(record.file.uri.clone()),
        title: None,
        status: None,
        activity: None,
        done_tasks: None,
        n_tasks: None,
        ahead: None,
        behind: None,
        changed: None,
        merged: false,
        missing: true,
        unfinished: true,
        main: false,
        locked: None,
    }
}

fn text(list: &WorktreeList<'_>) -> String {
    let mut text = String::new();
    for row in &list.worktrees {
        let title = match (&row.rfc, &row.status) {
            (Some(rfc), Some(status)) => format!("{rfc} ({status})"),
            (Some(rfc), None) => rfc.clone(),
            _ => "no RFC".to_string(),
        };
        let level = row.activity.as_ref().map(|activity| activity.level);
        let level =
            level.map_or(String::new(), |level| format!("{} {}  ", level.icon(), level.as_str()));
        let branch = row.branch.as_deref().unwrap_or("detached HEAD");
        text += &format!("{}\n", output::shown(&row.path));
        text += &format!("  {level}{}, {}", output::visible(&title), output::visible(branch));
        for part in parts(row) {
            text += &format!(", {part}");
        }
        text.push('\n');
    }
    for note in &list.notes {
        text += &format!("note: {}\n", output::visible(note));
    }
    text
}

/// Returns what else there is to say about a worktree.
fn parts(row: &WorktreeRow) -> Vec<String> {
    let mut parts = Vec::new();
    if let (Some(done), Some(n)) = (row.done_tasks, row.n_tasks.filter(|n| *n > 0)) {
        parts.push(format!("{done} of {} done", counted(n, "task")));
    }
    if let (Some(ahead), Some(behind)) = (row.ahead, row.behind) {
        parts.push(format!("{ahead} ahead, {behind} behind"));
    }
    parts.extend(row.changed.filter(|n| *n > 0).map(|n| counted(n, "changed file")));
    let flags = [
        (row.main, "main"),
        (row.merged, "merged"),
        (row.missing, "missing"),
        (row.unfinished, "unfinished"),
        (row.locked.is_some(), "locked"),
    ];
    parts.extend(flags.iter().filter(|(is_set, _)| *is_set).map(|(_, word)| word.to_string()));
    parts
}
