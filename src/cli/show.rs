//! `blue knowledge show`.

use std::path::Path;

use clap::Args;

use super::open::BuiltProject;
use super::{Exit, output};
use crate::serve::read;

/// The flags of `blue knowledge show`.
#[derive(Args, Debug)]
pub(super) struct ShowArgs {
    /// Address: blue://docs/rfcs/0016, blue://adr/5, blue://state/current-rfc, …
    uri: String,
}

impl ShowArgs {
    pub(super) fn run(&self, directory: &Path) -> anyhow::Result<Exit> {
        let project = BuiltProject::open(directory)?;
        let texts = read::read(&project.library(), &self.uri);
        let texts = texts.map_err(|error| project.error(&self.uri, error))?;
        for text in texts.iter().filter(|text| text.stale && text.line.is_none()) {
            output::say(&format!(
                "blue: warning: {} differs from the last build\nhint: run `blue knowledge build`, which saves a copy of the edited text",
                text.path
            ));
        }
        let texts: Vec<&str> = texts.iter().map(|text| text.text.as_str()).collect();
        output::copy(texts.join("\n").as_bytes())?;
        Ok(Exit::Done)
    }
}
