//! The same documents give the same bytes on every path, clone, umask and number of threads.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};

use crate::support::Project;

#[test]
fn a_build_in_git_is_dated_by_its_commit_and_a_later_commit_is_no_diff() {
    let project = Project::with_two_decisions();
    project.git(&["init", "-q"]);
    project.git(&["add", "docs"]);
    project.git(&["commit", "-qm", "documents"]);
    project.build();
    let digest = project.read("knowledge/adrs.md");
    assert!(
        digest.contains(
            "Generated: 2026-01-25T12:00:00Z\nSource: docs/adr/*.md (2 documents)\nCommit: "
        ),
        "{digest}"
    );
    assert!(project.read(".blue/context/session.md").starts_with("<blue-session"));
    assert!(!project.read(".blue/context/session.md").contains("2026"));
    project.git(&["add", "."]);
    project.git(&["commit", "-qm", "knowledge"]);
    assert_eq!(project.git(&["status", "--porcelain"]), "");
    project.blue(&["knowledge", "build", "--force"]);
    assert_eq!(project.git(&["status", "--porcelain"]), "", "build, commit, build is no diff");
    assert_eq!(project.blue(&["knowledge", "build", "--check"]).code, 0);
}

#[test]
fn a_clone_elsewhere_gives_the_same_bytes() {
    let one = Project::with_two_decisions();
    let other = Project::with_two_decisions();
    one.build();
    let mut command = other.command(&["knowledge", "build", "--jobs", "3"]);
    command.env("TZ", "Asia/Tokyo").env("LC_ALL", "tr_TR.UTF-8").env("HOME", "/nonexistent");
    assert!(command.stderr(Stdio::null()).status().unwrap().success());
    assert_eq!(one.files(), other.files());
}

#[test]
fn source_date_epoch_is_honoured() {
    let project = Project::with_two_decisions();
    let mut command = project.command(&["knowledge", "build"]);
    assert!(
        command.env("SOURCE_DATE_EPOCH", "0").stderr(Stdio::null()).status().unwrap().success()
    );
    assert!(project.read("knowledge/adrs.md").contains("Generated: 1970-01-01T00:00:00Z\n"));
}

/// Writes documents in many folders and dialects, in one of two orders.
fn write_all(project: &Project, backwards: bool) {
    let mut files: Vec<(String, String)> = (1..=40)
        .map(|i| {
            let (folder, status) = match i % 4 {
                0 => ("docs/adr", "Accepted"),
                1 => (".blue/docs/rfcs", "Draft"),
                2 => ("docs/İstanbul/adr", "Superseded by ADR 4"),
                _ => ("services/a/docs/adr", "Proposed"),
            };
            let text = format!(
                "# {i}. Größe, I and ı number {i}\n\n## Status\n\n{status}\n\n## Decision\n\nCaching and queues, part {i}. See ADR {}, RFC {} and [x](../adr/{:04}-n.md).\n",
                i * 7 % 40 + 1,
                i * 3 % 40 + 1,
                i * 5 % 40 + 1,
            );
            (format!("{folder}/{i:04}-Größe-{i}.md"), text)
        })
        .collect();
    files.push((".blue/voice.md".to_string(), "Plain words.\n".to_string()));
    if backwards {
        files.reverse();
    }
    for (path, text) in files {
        project.write(&path, text);
    }
}

fn built(project: &Project, command: &mut Command) -> BTreeMap<String, Vec<u8>> {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    project.files()
}

fn assert_same(
    expected: &BTreeMap<String, Vec<u8>>,
    actual: &BTreeMap<String, Vec<u8>>,
    what: &str,
) {
    let names = |files: &BTreeMap<String, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(expected), names(actual), "{what}");
    for (path, bytes) in expected {
        let [one, other] = [bytes, &actual[path]].map(|bytes| String::from_utf8_lossy(bytes));
        assert_eq!(one, other, "{what}: {path}");
    }
}

#[test]
fn the_same_documents_give_the_same_bytes_everywhere() {
    let first = Project::new();
    write_all(&first, false);
    let expected = built(&first, &mut first.command(&["knowledge", "build"]));
    assert!(expected.contains_key(".blue/context/relevance.jsonl"));
    let deep = "a folder/with 'quotes' and ünïcode/and a very long name, as people have them/p";
    let settings: [(&str, &[(&str, &str)]); 9] = [
        ("", &[("LC_ALL", "tr_TR.UTF-8"), ("LANG", "tr_TR.UTF-8")]),
        ("", &[("LC_ALL", "C"), ("LANGUAGE", "de")]),
        ("", &[("TZ", "Pacific/Kiritimati")]),
        ("", &[("TZ", "America/St_Johns"), ("LC_TIME", "ja_JP.UTF-8")]),
        ("", &[("HOME", "/nonexistent"), ("USER", "nobody"), ("LOGNAME", "x")]),
        ("", &[("HOME", ""), ("XDG_CONFIG_HOME", "/nonexistent"), ("HOSTNAME", "x")]),
        ("", &[("RAYON_NUM_THREADS", "3"), ("COLUMNS", "20"), ("TERM", "dumb")]),
        (deep, &[]),
        ("x", &[("PATH", "")]),
    ];
    for (i, (name, variables)) in settings.into_iter().enumerate() {
        let project = Project::named(name);
        write_all(&project, i % 2 == 1);
        let mut command = project.command(&["knowledge", "build"]);
        command.envs(variables.iter().copied());
        assert_same(&expected, &built(&project, &mut command), &format!("{name} {variables:?}"));
    }
}

#[test]
fn threads_and_umask_change_no_byte() {
    let first = Project::new();
    write_all(&first, false);
    let expected = built(&first, &mut first.command(&["knowledge", "build", "--jobs", "1"]));
    for jobs in 2..=8 {
        let project = Project::new();
        write_all(&project, jobs % 2 == 1);
        let jobs = jobs.to_string();
        let mut command = project.command(&["knowledge", "build", "--jobs", &jobs]);
        assert_same(&expected, &built(&project, &mut command), &format!("--jobs {jobs}"));
    }
    for umask in ["0000", "0022", "0027", "0077"] {
        let project = Project::new();
        write_all(&project, false);
        let mut command = Command::new("sh");
        let line = format!("umask {umask} && exec \"$0\" knowledge build");
        command.args(["-c", &line, env!("CARGO_BIN_EXE_blue")]).current_dir(project.path());
        project.isolate(&mut command);
        assert_same(&expected, &built(&project, &mut command), &format!("umask {umask}"));
        assert_eq!(project.blue(&["knowledge", "build", "--check"]).code, 0, "umask {umask}");
    }
}

#[test]
fn a_clone_contains_the_emitted_bytes() {
    let project = Project::new();
    project.git(&["init", "-q"]);
    write_all(&project, false);
    project.git(&["add", "-A"]);
    project.git(&["commit", "-qm", "documents"]);
    project.build();
    project.git(&["add", "-A"]);
    project.git(&["commit", "-qm", "built"]);
    let clone = Project::new();
    clone.git(&["clone", "-q", project.path().to_str().unwrap(), "copy"]);
    let output = clone.blue(&["-C", "copy", "knowledge", "build", "--check"]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    let before = clone.files();
    let output = clone.blue(&["-C", "copy", "knowledge", "build"]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    let after: BTreeMap<_, _> =
        clone.files().into_iter().filter(|(path, _)| !path.contains("/local/")).collect();
    assert_same(&before, &after, "a build in a clone");
}
