//! Measures whole builds as ratios to well-known baselines in the same run.
//!
//! `cargo bench --bench build` measures 1,000 and 10,000 documents. Pass other sizes as arguments:
//! `cargo bench --bench build -- 100000`.
//!
//! - cold: a first build, compared with reading, hashing and parsing the same bytes with the same
//!   crates on as many threads;
//! - no-op: a build with nothing to do, compared with `git status` in the same tree;
//! - one change: a build after the body of one document changed, compared with the no-op.

#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a benchmark writes files, reads the clock and prints"
)]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rayon::prelude::*;

const RUNS: usize = 7;

fn main() {
    let sizes: Vec<u32> = std::env::args().filter_map(|size| size.parse().ok()).collect();
    let sizes = if sizes.is_empty() { vec![1_000, 10_000] } else { sizes };
    println!(
        "documents | plain | cold | ratio | git status | no-op | ratio | one change | ratio | peak memory"
    );
    for size in sizes {
        measure(size);
    }
}

fn measure(size: u32) {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let paths = generate(folder.path(), size);
    git(folder.path(), &["init", "-q"]);
    git(folder.path(), &["add", "."]);
    git(folder.path(), &["commit", "-qm", "documents"]);
    let plain = best(|| plain(&paths));
    let mut peak = 0;
    let cold = best(|| {
        std::fs::remove_dir_all(folder.path().join(".blue")).ok();
        std::fs::remove_dir_all(folder.path().join("knowledge")).ok();
        timed(|| peak = peak.max(blue(folder.path())))
    });
    git(folder.path(), &["add", "."]);
    git(folder.path(), &["commit", "-qm", "knowledge"]);
    let status = best(|| timed(|| git(folder.path(), &["status", "--porcelain"])));
    let idle = best(|| timed(|| assert!(blue(folder.path()) > 0)));
    let mut n = 0;
    let change = best(|| {
        n += 1;
        let path = &paths[paths.len() / 2];
        let text = std::fs::read_to_string(path).expect("the document was generated");
        std::fs::write(path, format!("{text}\nEdit number {n}.\n"))
            .expect("the document is writable");
        timed(|| peak = peak.max(blue(folder.path())))
    });
    let ratio = |a: Duration, b: Duration| a.as_secs_f64() / b.as_secs_f64();
    println!(
        "{size:9} | {plain:5.0?} | {cold:.0?} | {:.2} | {status:.0?} | {idle:.0?} | {:.2} | {change:.0?} | {:.2} | {} MiB",
        ratio(cold, plain),
        ratio(idle, status),
        ratio(change, idle),
        peak / 1024,
    );
}

fn timed(work: impl FnOnce()) -> Duration {
    let started = Instant::now();
    work();
    started.elapsed()
}

/// Returns the shortest of several runs, because noise only adds time.
fn best(mut run: impl FnMut() -> Duration) -> Duration {
    (0..RUNS).map(|_| run()).min().expect("RUNS is not zero")
}

/// Reads, hashes and parses every document with the crates blue uses.
fn plain(paths: &[PathBuf]) -> Duration {
    timed(|| {
        let n_events: usize = paths
            .par_iter()
            .map(|path| {
                let bytes = std::fs::read(path).expect("the document was generated");
                std::hint::black_box(blake3::hash(&bytes));
                let text = std::str::from_utf8(&bytes).expect("the document is UTF-8");
                pulldown_cmark::Parser::new(text).into_offset_iter().count()
            })
            .sum();
        std::hint::black_box(n_events);
    })
}

/// Builds once and returns the peak resident memory in KiB.
fn blue(folder: &Path) -> u64 {
    let mut child = Command::new(env!("CARGO_BIN_EXE_blue"))
        .args(["knowledge", "build"])
        .current_dir(folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("blue runs");
    let mut peak = 0;
    loop {
        let status =
            std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let line = status.lines().find(|line| line.starts_with("VmHWM:"));
        let now = line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok()).unwrap_or(0);
        peak = peak.max(now);
        if let Some(exit) = child.try_wait().expect("blue can be waited for") {
            assert!(exit.success(), "the build failed");
            return peak;
        }
        std::thread::sleep(Duration::from_micros(500));
    }
}

fn git(folder: &Path, arguments: &[&str]) {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "gc.auto=0"]);
    let status = command.args(arguments).current_dir(folder).stdout(Stdio::null()).status();
    assert!(status.expect("git runs").success(), "git {arguments:?}");
}

/// Writes documents of about three kilobytes with headings, lists, code, links and mentions. Each
/// folder has at most 1,000 of them. Returns their paths.
fn generate(root: &Path, size: u32) -> Vec<PathBuf> {
    let words = "the build reads every document once and keeps what it said so that a later build need not look again when nothing moved since a decision binds until another takes its place".split(' ').collect::<Vec<_>>();
    let mut seed = 42u64;
    let mut random = move |below: u32| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((seed >> 33) % u64::from(below)) as u32
    };
    let mut paths = Vec::new();
    for i in 1..=size {
        let mut sentence = |n: u32| -> String {
            let chosen: Vec<&str> =
                (0..n).map(|_| words[random(words.len() as u32) as usize]).collect();
            chosen.join(" ") + "."
        };
        let mut text = format!(
            "# RFC {i:06}: {}\n\n- Status: accepted\n- Date: 2026-01-25\n\n## Summary\n\n{}\n\n",
            sentence(6),
            sentence(24)
        );
        for section in ["Motivation", "Design", "Decision", "Consequences"] {
            text += &format!(
                "## {section}\n\n{} {}\n\n- {}\n- {}\n\n",
                sentence(40),
                sentence(30),
                sentence(9),
                sentence(9)
            );
        }
        let cited = [i / 2 + 1, i / 3 + 1, i.saturating_sub(1).max(1)];
        text += &format!(
            "```rust\nfn f() -> u32 {{ {i} }}\n```\n\nSee RFC {} and RFC-{:06}, and [this](rfc-{:06}.md).\n",
            cited[0], cited[1], cited[2]
        );
        let path = root.join(format!("docs/rfcs/{:03}/rfc-{i:06}.md", i / 1_000));
        std::fs::create_dir_all(path.parent().expect("the path has a parent"))
            .expect("the folder can be created");
        std::fs::write(&path, text).expect("the file can be written");
        paths.push(path);
    }
    paths
}
