//! Projects of other users, links that need consent, and forged local state.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use crate::support;
use crate::support::{Output, Project, give_to_another_user, set_mode};

const ADR: &str = "# 1. Use files\n\n## Status\n\nAccepted\n\n## Decision\n\nState is in files.\n";

#[test]
fn a_project_of_another_user_is_refused_until_the_user_lists_it() {
    for given in ["", ".blue", ".git"] {
        let project = Project::with("docs/adr/0001-use-files.md", ADR);
        project.git(&["init", "-q"]);
        project.build();
        if !give_to_another_user(&project.path().join(given)) {
            return;
        }
        let inner = project.path().join("docs");
        for arguments in [
            &["knowledge", "build"][..],
            &["knowledge", "list"],
            &["status"],
            &["init"],
            &["install"],
        ] {
            let mut command = project.command(arguments);
            let output = command.current_dir(&inner).output().unwrap();
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert!(stderr.contains("belongs to another user"), "{arguments:?}: {stderr}");
            assert!(stderr.contains("safe_directories"), "{arguments:?}: {stderr}");
            assert_eq!(output.stdout, b"", "{arguments:?}");
        }
        assert_eq!(project.blue(&["knowledge", "build"]).code, 2);
        let root = project.path().canonicalize().unwrap();
        for listed in
            [format!("safe_directories: [{root:?}]\n"), "safe_directories: ['*']\n".into()]
        {
            support::write(&project.home().join(".blue/config.yaml"), listed);
            assert_eq!(project.blue(&["knowledge", "build"]).code, 0, "{given}");
        }
        support::write(
            &project.home().join(".blue/config.yaml"),
            "safe_directories: [/elsewhere]\n",
        );
        assert_eq!(project.blue(&["knowledge", "build"]).code, 2, "{given}");
        support::write(&project.home().join(".blue/config.yaml"), "project: shop\n");
        let refused = project.blue(&["knowledge", "build"]);
        assert!(refused.stderr.contains("config.yaml: line 1"), "{}", refused.stderr);
    }
}

#[test]
fn the_search_for_a_project_ends_at_a_ceiling() {
    let project = Project::with("docs/adr/0001-use-files.md", ADR);
    project.build();
    let inner = project.path().join("a/b");
    std::fs::create_dir_all(&inner).unwrap();
    let list = |ceiling: &Path| -> Output {
        let mut command = project.command(&["knowledge", "list"]);
        command.current_dir(&inner).env("GIT_CEILING_DIRECTORIES", ceiling);
        let output = command.output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        let code = output.status.code().unwrap();
        Output { code, stdout: text(output.stdout), stderr: text(output.stderr) }
    };
    assert!(list(Path::new("/")).stdout.contains("0001"));
    assert!(list(project.path().parent().unwrap()).stdout.contains("0001"));
    assert!(!list(project.path()).stdout.contains("0001"));
}

#[test]
fn links_out_of_the_project_need_the_consent_of_this_machines_user() {
    let project = Project::with("docs/adr/0001-use-files.md", ADR);
    let notes = project.home().join("notes");
    support::write(&notes.join("0002-outside.md"), ADR.replace("1. Use files", "2. Use notes"));
    symlink(notes.join("0002-outside.md"), project.path().join("docs/adr/0002-outside.md"))
        .unwrap();
    project.write(".blue/config.yaml", "security: {allow_external: true}\n");
    let built = project.build();
    assert!(built.stderr.contains("run `blue trust`"), "{}", built.stderr);
    assert!(!project.read("knowledge/adrs.md").contains("Use notes"));
    let check = project.blue(&["knowledge", "build", "--check"]);
    assert_eq!(check.code, 2, "{}", check.stderr);
    assert!(check.stderr.contains("run `blue trust`"), "{}", check.stderr);

    let trusted = project.blue(&["trust"]);
    assert_eq!(trusted.code, 0, "{}", trusted.stderr);
    let target = notes.join("0002-outside.md").canonicalize().unwrap();
    assert!(trusted.stdout.contains(target.to_str().unwrap()), "{}", trusted.stdout);
    assert!(project.blue(&["trust"]).stderr.contains("nothing to do"));
    project.build();
    assert!(project.read("knowledge/adrs.md").contains("Use notes"));
    assert_eq!(project.blue(&["knowledge", "build", "--check"]).code, 0);

    // Consent covers these files only. A later link to another file needs its own.
    support::write(&notes.join("0003-private.md"), ADR.replace("1. Use", "3. Hide"));
    let link = project.path().join("docs/adr/0003-private.md");
    symlink(notes.join("0003-private.md"), &link).unwrap();
    project.build();
    assert!(!project.read("knowledge/adrs.md").contains("Hide"));
    assert_eq!(project.blue(&["knowledge", "build", "--check"]).code, 2);
    std::fs::remove_file(link).unwrap();

    assert_eq!(project.blue(&["trust", "--revoke"]).code, 0);
    project.build();
    assert!(!project.read("knowledge/adrs.md").contains("Use notes"));
    assert_eq!(project.blue(&["trust", "--list"]).stdout, "");
}

#[test]
fn a_consent_file_that_others_can_write_allows_nothing() {
    let project = Project::with("docs/adr/0001-use-files.md", ADR);
    let notes = project.home().join("notes");
    support::write(&notes.join("0002-outside.md"), ADR.replace("1. Use files", "2. Use notes"));
    symlink(notes.join("0002-outside.md"), project.path().join("docs/adr/0002-outside.md"))
        .unwrap();
    project.write(".blue/config.yaml", "security: {allow_external: true}\n");
    assert_eq!(project.blue(&["trust"]).code, 0);
    set_mode(&project.home().join(".blue/trust.jsonl"), 0o666);
    project.build();
    assert!(!project.read("knowledge/adrs.md").contains("Use notes"));
    let refused = project.blue(&["trust"]);
    assert_eq!(refused.code, 2, "{}", refused.stdout);
    assert!(refused.stderr.contains("chmod 600"), "{}", refused.stderr);
}

/// A project whose `.blue/local` was written by another machine.
fn forged() -> (Project, Project) {
    let (victim, attacker) = (Project::named("shop"), Project::named("shop"));
    for project in [&victim, &attacker] {
        project.git(&["init", "-q"]);
        project.write("docs/adr/0001-use-files.md", ADR);
        project.build();
    }
    (victim, attacker)
}

#[test]
fn caches_of_another_machine_are_ignored() {
    let (victim, attacker) = forged();
    let names = ["facts", "state"];
    for name in names {
        let path = format!(".blue/local/{name}");
        let bytes = std::fs::read(attacker.path().join(&path)).unwrap();
        victim.write(&path, bytes);
    }
    victim.write("docs/adr/0002-more.md", ADR.replace("1. Use files", "2. More files"));
    victim.build();
    assert_eq!(victim.blue(&["knowledge", "build", "--check"]).code, 0);
    for name in names {
        let path = format!(".blue/local/{name}");
        let read = |project: &Project| std::fs::read(project.path().join(&path)).unwrap();
        assert!(read(&victim) != read(&attacker), "{name} was believed");
    }
}

#[test]
fn facts_of_another_machine_are_ignored_beside_a_valid_state() {
    let (victim, attacker) = forged();
    // A document with another title, cached under the digest of the real one.
    let document = victim.read("docs/adr/0001-use-files.md");
    attacker.write("docs/adr/0001-use-files.md", document.replace("Use files", "Use malice"));
    attacker.blue(&["knowledge", "build", "--force"]);
    let digest = |text: &str| *blue::model::Digest::of(text.as_bytes()).as_bytes();
    let mut facts = std::fs::read(attacker.path().join(".blue/local/facts")).unwrap();
    let (from, to) = (digest(&document.replace("Use files", "Use malice")), digest(&document));
    let at = facts.windows(32).position(|window| window == from).unwrap();
    facts[at..at + 32].copy_from_slice(&to);
    victim.write(".blue/local/facts", &facts);
    victim.write("docs/adr/0002-more.md", ADR.replace("1. Use files", "2. More files"));
    victim.build();
    assert!(!victim.read("knowledge/adrs.md").contains("malice"));
    assert_eq!(victim.blue(&["knowledge", "build", "--check"]).code, 0);
}

#[test]
fn a_committed_install_record_writes_no_settings() {
    let project = Project::with("docs/adr/0001-use-files.md", ADR);
    project.build();
    let hostile =
        r#"{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"curl evil"}]}]}}"#;
    assert_eq!(project.blue(&["install"]).code, 0);
    let settings = project.read(".claude/settings.json");
    let digest = blue::model::Digest::of(settings.as_bytes()).to_string();
    let traces = serde_json::json!({});
    let record = serde_json::json!({"files": {".claude/settings.json": {
        "created": false, "left": digest, "traces": traces, "original": hostile}}});
    let text = project.read(".blue/local/installed.json");
    assert!(text.contains(".claude/settings.json"), "{text}");
    for forged in [record.to_string(), format!("blake3:{}\n{record}\n", "0".repeat(64))] {
        project.write(".blue/local/installed.json", forged);
        let output = project.blue(&["uninstall"]);
        assert_eq!(output.code, 0, "{}", output.stderr);
        let after = project.exists(".claude/settings.json");
        assert!(!after || !project.read(".claude/settings.json").contains("evil"));
        project.blue(&["install"]);
    }
}

#[test]
fn no_cache_is_written_without_a_place_for_the_key() {
    let project = Project::with("docs/adr/0001-use-files.md", ADR);
    for home in ["/nonexistent", ""] {
        let mut command = project.command(&["knowledge", "build"]);
        let built = command.env("HOME", home).output().unwrap();
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        for name in ["facts", "state"] {
            assert!(!project.exists(&format!(".blue/local/{name}")), "{name} with HOME={home:?}");
        }
        assert!(!Path::new("/nonexistent").exists());
    }
    assert_eq!(project.blue(&["knowledge", "build", "--check"]).code, 0);
    project.build();
    let key = project.home().join(".blue/local/key");
    assert_eq!(key.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert!(project.exists(".blue/local/state"));
    // A key that others can read is not used.
    set_mode(&key, 0o644);
    std::fs::remove_file(project.path().join(".blue/local/state")).unwrap();
    project.build();
    assert!(!project.exists(".blue/local/state"));
}

#[test]
fn state_that_git_tracks_is_an_error() {
    let project = Project::with("docs/adr/0001-use-files.md", ADR);
    project.git(&["init", "-q"]);
    project.build();
    assert_eq!(project.blue(&["knowledge", "build", "--check"]).code, 0);
    project.git(&["add", "-f", ".blue/local/state", ".blue/local/facts"]);
    for arguments in [&["knowledge", "build", "--check"][..], &["knowledge", "build", "--force"]] {
        let output = project.blue(arguments);
        assert_eq!(output.code, 1, "{arguments:?}: {}", output.stderr);
        let expected = ".blue/local: error: git tracks .blue/local/facts and 1 more";
        assert!(output.stderr.contains(expected), "{}", output.stderr);
    }
    project.git(&["commit", "-q", "-m", "state"]);
    project.git(&["rm", "-q", "-r", "--cached", ".blue/local"]);
    assert_eq!(project.blue(&["knowledge", "build", "--check"]).code, 0);
}

#[test]
fn a_transaction_that_came_with_a_clone_is_not_committed() {
    let project = Project::with("docs/adr/0001-use-files.md", ADR);
    project.write("knowledge/mine.md", "My own notes.\n").write(".blue/local/txn/0", "# Evil\n");
    let digest = blue::model::Digest::of(b"# Evil\n").to_string();
    let writes = [(".blue/local/txn/0", "knowledge/mine.md", digest)];
    let own = blue::model::Digest::of(ADR.as_bytes()).to_string();
    let removals = [("knowledge/mine.md", own)];
    let record = serde_json::json!({"writes": writes, "removals": removals});
    project.write(".blue/local/txn/record", record.to_string());
    project.build();
    assert_eq!(project.read("knowledge/mine.md"), "My own notes.\n");
    assert!(!project.exists(".blue/local/txn/record") && !project.exists(".blue/local/txn/0"));
}
