//! Compares the session hooks with `sh -c 'cat file'`, the simplest command that prints a file.
//!
//! `cargo bench --bench hook` starts the commands in turn, with the same standard input, and compares
//! their medians. The prompt hook, which calls blue, should take less than 10 ms.

#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a bench prepares files and reads the clock"
)]

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const RUNS: usize = 200;
const EVENT: &[u8] =
    br#"{"session_id":"bench","cwd":"/x","hook_event_name":"SessionStart","source":"startup"}"#;

fn main() {
    let folder = tempfile::tempdir().expect("a scratch directory");
    let root = folder.path();
    for i in 1..=40 {
        let text = format!(
            "# ADR {i:04}: Decision {i}\n\nStatus: accepted\n\n## Decision\n\nWe decided number {i} for reasons.\n"
        );
        write(&root.join(format!(".blue/docs/adrs/{i:04}-decision.md")), &text);
        let text =
            format!("# RFC {i:04}: Proposal {i}\n\n- Status: draft\n\n## Tasks\n\n- [ ] do {i}\n");
        write(&root.join(format!(".blue/docs/rfcs/{i:04}-proposal.md")), &text);
    }
    write(&root.join(".git/HEAD"), "ref: refs/heads/rfc/20\n");
    run(root, &[env!("CARGO_BIN_EXE_blue"), "knowledge", "build"]);
    let hooks = Path::new(env!("CARGO_MANIFEST_DIR")).join("hooks");
    let hook = |name: &str| hooks.join(name).display().to_string();
    let (start, workflow) = (hook("session-start"), hook("session-workflow"));
    println!("shell | cat | session-start | ratio | session-workflow | ratio");
    for shell in [vec!["sh"], vec!["dash"], vec!["bash"], vec!["busybox", "sh"]] {
        if Command::new(shell[0]).arg("--help").stdin(Stdio::null()).output().is_err() {
            continue;
        }
        let with = |rest: &[&str]| {
            [shell.as_slice(), rest].concat().iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        let commands =
            [with(&["-c", "cat .blue/context/session.md"]), with(&[&start]), with(&[&workflow])];
        let [cat, start, workflow] = medians(root, &commands);
        let ratio = |time: Duration| time.as_secs_f64() / cat.as_secs_f64();
        println!(
            "{} | {cat:.2?} | {start:.2?} | {:.2} | {workflow:.2?} | {:.2}",
            shell.join(" "),
            ratio(start),
            ratio(workflow)
        );
    }
    let prompt =
        [env!("CARGO_BIN_EXE_blue"), "hook", "user-prompt-submit"].map(String::from).to_vec();
    let [prompt] = medians(root, &[prompt]);
    println!("blue hook user-prompt-submit: {prompt:.2?}");
}

/// Returns the median time of each command. They run in turn, so that noise affects all alike.
fn medians<const N: usize>(root: &Path, commands: &[Vec<String>; N]) -> [Duration; N] {
    let mut times: [Vec<Duration>; N] = std::array::from_fn(|_| Vec::new());
    for _ in 0..RUNS {
        for (times, command) in times.iter_mut().zip(commands) {
            let words: Vec<&str> = command.iter().map(String::as_str).collect();
            times.push(run(root, &words));
        }
    }
    times.map(|mut times| {
        times.sort();
        times[times.len() / 2]
    })
}

fn run(root: &Path, command: &[&str]) -> Duration {
    let started = Instant::now();
    let mut child = Command::new(command[0])
        .args(&command[1..])
        .current_dir(root)
        .env_remove("CLAUDE_PROJECT_DIR")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it runs");
    // Not every command reads its standard input.
    child.stdin.take().expect("a pipe").write_all(EVENT).ok();
    assert!(child.wait().expect("it ends").success(), "{command:?}");
    started.elapsed()
}

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("it can be made");
    std::fs::write(path, text).expect("it can be written");
}
