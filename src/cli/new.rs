//! `blue new`.

use std::path::Path;

use clap::{Args, ValueEnum};
use serde::Serialize;

use super::branch_guard;
use super::build::BuildArgs;
use super::document_changes::{ChangeFlags, Changer};
use super::output::OutputFormat;
use super::{Exit, output};
use crate::emit;
use crate::lifecycle::{self, CreateOutcome, NewDocument, NewKind};

/// The flags of `blue new`.
#[derive(Args, Debug)]
pub(super) struct NewArgs {
    /// Type of the document
    #[arg(value_enum)]
    kind: KindName,
    /// Its title
    title: String,
    /// Its number [default: one more than the highest in all branches and working trees]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(0..1_000_000))]
    number: Option<u64>,
    /// Document that it comes from; for a plan, its RFC
    #[arg(long, value_name = "DOCUMENT")]
    from: Option<String>,
    /// Day that it states, in UTC [default: today]
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = parse_day)]
    date: Option<String>,
    /// Print the document; write nothing
    #[arg(long)]
    dry_run: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: OutputFormat,
}

/// Types of documents on the command line.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum KindName {
    /// A decision
    Adr,
    /// A request for comments
    Rfc,
    /// An investigation
    Spike,
    /// A product requirements document
    Prd,
    /// A conversation
    Dialogue,
    /// The plan of an RFC
    Plan,
}

/// The outcome as JSON.
#[derive(Serialize)]
struct NewReport<'a> {
    dry_run: bool,
    path: &'a str,
    number: Option<u64>,
    notes: &'a [String],
}

/// Accepts a day of the calendar.
fn parse_day(text: &str) -> Result<String, String> {
    let day: jiff::civil::Date = text.parse().map_err(|_| format!("{text} is not a day"))?;
    Ok(day.to_string())
}

impl NewArgs {
    pub(super) fn run(&self, directory: &Path) -> anyhow::Result<Exit> {
        let flags = ChangeFlags { dry_run: self.dry_run, ..ChangeFlags::default() };
        let changer = Changer::open(directory, &flags)?;
        let from = self.from.as_ref().map(|from| changer.find(from)).transpose()?;
        let kind = NewKind::ALL[self.kind as usize];
        let now = emit::now();
        let time = match self.date {
            Some(_) => "0000Z".to_string(),
            None => format!("{}{}Z", &now[11..13], &now[14..16]),
        };
        let date = self.date.as_deref().unwrap_or(&now[..10]);
        let new = NewDocument {
            kind,
            title: &self.title,
            number: self.number,
            from,
            supersedes: None,
            date,
            time: &time,
        };
        let refusal = |path: &str| branch_guard::refusal(&changer.root, path);
        let planned =
            match lifecycle::create(&changer.root, &changer.set, &new, self.dry_run, &refusal)? {
                CreateOutcome::Planned(planned) => planned,
                CreateOutcome::Refused(refusal) => {
                    output::error(&refusal.to_string());
                    return Ok(Exit::FoundSomething);
                }
            };
        let root = changer.release();
        if !self.dry_run {
            BuildArgs::default().build(&root)?;
        }
        for note in &planned.notes {
            output::say(&format!("blue: {}", output::shown(note)));
        }
        let (path, number, notes) = (&planned.path, planned.number, &planned.notes);
        match self.format {
            OutputFormat::Json => {
                let report = NewReport { dry_run: self.dry_run, path, number, notes };
                output::out(&format!("{}\n", serde_json::to_string(&report)?))?;
            }
            OutputFormat::Text if self.dry_run => {
                output::out(&format!(
                    "{}\n\n{}",
                    output::shown(path),
                    output::shown_lines(&planned.text)
                ))?;
            }
            OutputFormat::Text => output::out(&format!("{}\n", output::shown(path)))?,
        }
        Ok(Exit::Done)
    }
}
