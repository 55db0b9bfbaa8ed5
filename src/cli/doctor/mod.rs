//! `blue doctor`.

mod agents;
mod hook;
mod project;
mod settings;

use std::path::Path;

use anstyle::{AnsiColor, Style};
use clap::{Args, ValueEnum};
use serde::Serialize;

use super::{Exit, output};
use crate::model::Severity;
use crate::model::plural::counted;
use settings::Settings;

/// The flags of `blue doctor`.
#[derive(Args, Debug)]
pub(super) struct Doctor {
    /// How the report is written.
    #[arg(long, value_enum, default_value_t)]
    format: DoctorFormat,
}

#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
enum DoctorFormat {
    /// One line for each check.
    #[default]
    Text,
    /// One JSON object.
    Json,
}

/// How well it is.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
    Ok,
    Warning,
    Problem,
}

/// One thing that was looked at.
#[derive(Debug, Serialize)]
struct Check {
    name: String,
    state: State,
    detail: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

impl Check {
    fn ok(name: impl Into<String>, detail: impl Into<String>) -> Check {
        Check { name: name.into(), state: State::Ok, detail: detail.into(), hint: None }
    }

    fn warning(name: impl Into<String>, detail: impl Into<String>, hint: &str) -> Check {
        let hint = Some(hint.to_string());
        Check { name: name.into(), state: State::Warning, detail: detail.into(), hint }
    }

    fn problem(name: impl Into<String>, detail: impl Into<String>, hint: &str) -> Check {
        Check { state: State::Problem, ..Check::warning(name, detail, hint) }
    }
}

#[derive(Serialize)]
struct Report<'a> {
    checks: &'a [Check],
    n_warnings: usize,
    n_problems: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    received: Option<hook::Received>,
}

impl Doctor {
    pub(super) fn run(&self, directory: &Path) -> anyhow::Result<Exit> {
        let folder = super::project::find(directory)?;
        let root = super::project::open(&folder)?;
        let mut checks = vec![project::folder(&root)];
        let mut received = None;
        if checks[0].state == State::Ok {
            checks.extend(project::built(&root));
            checks.extend(project::bundles(&root));
            checks.push(project::local(&root));
            checks.extend(agents::scripts(&root));
        }
        let settings = Settings::read(root.path());
        checks.extend(agents::registered(root.path(), &settings));
        checks.extend(agents::on_path(&settings));
        if checks[0].state == State::Ok {
            let (check, what) = hook::run(&root, &folder);
            checks.push(check);
            received = what;
        }
        let count = |state| checks.iter().filter(|check| check.state == state).count();
        let (n_warnings, n_problems) = (count(State::Warning), count(State::Problem));
        let report = Report { checks: &checks, n_warnings, n_problems, received };
        match self.format {
            DoctorFormat::Json => {
                output::out(&format!("{}\n", serde_json::to_string_pretty(&report)?))?
            }
            DoctorFormat::Text => tell(&report)?,
        }
        Ok(if n_problems > 0 { Exit::FoundSomething } else { Exit::Done })
    }
}

fn tell(report: &Report<'_>) -> anyhow::Result<()> {
    let width = report.checks.iter().map(|check| check.name.chars().count()).max().unwrap_or(0);
    for check in report.checks {
        let (word, style): (_, Style) = match check.state {
            State::Ok => ("ok", AnsiColor::Green.on_default()),
            State::Warning => ("warning", output::style(Severity::Warning)),
            State::Problem => ("problem", output::style(Severity::Error)),
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
