//! Names of an RFC in branches, and the limits of the search for a project.

use super::{create, rfc, sample, worktree};
use crate::support::{self, Project};

/// The names of an RFC in the index of bundles.
fn names(project: &Project, artifact: &str) -> Vec<String> {
    let index = project.read(".blue/context/bundles.jsonl");
    let lines = index.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let line =
        lines.filter(|line| line["artifact"].as_str().is_some_and(|path| path.contains(artifact)));
    let names = line.flat_map(|line| line["names"].as_array().cloned().unwrap());
    names.map(|name| name.as_str().unwrap().to_string()).collect()
}

#[test]
fn every_prefix_of_the_configuration_is_in_the_index() {
    let project = sample();
    let found = names(&project, "0016");
    for name in
        ["16", "0016", "context-injection", "feature/context-injection", "rfc/0016", "feature/16"]
    {
        assert!(found.iter().any(|other| other == name), "{name}: {found:?}");
    }
    project.write(".blue/config.yaml", "worktree: {branch_prefix: me/, also: [topic/]}\n").build();
    let found = names(&project, "0016");
    for name in ["me/context-injection", "topic/0016", "rfc/16", "context-injection"] {
        assert!(found.iter().any(|other| other == name), "{name}: {found:?}");
    }
    assert!(!found.iter().any(|name| name.starts_with("feature/")), "{found:?}");
}

#[test]
fn the_older_spelling_is_the_same_key_and_both_name_both_lines() {
    let project = sample();
    project.write(".blue/config.yaml", "workflow: {branch_prefix: topic/}\n").build();
    assert!(names(&project, "0016").contains(&"topic/0016".to_string()));
    let both = "workflow:\n  branch_prefix: a/\nworktree:\n  branch_prefix: b/\n";
    let output = project.write(".blue/config.yaml", both).blue(&["knowledge", "build"]);
    assert_eq!(output.code, 2);
    for line in [".blue/config.yaml:2:", ".blue/config.yaml:4:"] {
        assert!(output.stderr.contains(line), "{}", output.stderr);
    }
}

#[test]
fn a_prefix_that_git_refuses_stops_the_build_with_its_line() {
    let project = sample();
    for (text, line) in [
        ("worktree:\n  branch_prefix: \"a b/\"\n", 2),
        ("worktree:\n  also:\n    - ok/\n    - \"x..y/\"\n", 4),
        ("worktree:\n  base: \"-x\"\n", 2),
    ] {
        let output = project.write(".blue/config.yaml", text).blue(&["knowledge", "build"]);
        assert_eq!(output.code, 2, "{text}");
        assert!(
            output.stderr.contains(&format!("config.yaml:{line}: git accepts no branch")),
            "{}",
            output.stderr
        );
    }
}

#[test]
fn a_branch_that_git_cannot_make_is_refused_before_anything_is_made() {
    let project = sample();
    project.git(&["branch", "feature"]);
    let output = project.blue(&["worktree", "create", "16"]);
    assert_eq!(output.code, 2);
    assert!(output.stderr.contains("the branch feature exists"), "{}", output.stderr);
    assert_eq!(project.git(&["branch", "--format=%(refname:short)"]), "feature\nmain\n");
    assert!(!project.home().join(".blue/worktrees").exists());
    project.write(".blue/config.yaml", "workflow: {branch_prefix: \"a b/\"}\n").build();
    let output = project.blue(&["worktree", "create", "16"]);
    assert_eq!(output.code, 2);
    assert!(output.stderr.contains("git accepts no branch"), "{}", output.stderr);
}

#[test]
fn a_name_that_fits_two_is_left_out_and_reported() {
    let project = sample();
    project.write(".blue/docs/rfcs/0022-idea.md", rfc("22", "Idea again", "accepted"));
    project.build();
    let lint = project.blue(&["knowledge", "lint"]);
    assert!(lint.stdout.contains("BLUE-ID-003"), "{}", lint.stdout);
    assert!(!names(&project, "workflow/").contains(&"feature/idea".to_string()));
    assert!(names(&project, "0022").contains(&"feature/0022-idea".to_string()));
    project.git(&["add", "-A"]);
    project.git(&["commit", "-q", "-m", "two ideas"]);
    let output = create(&project, "22");
    assert!(output.stdout.contains("branch   feature/0022-idea\n"), "{output:?}");
}

/// Makes `~/.blue` a blue project with a decision of its own.
fn global(project: &Project) -> std::path::PathBuf {
    let home = project.home().join(".blue");
    support::write(
        &home.join(".blue/docs/adrs/0001-mine.md"),
        "# ADR 0001: Mine\n\nStatus: accepted\n\n## Decision\n\nMine.\n",
    );
    assert_eq!(super::blue_in(project, &home, &["knowledge", "build"]).code, 0);
    home
}

#[test]
fn the_project_of_the_user_does_not_read_worktrees() {
    let project = sample();
    let home = global(&project);
    create(&project, "16");
    let by_convention = home.join("worktrees/loose/docs/adr/0002-loose.md");
    support::write(&by_convention, "# ADR 0002: Loose\n\nStatus: accepted\n");
    assert_eq!(super::blue_in(&project, &home, &["knowledge", "build"]).code, 0);
    let documents = std::fs::read_to_string(home.join(".blue/context/documents.jsonl")).unwrap();
    assert!(
        documents.contains("0001-mine") && !documents.contains("context-injection"),
        "{documents}"
    );
    assert!(!documents.contains("loose"), "{documents}");
}

#[test]
fn a_worktree_inside_the_project_is_not_read_twice() {
    let project = sample();
    let before = project.read(".blue/context/documents.jsonl");
    let output = project.blue(&["worktree", "create", "16", "--path", "trees/sixteen"]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    assert_eq!(project.git(&["status", "--porcelain"]), "");
    project.build();
    assert_eq!(project.read(".blue/context/documents.jsonl"), before);
}

#[test]
fn the_search_for_a_project_ends_at_the_folder_that_holds_git() {
    let project = sample();
    global(&project);
    project.git(&["rm", "-rq", "--cached", ".blue/context", ".blue/context.manifest.yaml"]);
    project.git(&["commit", "-q", "-m", "no outputs"]);
    // A worktree that was made by hand, with no bundle yet.
    let folder = worktree(&project, "feature/context-injection");
    project.git(&[
        "worktree",
        "add",
        "-q",
        "-b",
        "feature/context-injection",
        folder.to_str().unwrap(),
    ]);
    for name in ["session-start", "session-workflow"] {
        for below in ["", "docs"] {
            let at = folder.join(below);
            std::fs::create_dir_all(&at).unwrap();
            let mut hook = std::process::Command::new("sh");
            hook.arg(project.path().join(".blue/hooks").join(name)).current_dir(&at);
            let printed = support::run(project.isolate(&mut hook)).stdout;
            assert_eq!(printed, "", "{name} in {below:?}");
            let output = super::blue_in(&project, &at, &["hook", name]);
            assert_eq!(output.stdout, "", "blue hook {name} in {below:?}");
        }
    }
    assert!(!project.home().join(".blue/.blue/local/audit.jsonl").exists());
}
