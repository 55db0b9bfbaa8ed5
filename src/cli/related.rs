//! `blue knowledge related` and `blue knowledge why`.

use std::path::Path;

use anyhow::Context;
use clap::Args;

use super::open::BuiltProject;
use super::output::OutputFormat;
use super::{Exit, for_path, output};
use crate::root::Root;
use crate::serve::global;
use crate::serve::related::{self, LIMIT, MAX_TOKENS, Related};
use crate::serve::related_text::{self, Reasons};
use crate::serve::search::SearchResult;

/// The flags of `blue knowledge related`.
#[derive(Args, Debug)]
pub(super) struct RelatedArgs {
    /// Question, words, path, id or address
    #[arg(required = true)]
    about: Vec<String>,
    /// Show the reasons for each document
    #[arg(long)]
    why: bool,
    /// Show at most N documents
    #[arg(long, value_name = "N", default_value_t = LIMIT)]
    limit: usize,
    /// Print at most this many tokens; the first document gets most of them
    #[arg(long, value_name = "TOKENS", default_value_t = MAX_TOKENS)]
    budget: u64,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: OutputFormat,
}

/// The flags of `blue knowledge why`.
#[derive(Args, Debug)]
pub(super) struct WhyArgs {
    /// Address or path of a document
    document: String,
    /// Address or path of another document
    other: String,
}

impl RelatedArgs {
    pub(super) fn run(&self, directory: &Path) -> anyhow::Result<Exit> {
        let typed = self.about.join(" ");
        let address = global::local_address(&typed);
        let is_global = address.is_some();
        let (project, about) = match address {
            Some(address) => (BuiltProject::open_global()?, address),
            None => {
                let project = BuiltProject::open(directory)?;
                let about = path_or_text(&project.root, directory, &typed);
                (project, about)
            }
        };
        let library = project.library();
        let row = related::row_of(&library, &about);
        let mut result = match row.map_err(|error| project.error(&typed, error))? {
            Some(row) => SearchResult::of(neighbours(&project, row)?),
            None => {
                let index = project.search_index()?;
                related::to_text(&library, &index, &about, self.limit, self.budget)
            }
        };
        result.found.truncate(self.limit);
        if is_global {
            global::related(&mut result.found, project.root.path());
        }
        output::out(&self.text(&project, &result)?)?;
        for note in related_text::notes(&result, &typed) {
            output::say(&format!("blue: {note}"));
        }
        Ok(if result.found.is_empty() { Exit::FoundSomething } else { Exit::Done })
    }

    fn text(&self, project: &BuiltProject, result: &SearchResult) -> anyhow::Result<String> {
        let library = project.library();
        if self.format == OutputFormat::Json {
            let catalogue = &library.built.catalogue;
            let entry = |found| related_text::entry(catalogue, found);
            let all: Vec<_> = result.found.iter().map(entry).collect();
            return Ok(format!("{}\n", serde_json::to_string_pretty(&all)?));
        }
        let reasons = if self.why { Reasons::Shown } else { Reasons::Hidden };
        Ok(related_text::text(&library, &result.found, self.budget, reasons))
    }
}

impl WhyArgs {
    pub(super) fn run(&self, directory: &Path) -> anyhow::Result<Exit> {
        let project = BuiltProject::open(directory)?;
        let catalogue = &project.built.catalogue;
        let row = |about: &str| {
            let row = related::row_of(&project.library(), about);
            row.map_err(|error| project.error(about, error))?.with_context(|| {
                format!("{about:?} is not a document\nhint: run `blue knowledge list`")
            })
        };
        let (document, other) = (row(&self.document)?, row(&self.other)?);
        let mut text = String::new();
        for (from, to) in [(document, other), (other, document)] {
            let related = neighbours(&project, from)?;
            let uri = catalogue.uri(to);
            text += &format!("{} → {uri}: ", catalogue.uri(from));
            match related.iter().position(|related| related.document.uri == uri) {
                Some(at) => {
                    let score = related[at].score;
                    text += &format!("{} of {}, score {score}\n", at + 1, related.len());
                    text += &related_text::reason_lines(&related[at]);
                }
                None => text += &format!("not among its {} nearest\n", related.len()),
            }
        }
        output::out(&text)?;
        Ok(Exit::Done)
    }
}

/// Returns the path below the root if the text names a file; otherwise the text itself.
fn path_or_text(root: &Root, directory: &Path, about: &str) -> String {
    let below = for_path::path_below_root(root, directory, Path::new(about)).ok();
    below.filter(|below| root.exists(below)).unwrap_or_else(|| about.to_string())
}

fn neighbours(project: &BuiltProject, row: usize) -> anyhow::Result<Vec<Related>> {
    let related = related::to_document(&project.library(), row)?;
    related.context("there is no relevance index\nhint: run `blue knowledge build`")
}
