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
    /// Show only documents that together take at most this many tokens
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
    one: String,
    /// Address or path of another document
    other: String,
}

impl RelatedArgs {
    pub(super) fn run(&self, directory: &Path) -> anyhow::Result<Exit> {
        let project = BuiltProject::open(directory)?;
        let about = path_or_text(&project.root, directory, &self.about);
        let row = related::row_of(&project.library(), &about);
        let mut near = match row.map_err(|error| project.error(&about, error))? {
            Some(row) => neighbours(&project, row)?,
            None => {
                let catalogue = &project.built.catalogue;
                related::to_text(&project.root, catalogue, &about, self.limit).0
            }
        };
        near.truncate(self.limit);
        if let Some(budget) = self.budget {
            let mut rest = budget;
            near.retain(|near| {
                let after = rest.checked_sub(near.document.tokens);
                rest = after.unwrap_or(rest);
                after.is_some()
            });
        }
        output::out(&self.text(&near)?)?;
        if near.is_empty() {
            output::say(&format!("blue: nothing is near {}", output::visible(&self.about)));
            return Ok(Exit::FoundSomething);
        }
        Ok(Exit::Done)
    }

    fn text(&self, near: &[Related]) -> anyhow::Result<String> {
        if self.format == OutputFormat::Json {
            let entry = |near: &Related| {
                let line = &near.document;
                json!({
                    "uri": line.uri, "path": line.path, "title": line.title,
                    "status": line.status, "summary": line.summary, "tokens": line.tokens,
                    "score": near.score, "reasons": near.reasons,
                })
            };
            let all: Vec<_> = near.iter().map(entry).collect();
            return Ok(format!("{}\n", serde_json::to_string_pretty(&all)?));
        }
        let mut text = String::new();
        for near in near {
            let line = &near.document;
            text += &output::visible(&format!("{}  {}  ({})", line.uri, line.title, line.status));
            text.push('\n');
            if self.why {
                text += &reasons(near);
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
                format!("{about:?} is no document\nhint: run `blue knowledge list`")
            })
        };
        let (one, other) = (row(&self.one)?, row(&self.other)?);
        let mut text = String::new();
        for (from, to) in [(one, other), (other, one)] {
            let near = neighbours(&project, from)?;
            let uri = catalogue.uri(to);
            text += &format!("{} → {uri}: ", catalogue.uri(from));
            match near.iter().position(|near| near.document.uri == uri) {
                Some(at) => {
                    let score = near[at].score;
                    text += &format!("{} of {}, score {score}\n", at + 1, near.len());
                    text += &reasons(&near[at]);
                }
                None => text += &format!("not among its {} nearest\n", near.len()),
            }
        }
        output::out(&text)?;
        Ok(Exit::Done)
    }
}

/// The reasons for a document, a line each.
fn reasons(related: &Related) -> String {
    let lines = related.reasons.iter().map(|reason| format!("    {}\n", output::visible(reason)));
    lines.collect()
}

/// The path below the root if the text names a file here; else the text itself.
fn path_or_text(root: &Root, directory: &Path, about: &str) -> String {
    let below = for_path::below(root, directory, Path::new(about)).ok();
    below.filter(|below| root.exists(below)).unwrap_or_else(|| about.to_string())
}

fn neighbours(project: &BuiltProject, row: usize) -> anyhow::Result<Vec<Related>> {
    let near = related::to_document(&project.library(), row)?;
    near.context("there is no relevance index\nhint: run `blue knowledge build`")
}
