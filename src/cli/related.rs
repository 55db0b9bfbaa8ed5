//! `blue knowledge related` and `blue knowledge why`.

use std::path::Path;

use anyhow::Context;
use clap::Args;
use serde_json::json;

use super::open::BuiltProject;
use super::output::OutputFormat;
use super::{Exit, for_path, output};
use crate::root::Root;
use crate::serve::related::{self, Related};

/// The flags of `blue knowledge related`.
#[derive(Args, Debug)]
pub(super) struct RelatedArgs {
    /// Address, path or words
    about: String,
    /// Show the reasons for each document
    #[arg(long)]
    why: bool,
    /// Show at most N documents
    #[arg(long, value_name = "N", default_value_t = 10)]
    limit: usize,
    /// Show only documents that have at most this many tokens in total
    #[arg(long, value_name = "TOKENS")]
    budget: Option<u64>,
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
        let project = BuiltProject::open(directory)?;
        let about = path_or_text(&project.root, directory, &self.about);
        let row = related::row_of(&project.library(), &about);
        let mut found = match row.map_err(|error| project.error(&about, error))? {
            Some(row) => neighbours(&project, row)?,
            None => {
                let catalogue = &project.built.catalogue;
                related::to_text(&project.root, catalogue, &about, self.limit).0
            }
        };
        found.truncate(self.limit);
        if let Some(budget) = self.budget {
            let mut rest = budget;
            found.retain(|related| {
                let after = rest.checked_sub(related.document.tokens);
                rest = after.unwrap_or(rest);
                after.is_some()
            });
        }
        output::out(&self.text(&found)?)?;
        if found.is_empty() {
            output::say(&format!(
                "blue: no document is related to {}",
                output::visible(&self.about)
            ));
            return Ok(Exit::FoundSomething);
        }
        Ok(Exit::Done)
    }

    fn text(&self, related: &[Related]) -> anyhow::Result<String> {
        if self.format == OutputFormat::Json {
            let entry = |related: &Related| {
                let line = &related.document;
                json!({
                    "uri": line.uri, "path": line.path, "title": line.title,
                    "status": line.status, "summary": line.summary, "tokens": line.tokens,
                    "score": related.score, "reasons": related.reasons,
                })
            };
            let all: Vec<_> = related.iter().map(entry).collect();
            return Ok(format!("{}\n", serde_json::to_string_pretty(&all)?));
        }
        let mut text = String::new();
        for related in related {
            let line = &related.document;
            text += &output::visible(&format!("{}  {}  ({})", line.uri, line.title, line.status));
            text.push('\n');
            if self.why {
                text += &reasons(related);
            }
        }
        Ok(text)
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
                    text += &reasons(&related[at]);
                }
                None => text += &format!("not among its {} nearest\n", related.len()),
            }
        }
        output::out(&text)?;
        Ok(Exit::Done)
    }
}

/// Formats the reasons for a document, one per line.
fn reasons(related: &Related) -> String {
    let lines = related.reasons.iter().map(|reason| format!("    {}\n", output::visible(reason)));
    lines.collect()
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
