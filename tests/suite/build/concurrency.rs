//! Builds, hooks, servers and a watch that run at the same time.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use blue::emit::Lock;
use blue::root::Root;
use blue::verify::format_of;
use blue::wire::header;
use blue::wire::manifest::Manifest;

use crate::support::Project;
use crate::support::mcp_client::{Client, Era};

#[test]
fn eight_builds_at_once_agree() {
    let project = Project::with_two_decisions();
    for i in 3..40 {
        project.write(
            &format!("docs/adr/{i:04}-more.md"),
            format!("# {i}. More {i}\n\n## Status\n\nAccepted\n"),
        );
    }
    let children: Vec<_> = (0..8)
        .map(|_| {
            project
                .command(&["knowledge", "build"])
                .stdout(Stdio::null())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    assert_eq!(project.blue(&["knowledge", "build", "--check"]).code, 0);
}

/// Duration of the concurrent load.
const BUSY: Duration = Duration::from_secs(7);

fn document(project: &Project, i: u32, edition: u32) {
    let text = format!(
        "# {i}. Decision {i}\n\n## Status\n\nAccepted\n\n## Decision\n\nEdition {edition} of {i}. See ADR {}.\n{}",
        i % 6 + 1,
        "And some more words of it.\n".repeat(edition as usize % 40)
    );
    let path = project.path().join(format!("docs/adr/{i:04}-decision-{i}.md"));
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    // Renames a complete file into place, as editors do.
    let half = path.with_extension("new");
    std::fs::write(&half, text).unwrap();
    std::fs::rename(half, path).unwrap();
}

fn sample() -> Project {
    let project = Project::new();
    for i in 1..=6 {
        document(&project, i, 0);
    }
    project.write("docs/rfcs/0001-new.md", "# RFC 1: New\n\n- Status: draft\n\nNew. See ADR 1.\n");
    project.build();
    project.write_hooks();
    project
}

/// Waits for the end and returns exit code, output and errors. Panics after a minute.
fn wait_for_end(mut child: Child, input: &str) -> (i32, String, String) {
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(input.as_bytes()).ok();
    }
    let (mut out, mut err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let errors = std::thread::spawn(move || {
        let mut text = String::new();
        err.read_to_string(&mut text).unwrap();
        text
    });
    let mut text = String::new();
    out.read_to_string(&mut text).unwrap();
    let started = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if started.elapsed() > Duration::from_secs(60) {
            child.kill().unwrap();
            panic!("it does not end");
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    (status.code().unwrap_or(-1), text, errors.join().unwrap())
}

fn piped(command: &mut Command) -> Child {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Checks that an emitted file is one complete version.
fn assert_whole(path: &str, bytes: &[u8]) {
    let text = String::from_utf8(bytes.to_vec()).unwrap();
    assert!(text.ends_with('\n'), "{path} has no end:\n{text}");
    if path == ".blue/context.manifest.yaml" {
        let read = Manifest::read(&text);
        assert!(read.is_ok(), "{path}: {read:?}\n{text}");
        return;
    }
    assert!(header::parse(format_of(path), bytes).is_some(), "{path} has no header:\n{text}");
    if path.ends_with("session.md") {
        assert!(text.ends_with("</blue-session>\n"), "{path} is torn:\n{text}");
    } else if path.ends_with(".jsonl") {
        let lines = text.lines().map(serde_json::from_str::<serde_json::Value>);
        assert!(lines.into_iter().all(|line| line.is_ok()), "{path} is torn:\n{text}");
    }
    // The number of documents is constant, and each index has one line for each.
    if path.ends_with("documents.jsonl") || path.ends_with("relevance.jsonl") {
        assert_eq!(text.lines().count(), 8, "{path} is torn:\n{text}");
    }
}

struct Busy<'a> {
    project: &'a Project,
    over: AtomicBool,
    edition: AtomicU32,
    n_builds: AtomicUsize,
    n_reads: AtomicUsize,
}

impl Busy<'_> {
    fn goes_on(&self) -> bool {
        !self.over.load(Ordering::Relaxed)
    }

    fn builds(&self) {
        while self.goes_on() {
            let edition = self.edition.fetch_add(1, Ordering::Relaxed);
            document(self.project, edition % 6 + 1, edition);
            let flags: &[&str] = if edition.is_multiple_of(3) {
                &["--force", "--jobs", "2"]
            } else {
                &["--jobs", "1"]
            };
            let mut command = self.project.command(&["knowledge", "build"]);
            let (code, _, stderr) = wait_for_end(piped(command.args(flags)), "");
            // Documents are edited all the time, so a build may report that one changed during the
            // build.
            let moved = stderr.contains("changed during the build");
            assert!(code == 0 || code == 2 && moved, "exit {code}: {stderr}");
            assert!(!stderr.contains("this is a bug"), "{stderr}");
            self.n_builds.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn reads(&self) {
        while self.goes_on() {
            for path in [
                "knowledge/adrs.md",
                ".blue/context/session.md",
                ".blue/context/session.json",
                ".blue/context/bundles.jsonl",
                ".blue/context/documents.jsonl",
                ".blue/context/relevance.jsonl",
                ".blue/context.manifest.yaml",
            ] {
                assert_whole(path, &std::fs::read(self.project.path().join(path)).unwrap());
                self.n_reads.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// Runs hooks for one session and returns the number of deliveries.
    fn hooks(&self, session: &str, script: bool) -> usize {
        let input =
            format!("{{\"session_id\":\"{session}\",\"hook_event_name\":\"SessionStart\"}}");
        let mut n_delivered = 0;
        while self.goes_on() {
            let mut command = match script {
                true => Command::new("sh"),
                false => self.project.command(&["hook", "session-start"]),
            };
            if script {
                command.arg(self.project.path().join(".blue/hooks/session-start"));
            }
            self.project.isolate(&mut command).current_dir(self.project.path());
            let (code, stdout, stderr) = wait_for_end(piped(&mut command), &input);
            assert_eq!(code, 0, "{stderr}");
            if !stdout.is_empty() {
                assert!(stdout.starts_with("<blue-session "), "{stdout}");
                assert!(stdout.ends_with("</blue-session>\n"), "torn: {stdout}");
                n_delivered += 1;
            }
        }
        n_delivered
    }

    /// Runs the prompt hook, which builds and delivers updates.
    fn prompts(&self, session: &str) {
        let input = format!("{{\"session_id\":\"{session}\"}}");
        while self.goes_on() {
            let mut command = self.project.command(&["hook", "user-prompt-submit"]);
            let (code, _, stderr) = wait_for_end(piped(&mut command), &input);
            assert_eq!(code, 0, "{stderr}");
            assert!(!stderr.contains("this is a bug"), "{stderr}");
        }
    }

    /// Reads through a server and returns the number of successful reads.
    fn serves(&self) -> usize {
        let mut client = Client::new(self.project, Era::Modern);
        let mut n_given = 0;
        while self.goes_on() {
            for uri in ["blue://context/session", "blue://docs/adrs/1", "blue://knowledge/adrs"] {
                let answer = client.read(uri);
                let Some(text) = answer["result"]["contents"][0]["text"].as_str() else { continue };
                n_given += 1;
                if uri == "blue://context/session" {
                    assert!(text.trim_end().ends_with("</blue-session>"), "torn: {text}");
                }
            }
        }
        client.end();
        n_given
    }
}

/// Number of log lines by session. Every line must be complete.
fn logged(project: &Project) -> BTreeMap<String, usize> {
    let mut n_lines = BTreeMap::new();
    for name in [".blue/local/audit.1.jsonl", ".blue/local/audit.jsonl"] {
        if project.exists(name) {
            for line in project.read(name).lines() {
                let line: serde_json::Value = serde_json::from_str(line).expect(line);
                *n_lines.entry(line["session_id"].as_str().unwrap().to_string()).or_default() += 1;
            }
        }
    }
    n_lines
}

#[test]
fn builds_hooks_servers_and_a_watch_do_not_harm_each_other() {
    let project = sample();
    let busy = Busy {
        project: &project,
        over: AtomicBool::new(false),
        edition: AtomicU32::new(1),
        n_builds: AtomicUsize::new(0),
        n_reads: AtomicUsize::new(0),
    };
    let mut watch = project.command(&["watch", "--quiet", "20"]);
    let mut watch = watch.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let delivered = std::thread::scope(|scope| {
        scope.spawn(|| busy.builds());
        scope.spawn(|| busy.builds());
        scope.spawn(|| busy.reads());
        scope.spawn(|| busy.prompts("prompts"));
        let script = scope.spawn(|| busy.hooks("script", true));
        let hook = scope.spawn(|| busy.hooks("hook", false));
        let server = scope.spawn(|| busy.serves());
        let started = Instant::now();
        while started.elapsed() < BUSY && watch.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(20));
        }
        busy.over.store(true, Ordering::Relaxed);
        [("script", script), ("hook", hook), ("test", server)]
            .map(|(session, thread)| (session, thread.join().unwrap()))
    });
    assert!(watch.try_wait().unwrap().is_none(), "the watch wait_for_end by itself");
    watch.kill().unwrap();
    watch.wait().unwrap();
    let logged = logged(&project);
    for (session, n_delivered) in delivered {
        assert!(n_delivered > 3, "{session} was delivered {n_delivered} times");
        assert_eq!(logged.get(session), Some(&n_delivered), "lines of {session}");
    }
    let (n_builds, n_reads) = (busy.n_builds.into_inner(), busy.n_reads.into_inner());
    println!("{n_builds} builds, {n_reads} reads, {delivered:?}");
    assert!(n_builds > 5 && n_reads > 100, "{n_builds} builds, {n_reads} reads");
    project.build();
    assert_eq!(project.blue(&["knowledge", "build", "--check"]).code, 0);
}

#[test]
fn a_waiting_build_names_the_process_that_holds_the_lock() {
    let project = sample();
    let root = Root::open(project.path()).unwrap();
    let lock = Lock::take(&root, "knowledge build", &|_| {}).unwrap();
    let mut child = piped(&mut project.command(&["knowledge", "build", "--force"]));
    let mut err = child.stderr.take().unwrap();
    let mut bytes = [0; 400];
    let n = err.read(&mut bytes).unwrap();
    let message = String::from_utf8_lossy(&bytes[..n]).into_owned();
    let who = format!("blue: waiting for process {} on ", std::process::id());
    assert!(message.starts_with(&who), "{message}");
    assert!(message.contains("(blue knowledge build), since 20"), "{message}");
    assert!(child.try_wait().unwrap().is_none(), "it did not wait");
    drop(lock);
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_lock_of_a_dead_process_does_not_block() {
    let project = sample();
    // A killed build leaves the lock file with its text, but no lock on it.
    for words in [
        "process 4194303 on gone (blue knowledge build), since 2020-01-01T00:00:00Z\n",
        "\0\u{1b}[31m",
        "",
    ] {
        project.write(".blue/local/lock", words);
        let started = Instant::now();
        let output = project.blue(&["knowledge", "build", "--force"]);
        assert_eq!(output.code, 0, "{}", output.stderr);
        assert!(!output.stderr.contains("waiting"), "{}", output.stderr);
        assert!(started.elapsed() < Duration::from_secs(10));
    }
}
