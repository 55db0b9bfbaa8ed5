//! Events that deliver the workflow bundle to a session again.

/// An event after which tier 2 is delivered again if it differs from what the session received.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Trigger {
    /// Every prompt.
    OnRfcChange,
    /// Every N-th prompt.
    EveryTurns(u64),
    /// A call of the tool with this name.
    OnToolCall(String),
}

impl Trigger {
    /// Parses a trigger as the configuration writes it.
    pub fn parse(text: &str) -> Option<Trigger> {
        if text == "on_rfc_change" {
            return Some(Trigger::OnRfcChange);
        }
        if let Some(tool) = text.strip_prefix("on_tool_call:") {
            return Some(Trigger::OnToolCall(tool.trim().to_string()));
        }
        let turns = text.strip_prefix("every_")?.strip_suffix("_turns")?.parse().ok()?;
        (turns > 0).then_some(Trigger::EveryTurns(turns))
    }

    /// Returns true if the n-th prompt of a session (`turn`) fires the trigger.
    pub fn fires_on_prompt(&self, turn: u64) -> bool {
        match self {
            Trigger::OnRfcChange => true,
            Trigger::EveryTurns(n) => turn.is_multiple_of(*n),
            Trigger::OnToolCall(_) => false,
        }
    }

    /// Returns true if a call of this tool fires the trigger.
    pub fn fires_on_tool_call(&self, tool: &str) -> bool {
        matches!(self, Trigger::OnToolCall(name) if name == tool)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_triggers_are_rejected() {
        assert_eq!(Trigger::parse("every_10_turns"), Some(Trigger::EveryTurns(10)));
        assert_eq!(Trigger::parse("on_tool_call: Bash"), Some(Trigger::OnToolCall("Bash".into())));
        for text in ["every_0_turns", "every_x_turns", "on_full_moon", ""] {
            assert_eq!(Trigger::parse(text), None, "{text}");
        }
        assert!(
            Trigger::EveryTurns(10).fires_on_prompt(20)
                && !Trigger::EveryTurns(10).fires_on_prompt(21)
        );
    }
}
