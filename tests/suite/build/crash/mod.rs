//! blue is killed, or a system call fails, at every call that touches the project.
//!
//! A run is traced first, and every call on the project's files in that trace is a point. Then blue
//! runs once for each point and each fault. strace injects the faults. Without strace the tests are
//! skipped with a message, unless BLUE_REQUIRE_STRACE is set, as in `.ci/run`. Every point fails
//! once, with changing errors, and is killed if it can change a file. With BLUE_EVERY_FAULT set,
//! every point gets every fault.

mod scenarios;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::support::Project;

/// System calls that write, and those that open.
const WRITING: &str = "write,fsync,fdatasync,syncfs,renameat,renameat2,unlinkat,mkdirat,ftruncate,flock,linkat,fchmod";
const OPENING: &str = "open,openat,openat2";

/// System calls that only read.
const READING: &str = "read,pread64,getdents64";

/// The fault of a call that a signal interrupted. blue must retry it.
const INTERRUPTED: &str = "error=EINTR";
const ERRORS: [&str; 4] = ["ENOSPC", "EIO", "EACCES", "EDQUOT"];
type Files = BTreeMap<String, Vec<u8>>;
type Prepare = fn() -> Project;

/// A command, and the project it runs in.
struct Scenario {
    name: &'static str,
    arguments: &'static [&'static str],
    stdin: &'static str,
    /// Creates the project.
    prepare: Prepare,
    /// The system calls that fail.
    calls: fn() -> Vec<&'static str>,
    /// The command that repairs the project.
    again: &'static [&'static str],
}

/// One call of the traced run, identified as strace does it: by its path or the file of its
/// descriptor, and by the number of such calls before it.
#[derive(Clone, Debug)]
struct Point {
    call: String,
    key: String,
    n: usize,
    /// True if the call can change a file. A kill at any other call equals a kill before the
    /// next change.
    writes: bool,
}

fn all_calls() -> Vec<&'static str> {
    [WRITING, OPENING, READING].iter().flat_map(|calls| calls.split(',')).collect()
}

fn writing_calls() -> Vec<&'static str> {
    WRITING.split(',').collect()
}

fn has_strace() -> bool {
    let works = Command::new("strace").args(["-qq", "-e", "trace=none", "true"]).status();
    let works = works.is_ok_and(|status| status.success());
    if !works {
        let required = std::env::var_os("BLUE_REQUIRE_STRACE").is_some();
        assert!(!required, "strace is required and does not work");
        println!("skipped: strace is not here");
    }
    works
}

struct Run {
    code: Option<i32>,
    stdout: String,
    stderr: String,
    log: String,
}

fn strace(project: &Project, scenario: &Scenario, flags: &[&str]) -> Run {
    let log = tempfile::NamedTempFile::new().unwrap();
    let mut command = Command::new("strace");
    command.args(["-f", "-q", "-y", "-s", "300", "-o"]).arg(log.path());
    command.args(flags).arg(env!("CARGO_BIN_EXE_blue")).args(scenario.arguments);
    command.current_dir(project.path()).env("NO_COLOR", "1").env_remove("SOURCE_DATE_EPOCH");
    project.isolate(&mut command);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A killed process does not read its input.
    child.stdin.take().unwrap().write_all(scenario.stdin.as_bytes()).ok();
    let output = child.wait_with_output().unwrap();
    let killed = output.status.signal().is_some();
    let own = |line: &&str| !line.starts_with("strace: ");
    Run {
        code: if killed { None } else { output.status.code() },
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr)
            .lines()
            .filter(own)
            .collect::<Vec<_>>()
            .join("\n"),
        log: std::fs::read_to_string(log.path()).unwrap(),
    }
}

/// The paths in a traced call: those of its descriptors, `5</tmp/x>`, and those of its arguments.
fn paths_of(call: &str, line: &str) -> Vec<String> {
    let named = call.ends_with("at") || call.ends_with("at2") || call == "open";
    let mut paths = Vec::new();
    // Text in quotes is a path or, in a `write`, the data.
    for (i, part) in line.split('"').enumerate() {
        if i % 2 == 1 {
            paths.extend(named.then(|| part.to_string()));
            continue;
        }
        for (start, _) in part.match_indices("</") {
            let path = &part[start + 1..];
            paths.push(path[..path.find('>').unwrap_or(path.len())].to_string());
        }
        if !named {
            break;
        }
    }
    paths
}

/// Every call of a traced run that touches the project.
fn points(project: &Project, scenario: &Scenario) -> Vec<Point> {
    let calls = (scenario.calls)();
    let run = strace(project, scenario, &["-e", &format!("trace={}", calls.join(","))]);
    assert_eq!(run.code, Some(0), "{}: {}", scenario.name, run.stderr);
    let root = project.path().canonicalize().unwrap().to_str().unwrap().to_string();
    let mut seen: BTreeMap<(String, String, String), usize> = BTreeMap::new();
    let mut points = Vec::new();
    for line in run.log.lines() {
        let Some((thread, rest)) = line.split_once(' ') else { continue };
        let rest = rest.trim_start();
        let Some((call, _)) = rest.split_once('(') else { continue };
        if !calls.contains(&call) {
            continue;
        }
        let entered = rest.split(" = ").next().unwrap();
        // An absolute path does not depend on the current folder that it is opened from.
        let entered = match entered.split_once("AT_FDCWD<") {
            Some((_, rest)) => &format!("{call}({}", rest.split_once('>').unwrap().1),
            None => entered,
        };
        let paths = paths_of(call, entered);
        // Calls are counted for each path. strace counts them for each thread separately.
        let unique: BTreeSet<&String> = paths.iter().collect();
        for path in unique {
            *seen.entry((thread.to_string(), call.to_string(), path.clone())).or_default() += 1;
        }
        if !paths.iter().any(|path| *path == root || path.starts_with(&format!("{root}/"))) {
            continue;
        }
        // The path of the argument if it is the same in every run, else the file or folder of the
        // descriptor.
        let lasting = |path: &&String| {
            *path != "."
                && !path.starts_with(&root)
                && !path.starts_with('/')
                && !path.contains(|c: char| c.is_ascii_digit())
                || path.len() > 12 && path.ends_with(".md")
        };
        let key = paths.iter().rev().find(lasting).unwrap_or(&paths[0]).clone();
        // A file that is named after its process has another name in every run.
        if !names_a_lasting_file(&key) {
            continue;
        }
        let n = seen[&(thread.to_string(), call.to_string(), key.clone())];
        let key = key.replace(&root, "{root}");
        let writes = !READING.split(',').any(|reading| reading == call)
            && (!call.starts_with("open")
                || ["O_CREAT", "O_TRUNC"].iter().any(|flag| rest.contains(flag)));
        points.push(Point { call: call.to_string(), key, n, writes });
    }
    points
}

/// Returns false for the temporary file of a process, such as `s1.json.4711.tmp`.
fn names_a_lasting_file(path: &str) -> bool {
    let stem = path.strip_suffix(".tmp").and_then(|stem| stem.rsplit('.').next());
    stem.is_none_or(|end| end.parse::<u32>().is_err())
}

/// Temporary files, which the next run must remove.
fn temporary_files(project: &Project) -> Vec<String> {
    let all = project.stamps().into_keys();
    all.filter(|path| {
        path.ends_with(".tmp") || path.ends_with("-tmp") || path.starts_with(".blue/local/txn/")
    })
    .collect()
}

/// Checks one point: every file is complete; the exit code is 0 only if everything was done, else 2
/// with a message that names a file; and the next run gives the bytes of a clean one.
fn try_point(scenario: &Scenario, point: &Point, fault: &str, old: &Files, new: &Files) {
    let what = format!("{}: {} {} on {}: {fault}", scenario.name, point.call, point.n, point.key);
    let project = (scenario.prepare)();
    let root = project.path().canonicalize().unwrap().to_str().unwrap().to_string();
    let key = point.key.replace("{root}", &root);
    let inject = format!("inject={}:{fault}:when={}", point.call, point.n);
    let trace = format!("trace={}", point.call);
    // The seccomp filter is faster, but with it strace does not send signals.
    let quick: &[&str] = if fault.starts_with("error") { &["--seccomp-bpf"] } else { &[] };
    let flags = [quick, &["-P", &key, "-e", &trace, "-e", &inject]].concat();
    let run = strace(&project, scenario, &flags);
    let fired = run.log.contains("(INJECTED)") || run.log.contains("killed by SIGKILL");
    assert!(fired, "{what}: the point is not there any more\n{}", run.log);
    let files = project.files();
    for (path, bytes) in &files {
        let known = old.get(path) == Some(bytes) || new.get(path) == Some(bytes);
        let whole = known || path.ends_with(".blue-tmp");
        assert!(whole, "{what}: {path} is torn:\n{}", String::from_utf8_lossy(bytes));
    }
    for path in old.keys().filter(|path| new.contains_key(*path)) {
        assert!(files.contains_key(path), "{what}: {path} is lost");
    }
    assert!(!run.stderr.contains("this is a bug"), "{what}: {}", run.stderr);
    if fault.starts_with("signal") && old.contains_key(".blue/context/session.md") {
        still_delivers(&project, old, new, &what);
    }
    if fault == INTERRUPTED {
        assert_eq!(run.code, Some(0), "{what}: it is not tried again: {}", run.stderr);
    }
    match run.code {
        None => {}
        Some(0) => done(scenario, &run, &files, new, &what),
        Some(2) => {
            assert!(names_a_file(&run.stderr, &key, &root), "{what}: which file?\n{}", run.stderr)
        }
        Some(code) => panic!("{what}: exit {code}: {}", run.stderr),
    }
    let mut command = project.command(scenario.again);
    let next = command.output().unwrap();
    let stderr = String::from_utf8_lossy(&next.stderr);
    assert_eq!(next.status.code(), Some(0), "{what}: the next run: {stderr}");
    let after = project.files();
    for (path, bytes) in new {
        let found = after.get(path).map(|found| String::from_utf8_lossy(found));
        let wanted = String::from_utf8_lossy(bytes);
        assert_eq!(found, Some(wanted), "{what}: {path} is not what a clean run gives");
    }
    let stray: Vec<_> = after.keys().filter(|path| !new.contains_key(*path)).collect();
    assert!(stray.is_empty(), "{what}: stray files {stray:?}");
    assert!(
        temporary_files(&project).is_empty(),
        "{what}: left behind {:?}",
        temporary_files(&project)
    );
}

/// After a killed run each hook prints either the old or the new bundle and logs its digest.
fn still_delivers(project: &Project, old: &Files, new: &Files, what: &str) {
    let script = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("hooks/session-start");
    let script = script.to_str().unwrap();
    let blue = env!("CARGO_BIN_EXE_blue");
    for (program, arguments, event, path) in [
        ("sh", vec![script], "SessionStart", ".blue/context/session.md"),
        ("sh", vec![script], "SubagentStart", ".blue/context/session.json"),
        (blue, vec!["hook", "session-start"], "SessionStart", ".blue/context/session.md"),
    ] {
        let mut command = Command::new(program);
        project.isolate(&mut command).args(&arguments).current_dir(project.path());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let input = format!("{{\"session_id\":\"s\",\"hook_event_name\":\"{event}\"}}");
        child.stdin.take().unwrap().write_all(input.as_bytes()).ok();
        let output = child.wait_with_output().unwrap();
        let known = [old, new].iter().any(|files| files.get(path) == Some(&output.stdout));
        assert!(known, "{what}: then {program} {event} gives {output:?}");
        let log = project.read(".blue/local/audit.jsonl");
        let line: serde_json::Value = serde_json::from_str(log.lines().last().unwrap()).unwrap();
        let texts = [old, new].map(|files| &files[".blue/context/session.md"]);
        let hashed = texts
            .iter()
            .any(|text| line["content_hash"] == format!("blake3:{}", blake3::hash(text).to_hex()));
        assert!(hashed, "{what}: then {program} {event} logs {line}");
    }
}

/// Checks a run that exited 0: all files are new. A hook always exits 0, so it must have delivered.
fn done(scenario: &Scenario, run: &Run, files: &Files, new: &Files, what: &str) {
    if scenario.arguments[0] == "hook" {
        let delivered = run.stdout.contains("</blue-session>") || !run.stderr.is_empty();
        assert!(delivered, "{what}: nothing was delivered and nothing reported");
    } else {
        assert_eq!(files, new, "{what}: exit 0, but it is not done: {}", run.stderr);
    }
}

/// Returns true if a message names the file of the fault, its folder, or a file derived from it.
fn names_a_file(stderr: &str, key: &str, root: &str) -> bool {
    let name = key.rsplit('/').next().unwrap();
    let name = name.trim_end_matches(".blue-tmp").trim_end_matches(".tmp");
    let made = ["/txn", "record"].iter().any(|own| key.contains(own)) || key.ends_with(".tmp");
    let below = ["knowledge/", ".blue/", "/ai_context/"].iter().any(|own| stderr.contains(own));
    // For a fault on the root, the message names the file that was opened in it.
    let verbs = ["read ", "open ", "create ", "write ", "sync "];
    let words = stderr.strip_prefix("blue: error: ").unwrap_or_default();
    let is_root_message = key == root && verbs.iter().any(|verb| words.starts_with(verb));
    !words.is_empty() && (words.contains(name) || made && below || is_root_message)
}

fn faults(i: usize, point: &Point) -> Vec<String> {
    let errors = ERRORS.map(|error| format!("error={error}"));
    let all = std::env::var_os("BLUE_EVERY_FAULT").is_some();
    let refused = if all { errors.to_vec() } else { vec![errors[i % ERRORS.len()].clone()] };
    let killed = (all || point.writes).then(|| "signal=KILL".to_string());
    refused.into_iter().chain(killed).collect()
}

/// Runs a scenario once for every point, with errors and kills.
fn attack(scenario: &Scenario) -> usize {
    attack_with(scenario, faults)
}

/// Runs a scenario for every point on two threads and returns the number of points.
fn attack_with(scenario: &Scenario, faults: fn(usize, &Point) -> Vec<String>) -> usize {
    let old = (scenario.prepare)().files();
    let project = (scenario.prepare)();
    let points = points(&project, scenario);
    let new = project.files();
    let tries: Vec<(&Point, String)> = points
        .iter()
        .enumerate()
        .flat_map(|(i, point)| faults(i, point).into_iter().map(move |fault| (point, fault)))
        .collect();
    let next = AtomicUsize::new(0);
    let failed = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some((point, fault)) = tries.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let attempt = std::panic::AssertUnwindSafe(|| {
                        try_point(scenario, point, fault, &old, &new)
                    });
                    if let Err(panic) = std::panic::catch_unwind(attempt) {
                        let text = panic.downcast_ref::<String>().cloned().unwrap_or_default();
                        failed.lock().unwrap().push(text);
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap();
    assert!(failed.is_empty(), "{} of {}:\n{}", failed.len(), tries.len(), failed.join("\n"));
    println!("{}: {} calls, {} points", scenario.name, points.len(), tries.len());
    tries.len()
}
