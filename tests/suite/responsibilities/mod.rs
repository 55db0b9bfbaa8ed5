//! Responsibilities: containers, the queue, mandates, gates and the pack.

mod addons;
mod bad_input;
mod containers;
mod delivery;
mod local_state;
mod mandates;
mod protocol;
mod scale;

use std::path::Path;

use rusqlite::Connection;

use crate::support::Project;

/// A time after which the request in [`workspace`] is at risk.
pub const NOW: &str = "2026-01-25T11:58:02Z";

const TABLES: &str = "CREATE TABLE requests (
    id TEXT PRIMARY KEY, origin_responsibility_id TEXT, target_responsibility_id TEXT,
    subject TEXT, summary TEXT, workspace_id TEXT, status TEXT, priority INTEGER,
    sla_response_seconds INTEGER, sla_completion_seconds INTEGER, acknowledged_at DATETIME,
    created_at DATETIME, available_at DATETIME);
CREATE TABLE request_events (
    id INTEGER PRIMARY KEY, request_id TEXT, event_type TEXT, old_status TEXT, new_status TEXT);
CREATE TABLE responsibilities (id TEXT PRIMARY KEY, workspace_id TEXT, status TEXT);";

/// Writes a container with a guardrail, a persona and a kernel.
pub fn container(project: &Project, id: &str) {
    let header = |role: &str| format!("---\nauthored_by: human\ncontext_role: {role}\n---\n");
    let write = |name: &str, role: &str, text: &str| {
        project.write(&format!("registry/{id}/{name}"), header(role) + text);
    };
    write("kernel.md", "kernel", "# Kernel\n\nPlans the week.\n");
    write("guardrails.md", "guardrail", "# Guardrails\n\n- `privacy.local`: Data stays here.\n");
    write("persona.md", "persona", "# Persona\n\nvoice: Warm and brief.\n");
}

/// Opens the database of a project, with its tables.
pub fn database(project: &Project) -> Connection {
    let connection = Connection::open(project.path().join("queue.sqlite")).unwrap();
    connection.execute_batch(TABLES).unwrap();
    connection
}

/// Inserts a request for `parenting_cos` that has to be answered within four hours.
pub fn insert(connection: &Connection, id: &str, workspace: &str, status: &str, subject: &str) {
    let row = "INSERT INTO requests VALUES (?1, 'finance_cos', 'parenting_cos', ?4, 's', ?2, ?3, 100, 14400, 86400, NULL, '2026-01-25T08:00:00Z', '2026-01-25 08:00:00')";
    connection.execute(row, [id, workspace, status, subject]).unwrap();
}

/// A workspace with one role and one pending request in its queue.
pub fn workspace() -> Project {
    let project = Project::new();
    project.write(
        ".blue/config.yaml",
        "responsibilities: {workspace: dad_mode, queue: queue.sqlite, context_worker: context_curator, steward: jane}\n",
    );
    container(&project, "parenting_cos");
    insert(&database(&project), "req_1", "dad_mode", "pending", "Sum of allowances");
    project
}

/// The path of a file of `parenting_cos`.
pub fn own(name: &str) -> String {
    format!("registry/parenting_cos/{name}")
}

/// Runs a mandate for `parenting_cos` at a time, and returns its exit code.
pub fn mandate(project: &Project, name: &str, now: &str, flags: &[&str]) -> crate::support::Output {
    project.blue(&[&["mandate", name, "parenting_cos", "--now", now], flags].concat())
}

/// True if a program can be started.
pub fn has(program: &str) -> bool {
    std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())
        .any(|folder| Path::new(&folder).join(program).is_file())
}
