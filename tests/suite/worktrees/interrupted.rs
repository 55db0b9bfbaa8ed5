//! `blue worktree create` takes back what it made, and continues what was killed.

use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};

use super::{NOON, row, sample, worktree};
use crate::support::Project;

/// The branches and the worktrees of a repository, and the entries of the user's folder of worktrees.
fn traces(project: &Project) -> (String, usize, bool) {
    let worktrees = project.git(&["worktree", "list", "--porcelain"]).matches("worktree ").count();
    (
        project.git(&["branch", "--format=%(refname)"]),
        worktrees,
        worktree(project, "feature/context-injection").exists(),
    )
}

#[test]
fn a_failing_step_takes_everything_back() {
    // git itself fails, after it has made the worktree.
    let project = sample();
    let before = traces(&project);
    project.write(".git/hooks/post-checkout", "#!/bin/sh\necho no >&2\nexit 1\n");
    crate::support::set_mode(&project.path().join(".git/hooks/post-checkout"), 0o755);
    let output = project.blue(&["worktree", "create", "16"]);
    assert_eq!(output.code, 2, "{output:?}");
    assert_eq!(traces(&project), before, "{}", output.stderr);
    std::fs::remove_file(project.path().join(".git/hooks/post-checkout")).unwrap();
    // The worktree file cannot be written.
    project.write(".blue/worktree.json/file", "");
    project.git(&["add", "-f", ".blue/worktree.json/file"]);
    project.git(&["commit", "-q", "-m", "a folder in the way"]);
    let before = traces(&project);
    let output = project.blue(&["worktree", "create", "16"]);
    assert_eq!(output.code, 2, "{output:?}");
    assert!(output.stderr.contains(".blue/worktree.json"), "{}", output.stderr);
    assert_eq!(traces(&project), before, "{}", output.stderr);
    // A branch that was there before stays.
    project.git(&["branch", "feature/context-injection"]);
    let before = traces(&project);
    assert_eq!(project.blue(&["worktree", "create", "16", "--reuse"]).code, 2);
    assert_eq!(traces(&project), before);
}

/// Runs `create` under strace with a fault at the n-th call of a kind by blue itself. The processes of
/// git have none, because what a killed git leaves is git's. Returns the exit code, or `None` if blue
/// was killed.
fn create_with_fault(project: &Project, call: &str, fault: &str, n: usize) -> Option<Option<i32>> {
    let mut command = Command::new("strace");
    command.args(["-f", "-b", "execve", "-qq", "-o", "/dev/null", "-e", &format!("trace={call}")]);
    command.args(["-e", &format!("inject={call}:{fault}:when={n}")]);
    command.arg(env!("CARGO_BIN_EXE_blue")).args(["worktree", "create", "16", "--now", NOON]);
    command
        .current_dir(project.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let status = project.isolate(&mut command).status().ok()?;
    Some(if status.signal().is_some() { None } else { status.code() })
}

fn has_strace() -> bool {
    let works = Command::new("strace").args(["-qq", "-e", "trace=none", "true"]).status();
    let works = works.is_ok_and(|status| status.success());
    assert!(works || std::env::var_os("BLUE_REQUIRE_STRACE").is_none(), "strace is required");
    if !works {
        println!("skipped: strace is not here");
    }
    works
}

#[test]
fn a_killed_or_failing_create_leaves_nothing_or_is_finished_by_the_next_one() {
    if !has_strace() {
        return;
    }
    let project = sample();
    let clean = traces(&project);
    let folder = worktree(&project, "feature/context-injection");
    let mut n_faults = 0;
    for call in [
        "rename,renameat,renameat2",
        "openat2",
        "mkdir,mkdirat",
        "fsync,fdatasync",
        "unlink,unlinkat",
        "write",
    ] {
        for fault in ["signal=KILL", "error=ENOSPC"] {
            for n in [1, 2, 3, 5, 8] {
                let code = create_with_fault(&project, call, fault, n).expect("strace runs");
                n_faults += usize::from(code != Some(0));
                let place = format!("{call} {fault} {n}: {code:?}");
                // The list works at any moment.
                project.json(&["worktree", "list", "--format", "json", "--now", NOON]);
                let output = project.blue(&["worktree", "create", "16", "--now", NOON]);
                let is_whole = output.code == 0 || output.stderr.contains("has a worktree");
                assert!(is_whole, "{place}: {}", output.stderr);
                let row = row(&project, &folder);
                assert_eq!(
                    (&row["unfinished"], &row["missing"]),
                    (&false.into(), &false.into()),
                    "{place}"
                );
                assert_eq!(row["rfc"], "0016-context-injection", "{place}");
                assert!(folder.join(".blue/worktree.json").is_file(), "{place}");
                let removed =
                    project.blue(&["worktree", "remove", "16", "--force", "--delete-branch"]);
                assert_eq!(removed.code, 0, "{place}: {}", removed.stderr);
                assert_eq!(traces(&project), clean, "{place}");
            }
        }
    }
    assert!(n_faults > 8, "only {n_faults} faults had an effect");
}

#[test]
fn a_worktree_without_its_last_steps_is_listed_as_unfinished() {
    if !has_strace() {
        return;
    }
    let project = sample();
    let folder = worktree(&project, "feature/context-injection");
    // Each process that blue starts is a moment to be killed at. The first that leaves a record counts.
    let found = (1..40).any(|n| {
        create_with_fault(&project, "clone,clone3,vfork", "signal=KILL", n);
        let list = project.json(&["worktree", "list", "--format", "json", "--now", NOON]);
        list["worktrees"].as_array().unwrap().iter().any(|row| row["unfinished"] == true)
    });
    assert!(found, "no kill left an unfinished worktree");
    let output = project.blue(&["worktree", "prune"]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    let again = project.blue(&["worktree", "create", "16"]);
    assert!(again.code == 0 || again.stderr.contains("has a worktree"), "{}", again.stderr);
    assert_eq!(row(&project, &folder)["unfinished"], false);
}

#[test]
fn a_record_that_came_with_a_clone_is_ignored() {
    let project = sample();
    let victim = project.path().join("../victim");
    project.git(&["worktree", "add", "-q", "-b", "victim", victim.to_str().unwrap()]);
    let head = project.git(&["rev-parse", "main"]);
    project.write(".blue/local/worktrees/0016-context-injection.json", serde_json::json!({
        "path": victim, "commit": head.trim(), "is_own_branch": true,
        "file": {"version": 1, "rfc": "0016-context-injection", "uri": "", "branch": "victim", "base": "main", "base_commit": "", "created": ""},
    }).to_string());
    assert_eq!(project.blue(&["worktree", "create", "16"]).code, 0);
    assert_eq!(project.blue(&["worktree", "prune"]).code, 0);
    assert!(victim.join(".git").exists() && project.git(&["branch"]).contains("victim"));
}

#[test]
fn two_commands_at_once_make_one_worktree() {
    let project = sample();
    let start = || {
        let mut command = project.command(&["worktree", "create", "16", "--now", NOON]);
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    };
    let children = [start(), start(), start()];
    let codes: Vec<_> =
        children.map(|mut child| child.wait().unwrap().code()).into_iter().collect();
    assert_eq!(codes.iter().filter(|code| **code == Some(0)).count(), 1, "{codes:?}");
    let found = row(&project, &worktree(&project, "feature/context-injection"));
    assert_eq!((&found["unfinished"], &found["changed"]), (&false.into(), &0.into()));
}
