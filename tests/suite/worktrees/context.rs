//! `blue worktree-context`.

use super::{NOON, blue_in, create, git_in, rfc, sample, worktree};
use crate::support;

#[test]
fn the_context_is_that_of_the_hook_byte_for_byte_and_is_logged() {
    let project = sample();
    create(&project, "16");
    let folder = worktree(&project, "feature/context-injection");
    let output = blue_in(&project, &folder, &["worktree-context", "--session", "s1"]);
    assert_eq!((output.code, output.stderr.as_str()), (0, ""));
    let mut hook = std::process::Command::new("sh");
    hook.arg(folder.join(".blue/hooks/session-workflow")).current_dir(&folder);
    assert_eq!(support::run(project.isolate(&mut hook)).stdout, output.stdout);
    let log = std::fs::read_to_string(folder.join(".blue/local/audit.jsonl")).unwrap();
    let lines: Vec<serde_json::Value> =
        log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(
        (&lines[0]["event"], &lines[0]["session_id"]),
        (&"worktree-context".into(), &"s1".into())
    );
    for key in ["source", "content_hash", "bytes", "tokens"] {
        assert_eq!(lines[0][key], lines[1][key], "{key}");
    }
    let json = blue_in(&project, &folder, &["worktree-context", "--format", "json"]).stdout;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["text"], output.stdout);
    assert_eq!(json["title"], "RFC 0016 Context injection");
    assert_eq!(json["open_tasks"], serde_json::json!(["write Context injection"]));
    assert_eq!(json["success_criteria"], serde_json::json!(["Context injection works"]));
    assert_eq!(json["status"], "accepted");
}

#[test]
fn without_current_work_nothing_is_printed() {
    let project = sample();
    project.git(&["switch", "-q", "-c", "feature/unknown"]);
    let output = project.blue(&["worktree-context"]);
    assert_eq!((output.code, output.stdout.as_str()), (1, ""));
    assert!(output.stderr.contains("hint: "), "{}", output.stderr);
}

#[test]
fn a_difference_on_the_base_is_one_more_line() {
    let project = sample();
    create(&project, "16");
    let folder = worktree(&project, "feature/context-injection");
    let path = ".blue/docs/rfcs/0016-context-injection.md";
    let context = || {
        let output = blue_in(&project, &folder, &["worktree-context"]);
        assert_eq!(output.code, 0);
        assert!(output.stdout.contains("accepted"), "its own copy is printed: {}", output.stdout);
        output.stderr
    };
    let text = project.read(path);
    project.write(path, format!("{text}\nMore.\n")).build();
    project.git(&["add", "-A"]);
    project.git(&["commit", "-q", "-m", "more"]);
    assert_eq!(
        context(),
        format!("blue: {path} has another content on main; this copy is delivered\n")
    );
    let renamed = ".blue/docs/rfcs/0016-context-injection.impl.md";
    project.git(&["mv", path, renamed]);
    project.write(renamed, rfc("16", "Context injection", "implemented")).build();
    project.git(&["add", "-A"]);
    project.git(&["commit", "-q", "-m", "done"]);
    assert_eq!(
        context(),
        format!(
            "blue: {path} is accepted here and implemented on main ({renamed}); this copy is delivered\n"
        )
    );
    git_in(&project, &folder, NOON, &["merge", "-q", "main"]);
    let output = blue_in(&project, &folder, &["worktree-context"]);
    assert_eq!(output.code, 1, "a finished RFC has no bundle: {output:?}");
}
