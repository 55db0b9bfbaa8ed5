//! The guard against edits on the wrong branch: for agents, and in git's pre-commit hook.

use std::os::unix::fs::PermissionsExt;

use super::three_rfcs;
use crate::support::{Project, run};

/// A repository on the branch of RFC 2.
fn on_branch(branch: &str) -> Project {
    let project = three_rfcs();
    project.git(&["init", "-q"]);
    project.build();
    project.git(&["add", "."]);
    project.git(&["commit", "-q", "-m", "one"]);
    project.git(&["checkout", "-q", "-b", branch]);
    project
}

fn hook(project: &Project, tool: &str, input: &str) -> String {
    let json = format!("{{\"session_id\":\"s1\",\"tool_name\":\"{tool}\",\"tool_input\":{input}}}");
    project.blue_with_input(&["hook", "pre-tool-use"], &json)
}

#[test]
fn an_agent_is_refused_the_document_of_another_rfc_and_allowed_its_own() {
    let project = on_branch("rfc/queue");
    let other = project.path().join("docs/rfcs/0001-cache.draft.md");
    let other = format!("{{\"file_path\":{:?}}}", other.to_str().unwrap());
    for tool in ["Edit", "MultiEdit", "Write"] {
        let answer: serde_json::Value =
            serde_json::from_str(&hook(&project, tool, &other)).unwrap();
        let answer = &answer["hookSpecificOutput"];
        assert_eq!(answer["hookEventName"], "PreToolUse");
        assert_eq!(answer["permissionDecision"], "deny");
        let reason = answer["permissionDecisionReason"].as_str().unwrap();
        for word in ["RFC 0001", "rfc/queue", "BLUE_GUARD=off"] {
            assert!(reason.contains(word), "{reason}");
        }
    }
    let log = project.audit_log();
    let last = log.last().unwrap();
    assert_eq!(
        (&last["event"], &last["source"]),
        (&"guard".into(), &"blue://guard/refused".into())
    );
    for (tool, path) in [
        ("Edit", "docs/rfcs/0002-queue.accepted.md"),
        ("Edit", "src/main.rs"),
        ("Edit", "docs/adr/0001-use-rust.md"),
        ("Read", "docs/rfcs/0001-cache.draft.md"),
    ] {
        assert_eq!(
            hook(&project, tool, &format!("{{\"file_path\":\"{path}\"}}")),
            "",
            "{tool} {path}"
        );
    }
    let patch = "*** Begin Patch\\n*** Update File: docs/rfcs/0001-cache.draft.md\\n@@\\n-a\\n+b\\n*** End Patch";
    assert!(hook(&project, "apply_patch", &format!("{{\"input\":\"{patch}\"}}")).contains("deny"));
    let spelled = "{\"file_path\":\"docs/adr/../rfcs/./0001-cache.draft.md\"}";
    assert!(hook(&project, "Edit", spelled).contains("deny"));
}

#[test]
fn a_plan_belongs_to_its_rfc() {
    let project = three_rfcs();
    project.write("docs/rfcs/0001-cache.plan.md", "# Plan: Cache\n\n## Tasks\n\n- [ ] One\n");
    project.git(&["init", "-q"]);
    project.build();
    project.git(&["checkout", "-q", "-b", "rfc/queue"]);
    let check = |path: &str| project.blue(&["branch-guard", "--path", path]).code;
    assert_eq!(check("docs/rfcs/0001-cache.plan.md"), 1);
    project.git(&["symbolic-ref", "HEAD", "refs/heads/rfc/cache"]);
    assert_eq!(check("docs/rfcs/0001-cache.plan.md"), 0);
    assert_eq!(check("docs/rfcs/0001-cache.draft.md"), 0);
    assert_eq!(check("docs/rfcs/0002-queue.accepted.md"), 1);
}

#[test]
fn the_commands_of_blue_obey_the_guard() {
    let project = on_branch("rfc/queue");
    for arguments in [
        &["status", "set", "RFC 1", "accepted"][..],
        &["rename", "RFC 1", "--title", "Other"],
        &["new", "plan", "Steps", "--from", "blue://docs/rfcs/1"],
    ] {
        let before = project.files();
        let output = project.blue(arguments);
        assert_eq!(output.code, 1, "{arguments:?}: {}", output.stderr);
        assert!(output.stderr.contains("branch rfc/queue is for RFC 0002"), "{}", output.stderr);
        assert_eq!(project.files(), before, "{arguments:?}");
    }
    let own = project.blue(&["status", "set", "RFC 2", "implemented"]);
    assert_eq!(own.code, 0, "{}", own.stderr);
    let through =
        run(project.command(&["status", "set", "RFC 1", "accepted"]).env("BLUE_GUARD", "off"));
    assert_eq!(through.code, 0, "{}", through.stderr);
}

#[test]
fn rules_decide_what_is_refused_and_what_is_only_reported() {
    let project = on_branch("rfc/unknown-thing");
    let check = |path: &str| project.blue(&["branch-guard", "--path", path]);
    let warned = check("docs/rfcs/0001-cache.draft.md");
    assert_eq!(warned.code, 0);
    assert!(warned.stderr.contains("warning"), "{}", warned.stderr);
    project.write(".blue/config.yaml", "branch_guard: {wrong_branch: any}\n");
    assert_eq!(check("docs/rfcs/0001-cache.draft.md").code, 1);
    project.write(".blue/config.yaml", "branch_guard: {wrong_branch: off}\n");
    assert_eq!(check("docs/rfcs/0001-cache.draft.md").stderr, "");
    project.git(&["symbolic-ref", "HEAD", "refs/heads/rfc/cache"]);
    project.write(
        ".blue/config.yaml",
        "branch_guard: {unaccepted_code: deny, stray_documents: deny}\n",
    );
    let code = check("src/main.rs");
    assert_eq!(code.code, 1);
    assert!(
        code.stderr.contains("blue status set blue://docs/rfcs/0001-cache accepted"),
        "{}",
        code.stderr
    );
    assert_eq!(check("0009-stray.md").code, 1);
    assert_eq!(check("docs/rfcs/0009-new.draft.md").code, 0);
    assert_eq!(check("notes.md").code, 0);
    project.write(".blue/config.yaml", "");
    assert!(check("0009-stray.md").stderr.contains("warning"));
    assert_eq!(check("src/main.rs").stderr, "");
}

#[test]
fn what_cannot_be_decided_is_allowed() {
    let project = on_branch("rfc/queue");
    let check = || project.blue(&["branch-guard", "--path", "docs/rfcs/0001-cache.draft.md"]).code;
    assert_eq!(check(), 1);
    let off = run(project
        .command(&["branch-guard", "--path", "docs/rfcs/0001-cache.draft.md"])
        .env("BLUE_GUARD", "off"));
    assert_eq!(off.code, 0);
    assert_eq!(project.audit_log().last().unwrap()["source"], "blue://guard/bypassed");
    project.git(&["checkout", "-q", "--detach"]);
    assert_eq!(check(), 0, "a detached HEAD");
    project.git(&["checkout", "-q", "rfc/queue"]);
    let index = project.read(".blue/context/bundles.jsonl");
    project.write(".blue/context/bundles.jsonl", "{");
    assert_eq!(check(), 0, "an unreadable index");
    project.write(".blue/context/bundles.jsonl", index);
    assert_eq!(check(), 1);
    std::fs::remove_dir_all(project.path().join(".blue/context")).unwrap();
    assert_eq!(check(), 0, "no build");
    assert_eq!(Project::new().blue(&["branch-guard", "--staged"]).code, 0, "no repository");
}

#[test]
fn a_commit_is_refused_and_a_merge_of_the_base_is_not() {
    let project = on_branch("rfc/queue");
    let output = project.blue(&["install", "--git"]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    let commit = |arguments: &[&str]| {
        let mut command = std::process::Command::new("git");
        command.args([
            "-c",
            "user.name=T",
            "-c",
            "user.email=t@e.org",
            "-c",
            "commit.gpgsign=false",
        ]);
        command.args(arguments).current_dir(project.path());
        let bin = std::path::Path::new(env!("CARGO_BIN_EXE_blue")).parent().unwrap();
        let path = std::env::var("PATH").unwrap();
        command.env("PATH", format!("{}:{path}", bin.display()));
        run(project.isolate(&mut command))
    };
    let text = project.read("docs/rfcs/0001-cache.draft.md") + "\nMore.\n";
    project.write("docs/rfcs/0001-cache.draft.md", &text);
    let refused = commit(&["commit", "-q", "-a", "-m", "two"]);
    assert_eq!(refused.code, 1, "{}", refused.stderr);
    assert_eq!(refused.stderr.lines().count(), 1, "{}", refused.stderr);
    assert!(refused.stderr.contains("docs/rfcs/0001-cache.draft.md"), "{}", refused.stderr);
    project.git(&["checkout", "-q", "."]);
    project.write("src/main.rs", "fn main() {}\n");
    project.git(&["add", "."]);
    assert_eq!(commit(&["commit", "-q", "-m", "code"]).code, 0);
    // The base changes the other RFC; merging it is not an edit of this branch.
    project.git(&["checkout", "-q", "main"]);
    project.write("docs/rfcs/0001-cache.draft.md", &text);
    assert_eq!(commit(&["commit", "-q", "-a", "-m", "base"]).code, 0);
    project.git(&["checkout", "-q", "rfc/queue"]);
    let merged = commit(&["merge", "-q", "--no-ff", "--no-commit", "main"]);
    assert_eq!(merged.code, 0, "{}", merged.stderr);
    assert_eq!(commit(&["commit", "-q", "-m", "merge"]).code, 0);
}

#[test]
fn installing_and_removing_the_guard_gives_the_bytes_of_ten_hooks_back() {
    let hooks: [&[u8]; 10] = [
        b"#!/bin/sh\n",
        b"#!/bin/sh",
        b"",
        b"#!/bin/sh\nexec make check\n",
        b"#!/usr/bin/env bash\nset -e\nnpx lint-staged",
        b"#!/bin/sh\r\necho a\r\n",
        b"echo no shebang\n",
        b"#!/bin/sh -e\n# caf\xe9 in latin-1\nexit 0\n",
        b"#!/bin/sh\n# blue: begin\nmine\n",
        b"#!/usr/bin/env python3\nprint('x')\n",
    ];
    for (i, bytes) in hooks.into_iter().enumerate() {
        let project = on_branch("rfc/queue");
        let folder = match i % 3 {
            0 => ".git/hooks",
            1 => ".githooks",
            _ => {
                let tree = project.home().join("tree");
                project.git(&["worktree", "add", "-q", "-b", "other", tree.to_str().unwrap()]);
                ".git/hooks"
            }
        };
        if i % 3 == 1 {
            project.git(&["config", "core.hooksPath", folder]);
        }
        let path = project.path().join(folder).join("pre-commit");
        project.write(&format!("{folder}/pre-commit"), bytes);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        let from =
            if i % 3 == 2 { project.home().join("tree") } else { project.path().to_path_buf() };
        let blue = |arguments: &[&str]| run(project.command(arguments).current_dir(&from));
        let installed = blue(&["install", "--git"]);
        let is_python = bytes.starts_with(b"#!/usr/bin/env python3");
        assert_eq!(installed.code, if is_python { 2 } else { 0 }, "{i}: {}", installed.stderr);
        let with_block = std::fs::read(&path).unwrap();
        assert_eq!(with_block == bytes, is_python, "{i}");
        assert_eq!(blue(&["install", "--git"]).code, installed.code);
        assert_eq!(std::fs::read(&path).unwrap(), with_block, "{i}: a second run changes nothing");
        let removed = blue(&["uninstall"]);
        assert_eq!(removed.code, 0, "{i}: {}", removed.stderr);
        assert_eq!(std::fs::read(&path).unwrap(), bytes, "{i}");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o755, "{i}");
    }
    let project = on_branch("rfc/queue");
    std::fs::remove_file(project.path().join(".git/hooks/pre-commit")).ok();
    assert_eq!(project.blue(&["install", "--git"]).code, 0);
    assert!(project.exists(".git/hooks/pre-commit"));
    assert_eq!(project.blue(&["uninstall"]).code, 0);
    assert!(!project.exists(".git/hooks/pre-commit"), "a hook that blue created is removed");
}
