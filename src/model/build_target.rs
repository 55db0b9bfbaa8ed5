//! Files for other agents that a build can write, one target for each kind.

/// A kind of file that a build writes if the configuration asks for it under `targets`.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum BuildTarget {
    /// The session text as a block in `AGENTS.md`.
    AgentsMd,
    /// An import of the session text in `CLAUDE.md`.
    ClaudeMd,
    /// A rule for each decision that lists paths, for Claude Code.
    ClaudeRules,
    /// The session text as a block in `.github/copilot-instructions.md`.
    CopilotInstructions,
    /// A rule for each decision that lists paths, for Copilot.
    CopilotRules,
    /// The session text, and a rule for each decision that lists paths, for Cursor.
    CursorRules,
    /// An import of the session text in `GEMINI.md`.
    GeminiMd,
    /// An index of the documents for language models, `llms.txt`.
    LlmsTxt,
    /// The session text and the current work in the instructions of `opencode.json`.
    Opencode,
}

/// Path of the index for language models.
pub const LLMS_TXT: &str = "llms.txt";
/// Path of opencode's settings.
pub const OPENCODE: &str = "opencode.json";
/// Folder of Cursor's rules.
pub const CURSOR_RULES: &str = ".cursor/rules";
/// Folder of Claude Code's rules.
pub const CLAUDE_RULES: &str = ".claude/rules";
/// Folder of Copilot's instructions for paths.
pub const COPILOT_RULES: &str = ".github/instructions";

impl BuildTarget {
    /// All variants, in order.
    pub const ALL: [BuildTarget; 9] = [
        BuildTarget::AgentsMd,
        BuildTarget::ClaudeMd,
        BuildTarget::ClaudeRules,
        BuildTarget::CopilotInstructions,
        BuildTarget::CopilotRules,
        BuildTarget::CursorRules,
        BuildTarget::GeminiMd,
        BuildTarget::LlmsTxt,
        BuildTarget::Opencode,
    ];

    /// Returns the name in the configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            BuildTarget::AgentsMd => "agents-md",
            BuildTarget::ClaudeMd => "claude-md",
            BuildTarget::ClaudeRules => "claude-rules",
            BuildTarget::CopilotInstructions => "copilot-instructions",
            BuildTarget::CopilotRules => "copilot-rules",
            BuildTarget::CursorRules => "cursor-rules",
            BuildTarget::GeminiMd => "gemini-md",
            BuildTarget::LlmsTxt => "llms-txt",
            BuildTarget::Opencode => "opencode",
        }
    }

    /// Returns the target with a name.
    pub fn parse(name: &str) -> Option<BuildTarget> {
        BuildTarget::ALL.into_iter().find(|target| target.as_str() == name)
    }

    /// Returns the file that it shares with people; `None` if it writes only files of blue's own.
    pub fn shared_file(self) -> Option<&'static str> {
        match self {
            BuildTarget::AgentsMd => Some("AGENTS.md"),
            BuildTarget::ClaudeMd => Some("CLAUDE.md"),
            BuildTarget::CopilotInstructions => Some(".github/copilot-instructions.md"),
            BuildTarget::GeminiMd => Some("GEMINI.md"),
            BuildTarget::Opencode => Some(OPENCODE),
            BuildTarget::ClaudeRules
            | BuildTarget::CopilotRules
            | BuildTarget::CursorRules
            | BuildTarget::LlmsTxt => None,
        }
    }

    /// Returns the file or the folder of files that only blue writes; `None` if there is none.
    pub fn own_path(self) -> Option<&'static str> {
        match self {
            BuildTarget::ClaudeRules => Some(CLAUDE_RULES),
            BuildTarget::CopilotRules => Some(COPILOT_RULES),
            BuildTarget::CursorRules => Some(CURSOR_RULES),
            BuildTarget::LlmsTxt => Some(LLMS_TXT),
            BuildTarget::AgentsMd
            | BuildTarget::ClaudeMd
            | BuildTarget::CopilotInstructions
            | BuildTarget::GeminiMd
            | BuildTarget::Opencode => None,
        }
    }

    /// Returns true if a path is that of a file that only blue writes for this target.
    pub fn owns(self, path: &str) -> bool {
        let Some(rest) = self.own_path().and_then(|own| path.strip_prefix(own)) else {
            return false;
        };
        let name = rest.strip_prefix('/');
        match self {
            BuildTarget::LlmsTxt => rest.is_empty(),
            _ => name.is_some_and(|name| name.starts_with("blue") && !name.contains('/')),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_parsed_and_the_order_is_that_of_names() {
        for target in BuildTarget::ALL {
            assert_eq!(BuildTarget::parse(target.as_str()), Some(target));
        }
        assert!(BuildTarget::ALL.is_sorted_by_key(|target| target.as_str()));
        assert_eq!(BuildTarget::parse("agents"), None);
    }

    #[test]
    fn only_names_that_begin_with_blue_are_its_own() {
        assert!(BuildTarget::CursorRules.owns(".cursor/rules/blue.mdc"));
        assert!(!BuildTarget::CursorRules.owns(".cursor/rules/team.mdc"));
        assert!(!BuildTarget::CursorRules.owns(".cursor/rules/blue/x.mdc"));
        assert!(!BuildTarget::ClaudeRules.owns(".cursor/rules/blue.mdc"));
    }
}
