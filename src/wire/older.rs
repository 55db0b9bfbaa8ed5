//! Converts hand-written manifests of the older format, without checksums, to configuration.

use serde_json::{Map, Value, json};

use super::schema::{self, SchemaViolation};
use super::yaml::{LocatedYaml, YamlError};
use crate::model::Trigger;

/// Settings of a hand-written manifest.
#[derive(Debug)]
pub struct Intent {
    /// YAML for the configuration, with unknown keys as comments.
    pub yaml: String,
    /// Line and name of each unknown key.
    pub unknown: Vec<(u32, String)>,
}

const TIERS: [&str; 3] = ["identity", "workflow", "reference"];

/// Keys that describe a build and are not settings.
const FACTS: [&str; 4] = ["version", "generated_at", "source_commit", "checksum"];

/// Reads the tiers and plugins of a hand-written manifest. Values that the configuration does not
/// accept are errors with their line.
pub fn intent(text: &str) -> Result<Intent, Vec<SchemaViolation>> {
    let (located, inserted) = parse(text).map_err(|invalid| vec![unreadable(&invalid)])?;
    let line = |pointer: &str| {
        let line = located.line(pointer);
        line - inserted.iter().filter(|at| **at < line).count() as u32
    };
    let Value::Object(all) = &located.value else {
        let message = "expected a mapping of tiers".to_string();
        return Err(vec![violation(1, "$", message, "write identity:, workflow: or reference:")]);
    };
    let (tiers, base) = match all.get("tiers") {
        Some(Value::Object(tiers)) => (tiers, "/tiers"),
        _ => (all, ""),
    };
    let mut settings = Map::new();
    let mut unknown = UnknownKeys::default();
    for name in TIERS {
        if let Some(tier) = tiers.get(name) {
            settings.insert(
                name.to_string(),
                known_settings(tier, &format!("{base}/{name}"), &mut unknown),
            );
        }
    }
    let inner = if base.is_empty() { None } else { Some((base, tiers)) };
    for (base, values) in [("", all)].into_iter().chain(inner) {
        for (key, value) in values {
            match key.as_str() {
                "plugins" => {
                    settings.insert(key.clone(), value.clone());
                }
                "tiers" if value.is_object() => {}
                key if FACTS.contains(&key) || TIERS.contains(&key) => {}
                key => unknown.add(&format!("{base}/{key}"), value),
            }
        }
    }
    let violations = refused(&settings, base, &line);
    if !violations.is_empty() {
        return Err(violations);
    }
    let mut yaml = String::new();
    for (key, value) in settings {
        yaml.push('\n');
        yaml.push_str(&serde_yaml::to_string(&json!({ key: value })).expect("JSON is YAML"));
    }
    yaml.push_str(&unknown.comment());
    let unknown = unknown.0.iter().map(|(pointer, _)| (line(pointer), dotted(pointer))).collect();
    Ok(Intent { yaml, unknown })
}

/// Unknown keys by JSON pointer, with their values.
#[derive(Default)]
struct UnknownKeys(Vec<(String, Value)>);

impl UnknownKeys {
    fn add(&mut self, pointer: &str, value: &Value) {
        self.0.push((pointer.to_string(), value.clone()));
    }

    fn comment(&self) -> String {
        let lines =
            self.0.iter().map(|(pointer, value)| format!("# {}: {value}\n", dotted(pointer)));
        match self.0.is_empty() {
            true => String::new(),
            false => format!(
                "\n# From the older manifest; blue does not know these keys:\n{}",
                lines.collect::<String>()
            ),
        }
    }
}

fn dotted(pointer: &str) -> String {
    let name = pointer.trim_start_matches('/').replace('/', ".");
    name.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

/// Returns a tier with only the keys of the configuration.
fn known_settings(tier: &Value, pointer: &str, unknown: &mut UnknownKeys) -> Value {
    let keys = [
        "max_tokens",
        "refresh_triggers",
        "branch_prefix",
        "max_bundles",
        "guide_tokens",
        "graph",
        "staleness_days",
    ];
    let Value::Object(settings) = tier else { return sources(tier, pointer, unknown) };
    let mut known = Map::new();
    for (key, value) in settings {
        let pointer = format!("{pointer}/{key}");
        match key.as_str() {
            "sources" => {
                known.insert(key.clone(), sources(value, &pointer, unknown));
            }
            key if keys.contains(&key) => {
                known.insert(key.to_string(), value.clone());
            }
            _ => unknown.add(&pointer, value),
        }
    }
    Value::Object(known)
}

/// Returns sources as bare addresses.
fn sources(value: &Value, pointer: &str, unknown: &mut UnknownKeys) -> Value {
    let Value::Array(items) = value else { return value.clone() };
    let mut source = |(i, item): (usize, &Value)| match (item, item.get("uri")) {
        (Value::Object(settings), Some(uri)) => {
            for (key, value) in settings.iter().filter(|(key, _)| *key != "uri") {
                unknown.add(&format!("{pointer}/{i}/{key}"), value);
            }
            uri.clone()
        }
        _ => item.clone(),
    };
    Value::Array(items.iter().enumerate().map(&mut source).collect())
}

/// Validates the settings as configuration. Lines are those of the manifest.
fn refused(
    settings: &Map<String, Value>,
    base: &str,
    line: &dyn Fn(&str) -> u32,
) -> Vec<SchemaViolation> {
    let text = serde_yaml::to_string(settings).expect("JSON is YAML");
    let mut violations = schema::validate("config", &text);
    let triggers = settings.get("workflow").and_then(|tier| tier.get("refresh_triggers"));
    for (i, trigger) in triggers.and_then(Value::as_array).into_iter().flatten().enumerate() {
        if trigger.as_str().is_some_and(|text| Trigger::parse(text).is_none()) {
            let path = format!("$.workflow.refresh_triggers[{i}]");
            let hint = "write on_rfc_change, every_<n>_turns or on_tool_call: <name>";
            violations.push(violation(0, &path, format!("unknown trigger {trigger}"), hint));
        }
    }
    for violation in &mut violations {
        let pointer =
            violation.path.trim_start_matches('$').replace(['.', '['], "/").replace(']', "");
        let base = if pointer.starts_with("/plugins") { "" } else { base };
        violation.line = line(&format!("{base}{pointer}"));
    }
    violations
}

fn violation(line: u32, path: &str, message: String, hint: &str) -> SchemaViolation {
    SchemaViolation { line, path: path.to_string(), message, hint: Some(hint.to_string()) }
}

fn unreadable(invalid: &YamlError) -> SchemaViolation {
    let hint = match invalid.message.contains("duplicate") {
        true => "write each key once, indented below its tier",
        false => "correct it there, or move the file away; then run `blue init` again",
    };
    violation(invalid.line, "$", invalid.message.clone(), hint)
}

/// Parses a manifest. Returns it with the numbers of the lines that had to be inserted.
fn parse(text: &str) -> Result<(LocatedYaml, Vec<u32>), YamlError> {
    let text = text.trim_start_matches('\u{feff}');
    let invalid = match LocatedYaml::yaml(text) {
        Ok(located) => return Ok((located, Vec::new())),
        Err(invalid) => invalid,
    };
    let (mended, inserted) = with_sources(text);
    if inserted.is_empty() {
        return Err(invalid);
    }
    match LocatedYaml::yaml(&mended) {
        Ok(located) => Ok((located, inserted)),
        Err(YamlError { line, message }) => {
            let above = inserted.iter().filter(|at| **at < line).count() as u32;
            Err(YamlError { line: line - above, message })
        }
    }
}

/// Inserts `sources:` above a tier's list that is followed by settings in the same column. This is not
/// valid YAML, but the first description of the format used it. Returns the text and the numbers of the
/// inserted lines.
fn with_sources(text: &str) -> (String, Vec<u32>) {
    let lines: Vec<&str> = text.lines().collect();
    let column = |line: &str| line.len() - line.trim_start_matches(' ').len();
    let has_content = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    let is_item = |line: &str| line.trim_start().starts_with("- ");
    let (mut mended, mut inserted) = (Vec::new(), Vec::new());
    for (i, line) in lines.iter().enumerate() {
        mended.push(line.to_string());
        let is_tier = TIERS.iter().any(|tier| {
            line.trim_start()
                .strip_prefix(tier)
                .is_some_and(|rest| rest.split('#').next().is_some_and(|rest| rest.trim() == ":"))
        });
        let mut below = lines[i + 1..].iter().copied().filter(has_content);
        let Some(first) = below.next().filter(|first| is_tier && is_item(first)) else { continue };
        let settings = below.find(|line| column(line) <= column(first) && !is_item(line));
        if settings.is_some_and(|settings| column(settings) == column(first))
            && column(first) > column(line)
        {
            mended.push(format!("{}sources:", " ".repeat(column(first))));
            inserted.push(mended.len() as u32);
        }
    }
    (mended.join("\n") + "\n", inserted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tiers_of_an_older_manifest_become_valid_configuration() {
        let text = "version: 1\nidentity:\n  - uri: blue://docs/adrs/\n    note: x\nworkflow:\n  sources:\n    - uri: blue://state/current-rfc\n  max_tokens: 2000\n  injection: auto\n";
        let Intent { yaml, unknown } = intent(text).expect("it is a manifest");
        assert_eq!(schema::validate("config", &yaml), []);
        assert!(yaml.contains("blue://docs/adrs/") && yaml.contains("max_tokens: 2000"), "{yaml}");
        assert!(yaml.contains("# workflow.injection: \"auto\"\n"), "{yaml}");
        let names = [(4, "identity.0.note".to_string()), (9, "workflow.injection".to_string())];
        assert_eq!(unknown, names);
    }

    #[test]
    fn settings_after_a_list_are_settings_of_its_tier() {
        for tiers in ["", "tiers:\n"] {
            let indent = if tiers.is_empty() { "" } else { "  " };
            let text = "identity: # who\n  # first\n  - uri: blue://docs/adrs/\n\n  - blue://context/voice\n  max_tokens: 500\nreference:\n  - blue://docs/rfcs/\n  staleness_days: 3\n  max_tokens: 7\n";
            let lines = text.lines().map(|line| format!("{indent}{line}\n"));
            let text = format!("{tiers}{}", lines.collect::<String>());
            let yaml = intent(&text).expect("it is a manifest").yaml;
            let value: Value = serde_yaml::from_str(&yaml).expect("it is YAML");
            let expected = json!({"sources": ["blue://docs/adrs/", "blue://context/voice"], "max_tokens": 500});
            assert_eq!(value["identity"], expected, "{yaml}");
            assert_eq!(value["reference"]["staleness_days"], 3);
        }
    }

    #[test]
    fn unacceptable_values_are_reported_with_line_and_hint() {
        let at = |text: &str| {
            let violations = intent(text).expect_err(text);
            assert!(
                violations[0].hint.is_some() || !violations[0].message.is_empty(),
                "{violations:?}"
            );
            violations[0].line
        };
        assert_eq!(at("identity:\n- uri: a\nmax_tokens: 5\nworkflow:\nmax_tokens: 6\n"), 5);
        assert_eq!(at("identity:\n  - uri: a\n  max_tokens: many\n"), 3);
        assert_eq!(
            at(
                "tiers:\n  identity:\n    - uri: a\n    max_tokens: 5\n  workflow:\n    max_tokens: x\n"
            ),
            6
        );
        assert_eq!(at("workflow:\n  refresh_triggers: [on_rfc_change, on_full_moon]\n"), 2);
        assert_eq!(at("identity:\n  - uri: a\nplugins:\n  - Bad Name\n"), 4);
        assert_eq!(at("identity:\n  - path: a.md\n"), 2);
        assert_eq!(at("identity: [a\n  b: {\n"), 2);
        assert_eq!(at("- one\n"), 1);
    }
}
