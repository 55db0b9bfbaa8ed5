//! `blue status set`.

use std::path::Path;

use clap::{Args, Subcommand};

use super::document_changes::{ChangeFlags, Changer};
use super::{Exit, output};
use crate::lifecycle::{self, StatusChange};
use crate::model::{Status, status_words};

/// Subcommands of `blue status`.
#[derive(Debug, Subcommand)]
pub(super) enum StatusCommand {
    /// Change the status of a document, in its header and its name; links to it follow
    #[command(
        after_help = "Examples:\n  blue status set blue://docs/rfcs/16 accepted\n  blue status set 0016 wip --dry-run\n  blue status set adr/5 superseded --by blue://docs/adrs/12\n\nThe order is draft, proposed, accepted, in progress (wip), implemented (impl). A document can\nbecome superseded (super), rejected or deprecated at any time. Other steps need --force.\nAll files change in one transaction or none.\nExit codes: 0 done, 1 refused, 2 could not run; nothing changed unless 0."
    )]
    Set(StatusSetArgs),
}

/// The flags of `blue status set`.
#[derive(Args, Debug)]
pub(super) struct StatusSetArgs {
    /// Address, path, number or slug of the document
    #[arg(value_name = "DOCUMENT")]
    document: String,
    /// New status
    #[arg(value_name = "STATUS", required = true, num_args = 1..=2, value_parser = status_word)]
    status: Vec<String>,
    /// Document that replaces it, for `superseded`
    #[arg(long, value_name = "DOCUMENT")]
    by: Option<String>,
    /// Allow a step that does not follow the present status
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    flags: ChangeFlags,
}

/// Accepts one word of a status.
fn status_word(word: &str) -> Result<String, String> {
    Ok(word.to_lowercase())
}

/// Returns the status that a user typed.
fn parse_status(words: &[String]) -> anyhow::Result<Status> {
    let typed = words.join(" ").replace(['-', '_'], " ");
    let settable = [
        Status::Draft,
        Status::Proposed,
        Status::Accepted,
        Status::Active,
        Status::Implemented,
        Status::Superseded,
        Status::Rejected,
        Status::Deprecated,
    ];
    let status = status_words::parse(&typed).filter(|status| settable.contains(status));
    status.ok_or_else(|| {
        anyhow::anyhow!(
            "no status {typed:?}\nhint: draft, proposed, accepted, in-progress, implemented, superseded, rejected or deprecated"
        )
    })
}

impl StatusSetArgs {
    pub(super) fn run(&self, directory: &Path) -> anyhow::Result<Exit> {
        let status = parse_status(&self.status)?;
        let changer = Changer::open(directory, &self.flags)?;
        let id = changer.find(&self.document)?;
        let by = self.by.as_ref().map(|by| changer.find(by)).transpose()?;
        let others = changer.others()?;
        let change = StatusChange { id, status, by, force: self.force, others: &others };
        match lifecycle::set_status(&changer.root, &changer.set, &change)? {
            Ok(planned) => {
                let document = changer.set.survey.graph.document(id);
                let path = document.path.clone();
                let head = format!("{path}: {} → {status}", document.status);
                changer.apply(&head, Some(&path), planned)
            }
            Err(refusal) => {
                output::error(&format!("{}: {refusal}", self.document));
                Ok(Exit::FoundSomething)
            }
        }
    }
}
