//! `blue knowledge show`.

use std::path::Path;

use clap::Args;

use super::list::catalogue;
use super::{Exit, output};
use crate::build::reader::{ReadFile, Reader, Unread};
use crate::root::Root;
use crate::serve::{Catalogue, Lookup};

/// The flags of `blue knowledge show`.
#[derive(Args, Debug)]
pub(super) struct Show {
    /// An address: blue://docs/rfcs/0016, blue://adr/5, blue://context/session.
    uri: String,
}

impl Show {
    pub(super) fn run(&self, directory: &Path) -> anyhow::Result<Exit> {
        let (root, catalogue) = catalogue(directory)?;
        let nothing = |near: &[String]| match near {
            [] => anyhow::anyhow!("nothing at {}", self.uri),
            near => anyhow::anyhow!(
                "nothing at {}\nhint: did you mean {}?",
                self.uri,
                near.join(" or ")
            ),
        };
        let (path, row) = match catalogue.look_up(&self.uri) {
            Lookup::Document(row) => (String::new(), Some(row)),
            // A document in `knowledge/` has the address of a digest as well as its own.
            Lookup::File(path) => {
                let row = catalogue.row_of_path(&path);
                (path, row)
            }
            Lookup::Several(uris) => anyhow::bail!(
                "{} fits several documents\nhint: say which: {}",
                self.uri,
                uris.join(", ")
            ),
            Lookup::Nothing => return Err(nothing(&catalogue.near(&self.uri))),
            Lookup::Refused(refusal) => anyhow::bail!("{:?} is refused: {refusal}", self.uri),
        };
        let shown = match row {
            Some(row) => document(&root, &catalogue, row),
            None => file(&root, &path),
        };
        match shown {
            Ok(Some(bytes)) => output::copy(&bytes)?,
            Ok(None) => return Err(nothing(&[])),
            Err(Unread::Denied) => anyhow::bail!("{} is on the deny-list", self.uri),
            Err(Unread::NoDocument) => anyhow::bail!("{} is no document", self.uri),
            Err(Unread::Unreadable(path, why)) => anyhow::bail!("{path} {why}"),
        }
        Ok(Exit::Done)
    }
}

fn document(root: &Root, catalogue: &Catalogue, row: usize) -> Result<Option<Vec<u8>>, Unread> {
    let Some(line) = catalogue.line(row) else { return Ok(None) };
    Reader::new(root).document(root, &line).map(|read| Some(read.text.into_bytes()))
}

fn file(root: &Root, path: &str) -> Result<Option<Vec<u8>>, Unread> {
    Ok(match Reader::new(root).file(root, path)? {
        None => None,
        Some(ReadFile::Emitted(bytes)) => Some(bytes),
        Some(ReadFile::Written(text)) => Some(text.into_bytes()),
        Some(ReadFile::Edited(text)) => {
            output::say(&format!(
                "blue: warning: {path} is not as it was built\nhint: run `blue knowledge build`; it keeps the edited text aside"
            ));
            Some(text.into_bytes())
        }
    })
}
