//! Finds the agent's process, which connects the hooks and the MCP server of a session.

use std::fs;

/// Shells that a client may start a command with.
const SHELLS: &[&str] =
    &["ash", "bash", "busybox", "dash", "fish", "ksh", "mksh", "sh", "yash", "zsh"];

/// Maximum number of ancestors that are checked.
const MAX_STEPS: usize = 6;

/// Returns a unique name of the nearest ancestor process that is not a shell: its id and start time.
/// An agent starts its hooks and MCP servers itself, so this is the agent. `None` if the system has no
/// `/proc`.
pub(super) fn client() -> Option<String> {
    let mut pid = u64::from(std::os::unix::process::parent_id());
    for _ in 0..MAX_STEPS {
        let process = Process::read(pid)?;
        if !SHELLS.contains(&process.name.as_str()) {
            return Some(format!("{pid}-{}", process.started));
        }
        pid = process.parent;
    }
    None
}

struct Process {
    name: String,
    parent: u64,
    /// Start time in clock ticks since boot.
    started: u64,
}

impl Process {
    fn read(pid: u64) -> Option<Process> {
        let bytes = fs::read(format!("/proc/{pid}/stat")).ok()?;
        Process::parse(&String::from_utf8_lossy(&bytes))
    }

    /// Parses `4242 (a name) S 4241 …`. The name can have spaces and parentheses.
    fn parse(stat: &str) -> Option<Process> {
        let (head, rest) = stat.rsplit_once(')')?;
        let (_, name) = head.split_once('(')?;
        let fields: Vec<&str> = rest.split_whitespace().collect();
        let number = |at: usize| fields.get(at).and_then(|field| field.parse().ok());
        Some(Process { name: name.to_string(), parent: number(1)?, started: number(19)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_name_may_have_spaces_and_parentheses() {
        let stat = "42 (a) b (c) S 7 1 1 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 991 1 2 3";
        let process = Process::parse(stat).expect("a line of /proc");
        assert_eq!((process.name.as_str(), process.parent, process.started), ("a) b (c", 7, 991));
        assert!(Process::parse("42 (a").is_none() && Process::parse("").is_none());
    }
}
