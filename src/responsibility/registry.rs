//! The registry of a workspace: which responsibilities exist, and whether they are in use.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

/// Status of a responsibility.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Lifecycle {
    /// It is being written.
    Draft,
    /// It is in use. Only active ones are built.
    Active,
    /// It takes no work for now.
    Suspended,
    /// It is history.
    Retired,
}

impl Lifecycle {
    /// Returns the status with a name.
    pub fn parse(text: &str) -> Option<Lifecycle> {
        let all = [Lifecycle::Draft, Lifecycle::Active, Lifecycle::Suspended, Lifecycle::Retired];
        all.into_iter().find(|status| status.as_str() == text.trim().to_lowercase())
    }

    /// Returns the name.
    pub fn as_str(self) -> &'static str {
        match self {
            Lifecycle::Draft => "draft",
            Lifecycle::Active => "active",
            Lifecycle::Suspended => "suspended",
            Lifecycle::Retired => "retired",
        }
    }
}

/// Reads `responsibility_registry.json`: a list, a map by id, or either below `responsibilities`.
/// Returns the stated status of each id; `None` if the entry states none.
pub fn read(text: &str) -> Result<BTreeMap<String, Option<String>>, serde_json::Error> {
    let value: Value = serde_json::from_str(text)?;
    let list = value.get("responsibilities").unwrap_or(&value);
    let status = |entry: &Value| match entry {
        Value::String(status) => Some(status.clone()),
        entry => entry.get("status").and_then(Value::as_str).map(str::to_string),
    };
    let mut found = BTreeMap::new();
    match list {
        Value::Array(entries) => {
            for entry in entries {
                let id = ["id", "responsibility_id"].iter().find_map(|key| entry.get(*key));
                let id = id.or(Some(entry)).and_then(Value::as_str);
                let stated = status(entry).filter(|_| entry.is_object());
                found.extend(id.map(|id| (id.to_string(), stated)));
            }
        }
        Value::Object(entries) => {
            let known = |entry: &&Value| entry.is_object() || entry.is_string();
            let entries = entries.iter().filter(|(_, entry)| known(entry));
            found.extend(entries.map(|(id, entry)| (id.clone(), status(entry))));
        }
        _ => {}
    }
    Ok(found)
}

/// The capability manifest of a container, `manifest.json`.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize)]
pub struct Capabilities {
    /// The id that it states.
    pub responsibility_id: Option<String>,
    /// Its intents.
    pub intent_tags: Vec<String>,
    /// The mandates that it may run.
    pub mandates: Vec<String>,
    /// The tools that it may use.
    pub tools: Vec<RoleTool>,
    /// The responsibilities that it depends on.
    pub dependencies: Vec<String>,
    /// The file with the models that it may use, below the container.
    pub model_preferences_file: Option<String>,
}

/// A tool that a role may use.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize)]
pub struct RoleTool {
    /// Its name.
    pub name: String,
    /// Name of the thing that it gives access to.
    pub resource: String,
    /// Clause of the guardrails that limits it.
    pub guardrail_clause: Option<String>,
}

/// Reads a capability manifest. `None` if it is no JSON object.
pub fn capabilities(text: &str) -> Option<Capabilities> {
    let value: Value = serde_json::from_str(text).ok()?;
    let object = value.as_object()?;
    let list = |key: &str| -> Vec<String> {
        let items = object.get(key).and_then(Value::as_array).into_iter().flatten();
        items.filter_map(|item| item.as_str().map(str::to_string)).collect()
    };
    let text =
        |entry: &Value, key: &str| entry.get(key).and_then(Value::as_str).map(str::to_string);
    let tools = object.get("tools").and_then(Value::as_array).into_iter().flatten();
    let tools = tools.map(|tool| RoleTool {
        name: tool.as_str().map(str::to_string).or_else(|| text(tool, "name")).unwrap_or_default(),
        resource: text(tool, "resource").unwrap_or_default(),
        guardrail_clause: text(tool, "guardrail_clause"),
    });
    Some(Capabilities {
        responsibility_id: object.get("responsibility_id")?.as_str().map(str::to_string),
        intent_tags: list("intent_tags"),
        mandates: list("mandates"),
        tools: tools.filter(|tool| !tool.name.is_empty()).collect(),
        dependencies: list("dependencies"),
        model_preferences_file: text(&value, "model_preferences_file"),
    })
}

/// Returns the ids that depend on themselves through others, sorted.
pub fn cycles(dependencies: &BTreeMap<String, Vec<String>>) -> Vec<String> {
    let reaches_itself = |start: &String| {
        let mut open: Vec<&String> = dependencies[start].iter().collect();
        let mut seen: Vec<&String> = Vec::new();
        while let Some(id) = open.pop() {
            if id == start {
                return true;
            }
            if !seen.contains(&id) {
                seen.push(id);
                open.extend(dependencies.get(id).into_iter().flatten());
            }
        }
        false
    };
    dependencies.keys().filter(|id| reaches_itself(id)).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_of_the_registry_is_read() {
        let expected: BTreeMap<String, Option<String>> =
            [("a".to_string(), Some("active".to_string())), ("b".to_string(), None)].into();
        for text in [
            r#"[{"id":"a","status":"active"},{"responsibility_id":"b"}]"#,
            r#"[{"id":"a","status":"active"},"b"]"#,
            r#"{"a":{"status":"active"},"b":{}}"#,
            r#"{"version":1,"responsibilities":{"a":"active","b":{}}}"#,
        ] {
            assert_eq!(read(text).expect("it is JSON"), expected, "{text}");
        }
        assert!(read("[").is_err());
    }

    #[test]
    fn tools_and_mandates_of_a_manifest_are_read() {
        let text = r#"{"responsibility_id":"a","mandates":["m.x"],"tools":["plain",{"name":"bank","resource":"read","guardrail_clause":"money.read"},{"resource":"nameless"}]}"#;
        let stated = capabilities(text).expect("a manifest");
        assert_eq!(stated.mandates, ["m.x"]);
        let names: Vec<&str> = stated.tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(names, ["plain", "bank"]);
        assert_eq!(stated.tools[1].guardrail_clause.as_deref(), Some("money.read"));
        assert_eq!(capabilities("{\"name\":\"an extension\"}"), None);
    }

    #[test]
    fn a_cycle_is_found_through_others() {
        let graph = |edges: &[(&str, &str)]| {
            let mut graph: BTreeMap<String, Vec<String>> = BTreeMap::new();
            for (from, to) in edges {
                graph.entry(from.to_string()).or_default().push(to.to_string());
            }
            graph
        };
        assert_eq!(cycles(&graph(&[("a", "b"), ("b", "c"), ("c", "b")])), ["b", "c"]);
        assert!(cycles(&graph(&[("a", "b"), ("b", "c")])).is_empty());
    }
}
