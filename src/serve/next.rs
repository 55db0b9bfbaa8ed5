//! Recommendations for what to work on next.

use std::cmp::Reverse;

use serde::Serialize;

use super::activity::{Activity, ActivityLevel, ActivityReport, AssignedWorktree, age_text};
use super::work;
use super::{Built, Library};
use crate::model::Status;
use crate::model::plural::counted;
use crate::wire::jsonl::{BundleLine, DocumentLine, WorkLine};

/// An RFC with its activity, for people, agents and JSON.
#[derive(Clone, Debug, Serialize)]
pub struct LiveWork {
    /// Its address.
    pub uri: String,
    /// Type, number and title.
    pub title: String,
    /// Its status.
    pub status: String,
    /// Its activity.
    #[serde(flatten)]
    pub activity: Activity,
    /// Number of open tasks of the RFC and its plans.
    pub open_tasks: u64,
    /// Number of tasks that are done.
    pub done_tasks: u64,
    /// Folder of its worktree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worktree: Option<String>,
}

impl LiveWork {
    /// Describes every RFC that is worked on, in the order of the index.
    pub fn all(report: &ActivityReport<'_>, assigned: &[AssignedWorktree<'_>]) -> Vec<LiveWork> {
        let works = report.works();
        works.filter_map(|(line, activity)| LiveWork::new(line, activity, assigned)).collect()
    }

    /// Describes one RFC.
    pub fn new(
        line: &BundleLine,
        activity: Activity,
        assigned: &[AssignedWorktree<'_>],
    ) -> Option<LiveWork> {
        let state = work::state(line)?;
        let all = || std::iter::once(&state).chain(&state.plans);
        let is_own = |tree: &&AssignedWorktree<'_>| {
            !tree.worktree.is_missing
                && tree.work.as_deref().is_some_and(|work| line.has_name(work))
        };
        Some(LiveWork {
            activity,
            open_tasks: all().map(|work: &WorkLine| work.n_open).sum(),
            done_tasks: all().map(|work: &WorkLine| work.n_done).sum(),
            worktree: assigned.iter().find(is_own).map(AssignedWorktree::place),
            uri: state.uri.clone(),
            title: state.head.clone(),
            status: state.status.clone(),
        })
    }

    /// Describes level, age, kind and place of the last activity.
    pub fn activity_text(&self) -> String {
        let Activity { age, by, place, session, .. } = &self.activity;
        let mut text = match (age, by) {
            (Some(age), Some(by)) => format!("{} {} ago", by.as_str(), age_text(*age)),
            _ => "no activity was seen".to_string(),
        };
        if let Some(session) = session {
            text += &format!(" of session {session}");
        }
        if let Some(place) = place {
            text += &format!(" in {place}");
        }
        text
    }
}

/// A recommendation.
#[derive(Clone, Debug, Serialize)]
pub struct NextWork {
    /// The RFC.
    #[serde(flatten)]
    pub work: LiveWork,
    /// Reason in words.
    pub reason: String,
    /// Command to type.
    pub command: String,
}

/// The current work and what to take up next.
#[derive(Clone, Debug, Serialize)]
pub struct Recommendations {
    /// The caller's own current work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current: Option<LiveWork>,
    /// Other work, the most urgent first. Work of an active session is left out.
    pub next: Vec<NextWork>,
}

/// Groups of recommendations, the most urgent first.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Urgency {
    Stale,
    Changes,
    WithoutWorktree,
    Idle,
    Draft,
    Recent,
}

/// Recommends at most `limit` RFCs.
pub fn recommend(library: &Library<'_>, works: Vec<LiveWork>, limit: usize) -> Recommendations {
    let own = library.current_bundle().and_then(work::state).map(|state| state.uri);
    let (current, others): (Vec<LiveWork>, Vec<LiveWork>) =
        works.into_iter().partition(|work| own.as_ref() == Some(&work.uri));
    let mut keyed: Vec<_> = others
        .into_iter()
        .filter(|work| work.activity.level != ActivityLevel::Active)
        .map(|work| {
            let group = group_of(&work);
            let waits_for = open_dependencies(library.built, &work.uri);
            let line = library.built.document(&work.uri);
            let weight = line.as_ref().map_or(0, |line| line.weight);
            let number = line.and_then(|line| line.number?.parse::<u64>().ok()).unwrap_or(u64::MAX);
            (
                (group, !waits_for.is_empty(), Reverse(weight), number, work.uri.clone()),
                work,
                waits_for,
            )
        })
        .collect();
    keyed.sort_by(|(a, ..), (b, ..)| a.cmp(b));
    let next = keyed.into_iter().take(limit).map(|((group, ..), work, waits_for)| {
        let (reason, command) = (reason(group, &work, &waits_for), command(group, &work));
        NextWork { work, reason, command }
    });
    Recommendations { current: current.into_iter().next(), next: next.collect() }
}

fn group_of(work: &LiveWork) -> Urgency {
    let is_draft = [Status::Draft, Status::Proposed].iter().any(|s| s.as_str() == work.status);
    match work.activity.level {
        ActivityLevel::Stale if work.open_tasks > 0 => Urgency::Stale,
        ActivityLevel::Changes => Urgency::Changes,
        ActivityLevel::Recent => Urgency::Recent,
        ActivityLevel::Idle => Urgency::Idle,
        _ if is_draft => Urgency::Draft,
        _ if work.worktree.is_none() => Urgency::WithoutWorktree,
        _ => Urgency::Idle,
    }
}

/// Returns the documents that an RFC depends on and that are not done yet, by address.
fn open_dependencies(built: &Built, uri: &str) -> Vec<String> {
    let line = built.bundles.of_work(uri);
    let depends = line.and_then(work::state).map_or(Vec::new(), |state| state.depends);
    let is_open = |uri: &String| built.document(uri).is_some_and(|line| !is_done(&line));
    depends.into_iter().filter(is_open).collect()
}

/// Returns true if nothing has to be waited for: an RFC that is carried out or will not be, a decision
/// in force.
fn is_done(line: &DocumentLine) -> bool {
    let is = |statuses: &[Status]| statuses.iter().any(|status| status.as_str() == line.status);
    match line.kind.as_str() {
        "rfc" | "spike" => !line.live || is(&[Status::Implemented, Status::Recorded]),
        _ => !is(&[Status::Draft, Status::Proposed]),
    }
}

fn reason(group: Urgency, work: &LiveWork, waits_for: &[String]) -> String {
    let tasks = match work.open_tasks {
        0 => "no open task is listed".to_string(),
        n => counted(n, "open task"),
    };
    let last = work.activity_text();
    let reason = match group {
        Urgency::Stale => format!("abandoned with {tasks}: {last}"),
        Urgency::Changes => format!("uncommitted changes that no session works on: {last}"),
        Urgency::WithoutWorktree => format!("{} and no session works on it, {tasks}", work.status),
        Urgency::Idle if work.activity.level == ActivityLevel::None => {
            format!("has a worktree and no activity yet, {tasks}")
        }
        Urgency::Idle => format!("paused, {tasks}: {last}"),
        Urgency::Draft => format!("still {}", work.status),
        Urgency::Recent => format!("probably in use: {last}"),
    };
    match waits_for {
        [] => reason,
        open => format!("{reason}; waits for {}", open.join(", ")),
    }
}

fn command(group: Urgency, work: &LiveWork) -> String {
    let id = work.uri.rsplit('/').next().unwrap_or_default();
    match &work.worktree {
        Some(folder) if group != Urgency::Draft => format!("cd {}", quoted(folder)),
        None if group != Urgency::Draft => format!("blue worktree create {}", quoted(id)),
        _ => format!("blue knowledge show {}", quoted(&work.uri)),
    }
}

/// Quotes a word for a shell, if needed.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-:+@~".contains(c);
    match word.chars().all(is_plain) && !word.starts_with('~') {
        true => word.to_string(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}
