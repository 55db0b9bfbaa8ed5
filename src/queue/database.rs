//! The connection to a queue: read-only, in one transaction, within limits.

use std::time::{Duration, Instant};

use anyhow::Context;
use rusqlite::config::DbConfig;
use rusqlite::ffi::ErrorCode;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags};
use rustix::fs::OFlags;

use super::SelectedRequests;
use super::rows::{self, Dialect, ForbiddenSteps};
use crate::root::{Root, stat_of};

/// Time after which a query is given up.
const MAX_TIME: Duration = Duration::from_secs(5);

/// Maximum bytes of a cell.
const MAX_CELL: i32 = 1 << 20;

/// Maximum number of rows of one selection.
pub(super) const MAX_ROWS: usize = 100_000;

/// Instructions of SQLite between two looks at the clock.
const STEPS: i32 = 10_000;

/// An open queue. All reads see the same moment.
pub struct RequestQueue {
    connection: Connection,
    path: String,
    dialect: Dialect,
    /// Found with the first selection.
    forbidden_steps: Option<ForbiddenSteps>,
}

impl RequestQueue {
    /// Opens a database below the root for reading. It must be a regular file and no link.
    pub fn open(root: &Root, path: &str) -> anyhow::Result<RequestQueue> {
        let found = root.stat(path).with_context(|| format!("open {path}"))?;
        anyhow::ensure!(
            found.is_some(),
            "{path} does not exist\nhint: correct responsibilities.queue in .blue/config.yaml"
        );
        let fd = root.open_at(path, OFlags::RDONLY).with_context(|| format!("open {path}"))?;
        let stat = rustix::fs::fstat(&fd).map_err(std::io::Error::from)?;
        let kind = rustix::fs::FileType::from_raw_mode(stat.st_mode);
        anyhow::ensure!(
            kind == rustix::fs::FileType::RegularFile,
            "{path} is not a regular file\nhint: correct responsibilities.queue in .blue/config.yaml"
        );
        let mut connection = connect(root, path).map_err(|error| explain(path, error))?;
        // SQLite opened the file by its name, so it could be another one than was checked.
        let now = root.stat(path)?.map(|(stat, _)| (stat.inode, stat.device));
        let checked = stat_of(&stat);
        anyhow::ensure!(
            now == Some((checked.inode, checked.device)),
            "{path} was replaced while it was opened\nhint: run the command again"
        );
        begin(&mut connection).map_err(|error| explain(path, error))?;
        let dialect = rows::dialect(&connection, path)?;
        Ok(RequestQueue { connection, path: path.to_string(), dialect, forbidden_steps: None })
    }

    /// Selects the open requests for a responsibility, and its status.
    pub fn select(&mut self, id: &str, workspace: &str) -> anyhow::Result<SelectedRequests> {
        limit_time(&mut self.connection, MAX_TIME).map_err(|error| explain(&self.path, error))?;
        let selected = rows::select(&self.connection, &self.dialect, id, workspace);
        let mut selection =
            selected.map_err(|error| match error.downcast::<rusqlite::Error>() {
                Ok(error) => explain(&self.path, error),
                Err(error) => error.context(self.path.clone()),
            })?;
        let steps = match self.forbidden_steps.take() {
            Some(steps) => steps,
            None => rows::forbidden_steps(&self.connection, &self.dialect)
                .map_err(|error| explain(&self.path, error))?,
        };
        let own = selection.requests.keys().filter_map(|id| steps.get(id));
        selection.findings.extend(own.flatten().cloned());
        selection.findings.sort();
        self.forbidden_steps = Some(steps);
        Ok(selection)
    }
}

/// Opens the file without write access, without following a link and without its own code.
fn connect(root: &Root, path: &str) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let connection = Connection::open_with_flags(root.path().join(path), flags)?;
    connection.busy_timeout(MAX_TIME)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, MAX_CELL)?;
    connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    connection.pragma_update(None, "query_only", true)?;
    Ok(connection)
}

/// Interrupts queries that take too long from now on.
fn limit_time(connection: &mut Connection, max: Duration) -> rusqlite::Result<()> {
    let started = Instant::now();
    connection.progress_handler(STEPS, Some(move || started.elapsed() > max))
}

/// Begins the one read transaction.
fn begin(connection: &mut Connection) -> rusqlite::Result<()> {
    limit_time(connection, MAX_TIME)?;
    connection.execute_batch("BEGIN")?;
    // The transaction begins with its first read.
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))
}

/// Words an error of SQLite with something to do about it.
fn explain(path: &str, error: rusqlite::Error) -> anyhow::Error {
    /// A journal that a writer left and that only a writer may play back.
    const READONLY_ROLLBACK: i32 = 776;
    let code = error.sqlite_error();
    let (cause, hint) = match code.map(|code| (code.code, code.extended_code)) {
        Some((_, READONLY_ROLLBACK)) => (
            "a writer was interrupted and left a journal; blue does not write to the queue".into(),
            "let the program that owns the queue open it once",
        ),
        Some((ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked, _)) => {
            ("it is locked by another program".to_string(), "run the command again later")
        }
        Some((ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt, _)) => {
            ("it is damaged, or no SQLite database".to_string(), "restore it from a backup")
        }
        Some((ErrorCode::OperationInterrupted, _)) => {
            ("reading it takes more than 5 seconds".to_string(), "archive closed requests")
        }
        Some((ErrorCode::TooBig, _)) => {
            ("a cell has more than 1 MiB".to_string(), "store large texts in files")
        }
        _ => (error.to_string(), "check the file with the program that owns it"),
    };
    anyhow::anyhow!("read {path}: {cause}\nhint: {hint}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_that_takes_too_long_is_given_up_and_named() {
        let mut connection = Connection::open_in_memory().expect("opened");
        limit_time(&mut connection, Duration::from_millis(20)).expect("limited");
        let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
        let error = connection.query_row(endless, [], |_| Ok(())).expect_err("it never ends");
        let text = explain("queue.sqlite", error).to_string();
        assert!(
            text.starts_with("read queue.sqlite: reading it takes more than 5 seconds\nhint: ")
        );
    }
}
