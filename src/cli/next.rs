//! `blue next`.

use std::path::Path;

use clap::Args;
use serde_json::json;

use super::open::BuiltProject;
use super::output::OutputFormat;
use super::responsibility::time;
use super::status::ProjectActivity;
use super::{Exit, output};
use crate::model::plural::counted;
use crate::serve::next::{Recommendations, recommend};

/// The flags of `blue next`.
#[derive(Args, Debug)]
pub(super) struct NextArgs {
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: OutputFormat,
    /// Show at most N recommendations
    #[arg(long, value_name = "N", default_value_t = 5)]
    limit: usize,
    /// Use this time instead of the clock
    #[arg(long, value_name = "RFC 3339")]
    now: Option<String>,
}

impl NextArgs {
    pub(super) fn run(&self, directory: &Path) -> anyhow::Result<Exit> {
        let now = time(self.now.as_deref())?;
        let project = BuiltProject::open(directory)?;
        let ProjectActivity { works, notes, .. } = ProjectActivity::read(&project, now);
        let found = recommend(&project.library(), works, self.limit);
        match self.format {
            OutputFormat::Json => {
                let value = json!({"version": 1, "current": found.current, "next": found.next,
                    "notes": notes});
                output::copy(format!("{}\n", serde_json::to_string_pretty(&value)?).as_bytes())?;
            }
            OutputFormat::Text => output::out(&text(&found, &notes))?,
        }
        Ok(Exit::Done)
    }
}

fn text(found: &Recommendations, notes: &[String]) -> String {
    let mut text = String::new();
    if let Some(work) = &found.current {
        let tasks = counted(work.open_tasks, "open task");
        text += &format!("Current  {}: {tasks}\n", output::shown(&work.title));
    }
    for (i, next) in found.next.iter().enumerate() {
        text += &format!(
            "{:2}. {} {}: {}\n    {}\n",
            i + 1,
            next.work.activity.level.icon().trim(),
            output::shown(&next.work.title),
            output::shown(&next.reason),
            output::shown(&next.command)
        );
    }
    if found.next.is_empty() {
        text += "nothing else is open, or all of it is worked on\n";
    }
    text.extend(notes.iter().map(|note| format!("note: {}\n", output::shown(note))));
    text
}
