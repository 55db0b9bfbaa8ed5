//! What every command of the delivery side looks at first.

use std::path::Path;

use anyhow::Context;

use super::project;
use crate::discover::git;
use crate::emit::{self, AUDIT, AUDIT_BEFORE};
use crate::root::Root;
use crate::serve::bundles::{self, Bundles};
use crate::serve::delivery::Log;
use crate::wire::audit::AuditLine;
use crate::wire::jsonl::BundleLine;
use crate::wire::session;

/// A project that was built, and the work that goes on in it.
pub(super) struct Delivery {
    pub(super) root: Root,
    pub(super) bundles: Bundles,
    pub(super) log: Log,
    pub(super) branch: Option<String>,
    /// What the current work is called.
    pub(super) work: Option<String>,
}

impl Delivery {
    /// Opens the project around a folder.
    pub(super) fn open(directory: &Path) -> anyhow::Result<Delivery> {
        Delivery::look(directory, None)
    }

    /// The same with only one session's part of the log, which is much quicker to read.
    pub(super) fn of_session(directory: &Path, session: &str) -> anyhow::Result<Delivery> {
        Delivery::look(directory, Some(session))
    }

    fn look(directory: &Path, session: Option<&str>) -> anyhow::Result<Delivery> {
        let folder = project::find(directory)?;
        let root = project::open(&folder)?;
        let bundles = Bundles::open(&root)?
            .context("nothing has been built here\nhint: run `blue knowledge build`")?;
        let log = Log::open(&root, [AUDIT_BEFORE, AUDIT], session);
        let branch = git::branch(&folder);
        let work = bundles::work_name(&root, branch.as_deref());
        Ok(Delivery { root, bundles, log, branch, work })
    }

    /// The bundle of the current work.
    pub(super) fn current(&self) -> Option<&BundleLine> {
        self.bundles.of_work(self.work.as_deref()?)
    }

    /// Notes that a bundle was delivered.
    pub(super) fn note(
        &self,
        bundle: &BundleLine,
        session: &str,
        event: &str,
    ) -> anyhow::Result<()> {
        let line = AuditLine {
            timestamp: emit::now(),
            session_id: session.to_string(),
            event: event.to_string(),
            source: bundle.source.clone(),
            artifact: bundle.artifact.clone(),
            content_hash: bundle.content_hash.clone(),
            tokens: bundle.tokens,
            bytes: bundle.bytes,
        };
        emit::append_audit_line(&self.root, &line)
    }
}

/// What an agent says to a hook; all of it may be missing.
#[derive(Debug, Default)]
pub(super) struct Said {
    pub(super) session_id: String,
    pub(super) hook_event_name: String,
    /// Set when a subagent is meant; it shares its session's name with the main one.
    pub(super) agent_id: String,
    pub(super) tool_name: String,
    pub(super) tool_input: serde_json::Value,
}

/// The most that is read of it.
const MAX_SAID: u64 = 16 << 20;

impl Said {
    /// Reads standard input. Whatever is no JSON says nothing.
    pub(super) fn read() -> Said {
        use std::io::{IsTerminal, Read};
        let stdin = std::io::stdin();
        if stdin.is_terminal() {
            return Said::default();
        }
        let mut bytes = Vec::new();
        stdin.lock().take(MAX_SAID).read_to_end(&mut bytes).ok();
        let value: serde_json::Value = serde_json::from_slice(&bytes).unwrap_or_default();
        let text = |key: &str| value[key].as_str().unwrap_or_default().to_string();
        let mut said = Said {
            session_id: text("session_id"),
            hook_event_name: text("hook_event_name"),
            agent_id: text("agent_id"),
            tool_name: text("tool_name"),
            tool_input: value["tool_input"].clone(),
        };
        said.session_id = match session::is_plain(&said.session_id) {
            true => session::short_id(&said.session_id),
            false => String::new(),
        };
        said
    }
}
