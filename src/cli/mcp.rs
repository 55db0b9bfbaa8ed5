//! `blue mcp`: serves what was built to an agent, on standard input and output.

use std::path::Path;

use clap::Args;

use super::{Exit, output, project, session};
use crate::beneath::Root;
use crate::mcp;

/// The flags of `blue mcp`.
#[derive(Args, Debug)]
pub(super) struct Mcp {
    /// What deliveries are noted under; default: a name of its own.
    #[arg(long, value_name = "ID")]
    session: Option<String>,
}

impl Mcp {
    pub(super) fn run(&self, directory: &Path) -> anyhow::Result<Exit> {
        let folder = project::find(directory)?;
        let session = match &self.session {
            Some(session) => session::checked(session)?.to_string(),
            None => session::name(&Root::open(&folder)?)?,
        };
        mcp::run(&folder, session, |text| output::say(&format!("blue: {text}")))?;
        Ok(Exit::Done)
    }
}
