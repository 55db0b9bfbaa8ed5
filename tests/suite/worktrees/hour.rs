//! Two people and three agents in five worktrees for an hour: every level, warning and recommendation.

use serde_json::Value;

use super::{NOON, blue_in, create, git_in, rfc, sample, set_time, worktree};
use crate::support::Project;

/// The RFCs of the five worktrees, in the order of the columns below.
const RFCS: [(&str, &str); 5] = [
    ("16", "feature/context-injection"),
    ("17", "feature/other-work"),
    ("20", "feature/new"),
    ("21", "feature/alpha"),
    ("22", "feature/beta"),
];

/// An event: the minute, the column of the worktree, and what happens.
type Event = (u32, usize, Action);

#[derive(Clone, Copy)]
enum Action {
    /// A session of an agent starts or is alive.
    Beat(&'static str),
    /// It ends.
    End(&'static str),
    /// A person or an agent edits a file.
    Edit,
    /// All changes are committed.
    Commit,
}

use Action::{Beat, Commit, Edit, End};

/// Ann and Bob have no hooks: they edit and commit. A1 (Claude Code) has heartbeats with every tool, A2
/// ends its session, and A3 (an agent without PreToolUse) only with every prompt.
const EVENTS: [Event; 22] = [
    (0, 0, Beat("A1")),
    (0, 1, Beat("A2")),
    (1, 2, Edit),
    (2, 0, Edit),
    (3, 3, Edit),
    (4, 0, Beat("A1")),
    (4, 3, Commit),
    (6, 1, End("A2")),
    (8, 0, Beat("A1")),
    (10, 4, Beat("A3")),
    (12, 4, Edit),
    (14, 0, Commit),
    (15, 4, Beat("A3")),
    (20, 4, Beat("A3")),
    (21, 1, Beat("A2")),
    (22, 1, End("A2")),
    (24, 2, Edit),
    (34, 4, Commit),
    (40, 0, Edit),
    (41, 0, Beat("A1")),
    (50, 2, Commit),
    (55, 1, Beat("A2")),
];

/// The level of each worktree's RFC at some minutes, from the table of the levels.
const LEVELS: [(u32, [&str; 5]); 12] = [
    // Ann's edit in worktree 3 is not committed; nothing happened in 4 and 5.
    (2, ["ACTIVE", "ACTIVE", "CHANGES", "NONE", "NONE"]),
    (3, ["ACTIVE", "ACTIVE", "CHANGES", "CHANGES", "NONE"]),
    // A2 was last alive at 0: its five minutes are over at 5.
    (5, ["ACTIVE", "RECENT", "CHANGES", "RECENT", "NONE"]),
    // A2 ended at 6, so its heartbeat of that minute does not make it active.
    (7, ["ACTIVE", "RECENT", "CHANGES", "RECENT", "NONE"]),
    (11, ["ACTIVE", "RECENT", "CHANGES", "RECENT", "ACTIVE"]),
    // A1 was last alive at 8, and committed at 14.
    (14, ["RECENT", "RECENT", "CHANGES", "RECENT", "ACTIVE"]),
    (21, ["RECENT", "ACTIVE", "CHANGES", "RECENT", "ACTIVE"]),
    (22, ["RECENT", "RECENT", "CHANGES", "RECENT", "ACTIVE"]),
    // The commit of worktree 4 is 30 minutes old.
    (34, ["RECENT", "RECENT", "CHANGES", "IDLE", "RECENT"]),
    // Nothing of A1 for 30 minutes after its commit at 14, but no: its edit at 40 is uncommitted.
    (45, ["ACTIVE", "RECENT", "CHANGES", "IDLE", "RECENT"]),
    // A2's end at 22 is 30 minutes old at 52.
    (52, ["RECENT", "IDLE", "RECENT", "IDLE", "RECENT"]),
    (60, ["RECENT", "RECENT", "RECENT", "IDLE", "RECENT"]),
];

fn time(minute: u32) -> String {
    let noon: jiff::Timestamp = NOON.parse().unwrap();
    jiff::Timestamp::from_second(noon.as_second() + i64::from(minute) * 60).unwrap().to_string()
}

fn act(project: &Project, (minute, column, action): Event) {
    let (folder, now) = (worktree(project, RFCS[column].1), time(minute));
    let session = |command: &str, name: &str| {
        let output = blue_in(project, &folder, &[command, "--session", name, "--now", &now]);
        assert_eq!(output.code, 0, "{}", output.stderr);
    };
    match action {
        Beat(name) => session("session-heartbeat", name),
        End(name) => session("session-end", name),
        Edit => {
            let path = folder.join("work.txt");
            std::fs::write(&path, format!("{minute}")).unwrap();
            set_time(&path, &now);
        }
        Commit => {
            git_in(project, &folder, &now, &["add", "-A"]);
            git_in(project, &folder, &now, &["commit", "-q", "-m", "work"]);
        }
    }
}

/// The level of each worktree's RFC.
fn levels(project: &Project, minute: u32) -> Vec<String> {
    let status = project.json(&["status", "--format", "json", "--now", &time(minute)]);
    let rfcs = status["rfcs"].as_array().unwrap();
    let level = |number: &str| {
        let uri = format!("/docs/rfcs/00{number}-");
        let own = rfcs.iter().find(|rfc| rfc["uri"].as_str().unwrap().contains(&uri)).unwrap();
        own["level"].as_str().unwrap().to_string()
    };
    RFCS.iter().map(|(number, _)| level(number)).collect()
}

/// The recommendations as `number group`, in order.
fn recommended(project: &Project, minute: u32) -> Vec<String> {
    let arguments = ["next", "--format", "json", "--limit", "9", "--now", &time(minute)];
    let next = project.json(&arguments);
    let entry = |next: &Value| {
        let number = next["uri"].as_str().unwrap().rsplit('/').next().unwrap()[2..4].to_string();
        format!("{number} {}", next["level"].as_str().unwrap())
    };
    next["next"].as_array().unwrap().iter().map(entry).collect()
}

#[test]
fn every_level_warning_and_recommendation_follows_the_table() {
    let project = sample();
    project.write(".blue/docs/rfcs/0021-alpha.md", rfc("21", "Alpha", "accepted"));
    project.write(".blue/docs/rfcs/0022-beta.md", rfc("22", "Beta", "accepted"));
    project.write(".blue/docs/rfcs/0023-free.md", rfc("23", "Free", "accepted"));
    // Two in progress: neither is the current work of the main worktree.
    project.write(
        ".blue/docs/rfcs/0016-context-injection.md",
        rfc("16", "Context injection", "in progress"),
    );
    project.build();
    project.git(&["add", "-A"]);
    project.git(&["commit", "-q", "-m", "more"]);
    for (number, branch) in RFCS {
        create(&project, number);
        assert!(worktree(&project, branch).exists());
    }
    let mut events = EVENTS.iter().peekable();
    for (minute, expected) in LEVELS {
        while let Some(event) = events.next_if(|(at, ..)| *at <= minute) {
            act(&project, *event);
        }
        assert_eq!(levels(&project, minute), expected, "minute {minute}");
        let next = recommended(&project, minute);
        let rank = |entry: &String| match entry.split_once(' ').unwrap() {
            (_, "ACTIVE") => panic!("minute {minute}: {entry} is worked on"),
            (_, "STALE") => 0,
            (_, "CHANGES") => 1,
            ("23", _) => 2,
            ("18", _) => 4,
            (_, "IDLE" | "NONE") => 3,
            (_, "RECENT") => 5,
            other => panic!("{other:?}"),
        };
        let ranks: Vec<u32> = next.iter().map(rank).collect();
        assert!(ranks.is_sorted(), "minute {minute}: {next:?}");
        let n_active = expected.iter().filter(|level| **level == "ACTIVE").count();
        assert_eq!(next.len(), 7 - n_active, "minute {minute}: all but the active ones: {next:?}");
    }
    assert_eq!(
        recommended(&project, 60),
        ["23 NONE", "21 IDLE", "18 NONE", "20 RECENT", "16 RECENT", "17 RECENT", "22 RECENT"]
    );
    warnings(&project);
    a_day_later(&project);
}

/// All of it is abandoned then, and the changes that are left come second.
fn a_day_later(project: &Project) {
    assert_eq!(
        recommended(project, 60 * 26),
        ["20 STALE", "17 STALE", "21 STALE", "22 STALE", "16 CHANGES", "23 NONE", "18 NONE"]
    );
    let now = "2026-01-26T14:00:00Z";
    let next = project.json(&["next", "--format", "json", "--limit", "5", "--now", now]);
    for next in next["next"].as_array().unwrap() {
        assert!(next["command"].as_str().unwrap().starts_with("cd "), "{next}");
    }
}

/// A second worktree of work that someone has is warned about; the worktree of a live session stays.
fn warnings(project: &Project) {
    let now = time(57);
    let output = project.blue(&["worktree", "create", "17", "--now", &now]);
    assert_eq!(output.code, 1, "it has a worktree: {output:?}");
    let output = project.blue(&["worktree", "remove", "17", "--now", &now]);
    assert_eq!(output.code, 1);
    assert!(
        output.stderr.contains("is in use: heartbeat 2 min ago of session A2"),
        "{}",
        output.stderr
    );
    let output = project.blue(&["worktree", "remove", "16", "--now", &now]);
    assert!(output.stderr.contains("1 changed or untracked file"), "{}", output.stderr);
    let output = project.blue(&["worktree", "remove", "21", "--now", &now]);
    assert!(
        output.stderr.contains("1 commit, neither merged into main nor pushed"),
        "{}",
        output.stderr
    );
    let output = project.blue(&["worktree", "create", "23", "--now", NOON, "--dry-run"]);
    assert!(!output.stderr.contains("warning"), "no session works on 23: {}", output.stderr);
}
