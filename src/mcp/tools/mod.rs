//! The MCP tools.
//!
//! There are few of them, because their list costs tokens in every session. The structured content of
//! an answer is complete.

mod context;
mod read;
mod related;
mod status;

use std::borrow::Cow;
use std::sync::Arc;

use rmcp::ErrorData;
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, Tool, ToolAnnotations};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::failure::shown;
use super::project::Project;

/// The answer of a tool, or an error message.
type ToolAnswer = Result<Value, String>;

/// A tool: its name, its purpose, and the schemas of its input and output.
struct Description {
    name: &'static str,
    description: &'static str,
    input: Value,
    output: Value,
}

fn descriptions() -> Vec<Description> {
    let strings = || json!({"type": "array", "items": {"type": "string"}});
    let objects = || json!({"type": "array", "items": {"type": "object"}});
    vec![
        Description {
            name: "blue_context_status",
            description: "The project context that a session received, and what changed since.",
            input: json!({"session": {"type": "string", "description": "default: the calling session"}}),
            output: json!({"session": {"type": "string"}, "built": {"type": "string"},
                "sources": objects()}),
        },
        Description {
            name: "blue_related",
            description: "Find the decisions (ADRs, RFCs, …) that answer a question or are related to \
                a path or document, best first, with the passage that says so. Ask before deciding something that may be decided already.",
            input: json!({
                "about": {"type": "string", "description": "question, words, path, id or blue:// address"},
                "limit": {"type": "integer", "default": related::LIMIT},
                "max_tokens": {"type": "integer", "default": related::MAX_TOKENS},
            }),
            output: json!({"about": {"type": "string"}, "related": objects(),
                "not_shown": {"type": "integer"}}),
        },
        Description {
            name: "blue_read",
            description: "Read several documents within a token budget; less of each rather than \
                none of some.",
            input: json!({
                "uris": strings(),
                "max_tokens": {"type": "integer", "default": read::MAX_TOKENS},
                "detail": {"enum": ["title", "line", "brief", "sections", "full"],
                    "default": "full"},
                "changed_only": {"type": "boolean",
                    "description": "omit text this session already has"},
            }),
            output: json!({"documents": objects(), "not_shown": objects(),
                "tokens": {"type": "integer"}}),
        },
        Description {
            name: "blue_status",
            description: "The state of the project: current work, open tasks, recent deliveries, \
                what to do next.",
            input: json!({}),
            output: json!({"documents": {"type": "object"}, "built": {"type": "string"},
                "work": {"type": "object"}, "activity": objects(), "hints": strings()}),
        },
    ]
}

/// Returns the required arguments of a tool.
fn required(name: &str) -> &'static [&'static str] {
    match name {
        "blue_related" => &["about"],
        "blue_read" => &["uris"],
        _ => &[],
    }
}

/// Returns the list of tools, in a fixed order.
pub(super) fn list() -> Vec<Tool> {
    let object = |properties: Value, required: Vec<&str>| -> Arc<JsonObject> {
        let mut schema = JsonObject::new();
        schema.insert("type".to_string(), json!("object"));
        schema.insert("properties".to_string(), properties);
        if !required.is_empty() {
            schema.insert("required".to_string(), json!(required));
        }
        Arc::new(schema)
    };
    let tool = |tool: Description| {
        let outputs = tool.output.as_object().map(|o| o.keys().map(String::as_str).collect());
        let output = object(tool.output.clone(), outputs.unwrap_or_default());
        let input = object(tool.input, required(tool.name).to_vec());
        Tool::new(tool.name, Cow::Borrowed(tool.description), input)
            .with_raw_output_schema(output)
            .with_annotations(ToolAnnotations::new().read_only(true).open_world(false))
    };
    descriptions().into_iter().map(tool).collect()
}

/// Calls a tool. The error for invalid arguments contains an example.
pub(super) fn call(
    project: &Project,
    name: &str,
    arguments: Option<JsonObject>,
) -> Result<CallToolResult, ErrorData> {
    let arguments = Value::Object(arguments.unwrap_or_default());
    let answer = match name {
        "blue_context_status" => parse(name, arguments).and_then(|a| context::call(project, &a)),
        "blue_related" => parse(name, arguments).and_then(|a| related::call(project, &a)),
        "blue_read" => parse(name, arguments).and_then(|a| read::call(project, &a)),
        "blue_status" => parse(name, arguments).and_then(|a| status::call(project, &a)),
        _ => {
            let names: Vec<&str> = descriptions().iter().map(|tool| tool.name).collect();
            let why = format!("no tool {:?}; the tools are {}", shown(name), names.join(", "));
            return Err(ErrorData::invalid_params(why, None));
        }
    };
    Ok(match answer {
        Ok(value) => CallToolResult::structured(value),
        Err(why) => CallToolResult::error(vec![ContentBlock::text(why)]),
    })
}

/// Parses the arguments of a call. The error contains an example of valid arguments.
fn parse<T: DeserializeOwned>(name: &str, arguments: Value) -> Result<T, String> {
    let example = match name {
        "blue_context_status" => r#"{} or {"session": "abc123"}"#,
        "blue_related" => r#"{"about": "blue://docs/adrs/5", "limit": 10, "max_tokens": 1000}"#,
        "blue_read" => r#"{"uris": ["blue://docs/adrs/5"], "max_tokens": 4000, "detail": "brief"}"#,
        _ => "{}",
    };
    serde_json::from_value(arguments)
        .map_err(|error| format!("{name}: {}; for example {example}", shown(&error.to_string())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::condense::tokens;

    #[test]
    fn the_whole_list_costs_less_than_a_thousand_tokens() {
        let text = serde_json::to_string(&json!({"tools": list()})).expect("tools are JSON");
        let n_tokens = tokens::count(&text);
        assert!(n_tokens < 1_000, "{n_tokens} tokens: {text}");
    }
}
