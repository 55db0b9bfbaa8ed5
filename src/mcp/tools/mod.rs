//! The MCP tools.
//!
//! There are few of them, because their list costs tokens in every session. Documents and passages are
//! returned as text only: a client shows structured content to the model as JSON, in which every line
//! end is escaped.

mod context;
mod next;
mod new;
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
use crate::serve::related::{LIMIT, MAX_TOKENS};

/// The answer of a tool, or an error message.
type ToolAnswer = Result<ToolOutput, String>;

/// The content of an answer.
enum ToolOutput {
    /// Text for a model.
    Text(String),
    /// Values, complete in themselves.
    Structured(Value),
}

/// A tool: its name, its purpose, and the schemas of its input and of structured output.
struct Description {
    name: &'static str,
    description: &'static str,
    input: Value,
    output: Option<Value>,
}

fn descriptions() -> Vec<Description> {
    let strings = || json!({"type": "array", "items": {"type": "string"}});
    let objects = || json!({"type": "array", "items": {"type": "object"}});
    vec![
        Description {
            name: "blue_context_status",
            description: "The project context that a session received, and what changed since.",
            input: json!({"session": {"type": "string", "description": "default: the calling session"}}),
            output: Some(json!({"session": {"type": "string"}, "because": {"type": "string"},
                "built": {"type": "string"}, "sources": objects()})),
        },
        Description {
            name: "blue_related",
            description: "Find the decisions (ADRs, RFCs, …) that answer a question or are related to \
                a path or document, best first, with the passage that says so. Ask before deciding something that may be decided already.",
            input: json!({
                "about": {"type": "string", "description": "question, words, path, id or blue:// address"},
                "limit": {"type": "integer", "default": LIMIT},
                "max_tokens": {"type": "integer", "default": MAX_TOKENS},
                "why": {"type": "boolean", "description": "add the reasons"},
                "format": {"enum": ["text", "json"], "default": "text"},
            }),
            output: None,
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
            output: None,
        },
        Description {
            name: "blue_status",
            description: "The state of the project: current work, open tasks, recent deliveries, \
                who works on which RFC.",
            input: json!({}),
            output: Some(json!({"documents": {"type": "object"}, "built": {"type": "string"},
                "work": {"type": "object"}, "activity": objects(), "rfcs": objects(), "notes": strings(),
                "hints": strings()})),
        },
        Description {
            name: "blue_next",
            description: "The RFC to work on next, with the reason and the command. RFCs of active \
                sessions are left out.",
            input: json!({"limit": {"type": "integer", "default": next::LIMIT}}),
            output: Some(json!({"current": {"type": ["object", "null"]}, "next": objects(),
                "notes": strings()})),
        },
    ]
}

/// The tool that writes. It is listed only if the project allows it.
fn writing() -> Description {
    Description {
        name: "blue_new",
        description: "Create an ADR, RFC, spike, PRD or dialogue with the next free number; then fill it in.",
        input: json!({
            "type": {"enum": ["adr", "rfc", "spike", "prd", "dialogue"]},
            "title": {"type": "string"},
            "supersedes": {"type": "string", "description": "address"},
        }),
        output: Some(json!({"path": {"type": "string"}})),
    }
}

/// Returns the required arguments of a tool.
fn required(name: &str) -> &'static [&'static str] {
    match name {
        "blue_related" => &["about"],
        "blue_read" => &["uris"],
        "blue_new" => &["type", "title"],
        _ => &[],
    }
}

/// Returns the tools that a project offers, in a fixed order.
pub(super) fn list(project: &Project) -> Vec<Tool> {
    listed(new::is_allowed(project))
}

fn listed(with_writing: bool) -> Vec<Tool> {
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
        let input = object(tool.input, required(tool.name).to_vec());
        let annotations = match tool.name {
            "blue_new" => ToolAnnotations::new().read_only(false).destructive(false),
            _ => ToolAnnotations::new().read_only(true),
        };
        let described = Tool::new(tool.name, Cow::Borrowed(tool.description), input)
            .with_annotations(annotations.open_world(false));
        let Some(output) = tool.output else { return described };
        let outputs = output.as_object().map(|o| o.keys().map(String::as_str).collect());
        described.with_raw_output_schema(object(output.clone(), outputs.unwrap_or_default()))
    };
    let writing = with_writing.then(writing);
    descriptions().into_iter().chain(writing).map(tool).collect()
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
        "blue_next" => parse(name, arguments).and_then(|a| next::call(project, &a)),
        "blue_new" => parse(name, arguments).and_then(|a| new::call(project, &a)),
        _ => {
            let names: Vec<&str> = descriptions().iter().map(|tool| tool.name).collect();
            let why = format!("no tool {:?}; the tools are {}", shown(name), names.join(", "));
            return Err(ErrorData::invalid_params(why, None));
        }
    };
    Ok(match answer {
        Ok(ToolOutput::Text(text)) => CallToolResult::success(vec![ContentBlock::text(text)]),
        Ok(ToolOutput::Structured(value)) => CallToolResult::structured(value),
        Err(why) => CallToolResult::error(vec![ContentBlock::text(why)]),
    })
}

/// Parses the arguments of a call. The error contains an example of valid arguments.
fn parse<T: DeserializeOwned>(name: &str, arguments: Value) -> Result<T, String> {
    let example = match name {
        "blue_context_status" => r#"{} or {"session": "abc123"}"#,
        "blue_related" => r#"{"about": "which cache is used", "limit": 5, "max_tokens": 1000}"#,
        "blue_read" => r#"{"uris": ["blue://docs/adrs/5"], "max_tokens": 4000, "detail": "brief"}"#,
        "blue_new" => r#"{"type": "adr", "title": "Use one cache"}"#,
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
        let text = serde_json::to_string(&json!({"tools": listed(true)})).expect("tools are JSON");
        let n_tokens = tokens::count(&text);
        assert!(n_tokens < 1_000, "{n_tokens} tokens: {text}");
    }
}
