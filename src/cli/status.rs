//! `blue status`.

use std::path::Path;

use clap::Args;

use super::open::BuiltProject;
use super::review::Review;
use super::status_set::StatusCommand;
use super::{Exit, build, output};
use crate::serve::{AuditLog, status};

/// The flags of `blue status`.
#[derive(Args, Debug)]
pub(super) struct StatusArgs {
    #[command(subcommand)]
    command: Option<StatusCommand>,
}

impl StatusArgs {
    pub(super) fn run(&self, directory: &Path) -> anyhow::Result<Exit> {
        if let Some(StatusCommand::Set(set)) = &self.command {
            return set.run(directory);
        }
        let project = BuiltProject::open(directory)?;
        let status = status::status(&project.library(), build::is_stale(&project.root));
        let work = match &status.work {
            Ok(work) => work.bundle.clone(),
            Err(error) => error.to_string(),
        };
        let built = match status.stale {
            true => "stale: run `blue knowledge build`",
            false => "current",
        };
        let log = AuditLog::open(&project.root, None);
        let last = log.lines.last().map_or("nothing yet".to_string(), |line| {
            format!("{} to {} at {}", line.source, line.session_id, line.timestamp)
        });
        let mut text = format!(
            "Documents  {}, {} live\nWork       {}\nBuilt      {built}\nDelivered  {}\n",
            status.n_documents,
            status.n_live,
            output::shown(&work),
            output::visible(&last)
        );
        text += &Review::find(&project.root, &project.built, &log).line();
        text.extend(status.hint.map(|hint| format!("hint: {hint}\n")));
        let hints = status.hints.iter().map(|hint| format!("hint: {}\n", output::shown(hint)));
        text.extend(hints);
        output::out(&text)?;
        Ok(Exit::Done)
    }
}
