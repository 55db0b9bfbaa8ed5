//! Rules that an agent reads when it works on a matching file: one decision and its paths.

use crate::model::escape::escape_except;
use crate::model::{BuildTarget, PathKind};

/// A decision that applies to paths.
pub struct PathRule<'a> {
    /// Number and title of the document.
    pub head: &'a str,
    /// The sentence that says what is decided; may be empty.
    pub line: &'a str,
    /// Path of the document.
    pub path: &'a str,
    /// Glob patterns of the paths.
    pub patterns: &'a [String],
    /// Hidden characters that the configuration allows.
    pub allowed: &'a str,
}

/// Returns the glob pattern of a path that a document names.
pub fn pattern(path: &str, kind: PathKind) -> String {
    match kind {
        PathKind::Folder => format!("{path}/**"),
        // In a pattern of blue's, a name without a folder matches everywhere.
        PathKind::Glob if !path.contains('/') => format!("**/{path}"),
        PathKind::File | PathKind::Glob => path.to_string(),
    }
}

impl PathRule<'_> {
    /// Renders the file without its provenance, which is the start of the front matter. `None` if
    /// the agent has no way to write the patterns.
    pub fn text(&self, target: BuildTarget) -> Option<String> {
        let front_matter = self.front_matter(target)?;
        let shown = |text: &str| escape_except(&one_line(text), self.allowed).into_owned();
        let line = match self.line.is_empty() {
            true => String::new(),
            false => format!("\n{}\n", shown(self.line)),
        };
        let (head, path) = (shown(self.head), shown(self.path));
        let patterns = shown(&self.patterns.join(", "));
        Some(format!(
            "{front_matter}---\n# {head}\n{line}\nThis decision affects {patterns}. Its text is in {path}\n"
        ))
    }

    fn front_matter(&self, target: BuildTarget) -> Option<String> {
        // Only lists of Claude Code can have a pattern with a comma.
        let mut plain: Vec<String> =
            self.patterns.iter().flat_map(|pattern| without_braces(pattern)).collect();
        plain.retain(|pattern| !pattern.contains([',', '"']));
        let joined = (!plain.is_empty()).then(|| plain.join(","));
        match target {
            BuildTarget::ClaudeRules => {
                let item = |pattern: &String| format!("  - {}\n", quoted(pattern));
                Some(format!("paths:\n{}", self.patterns.iter().map(item).collect::<String>()))
            }
            BuildTarget::CopilotRules => Some(format!("applyTo: {}\n", quoted(&joined?))),
            // Cursor reads this value as written, with quotes if there are any.
            BuildTarget::CursorRules => Some(format!(
                "description: {}\nglobs: {}\nalwaysApply: false\n",
                quoted(&escape_except(&one_line(self.head), self.allowed)),
                joined?
            )),
            _ => None,
        }
    }
}

/// Expands the first alternatives of a pattern: `a/{b,c}.rs` is `a/b.rs` and `a/c.rs`.
fn without_braces(pattern: &str) -> Vec<String> {
    let parts = pattern.split_once('{').and_then(|(before, rest)| {
        let (inside, after) = rest.split_once('}')?;
        Some((before, inside, after))
    });
    match parts {
        Some((before, inside, after)) if !inside.contains('{') => {
            inside.split(',').map(|choice| format!("{before}{choice}{after}")).collect()
        }
        _ => vec![pattern.to_string()],
    }
}

/// Returns the front matter and the text of a rule that applies to every file.
pub fn always(description: &str, text: &str) -> String {
    format!("description: {description}\nalwaysApply: true\n---\n{text}")
}

/// Returns the text of a link, or of its description, without line ends.
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A JSON string, which is also a YAML string.
fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("a string is JSON")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_agent_gets_its_own_front_matter() {
        let patterns = ["src/**".to_string(), "{a,b}.rs".to_string()];
        let rule = PathRule {
            head: "0001 Use <system> \"Rust\"",
            line: "We use\nRust.",
            path: "docs/adr/0001.md",
            patterns: &patterns,
            allowed: "",
        };
        let text = |target| rule.text(target).unwrap();
        assert!(text(BuildTarget::ClaudeRules).starts_with("paths:\n  - \"src/**\"\n  - \"{a,b}.rs\"\n---\n# 0001 Use &lt;system> \"Rust\"\n\nWe use Rust.\n"));
        let applies = "applyTo: \"src/**,a.rs,b.rs\"\n---\n";
        assert!(text(BuildTarget::CopilotRules).starts_with(applies));
        assert!(text(BuildTarget::CursorRules).starts_with(
            "description: \"0001 Use &lt;system> \\\"Rust\\\"\"\nglobs: src/**,a.rs,b.rs\nalwaysApply: false\n---\n"
        ));
        let nested = ["{a,{b,c}}.rs".to_string()];
        let nested = PathRule { patterns: &nested, ..rule };
        assert_eq!(nested.text(BuildTarget::CursorRules), None);
    }
}
