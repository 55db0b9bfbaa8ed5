//! The hooks, run by every shell and awk there is, as an agent runs them.

use crate::support;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::{Project, give_to_another_user};

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

/// Every shell on this machine, and every awk it may meet.
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
    /// Runs a hook in a folder and gives what it printed. It must exit 0 and say nothing else.
    fn run(&self, name: &str, folder: &str, arguments: &[&str], said: &[u8]) -> Vec<u8> {
        let (printed, warning) = self.run_warned(name, folder, arguments, said);
        assert_eq!(warning, "", "{:?} {}", self.shell, self.awk);
        printed
    }

    /// Runs a hook in a folder and gives what it printed, and what it said on standard error.
    fn run_warned(
        &self,
        name: &str,
        folder: &str,
        arguments: &[&str],
        said: &[u8],
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
        // A hook need not read all that is said.
        child.stdin.take().unwrap().write_all(said).ok();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{:?} {} {output:?}", self.shell, self.awk);
        (output.stdout, String::from_utf8(output.stderr).unwrap())
    }

    /// Runs the session hook where nothing can be logged: the bundle comes, with one line about that.
    fn start_unlogged(&self) -> Vec<u8> {
        let (printed, warning) = self.run_warned("session-start", "", &[], START.as_bytes());
        assert!(warning.starts_with("blue: cannot write "), "{:?}: {warning}", self.shell);
        assert!(warning.contains(" .blue/local/audit.jsonl"), "{:?}: {warning}", self.shell);
        assert_eq!(warning.lines().count(), 1, "{:?}: {warning}", self.shell);
        printed
    }

    fn start(&self, said: &str) -> Vec<u8> {
        self.run("session-start", "", &[], said.as_bytes())
    }
}

/// Does something with the hook under every shell and awk, each in a project of its own.
fn everywhere(try_it: impl Fn(&Hook<'_>)) {
    for (shell, awk) in shells() {
        let project = sample();
        try_it(&Hook { project: &project, shell, awk, environment: Vec::new() });
    }
}

#[test]
fn a_session_gets_the_bundle_byte_for_byte_and_the_log_says_so() {
    everywhere(|hook| {
        std::fs::create_dir_all(hook.project.path().join("deep er/below")).unwrap();
        let printed = hook.run("session-start", "deep er/below", &[], START.as_bytes());
        assert_eq!(
            printed,
            std::fs::read(hook.project.path().join(".blue/context/session.md")).unwrap()
        );
        assert!(printed.len() <= 9_500 && printed.starts_with(b"<"));
        let log = hook.project.audit_log();
        let line = log.last().unwrap();
        assert_eq!(line["session_id"], "abc-1");
        assert_eq!(line["event"], "SessionStart");
        assert_eq!(line["source"], "blue://context/session");
        assert_eq!(line["content_hash"], format!("blake3:{}", blake3::hash(&printed).to_hex()));
        assert_eq!(line["bytes"], printed.len());
        let valid = hook.project.blue(&["schema", "validate", ".blue/local/audit.jsonl"]);
        assert_eq!(valid.code, 0, "{valid:?}");
    });
}

#[test]
fn a_subagent_gets_the_same_text_as_json() {
    everywhere(|hook| {
        let said = r#"{ "hook_event_name": "SubagentStart", "session_id": "s" }"#;
        let printed = hook.start(said);
        let json: serde_json::Value = serde_json::from_slice(&printed).unwrap();
        let text = json["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
        assert_eq!(json["hookSpecificOutput"]["hookEventName"], "SubagentStart");
        assert_eq!(text, hook.project.read(".blue/context/session.md").trim_end());
        let line = &hook.project.audit_log()[0];
        assert_eq!(line["artifact"], ".blue/context/session.json");
        // What is noted is the text, which is what reaches the model.
        let bundle = hook.project.read(".blue/context/session.md");
        assert_eq!(
            line["content_hash"],
            format!("blake3:{}", blake3::hash(bundle.as_bytes()).to_hex())
        );
        assert_eq!(line["bytes"], bundle.len());
    });
}

#[test]
fn the_branch_or_the_worktree_decides_which_rfc_is_told() {
    everywhere(|hook| {
        let workflow =
            || String::from_utf8(hook.run("session-workflow", "", &[], START.as_bytes())).unwrap();
        let bundle = |name: &str| hook.project.read(&format!(".blue/context/workflow/{name}.md"));
        assert_eq!(workflow(), "");
        for branch in ["rfc/0016", "rfc/16", "rfc/context", "rfc/0016-context", "0016-context"] {
            hook.project.write(".git/HEAD", format!("ref: refs/heads/{branch}\n"));
            assert_eq!(workflow(), bundle("0016-context"), "{branch}");
        }
        for branch in ["main", "rfc/9999", "rfc/\"", "rfc/00", ".blue/context/session.md"] {
            hook.project.write(".git/HEAD", format!("ref: refs/heads/{branch}\n"));
            assert_eq!(workflow(), "", "{branch}");
        }
        // In a worktree `.git` is a file that names the folder.
        std::fs::remove_dir_all(hook.project.path().join(".git")).unwrap();
        hook.project.write("gits/here/HEAD", "ref: refs/heads/rfc/0017\n");
        hook.project.write(".git", "gitdir: gits/here\n");
        assert_eq!(workflow(), bundle("0017-other"));
        for rfc in ["{\"rfc\": \"0016\"}", "{\n  \"realm\": \"x\",\n  \"rfc\": 16\n}\n"] {
            hook.project.write(".blue/worktree.json", rfc);
            assert_eq!(workflow(), bundle("0016-context"), "{rfc}");
        }
        assert!(hook.project.audit_log().iter().all(|line| {
            line["source"].as_str().unwrap().starts_with("blue://context/workflow/00")
        }));
    });
}

#[test]
fn whatever_is_said_the_bundle_is_printed() {
    everywhere(|hook| {
        let bundle = hook.project.read(".blue/context/session.md").into_bytes();
        let huge = format!("{{\"prompt\":\"{}\"}}", "x".repeat(3_000_000));
        let lists = format!("[{}", "1,".repeat(500_000));
        for said in [
            "",
            "\n",
            "not JSON",
            "{",
            "\u{0}\u{1}\"",
            "{\"session_id\":\"a\\\"b$(id)\"}",
            &huge,
            &lists,
        ] {
            assert_eq!(hook.start(said), bundle, "{said:.40}");
        }
        assert!(hook.project.audit_log().iter().all(|line| line["session_id"] == ""));
    });
}

#[test]
fn a_bundle_that_is_missing_torn_or_too_large_is_not_printed() {
    everywhere(|hook| {
        let path = ".blue/context/session.md";
        let bundle = hook.project.read(path);
        let large = bundle.replace("</blue", &format!("{}\n</blue", "x".repeat(9_500)));
        let torn = &bundle[..bundle.len() - 5];
        let doubled = format!("{torn}\n{torn}");
        for text in ["", "<", "{}", "no tag at all\n", torn, &doubled, &large] {
            hook.project.write(path, text);
            assert_eq!(hook.start(START), b"", "{text:.60}");
        }
        std::fs::remove_file(hook.project.path().join(path)).unwrap();
        assert_eq!(hook.start(START), b"");
        assert!(!hook.project.exists(".blue/local/audit.jsonl"));
    });
}

#[test]
fn without_an_index_or_a_log_the_bundle_is_delivered_all_the_same() {
    everywhere(|hook| {
        let bundle = hook.project.read(".blue/context/session.md").into_bytes();
        std::fs::remove_dir_all(hook.project.path().join(".blue/local")).unwrap();
        std::fs::remove_file(hook.project.path().join(".blue/context/bundles.jsonl")).unwrap();
        assert_eq!(hook.start(START), bundle);
        assert_eq!(hook.project.audit_log()[0]["content_hash"], "");
        assert_eq!(hook.project.read(".blue/local/.gitignore"), "*\n");
        std::fs::remove_file(hook.project.path().join(".blue/local/audit.jsonl")).unwrap();
        std::fs::create_dir(hook.project.path().join(".blue/local/audit.jsonl")).unwrap();
        assert_eq!(hook.start_unlogged(), bundle);
    });
}

#[test]
fn a_bundle_that_was_edited_is_not_noted_under_the_digest_of_what_was_built() {
    everywhere(|hook| {
        let path = ".blue/context/session.md";
        let edited =
            hook.project.read(path).replace("Decisions in force", "Decisions, edited, in force");
        hook.project.write(path, &edited);
        assert_eq!(hook.start(START), edited.as_bytes());
        let line = &hook.project.audit_log()[0];
        assert_eq!(
            (line["content_hash"].as_str(), line["bytes"].as_u64()),
            (Some(""), Some(edited.len() as u64))
        );
    });
}

#[test]
fn global_knowledge_is_told_in_every_project_but_its_own() {
    everywhere(|hook| {
        let global = hook.project.path().join("home/.blue");
        assert_eq!(hook.run("session-start", "", &["global"], b""), b"");
        support::write(
            &global.join("docs/adrs/0001-everywhere.md"),
            "# Everywhere\n\nStatus: accepted\n",
        );
        let mut build =
            hook.project.command(&["-C", global.to_str().unwrap(), "knowledge", "build"]);
        let built = build.env("HOME", hook.project.path().join("home")).output().unwrap();
        assert!(built.status.success(), "{built:?}");
        let bundle = std::fs::read(global.join(".blue/context/session.md")).unwrap();
        assert_eq!(hook.run("session-start", "", &["global"], b""), bundle);
        assert_eq!(hook.run("session-start", "home/.blue", &["global"], b""), b"");
    });
}

#[test]
fn eight_hooks_at_once_beside_a_build_loop_tear_and_lose_nothing() {
    let project = sample();
    let n_each = 12;
    let printed: Vec<Vec<u8>> = std::thread::scope(|scope| {
        let builder = scope.spawn(|| {
            for i in 0..30 {
                let text = format!(
                    "# ADR 0002: Turn {i}\n\nStatus: accepted\n\n## Decision\n\nTurn {i}.\n"
                );
                project.write(".blue/docs/adrs/0002-turn.md", text);
                assert_eq!(project.build().code, 0);
            }
        });
        let hooks: Vec<_> = (0..8)
            .map(|_| {
                let project = &project;
                scope.spawn(move || {
                    let hook =
                        Hook { project, shell: vec!["sh"], awk: "awk", environment: Vec::new() };
                    (0..n_each).map(|_| hook.start(START)).collect::<Vec<_>>()
                })
            })
            .collect();
        let printed = hooks.into_iter().flat_map(|hook| hook.join().unwrap()).collect();
        builder.join().unwrap();
        printed
    });
    let mut delivered: Vec<String> =
        printed.iter().map(|text| format!("blake3:{}", blake3::hash(text).to_hex())).collect();
    let mut noted: Vec<String> = project
        .audit_log()
        .iter()
        .map(|line| line["content_hash"].as_str().unwrap().to_string())
        .collect();
    delivered.sort();
    noted.sort();
    assert_eq!(delivered.len(), 8 * n_each);
    assert_eq!(delivered, noted);
    assert!(printed.iter().all(|text| text.ends_with(b"</blue-session>\n")));
}

#[test]
fn both_hooks_are_one_script() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("hooks");
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    assert_eq!(read("session-start"), read("session-workflow"));
    // This repository's own copies are current.
    assert_eq!(read("session-start"), read("../.blue/hooks/session-start"));
    assert_eq!(read("session-start"), read("../.blue/hooks/session-workflow"));
}

/// Runs the hook and gives up on it after a while; `None` if it did not end.
fn within_seconds(hook: &Hook<'_>, name: &str, environment: &[(&str, &str)]) -> Option<String> {
    let mut command = Command::new("timeout");
    command.arg("10").args(&hook.shell).arg(hook.project.path().join(".blue/hooks").join(name));
    command.current_dir(hook.project.path()).env_remove("CLAUDE_PROJECT_DIR");
    support::ceiling(&mut command).envs(environment.iter().copied()).stdin(Stdio::null());
    let output = command.output().unwrap();
    (output.status.code() == Some(0)).then(|| String::from_utf8(output.stdout).unwrap())
}

/// The shells alone, with the machine's own awk.
fn everywhere_once(try_it: impl Fn(&Hook<'_>)) {
    for (shell, awk) in shells().into_iter().filter(|(_, awk)| *awk == "awk") {
        let project = sample();
        try_it(&Hook { project: &project, shell, awk, environment: Vec::new() });
    }
}

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
fn a_strangers_index_neither_reaches_the_log_nor_another_file() {
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
fn devices_and_pipes_in_place_of_files_do_not_hold_a_session_up() {
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
fn only_names_are_names_and_a_relative_folder_is_found() {
    everywhere_once(|hook| {
        for name in ["names", "source", "on_change", "blue", "]", ".*"] {
            hook.project.write(".blue/worktree.json", format!("{{\"rfc\":\"{name}\"}}"));
            assert_eq!(
                within_seconds(hook, "session-workflow", &[]).as_deref(),
                Some(""),
                "{name}"
            );
        }
        let here = [("CLAUDE_PROJECT_DIR", ".")];
        assert_eq!(within_seconds(hook, "session-workflow", &here).as_deref(), Some(""));
        let bundle = hook.project.read(".blue/context/session.md");
        assert_eq!(within_seconds(hook, "session-start", &here), Some(bundle));
    });
}

#[test]
fn a_line_after_a_torn_one_begins_on_a_line_of_its_own() {
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
fn a_log_on_a_full_disk_is_said_and_the_bundle_comes() {
    everywhere_once(|hook| {
        let shell = hook.shell.join(" ");
        let script = hook.project.path().join(".blue/hooks/session-start");
        // No process below this one can make a file any longer.
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
fn a_long_session_id_becomes_the_same_short_one_in_the_hook_and_in_blue() {
    everywhere(|hook| {
        let long = |end: &str| format!("{}{end}", "Long_session.id-0123456789".repeat(6));
        let said =
            |id: &str| format!("{{\"session_id\":\"{id}\",\"hook_event_name\":\"SessionStart\"}}");
        let (one, two) = (long("1"), long("2"));
        hook.start(&said(&one));
        hook.start(&said(&two));
        let mut blue = hook.project.command(&["hook", "session-start"]);
        let mut child = blue.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(said(&one).as_bytes()).unwrap();
        assert!(child.wait().unwrap().success());
        let ids: Vec<String> =
            hook.project.audit_log().iter().map(|line| line["session_id"].to_string()).collect();
        assert!(ids[0].len() > 60 && ids[0].len() <= 130, "{ids:?}");
        assert!(ids[0] != ids[1] && ids[0] == ids[2], "{ids:?}");
        let told = hook.project.blue(&["context", "log", "--session", &one]);
        assert_eq!(told.stdout.lines().count(), 2, "{told:?}");
        let of_128 = "x".repeat(128);
        hook.start(&said(&of_128));
        assert_eq!(hook.project.audit_log()[3]["session_id"], of_128);
    });
}

/// Gives a file the line ends that git gives it where `core.autocrlf` is true.
fn with_crlf(project: &Project, path: &str) {
    let text = project.read(path).replace('\n', "\r\n");
    project.write(path, text);
}

#[test]
fn a_checkout_with_crlf_line_ends_delivers_the_same_bytes() {
    everywhere(|hook| {
        let bundle = hook.project.read(".blue/context/session.md");
        let json = hook.project.read(".blue/context/session.json");
        let workflow = hook.project.read(".blue/context/workflow/0016-context.md");
        hook.project.write(".git/HEAD", "ref: refs/heads/rfc/0016\n");
        let scripts = [".blue/hooks/session-start", ".blue/hooks/session-workflow"];
        let built = [
            ".blue/context/session.md",
            ".blue/context/session.json",
            ".blue/context/bundles.jsonl",
            ".blue/context/workflow/0016-context.md",
        ];
        let delivers = || {
            assert_eq!(hook.start(START), bundle.as_bytes());
            assert_eq!(
                hook.start(&START.replace("SessionStart", "SubagentStart")),
                json.as_bytes()
            );
            let printed = hook.run("session-workflow", "", &[], START.as_bytes());
            assert_eq!(printed, workflow.as_bytes());
            let hash = format!("blake3:{}", blake3::hash(workflow.as_bytes()).to_hex());
            assert_eq!(hook.project.audit_log().last().unwrap()["content_hash"], hash);
        };
        scripts.iter().for_each(|path| with_crlf(hook.project, path));
        delivers();
        built.iter().for_each(|path| with_crlf(hook.project, path));
        delivers();
    });
}

#[test]
fn the_hook_does_not_climb_past_a_repository() {
    everywhere_once(|hook| {
        std::fs::create_dir_all(hook.project.path().join("clone/below")).unwrap();
        assert!(!hook.run("session-start", "clone/below", &[], b"").is_empty());
        for git in ["clone/.git/HEAD", "clone/.git"] {
            std::fs::remove_dir_all(hook.project.path().join("clone/.git")).ok();
            hook.project.write(git, "gitdir: elsewhere\n");
            for folder in ["clone", "clone/below"] {
                assert_eq!(hook.run("session-start", folder, &[], b""), b"", "{git} {folder}");
            }
        }
    });
}

#[test]
fn the_hook_does_not_climb_into_a_ceiling() {
    let project = sample();
    std::fs::create_dir_all(project.path().join("a/b")).unwrap();
    let expected = project.read(".blue/context/session.md").into_bytes();
    let root: &'static str = project.path().to_str().unwrap().to_string().leak();
    let above: &'static str = Path::new(root).parent().unwrap().to_str().unwrap();
    for (shell, awk) in shells() {
        let mut hook = Hook { project: &project, shell, awk, environment: Vec::new() };
        for (ceilings, delivers) in [("", true), (above, true), ("/", true), (root, false)] {
            hook.environment = vec![("GIT_CEILING_DIRECTORIES", ceilings)];
            let printed = hook.run("session-start", "a/b", &[], b"{}");
            assert_eq!(printed == expected, delivers, "{:?} {ceilings}", hook.shell);
            assert!(delivers || printed.is_empty());
        }
    }
}

#[test]
fn a_project_of_another_user_is_refused_in_one_line() {
    everywhere(|hook| {
        for folder in [".blue", ""] {
            let path = hook.project.path().join(folder);
            if !give_to_another_user(&path) {
                return;
            }
            let (printed, warning) = hook.run_warned("session-start", "", &[], START.as_bytes());
            assert_eq!(printed, b"", "{:?} {folder}", hook.shell);
            assert_eq!(warning.lines().count(), 1, "{warning}");
            let root = hook.project.path().canonicalize().unwrap().display().to_string();
            let typed = format!("safe_directories: [\"{root}\"]");
            assert!(warning.contains(&typed), "{warning}");
            assert!(warning.contains("home/.blue/config.yaml"), "{warning}");
            assert!(!hook.project.exists(".blue/local/audit.jsonl"));
            std::os::unix::fs::chown(&path, Some(0), Some(0)).unwrap();
        }
        assert!(!hook.start(START).is_empty());
    });
}

#[test]
fn a_listed_directory_of_another_user_is_delivered() {
    everywhere(|hook| {
        if !give_to_another_user(hook.project.path()) {
            return;
        }
        let root = hook.project.path().canonicalize().unwrap().display().to_string();
        let config = "home/.blue/config.yaml";
        let delivers = |text: &str| {
            hook.project.write(config, text.replace("@", &root));
            let (printed, warning) = hook.run_warned("session-start", "", &[], START.as_bytes());
            assert_eq!(printed.is_empty(), !warning.is_empty(), "{text}: {warning}");
            !printed.is_empty()
        };
        for text in [
            "safe_directories: [\"@\"]\n",
            "safe_directories: ['/a', '@']\n",
            "safe_directories: [/a, @] # mine\n",
            "safe_directories: [\n  /a,\n  \"@\"\n]\n",
            "safe_directories:\n  - /a\n  - @\n",
            "safe_directories:\n- \"@\" # mine\n- /a\n",
            "# mine\nvault: x\nsafe_directories:\n\n  # this one\n  - '@/'\nmodel_switch: y\n",
            "safe_directories: [\"*\"]\r\n",
            "safe_directories:\r\n  - \"*\"\r\n",
        ] {
            assert!(delivers(text), "{:?} {}: {text}", hook.shell, hook.awk);
        }
        for text in [
            "",
            "safe_directories: []\n",
            "safe_directories: [/a, \"@x\", \"@/below\"]\n",
            "# safe_directories: [\"@\"]\n",
            "other:\n  - @\n",
            "safe_directories:\n  - /a\nother:\n  - @\n",
            "safe_directories: [/a]\nother: [\"@\"]\n",
            "  safe_directories: [\"@\"]\n",
            "safe_directories: /a # @\n",
        ] {
            assert!(!delivers(text), "{:?} {}: {text}", hook.shell, hook.awk);
        }
    });
}

#[test]
fn root_may_use_the_project_of_whoever_called_sudo() {
    everywhere_once(|hook| {
        if !give_to_another_user(hook.project.path()) {
            return;
        }
        let under = |uid: &'static str| {
            let (project, shell) = (hook.project, hook.shell.clone());
            let environment = vec![("SUDO_UID", uid)];
            let hook = Hook { project, shell, awk: hook.awk, environment };
            hook.run_warned("session-start", "", &[], START.as_bytes())
        };
        assert_eq!(under("54321").1, "");
        assert_ne!(under("54322").1, "");
        assert_ne!(under("").1, "");
    });
}
