//! The manifest as people wrote it before there were checksums: tiers and plugins, read as intent.

use serde_json::{Map, Value, json};

use super::schema::{self, Finding};
use super::yaml::{Invalid, Placed};
use crate::model::Trigger;

/// The intent of a hand-written manifest.
#[derive(Debug)]
pub struct Intent {
    /// YAML for the configuration. What the configuration does not know is in it as comments.
    pub yaml: String,
    /// Keys that are only kept as comments: line in the manifest and name.
    pub unknown: Vec<(u32, String)>,
}

const TIERS: [&str; 3] = ["identity", "workflow", "reference"];

/// Keys of the manifest that say when it was made, not what is wanted.
const FACTS: [&str; 4] = ["version", "generated_at", "source_commit", "checksum"];

/// Reads the tiers and plugins of a hand-written manifest. What the configuration could not accept is
/// found here, with its line, before anything is written.
pub fn intent(text: &str) -> Result<Intent, Vec<Finding>> {
    let (placed, inserted) = placed(text).map_err(|invalid| vec![unreadable(&invalid)])?;
    let line = |pointer: &str| {
        let line = placed.line(pointer);
        line - inserted.iter().filter(|at| **at < line).count() as u32
    };
    let Value::Object(all) = &placed.value else {
        let message = "it is no mapping of tiers".to_string();
        return Err(vec![finding(1, "$", message, "write identity:, workflow: or reference:")]);
    };
    let (tiers, base) = match all.get("tiers") {
        Some(Value::Object(tiers)) => (tiers, "/tiers"),
        _ => (all, ""),
    };
    let mut wanted = Map::new();
    let mut unknown = Unknown::default();
    for name in TIERS {
        if let Some(tier) = tiers.get(name) {
            wanted.insert(name.to_string(), known(tier, &format!("{base}/{name}"), &mut unknown));
        }
    }
    let inner = if base.is_empty() { None } else { Some((base, tiers)) };
    for (base, values) in [("", all)].into_iter().chain(inner) {
        for (key, value) in values {
            match key.as_str() {
                "plugins" => {
                    wanted.insert(key.clone(), value.clone());
                }
                "tiers" if value.is_object() => {}
                key if FACTS.contains(&key) || TIERS.contains(&key) => {}
                key => unknown.add(&format!("{base}/{key}"), value),
            }
        }
    }
    let findings = refused(&wanted, base, &line);
    if !findings.is_empty() {
        return Err(findings);
    }
    let mut yaml = String::new();
    for (key, value) in wanted {
        yaml.push('\n');
        yaml.push_str(&serde_yaml::to_string(&json!({ key: value })).expect("JSON is YAML"));
    }
    yaml.push_str(&unknown.comment());
    let unknown = unknown.0.iter().map(|(pointer, _)| (line(pointer), dotted(pointer))).collect();
    Ok(Intent { yaml, unknown })
}

/// Parts of the manifest that the configuration has no key for, by JSON pointer.
#[derive(Default)]
struct Unknown(Vec<(String, Value)>);

impl Unknown {
    fn add(&mut self, pointer: &str, value: &Value) {
        self.0.push((pointer.to_string(), value.clone()));
    }

    fn comment(&self) -> String {
        let lines =
            self.0.iter().map(|(pointer, value)| format!("# {}: {value}\n", dotted(pointer)));
        match self.0.is_empty() {
            true => String::new(),
            false => format!(
                "\n# From the older manifest; blue knows no such keys:\n{}",
                lines.collect::<String>()
            ),
        }
    }
}

fn dotted(pointer: &str) -> String {
    let name = pointer.trim_start_matches('/').replace('/', ".");
    name.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

/// A tier with the keys that the configuration knows.
fn known(tier: &Value, pointer: &str, unknown: &mut Unknown) -> Value {
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
    let mut kept = Map::new();
    for (key, value) in settings {
        let pointer = format!("{pointer}/{key}");
        match key.as_str() {
            "sources" => {
                kept.insert(key.clone(), sources(value, &pointer, unknown));
            }
            key if keys.contains(&key) => {
                kept.insert(key.to_string(), value.clone());
            }
            _ => unknown.add(&pointer, value),
        }
    }
    Value::Object(kept)
}

/// Sources with their addresses alone.
fn sources(value: &Value, pointer: &str, unknown: &mut Unknown) -> Value {
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

/// Values that the configuration would not accept, with their lines in the manifest.
fn refused(wanted: &Map<String, Value>, base: &str, line: &dyn Fn(&str) -> u32) -> Vec<Finding> {
    let text = serde_yaml::to_string(wanted).expect("JSON is YAML");
    let mut findings = schema::validate("config", &text);
    let triggers = wanted.get("workflow").and_then(|tier| tier.get("refresh_triggers"));
    for (i, trigger) in triggers.and_then(Value::as_array).into_iter().flatten().enumerate() {
        if trigger.as_str().is_some_and(|text| Trigger::parse(text).is_none()) {
            let path = format!("$.workflow.refresh_triggers[{i}]");
            let hint = "write on_rfc_change, every_<n>_turns or on_tool_call: <name>";
            findings.push(finding(0, &path, format!("unknown trigger {trigger}"), hint));
        }
    }
    for finding in &mut findings {
        let pointer =
            finding.path.trim_start_matches('$').replace(['.', '['], "/").replace(']', "");
        let base = if pointer.starts_with("/plugins") { "" } else { base };
        finding.line = line(&format!("{base}{pointer}"));
    }
    findings
}

fn finding(line: u32, path: &str, message: String, hint: &str) -> Finding {
    Finding { line, path: path.to_string(), message, hint: Some(hint.to_string()) }
}

fn unreadable(invalid: &Invalid) -> Finding {
    let hint = match invalid.message.contains("duplicate") {
        true => "write each key once, indented below its tier",
        false => "correct it there, or move the file away; then run `blue init` again",
    };
    finding(invalid.line, "$", invalid.message.clone(), hint)
}

/// The value of a manifest and the lines that were put in to read it.
fn placed(text: &str) -> Result<(Placed, Vec<u32>), Invalid> {
    let text = text.trim_start_matches('\u{feff}');
    let invalid = match Placed::yaml(text) {
        Ok(placed) => return Ok((placed, Vec::new())),
        Err(invalid) => invalid,
    };
    let (mended, inserted) = with_sources(text);
    if inserted.is_empty() {
        return Err(invalid);
    }
    match Placed::yaml(&mended) {
        Ok(placed) => Ok((placed, inserted)),
        Err(Invalid { line, message }) => {
            let above = inserted.iter().filter(|at| **at < line).count() as u32;
            Err(Invalid { line: line - above, message })
        }
    }
}

/// Puts `sources:` above the list of a tier that settings follow in the same column, which is no YAML
/// but how the first description of the format writes it. Gives the lines that were put in, from 1.
fn with_sources(text: &str) -> (String, Vec<u32>) {
    let lines: Vec<&str> = text.lines().collect();
    let column = |line: &str| line.len() - line.trim_start_matches(' ').len();
    let says = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    let is_item = |line: &str| line.trim_start().starts_with("- ");
    let (mut mended, mut inserted) = (Vec::new(), Vec::new());
    for (i, line) in lines.iter().enumerate() {
        mended.push(line.to_string());
        let is_tier = TIERS.iter().any(|tier| {
            line.trim_start()
                .strip_prefix(tier)
                .is_some_and(|rest| rest.split('#').next().is_some_and(|rest| rest.trim() == ":"))
        });
        let mut below = lines[i + 1..].iter().copied().filter(says);
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
    fn what_cannot_be_accepted_is_named_with_its_line_and_what_to_write() {
        let at = |text: &str| {
            let findings = intent(text).expect_err(text);
            assert!(findings[0].hint.is_some() || !findings[0].message.is_empty(), "{findings:?}");
            findings[0].line
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
