//! Hooks among links, devices, torn lines and full disks.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use super::{Hook, START, everywhere, everywhere_once, sample, within_seconds};
use crate::support;

#[test]
fn nothing_is_written_through_a_link() {
    everywhere_once(|hook| {
        let outside = tempfile::tempdir().unwrap();
        let bundle = hook.project.read(".blue/context/session.md");
        let local = hook.project.path().join(".blue/local");
        let link = |to: &Path, at: &Path| std::os::unix::fs::symlink(to, at).unwrap();
        std::fs::write(outside.path().join("rc"), "").unwrap();
        for target in ["rc", "new"] {
            std::fs::remove_dir_all(&local).ok();
            std::fs::create_dir_all(&local).unwrap();
            link(&outside.path().join(target), &local.join("audit.jsonl"));
            assert_eq!(hook.start_unlogged(), bundle.as_bytes());
        }
        std::fs::remove_dir_all(&local).unwrap();
        link(outside.path(), &local);
        assert_eq!(hook.start_unlogged(), bundle.as_bytes());
        assert_eq!(std::fs::read(outside.path().join("rc")).unwrap(), b"");
        assert_eq!(support::entries(outside.path()).len(), 1);
    });
}

#[test]
fn a_forged_index_reaches_neither_the_log_nor_another_file() {
    everywhere_once(|hook| {
        let index = hook.project.read(".blue/context/bundles.jsonl");
        let hostile = |line: &str| match line.split_once("\"inputs\":\"") {
            Some((head, rest)) => {
                format!("{head}\"inputs\":\"{}\",; touch $(pwd)/x #\n", &rest[..12])
            }
            None => format!("{line}\n"),
        };
        hook.project
            .write(".blue/context/bundles.jsonl", index.lines().map(hostile).collect::<String>());
        hook.start(START);
        assert_eq!(hook.project.audit_log()[0]["content_hash"], "");
        assert!(!hook.project.read(".blue/local/audit.jsonl").contains("touch"));
        hook.project.write(".git/HEAD", "ref: refs/heads/rfc/0016\n");
        hook.project.write("secret", "<blue-x inputs=\"0123456789ab\">\nsecret\n</blue-x>\n");
        for path in ["secret", "../../secret", ".blue/context/workflow/../../../secret"] {
            let moved = index.replace(".blue/context/workflow/0016-context.md", path);
            hook.project.write(".blue/context/bundles.jsonl", moved);
            assert_eq!(
                within_seconds(hook, "session-workflow", &[]).as_deref(),
                Some(""),
                "{path}"
            );
        }
    });
}

#[test]
fn devices_and_pipes_in_place_of_files_do_not_block_a_session() {
    everywhere_once(|hook| {
        let zero = |path: &str| {
            let path = hook.project.path().join(path);
            std::fs::remove_file(&path).ok();
            std::os::unix::fs::symlink("/dev/zero", path).unwrap();
        };
        hook.project.write(".git/HEAD", "ref: refs/heads/rfc/0016\n");
        let both = || {
            ["session-start", "session-workflow"]
                .map(|name| within_seconds(hook, name, &[]).is_some())
        };
        for path in [
            ".blue/worktree.json",
            ".git/HEAD",
            ".blue/context/workflow/0016-context.md",
            ".blue/context/bundles.jsonl",
            ".blue/context/session.md",
        ] {
            zero(path);
            assert_eq!(both(), [true, true], "{path}");
        }
        let project = sample();
        let hook = Hook {
            project: &project,
            shell: hook.shell.clone(),
            awk: hook.awk,
            environment: Vec::new(),
        };
        let pipe = project.path().join(".blue/local/audit.jsonl");
        std::fs::create_dir_all(pipe.parent().unwrap()).unwrap();
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let bundle = project.read(".blue/context/session.md");
        assert_eq!(within_seconds(&hook, "session-start", &[]), Some(bundle));
    });
}

#[test]
fn a_line_after_a_torn_line_starts_on_a_new_line() {
    everywhere(|hook| {
        let path = hook.project.path().join(".blue/local/audit.jsonl");
        for torn in ["{\"timestamp\":\"2026", "x", "lost\0\0"] {
            std::fs::write(&path, torn).unwrap();
            hook.start(START);
            hook.start(START);
            let text = hook.project.read(".blue/local/audit.jsonl");
            let lines: Vec<&str> = text.lines().collect();
            assert_eq!((lines.len(), lines[0]), (3, torn), "{:?} {text}", hook.shell);
            let ids = lines[1..].iter().map(|line| {
                serde_json::from_str::<serde_json::Value>(line).unwrap()["session_id"].clone()
            });
            assert!(ids.into_iter().all(|id| id == "abc-1"), "{text}");
        }
    });
}

#[test]
fn only_its_owner_can_read_the_log() {
    use std::os::unix::fs::PermissionsExt;
    everywhere_once(|hook| {
        let path = hook.project.path().join(".blue/local/audit.jsonl");
        let mode = || path.metadata().unwrap().permissions().mode() & 0o777;
        hook.start(START);
        assert_eq!(mode(), 0o600, "{:?}", hook.shell);
        std::fs::remove_dir_all(hook.project.path().join(".blue/local")).unwrap();
        hook.start(START);
        assert_eq!(mode(), 0o600, "{:?}", hook.shell);
        std::fs::remove_file(&path).unwrap();
        assert_eq!(hook.project.blue(&["hook", "session-start"]).code, 0);
        assert_eq!(mode(), 0o600);
    });
}

#[test]
fn a_full_disk_is_reported_and_the_bundle_is_still_printed() {
    everywhere_once(|hook| {
        let shell = hook.shell.join(" ");
        let script = hook.project.path().join(".blue/hooks/session-start");
        // With this limit no child process can extend a file.
        let limited = format!("ulimit -f 0; exec {shell} '{}'", script.display());
        let mut command = Command::new("sh");
        support::ceiling(&mut command).args(["-c", &limited]).current_dir(hook.project.path());
        let output = command.env_remove("CLAUDE_PROJECT_DIR").stdin(Stdio::null()).output();
        let output = output.unwrap();
        assert_eq!(output.status.code(), Some(0), "{shell} {output:?}");
        assert_eq!(
            String::from_utf8(output.stdout).unwrap(),
            hook.project.read(".blue/context/session.md")
        );
        let warning = String::from_utf8(output.stderr).unwrap();
        assert!(warning.contains("blue: cannot write "), "{shell}: {warning}");
    });
}

#[test]
fn hook_and_command_shorten_a_long_session_id_alike() {
    everywhere(|hook| {
        let long = |end: &str| format!("{}{end}", "Long_session.id-0123456789".repeat(6));
        let input =
            |id: &str| format!("{{\"session_id\":\"{id}\",\"hook_event_name\":\"SessionStart\"}}");
        let (one, two) = (long("1"), long("2"));
        hook.start(&input(&one));
        hook.start(&input(&two));
        let mut blue = hook.project.command(&["hook", "session-start"]);
        let mut child = blue.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input(&one).as_bytes()).unwrap();
        assert!(child.wait().unwrap().success());
        let ids: Vec<String> =
            hook.project.audit_log().iter().map(|line| line["session_id"].to_string()).collect();
        assert!(ids[0].len() > 60 && ids[0].len() <= 130, "{ids:?}");
        assert!(ids[0] != ids[1] && ids[0] == ids[2], "{ids:?}");
        let log = hook.project.blue(&["context", "log", "--session", &one]);
        assert_eq!(log.stdout.lines().count(), 2, "{log:?}");
        let of_128 = "x".repeat(128);
        hook.start(&input(&of_128));
        assert_eq!(hook.project.audit_log()[3]["session_id"], of_128);
    });
}
