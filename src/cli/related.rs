//! `blue knowledge related` and `blue knowledge why`.

use std::path::Path;

use anyhow::Context;
use clap::Args;
use serde_json::json;

use super::list::catalogue;
use super::output::Format;
use super::{Exit, for_path, output, usage};
use crate::root::Root;
use crate::serve::{Catalogue, Lookup, related};

/// The flags of `blue knowledge related`.
#[derive(Args, Debug)]
pub(super) struct Related {
    /// An address, a path, or words.
    about: String,
    /// Say why each is near.
    #[arg(long)]
    why: bool,
    /// At most so many.
    #[arg(long, value_name = "N", default_value_t = 10)]
    limit: usize,
    /// As many as can be read whole with so many tokens.
    #[arg(long, value_name = "TOKENS")]
    budget: Option<u64>,
    /// How it is written.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// The flags of `blue knowledge why`.
#[derive(Args, Debug)]
pub(super) struct Why {
    /// The document at hand: an address or a path.
    one: String,
    /// The other one.
    other: String,
}

impl Related {
    pub(super) fn run(&self, directory: &Path) -> anyhow::Result<Exit> {
        let (root, catalogue) = catalogue(directory)?;
        let about = path_or_text(&root, directory, &self.about);
        let mut near = match row_of(&catalogue, &about)? {
            Some(row) => of_document(&root, &catalogue, row)?,
            None => related::to_text(&root, &catalogue, &about, self.limit).0,
        };
        near.truncate(self.limit);
        if let Some(budget) = self.budget {
            let mut left = budget;
            near.retain(|near| match left.checked_sub(near.document.tokens) {
                Some(rest) => {
                    left = rest;
                    true
                }
                None => false,
            });
        }
        output::out(&self.text(&near)?)?;
        if near.is_empty() {
            output::say(&format!("blue: nothing is near {}", output::visible(&self.about)));
            return Ok(Exit::FoundSomething);
        }
        Ok(Exit::Done)
    }

    fn text(&self, near: &[related::Related]) -> anyhow::Result<String> {
        if self.format == Format::Json {
            let all: Vec<_> = near
                .iter()
                .map(|near| {
                    let line = &near.document;
                    json!({
                        "uri": line.uri, "path": line.path, "title": line.title,
                        "status": line.status, "summary": line.summary, "tokens": line.tokens,
                        "score": near.score, "reasons": near.reasons,
                    })
                })
                .collect();
            return Ok(format!("{}\n", serde_json::to_string_pretty(&all)?));
        }
        let mut text = String::new();
        for near in near {
            let line = &near.document;
            text += &output::visible(&format!("{}  {}  ({})", line.uri, line.title, line.status));
            text.push('\n');
            if self.why {
                let lines = near.reasons.iter().map(|reason| output::visible(reason));
                text.extend(lines.map(|reason| format!("    {reason}\n")));
            }
        }
        Ok(text)
    }
}

impl Why {
    pub(super) fn run(&self, directory: &Path) -> anyhow::Result<Exit> {
        let (root, catalogue) = catalogue(directory)?;
        let row = |about: &str| {
            row_of(&catalogue, about)?.with_context(|| {
                format!("{about:?} is no document\nhint: run `blue knowledge list`")
            })
        };
        let (one, other) = (row(&self.one)?, row(&self.other)?);
        let mut text = String::new();
        for (from, to) in [(one, other), (other, one)] {
            let near = of_document(&root, &catalogue, from)?;
            let uri = catalogue.uri(to);
            let head = format!("{} → {uri}", catalogue.uri(from));
            match near.iter().position(|near| near.document.uri == uri) {
                Some(at) => {
                    text += &format!(
                        "{head}: {} of {}, score {}\n",
                        at + 1,
                        near.len(),
                        near[at].score
                    );
                    let lines = near[at].reasons.iter().map(|reason| output::visible(reason));
                    text.extend(lines.map(|reason| format!("    {reason}\n")));
                }
                None => text += &format!("{head}: not among its {} nearest\n", near.len()),
            }
        }
        output::out(&text)?;
        Ok(Exit::Done)
    }
}

/// The document that an address or a path means. `None` if the text is neither.
fn row_of(catalogue: &Catalogue, about: &str) -> anyhow::Result<Option<usize>> {
    if !about.contains("://") {
        return Ok(catalogue.row_of_path(about.trim_start_matches("./")));
    }
    match catalogue.look_up(about) {
        Lookup::Document(row) => Ok(Some(row)),
        Lookup::File(_) => anyhow::bail!("{about} is no document\nhint: run `blue knowledge list`"),
        Lookup::Several(all) => {
            anyhow::bail!("{about} fits several documents\nhint: say which: {}", all.join(", "))
        }
        Lookup::Nothing => {
            let near = catalogue.near(about).join(" or ");
            anyhow::bail!("nothing at {about}\nhint: did you mean {near}?")
        }
        Lookup::Refused(refusal) => anyhow::bail!("{about:?} is refused: {refusal}"),
    }
}

/// A path below the root where the text names a file here; else the text as it is.
fn path_or_text(root: &Root, directory: &Path, about: &str) -> String {
    let below = for_path::below(root, directory, Path::new(about)).ok();
    below.filter(|below| root.exists(below)).unwrap_or_else(|| about.to_string())
}

fn of_document(
    root: &Root,
    catalogue: &Catalogue,
    row: usize,
) -> anyhow::Result<Vec<related::Related>> {
    let overlay = usage::overlay(root);
    let near = related::to_document(root, catalogue, &overlay, catalogue.uri(row))?;
    near.context("there is no relevance index\nhint: run `blue knowledge build`")
}
