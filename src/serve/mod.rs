//! Answers questions about a built project. Commands, hooks and the MCP server print the answers.

pub mod activity;
pub mod address;
pub mod bindings;
pub mod built;
pub mod bundles;
pub mod catalogue;
pub mod dates;
pub mod global;
pub mod listing;
pub mod log;
pub mod names;
pub mod next;
pub mod path_answer;
pub mod path_words;
pub mod read;
pub mod reference;
pub mod related;
pub mod related_text;
pub mod resource_index;
pub mod search;
pub mod sections;
pub mod sessions;
pub mod similar_words;
pub mod status;
pub mod symbol_mentions;
pub mod symbols;
pub mod usage;
pub mod work;

use anyhow::Context;
use serde::de::DeserializeOwned;

pub use address::{AddressError, Resolved};
pub use built::{Built, Handwritten, Listed};
pub use bundles::Bundles;
pub use catalogue::Catalogue;
pub use log::{AuditLog, Staleness};
pub use read::{ReadError, Text};
pub use resource_index::ResourceSelection;
pub use usage::Overlay;

use crate::reader::{ProjectReader, lossy_text};
use crate::root::{Content, Root};
use crate::wire::jsonl::BundleLine;

/// A built project, with the rules for reading its files, the current work and the date.
#[derive(Clone, Copy)]
pub struct Library<'a> {
    /// The project's root directory.
    pub root: &'a Root,
    /// The indexes of the last build.
    pub built: &'a Built,
    /// The rules for reading files.
    pub reader: &'a ProjectReader,
    /// The name of the current work, from `.blue/worktree.json` or the branch.
    pub work: Option<&'a str>,
    /// The current day, counted from 1970.
    pub today: i64,
}

impl Library<'_> {
    /// Returns the bundle of the current work.
    pub fn current_bundle(&self) -> Option<&BundleLine> {
        self.built.bundles.of_work(self.work?)
    }

    /// Returns the resources that a client lists.
    pub fn resources(&self) -> ResourceSelection {
        let path = self.current_bundle().map(|bundle| bundle.artifact.as_str());
        let row = path.and_then(|path| self.built.artifact(path));
        self.built.resources.list(row.map(Listed::Artifact), |item| self.built.uri(item))
    }

    /// Reads the usage of documents on this machine.
    pub fn overlay(&self) -> Overlay {
        Overlay::open(self.root, self.today)
    }
}

/// Reads the lines of an emitted index, without the provenance. `None` if nothing was built yet.
fn lines<T: DeserializeOwned>(
    root: &Root,
    path: &str,
    limit: u64,
    noun: &str,
) -> anyhow::Result<Option<Vec<T>>> {
    let Some(text) = text(root, path, limit)? else { return Ok(None) };
    parse_lines(&text, path, noun).map(Some)
}

/// Parses the lines of an emitted index, without the provenance. `noun` names a line in errors.
fn parse_lines<T: DeserializeOwned>(text: &str, path: &str, noun: &str) -> anyhow::Result<Vec<T>> {
    let lines = text.lines().enumerate().skip(1).map(|(i, line)| {
        serde_json::from_str(line).with_context(|| {
            format!("{path}:{}: not a {noun}\nhint: run `blue knowledge build`", i + 1)
        })
    });
    lines.collect()
}

/// Reads the text of an emitted file. `None` if it does not exist.
fn text(root: &Root, path: &str, limit: u64) -> anyhow::Result<Option<String>> {
    let content = root.read(path, limit).with_context(|| format!("read {path}"))?;
    let Some(Content::Bytes(bytes, _)) = content else { return Ok(None) };
    Ok(Some(lossy_text(bytes)))
}
