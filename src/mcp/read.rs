//! Reads an address for a client, and logs the delivery.

use std::time::{Duration, Instant};

use super::failure::{Failure, shown};
use super::project::{Open, Project};
use crate::emit;
use crate::serve::address::{self, Resolved};
use crate::serve::log::{event_at, refusal_line, text_line};
use crate::serve::{ReadError, Text, global};
use crate::wire::audit::AuditLine;

/// Pause between two attempts to read a file that a build is replacing.
const PAUSE: Duration = Duration::from_millis(2);

/// Time limits of these attempts: while a build runs, and after a build was killed.
const WAIT_FOR_BUILD: Duration = Duration::from_secs(2);
const WAIT_FOR_KILLED_BUILD: Duration = Duration::from_millis(150);

/// Checks that an address is valid. This works before the first build.
pub(super) fn check(uri: &str) -> Result<(), Failure> {
    address::check(uri).map_err(|error| Failure::Read(error.into(), Vec::new()))
}

/// Resolves an address.
pub(super) fn resolve(project: &Project, open: &Open, uri: &str) -> Result<Resolved, Failure> {
    check(uri)?;
    let library = open.library(project)?;
    let resolved = address::resolve(library.root, library.built, library.work, uri);
    resolved.map_err(|error| failure(open, error.into()))
}

/// Adds similar addresses to an error.
pub(super) fn failure(open: &Open, error: ReadError) -> Failure {
    let candidates = match (&error, &open.built) {
        (ReadError::Address(error), Ok(built)) => error.candidates(built),
        _ => Vec::new(),
    };
    Failure::Read(error, candidates)
}

/// Reads an address, of the project or of the user's own knowledge.
pub(super) fn read(project: &Project, open: &Open, uri: &str) -> Result<Vec<Text>, Failure> {
    let Some(address) = global::local_address(uri) else {
        return read_here(project, open, uri);
    };
    check(uri)?;
    let project = project.global()?;
    let texts = read_here(project, &project.open(), &address).map_err(global_failure)?;
    Ok(texts.into_iter().map(|text| global::text(text, project.root.path())).collect())
}

/// Reads an address of the project.
///
/// At the end of a build, files are renamed one after the other, the manifest last. A read in between
/// waits for the manifest.
fn read_here(project: &Project, open: &Open, uri: &str) -> Result<Vec<Text>, Failure> {
    let started = Instant::now();
    let mut texts = read_once(project, open, uri);
    while matches!(texts, Err(Failure::Read(ReadError::Unreadable(..), _)))
        && project.is_changing(open)
        && started.elapsed() < time_limit(project)
    {
        std::thread::sleep(PAUSE);
        texts = read_once(project, &project.open(), uri);
    }
    texts
}

/// Converts the failure of the user's own project.
pub(super) fn global_failure(failure: Failure) -> Failure {
    match failure {
        Failure::Unbuilt(why) => Failure::Unbuilt(format!("the global knowledge: {why}").into()),
        Failure::Read(error, candidates) => {
            let candidates = candidates.iter().map(|uri| global::global_address(uri)).collect();
            Failure::Read(global::error(error), candidates)
        }
    }
}

fn time_limit(project: &Project) -> Duration {
    if emit::is_locked(&project.root) { WAIT_FOR_BUILD } else { WAIT_FOR_KILLED_BUILD }
}

fn read_once(project: &Project, open: &Open, uri: &str) -> Result<Vec<Text>, Failure> {
    check(uri)?;
    let texts = crate::serve::read::read(&open.library(project)?, uri);
    let texts = texts.map_err(|error| failure(open, error))?;
    // An agent receives an emitted file only if it was not changed since the build.
    match texts.iter().find(|text| text.stale && text.line.is_none()) {
        Some(text) => {
            let error = ReadError::Unreadable(text.path.clone(), "differs from the last build");
            Err(failure(open, error))
        }
        None => Ok(texts),
    }
}

/// Logs a delivery.
pub(super) fn record(project: &Project, event: &str, text: &Text) {
    let line = AuditLine {
        content_hash: text.hash.clone(),
        ..text_line(&text.uri, &text.path, &text.text, text.tokens)
    };
    project.record(&event_at(event, text.level), line);
}

/// Logs a refused address, and returns the failure.
pub(super) fn record_refusal(project: &Project, uri: &str, failure: Failure) -> Failure {
    if failure.is_refusal() {
        project.record("refused", refusal_line(&shown(uri)));
    }
    failure
}
