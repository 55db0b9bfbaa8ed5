//! The tables of a queue, in both dialects: `requests`, and the older `rfas`.

use std::collections::BTreeMap;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, Row};
use serde_json::Value;

use super::SelectedRequests;
use super::database::MAX_ROWS;
use crate::guard::{self, Allowed};
use crate::model::timestamp;
use crate::responsibility::container::is_id;
use crate::responsibility::inbox::{OPEN, Request};

/// Statuses that a request can have.
const STATUSES: [&str; 8] =
    ["created", "pending", "accepted", "deferred", "rejected", "cancelled", "expired", "completed"];

/// Steps that the state machine of requests allows.
const STEPS: [(&str, &str); 8] = [
    ("created", "pending"),
    ("pending", "accepted"),
    ("pending", "deferred"),
    ("pending", "rejected"),
    ("pending", "cancelled"),
    ("pending", "expired"),
    ("accepted", "completed"),
    ("deferred", "pending"),
];

/// Columns without which a table is no queue.
const NEEDED: [&str; 8] = [
    "id",
    "target_responsibility_id",
    "workspace_id",
    "status",
    "priority",
    "created_at",
    "subject",
    "summary",
];

/// Columns that are used if they exist.
const OPTIONAL: [&str; 5] = [
    "origin_responsibility_id",
    "available_at",
    "acknowledged_at",
    "sla_response_seconds",
    "sla_completion_seconds",
];

/// Columns of the older table.
const OLDER: [&str; 5] = ["id", "workspace_id", "status", "payload", "created_at"];

/// The tables of a queue.
pub(super) struct Dialect {
    is_older: bool,
    columns: Vec<&'static str>,
    has_events: bool,
    has_responsibilities: bool,
}

/// Finds out which tables a queue has. A view is refused, because reading it could run its code.
pub(super) fn dialect(connection: &Connection, path: &str) -> anyhow::Result<Dialect> {
    let kind = |name: &str| -> rusqlite::Result<Option<String>> {
        let query = "SELECT type FROM sqlite_schema WHERE name = ?1 AND type IN ('table', 'view')";
        connection.query_row(query, [name], |row| row.get(0)).optional()
    };
    let read = |name: &str| kind(name).map_err(|error| anyhow::anyhow!("read {path}: {error}"));
    let (table, is_older, needed): (&str, bool, &[&str]) = match (read("requests")?, read("rfas")?)
    {
        (Some(_), _) => ("requests", false, &NEEDED),
        (None, Some(_)) => ("rfas", true, &OLDER),
        (None, None) => anyhow::bail!(
            "read {path}: no table `requests` or `rfas`\nhint: correct responsibilities.queue in .blue/config.yaml"
        ),
    };
    anyhow::ensure!(
        read(table)?.as_deref() == Some("table"),
        "read {path}: `{table}` is a view; only tables are read\nhint: store the requests in a table"
    );
    let existing = columns(connection, table)?;
    for column in needed {
        anyhow::ensure!(
            existing.iter().any(|name| name == column),
            "read {path}: the table `{table}` has no column `{column}`\nhint: add it; see blue mandate --help"
        );
    }
    let optional = OPTIONAL.iter().filter(|name| existing.iter().any(|other| other == *name));
    let optional: Vec<&str> = if is_older { Vec::new() } else { optional.copied().collect() };
    Ok(Dialect {
        is_older,
        columns: needed.iter().copied().chain(optional).collect(),
        has_events: read("request_events")?.as_deref() == Some("table"),
        has_responsibilities: read("responsibilities")?.as_deref() == Some("table"),
    })
}

fn columns(connection: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare("SELECT name FROM pragma_table_info(?1)")?;
    let names = statement.query_map([table], |row| row.get(0))?;
    names.collect()
}

/// Selects the open requests of a responsibility, and its status.
pub(super) fn select(
    connection: &Connection,
    dialect: &Dialect,
    id: &str,
    workspace: &str,
) -> anyhow::Result<SelectedRequests> {
    let mut selection = SelectedRequests::default();
    let filter = if dialect.is_older { "" } else { " AND target_responsibility_id = ?2" };
    let table = if dialect.is_older { "rfas" } else { "requests" };
    // Closed requests are most of a queue. A status that is unknown is selected and reported.
    let closed: Vec<String> = STATUSES
        .iter()
        .filter(|status| !OPEN.contains(*status))
        .map(|status| format!("'{status}'"))
        .collect();
    let query = format!(
        "SELECT {} FROM {table} WHERE workspace_id = ?1{filter} AND status NOT IN ({})",
        dialect.columns.join(", "),
        closed.join(", ")
    );
    let mut statement = connection.prepare(&query)?;
    let mut rows = match dialect.is_older {
        true => statement.query([workspace])?,
        false => statement.query([workspace, id])?,
    };
    let mut n_rows = 0;
    while let Some(row) = rows.next()? {
        n_rows += 1;
        anyhow::ensure!(
            n_rows <= MAX_ROWS,
            "more than {MAX_ROWS} requests\nhint: archive closed requests"
        );
        let cells = Cells { row, columns: &dialect.columns };
        let read = if dialect.is_older { cells.older(id) } else { cells.request(id) };
        match read {
            Ok(Some(request)) => drop(selection.requests.insert(request.id.clone(), request)),
            Ok(None) => {}
            Err(finding) => selection.findings.push(finding),
        }
    }
    drop(rows);
    scan(&mut selection.requests);
    if dialect.has_responsibilities {
        let query =
            "SELECT CAST(status AS TEXT) FROM responsibilities WHERE id = ?1 AND workspace_id = ?2";
        let status = connection.query_row(query, [id, workspace], |row| row.get(0));
        selection.status = status.optional()?.flatten();
    }
    Ok(selection)
}

/// Steps of requests that the state machine does not allow, as findings, by the id of the request.
pub(super) type ForbiddenSteps = BTreeMap<String, Vec<String>>;

/// Finds all steps that the state machine does not allow, in one pass. A pass for each request would
/// take a look at all events each time where the table has no index.
pub(super) fn forbidden_steps(
    connection: &Connection,
    dialect: &Dialect,
) -> rusqlite::Result<ForbiddenSteps> {
    let mut found = ForbiddenSteps::new();
    if !dialect.has_events {
        return Ok(found);
    }
    // A `CASE` takes half of the time of `NOT IN`.
    let cases: String = STATUSES
        .iter()
        .map(|old| {
            let steps = STEPS.iter().filter(|(from, _)| from == old);
            let new: Vec<String> = steps.map(|(_, to)| format!("'{to}'")).collect();
            format!(" WHEN '{old}' THEN new_status IN ({})", new.join(", "))
        })
        .collect();
    let query = format!(
        "SELECT CAST(request_id AS TEXT), CAST(old_status AS TEXT), CAST(new_status AS TEXT) FROM request_events WHERE NOT CASE old_status{cases} ELSE 0 END AND old_status <> new_status AND request_id IS NOT NULL"
    );
    let mut statement = connection.prepare(&query)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let text = |at: usize| -> rusqlite::Result<String> {
            Ok(String::from_utf8_lossy(row.get_ref(at)?.as_bytes()?).into_owned())
        };
        let (id, old, new) = (text(0)?, text(1)?, text(2)?);
        let finding = format!("{id}: the step from {old:?} to {new:?} is not allowed");
        found.entry(id).or_default().push(finding);
    }
    Ok(found)
}

/// One row with the names of its columns.
struct Cells<'a, 'r> {
    row: &'a Row<'r>,
    columns: &'a [&'static str],
}

impl Cells<'_, '_> {
    fn cell(&self, name: &str) -> Option<ValueRef<'_>> {
        let at = self.columns.iter().position(|column| *column == name)?;
        self.row.get_ref(at).ok().filter(|value| *value != ValueRef::Null)
    }

    /// Returns a text as it is stored. It is scanned with those of the other rows.
    fn text(&self, name: &str) -> Option<String> {
        match self.cell(name)? {
            ValueRef::Text(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
            ValueRef::Integer(number) => Some(number.to_string()),
            _ => None,
        }
    }

    fn number(&self, name: &str) -> Option<i64> {
        match self.cell(name)? {
            ValueRef::Integer(number) => Some(number),
            ValueRef::Real(number) if number.fract() == 0.0 => Some(number as i64),
            ValueRef::Text(bytes) => std::str::from_utf8(bytes).ok()?.trim().parse().ok(),
            _ => None,
        }
    }

    fn time(&self, name: &str) -> Option<i64> {
        match self.cell(name)? {
            ValueRef::Integer(number) => timestamp::from_number(number),
            ValueRef::Text(bytes) => timestamp::parse(std::str::from_utf8(bytes).ok()?),
            _ => None,
        }
    }

    /// Reads a row of `requests`. `None` if the request is not open; the error is a finding.
    fn request(&self, target: &str) -> Result<Option<Request>, String> {
        let (id, status) = self.id_and_status()?;
        if !OPEN.contains(&status.as_str()) {
            return Ok(None);
        }
        let is_mistyped = |name: &str, is_read: bool| match is_read || self.cell(name).is_none() {
            true => Ok(()),
            false => Err(format!("{id}: {name} cannot be read; the request is left out")),
        };
        for name in ["created_at", "available_at", "acknowledged_at"] {
            is_mistyped(name, self.time(name).is_some())?;
        }
        for name in ["priority", "sla_response_seconds", "sla_completion_seconds"] {
            is_mistyped(name, self.number(name).is_some())?;
        }
        let subject = self.text("subject");
        is_mistyped("subject", subject.is_some())?;
        Ok(Some(Request {
            status,
            target: target.to_string(),
            origin: self.text("origin_responsibility_id").unwrap_or_default(),
            priority: self.number("priority").unwrap_or(100),
            subject: subject.or_else(|| self.text("summary")).unwrap_or_default(),
            created: self.time("created_at"),
            available: self.time("available_at").or_else(|| self.time("created_at")),
            acknowledged: self.time("acknowledged_at"),
            response_seconds: self.number("sla_response_seconds"),
            completion_seconds: self.number("sla_completion_seconds"),
            id,
        }))
    }

    /// Reads a row of `rfas`, whose payload is JSON with the same keys.
    fn older(&self, target: &str) -> Result<Option<Request>, String> {
        let (id, status) = self.id_and_status()?;
        let Some(ValueRef::Text(bytes)) = self.cell("payload") else {
            return Err(format!("{id}: payload is no text; the request is left out"));
        };
        let payload: Value = serde_json::from_slice(bytes)
            .map_err(|_| format!("{id}: payload is no JSON; the request is left out"))?;
        let text = |key: &str| payload.get(key).and_then(Value::as_str).map(str::to_string);
        let number = |key: &str| payload.get(key).and_then(Value::as_i64);
        let time = |key: &str| payload.get(key).and_then(Value::as_str).and_then(timestamp::parse);
        let stated = text("target_responsibility_id").or_else(|| text("target"));
        if stated.as_deref() != Some(target) || !OPEN.contains(&status.as_str()) {
            return Ok(None);
        }
        let created = self.time("created_at");
        Ok(Some(Request {
            status,
            target: target.to_string(),
            origin: text("origin_responsibility_id").or_else(|| text("origin")).unwrap_or_default(),
            priority: number("priority").unwrap_or(100),
            subject: text("subject").or_else(|| text("summary")).unwrap_or_default(),
            created,
            available: time("available_at").or(created),
            acknowledged: time("acknowledged_at"),
            response_seconds: number("sla_response_seconds"),
            completion_seconds: number("sla_completion_seconds"),
            id,
        }))
    }

    /// Returns the id and the status of a row. In the older table, `open` means pending.
    fn id_and_status(&self) -> Result<(String, String), String> {
        let plain = |name: &str| match self.cell(name) {
            Some(ValueRef::Text(bytes)) => String::from_utf8_lossy(bytes).into_owned(),
            _ => String::new(),
        };
        let id = plain("id");
        if !is_id(&id) {
            return Err(format!("{id:?} is not the id of a request; it is left out"));
        }
        let status = plain("status");
        let status = if status == "open" { "pending".to_string() } else { status };
        match STATUSES.contains(&status.as_str()) {
            true => Ok((id, status)),
            false => Err(format!("{id}: the status {status:?} is unknown; it is left out")),
        }
    }
}

/// Redacts secrets and hidden characters, because the texts are going to be committed.
fn scan(requests: &mut BTreeMap<String, Request>) {
    let allowed = Allowed::default();
    let texts = requests.values_mut().flat_map(|r| [&mut r.origin, &mut r.subject]);
    let texts: Vec<&mut String> = texts.collect();
    if !guard::are_clean(texts.iter().map(|text| text.as_str()), &allowed) {
        for text in texts {
            *text = guard::clean(text, &allowed).text.into_owned();
        }
    }
}
