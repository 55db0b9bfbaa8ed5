//! `blue status`.

use std::path::Path;

use clap::Args;
use serde_json::{Value, json};

use super::open::BuiltProject;
use super::output::OutputFormat;
use super::responsibility::time;
use super::review::Review;
use super::status_set::StatusCommand;
use super::{Exit, build, output};
use crate::discover::worktrees;
use crate::emit;
use crate::model::plural::counted;
use crate::model::worktree::GitRepository;
use crate::root::Root;
use crate::serve::activity::{ActivityLevel, ActivityReport, AssignedWorktree, OTHER_CLONES};
use crate::serve::next::LiveWork;
use crate::serve::status::{self, ProjectStatus};
use crate::serve::{AuditLog, sessions};

/// The flags of `blue status`.
#[derive(Args, Debug)]
pub(super) struct StatusArgs {
    #[command(subcommand)]
    command: Option<StatusCommand>,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: OutputFormat,
    /// Use this time instead of the clock
    #[arg(long, value_name = "RFC 3339")]
    now: Option<String>,
}

/// The activity of all RFCs of a project.
pub(super) struct ProjectActivity {
    /// Every RFC that is worked on.
    pub(super) works: Vec<LiveWork>,
    /// Facts that limit or question the answer.
    pub(super) notes: Vec<String>,
    /// The worktrees that were read.
    repository: GitRepository,
}

impl ProjectActivity {
    /// Reads the sessions of all worktrees, and asks git for changes and commits.
    pub(super) fn read(project: &BuiltProject, now: i64) -> ProjectActivity {
        let base = crate::build::plan(&project.root).base;
        let repository = worktrees::survey(project.root.path(), base.as_deref(), now);
        let mut notes: Vec<String> = Vec::new();
        let repository = repository.unwrap_or_else(|| {
            notes.push("git cannot read a repository here; only sessions count".to_string());
            GitRepository::only(project.root.path())
        });
        let assigned = AssignedWorktree::read_all(&repository);
        let report = ActivityReport::new(&project.built.bundles, &repository, &assigned, now);
        notes.extend(report.notes.iter().cloned());
        notes.push(OTHER_CLONES.to_string());
        let works = LiveWork::all(&report, &assigned);
        ProjectActivity { works, notes, repository }
    }
}

/// Seconds after which the record of a session is deleted.
const MAX_AGE: i64 = 30 * 86_400;

/// Deletes the records of sessions that had no event for 30 days.
fn forget_old_sessions(repository: &GitRepository, now: i64) {
    for tree in &repository.worktrees {
        let Ok(root) = Root::open(&repository.project_in(tree)) else { continue };
        for path in sessions::records_before(&root, now - MAX_AGE) {
            // A record that cannot be deleted only costs time.
            emit::discard(&root, &path).ok();
        }
    }
}

impl StatusArgs {
    pub(super) fn run(&self, directory: &Path) -> anyhow::Result<Exit> {
        if let Some(StatusCommand::Set(set)) = &self.command {
            return set.run(directory);
        }
        let now = time(self.now.as_deref())?;
        let project = BuiltProject::open(directory)?;
        let status = status::status(&project.library(), build::is_stale(&project.root));
        let activity = ProjectActivity::read(&project, now);
        forget_old_sessions(&activity.repository, now);
        match self.format {
            OutputFormat::Json => {
                let value = json(&status, &activity);
                output::copy(format!("{}\n", serde_json::to_string_pretty(&value)?).as_bytes())?;
            }
            OutputFormat::Text => output::out(&text(&project, &status, &activity))?,
        }
        Ok(Exit::Done)
    }
}

fn json(status: &ProjectStatus, activity: &ProjectActivity) -> Value {
    let work = status.work.as_ref().ok().map(|work| {
        json!({"bundle": work.bundle, "uri": work.document.as_ref().map(|line| &line.uri),
            "open_tasks": work.open_tasks})
    });
    json!({
        "version": 1, "documents": {"count": status.n_documents, "live": status.n_live},
        "stale": status.stale, "work": work, "rfcs": activity.works, "notes": activity.notes,
        "hint": status.hint, "hints": status.hints,
    })
}

fn text(project: &BuiltProject, status: &ProjectStatus, activity: &ProjectActivity) -> String {
    let work = match &status.work {
        Ok(work) => work.bundle.clone(),
        Err(error) => error.to_string(),
    };
    let built = match status.stale {
        true => "stale: run `blue knowledge build`",
        false => "current",
    };
    let log = AuditLog::open(&project.root, None);
    let last = log.lines.last().map_or("nothing yet".to_string(), |line| {
        format!("{} to {} at {}", line.source, line.session_id, line.timestamp)
    });
    let mut text = format!(
        "Documents  {}, {} live\nWork       {}\nBuilt      {built}\nDelivered  {}\n",
        status.n_documents,
        status.n_live,
        output::shown(&work),
        output::visible(&last)
    );
    text += &Review::find(&project.root, &project.built, &log).line();
    text += &activity_text(activity);
    text.extend(status.hint.map(|hint| format!("hint: {hint}\n")));
    let hints = status.hints.iter().map(|hint| format!("hint: {}\n", output::shown(hint)));
    text.extend(hints);
    text
}

/// Formats a line for each RFC with activity, the most active first.
fn activity_text(activity: &ProjectActivity) -> String {
    if activity.works.is_empty() {
        return String::new();
    }
    let mut works: Vec<&LiveWork> = activity.works.iter().collect();
    works.sort_by_key(|work| (work.activity.level, work.activity.age));
    let (seen, unseen): (Vec<&LiveWork>, Vec<&LiveWork>) =
        works.into_iter().partition(|work| work.activity.level != ActivityLevel::None);
    let mut text = String::new();
    for work in seen {
        let level = work.activity.level;
        text += &format!(
            "{} {:8} {}: {}, {}\n",
            level.icon(),
            level.as_str(),
            output::shown(&work.title),
            output::shown(&work.activity_text()),
            counted(work.open_tasks, "open task"),
        );
    }
    if !unseen.is_empty() {
        text += &format!("{} without activity\n", counted(unseen.len(), "RFC"));
    }
    let notes = activity.notes.iter().map(|note| format!("note: {}\n", output::shown(note)));
    text.extend(notes);
    text
}
