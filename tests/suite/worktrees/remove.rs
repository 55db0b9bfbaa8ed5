//! `blue worktree remove` and `prune`.

use super::{NOON, blue_in, create, git_in, row, sample, worktree};
use crate::support::{self, Project};

/// A project with a worktree of RFC 16.
fn with_worktree() -> (Project, std::path::PathBuf) {
    let project = sample();
    create(&project, "16");
    let folder = worktree(&project, "feature/context-injection");
    (project, folder)
}

#[test]
fn a_clean_worktree_is_removed_and_its_records_are_kept() {
    let (project, folder) = with_worktree();
    blue_in(
        &project,
        &folder,
        &["session-start", "--session", "s1", "--now", "2026-01-25T10:00:00Z"],
    );
    blue_in(&project, &folder, &["worktree-context", "--session", "s1"]);
    let log = std::fs::read(folder.join(".blue/local/audit.jsonl")).unwrap();
    let output = project.blue(&["worktree", "remove", "16", "--now", NOON]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    assert!(!folder.exists());
    let kept = ".blue/local/worktrees/feature/context-injection";
    assert_eq!(project.read(&format!("{kept}/audit.jsonl")).into_bytes(), log);
    assert!(project.exists(&format!("{kept}/sessions/s1.json")));
    assert!(project.git(&["branch"]).contains("feature/context-injection"), "the branch stays");
    // A later worktree of the same RFC continues the log.
    assert_eq!(project.blue(&["worktree", "create", "16", "--reuse"]).code, 0);
    blue_in(&project, &folder, &["worktree-context", "--session", "s2"]);
    let output = project.blue(&["worktree", "remove", "16", "--delete-branch"]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    assert_eq!(project.read(&format!("{kept}/audit.jsonl")).lines().count(), 2);
    assert!(!project.git(&["branch"]).contains("feature/context-injection"));
}

#[test]
fn whatever_would_be_lost_is_refused_with_what_to_type() {
    let (project, folder) = with_worktree();
    let remove = |word: &str, code: i32| {
        let output = project.blue(&["worktree", "remove", word, "--now", NOON]);
        assert_eq!(output.code, code, "{output:?}");
        output.stderr
    };
    let main = project.path().to_str().unwrap();
    assert!(remove(main, 1).contains("is the main worktree"));
    std::fs::write(folder.join("new file"), "x").unwrap();
    assert!(remove("16", 1).contains("1 changed or untracked file"));
    git_in(&project, &folder, NOON, &["add", "-A"]);
    assert!(remove("16", 1).contains("1 changed or untracked file"));
    git_in(&project, &folder, NOON, &["commit", "-q", "-m", "work"]);
    let stderr = remove("16", 1);
    assert!(stderr.contains("1 commit, neither merged into main nor pushed"), "{stderr}");
    assert!(stderr.contains("blue worktree remove '16' --force"), "{stderr}");
    project.git(&["merge", "-q", "feature/context-injection"]);
    assert_eq!(row(&project, &folder)["merged"], true);
    blue_in(
        &project,
        &folder,
        &["session-start", "--session", "s1", "--now", "2026-01-25T11:58:00Z"],
    );
    let stderr = remove("16", 1);
    assert!(stderr.contains("is in use: heartbeat 2 min ago of session s1"), "{stderr}");
    assert!(folder.exists());
    blue_in(
        &project,
        &folder,
        &["session-end", "--session", "s1", "--now", "2026-01-25T11:59:00Z"],
    );
    remove("16", 0);
    assert!(!folder.exists());
}

#[test]
fn pushed_commits_are_not_lost_and_force_removes_anything_but_the_main_worktree() {
    let (project, folder) = with_worktree();
    project.git(&["init", "-q", "--bare", "../origin.git"]);
    project.git(&["remote", "add", "origin", "../origin.git"]);
    std::fs::write(folder.join("file"), "x").unwrap();
    git_in(&project, &folder, NOON, &["add", "-A"]);
    git_in(&project, &folder, NOON, &["commit", "-q", "-m", "work"]);
    project.git(&["push", "-q", "origin", "feature/context-injection"]);
    std::fs::write(folder.join("another"), "x").unwrap();
    let path = folder.to_str().unwrap();
    assert_eq!(project.blue(&["worktree", "remove", path]).code, 1);
    std::fs::remove_file(folder.join("another")).unwrap();
    assert_eq!(project.blue(&["worktree", "remove", path]).code, 0, "everything is pushed");
    assert_eq!(project.blue(&["worktree", "create", "16", "--reuse"]).code, 0);
    std::fs::write(folder.join("another"), "x").unwrap();
    assert_eq!(project.blue(&["worktree", "remove", path, "--force"]).code, 0);
    assert!(!folder.exists());
    let main = project.path().to_str().unwrap();
    assert_eq!(project.blue(&["worktree", "remove", main, "--force"]).code, 1);
}

#[test]
fn folders_that_are_gone_are_listed_and_forgotten() {
    let (project, folder) = with_worktree();
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(row(&project, &folder)["missing"], true);
    let output = project.blue(&["worktree", "remove", "16"]);
    assert_eq!(output.code, 1);
    assert!(output.stderr.contains("blue worktree prune"), "{}", output.stderr);
    let output = project.blue(&["worktree", "prune"]);
    assert!(output.stdout.contains("forgot   "), "{output:?}");
    assert_eq!(project.blue(&["worktree", "prune"]).stdout, "nothing to forget\n");
    assert_eq!(project.blue(&["worktree", "create", "16", "--reuse"]).code, 0);
}

#[test]
fn a_locked_worktree_is_neither_removed_nor_forgotten() {
    let (project, folder) = with_worktree();
    let path = folder.to_str().unwrap();
    project.git(&["worktree", "lock", "--reason", "on a stick", path]);
    for flag in [&[][..], &["--force"]] {
        let output = project.blue(&[&["worktree", "remove", "16"], flag].concat());
        assert_eq!(output.code, 1);
        assert!(output.stderr.contains("is locked (on a stick)"), "{}", output.stderr);
    }
    assert_eq!(row(&project, &folder)["locked"], "on a stick");
    let moved = project.home().join("away");
    std::fs::rename(&folder, &moved).unwrap();
    let output = project.blue(&["worktree", "prune"]);
    assert!(output.stdout.contains("left     "), "{output:?}");
    assert_eq!(row(&project, &folder)["missing"], true);
    support::write(&moved.join("kept"), "it is only moved");
}
