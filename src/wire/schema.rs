//! JSON Schemas derived from types, and the validation of files.

use jsonschema::error::ValidationErrorKind;
use jsonschema::{ValidationError, Validator};
use serde_json::Value;

use super::yaml::LocatedYaml;
use super::{accepted, audit, config, jsonl, manifest, paths, responsibility_state, user};

/// Names of all schemas.
pub const NAMES: [&str; 13] = [
    "config",
    "manifest",
    "documents",
    "relevance",
    "paths",
    "bundles",
    "audit",
    "accepted",
    "provenance",
    "user",
    "trust",
    "state",
    "overrides",
];

/// A violation of a schema in a file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SchemaViolation {
    /// Line, from 1.
    pub line: u32,
    /// JSON path, such as `$.identity.max_tokens`.
    pub path: String,
    /// Description.
    pub message: String,
    /// Correction to suggest.
    pub hint: Option<String>,
}

/// Returns the schema with a name.
pub fn schema(name: &str) -> Option<Value> {
    let schema = match name {
        "config" => schemars::schema_for!(config::Config),
        "manifest" => schemars::schema_for!(manifest::Manifest),
        "documents" => schemars::schema_for!(jsonl::DocumentLine),
        "relevance" => schemars::schema_for!(jsonl::RelevanceLine),
        "paths" => schemars::schema_for!(paths::PathLine),
        "bundles" => schemars::schema_for!(jsonl::BundleLine),
        "audit" => schemars::schema_for!(audit::AuditLine),
        "accepted" => schemars::schema_for!(accepted::AcceptedLine),
        "provenance" => schemars::schema_for!(jsonl::ProvenanceLine),
        "user" => schemars::schema_for!(user::UserConfig),
        "trust" => schemars::schema_for!(user::TrustLine),
        "state" => schemars::schema_for!(responsibility_state::StateLine),
        "overrides" => schemars::schema_for!(responsibility_state::OverrideLine),
        _ => return None,
    };
    Some(schema.to_value())
}

/// Returns the text of a schema's file.
pub fn text(name: &str) -> Option<String> {
    let schema = schema(name)?;
    Some(format!("{}\n", serde_json::to_string_pretty(&schema).expect("a schema is JSON")))
}

/// Returns the name of the schema for a file.
pub fn name_for(file: &str) -> Option<&'static str> {
    match file.rsplit('/').next().unwrap_or(file) {
        "config.yaml" | "config.yml" => Some("config"),
        "context.manifest.yaml" => Some("manifest"),
        "documents.jsonl" => Some("documents"),
        "relevance.jsonl" => Some("relevance"),
        "paths.jsonl" => Some("paths"),
        "bundles.jsonl" => Some("bundles"),
        "accepted.jsonl" => Some("accepted"),
        "audit.jsonl" | "audit.1.jsonl" => Some("audit"),
        "trust.jsonl" => Some("trust"),
        "state.jsonl" => Some("state"),
        "overrides.jsonl" => Some("overrides"),
        _ => None,
    }
}

/// Creates an error that lists all violations in a file, each with its line and hint.
pub fn error(file: &str, violations: &[SchemaViolation]) -> anyhow::Error {
    let lines: Vec<String> = violations
        .iter()
        .map(|violation| {
            let hint =
                violation.hint.as_ref().map_or(String::new(), |hint| format!("\nhint: {hint}"));
            format!("{file}:{}: {} at {}{hint}", violation.line, violation.message, violation.path)
        })
        .collect();
    anyhow::anyhow!("{}", lines.join("\n"))
}

fn validator(schema: &Value) -> Validator {
    jsonschema::validator_for(schema).expect("a schema made from a type is valid")
}

/// Validates the text of a file. Returns nothing if it is valid.
pub fn validate(name: &str, text: &str) -> Vec<SchemaViolation> {
    let Some(schema) = schema(name) else { return Vec::new() };
    match name {
        "config" => validate_yaml(&schema, text, config::refusals),
        "manifest" | "user" => validate_yaml(&schema, text, |_| Vec::new()),
        // These files are not emitted by a build, so they have no provenance line.
        "audit" | "accepted" | "trust" | "state" | "overrides" => {
            validate_lines(&schema, text, FirstLine::Data)
        }
        _ => validate_lines(&schema, text, FirstLine::Provenance),
    }
}

/// A value that a schema accepts but blue does not.
pub struct Refusal {
    /// JSON pointer.
    pub pointer: String,
    /// Description.
    pub message: String,
    /// Correction to suggest.
    pub hint: String,
}

fn validate_yaml(
    schema: &Value,
    text: &str,
    refusals: impl Fn(&Value) -> Vec<Refusal>,
) -> Vec<SchemaViolation> {
    let located = match LocatedYaml::yaml(text) {
        Ok(located) => located,
        Err(invalid) => {
            let (line, message) = (invalid.line, invalid.message);
            return vec![SchemaViolation { line, path: "$".to_string(), message, hint: None }];
        }
    };
    // An empty file is valid.
    if located.value.is_null() {
        return Vec::new();
    }
    let validator = validator(schema);
    let mut violations = Vec::new();
    for error in validator.iter_errors(&located.value) {
        describe(schema, &error, &|pointer| located.line(pointer), &mut violations);
    }
    violations.extend(refusals(&located.value).into_iter().map(|refusal| SchemaViolation {
        line: located.line(&refusal.pointer),
        path: json_path(&refusal.pointer),
        message: refusal.message,
        hint: Some(refusal.hint),
    }));
    violations
}

/// Maximum number of reported violations in a file with many lines.
const MAX_VIOLATIONS: usize = 100;

/// Content of the first line of a file.
#[derive(Clone, Copy, Eq, PartialEq)]
enum FirstLine {
    Provenance,
    Data,
}

fn validate_lines(schema: &Value, text: &str, first_line: FirstLine) -> Vec<SchemaViolation> {
    let first = validator(&self::schema("provenance").expect("it is one of the names"));
    let rest = validator(schema);
    let mut violations = Vec::new();
    for (i, line) in text.lines().enumerate() {
        let number = i as u32 + 1;
        let (validator, schema) = if i == 0 && first_line == FirstLine::Provenance {
            (&first, &Value::Null)
        } else {
            (&rest, schema)
        };
        match serde_json::from_str::<Value>(line) {
            Err(error) => {
                let message = format!("not JSON: {error}");
                violations.push(SchemaViolation {
                    line: number,
                    path: "$".to_string(),
                    message,
                    hint: None,
                });
            }
            Ok(value) => {
                for error in validator.iter_errors(&value) {
                    describe(schema, &error, &|_| number, &mut violations);
                }
            }
        }
        if violations.len() >= MAX_VIOLATIONS {
            break;
        }
    }
    violations
}

/// Converts an error of the validator. If there are alternatives, the most likely one is described.
fn describe(
    schema: &Value,
    error: &ValidationError<'_>,
    line: &dyn Fn(&str) -> u32,
    violations: &mut Vec<SchemaViolation>,
) {
    let pointer = error.instance_path().as_str();
    match error.kind() {
        ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => {
            // An alternative in which the type of the whole value is right was probably meant.
            let at_top = |error: &ValidationError<'_>| {
                error.instance_path().as_str() == pointer
                    && matches!(error.kind(), ValidationErrorKind::Type { .. })
            };
            let meant =
                context.iter().find(|branch| !branch.is_empty() && !branch.iter().any(at_top));
            match meant {
                Some(branch) => {
                    branch.iter().for_each(|error| describe(schema, error, line, violations))
                }
                None => violations.push(plain(error, line(pointer))),
            }
        }
        ValidationErrorKind::AdditionalProperties { unexpected } => {
            for key in unexpected {
                let at = format!("{pointer}/{key}");
                let known = known_keys(schema, error.schema_path().as_str());
                let hint = nearest(key, &known).map(|near| format!("did you mean `{near}`?"));
                let hint = hint.or_else(|| {
                    (!known.is_empty()).then(|| format!("known keys: {}", known.join(", ")))
                });
                let message = format!("unknown key `{key}`");
                violations.push(SchemaViolation {
                    line: line(&at),
                    path: json_path(&at),
                    message,
                    hint,
                });
            }
        }
        ValidationErrorKind::Enum { options } => {
            let known: Vec<String> =
                options.as_array().into_iter().flatten().map(text_of).collect();
            let meant = nearest(&text_of(error.instance()), &known);
            let hint = match meant {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("write one of {}", known.join(", ")),
            };
            violations.push(SchemaViolation { hint: Some(hint), ..plain(error, line(pointer)) });
        }
        _ => violations.push(plain(error, line(pointer))),
    }
}

fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_string)
}

fn plain(error: &ValidationError<'_>, line: u32) -> SchemaViolation {
    let mut message = error.to_string();
    if message.len() > 300 {
        message = message.chars().take(300).collect::<String>() + "…";
    }
    SchemaViolation { line, path: json_path(error.instance_path().as_str()), message, hint: None }
}

/// Returns the keys of the object whose `additionalProperties` is at a path of the schema.
fn known_keys(schema: &Value, schema_path: &str) -> Vec<String> {
    let parts: Vec<&str> = schema_path.split('/').filter(|part| !part.is_empty()).collect();
    let mut at = schema;
    for part in parts.iter().take(parts.len().saturating_sub(1)) {
        at = resolve_reference(schema, at);
        if *part == "$ref" {
            continue;
        }
        at = match at {
            Value::Array(items) => {
                part.parse::<usize>().ok().and_then(|i| items.get(i)).unwrap_or(&Value::Null)
            }
            other => &other[*part],
        };
    }
    resolve_reference(schema, at)["properties"]
        .as_object()
        .map(|properties| properties.keys().cloned().collect())
        .unwrap_or_default()
}

/// Follows a `$ref` to a definition of the schema.
fn resolve_reference<'a>(schema: &'a Value, at: &'a Value) -> &'a Value {
    let reference = at.get("$ref").and_then(Value::as_str);
    reference
        .and_then(|name| name.strip_prefix("#/$defs/"))
        .map_or(at, |name| &schema["$defs"][name])
}

fn nearest(key: &str, known: &[String]) -> Option<String> {
    let key = key.to_lowercase();
    let scored =
        known.iter().map(|name| (strsim::damerau_levenshtein(&key, &name.to_lowercase()), name));
    let (distance, name) = scored.min()?;
    (distance <= 2.max(key.len() / 3)).then(|| name.clone())
}

/// Converts `/identity/sources/0` to `$.identity.sources[0]`.
fn json_path(pointer: &str) -> String {
    let mut path = "$".to_string();
    for part in pointer.split('/').skip(1) {
        let part = part.replace("~1", "/").replace("~0", "~");
        match part.bytes().all(|b| b.is_ascii_digit()) && !part.is_empty() {
            true => path.push_str(&format!("[{part}]")),
            false => path.push_str(&format!(".{part}")),
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typo_in_a_key_is_found_with_its_line_and_the_right_key() {
        let violations = validate("config", "version: 1\nidentity:\n  max_token: 5\n");
        assert_eq!(violations.len(), 1, "{violations:?}");
        assert_eq!((violations[0].line, violations[0].path.as_str()), (3, "$.identity.max_token"));
        assert_eq!(violations[0].hint.as_deref(), Some("did you mean `max_tokens`?"));
        let violations = validate("config", "securty: {}\n");
        assert_eq!(violations[0].hint.as_deref(), Some("did you mean `security`?"));
    }

    #[test]
    fn both_spellings_of_a_tier_are_valid() {
        let text = "identity:\n  - uri: blue://docs/adrs/\n  - blue://context/voice\nworkflow:\n  sources: []\n  refresh_triggers: [on_rfc_change, {on_tool_call: x}]\n";
        assert_eq!(validate("config", text), []);
        assert_eq!(validate("config", ""), []);
    }

    #[test]
    fn a_wrong_type_names_its_path() {
        let violations = validate("config", "tokens:\n  margin_percent: lots\n");
        assert_eq!(
            (violations[0].line, violations[0].path.as_str()),
            (2, "$.tokens.margin_percent")
        );
    }
}
