//! The model in the settings of Claude Code, edited in place.

use super::jsonc::{self, NodeKind, SettingsError};
use super::jsonc_edit::{self, Layout, NewValue};

/// Settings of one person in a project, which git ignores.
pub const LOCAL_SETTINGS: &str = ".claude/settings.local.json";

/// Sets `model` in the text of a settings file. No other byte changes. Returns `None` if the model is
/// already set.
pub fn with_model(text: &str, model: &str) -> Result<Option<String>, SettingsError> {
    let text = if text.trim().is_empty() { "{}\n" } else { text };
    let parsed = jsonc::parse(text)?;
    let root = parsed.root.as_ref().filter(|root| matches!(root.kind, NodeKind::Object(_)));
    let Some(root) = root else {
        return Err(SettingsError::at(text, 0, "settings are a JSON object"));
    };
    let (layout, value) = (Layout::detect(text, root), NewValue::string(model));
    Ok(match root.get("model") {
        Some(node) if value.equals(text, node) => None,
        Some(node) => Some(jsonc_edit::replace(text, &layout, node, &value)),
        None => Some(jsonc_edit::append(text, &parsed, &layout, root, Some("model"), &value).text),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_model_changes() {
        let set = |text: &str| with_model(text, "big").expect("it is JSON");
        let text = "{\n  // mine\n  \"model\": \"small\",\n  \"env\": {}\n}\n";
        assert_eq!(set(text), Some(text.replace("small", "big")));
        assert_eq!(set("{\"model\": \"big\"}"), None);
        let added: serde_json::Value =
            serde_json::from_str(&set("{\"env\": {}}").expect("a change")).expect("it is JSON");
        assert_eq!(added, serde_json::json!({"env": {}, "model": "big"}));
        assert!(set("").is_some_and(|text| text.contains("\"model\"")));
        assert!(with_model("[]", "big").is_err());
    }
}
