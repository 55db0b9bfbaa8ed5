//! `blue knowledge build`.

use std::path::Path;
use std::time::Instant;

use clap::Args;

use super::open::update_usage;
use super::progress::Bar;
use super::{Exit, ReportFormat, installation, known_warnings, output, project, report};
use crate::build::{self, Options, Outcome};
use crate::model::Counts;
use crate::model::plural::counted;
use crate::root::Root;

/// The flags of `blue knowledge build`.
#[derive(Args, Debug, Default)]
pub(super) struct BuildArgs {
    /// Write nothing; exit 1 if an emitted file is stale, edited by hand or missing
    #[arg(long)]
    check: bool,
    /// Ignore all caches
    #[arg(long)]
    force: bool,
    /// Print for each artifact why it was or was not rebuilt
    #[arg(long)]
    explain: bool,
    /// Use N threads [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
    /// Output format of findings
    #[arg(long, value_enum, default_value_t)]
    format: ReportFormat,
}

impl BuildArgs {
    pub(super) fn run(&self, directory: &Path) -> anyhow::Result<Exit> {
        let started = Instant::now();
        let folder = project::find(directory)?;
        let root = match self.check {
            true => project::open(&folder)?,
            false => project::open_to_write(&folder)?,
        };
        let outcome = self.build(&root)?;
        if !self.check {
            update_usage(&root);
            for path in installation::restore_scripts(&root)? {
                output::say(&format!("blue: restored {path}"));
            }
        }
        if self.explain {
            let lines = outcome
                .fates
                .iter()
                .map(|fate| format!("{}: {}\n", output::visible(&fate.path), fate.reason));
            let lines: String = lines.collect();
            // Standard output has the findings in the requested format.
            match self.format {
                ReportFormat::Text => output::out(&lines)?,
                _ => output::say(lines.trim_end()),
            }
        }
        match (self.check, self.format) {
            (false, ReportFormat::Text) => report_build(&root, &outcome, started)?,
            (check, format) => {
                let min_severity = report::MinSeverity::Warning;
                report::report(format, &outcome.diagnostics, &outcome.accepted, min_severity)?;
                output::say(&summary(&outcome, check, started, 0));
            }
        }
        Ok(if outcome.counts().errors > 0 { Exit::FoundSomething } else { Exit::Done })
    }

    /// Returns the flags of `--check`.
    pub(super) fn check() -> BuildArgs {
        BuildArgs { check: true, ..BuildArgs::default() }
    }

    /// Builds with a progress bar. Prints a message if the build waits for a lock.
    pub(super) fn build(&self, root: &Root) -> anyhow::Result<Outcome> {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        let bar = Bar::new();
        let options = Options {
            check: self.check,
            force: self.force,
            explain: self.explain,
            source_date_epoch: source_date_epoch(),
            waiting: &output::wait_for,
            progress: &bar,
            threads: Some(self.jobs.map_or_else(cores, usize::from)),
        };
        build::build(root, &options)
    }
}

/// Prints the findings that the last build did not report, and a summary of the build.
pub(super) fn report_build(root: &Root, outcome: &Outcome, started: Instant) -> anyhow::Result<()> {
    let (new, n_known) = known_warnings::without_known(root, outcome);
    report::report(ReportFormat::Text, &new, &[], report::MinSeverity::Warning)?;
    output::say(&summary(outcome, false, started, n_known));
    Ok(())
}

/// Returns the summary of a build or a check. `n_known` findings were reported before.
fn summary(outcome: &Outcome, check: bool, started: Instant, n_known: u64) -> String {
    let mut counts = outcome.counts();
    let n_not_current = outcome.not_current().count() as u64;
    counts.errors -= n_not_current;
    let found = finding_counts(&counts, n_known);
    if check {
        return match n_not_current {
            0 => format!("blue: current{found}"),
            1 => format!("blue: 1 of the emitted files is not current{found}"),
            n => format!("blue: {n} of the emitted files are not current{found}"),
        };
    }
    if !outcome.wrote() {
        return format!("blue: nothing to do{found}");
    }
    let written: Vec<&str> =
        outcome.fates.iter().filter(|fate| fate.written).map(|fate| fate.path.as_str()).collect();
    let shown =
        written.iter().take(6).map(|path| output::visible(path)).collect::<Vec<_>>().join(", ");
    let more =
        if written.len() > 6 { format!(" and {} more", written.len() - 6) } else { String::new() };
    format!(
        "blue: {}, {} live; wrote {shown}{more} in {} ms{found}",
        counted(outcome.n_documents, "document"),
        outcome.n_live,
        started.elapsed().as_millis()
    )
}

/// Returns the number of findings for the end of a summary; empty if there are none.
fn finding_counts(counts: &Counts, n_known: u64) -> String {
    let kinds = [(counts.errors, "error"), (counts.warnings, "warning")];
    let mut parts: Vec<String> =
        kinds.into_iter().filter(|(n, _)| *n > 0).map(|(n, noun)| counted(n, noun)).collect();
    if n_known > 0 {
        parts.push(format!("{n_known} of them reported before"));
    }
    if counts.accepted > 0 {
        parts.push(format!("{} accepted", counts.accepted));
    }
    match parts.is_empty() {
        true => String::new(),
        false => format!("; {} (blue knowledge lint)", parts.join(", ")),
    }
}

/// Returns true if an input changed since the last build. Errors count as a change, because the next
/// build reports them.
pub(super) fn is_stale(root: &Root) -> bool {
    build::is_stale(root).unwrap_or(true)
}

/// Returns the date for reproducible builds.
#[expect(
    clippy::disallowed_methods,
    reason = "the only variable that may set a date, and it is read here only"
)]
pub(super) fn source_date_epoch() -> Option<String> {
    std::env::var("SOURCE_DATE_EPOCH").ok()
}
