//! `blue init`.

use std::path::Path;

use clap::Args;

use super::Exit;

/// The flags of `blue init`.
#[derive(Args, Debug)]
pub(super) struct Init {}

impl Init {
    pub(super) fn run(&self, _directory: &Path) -> anyhow::Result<Exit> {
        Ok(Exit::Done)
    }
}
