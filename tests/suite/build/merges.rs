//! Builds after merges, rebases, stashes and converted line endings.

use std::process::Command;

use blue::wire::commit::CommitRecord;

use crate::support;
use crate::support::Project;

const MANIFEST: &str = ".blue/context.manifest.yaml";

fn adr(number: u32, title: &str, body: &str) -> String {
    format!("# {number}. {title}\n\n## Status\n\nAccepted\n\n## Decision\n\n{body}\n")
}

fn rfc(number: u32, title: &str) -> String {
    format!(
        "# RFC {number:04}: {title}\n\n- Status: draft\n\n## Summary\n\n{title} for everyone.\n\n## Tasks\n\n- [ ] start\n"
    )
}

fn commit(project: &Project, message: &str) {
    project.git(&["add", "-A"]);
    project.git(&["commit", "-q", "-m", message]);
}

/// A repository with three decisions and an RFC, built and committed.
fn repository() -> Project {
    let project = Project::new();
    project.git(&["init", "-q"]);
    project
        .write(".blue/config.yaml", "project: shop\n")
        .write("docs/adr/0001-files.md", adr(1, "Use files", "State is kept in files."))
        .write("docs/adr/0002-locks.md", adr(2, "Use locks", "Writers take a lock."))
        .write("docs/adr/0003-logs.md", adr(3, "Write a log", "Every delivery is logged."))
        .write("docs/rfcs/0001-cache.md", rfc(1, "A cache"));
    project.build();
    commit(&project, "first");
    project
}

/// Applies a change on a new branch from `main`, builds and commits.
fn branch(project: &Project, name: &str, change: impl Fn(&Project)) {
    project.git(&["checkout", "-q", "-b", name, "main"]);
    change(project);
    project.build();
    commit(project, name);
}

/// Two branches that both changed documents and built.
fn two_branches() -> Project {
    let project = repository();
    branch(&project, "left", |project| {
        project
            .write("docs/adr/0004-left.md", adr(4, "Turn left", "We turn left, see ADR 1."))
            .write("docs/adr/0002-locks.md", adr(2, "Use many locks", "Every file has a lock."))
            .write("docs/rfcs/0002-left.md", rfc(2, "Left lanes"));
    });
    branch(&project, "right", |project| {
        project
            .write("docs/adr/0005-right.md", adr(5, "Turn right", "We turn right, see ADR 3."))
            .write("docs/rfcs/0003-right.md", rfc(3, "Right lanes"));
        std::fs::remove_file(project.path().join("docs/rfcs/0001-cache.md")).unwrap();
    });
    project
}

/// Runs git, which may fail because of a conflict. Returns true if it succeeded.
fn try_git(project: &Project, arguments: &[&str]) -> bool {
    let mut git = Command::new("git");
    git.args(["-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "core.editor=true"]);
    git.args(["-c", "rerere.enabled=false"]).args(arguments).current_dir(project.path());
    project.isolate(&mut git);
    git.output().unwrap().status.success()
}

/// Checks that one build makes everything current, loses no line, and gives the bytes of a clean
/// build.
fn assert_resolved(project: &Project, what: &str) {
    let built = project.blue(&["knowledge", "build"]);
    assert_eq!(built.code, 0, "{what}: {}", built.stderr);
    assert!(!built.stderr.contains("by hand"), "{what}: {}", built.stderr);
    assert!(!project.exists(".blue/local/rescued"), "{what}: something was rescued");
    let check = project.blue(&["knowledge", "build", "--check"]);
    assert_eq!(check.code, 0, "{what}: {}", check.stderr);
    let resolved = project.files();
    for (path, bytes) in &resolved {
        let text = String::from_utf8_lossy(bytes);
        assert!(!text.contains("<<<<<<<") && !text.contains(">>>>>>>"), "{what}: {path}");
    }
    let emitted = |path: &str| {
        path.starts_with("knowledge/") || path.starts_with(".blue/context") || path == MANIFEST
    };
    for path in resolved.keys().filter(|path| emitted(path)) {
        std::fs::remove_file(project.path().join(path)).unwrap();
    }
    std::fs::remove_dir_all(project.path().join(".blue/local")).unwrap();
    project.build();
    let clean = project.files();
    let names = |files: &std::collections::BTreeMap<String, Vec<u8>>| {
        files.keys().cloned().collect::<Vec<String>>()
    };
    assert_eq!(names(&resolved), names(&clean), "{what}: a clean build has other files");
    let undated = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let dated = [
            "Generated:",
            "Commit:",
            "# Generated",
            "# Commit",
            "generated_at",
            "source_commit",
            "  seal:",
            "seal:",
        ];
        let lines = text.lines().filter(|line| !dated.iter().any(|start| line.starts_with(start)));
        lines.filter(|line| !line.starts_with("{\"generated\"")).collect::<Vec<_>>().join("\n")
    };
    for (path, bytes) in &clean {
        assert_eq!(undated(&resolved[path]), undated(bytes), "{what}: {path}");
    }
}

#[test]
fn one_build_resolves_a_merge_conflict() {
    for style in ["merge", "diff3", "zdiff3"] {
        for (ours, theirs) in [("left", "right"), ("right", "left")] {
            let project = two_branches();
            project.git(&["checkout", "-q", ours]);
            let setting = format!("merge.conflictStyle={style}");
            assert!(!try_git(&project, &["-c", &setting, "merge", theirs]), "no conflict");
            assert!(project.read(MANIFEST).contains("<<<<<<<"));
            let check = project.blue(&["knowledge", "build", "--check"]);
            assert_eq!(check.code, 1, "{}", check.stderr);
            assert!(check.stderr.contains("in conflict"), "{}", check.stderr);
            assert!(!check.stderr.contains("by hand"), "{}", check.stderr);
            assert_resolved(&project, &format!("{style}, {ours} with {theirs}"));
        }
    }
}

#[test]
fn one_build_removes_committed_conflict_markers() {
    let project = two_branches();
    project.git(&["checkout", "-q", "left"]);
    assert!(!try_git(&project, &["merge", "right"]), "no conflict");
    commit(&project, "merged with markers");
    assert_resolved(&project, "markers committed");
}

#[test]
fn one_build_corrects_a_merge_that_took_one_side() {
    for option in ["ours", "theirs"] {
        let project = two_branches();
        project.git(&["checkout", "-q", "left"]);
        // A bundle that one side changed and the other removed is a conflict in any case.
        try_git(&project, &["merge", "-X", option, "right"]);
        assert_resolved(&project, &format!("merge -X {option}"));
    }
}

#[test]
fn one_build_resolves_a_rebase_a_cherry_pick_and_a_stash() {
    for command in [["rebase", "right"], ["cherry-pick", "right"], ["revert", "HEAD"]] {
        let project = two_branches();
        project.git(&["checkout", "-q", "left"]);
        if command[0] == "revert" {
            project.write("docs/adr/0006-more.md", adr(6, "More", "More of it."));
            project.build();
            commit(&project, "more");
            assert!(!try_git(&project, &["revert", "--no-edit", "HEAD^"]), "no conflict");
        } else {
            assert!(!try_git(&project, &command), "no conflict");
        }
        assert_resolved(&project, command[0]);
    }
    let project = two_branches();
    project.git(&["checkout", "-q", "left"]);
    project.write("docs/adr/0006-more.md", adr(6, "More", "More of it."));
    project.build();
    project.git(&["stash", "-u", "-q"]);
    project.git(&["checkout", "-q", "right"]);
    assert!(!try_git(&project, &["stash", "pop"]), "no conflict");
    assert_resolved(&project, "stash pop");
}

#[test]
fn force_and_init_resolve_a_merge() {
    for arguments in [&["knowledge", "build", "--force"][..], &["init"]] {
        let project = two_branches();
        project.git(&["checkout", "-q", "left"]);
        assert!(!try_git(&project, &["merge", "right"]), "no conflict");
        let built = project.blue(arguments);
        assert_eq!(built.code, 0, "{arguments:?}: {}", built.stderr);
        assert_eq!(project.blue(&["knowledge", "build", "--check"]).code, 0);
    }
}

#[test]
fn a_line_from_neither_side_is_copied_to_rescued() {
    let project = two_branches();
    project.git(&["checkout", "-q", "left"]);
    assert!(!try_git(&project, &["merge", "right"]), "no conflict");
    let text = project.read("knowledge/adrs.md");
    project.write("knowledge/adrs.md", format!("{text}- 0099 a line of my own\n"));
    let built = project.blue(&["knowledge", "build"]);
    assert_eq!(built.code, 0, "{}", built.stderr);
    assert!(built.stderr.contains("knowledge/adrs.md"), "{}", built.stderr);
    let rescued = support::entries(&project.path().join(".blue/local/rescued"));
    assert_eq!(rescued.len(), 1, "{rescued:?}");
    let kept = std::fs::read_to_string(&rescued[0]).unwrap();
    assert!(kept.contains("a line of my own"), "{kept}");
    assert_eq!(project.blue(&["knowledge", "build", "--check"]).code, 0);
}

#[test]
fn a_conflict_in_a_folder_without_git_is_resolved_and_rescued() {
    let project = two_branches();
    project.git(&["checkout", "-q", "left"]);
    assert!(!try_git(&project, &["merge", "right"]), "no conflict");
    std::fs::remove_dir_all(project.path().join(".git")).unwrap();
    let built = project.blue(&["knowledge", "build"]);
    assert_eq!(built.code, 0, "{}", built.stderr);
    assert!(project.exists(".blue/local/rescued"), "nothing can be compared, so copies are kept");
    assert_eq!(project.blue(&["knowledge", "build", "--check"]).code, 0);
}

#[test]
fn a_file_that_only_looks_like_a_conflict_is_not_overwritten() {
    let project = Project::new();
    project.write("docs/adr/0001-files.md", adr(1, "Use files", "State is kept in files."));
    let text = "<<<<<<< HEAD\nmy notes\n=======\nother notes\n>>>>>>> other\n";
    project.write("knowledge/adrs.md", text);
    let built = project.blue(&["knowledge", "build"]);
    assert_eq!(built.code, 2, "{}", built.stderr);
    assert_eq!(project.read("knowledge/adrs.md"), text);
}

#[test]
fn artifacts_with_crlf_are_recognised_and_restored() {
    let project = repository();
    let before = project.files();
    for (path, bytes) in &before {
        if path.starts_with("knowledge/") || path.starts_with(".blue/context") {
            let text = String::from_utf8(bytes.clone()).unwrap();
            project.write(path, text.replace('\n', "\r\n"));
        }
    }
    std::fs::remove_dir_all(project.path().join(".blue/local")).unwrap();
    let check = project.blue(&["knowledge", "build", "--check"]);
    assert_eq!(check.code, 1, "{}", check.stderr);
    assert!(check.stderr.contains("CRLF") && !check.stderr.contains("by hand"), "{}", check.stderr);
    let built = project.blue(&["knowledge", "build"]);
    assert_eq!(built.code, 0, "{}", built.stderr);
    assert!(!project.exists(".blue/local/rescued"));
    assert!(before == project.files(), "not the bytes from before");
}

#[test]
fn a_clone_that_converts_line_ends_builds_without_a_diff() {
    let project = repository();
    let folder = tempfile::Builder::new().prefix("blue clone ").tempdir().unwrap();
    let clone = folder.path().join("clone");
    let from = project.path().to_str().unwrap();
    project.git(&["clone", "-q", "-c", "core.autocrlf=true", from, clone.to_str().unwrap()]);
    let blue = |arguments: &[&str]| {
        let mut command = project.command(arguments);
        command.current_dir(&clone).output().unwrap()
    };
    let built = blue(&["knowledge", "build"]);
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    assert!(blue(&["knowledge", "build", "--check"]).status.success());
    let diff = project.git(&["-C", clone.to_str().unwrap(), "diff"]);
    assert_eq!(diff, "");
}

#[test]
fn check_reports_an_interrupted_build() {
    let project = repository();
    project.write("docs/adr/0004-more.md", adr(4, "More", "More of it."));
    let before = project.files();
    project.build();
    // The state after a kill between two renames: new files, the old manifest and the record.
    project.write(MANIFEST, &before[MANIFEST]);
    let writes: Vec<_> = project
        .files()
        .iter()
        .filter(|(path, bytes)| before.get(*path) != Some(bytes) && !path.starts_with("docs/"))
        .enumerate()
        .map(|(i, (path, bytes))| {
            let digest = format!("blake3:{}", blake3::hash(bytes).to_hex());
            (format!(".blue/local/txn/{i}"), path.clone(), digest)
        })
        .collect();
    assert!(!writes.is_empty());
    let record = CommitRecord { writes, removals: Vec::new(), seal: None };
    let record = record.sealed(Some(&project.key()));
    project.write(".blue/local/txn/record", serde_json::to_vec(&record).unwrap());
    let check = project.blue(&["knowledge", "build", "--check"]);
    assert_eq!(check.code, 1, "{}", check.stderr);
    assert!(check.stderr.contains("a build was interrupted"), "{}", check.stderr);
    assert!(!check.stderr.contains("by hand"), "{}", check.stderr);
    project.write("knowledge/adrs.md", format!("{}x\n", project.read("knowledge/adrs.md")));
    let check = project.blue(&["knowledge", "build", "--check"]);
    assert!(check.stderr.contains("knowledge/adrs.md: error: edited by hand"), "{}", check.stderr);
}

#[test]
fn force_replaces_what_is_not_a_manifest_and_keeps_a_copy() {
    for junk in [vec![0; 4096], b"\xff\xfe garbage".to_vec(), b"just some words\n".to_vec()] {
        let project = repository();
        project.write(MANIFEST, &junk);
        for arguments in [&["knowledge", "build"][..], &["init"]] {
            let refused = project.blue(arguments);
            assert_eq!(refused.code, 2, "{arguments:?}: {}", refused.stderr);
            assert!(refused.stderr.contains("blue knowledge build --force"), "{}", refused.stderr);
            assert_eq!(std::fs::read(project.path().join(MANIFEST)).unwrap(), junk);
        }
        let check = project.blue(&["knowledge", "build", "--check"]);
        assert_eq!(check.code, 2, "{}", check.stderr);
        let built = project.blue(&["knowledge", "build", "--force"]);
        assert_eq!(built.code, 0, "{}", built.stderr);
        let rescued = support::entries(&project.path().join(".blue/local/rescued"));
        assert_eq!(std::fs::read(&rescued[0]).unwrap(), junk);
        assert_eq!(project.blue(&["knowledge", "build", "--check"]).code, 0);
    }
}

#[test]
fn a_user_file_listed_in_an_older_manifest_is_not_overwritten() {
    let project = repository();
    std::fs::remove_file(project.path().join("docs/rfcs/0001-cache.md")).unwrap();
    project.build();
    assert!(!project.exists("knowledge/rfcs.md"));
    project.write("knowledge/rfcs.md", "My own notes.\n");
    project.write("docs/rfcs/0001-cache.md", rfc(1, "A cache"));
    let built = project.blue(&["knowledge", "build"]);
    assert_eq!(built.code, 2, "{}", built.stderr);
    assert_eq!(project.read("knowledge/rfcs.md"), "My own notes.\n");
}

#[test]
fn one_build_resolves_conflicts_without_a_merge_commit() {
    for commands in [
        &[&["merge", "--squash", "right"][..]][..],
        &[&["cherry-pick", "-n", "right"]],
        &[&["checkout", "-q", "--detach", "left~1"], &["merge", "-q", "--squash", "left"]],
    ] {
        let project = two_branches();
        project.git(&["checkout", "-q", "left"]);
        for command in commands {
            try_git(&project, command);
        }
        assert_resolved(&project, &format!("{commands:?}"));
    }
}

#[test]
fn an_artifact_trimmed_by_hand_is_an_edit() {
    let project = repository();
    let text = project.read("knowledge/adrs.md");
    let trimmed: Vec<&str> = text.lines().filter(|line| !line.contains("Use locks")).collect();
    project.write("knowledge/adrs.md", format!("{}\n", trimmed.join("\n")));
    let built = project.build();
    assert!(built.stderr.contains("edited by hand"), "{}", built.stderr);
    assert!(project.exists(".blue/local/rescued"));
}

#[test]
fn a_build_restores_hooks_in_conflict_or_with_crlf() {
    let project = repository();
    assert_eq!(project.blue(&["init"]).code, 0);
    let path = ".blue/hooks/session-start";
    let text = project.read(path);
    let side = |name: &str| format!("# {name}\n");
    let conflict = format!("<<<<<<< HEAD\n{}=======\n{}>>>>>>> x\n", side("a"), side("b"));
    let (first, rest) = text.split_at(text.find("lf=lf").unwrap());
    for damaged in [format!("{first}{conflict}{rest}"), text.replace('\n', "\r\n")] {
        project.write(path, damaged);
        let built = project.blue(&["knowledge", "build"]);
        assert!(built.stderr.contains("restored .blue/hooks/session-start"), "{}", built.stderr);
        assert_eq!(project.read(path), text);
    }
    project.write(path, "#!/bin/sh\r\nexit 0\r\n");
    project.build();
    assert_eq!(project.read(path), "#!/bin/sh\r\nexit 0\r\n", "a script of a user's own");
}
