//! `blue mcp`: the MCP server on standard input and output.

use std::path::Path;

use clap::Args;

use super::client::client;
use super::{Exit, output, project, session};
use crate::mcp::{self, Asker};
use crate::wire::session::short_id;

/// The flags of `blue mcp`.
#[derive(Args, Debug)]
pub(super) struct McpArgs {
    /// Record deliveries under this session [default: as reported by the agent or its hooks]
    #[arg(long, value_name = "ID")]
    session: Option<String>,
}

impl McpArgs {
    pub(super) fn run(&self, directory: &Path) -> anyhow::Result<Exit> {
        let root = project::open(&project::find(directory)?)?;
        if let Some(session) = &self.session {
            anyhow::ensure!(
                !session.is_empty(),
                "--session is empty\nhint: omit it to use the session of the agent"
            );
            session::check_name(session)?;
        }
        let fallback = session::name(&root)?;
        let (named, declared) = (self.session.as_deref().map(short_id), agent_session());
        let asker = Asker { named, declared, client: client(), fallback };
        // A folder of the user that cannot be opened does not keep this project from being served.
        let global = project::global_folder().and_then(|home| project::find(&home).ok());
        let global = global.and_then(|home| project::open(&home).ok());
        mcp::run(root, global, asker, |text| output::say(&format!("blue: {text}")))?;
        Ok(Exit::Done)
    }
}

/// Returns the session that Claude Code sets in the environment of its servers. Hooks receive the same
/// name, so that deliveries of both are logged for the same session.
fn agent_session() -> Option<String> {
    let name = std::env::var_os("CLAUDE_CODE_SESSION_ID")?.into_string().ok()?;
    (!name.is_empty() && session::check_name(&name).is_ok()).then(|| short_id(&name))
}
