//! `blue knowledge list`.

use std::path::Path;

use anyhow::Context;
use clap::{Args, ValueEnum};

use super::{Exit, output, project};
use crate::root::Root;
use crate::serve::Catalogue;

/// The flags of `blue knowledge list`.
#[derive(Args, Debug)]
pub(super) struct List {
    /// Only this collection or type: rfcs, adr.
    collection: Option<String>,
    /// Only documents that may be told as current.
    #[arg(long)]
    live: bool,
    /// How the list is written.
    #[arg(long, value_enum, default_value_t)]
    format: ListFormat,
}

#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
enum ListFormat {
    /// One line for each document: address, status, title.
    #[default]
    Text,
    /// One JSON array.
    Json,
}

impl List {
    pub(super) fn run(&self, directory: &Path) -> anyhow::Result<Exit> {
        let catalogue = catalogue(directory)?.1;
        let mut documents = catalogue.lines()?;
        if let Some(wanted) = &self.collection {
            let prefix = format!("blue://docs/{wanted}/");
            documents
                .retain(|document| document.uri.starts_with(&prefix) || document.kind == *wanted);
            if documents.is_empty() {
                output::say(&format!("blue: no collection or type {wanted:?}"));
                return Ok(Exit::FoundSomething);
            }
        }
        if self.live {
            documents.retain(|document| document.live);
        }
        match self.format {
            ListFormat::Json => {
                output::out(&format!("{}\n", serde_json::to_string_pretty(&documents)?))?
            }
            ListFormat::Text => {
                let width = documents
                    .iter()
                    .map(|document| document.uri.chars().count())
                    .max()
                    .unwrap_or(0)
                    .min(72);
                let mut text = String::new();
                for document in &documents {
                    let mark = if document.live { ' ' } else { '-' };
                    text.push_str(&format!(
                        "{mark} {:width$}  {:11}  {}\n",
                        document.uri,
                        document.status,
                        output::visible(&document.title)
                    ));
                }
                output::out(&text)?;
            }
        }
        Ok(Exit::Done)
    }
}

/// The catalogue of the project in or above a folder.
pub(super) fn catalogue(directory: &Path) -> anyhow::Result<(Root, Catalogue)> {
    let folder = project::find(directory)?;
    let root = project::open(&folder)?;
    let catalogue = Catalogue::open(&root)?;
    let catalogue =
        catalogue.context("nothing has been built here\nhint: run `blue knowledge build`")?;
    Ok((root, catalogue))
}
