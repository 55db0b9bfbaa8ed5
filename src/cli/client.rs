//! The agent's process: what its hooks and its server have in common.

use std::fs;

/// Shells that a client may start a command with; the client is behind them.
const SHELLS: &[&str] =
    &["ash", "bash", "busybox", "dash", "fish", "ksh", "mksh", "sh", "yash", "zsh"];

/// Processes looked at on the way up.
const MAX_STEPS: usize = 6;

/// Names the nearest process above this one that is no shell, by its id and the time it started,
/// which together are never used twice. An agent runs its hooks and its MCP servers itself, so for
/// both this is the agent. `None` where the system has no `/proc`.
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
    /// In ticks of the clock since the system started.
    started: u64,
}

impl Process {
    fn read(pid: u64) -> Option<Process> {
        let bytes = fs::read(format!("/proc/{pid}/stat")).ok()?;
        Process::parse(&String::from_utf8_lossy(&bytes))
    }

    /// Takes `4242 (a name) S 4241 …` apart; a name can have spaces and parentheses.
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
