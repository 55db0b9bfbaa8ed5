//! The commands that are interrupted, and the state they start from.

use std::process::{Command, Stdio};

use super::{
    INTERRUPTED, Point, Prepare, Scenario, all_calls, attack, attack_with, has_strace, strace,
    writing_calls,
};
use crate::support;
use crate::support::Project;

/// Writes three decisions and the given number of RFCs.
fn documents(project: &Project, edition: u32, n_rfcs: u32) {
    for i in 1..=3 {
        let text = format!(
            "# {i}. Decision {i}\n\n## Status\n\nAccepted\n\n## Decision\n\nEdition {edition} of decision {i}. See ADR {}.\n",
            i % 3 + 1
        );
        project.write(&format!("docs/adr/{i:04}-decision-{i}.md"), text);
    }
    for i in 1..=n_rfcs {
        let text = format!("# RFC {i}: New\n\n- Status: draft\n\nNew. See ADR 1.\n");
        project.write(&format!("docs/rfcs/{i:04}-new.md"), text);
    }
}

fn never_built() -> Project {
    let project = Project::named("project");
    documents(&project, 1, 1);
    project
}

/// A built project with backdated files. A file as old as the last check of it may or may not be
/// read again, so without this the calls would differ between runs.
fn built() -> Project {
    let project = never_built();
    std::thread::sleep(std::time::Duration::from_millis(10));
    project.build();
    let before = std::time::SystemTime::now() - std::time::Duration::from_secs(60);
    for path in project.files().into_keys().filter(|path| !path.starts_with("docs/")) {
        let file = std::fs::File::options().append(true).open(project.path().join(path)).unwrap();
        file.set_modified(before).unwrap();
    }
    project
}

fn edited() -> Project {
    let project = built();
    documents(&project, 2, 2);
    project
}

fn many() -> Project {
    let project = built();
    documents(&project, 2, 10);
    project
}

fn without_rfcs() -> Project {
    let project = built();
    std::fs::remove_dir_all(project.path().join("docs/rfcs")).unwrap();
    project
}

fn artifact_edited() -> Project {
    let project = built();
    let text = project.read("knowledge/adrs.md") + "My words.\n";
    project.write("knowledge/adrs.md", text);
    project
}

/// A project whose build was killed just after its commit point.
fn committed() -> Project {
    let project = edited();
    let flags =
        ["-P", "adrs.md", "-e", "trace=renameat", "-e", "inject=renameat:signal=KILL:when=1"];
    let build = Scenario { prepare: edited, ..BUILD };
    let run = strace(&project, &build, &flags);
    assert!(run.code != Some(0) && project.exists(".blue/local/txn/record"), "{}", run.log);
    project
}

fn with_settings() -> Project {
    let project = built();
    project.write(".claude/settings.json", "{\n  // mine\n  \"model\": \"x\"\n}\n");
    project.write(".mcp.json", "{\"mcpServers\": {}}\n");
    project
}

fn installed() -> Project {
    let project = with_settings();
    let output = project.command(&["install"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    project
}

fn delivered() -> Project {
    let project = built();
    project.write(".blue/local/audit.jsonl", "");
    project
}

const BUILD: Scenario = Scenario {
    name: "build",
    arguments: &["knowledge", "build", "--jobs", "1"],
    stdin: "",
    prepare: edited,
    calls: all_calls,
    again: &["knowledge", "build"],
};

#[test]
fn an_interrupted_first_build_leaves_whole_files_and_converges() {
    if has_strace() {
        let n = attack(&Scenario { name: "first build", prepare: never_built, ..BUILD });
        assert!(n > 250, "only {n} points");
    }
}

#[test]
fn an_interrupted_build_leaves_whole_files_and_converges() {
    if has_strace() {
        let n = attack(&BUILD);
        assert!(n > 250, "only {n} points");
    }
}

#[test]
fn interrupted_builds_that_remove_rescue_or_recover_converge() {
    if has_strace() {
        let scenarios: [(&'static str, Prepare); 4] = [
            ("many files", many),
            ("orphans", without_rfcs),
            ("a rescue", artifact_edited),
            ("recovery", committed),
        ];
        let n: usize = scenarios
            .into_iter()
            .map(|(name, prepare)| {
                attack(&Scenario { name, prepare, calls: writing_calls, ..BUILD })
            })
            .sum();
        assert!(n > 300, "only {n} points");
    }
}

#[test]
fn interrupted_init_and_install_leave_whole_files_and_converge() {
    if has_strace() {
        let with = |name, arguments, prepare, again| {
            attack(&Scenario { name, arguments, prepare, again, calls: writing_calls, ..BUILD })
        };
        let n = with("init", &["init"], never_built, &["init"])
            + with("install", &["install"], with_settings, &["install"])
            + with("uninstall", &["uninstall"], installed, &["uninstall"]);
        assert!(n > 150, "only {n} points");
    }
}

/// A built workspace whose queue has a request that no mandate has read.
fn with_queue() -> Project {
    let project = crate::responsibilities::workspace();
    std::thread::sleep(std::time::Duration::from_millis(10));
    project.build();
    project
}

#[test]
fn an_interrupted_mandate_leaves_whole_files_and_converges() {
    if has_strace() {
        let arguments: &[&str] =
            &["mandate", "update_open_requests", "--all", "--now", "2026-01-25T09:00:00Z"];
        let n = attack(&Scenario {
            name: "mandate",
            arguments,
            prepare: with_queue,
            again: arguments,
            calls: writing_calls,
            ..BUILD
        });
        assert!(n > 50, "only {n} points");
    }
}

#[test]
fn an_interrupted_delivery_leaves_a_whole_log_line_or_none() {
    if has_strace() {
        let n = attack(&Scenario {
            name: "delivery",
            arguments: &["hook", "session-start"],
            stdin: "{\"session_id\":\"s1\",\"hook_event_name\":\"SessionStart\"}",
            prepare: delivered,
            ..BUILD
        });
        assert!(n > 10, "only {n} points");
    }
}

#[test]
fn interrupted_system_calls_are_retried() {
    if has_strace() {
        let interrupted: fn(usize, &Point) -> Vec<String> = |_, _| vec![INTERRUPTED.to_string()];
        let synced = || vec!["syncfs"];
        let many = Scenario { name: "many files", prepare: many, calls: synced, ..BUILD };
        let install = &["install"];
        let install = Scenario {
            name: "install",
            arguments: install,
            prepare: with_settings,
            again: install,
            calls: writing_calls,
            ..BUILD
        };
        let n: usize =
            [BUILD, many, install].iter().map(|scenario| attack_with(scenario, interrupted)).sum();
        assert!(n > 250, "only {n} points");
    }
}

#[test]
fn a_failed_thread_start_is_reported() {
    if has_strace() {
        let project = edited();
        let inject = "inject=clone,clone3:error=EAGAIN:when=1+";
        let build = Scenario { arguments: &["knowledge", "build", "--jobs", "2"], ..BUILD };
        let run = strace(&project, &build, &["-e", "trace=clone,clone3", "-e", inject]);
        let is_reported = run.stderr.starts_with("blue: error: start a thread: ");
        assert!(run.code == Some(2) && is_reported, "{:?} {}", run.code, run.stderr);
    }
}

/// Runs shell commands in a project whose `knowledge/` is another file system of 64 KiB. Returns
/// `None` if this user may not mount.
#[cfg(target_os = "linux")]
fn with_another_file_system(project: &Project, lines: &str) -> Option<String> {
    std::fs::create_dir_all(project.path().join("knowledge")).unwrap();
    // The key of this machine exists already, so that the first calls are those of the build.
    let key = project.home().join(".blue/local/key");
    support::write(&key, [7; 32]);
    let private = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(&key, private).unwrap();
    let blue = env!("CARGO_BIN_EXE_blue");
    let script = format!(
        "mount -t tmpfs -o size=64k none knowledge || exit 77\nblue() {{ '{blue}' \"$@\"; }}\n{lines}"
    );
    let run = |flags: &[&str]| {
        let mut command = Command::new("unshare");
        command.args(flags).args(["sh", "-c", &script]).current_dir(project.path());
        command.env("NO_COLOR", "1").env("BLUE", blue).stdin(Stdio::null());
        let output = project.isolate(&mut command).output().ok()?;
        let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        output.status.success().then_some(text)
    };
    run(&["--mount"]).or_else(|| run(&["--user", "--map-root-user", "--mount"]))
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_file_system_keeps_no_temporary_files() {
    let full = "head -c 65536 /dev/zero > knowledge/full 2>/dev/null; blue knowledge build; echo code $?; ls -A knowledge .blue/local/txn";
    let Some(output) = with_another_file_system(&never_built(), full) else {
        println!("skipped: nothing can be mounted here");
        return;
    };
    assert!(output.contains("code 2") && output.contains("No space left"), "{output}");
    assert!(
        output.contains("write knowledge/") || output.contains("create knowledge/"),
        "{output}"
    );
    assert!(!output.contains(".tmp"), "{output}");
    let again = format!(
        "{full}; rm knowledge/full; blue knowledge build; echo code $?; ls -A knowledge .blue/local/txn; blue knowledge build --check; echo code $?"
    );
    let output = with_another_file_system(&never_built(), &again).unwrap();
    assert_eq!(output.matches("code 0").count(), 2, "{output}");
    assert!(output.contains("adrs.md") && !output.contains(".tmp"), "{output}");
    if has_strace() {
        // The build is killed while it syncs the staged files, and just after the commit point.
        for fault in ["fsync:signal=KILL:when=1", "renameat:signal=KILL:when=2"] {
            let killed = format!(
                "strace -f -qq -o /dev/null -e inject={fault} \"$BLUE\" knowledge build --jobs 1; ls -A knowledge; echo --; blue knowledge build; echo code $?; ls -A knowledge .blue/local/txn; blue knowledge build --check; echo code $?"
            );
            let output = with_another_file_system(&never_built(), &killed).unwrap();
            let (before, after) = output.split_once("--\n").unwrap();
            assert!(before.contains(".tmp"), "{fault}: nothing was left to remove: {output}");
            assert_eq!(after.matches("code 0").count(), 2, "{fault}: {output}");
            assert!(!after.contains(".tmp"), "{fault}: {output}");
        }
    }
}
