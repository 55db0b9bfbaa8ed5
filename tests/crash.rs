//! A build killed, or refused by the system, at every single call that writes.
//!
//! Needs strace, which injects the faults. Without it the test says so and stops, unless
//! BLUE_REQUIRE_STRACE is set, as `.ci/run` does.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a test that cannot go on should stop, and it prepares files as people do"
)]

mod space;

use std::collections::BTreeMap;
use std::process::Command;

use space::Space;

const CALLS: [&str; 6] = ["write", "fsync", "renameat", "unlinkat", "mkdirat", "openat"];

/// The calls that differ when many files are written at once.
const CALLS_OF_MANY: [&str; 2] = ["syncfs", "renameat"];

/// Documents whose build writes a few files, or many.
fn documents(space: &Space, edition: u32, many: bool) {
    for i in 1..=4 {
        let text = format!(
            "# {i}. Decision {i}\n\n## Status\n\nAccepted\n\n## Decision\n\nEdition {edition} of decision {i}. See ADR {}.\n",
            i % 4 + 1
        );
        space.write(&format!("docs/adr/{i:04}-decision-{i}.md"), text);
    }
    if edition == 2 {
        for i in 1..=if many { 10 } else { 1 } {
            let text = format!("# RFC {i}: New\n\n- Status: draft\n\nNew. See ADR 1.\n");
            space.write(&format!("docs/rfcs/{i:04}-new.md"), text);
        }
    }
}

/// A project as it was built once, with its documents changed since.
fn changed(many: bool) -> (Space, BTreeMap<String, Vec<u8>>) {
    let space = Space::new();
    documents(&space, 1, many);
    space.build();
    let old = space.files();
    documents(&space, 2, many);
    (space, old)
}

/// A project that was never built.
fn untouched() -> (Space, BTreeMap<String, Vec<u8>>) {
    let space = Space::new();
    documents(&space, 2, false);
    let old = space.files();
    (space, old)
}

fn clean(many: bool) -> BTreeMap<String, Vec<u8>> {
    let space = Space::new();
    documents(&space, 2, many);
    space.build();
    space.files()
}

fn strace(space: &Space, expression: &str, log: &str) -> (i32, String) {
    let mut command = Command::new("strace");
    command.args(["-f", "-qq", "-o", log, "-e", expression]).arg(env!("CARGO_BIN_EXE_blue"));
    command
        .args(["knowledge", "build", "--jobs", "1"])
        .current_dir(space.path())
        .env("NO_COLOR", "1");
    let output = command.output().unwrap();
    (output.status.code().unwrap_or(-1), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Every artifact is whole: what it was before, or what a clean build gives.
fn assert_whole(
    space: &Space,
    old: &BTreeMap<String, Vec<u8>>,
    new: &BTreeMap<String, Vec<u8>>,
    point: &str,
) {
    for (path, bytes) in space.files() {
        let known = old.get(&path) == Some(&bytes) || new.get(&path) == Some(&bytes);
        assert!(known, "{point}: {path} is torn:\n{}", String::from_utf8_lossy(&bytes));
    }
    let lost: Vec<_> = old.keys().filter(|path| !space.exists(path)).collect();
    assert!(lost.is_empty(), "{point}: lost {lost:?}");
}

fn assert_converges(space: &Space, new: &BTreeMap<String, Vec<u8>>, point: &str) {
    let output = space.blue(&["knowledge", "build"]);
    assert_eq!(output.code, 0, "{point}: the next build: {}", output.stderr);
    let files = space.files();
    for (path, bytes) in new {
        assert_eq!(files.get(path), Some(bytes), "{point}: {path} is not what a clean build gives");
    }
    assert_eq!(files.len(), new.len(), "{point}: stray files");
}

#[test]
fn a_build_killed_or_refused_at_any_write_leaves_whole_files_and_converges() {
    let works = Command::new("strace").args(["-qq", "-e", "trace=none", "true"]).status();
    if !works.is_ok_and(|status| status.success()) {
        assert!(
            std::env::var_os("BLUE_REQUIRE_STRACE").is_none(),
            "strace is required and does not work"
        );
        println!("skipped: strace is not here");
        return;
    }
    let log = tempfile::NamedTempFile::new().unwrap();
    let log_path = log.path().to_str().unwrap();
    let mut n_points = 0;
    let few = CALLS.map(|call| (call, false));
    let many = CALLS_OF_MANY.map(|call| (call, cfg!(target_os = "linux")));
    for (call, many) in few.into_iter().chain(many) {
        let new = clean(many);
        let prepared = || if call == "mkdirat" { untouched() } else { changed(many) };
        let (space, _) = prepared();
        strace(&space, &format!("trace={call}"), log_path);
        let text = std::fs::read_to_string(log_path).unwrap();
        let n_calls = text.lines().filter(|line| line.contains(&format!("{call}("))).count();
        assert!(n_calls > 0, "a build makes no {call}");
        // The loader opens libraries too; those come first and do no harm to anybody.
        for n in 1..=n_calls.min(40) {
            let refused = if n % 2 == 0 { "error=ENOSPC" } else { "error=EIO" };
            for fault in ["signal=KILL", refused] {
                let point = format!("{call} {n} of {n_calls}: {fault}");
                let (space, old) = prepared();
                let (code, stderr) =
                    strace(&space, &format!("inject={call}:{fault}:when={n}"), log_path);
                assert_whole(&space, &old, &new, &point);
                if fault != "signal=KILL" {
                    assert!(matches!(code, 0 | 2 | 127), "{point}: exit {code}: {stderr}");
                    assert!(!stderr.contains("this is a bug"), "{point}: {stderr}");
                }
                assert_converges(&space, &new, &point);
                n_points += 1;
            }
        }
    }
    println!("{n_points} points");
    assert!(n_points > 100, "only {n_points} points were tried");
}
