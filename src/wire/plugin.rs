//! `plugins:` in the configuration. Plugins are validated and listed, but not run yet.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::schema::Refusal;
use crate::model::uri::SCHEME;

/// A plugin: its name, or a mapping.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(untagged)]
pub enum PluginForm {
    /// Its name: small letters and digits, `-` between.
    Bare(#[schemars(schema_with = "name_schema")] String),
    /// Its name or its address, with settings.
    Mapping(PluginMapping),
}

/// A plugin as a mapping; it has a name, or an address that begins with it.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct PluginMapping {
    /// Its name: small letters and digits, `-` between.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "name_schema")]
    pub name: Option<String>,
    /// The addresses it is for: `blue://jira/`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "uri_schema")]
    pub uri: Option<String>,
    /// Kinds of context it provides.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub provides: Vec<String>,
    /// Triggers of its context, each a kind and a pattern.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub salience_triggers: Vec<BTreeMap<String, String>>,
}

const NAME: &str = "[a-z0-9]+(-[a-z0-9]+)*";

fn name_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({"type": "string", "maxLength": 64, "pattern": format!("^{NAME}$")})
}

fn uri_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    let pattern = format!("^{SCHEME}{NAME}(/[^/]*)*$");
    schemars::json_schema!({"type": "string", "maxLength": 256, "pattern": pattern})
}

impl PluginForm {
    /// Returns the name.
    pub fn name(&self) -> &str {
        match self {
            PluginForm::Bare(name) => name,
            PluginForm::Mapping(plugin) => match (&plugin.name, &plugin.uri) {
                (Some(name), _) => name,
                (None, Some(uri)) => authority(uri),
                (None, None) => "",
            },
        }
    }
}

/// Returns the first part of an address: `jira` of `blue://jira/`.
fn authority(uri: &str) -> &str {
    uri.strip_prefix(SCHEME).and_then(|rest| rest.split('/').next()).unwrap_or_default()
}

/// First parts of blue's own addresses, which plugins cannot use.
const RESERVED: [&str; 11] = [
    "adr",
    "context",
    "contract",
    "dialogue",
    "docs",
    "knowledge",
    "pattern",
    "prd",
    "rfc",
    "spike",
    "state",
];

/// Returns plugins that the schema accepts but that cannot be addressed.
pub fn refusals(config: &Value) -> Vec<Refusal> {
    let plugins = config.get("plugins").and_then(Value::as_array).into_iter().flatten();
    let mut known = BTreeSet::new();
    let mut refused = Vec::new();
    for (i, plugin) in plugins.enumerate() {
        let text = |key: &str| plugin.get(key).and_then(Value::as_str);
        let name = plugin.as_str().or_else(|| text("name")).or_else(|| text("uri").map(authority));
        let mut refuse = |message: String, hint: &str| {
            let pointer = format!("/plugins/{i}");
            refused.push(Refusal { pointer, message, hint: hint.to_string() });
        };
        match name {
            None => {
                refuse("a plugin needs a name".to_string(), "write name: or uri: blue://<name>/")
            }
            Some(name) if RESERVED.contains(&name) => {
                refuse(format!("`{name}` is blue's own"), "choose another name");
            }
            Some(name) if !known.insert(name) => {
                refuse(format!("the plugin `{name}` is registered twice"), "keep one of the two");
            }
            Some(_) => {}
        }
    }
    refused
}
