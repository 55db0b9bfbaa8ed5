//! `.blue/config.yaml`, the configuration that people write.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::branch_guard::{BranchGuard, McpSettings};
use super::limits::LimitKeys;
use super::plugin::{self, PluginForm};
use super::responsibilities::{self, Responsibilities};
use super::schema::Refusal;
use super::security::{DenyDocuments, Security};
use super::worktree::{self, WorktreeKeys};
use crate::model::plan::{HOOK_BYTES, Rule, Tier};
use crate::model::uri::slugify;
use crate::model::{Budget, BuildTarget, Code, Digest, Kind, Plan, Severity};

/// The configuration of a blue project. Every key is optional.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
#[schemars(title = "blue configuration")]
pub struct Config {
    /// The version of this format; always 1.
    #[schemars(range(min = 1, max = 1))]
    pub version: u32,
    /// The project's name. Left out of artifacts when it is not set, so that two clones in folders of different names give the same bytes.
    pub project: Option<String>,
    /// The realm the project belongs to.
    pub realm: String,
    /// Locations of documents. By default they are found by convention.
    pub documents: Option<Vec<DocumentRule>>,
    /// Tier 1, "who am I": delivered at the start of every session.
    pub identity: Option<TierForm>,
    /// Tier 2, "what should I do": the current RFC.
    pub workflow: Option<TierForm>,
    /// Work on one RFC on a branch and in a worktree of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worktree: Option<WorktreeKeys>,
    /// Tier 3, "how does this work": on demand.
    pub reference: Option<TierForm>,
    /// Overviews of collections.
    pub digests: Digests,
    /// Settings for counting tokens.
    pub tokens: Tokens,
    /// Files for other agents that a build writes; none by default.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "target_names")]
    pub targets: Vec<String>,
    /// Roles of a workspace, each with a container of files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub responsibilities: Option<Responsibilities>,
    /// Files that are never read, and exceptions from findings.
    pub security: Security,
    /// Limits on the cost of a repository.
    pub limits: LimitKeys,
    /// Severities of findings, by code. They never change emitted files, so they are not part of the configuration's digest.
    #[serde(skip_serializing)]
    #[schemars(schema_with = "levels")]
    pub diagnostics: BTreeMap<String, String>,
    /// Rules for edits on the branch of an RFC. They never change emitted files.
    #[serde(skip_serializing)]
    pub branch_guard: BranchGuard,
    /// Settings of the MCP server. They never change emitted files.
    #[serde(skip_serializing)]
    pub mcp: McpSettings,
    /// Plugins, by name or as mappings. They are registered and not run yet.
    pub plugins: Vec<PluginForm>,
}

/// Returns the schema of `diagnostics`. It lists every code, so that editors can complete them.
fn levels(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    let code = |code: &Code| {
        let levels = serde_json::json!({
            "description": format!("{}; {} by default", code.title(), code.severity().as_str()),
            "enum": ["off", "info", "warning", "error"],
        });
        (code.as_str().to_string(), levels)
    };
    let codes: serde_json::Map<String, Value> = Code::ALL.iter().map(code).collect();
    schemars::json_schema!({
        "description": "Severities of findings, by code: `BLUE-REF-001: error`, `BLUE-DOC-007: off`.",
        "type": "object",
        "properties": codes,
        "additionalProperties": false,
    })
}

/// Returns the schema of `targets`, which lists their names.
fn target_names(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    let names = BuildTarget::ALL.map(BuildTarget::as_str);
    schemars::json_schema!({
        "description": "Files for other agents that a build writes; none by default.",
        "type": "array",
        "items": {"enum": names},
        "uniqueItems": true,
    })
}

/// Returns settings that the schema accepts but blue does not.
pub fn refusals(config: &Value) -> Vec<Refusal> {
    let mut refused = plugin::refusals(config);
    refused.extend(severity_refusals(config));
    refused.extend(responsibilities::refusals(config));
    refused.extend(worktree::refusals(config));
    refused
}

/// Returns severities that are lower than their code allows.
fn severity_refusals(config: &Value) -> Vec<Refusal> {
    let chosen = config.get("diagnostics").and_then(Value::as_object).into_iter().flatten();
    let chosen = chosen.filter_map(|(key, level)| Some((key, Code::parse(key)?, level.as_str()?)));
    chosen
        .filter_map(|(key, code, level)| {
            let least = code.min_severity()?;
            let lower = Severity::parse(level).is_some_and(|level| level < Some(least));
            lower.then_some((key, code, level, least))
        })
        .map(|(key, code, level, least)| {
            let message = format!(
                "{code} cannot be `{level}`: {} is at least `{}`",
                code.title(),
                least.as_str()
            );
            let hint = format!("remove it; `blue explain {code}` gives the reason");
            Refusal { pointer: format!("/diagnostics/{key}"), message, hint }
        })
        .collect()
}

/// Documents of one type.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct DocumentRule {
    /// Type: adr, rfc, spike, or any other name.
    #[serde(rename = "type")]
    pub kind: String,
    /// Globs below the project, `/` between the parts.
    pub paths: Vec<String>,
    /// The collection they form; default: the type's plural.
    #[serde(default)]
    pub collection: Option<String>,
    /// Prefixes of mentions that mean them, such as RFC; default: the type.
    #[serde(default)]
    pub series: Option<Vec<String>>,
}

/// A tier, in either spelling.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(untagged)]
pub enum TierForm {
    /// Only sources.
    List(Vec<SourceForm>),
    /// Sources with settings beside them.
    Settings(TierSettings),
}

/// The settings of a tier.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct TierSettings {
    /// Addresses, in order.
    pub sources: Option<Vec<SourceForm>>,
    /// Maximum number of tokens, margin included.
    pub max_tokens: Option<u64>,
    /// Events after which the tier is delivered again: `on_rfc_change`, `every_<n>_turns`, `on_tool_call: <name>`.
    pub refresh_triggers: Option<Vec<TriggerForm>>,
    /// Of `workflow`: older spelling of `worktree.branch_prefix`.
    pub branch_prefix: Option<String>,
    /// Of `workflow`: maximum number of RFCs with a bundle, those in progress first; default 100.
    pub max_bundles: Option<u64>,
    /// Of `identity`: maximum number of tokens for `.blue/workflow.md`, beside `max_tokens`; default
    /// 400.
    pub guide_tokens: Option<u64>,
    /// Of `identity`: maximum number of tokens for the hand-written files in `knowledge/`, beside
    /// `max_tokens`; default 1,000.
    pub knowledge_tokens: Option<u64>,
    /// The address of the relevance index.
    pub graph: Option<String>,
    /// Days without a change or a delivery after which a document is suggested for review; default
    /// 30, and 0 for never.
    pub staleness_days: Option<u64>,
}

/// A source, bare or as a mapping.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(untagged)]
pub enum SourceForm {
    /// Its address.
    Bare(String),
    /// Its address under `uri`.
    Mapping(SourceMapping),
}

/// A source as a mapping.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct SourceMapping {
    /// Its address.
    pub uri: String,
}

/// A trigger, bare or with its argument.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(untagged)]
pub enum TriggerForm {
    /// `on_rfc_change`, `every_10_turns`.
    Bare(String),
    /// `on_tool_call: <name>`.
    ToolCall(ToolCall),
}

/// A trigger on a tool.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ToolCall {
    /// The tool's name.
    pub on_tool_call: String,
}

/// Settings of the overviews of collections, `knowledge/<collection>.md`.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Digests {
    /// Maximum tokens of each; default 4,000.
    pub max_tokens: u64,
}

/// Settings for counting tokens.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Tokens {
    /// The encoding; only o200k is known.
    pub encoding: Encoding,
    /// Part of each budget that stays free, because agents count differently.
    #[schemars(range(max = 90))]
    pub margin_percent: u64,
}

/// A byte-pair encoding.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, Serialize)]
pub enum Encoding {
    /// The o200k vocabulary.
    #[default]
    #[serde(rename = "o200k")]
    O200k,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            version: 1,
            project: None,
            realm: "default".to_string(),
            documents: None,
            identity: None,
            workflow: None,
            worktree: None,
            reference: None,
            digests: Digests::default(),
            tokens: Tokens::default(),
            targets: Vec::new(),
            responsibilities: None,
            security: Security::default(),
            limits: LimitKeys::default(),
            diagnostics: BTreeMap::new(),
            branch_guard: BranchGuard::default(),
            mcp: McpSettings::default(),
            plugins: Vec::new(),
        }
    }
}

impl Default for Digests {
    fn default() -> Digests {
        Digests { max_tokens: 4_000 }
    }
}

impl Default for Tokens {
    fn default() -> Tokens {
        Tokens { encoding: Encoding::O200k, margin_percent: 15 }
    }
}

/// Maximum size of a text that is served whole. Agents cut resources at 50,000 characters.
const RESOURCE_BYTES: u64 = 40_000;

impl Config {
    /// Returns the targets in a fixed order.
    fn build_targets(&self) -> Vec<BuildTarget> {
        let mut targets: Vec<BuildTarget> =
            self.targets.iter().filter_map(|name| BuildTarget::parse(name)).collect();
        targets.sort_unstable();
        targets.dedup();
        targets
    }

    fn severities(&self) -> BTreeMap<Code, Option<Severity>> {
        let levels = self.diagnostics.iter();
        levels
            .filter_map(|(code, level)| Some((Code::parse(code)?, Severity::parse(level)?)))
            .collect()
    }

    /// Returns the settings of a build, with defaults filled in.
    pub fn plan(&self) -> Plan {
        let margin = self.tokens.margin_percent;
        let tier = |form: &Option<TierForm>, sources: &[&str], max_tokens: u64, bytes: u64| {
            let settings = settings(form);
            let sources = match settings.sources {
                Some(sources) => sources.iter().map(SourceForm::uri).collect(),
                None => sources.iter().map(ToString::to_string).collect(),
            };
            let max_tokens = settings.max_tokens.unwrap_or(max_tokens);
            Tier { sources, budget: Budget::new(max_tokens, margin, bytes) }
        };
        let current_rfc = ["blue://state/current-rfc", "blue://docs/rfcs/{active}"];
        let workflow = settings(&self.workflow);
        let worktree = self.worktree.clone().unwrap_or_default();
        let reference = settings(&self.reference);
        let identity =
            tier(&self.identity, &["blue://docs/adrs/", "blue://context/voice"], 500, HOOK_BYTES);
        let TierSettings { guide_tokens, knowledge_tokens, .. } = settings(&self.identity);
        Plan {
            project: self.project.clone(),
            realm: self.realm.clone(),
            rules: self.documents.iter().flatten().map(rule).collect(),
            guide: Budget::new(guide_tokens.unwrap_or(400), margin, HOOK_BYTES / 2),
            knowledge: Budget::new(knowledge_tokens.unwrap_or(1_000), margin, HOOK_BYTES),
            digests: Budget::new(self.digests.max_tokens, margin, RESOURCE_BYTES),
            identity,
            branch_prefix: worktree.prefix(workflow.branch_prefix),
            former_prefixes: worktree.also,
            base: worktree.base,
            branch_rules: self.branch_guard.rules(),
            mcp_write: self.mcp.write,
            max_bundles: workflow.max_bundles.unwrap_or(100),
            workflow: tier(&self.workflow, &current_rfc, 2_000, HOOK_BYTES),
            refresh_triggers: match workflow.refresh_triggers {
                Some(triggers) => triggers.iter().map(TriggerForm::text).collect(),
                None => vec!["on_rfc_change".to_string()],
            },
            reference: tier(&self.reference, &[], 4_000, RESOURCE_BYTES),
            graph: reference.graph.unwrap_or_else(|| "blue://context/relevance".to_string()),
            staleness_days: reference.staleness_days.unwrap_or(30),
            deny: self.security.deny.clone(),
            deny_decisions: self.security.deny_documents == DenyDocuments::Strict,
            allow_external: self.security.allow_external,
            allowance: self.security.allowance(),
            limits: self.limits.plan(),
            targets: self.build_targets(),
            responsibilities: self.responsibilities.clone().unwrap_or_default().plan(margin),
            plugins: self.plugins.iter().map(|plugin| plugin.name().to_string()).collect(),
            severities: self.severities(),
            digest: Digest::of(&serde_json::to_vec(self).expect("a configuration is JSON")),
        }
    }
}

fn settings(form: &Option<TierForm>) -> TierSettings {
    match form {
        None => TierSettings::default(),
        Some(TierForm::List(sources)) => {
            TierSettings { sources: Some(sources.clone()), ..TierSettings::default() }
        }
        Some(TierForm::Settings(settings)) => settings.clone(),
    }
}

fn rule(rule: &DocumentRule) -> Rule {
    let plural = format!("{}s", rule.kind.to_lowercase());
    let collection = slugify(rule.collection.as_deref().unwrap_or(&plural));
    let series = match &rule.series {
        Some(series) => series.iter().map(|series| series.to_lowercase()).collect(),
        None => vec![rule.kind.to_lowercase()],
    };
    Rule { kind: Kind::new(&rule.kind), collection, series, paths: rule.paths.clone() }
}

impl SourceForm {
    fn uri(&self) -> String {
        match self {
            SourceForm::Bare(uri) => uri.clone(),
            SourceForm::Mapping(mapping) => mapping.uri.clone(),
        }
    }
}

impl TriggerForm {
    fn text(&self) -> String {
        match self {
            TriggerForm::Bare(text) => text.clone(),
            TriggerForm::ToolCall(call) => format!("on_tool_call: {}", call.on_tool_call),
        }
    }
}
