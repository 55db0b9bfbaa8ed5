//! `blue context reference`: the documents near the current work, read on demand.

use std::io::IsTerminal;
use std::path::Path;

use anyhow::Context;
use clap::Args;

use super::delivery::Delivery;
use super::{Exit, output, usage};
use crate::build::reader::{Reader, Unread};
use crate::emit;
use crate::model::Digest;
use crate::model::escape::escape;
use crate::model::plural::counted;
use crate::serve::reference::{Near, near};
use crate::serve::{Catalogue, Lookup, bundles};
use crate::verify;
use crate::wire::audit::AuditLine;
use crate::wire::session::short_id;

/// The flags of `blue context reference`.
#[derive(Args, Debug)]
pub(super) struct Reference {
    /// The document to look around; default: the current work.
    uri: Option<String>,
    /// Read every near document whole, whatever it costs. Asks first.
    #[arg(long)]
    all: bool,
    /// Do not ask.
    #[arg(long, short)]
    yes: bool,
    /// The agent's own name of its session, for the log.
    #[arg(long, value_name = "ID", default_value = "")]
    session: String,
}

impl Reference {
    pub(super) fn run(&self, directory: &Path) -> anyhow::Result<Exit> {
        let delivery = Delivery::open(directory)?;
        let catalogue = Catalogue::open(&delivery.root)?
            .context("nothing has been built here\nhint: run `blue knowledge build`")?;
        let uri = self.document(&delivery, &catalogue)?;
        let max_tokens = match verify::manifest(&delivery.root)? {
            Some(Ok((manifest, _))) => manifest.reference.max_tokens,
            _ => anyhow::bail!("there is no manifest to trust\nhint: run `blue knowledge build`"),
        };
        let near =
            near(&delivery.root, &catalogue, &usage::overlay(&delivery.root), &uri, max_tokens)?
                .with_context(|| format!("{uri} is not in the relevance index"))?;
        let n_tokens: u64 = near.iter().map(|near| near.document.tokens).sum();
        if self.all && n_tokens > max_tokens && !self.agreed(near.len(), n_tokens, max_tokens)? {
            return Ok(Exit::FoundSomething);
        }
        let whole: Vec<&Near> = near.iter().filter(|near| near.fits || self.all).collect();
        let titles: Vec<String> = whole.iter().map(|near| head(near)).collect();
        if !titles.is_empty() {
            output::say(&format!("Reading related: {}", titles.join(", ")));
        }
        for near in &near {
            match near.fits || self.all {
                true => self.tell(&delivery, near)?,
                false => output::out(&format!("{}\n", line(near)))?,
            }
        }
        Ok(Exit::Done)
    }

    /// The document meant: an address, or the current work's.
    fn document(&self, delivery: &Delivery, catalogue: &Catalogue) -> anyhow::Result<String> {
        let Some(uri) = &self.uri else {
            let bundle = delivery
                .current()
                .context("there is no current work\nhint: name a document: blue context reference blue://docs/rfcs/16")?;
            return bundles::document(bundle)
                .map(str::to_string)
                .context("the bundle has no address");
        };
        match catalogue.look_up(uri) {
            Lookup::Document(row) => Ok(catalogue.uri(row).to_string()),
            Lookup::File(_) => {
                anyhow::bail!("{uri} is no document\nhint: run `blue knowledge list`")
            }
            Lookup::Several(all) => anyhow::bail!("{uri} fits {}", all.join(" and ")),
            Lookup::Nothing => {
                anyhow::bail!("{uri} is nothing here\nhint: run `blue knowledge list`")
            }
            Lookup::Refused(refusal) => anyhow::bail!("{uri}: {refusal}"),
        }
    }

    /// Whether somebody wants to pay for more than the budget.
    fn agreed(&self, n: usize, n_tokens: u64, max_tokens: u64) -> anyhow::Result<bool> {
        if self.yes {
            return Ok(true);
        }
        let cost = format!(
            "{}, about {}; the budget is {max_tokens}",
            counted(n, "document"),
            counted(n_tokens, "token")
        );
        if !std::io::stdin().is_terminal() {
            output::say(&format!("blue: {cost}\nhint: add --yes to read them all"));
            return Ok(false);
        }
        output::say(&format!("blue: {cost}. Read them all? [y/N]"));
        let mut answer = String::new();
        std::io::stdin().read_line(&mut answer)?;
        Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
    }

    /// Prints a document as it is now, and notes it.
    fn tell(&self, delivery: &Delivery, near: &Near) -> anyhow::Result<()> {
        let document = &near.document;
        let said = match Reader::new(&delivery.root).document(&delivery.root, document) {
            // The index can come with a hostile clone. It names what may be read by its digest, so nothing
            // can be read that its author did not have.
            Ok(read) if !read.stale => Ok(read.text),
            Ok(_) => Err("is not what was built"),
            Err(Unread::Denied) => Err("is on the deny-list"),
            Err(Unread::NoDocument) => Err("is no document"),
            Err(Unread::Unreadable(_, why)) => Err(why),
        };
        let text = match said {
            Ok(text) => text,
            Err(why) => {
                output::say(&format!(
                    "blue: {} {why}; only its line is printed\nhint: run `blue knowledge build`",
                    output::visible(&document.path)
                ));
                return output::out(&format!("{}\n", line(near)));
            }
        };
        let attribute = |text: &str| output::visible(&escape(text)).replace(['"', '<', '>'], "'");
        output::out(&format!(
            "<blue-reference uri=\"{}\" why=\"{}\">\n{}\n</blue-reference>\n",
            attribute(&document.uri),
            attribute(&near.reasons.join("; ")),
            text.trim_end()
        ))?;
        emit::append_audit_line(
            &delivery.root,
            &AuditLine {
                timestamp: emit::now(),
                session_id: short_id(&self.session),
                event: "reference".to_string(),
                source: document.uri.clone(),
                artifact: document.path.clone(),
                content_hash: Digest::of(text.as_bytes()).to_string(),
                tokens: document.tokens,
                bytes: text.len() as u64,
            },
        )
    }
}

fn head(near: &Near) -> String {
    let number = near.document.number.as_ref().map_or(String::new(), |number| format!("{number} "));
    output::visible(&format!("{number}{}", near.document.title))
}

fn line(near: &Near) -> String {
    let document = &near.document;
    let summary =
        if document.summary.is_empty() { String::new() } else { format!(": {}", document.summary) };
    output::visible(&format!("{} {}{summary}", document.uri, head(near)))
}
