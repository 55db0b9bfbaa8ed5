//! Activity of the RFCs that are worked on: who works on them where, from session records and git.
//!
//! It is computed on request and never part of an artifact.

use serde::Serialize;

use super::bundles::{self, Bundles};
use super::sessions;
use crate::model::escape::escape_line;
use crate::model::timestamp;
use crate::model::worktree::{GitRepository, MAX_SKEW, Worktree};
use crate::root::Root;
use crate::wire::jsonl::{self, BundleLine};
use crate::wire::session::SessionRecord;

/// Age in seconds below which a heartbeat means that a session is at work.
const ACTIVE: i64 = 5 * 60;

/// Age in seconds below which a heartbeat or a commit is recent.
const RECENT: i64 = 30 * 60;

/// Age in seconds above which work is stale.
const STALE: i64 = 24 * 60 * 60;

/// Note about the limits of this knowledge.
pub const OTHER_CLONES: &str = "other clones are seen only through fetched commits";

/// The level of activity of an RFC: the first one whose condition holds.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum ActivityLevel {
    /// A session had a heartbeat less than 5 minutes ago and did not end.
    Active,
    /// A heartbeat or a commit less than 30 minutes ago.
    Recent,
    /// Uncommitted changes in its worktree.
    Changes,
    /// Last activity 30 minutes to 24 hours ago.
    Idle,
    /// Last activity more than 24 hours ago.
    Stale,
    /// No session and no commit was ever seen.
    None,
}

impl ActivityLevel {
    /// Returns the word used in messages and in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            ActivityLevel::Active => "ACTIVE",
            ActivityLevel::Recent => "RECENT",
            ActivityLevel::Changes => "CHANGES",
            ActivityLevel::Idle => "IDLE",
            ActivityLevel::Stale => "STALE",
            ActivityLevel::None => "NONE",
        }
    }

    /// Returns the icon for a terminal, two columns wide.
    pub fn icon(self) -> &'static str {
        match self {
            ActivityLevel::Active => "🟢",
            ActivityLevel::Recent => "🟡",
            ActivityLevel::Changes => "🔵",
            ActivityLevel::Idle => "⚪",
            ActivityLevel::Stale => "🟠",
            ActivityLevel::None => "  ",
        }
    }
}

/// The kind of an observation.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ActivityKind {
    /// Changed files in a worktree.
    Changes,
    /// A commit on its branch.
    Commit,
    /// A hook of a session.
    Heartbeat,
}

impl ActivityKind {
    /// Returns the word used in messages and in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            ActivityKind::Changes => "changes",
            ActivityKind::Commit => "commit",
            ActivityKind::Heartbeat => "heartbeat",
        }
    }
}

/// Something that was seen of the work on an RFC.
#[derive(Clone, Debug, Eq, PartialEq)]
struct Observation {
    time: i64,
    by: ActivityKind,
    place: String,
    session: Option<String>,
    has_ended: bool,
}

/// The activity of one RFC.
#[derive(Clone, Debug, Serialize)]
pub struct Activity {
    /// Its level.
    pub level: ActivityLevel,
    /// Time of the last activity, in UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// Seconds since then.
    #[serde(skip)]
    pub age: Option<i64>,
    /// The kind of the last activity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<ActivityKind>,
    /// Folder or fetched branch of the last activity.
    #[serde(rename = "where", skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// Session of the last activity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
}

/// A worktree, and the RFC that it is for.
pub struct AssignedWorktree<'a> {
    /// The worktree.
    pub worktree: &'a Worktree,
    /// Name of the RFC: from its worktree file, else its branch.
    pub work: Option<String>,
    /// The records of its sessions.
    pub sessions: Vec<SessionRecord>,
}

impl<'a> AssignedWorktree<'a> {
    /// Reads the worktree file and the session records of every worktree.
    pub fn read_all(repository: &'a GitRepository) -> Vec<AssignedWorktree<'a>> {
        let read = |worktree: &'a Worktree| {
            let root = Root::open(&repository.project_in(worktree)).ok();
            let branch = worktree.branch.as_deref();
            let stated = root.as_ref().and_then(|root| bundles::stated_work(root, branch));
            AssignedWorktree {
                worktree,
                work: stated.or_else(|| branch.map(str::to_string)),
                sessions: root.as_ref().map(sessions::newest_records).unwrap_or_default(),
            }
        };
        repository.worktrees.iter().map(read).collect()
    }

    /// Returns the folder as text for people and agents.
    pub fn place(&self) -> String {
        place(self.worktree)
    }
}

fn place(worktree: &Worktree) -> String {
    escape_line(&worktree.path.display().to_string())
}

/// The activity of all work, and the worktree of each.
pub struct ActivityReport<'a> {
    works: Vec<(&'a BundleLine, Vec<Observation>, bool)>,
    now: i64,
    /// Times that were ignored, in words.
    pub notes: Vec<String>,
}

impl<'a> ActivityReport<'a> {
    /// Collects what is known about each RFC at a time.
    pub fn new(
        bundles: &'a Bundles,
        repository: &GitRepository,
        assigned: &[AssignedWorktree<'_>],
        now: i64,
    ) -> ActivityReport<'a> {
        let mut notes = Vec::new();
        let works = bundles.works().map(|line| {
            let mut seen = commits(line, repository);
            let mut has_changes = false;
            for tree in assigned {
                let is_own = tree.work.as_deref().is_some_and(|work| line.has_name(work));
                let heartbeats =
                    tree.sessions.iter().filter_map(|r| heartbeat(r, tree, bundles, line));
                seen.extend(heartbeats);
                let n_changed = tree.worktree.n_changed.filter(|n| is_own && *n > 0);
                has_changes |= n_changed.is_some();
                let time = n_changed.and(tree.worktree.changed_at);
                seen.extend(
                    time.map(|time| observation(time, ActivityKind::Changes, tree.place())),
                );
            }
            seen.retain(|seen| {
                let is_future = seen.time > now + MAX_SKEW;
                if is_future {
                    let (by, at) = (seen.by.as_str(), timestamp::format(seen.time));
                    notes.push(format!(
                        "ignored: the {by} at {} is in the future: {at}",
                        seen.place
                    ));
                }
                !is_future
            });
            seen.sort_by_key(|seen| (seen.time, seen.by));
            (line, seen, has_changes)
        });
        let works = works.collect();
        notes.sort();
        notes.dedup();
        ActivityReport { works, now, notes }
    }

    /// Returns every RFC with its activity, in the order of the index.
    pub fn works(&self) -> impl Iterator<Item = (&'a BundleLine, Activity)> {
        self.works
            .iter()
            .map(|(line, seen, has_changes)| (*line, activity(seen, *has_changes, self.now)))
    }

    /// Returns the activity of one RFC outside a folder.
    pub fn elsewhere(&self, line: &BundleLine, folder: &str) -> Activity {
        let work = self.works.iter().find(|(other, ..)| other.artifact == line.artifact);
        let Some((_, seen, has_changes)) = work else { return activity(&[], false, self.now) };
        let others: Vec<Observation> =
            seen.iter().filter(|seen| seen.place != folder).cloned().collect();
        let has_changes =
            *has_changes && others.iter().any(|seen| seen.by == ActivityKind::Changes);
        activity(&others, has_changes, self.now)
    }
}

fn observation(time: i64, by: ActivityKind, place: String) -> Observation {
    Observation { time, by, place, session: None, has_ended: false }
}

/// Returns the last commits on branches of an RFC.
fn commits(line: &BundleLine, repository: &GitRepository) -> Vec<Observation> {
    let own = repository.commits.iter().filter(|commit| line.has_name(&commit.branch));
    let seen = own.map(|commit| {
        let branch = escape_line(&commit.branch);
        let place = match &commit.remote {
            Some(remote) => format!("{}/{branch}", escape_line(remote)),
            None => branch,
        };
        observation(commit.time, ActivityKind::Commit, place)
    });
    seen.collect()
}

/// Returns the last heartbeat of a session if it is on an RFC.
fn heartbeat(
    record: &SessionRecord,
    tree: &AssignedWorktree<'_>,
    bundles: &Bundles,
    line: &BundleLine,
) -> Option<Observation> {
    let branch = record.branch.as_deref();
    // Without a worktree file, a record repeats the branch, which may also mean the only RFC.
    let named = record.rfc.as_deref().filter(|rfc| Some(*rfc) != branch);
    let current = jsonl::current_bundle(bundles.all(), named, branch)?;
    if current.artifact != line.artifact {
        return None;
    }
    let time = timestamp::parse(&record.last_heartbeat)?;
    let name = if record.agent_session.is_empty() { &record.id } else { &record.agent_session };
    Some(Observation {
        session: Some(escape_line(name)),
        has_ended: record.ended.is_some(),
        ..observation(time, ActivityKind::Heartbeat, tree.place())
    })
}

/// Returns the activity that follows from observations, sorted by time.
fn activity(seen: &[Observation], has_changes: bool, now: i64) -> Activity {
    let age = |seen: &Observation| (now - seen.time).max(0);
    let within = |seconds: i64, counts: &dyn Fn(&Observation) -> bool| {
        seen.iter().rfind(|seen| counts(seen) && age(seen) < seconds)
    };
    let is_alive = |seen: &Observation| seen.by == ActivityKind::Heartbeat && !seen.has_ended;
    let last = seen.last();
    let (level, shown) = if let Some(active) = within(ACTIVE, &is_alive) {
        (ActivityLevel::Active, Some(active))
    } else if let Some(recent) = within(RECENT, &|seen| seen.by != ActivityKind::Changes) {
        (ActivityLevel::Recent, Some(recent))
    } else if has_changes {
        let changes = seen.iter().rfind(|seen| seen.by == ActivityKind::Changes);
        (ActivityLevel::Changes, changes.or(last))
    } else {
        let level = match last.map(age) {
            None => ActivityLevel::None,
            Some(age) if age > STALE => ActivityLevel::Stale,
            Some(_) => ActivityLevel::Idle,
        };
        (level, last)
    };
    Activity {
        level,
        since: shown.map(|seen| timestamp::format(seen.time)),
        age: shown.map(age),
        by: shown.map(|seen| seen.by),
        place: shown.map(|seen| seen.place.clone()),
        session: shown.and_then(|seen| seen.session.clone()),
    }
}

/// Formats an age: `4 s`, `12 min`, `3 h`, `2 d`.
pub fn age_text(seconds: i64) -> String {
    match seconds {
        ..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min", seconds / 60),
        3_600..86_400 => format!("{} h", seconds / 3_600),
        _ => format!("{} d", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_800_000_000;

    fn seen(age: i64, by: ActivityKind, has_ended: bool) -> Observation {
        Observation { has_ended, ..observation(NOW - age, by, String::new()) }
    }

    fn level(seen: &[Observation], has_changes: bool) -> ActivityLevel {
        let mut seen = seen.to_vec();
        seen.sort_by_key(|seen| (seen.time, seen.by));
        activity(&seen, has_changes, NOW).level
    }

    #[test]
    fn the_first_condition_that_holds_decides() {
        use ActivityKind::{Changes, Commit, Heartbeat};
        use ActivityLevel as Level;
        let rows: [(&[Observation], bool, Level); 16] = [
            (&[], false, Level::None),
            (&[seen(0, Heartbeat, false)], false, Level::Active),
            (&[seen(-200, Heartbeat, false)], true, Level::Active),
            (&[seen(299, Heartbeat, false)], true, Level::Active),
            (&[seen(299, Heartbeat, true)], false, Level::Recent),
            (&[seen(300, Heartbeat, false)], true, Level::Recent),
            (&[seen(1, Commit, false)], true, Level::Recent),
            (&[seen(1_799, Commit, false)], false, Level::Recent),
            (&[seen(1_800, Heartbeat, false)], true, Level::Changes),
            (&[seen(10, Changes, false)], true, Level::Changes),
            (&[], true, Level::Changes),
            (&[seen(1_800, Heartbeat, false)], false, Level::Idle),
            (&[seen(86_400, Commit, false)], false, Level::Idle),
            (&[seen(86_401, Commit, false)], false, Level::Stale),
            (&[seen(86_401, Commit, false), seen(90_000, Heartbeat, true)], true, Level::Changes),
            (&[seen(10, Heartbeat, true), seen(200, Heartbeat, false)], false, Level::Active),
        ];
        for (i, (seen, has_changes, expected)) in rows.iter().enumerate() {
            assert_eq!(level(seen, *has_changes), *expected, "row {i}");
        }
    }

    #[test]
    fn an_age_has_one_unit() {
        for (age, text) in
            [(0, "0 s"), (59, "59 s"), (60, "1 min"), (3_600, "1 h"), (86_400, "1 d")]
        {
            assert_eq!(age_text(age), text);
        }
    }
}
