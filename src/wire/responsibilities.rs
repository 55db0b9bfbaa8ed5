//! `responsibilities:` in the configuration: containers of roles, their queue and their limits.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::plan::ResponsibilityPlan;

/// Roles of a workspace, each with a container of files. Containers are also found without this key.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Responsibilities {
    /// Name of the workspace. Rows of the queue that belong to another one are ignored.
    pub workspace: Option<String>,
    /// Folder of the containers; default `registry`.
    pub registry: Option<String>,
    /// SQLite database with the requests. Without it, `queue/inbox/*.md` and `requests/inbox/*.md`
    /// are the record.
    pub queue: Option<String>,
    /// True if ingestion commands may insert rows into the queue. Builds and mandates never do.
    pub queue_writes: bool,
    /// Role that may override a hygiene gate; default `steward`.
    pub steward: Option<String>,
    /// Role that is the author of the files in `ai_context/`. Naming it allows blue to write in the
    /// containers; otherwise the files are written to `.blue/context/responsibilities/`.
    pub context_worker: Option<String>,
    /// Number of events in `recent_activity.md`; default 20.
    pub recent: Option<u64>,
    /// Place of the state of each container.
    pub state: StatePlace,
    /// Folder in which ingestion commands look for new files.
    pub inbox: Option<String>,
    /// Effect of the hygiene gates.
    pub hygiene: Hygiene,
}

/// Place of the state of a container.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StatePlace {
    /// In `ai_context/state.jsonl`, committed with the files made from it.
    #[default]
    Committed,
}

/// Effect of the hygiene gates.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Hygiene {
    /// Effect of a volume above 3,000 lines, and of growth by more than a tenth.
    pub red: RedGate,
}

/// Effect of the gates that can hold a publication.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RedGate {
    /// The files stay as they are until a steward overrides the gate.
    #[default]
    Hold,
    /// The files are published, with a warning.
    Warn,
}

impl Responsibilities {
    /// Returns the settings with defaults filled in.
    pub fn plan(&self, margin_percent: u64) -> ResponsibilityPlan {
        let text = |value: &Option<String>, default: &str| {
            value.clone().unwrap_or_else(|| default.to_string())
        };
        ResponsibilityPlan {
            workspace: self.workspace.clone(),
            registry: text(&self.registry, "registry").trim_end_matches('/').to_string(),
            queue: self.queue.clone(),
            steward: text(&self.steward, "steward"),
            context_worker: self.context_worker.clone(),
            n_recent: self.recent.unwrap_or(20),
            margin_percent,
            holds_red: self.hygiene.red == RedGate::Hold,
        }
    }
}
