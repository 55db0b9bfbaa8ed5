//! Many responsibilities at once, in a size that a test can afford.

use rusqlite::Connection;

use super::{NOW, container};
use crate::support::{Project, run};

const N_ROLES: usize = 50;
const N_REQUESTS: usize = 60;
const N_EVENTS: usize = 40;

/// A workspace of 50 roles. `step` decides the order of the rows.
fn large(step: usize, after: &str) -> Project {
    let project = Project::new();
    project.write(
        ".blue/config.yaml",
        "responsibilities: {workspace: dad_mode, queue: queue.sqlite, context_worker: context_curator}\n",
    );
    let mut connection: Connection = super::database(&project);
    for role in 0..N_ROLES {
        let id = format!("role_{role:02}");
        container(&project, &id);
        let events: String = (0..N_EVENTS)
            .map(|i| format!("- 2026-01-01T00:{i:02}:00Z note (rfa: r{i}) – Event {i}.\n"))
            .collect();
        project.write(&format!("registry/{id}/memory/events.md"), format!("# Events\n\n{events}"));
    }
    let n_rows = N_ROLES * N_REQUESTS;
    let rows = connection.transaction().unwrap();
    for i in 0..n_rows {
        let row = i * step % n_rows;
        let (role, request) = (row % N_ROLES, row / N_ROLES);
        let status = ["pending", "accepted", "completed"][request % 3];
        let insert = "INSERT INTO requests VALUES (?1, 'finance_cos', ?2, ?3, 's', 'dad_mode', ?4, ?5, 14400, 86400, '2026-01-25T08:00:00Z', '2026-01-25T08:00:00Z', '2026-01-25 08:00:00')";
        let (id, target) = (format!("req_{role:02}_{request}"), format!("role_{role:02}"));
        let subject = format!("Subject {request}");
        rows.execute(insert, rusqlite::params![id, target, subject, status, request as i64 % 7])
            .unwrap();
        let event = "INSERT INTO request_events VALUES (NULL, ?1, 'x', 'created', 'pending')";
        rows.execute(event, [&id]).unwrap();
    }
    rows.commit().unwrap();
    connection.execute_batch(after).unwrap();
    project
}

#[test]
fn fifty_roles_give_the_same_bytes_and_a_second_refresh_writes_nothing() {
    let arguments = ["mandate", "refresh_ai_context", "--all", "--now", NOW];
    let refreshed = |step: usize, after: &str, zone: &str| {
        let project = large(step, after);
        let output = run(project.command(&arguments).env("TZ", zone).env("LC_ALL", "tr_TR.UTF-8"));
        assert_eq!(output.code, 0, "{}", output.stderr);
        project
    };
    let made = |project: &Project| {
        let mut files = project.files();
        files.retain(|path, _| !path.starts_with("queue.sqlite"));
        files
    };
    let project = refreshed(1, "", "UTC");
    let first = made(&project);
    let is_state = |path: &&String| path.ends_with("state.jsonl");
    assert_eq!(first.keys().filter(is_state).count(), N_ROLES);
    let stamps = project.stamps();
    let second = project.blue(&arguments);
    assert_eq!(second.stderr.matches("nothing to do").count(), N_ROLES, "{}", second.stderr);
    assert_eq!(project.stamps(), stamps);
    assert_eq!(made(&refreshed(7, "VACUUM", "Asia/Tokyo")), first);
    assert_eq!(made(&refreshed(1_009, "PRAGMA journal_mode=WAL", "America/Lima")), first);
}
