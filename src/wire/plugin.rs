//! Plugins that the configuration registers. They are checked and kept; nothing runs them yet.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::uri::SCHEME;

/// A plugin, by its name alone or with what it provides.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(untagged)]
pub enum PluginForm {
    /// Its name: small letters and digits, `-` between.
    Bare(#[schemars(schema_with = "name_schema")] String),
    /// Its name or its address, and what else is said of it.
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
    /// What makes its context matter, each a kind of trigger and its pattern.
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
    /// Its name.
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

/// The first part of an address: `jira` of `blue://jira/`.
fn authority(uri: &str) -> &str {
    uri.strip_prefix(SCHEME).and_then(|rest| rest.split('/').next()).unwrap_or_default()
}

/// First parts of blue's own addresses; a plugin of such a name could never be addressed.
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

/// Plugins that the schema accepts but that no address could name: pointer, message and hint of each.
pub fn refusals(config: &Value) -> Vec<(String, String, String)> {
    let plugins = config.get("plugins").and_then(Value::as_array).into_iter().flatten();
    let mut known = BTreeSet::new();
    let mut refused = Vec::new();
    for (i, plugin) in plugins.enumerate() {
        let text = |key: &str| plugin.get(key).and_then(Value::as_str);
        let name = plugin.as_str().or_else(|| text("name")).or_else(|| text("uri").map(authority));
        let mut refuse = |message: String, hint: &str| {
            refused.push((format!("/plugins/{i}"), message, hint.to_string()));
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
