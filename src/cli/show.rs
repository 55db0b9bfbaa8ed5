//! `blue knowledge show`.

use std::path::Path;

use anyhow::Context;
use clap::Args;

use super::list::catalogue;
use super::{Exit, output};
use crate::beneath::{Content, Root};
use crate::discover::deny::DenyList;
use crate::guard::Guard;
use crate::model::place::{GUIDE, VOICE};
use crate::serve::Lookup;
use crate::verify::{self, OnDisk};

/// Whether an emitted file is not what the manifest has. Where that cannot be read there is nothing
/// to compare with, and `--check` is who says so.
fn is_edited(root: &Root, path: &str) -> bool {
    let Ok(Some(Ok((manifest, _)))) = verify::manifest(root) else { return false };
    let entry = manifest.artifacts.iter().find(|entry| entry.path == path);
    entry.is_some() && matches!(verify::on_disk(root, path, entry), Ok(OnDisk::Edited(_)))
}

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
        let (path, document) = match catalogue.look_up(&self.uri) {
            Lookup::Document(row) => {
                let line = catalogue.line(row).ok_or_else(|| nothing(&[]))?;
                (line.path, true)
            }
            // What was built is whole, and so is checked; what people wrote is as they wrote it.
            Lookup::File(path) => {
                let own = [GUIDE, VOICE].contains(&path.as_str());
                (path, own)
            }
            Lookup::Several(uris) => anyhow::bail!(
                "{} fits several documents\nhint: say which: {}",
                self.uri,
                uris.join(", ")
            ),
            Lookup::Nothing => return Err(nothing(&catalogue.near(&self.uri))),
            Lookup::Refused(refusal) => anyhow::bail!("{:?} is refused: {refusal}", self.uri),
        };
        let plan = crate::build::plan(&root);
        let denied = DenyList::new(&plan.deny)?.denied_part(&path).is_some();
        anyhow::ensure!(!denied, "{} is on the deny-list", self.uri);
        match root.read(&path, u64::MAX - 1).with_context(|| format!("read {path}"))? {
            Some(Content::Bytes(bytes, _)) if document => {
                let guard = Guard::new(&plan.allowance).unwrap_or_default();
                output::copy(crate::parse::whole(&bytes, &guard.of(&path)).as_bytes())?;
            }
            Some(Content::Bytes(bytes, _)) => {
                if is_edited(&root, &path) {
                    output::say(&format!(
                        "blue: warning: {path} is not as it was built\nhint: run `blue knowledge build`; it keeps the edited text aside"
                    ));
                }
                output::copy(&bytes)?;
            }
            _ => return Err(nothing(&[])),
        }
        Ok(Exit::Done)
    }
}
