//! The hook scripts, under every shell and awk of this machine.

mod bundles;
mod forms;
mod ownership;
mod robustness;

use std::io::Write;
use std::process::{Command, Stdio};

use crate::support;
use crate::support::Project;

const START: &str =
    r#"{"session_id":"abc-1","cwd":"/x","hook_event_name":"SessionStart","source":"startup"}"#;

/// A project with two decisions, two RFCs and its hooks.
fn sample() -> Project {
    let project = Project::new();
    project
        .write(
            ".blue/docs/adrs/0001-one.md",
            "# ADR 0001: One\n\nStatus: accepted\n\n## Decision\n\nWe do *one* thing “well”.\n",
        )
        .write(
            ".blue/docs/rfcs/0016-context.md",
            "# RFC 0016: Context\n\n- Status: accepted\n\n## Tasks\n\n- [x] first\n- [ ] second\n",
        )
        .write(
            ".blue/docs/rfcs/0017-other.md",
            "# RFC 0017: Other\n\n- Status: draft\n\n## Summary\n\nSomething else altogether.\n",
        );
    project.build();
    project.write_hooks();
    project
}

/// Every pair of a shell and an awk on this machine.
fn shells() -> Vec<(Vec<&'static str>, &'static str)> {
    let there = |name: &str| Command::new(name).arg("--help").stdin(Stdio::null()).output().is_ok();
    let mut all = Vec::new();
    for shell in [vec!["sh"], vec!["dash"], vec!["bash", "--posix"], vec!["busybox", "sh"]] {
        for awk in ["awk", "mawk", "gawk", "original-awk", "busybox"] {
            if there(shell[0]) && there(awk) {
                all.push((shell.clone(), awk));
            }
        }
    }
    all
}

struct Hook<'a> {
    project: &'a Project,
    shell: Vec<&'static str>,
    awk: &'static str,
    environment: Vec<(&'static str, &'static str)>,
}

impl Hook<'_> {
    /// Runs a hook in a folder and returns its output. It must exit 0 with nothing on standard
    /// error.
    fn run(&self, name: &str, folder: &str, arguments: &[&str], input: &[u8]) -> Vec<u8> {
        let (printed, warning) = self.run_warned(name, folder, arguments, input);
        assert_eq!(warning, "", "{:?} {}", self.shell, self.awk);
        printed
    }

    /// Runs a hook in a folder and returns standard output and standard error.
    fn run_warned(
        &self,
        name: &str,
        folder: &str,
        arguments: &[&str],
        input: &[u8],
    ) -> (Vec<u8>, String) {
        let bin = tempfile::tempdir().unwrap();
        let script = match self.awk {
            "busybox" => "#!/bin/sh\nexec busybox awk \"$@\"\n".to_string(),
            awk => format!("#!/bin/sh\nexec {awk} \"$@\"\n"),
        };
        let awk = bin.path().join("awk");
        if self.awk != "awk" {
            std::fs::write(&awk, script).unwrap();
            std::os::unix::fs::symlink("/bin/sh", bin.path().join("sh")).unwrap();
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
            std::fs::set_permissions(&awk, mode).unwrap();
        }
        let path = format!("{}:{}", bin.path().display(), std::env::var("PATH").unwrap());
        let mut command = Command::new(self.shell[0]);
        let mut child = support::ceiling(&mut command)
            .args(&self.shell[1..])
            .arg(self.project.path().join(".blue/hooks").join(name))
            .args(arguments)
            .current_dir(self.project.path().join(folder))
            .env("PATH", path)
            .env("HOME", self.project.path().join("home"))
            .env_remove("CLAUDE_PROJECT_DIR")
            .env_remove("BLUE_HOME")
            .env_remove("SUDO_UID")
            .envs(self.environment.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // A hook may exit before it has read all of its input.
        child.stdin.take().unwrap().write_all(input).ok();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{:?} {} {output:?}", self.shell, self.awk);
        (output.stdout, String::from_utf8(output.stderr).unwrap())
    }

    /// Runs the session hook where the log cannot be written: it prints the bundle and one warning.
    fn start_unlogged(&self) -> Vec<u8> {
        let (printed, warning) = self.run_warned("session-start", "", &[], START.as_bytes());
        assert!(warning.starts_with("blue: cannot write "), "{:?}: {warning}", self.shell);
        assert!(warning.contains(" .blue/local/audit.jsonl"), "{:?}: {warning}", self.shell);
        assert_eq!(warning.lines().count(), 1, "{:?}: {warning}", self.shell);
        printed
    }

    fn start(&self, input: &str) -> Vec<u8> {
        self.run("session-start", "", &[], input.as_bytes())
    }
}

/// Calls the function for every shell and awk, each time with a new project.
fn everywhere(try_it: impl Fn(&Hook<'_>)) {
    for (shell, awk) in shells() {
        let project = sample();
        try_it(&Hook { project: &project, shell, awk, environment: Vec::new() });
    }
}

/// Runs the hook with a time limit. Returns `None` if it did not end.
fn within_seconds(hook: &Hook<'_>, name: &str, environment: &[(&str, &str)]) -> Option<String> {
    let mut command = Command::new("timeout");
    command.arg("10").args(&hook.shell).arg(hook.project.path().join(".blue/hooks").join(name));
    command.current_dir(hook.project.path()).env_remove("CLAUDE_PROJECT_DIR");
    support::ceiling(&mut command).envs(environment.iter().copied()).stdin(Stdio::null());
    let output = command.output().unwrap();
    (output.status.code() == Some(0)).then(|| String::from_utf8(output.stdout).unwrap())
}

/// Calls the function for every shell, with the default awk only.
fn everywhere_once(try_it: impl Fn(&Hook<'_>)) {
    for (shell, awk) in shells().into_iter().filter(|(_, awk)| *awk == "awk") {
        let project = sample();
        try_it(&Hook { project: &project, shell, awk, environment: Vec::new() });
    }
}
