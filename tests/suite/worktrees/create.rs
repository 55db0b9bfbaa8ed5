//! `blue worktree create` and `list`.

use serde_json::Value;

use super::{blue_in, create, git_in, row, sample, worktree};
use crate::support::{self, Project};

#[test]
fn an_rfc_gets_a_branch_a_worktree_and_its_context() {
    let project = sample();
    let output = create(&project, "16");
    let folder = worktree(&project, "feature/context-injection");
    assert_eq!(
        output.stdout,
        format!("path     {}\nbranch   feature/context-injection\n", folder.display())
    );
    let file: Value =
        serde_json::from_slice(&std::fs::read(folder.join(".blue/worktree.json")).unwrap())
            .unwrap();
    let head = project.git(&["rev-parse", "main"]);
    assert_eq!(
        file,
        serde_json::json!({"version": 1, "rfc": "0016-context-injection",
            "uri": "blue://docs/rfcs/0016-context-injection", "branch": "feature/context-injection",
            "base": "main", "base_commit": &head[..12], "created": "2026-01-25T12:00:00Z"})
    );
    assert_eq!(git_in(&project, &folder, super::NOON, &["status", "--porcelain"]), "");
    assert_eq!(
        git_in(&project, &folder, super::NOON, &["branch", "--show-current"]),
        "feature/context-injection\n"
    );
    let mut hook = std::process::Command::new("sh");
    hook.arg(folder.join(".blue/hooks/session-workflow")).current_dir(&folder);
    let printed = support::run(project.isolate(&mut hook)).stdout;
    assert_eq!(printed, project.read(".blue/context/workflow/0016-context-injection.md"));
    let row = row(&project, &folder);
    for (key, value) in [
        ("rfc", serde_json::json!("0016-context-injection")),
        ("status", serde_json::json!("accepted")),
        ("done_tasks", serde_json::json!(1)),
        ("n_tasks", serde_json::json!(2)),
        ("ahead", serde_json::json!(0)),
        ("changed", serde_json::json!(0)),
        ("merged", serde_json::json!(false)),
        ("missing", serde_json::json!(false)),
        ("unfinished", serde_json::json!(false)),
    ] {
        assert_eq!(row[key], value, "{key}: {row}");
    }
    assert_eq!(row["activity"]["level"], "NONE");
}

#[test]
fn an_rfc_is_found_by_every_name_and_two_that_fit_are_both_named() {
    let project = sample();
    for name in [
        "16",
        "0016",
        "RFC 16",
        "rfc-0016",
        "context-injection",
        "Context injection",
        "0016-context-injection",
        "blue://docs/rfcs/0016-context-injection",
        "blue://rfc/16",
        ".blue/docs/rfcs/0016-context-injection.md",
    ] {
        let output = project.blue(&["worktree", "create", name, "--dry-run"]);
        assert_eq!(output.code, 0, "{name}: {}", output.stderr);
        assert!(output.stdout.contains("branch   feature/context-injection\n"), "{name}");
    }
    assert!(!project.home().join(".blue/worktrees").exists(), "a dry run makes nothing");
    let output = project.blue(&["worktree", "create", "nothing-like-it"]);
    assert_eq!(output.code, 2);
    assert!(output.stderr.contains("blue knowledge list"), "{}", output.stderr);
    project.write(".blue/docs/rfcs/0016-second.md", super::rfc("16", "Second", "accepted")).build();
    let output = project.blue(&["worktree", "create", "16"]);
    assert_eq!(output.code, 1);
    for name in ["0016-context-injection.md", "0016-second.md"] {
        assert!(output.stderr.contains(name), "{}", output.stderr);
    }
}

#[test]
fn a_finished_rfc_is_refused_and_a_draft_is_reported() {
    let project = sample();
    for (rfc, reason) in [("15", "superseded"), ("19", "implemented")] {
        let output = project.blue(&["worktree", "create", rfc]);
        assert_eq!(output.code, 1, "{rfc}: {}", output.stderr);
        assert!(
            output.stderr.contains(reason) && output.stderr.contains("hint: "),
            "{}",
            output.stderr
        );
    }
    assert!(project.blue(&["worktree", "create", "15"]).stderr.contains("0020-new"));
    assert_eq!(project.blue(&["worktree", "create", "19", "--force"]).code, 0);
    assert!(row(&project, &worktree(&project, "feature/done"))["status"] == "implemented");
    assert!(create(&project, "18").stderr.contains("is draft"));
}

#[test]
fn a_second_worktree_or_an_existing_branch_is_refused() {
    let project = sample();
    create(&project, "16");
    let output = project.blue(&["worktree", "create", "16"]);
    assert_eq!(output.code, 1);
    let folder = worktree(&project, "feature/context-injection");
    assert!(output.stderr.contains(folder.to_str().unwrap()), "{}", output.stderr);
    project.git(&["branch", "feature/other-work"]);
    let output = project.blue(&["worktree", "create", "17"]);
    assert_eq!(output.code, 1);
    assert!(output.stderr.contains("--reuse"), "{}", output.stderr);
    assert_eq!(project.blue(&["worktree", "create", "17", "--reuse"]).code, 0);
    // An RFC on a branch of an older name has a worktree, too.
    let by_hand = project.path().join("../by hand");
    let by_hand_name = by_hand.to_str().unwrap();
    project.git(&["worktree", "add", "-q", "-b", "rfc/0020", by_hand_name]);
    let output = project.blue(&["worktree", "create", "20"]);
    assert_eq!(output.code, 1);
    assert!(output.stderr.contains("by hand"), "{}", output.stderr);
}

#[test]
fn work_that_is_not_in_the_base_is_refused_until_it_is_committed() {
    let project = sample();
    project.write(".blue/docs/rfcs/0021-later.md", super::rfc("21", "Later", "accepted")).build();
    let output = project.blue(&["worktree", "create", "21"]);
    assert_eq!(output.code, 1);
    assert!(output.stderr.contains("is not in main"), "{}", output.stderr);
    assert!(!worktree(&project, "feature/later").exists());
}

#[test]
fn a_base_without_bundles_is_built_in_the_worktree() {
    let project = sample();
    project.git(&["rm", "-rq", "--cached", ".blue/context", ".blue/context.manifest.yaml"]);
    project.git(&["commit", "-q", "-m", "no outputs"]);
    create(&project, "16");
    let folder = worktree(&project, "feature/context-injection");
    assert!(folder.join(".blue/context/workflow/0016-context-injection.md").is_file());
    let output = blue_in(&project, &folder, &["worktree-context"]);
    assert!(output.stdout.contains("RFC 0016"), "{output:?}");
}

#[test]
fn the_folder_of_another_repository_is_not_taken() {
    let project = sample();
    let other = Project::named("other");
    other.git(&["init", "-q", "-b", "main"]);
    other.write("a", "a").git(&["add", "-A"]);
    other.git(&["commit", "-q", "-m", "start"]);
    let folder = worktree(&project, "feature/context-injection");
    other.git(&["worktree", "add", "-q", "-b", "x", folder.to_str().unwrap()]);
    let output = create(&project, "16");
    assert!(output.stderr.contains("belongs to another repository"), "{}", output.stderr);
    let own = worktree(&project, "feature/context-injection~sample");
    assert!(output.stdout.contains(own.to_str().unwrap()), "{}", output.stdout);
    assert_eq!(
        git_in(&project, &own, super::NOON, &["branch", "--show-current"]),
        "feature/context-injection\n"
    );
}

#[test]
fn the_set_up_command_is_printed_and_never_run() {
    let project = sample();
    project.write("Cargo.toml", "").write("package-lock.json", "{}").write("go.mod", "");
    project.git(&["add", "-A"]);
    project.git(&["commit", "-q", "-m", "tools"]);
    let lines = |output: &str| {
        let lines = output.lines().filter_map(|line| line.strip_prefix("set up   "));
        lines.map(str::to_string).collect::<Vec<_>>()
    };
    let output = create(&project, "16").stdout;
    assert_eq!(lines(&output), ["npm ci", "cargo build", "go mod download"]);
    project.write("scripts/setup-worktree.sh", "touch ran\n");
    project.git(&["add", "-A"]);
    project.git(&["commit", "-q", "-m", "script"]);
    assert_eq!(lines(&create(&project, "17").stdout), ["sh scripts/setup-worktree.sh"]);
    assert!(!worktree(&project, "feature/other-work").join("ran").exists());
}

#[test]
fn work_elsewhere_is_reported_with_session_folder_and_age() {
    let project = sample();
    let elsewhere = project.path().join("../elsewhere");
    project.git(&["worktree", "add", "-q", "--detach", elsewhere.to_str().unwrap()]);
    support::write(
        &elsewhere.join(".blue/local/sessions/agent-1.json"),
        serde_json::json!({
            "agent_session": "agent-1", "last_heartbeat": "2026-01-25T11:58:00Z", "rfc": "16",
        })
        .to_string(),
    );
    let output = create(&project, "16");
    for part in ["warning: ", "ACTIVE", "agent-1", "elsewhere", "2 min ago"] {
        assert!(output.stderr.contains(part), "{part}: {}", output.stderr);
    }
}

#[test]
fn the_worktree_file_is_never_committed() {
    let project = sample();
    std::fs::remove_file(project.path().join(".blue/.gitignore")).unwrap();
    project.git(&["add", "-A"]);
    project.git(&["commit", "-q", "-m", "no ignore file"]);
    create(&project, "16");
    let folder = worktree(&project, "feature/context-injection");
    git_in(&project, &folder, super::NOON, &["add", "-A"]);
    assert_eq!(git_in(&project, &folder, super::NOON, &["diff", "--cached", "--name-only"]), "");
    let text = project.read(".git/info/exclude");
    assert_eq!(text.matches("/.blue/worktree.json\n").count(), 1, "{text}");
    create(&project, "17");
    assert_eq!(project.read(".git/info/exclude"), text, "it is added once");
    // A tracked one is a finding.
    git_in(&project, &folder, super::NOON, &["add", "-f", ".blue/worktree.json"]);
    let lint = blue_in(&project, &folder, &["knowledge", "lint"]);
    assert_eq!(lint.code, 1);
    assert!(lint.stdout.contains("BLUE-GIT-002"), "{}", lint.stdout);
}

#[test]
fn init_ignores_the_worktree_file_in_a_new_and_in_an_old_ignore_file() {
    let project = Project::with_two_decisions();
    project.blue(&["init"]);
    let text = project.read(".blue/.gitignore");
    assert!(text.contains("/local/\n/worktree.json\n"), "{text}");
    project.write(".blue/.gitignore", "/local/\r\n/mine");
    project.blue(&["init"]);
    assert_eq!(project.read(".blue/.gitignore"), "/local/\r\n/mine\n/worktree.json\n");
    project.blue(&["init"]);
    assert_eq!(project.read(".blue/.gitignore"), "/local/\r\n/mine\n/worktree.json\n");
}

#[test]
fn keys_of_other_tools_in_the_worktree_file_stay() {
    let project = sample();
    project.write(".blue/worktree.json", "{\"rfc\": \"20\", \"responsibility\": \"steward\"}");
    project.git(&["add", "-f", ".blue/worktree.json"]);
    project.git(&["commit", "-q", "-m", "by mistake"]);
    create(&project, "16");
    let folder = worktree(&project, "feature/context-injection");
    let bytes = std::fs::read(folder.join(".blue/worktree.json")).unwrap();
    let file: Value = serde_json::from_slice(&bytes).unwrap();
    assert_eq!(
        (&file["rfc"], &file["responsibility"]),
        (&"0016-context-injection".into(), &"steward".into())
    );
}
