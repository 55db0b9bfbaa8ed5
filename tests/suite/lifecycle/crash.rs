//! A change of documents is killed, or the disk is full, at every call that writes.

use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Output};

use super::{documents, three_rfcs};
use crate::support::Project;

const CALLS: [&str; 8] =
    ["write", "fsync", "syncfs", "renameat", "renameat2", "unlinkat", "mkdirat", "fchmod"];

const ARGUMENTS: [&str; 4] = ["status", "set", "docs/rfcs/0001-cache.draft.md", "accepted"];

fn has_strace() -> bool {
    let works = Command::new("strace").args(["-qq", "-e", "trace=none", "true"]).status();
    let works = works.is_ok_and(|status| status.success());
    if !works {
        assert!(std::env::var_os("BLUE_REQUIRE_STRACE").is_none(), "strace is required");
        println!("skipped: strace is not here");
    }
    works
}

fn traced(project: &Project, flags: &[&str]) -> (Output, String) {
    let log = tempfile::NamedTempFile::new().unwrap();
    let mut command = Command::new("strace");
    command.args(["-f", "-qq", "-o"]).arg(log.path()).args(flags);
    command.arg(env!("CARGO_BIN_EXE_blue")).args(ARGUMENTS).current_dir(project.path());
    project.isolate(&mut command);
    let output = command.output().unwrap();
    (output, std::fs::read_to_string(log.path()).unwrap())
}

fn prepared() -> Project {
    let project = three_rfcs();
    project.git(&["init", "-q"]);
    // The key of this machine exists before the change.
    project.blue(&["init", "--help"]);
    project
}

#[test]
fn a_change_that_is_killed_or_fails_at_any_call_leaves_all_old_or_all_new() {
    if !has_strace() {
        return;
    }
    let old = documents(&prepared());
    let project = prepared();
    let trace = format!("trace={}", CALLS.join(","));
    let (output, log) = traced(&project, &["-e", &trace]);
    assert!(output.status.success(), "{output:?}");
    let new = documents(&project);
    let mut points: BTreeMap<&str, Vec<bool>> = BTreeMap::new();
    for line in log.lines() {
        let call = CALLS.iter().find(|call| line.contains(&format!(" {call}(")));
        if let Some(call) = call {
            let prints = line.contains("write(1, ") || line.contains("write(2, ");
            points.entry(call).or_default().push(prints);
        }
    }
    let mut n_points = 0;
    for (call, points) in points {
        // What is printed comes after the change.
        for n in (1..=points.len()).filter(|n| !points[n - 1]) {
            for fault in ["signal=KILL", "error=ENOSPC"] {
                let what = format!("{call} {n}: {fault}");
                let project = prepared();
                let inject = format!("inject={call}:{fault}:when={n}");
                let (output, _) = traced(&project, &["-e", &trace, "-e", &inject]);
                let now = documents(&project);
                if output.status.signal().is_none() && output.status.code() != Some(137) {
                    let expected = if output.status.success() { &new } else { &old };
                    assert!(&now == expected, "{what}: {output:?} {:?}", now.keys());
                }
                project.build();
                let after = documents(&project);
                assert!(after == old || after == new, "{what}: {:?}", after.keys());
                assert!(!project.exists(".blue/local/edits/record"), "{what}");
                assert!(!project.exists(".blue/local/edits/0"), "{what}");
                n_points += 1;
            }
        }
    }
    assert!(n_points > 40, "only {n_points} points");
}

#[test]
fn a_record_that_came_with_a_clone_changes_nothing() {
    let project = prepared();
    project.build();
    let old = documents(&project);
    let record = "{\"edits\":[{\"staged\":\".blue/local/edits/0\",\"path\":\"docs/adr/0001-use-rust.md\",\"before\":\"blake3:00\",\"after\":null}],\"seal\":null}";
    project.write(".blue/local/edits/record", record).write(".blue/local/edits/0", "x");
    project.build();
    assert_eq!(documents(&project), old);
    assert!(!project.exists(".blue/local/edits/record"));
}
