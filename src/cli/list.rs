//! `blue knowledge list`.

use std::path::Path;

use clap::Args;

use super::open::BuiltProject;
use super::output::OutputFormat;
use super::{Exit, output};
use crate::wire::jsonl::DocumentLine;

/// The flags of `blue knowledge list`.
#[derive(Args, Debug)]
pub(super) struct ListArgs {
    /// Show only this collection or type: rfcs, adr
    collection: Option<String>,
    /// Show only live documents
    #[arg(long)]
    live: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: OutputFormat,
}

impl ListArgs {
    pub(super) fn run(&self, directory: &Path) -> anyhow::Result<Exit> {
        let project = BuiltProject::open(directory)?;
        let mut documents = project.built.catalogue.lines(self.collection.as_deref())?;
        if let Some(collection) = self.collection.as_ref().filter(|_| documents.is_empty()) {
            output::say(&format!("blue: no collection or type {collection:?}"));
            return Ok(Exit::FoundSomething);
        }
        documents.retain(|document| document.live || !self.live);
        output::out(&match self.format {
            OutputFormat::Json => format!("{}\n", serde_json::to_string_pretty(&documents)?),
            OutputFormat::Text => table(&documents),
        })?;
        Ok(Exit::Done)
    }
}

/// Formats a line for each document; `-` marks a document that is not live.
fn table(documents: &[DocumentLine]) -> String {
    let widths = documents.iter().map(|document| document.uri.chars().count());
    let width = widths.max().unwrap_or(0).min(72);
    let line = |document: &DocumentLine| {
        let mark = if document.live { ' ' } else { '-' };
        let title = output::visible(&document.title);
        format!("{mark} {:width$}  {:11}  {title}\n", document.uri, document.status)
    };
    documents.iter().map(line).collect()
}
