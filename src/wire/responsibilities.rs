//! `responsibilities:` in the configuration: containers of roles, their queue and their limits.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::schema::Refusal;
use crate::model::binding::Glob;
use crate::model::layout::CORE_FILES;
use crate::model::plan::{AddonPlan, ResponsibilityPlan};

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
    /// Further files of `ai_context/`, each made from files of the container.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub addons: Vec<Addon>,
}

/// A further file of `ai_context/`. A hand-written file of this name is never overwritten.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Addon {
    /// Name of the file, such as `risk_register.md`.
    pub name: String,
    /// Globs of Markdown files below the container. `ai_context/` is never matched.
    #[schemars(length(min = 1))]
    pub from: Vec<String>,
    /// Name of a file in `.blue/templates/` that renders it; default: one line for each file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template: Option<String>,
    /// Maximum tokens, without the front matter; default 400.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
}

/// Place of the state of a container.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StatePlace {
    /// In `ai_context/state.jsonl`, committed with the files made from it.
    #[default]
    Committed,
    /// In `.blue/local/responsibilities/<id>/`, with the files made from it. Nothing of it is
    /// committed.
    Local,
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
            is_state_local: self.state == StatePlace::Local,
            addons: self.addons.iter().map(Addon::plan).collect(),
        }
    }
}

impl Addon {
    fn plan(&self) -> AddonPlan {
        AddonPlan {
            name: self.name.clone(),
            from: self.from.clone(),
            template: self.template.clone(),
            max_tokens: self.max_tokens.unwrap_or(400),
        }
    }
}

/// Returns the add-ons with names or globs that cannot be used.
pub(super) fn refusals(config: &Value) -> Vec<Refusal> {
    let addons = config.pointer("/responsibilities/addons").and_then(Value::as_array);
    let mut refused = Vec::new();
    let mut names: Vec<String> = Vec::new();
    for (i, addon) in addons.into_iter().flatten().enumerate() {
        let mut refuse = |key: &str, message: String, hint: &str| {
            let pointer = format!("/responsibilities/addons/{i}/{key}");
            refused.push(Refusal { pointer, message, hint: hint.to_string() });
        };
        let name = addon.get("name").and_then(Value::as_str).unwrap_or_default();
        let is_core = CORE_FILES.iter().any(|core| core.eq_ignore_ascii_case(name));
        if !is_file_name(name) {
            refuse("name", format!("{name:?} is not the name of a Markdown file"), NAME_HINT);
        } else if is_core {
            let message = format!("blue makes `{name}` itself");
            refuse("name", message, "choose another name");
        } else if names.contains(&name.to_lowercase()) {
            refuse("name", format!("two add-ons are named `{name}`"), "rename one of them");
        }
        names.push(name.to_lowercase());
        let template = addon.get("template").and_then(Value::as_str);
        if let Some(template) = template.filter(|template| !is_file_name(template)) {
            let message = format!("{template:?} is not the name of a Markdown file");
            refuse("template", message, "name a file in .blue/templates/");
        }
        let globs = addon.get("from").and_then(Value::as_array).into_iter().flatten();
        for (at, glob) in globs.enumerate() {
            let Some(glob) = glob.as_str().filter(|glob| Glob::new(glob).is_none()) else {
                continue;
            };
            refuse(&format!("from/{at}"), format!("{glob:?} is not a glob"), "write risks/*.md");
        }
    }
    refused
}

const NAME_HINT: &str = "use letters, digits, `_` and `-`, and the ending .md";

/// Returns true for the name of a Markdown file without folders.
fn is_file_name(name: &str) -> bool {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let stem = name.strip_suffix(".md").unwrap_or_default();
    name.len() <= 100
        && stem.starts_with(|c: char| c.is_ascii_alphanumeric())
        && stem.chars().all(is_allowed)
        && !name.contains("..")
}
