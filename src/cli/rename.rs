//! `blue rename`.

use std::path::Path;

use clap::Args;

use super::document_changes::{ChangeFlags, Changer};
use super::{Exit, output};
use crate::lifecycle::{self, NewName};

/// The flags of `blue rename`.
#[derive(Args, Debug)]
#[group(id = "name", required = true, multiple = true, args = ["title", "number"])]
pub(super) struct RenameArgs {
    /// Address, path, number or slug of the document
    #[arg(value_name = "DOCUMENT")]
    document: String,
    /// New title, in the document and in its file name
    #[arg(long, value_name = "TITLE")]
    title: Option<String>,
    /// New number
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(0..1_000_000))]
    number: Option<u64>,
    #[command(flatten)]
    flags: ChangeFlags,
}

impl RenameArgs {
    pub(super) fn run(&self, directory: &Path) -> anyhow::Result<Exit> {
        let changer = Changer::open(directory, &self.flags)?;
        let id = changer.find(&self.document)?;
        let others = changer.others()?;
        let (title, number) = (self.title.as_deref(), self.number);
        let name = NewName { id, title, number, others: &others };
        match lifecycle::rename(&changer.root, &changer.set, &name)? {
            Ok(planned) => {
                let path = changer.set.survey.graph.document(id).path.clone();
                changer.apply(&path, Some(&path), planned)
            }
            Err(refusal) => {
                output::error(&format!("{}: {refusal}", self.document));
                Ok(Exit::FoundSomething)
            }
        }
    }
}
