//! `.github/hooks/blue.json`, a file of Copilot's hooks that only blue writes.

use serde_json::Value;

use super::agent::{AgentHook, is_impostor, role};

/// Path below the root.
pub const COPILOT_HOOKS: &str = ".github/hooks/blue.json";

/// Returns the text of the file with some hooks. Those of one event follow each other.
pub fn text(hooks: &[AgentHook]) -> String {
    let mut events: Vec<&str> = hooks.iter().map(|hook| hook.event).collect();
    events.dedup();
    let handler = |command: &str, timeout: u64| {
        let command = serde_json::to_string(command).expect("a string is JSON");
        format!(
            "      {{\n        \"type\": \"command\",\n        \"bash\": {command},\n        \"timeoutSec\": {timeout}\n      }}"
        )
    };
    let event = |event: &&str| {
        let own = hooks.iter().filter(|hook| hook.event == *event);
        let own: Vec<String> = own.map(|hook| handler(&hook.command, hook.timeout)).collect();
        format!("    \"{event}\": [\n{}\n    ]", own.join(",\n"))
    };
    let events: Vec<String> = events.iter().map(event).collect();
    format!("{{\n  \"version\": 1,\n  \"hooks\": {{\n{}\n  }}\n}}\n", events.join(",\n"))
}

/// Returns all commands of a file.
fn commands(text: &str) -> Vec<String> {
    let value: Value = serde_json::from_str(text).unwrap_or_default();
    let events = value["hooks"].as_object().into_iter().flatten();
    let handlers = events.flat_map(|(_, handlers)| handlers.as_array().into_iter().flatten());
    handlers.map(|handler| handler["bash"].as_str().unwrap_or_default().to_string()).collect()
}

/// Returns the purposes of the hooks in a file.
pub(super) fn roles(text: &str) -> Vec<String> {
    commands(text).iter().filter_map(|command| role(command)).collect()
}

/// Returns true if blue wrote a text: it has commands, and all of them are blue's, of this version or
/// another.
pub(super) fn is_own(text: &str) -> bool {
    let is_blue = |command: &String| {
        role(command).is_some() && (!is_impostor(command) || command.starts_with("d=$PWD; until "))
    };
    let commands = commands(text);
    !commands.is_empty() && commands.iter().all(is_blue)
}

#[cfg(test)]
mod tests {
    use super::super::agent::{Agent, SessionBy, hooks};
    use super::*;

    #[test]
    fn the_file_is_json_and_recognised() {
        let of = |session| hooks(Agent::Copilot, session);
        let whole = text(&of(SessionBy::Hook));
        let value: Value = serde_json::from_str(&whole).unwrap();
        assert_eq!(value["hooks"]["sessionStart"].as_array().unwrap().len(), 4);
        assert_eq!(value["version"], 1);
        assert!(is_own(&whole) && is_own(&text(&of(SessionBy::File))));
        for other in ["", "{}", "{\"hooks\":{}}", &whole.replace("blue hook", "evil")] {
            assert!(!is_own(other), "{other}");
        }
    }
}
