//! When a session is given its work again.

/// When tier 2 is looked at again.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Trigger {
    /// With every prompt.
    OnRfcChange,
    /// With every so many prompts.
    EveryTurns(u64),
    /// When a tool of this name is called.
    OnToolCall(String),
}

impl Trigger {
    /// Reads a trigger as the configuration writes it.
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

    /// Whether a prompt, the so-manieth of its session, sets it off.
    pub fn hears_prompt(&self, turn: u64) -> bool {
        match self {
            Trigger::OnRfcChange => true,
            Trigger::EveryTurns(n) => turn.is_multiple_of(*n),
            Trigger::OnToolCall(_) => false,
        }
    }

    /// Whether a tool sets it off.
    pub fn hears_tool(&self, tool: &str) -> bool {
        matches!(self, Trigger::OnToolCall(name) if name == tool)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn triggers_are_read_and_unknown_ones_are_not() {
        assert_eq!(Trigger::parse("every_10_turns"), Some(Trigger::EveryTurns(10)));
        assert_eq!(Trigger::parse("on_tool_call: Bash"), Some(Trigger::OnToolCall("Bash".into())));
        for text in ["every_0_turns", "every_x_turns", "on_full_moon", ""] {
            assert_eq!(Trigger::parse(text), None, "{text}");
        }
        assert!(
            Trigger::EveryTurns(10).hears_prompt(20) && !Trigger::EveryTurns(10).hears_prompt(21)
        );
    }
}
