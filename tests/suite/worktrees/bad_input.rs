//! Unusual repositories and hostile files: each is answered, and nothing is lost.

use std::os::unix::fs::symlink;

use super::{NOON, blue_in, create, git_in, row, sample, worktree};
use crate::support::{self, Project};

/// Runs `list`, `status` and `next`, which must all answer.
fn all_answer(project: &Project, folder: &std::path::Path, codes: &[i32]) {
    for arguments in [&["worktree", "list"][..], &["status"], &["next"]] {
        let output = blue_in(project, folder, arguments);
        assert!(codes.contains(&output.code), "{arguments:?}: {output:?}");
        assert!(!output.stderr.contains("bug in blue"), "{arguments:?}: {output:?}");
    }
}

#[test]
fn a_project_without_git_or_with_a_broken_git_file_still_has_a_status() {
    let project = Project::with(".blue/docs/rfcs/0016-x.md", super::rfc("16", "X", "accepted"));
    project.build();
    for git in
        ["", "gitdir: nowhere\n", "gitdir: /etc\n", "gitdir: ../../..\n", "no", "gitdir: \u{0}\n"]
    {
        if !git.is_empty() {
            project.write(".git", git);
        }
        let output = project.blue(&["status"]);
        assert_eq!(output.code, 0, "{git:?}: {output:?}");
        assert_eq!(project.blue(&["next"]).code, 0, "{git:?}");
        for command in
            [&["worktree", "list"][..], &["worktree", "create", "16"], &["worktree", "prune"]]
        {
            let output = project.blue(command);
            assert_eq!(output.code, 2, "{git:?} {command:?}: {output:?}");
            assert!(
                output.stderr.contains("git cannot read a repository here"),
                "{}",
                output.stderr
            );
        }
    }
}

#[test]
fn a_repository_without_a_commit_gets_no_worktree() {
    let project = Project::with(".blue/docs/rfcs/0016-x.md", super::rfc("16", "X", "accepted"));
    project.git(&["init", "-q", "-b", "main"]);
    project.build();
    let output = project.blue(&["worktree", "create", "16"]);
    assert_eq!(output.code, 2, "{output:?}");
    assert!(output.stderr.contains("commit something"), "{}", output.stderr);
    all_answer(&project, project.path(), &[0]);
}

#[test]
fn a_detached_or_unborn_head_names_no_rfc() {
    let project = sample();
    let folder = project.path().join("../detached");
    project.git(&["worktree", "add", "-q", "--detach", folder.to_str().unwrap()]);
    let found = row(&project, &folder);
    assert_eq!(
        (&found["branch"], &found["rfc"]),
        (&serde_json::Value::Null, &serde_json::Value::Null)
    );
    all_answer(&project, &folder, &[0]);
    let orphan = project.path().join("../orphan");
    project.git(&[
        "worktree",
        "add",
        "-q",
        "--orphan",
        "-b",
        "feature/idea",
        orphan.to_str().unwrap(),
    ]);
    let found = row(&project, &orphan);
    assert_eq!((&found["rfc"], &found["ahead"]), (&"0018-idea".into(), &serde_json::Value::Null));
    all_answer(&project, project.path(), &[0]);
}

#[test]
fn bare_and_shallow_repositories_and_submodules_are_answered() {
    let project = sample();
    project.git(&["clone", "-q", "--bare", ".", "../bare.git"]);
    let bare = project.path().join("../bare.git");
    let folder = project.path().join("../of-bare");
    git_in(&project, &bare, NOON, &["worktree", "add", "-q", folder.to_str().unwrap(), "main"]);
    let output = blue_in(&project, &folder, &["worktree", "create", "16"]);
    assert_eq!(output.code, 0, "{output:?}");
    all_answer(&project, &folder, &[0]);
    assert_eq!(blue_in(&project, &folder, &["worktree", "remove", "16"]).code, 0);
    let url = format!("file://{}", project.path().canonicalize().unwrap().display());
    project.git(&["clone", "-q", "--depth", "1", &url, "../shallow"]);
    let shallow = project.path().join("../shallow");
    let output = blue_in(&project, &shallow, &["worktree", "create", "17"]);
    assert_eq!(output.code, 0, "{output:?}");
    all_answer(&project, &shallow, &[0]);
    project.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", &url, "sub"]);
    project.git(&["commit", "-q", "-m", "submodule"]);
    all_answer(&project, &project.path().join("sub"), &[0]);
    let list = blue_in(&project, &project.path().join("sub"), &["worktree", "list"]);
    assert_eq!(list.stdout.matches("main\n").count(), 1, "only its own: {}", list.stdout);
}

#[test]
fn a_branch_that_is_checked_out_twice_has_two_rows() {
    let project = sample();
    create(&project, "16");
    let second = project.path().join("../second");
    project.git(&[
        "worktree",
        "add",
        "-q",
        "--force",
        second.to_str().unwrap(),
        "feature/context-injection",
    ]);
    assert_eq!(row(&project, &second)["rfc"], "0016-context-injection");
    let list = project.json(&["worktree", "list", "--format", "json"]);
    let rows = list["worktrees"].as_array().unwrap();
    assert_eq!(rows.iter().filter(|row| row["rfc"] == "0016-context-injection").count(), 2);
    all_answer(&project, project.path(), &[0]);
}

#[test]
fn a_moved_worktree_is_found_again_after_git_repair() {
    let project = sample();
    create(&project, "16");
    let (folder, moved) =
        (worktree(&project, "feature/context-injection"), project.home().join("moved"));
    std::fs::rename(&folder, &moved).unwrap();
    assert_eq!(row(&project, &folder)["missing"], true);
    all_answer(&project, project.path(), &[0]);
    git_in(&project, &moved, NOON, &["worktree", "repair"]);
    assert_eq!(row(&project, &moved)["rfc"], "0016-context-injection");
}

#[test]
fn an_unusable_worktree_file_is_absent_or_names_nothing() {
    let project = sample();
    create(&project, "16");
    let folder = worktree(&project, "feature/context-injection");
    let path = folder.join(".blue/worktree.json");
    let remove = || {
        std::fs::remove_file(&path).or_else(|_| std::fs::remove_dir_all(&path)).unwrap();
    };
    let rfc = || row(&project, &folder)["rfc"].clone();
    remove();
    symlink("/etc/passwd", &path).unwrap();
    assert_eq!(rfc(), "0016-context-injection", "a link is ignored, and the branch counts");
    remove();
    std::fs::create_dir(&path).unwrap();
    assert_eq!(rfc(), "0016-context-injection", "so is a folder");
    remove();
    std::fs::File::create(&path).unwrap().set_len(1 << 30).unwrap();
    let started = support::thread_time();
    assert_eq!(rfc(), "0016-context-injection", "and a file of 1 GB");
    assert!(support::thread_time() - started < std::time::Duration::from_secs(2));
    for text in ["[]", "[\"rfc\"]", "{", "", "7", "{\"rfc\": null}"] {
        std::fs::write(&path, text).unwrap();
        assert_eq!(rfc(), "0016-context-injection", "{text}");
    }
    std::fs::write(&path, "{\"rfc\": \"9999-gone\"}").unwrap();
    assert_eq!(rfc(), serde_json::Value::Null, "an RFC that is gone");
    all_answer(&project, &folder, &[0]);
    let output = blue_in(&project, &folder, &["worktree-context"]);
    assert_eq!((output.code, output.stdout.as_str()), (1, ""));
    std::fs::write(&path, "{\"rfc\": \"17\"}").unwrap();
    assert_eq!(rfc(), "0017-other-work", "a hand-written file wins over the branch");
}

#[test]
fn facts_run_nothing_that_the_repository_configures() {
    let project = sample();
    create(&project, "16");
    let folder = worktree(&project, "feature/context-injection");
    let ran = project.home().join("ran");
    let command = format!("touch '{}'; cat", ran.display());
    for (key, value) in [
        ("filter.evil.clean", command.as_str()),
        ("filter.evil.process", &command),
        ("filter.a=b.clean", &command),
        ("filter.evil.required", "true"),
        ("core.fsmonitor", &command),
        ("core.pager", &command),
        ("alias.status", &format!("!{command}")),
        ("diff.external", &command),
    ] {
        project.git(&["config", key, value]);
    }
    for (at, filter) in [("evil.txt", "evil"), ("odd.txt", "a=b")] {
        std::fs::write(folder.join(at), "1").unwrap();
        git_in(
            &project,
            &folder,
            NOON,
            &["-c", "core.fsmonitor=false", "-c", "filter.evil.required=false", "add", at],
        );
        let attributes = std::fs::read_to_string(folder.join(".gitattributes")).unwrap_or_default();
        std::fs::write(
            folder.join(".gitattributes"),
            format!("{attributes}{at} filter={filter}\n"),
        )
        .unwrap();
        std::fs::write(folder.join(at), "2").unwrap();
    }
    std::fs::remove_file(&ran).ok();
    let found = row(&project, &folder);
    assert!(found["changed"].as_u64().is_some_and(|n| n >= 2), "{found}");
    all_answer(&project, &folder, &[0]);
    assert!(!ran.exists(), "a command of the configuration ran");
}

#[test]
fn names_of_branches_and_folders_are_escaped() {
    let project = sample();
    let folder = project.home().join("a\u{1b}[31mb\u{202e}c");
    project.git(&["worktree", "add", "-q", "-b", "feature/\u{202e}x", folder.to_str().unwrap()]);
    let output = project.blue(&["worktree", "list"]);
    assert_eq!(output.code, 0, "{output:?}");
    assert!(!output.stdout.contains(['\u{1b}', '\u{202e}']), "{}", output.stdout);
}

#[test]
fn a_folder_in_the_way_is_not_touched() {
    let project = sample();
    let folder = worktree(&project, "feature/context-injection");
    support::write(&folder.join("mine.txt"), "precious");
    let output = project.blue(&["worktree", "create", "16"]);
    assert_eq!(output.code, 2);
    assert!(output.stderr.contains("is in the way"), "{}", output.stderr);
    assert_eq!(std::fs::read(folder.join("mine.txt")).unwrap(), b"precious");
    let output = project.blue(&["worktree", "create", "16", "--path", "a/../b/../../out"]);
    assert_eq!(output.code, 2, "{output:?}");
    assert_eq!(project.git(&["branch", "--format=%(refname:short)"]), "main\n");
}

#[test]
fn a_worktree_can_be_on_another_disk() {
    let memory = std::path::Path::new("/dev/shm");
    if !memory.is_dir() {
        println!("skipped: there is no second file system");
        return;
    }
    let disk = tempfile::tempdir_in(memory).unwrap();
    let project = sample();
    let folder = disk.path().join("sixteen");
    let path = folder.to_str().unwrap();
    assert_eq!(project.blue(&["worktree", "create", "16", "--path", path]).code, 0);
    let output = blue_in(&project, &folder, &["worktree-context"]);
    assert_eq!(output.code, 0, "{output:?}");
    assert_eq!(project.blue(&["worktree", "remove", path]).code, 0);
    let kept = ".blue/local/worktrees/feature/context-injection/audit.jsonl";
    assert_eq!(project.read(kept).lines().count(), 1);
}

#[test]
fn names_that_make_no_branch_make_nothing() {
    let project = sample();
    let long = "x".repeat(230);
    for (number, name) in [("0031", "🎉"), ("0032", "a.lock"), ("0033", &long), ("0034", "a..b")]
    {
        let text = super::rfc(number, "\u{202e}Odd\ttitle", "accepted");
        project.write(&format!(".blue/docs/rfcs/{number}-{name}.md"), text);
    }
    project.build();
    project.git(&["add", "-A"]);
    project.git(&["commit", "-q", "-m", "odd names"]);
    for number in ["31", "32", "33", "34"] {
        let output = project.blue(&["worktree", "create", number]);
        assert!([0, 2].contains(&output.code), "{number}: {output:?}");
        assert!(!output.stderr.contains("bug in blue"), "{number}: {output:?}");
        let n_worktrees = project.git(&["worktree", "list"]).lines().count();
        let removed = project.blue(&["worktree", "remove", number, "--delete-branch"]);
        assert_eq!(n_worktrees, if output.code == 0 { 2 } else { 1 }, "{number}: {output:?}");
        assert_eq!(removed.code == 0, output.code == 0, "{number}: {removed:?}");
        assert_eq!(project.git(&["branch", "--format=%(refname:short)"]), "main\n", "{number}");
    }
    all_answer(&project, project.path(), &[0]);
}
