//! `blue context reference`: reads the documents related to the current work.

use std::io::IsTerminal;
use std::path::Path;

use clap::Args;

use super::open::{BuiltProject, record};
use super::{Exit, output};
use crate::model::Level;
use crate::model::escape::escape;
use crate::model::plural::counted;
use crate::serve::log::{event_at, text_line};
use crate::serve::{Text, reference, related};
use crate::wire::session::short_id;

/// The flags of `blue context reference`.
#[derive(Args, Debug)]
pub(super) struct ReferenceArgs {
    /// Address or path of a document [default: the current work]
    uri: Option<String>,
    /// Read every document in full, even over the budget; asks first
    #[arg(long)]
    all: bool,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
    /// Record the delivery for this session of the agent
    #[arg(long, value_name = "ID", default_value = "")]
    session: String,
}

impl ReferenceArgs {
    pub(super) fn run(&self, directory: &Path) -> anyhow::Result<Exit> {
        let project = BuiltProject::open(directory)?;
        let library = project.library();
        let uri = self.uri.as_deref().unwrap_or("blue://state/current-rfc");
        let row = related::row_of(&library, uri).map_err(|error| project.error(uri, error))?;
        let Some(row) = row else {
            anyhow::bail!("{uri:?} is not a document\nhint: run `blue knowledge list`")
        };
        let max_tokens = project.built.manifest.reference.max_tokens;
        if self.all {
            let related = related::to_document(&library, row)?.unwrap_or_default();
            let n_tokens: u64 = related.iter().map(|related| related.document.tokens).sum();
            if n_tokens > max_tokens && !self.confirm(related.len(), n_tokens, max_tokens)? {
                return Ok(Exit::FoundSomething);
            }
        }
        let budget = if self.all { u64::MAX } else { max_tokens };
        let texts = reference::texts(&library, row, budget);
        let texts = texts.map_err(|error| project.error(uri, error))?;
        let whole = texts.iter().filter(|text| text.level == Level::Full).filter_map(title);
        let whole: Vec<String> = whole.collect();
        if !whole.is_empty() {
            output::say(&format!("Reading related: {}", whole.join(", ")));
        }
        for text in &texts {
            print(text)?;
            let event = event_at("reference", text.level);
            let line = text_line(&text.uri, &text.path, &text.text, text.tokens);
            record(&project.root, line, &short_id(&self.session), &event)?;
        }
        Ok(Exit::Done)
    }

    /// Asks for confirmation to read more than the budget allows.
    fn confirm(&self, n: usize, n_tokens: u64, max_tokens: u64) -> anyhow::Result<bool> {
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
}

/// Prints a text in a tag with the address of its document and the reason for choosing it.
fn print(text: &Text) -> anyhow::Result<()> {
    if text.stale {
        output::say(&format!(
            "blue: {} differs from the last build\nhint: run `blue knowledge build`",
            output::visible(&text.path)
        ));
    }
    let attribute = |text: &str| output::visible(&escape(text)).replace(['"', '<', '>'], "'");
    let detail = match text.level {
        Level::Full => String::new(),
        level => format!(" detail=\"{}\"", level.name()),
    };
    output::out(&format!(
        "<blue-reference uri=\"{}\" why=\"{}\"{detail}>\n{}\n</blue-reference>\n",
        attribute(&text.uri),
        attribute(text.reason.as_deref().unwrap_or_default()),
        text.text.trim_end()
    ))
}

/// Formats the number and title of a document.
fn title(text: &Text) -> Option<String> {
    let line = text.line.as_ref()?;
    let number = line.number.as_ref().map_or(String::new(), |number| format!("{number} "));
    Some(output::visible(&format!("{number}{}", line.title)))
}
