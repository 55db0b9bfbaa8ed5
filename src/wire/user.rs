//! The user's files in `$BLUE_HOME`: configuration, and consent for each project.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::schema;

/// `config.yaml` in `$BLUE_HOME`: settings of the user, for every project on this machine.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
#[schemars(title = "blue user configuration")]
pub struct UserConfig {
    /// The version of this format.
    #[schemars(range(min = 1, max = 1))]
    pub version: Option<u32>,
    /// Absolute paths of projects that belong to another user and are trusted all the same; `*` for
    /// all.
    pub safe_directories: Vec<String>,
    /// Way to switch the model of an agent, if a policy of a project with `enforcement_mode: enforce`
    /// asks for it. Without this key, blue only notifies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_switch: Option<ModelSwitch>,
}

/// Way to switch the model of an agent.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ModelSwitch {
    /// Sets `model` in `.claude/settings.local.json` of the project.
    ClaudeSettings,
}

impl UserConfig {
    /// Parses the file. Errors have the line.
    pub fn read(text: &str) -> anyhow::Result<UserConfig> {
        if let Some(violation) = schema::validate("user", text).into_iter().next() {
            let hint = violation.hint.map_or(String::new(), |hint| format!("\nhint: {hint}"));
            anyhow::bail!(
                "line {}: {} at {}{hint}",
                violation.line,
                violation.message,
                violation.path
            );
        }
        Ok(serde_yaml::from_str::<Option<UserConfig>>(text)?.unwrap_or_default())
    }

    /// Returns true if a project is trusted, regardless of its owner.
    pub fn is_safe(&self, root: &Path) -> bool {
        let matches = |listed: &String| listed == "*" || Path::new(listed) == root;
        self.safe_directories.iter().any(matches)
    }
}

/// One line of `trust.jsonl` in `$BLUE_HOME`: what the user allowed one project.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct TrustLine {
    /// The project's root, links resolved.
    pub root: PathBuf,
    /// Files outside it that its links may point to.
    pub external: Vec<PathBuf>,
}

/// Parses the consents of all projects. An invalid line allows nothing.
pub fn trust_lines(text: &str) -> Vec<TrustLine> {
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// Renders the file. Fails for a path that is not UTF-8.
pub fn trust_text(lines: &[TrustLine]) -> anyhow::Result<String> {
    lines.iter().map(|line| Ok(format!("{}\n", serde_json::to_string(line)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_safe_by_its_whole_path() {
        let config = UserConfig::read("safe_directories: [/srv/shop]\n").expect("it is valid");
        assert!(config.is_safe(Path::new("/srv/shop")));
        assert!(!config.is_safe(Path::new("/srv/shop/inner")));
        assert!(!config.is_safe(Path::new("/srv")));
        let all = UserConfig::read("safe_directories:\n  - \"*\"\n").expect("it is valid");
        assert!(all.is_safe(Path::new("/anything")));
        assert_eq!(UserConfig::read("").ok(), Some(UserConfig::default()));
    }

    #[test]
    fn keys_of_a_project_are_refused_with_their_line() {
        let error = UserConfig::read("version: 1\nproject: shop\n").expect_err("no such key");
        assert!(error.to_string().starts_with("line 2:"), "{error}");
    }
}
