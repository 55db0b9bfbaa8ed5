//! `blue doctor`.

mod agents;
mod delivery;
mod hook;
mod project;
mod settings;

use std::path::Path;

use anstyle::{AnsiColor, Style};
use clap::Args;
use serde::Serialize;

use super::output::OutputFormat;
use super::{Exit, output};
use crate::model::Severity;
use crate::model::plural::counted;
use settings::Settings;

/// Flags of `blue doctor`.
#[derive(Args, Debug)]
pub(super) struct DoctorArgs {
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: OutputFormat,
}

/// Result of a check.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
enum CheckState {
    Ok,
    Warning,
    Problem,
}

/// A check and its result.
#[derive(Debug, Serialize)]
struct DoctorCheck {
    name: String,
    state: CheckState,
    detail: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

impl DoctorCheck {
    fn ok(name: impl Into<String>, detail: impl Into<String>) -> DoctorCheck {
        DoctorCheck { name: name.into(), state: CheckState::Ok, detail: detail.into(), hint: None }
    }

    fn warning(name: impl Into<String>, detail: impl Into<String>, hint: &str) -> DoctorCheck {
        let hint = Some(hint.to_string());
        DoctorCheck { name: name.into(), state: CheckState::Warning, detail: detail.into(), hint }
    }

    fn problem(name: impl Into<String>, detail: impl Into<String>, hint: &str) -> DoctorCheck {
        DoctorCheck { state: CheckState::Problem, ..DoctorCheck::warning(name, detail, hint) }
    }
}

impl DoctorCheck {
    /// Combines checks that passed into one line with a detail. Otherwise returns those that did not.
    fn group(name: &str, detail: String, checks: Vec<DoctorCheck>) -> Vec<DoctorCheck> {
        let failed: Vec<DoctorCheck> =
            checks.into_iter().filter(|check| check.state != CheckState::Ok).collect();
        if failed.is_empty() { vec![DoctorCheck::ok(name, detail)] } else { failed }
    }
}

#[derive(Serialize)]
struct DoctorReport<'a> {
    checks: &'a [DoctorCheck],
    n_warnings: usize,
    n_problems: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    received: Option<hook::Received>,
}

impl DoctorArgs {
    pub(super) fn run(&self, directory: &Path) -> anyhow::Result<Exit> {
        let folder = super::project::find(directory)?;
        let root = super::project::open(&folder)?;
        let mut checks = vec![project::folder(&root)];
        let mut received = None;
        if checks[0].state == CheckState::Ok {
            checks.extend(project::built(&root));
            checks.extend(project::bundles(&root));
            checks.push(project::local(&root));
            checks.extend(agents::scripts(&root));
        }
        let settings = Settings::read(root.path());
        checks.extend(agents::registered(root.path(), &settings));
        checks.extend(agents::on_path(&settings));
        if checks[0].state == CheckState::Ok {
            let (check, output) = hook::run(&root, &folder);
            checks.push(check);
            received = output;
        }
        let count = |state| checks.iter().filter(|check| check.state == state).count();
        let (n_warnings, n_problems) = (count(CheckState::Warning), count(CheckState::Problem));
        let report = DoctorReport { checks: &checks, n_warnings, n_problems, received };
        match self.format {
            OutputFormat::Json => {
                output::out(&format!("{}\n", serde_json::to_string_pretty(&report)?))?
            }
            OutputFormat::Text => print_report(&report)?,
        }
        Ok(if n_problems > 0 { Exit::FoundSomething } else { Exit::Done })
    }
}

fn print_report(report: &DoctorReport<'_>) -> anyhow::Result<()> {
    let width = report.checks.iter().map(|check| check.name.chars().count()).max().unwrap_or(0);
    for check in report.checks {
        let (word, style): (_, Style) = match check.state {
            CheckState::Ok => ("ok", AnsiColor::Green.on_default()),
            CheckState::Warning => ("warning", output::style(Severity::Warning)),
            CheckState::Problem => ("problem", output::style(Severity::Error)),
        };
        let detail = output::visible(&check.detail);
        let name = output::visible(&check.name);
        output::out(&format!("{style}{word:7}{style:#}  {name:width$}  {detail}\n"))?;
        if let Some(hint) = &check.hint {
            output::out(&format!("         {:width$}  hint: {}\n", "", output::visible(hint)))?;
        }
    }
    let summary = match (report.n_problems, report.n_warnings) {
        (0, 0) => "blue: all is well".to_string(),
        (problems, warnings) => {
            let (problems, warnings) = (counted(problems, "problem"), counted(warnings, "warning"));
            format!("blue: {problems}, {warnings}")
        }
    };
    output::out(&format!("{summary}\n"))
}
