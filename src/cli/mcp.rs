//! `blue mcp`: serves what was built to an agent, on standard input and output.

use std::path::Path;

use clap::Args;

use super::client::client;
use super::{Exit, output, project, session};
use crate::mcp::{self, Asker};
use crate::wire::session::short_id;

/// The flags of `blue mcp`.
#[derive(Args, Debug)]
pub(super) struct Mcp {
    /// What deliveries are noted under; default: the session that the agent or its hooks name, else a
    /// new name.
    #[arg(long, value_name = "ID")]
    session: Option<String>,
}

impl Mcp {
    pub(super) fn run(&self, directory: &Path) -> anyhow::Result<Exit> {
        let root = project::open(&project::find(directory)?)?;
        if let Some(session) = &self.session {
            anyhow::ensure!(
                !session.is_empty(),
                "a session needs a name\nhint: leave --session out"
            );
            session::checked(session)?;
        }
        let own = session::name(&root)?;
        let (named, declared) = (self.session.as_deref().map(short_id), agent_session());
        let asker = Asker { named, declared, client: client(), own };
        mcp::run(root, asker, |text| output::say(&format!("blue: {text}")))?;
        Ok(Exit::Done)
    }
}

/// Claude Code tells its servers what it calls the session that starts them; its hooks say the same,
/// so what both deliver is one session's. Other agents do not.
fn agent_session() -> Option<String> {
    let name = std::env::var_os("CLAUDE_CODE_SESSION_ID")?.into_string().ok()?;
    (!name.is_empty() && session::checked(&name).is_ok()).then(|| short_id(&name))
}
