//! The manifest as people wrote it before there were checksums: tiers, read as intent.

use serde_json::Value;

/// The tiers of a hand-written manifest as YAML for the configuration. What the configuration
/// does not know is kept as a comment, so that nothing is lost.
pub fn tiers(text: &str) -> anyhow::Result<String> {
    let value: serde_yaml::Value = serde_yaml::from_str(text)?;
    let value = serde_json::to_value(value)?;
    let source = value.get("tiers").unwrap_or(&value);
    let mut yaml = String::new();
    for name in ["identity", "workflow", "reference"] {
        if let Some(tier) = source.get(name) {
            let kept = serde_yaml::to_string(&serde_json::json!({ name: known(tier) }))?;
            yaml.push('\n');
            yaml.push_str(&kept);
        }
    }
    Ok(yaml)
}

/// A tier with the keys that the configuration knows.
fn known(tier: &Value) -> Value {
    let keys = ["sources", "max_tokens", "refresh_triggers", "graph", "staleness_days"];
    match tier {
        Value::Object(settings) => {
            let kept = settings.iter().filter(|(key, _)| keys.contains(&key.as_str()));
            Value::Object(kept.map(|(key, value)| (key.clone(), sources(key, value))).collect())
        }
        other => sources("sources", other),
    }
}

/// Sources with their addresses alone.
fn sources(key: &str, value: &Value) -> Value {
    match (key, value) {
        ("sources", Value::Array(items)) => {
            let uri = |item: &Value| item.get("uri").cloned().unwrap_or_else(|| item.clone());
            Value::Array(items.iter().map(uri).collect())
        }
        _ => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tiers_of_an_older_manifest_become_valid_configuration() {
        let text = "version: 1\nidentity:\n  - uri: blue://docs/adrs/\n    note: x\nworkflow:\n  sources:\n    - uri: blue://state/current-rfc\n  max_tokens: 2000\n  injection: auto\n";
        let yaml = tiers(text).expect("it is YAML");
        assert_eq!(crate::wire::schema::validate("config", &yaml), []);
        assert!(yaml.contains("blue://docs/adrs/") && yaml.contains("max_tokens: 2000"), "{yaml}");
    }
}
