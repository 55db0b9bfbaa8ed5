//! Denied names, the folder of git, odd names and unreadable files.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use super::{SECRET, WIDE, assert_no_leak, run};
use crate::support::Project;

#[test]
fn names_on_the_deny_list_are_not_read_in_any_case() {
    for path in [
        "docs/adr/.ENV/0002-x.md",
        "docs/adr/Secrets/0002-x.md",
        "docs/adr/ID_RSA/0002-x.md",
        "docs/adr/id_ed25519.md",
        "docs/adr/CREDENTIALS.md",
        "docs/adr/.Env.Local/x.md",
        ".SSH/0002-x.md",
        ".aws/0002-x.md",
        "keys.PEM/0002-x.md",
        "server.Key/x.md",
    ] {
        let project = Project::with("docs/adr/0001-one.md", "# One\n\nText.\n");
        project.write(path, format!("# X\n\n{SECRET}\n"));
        project.write(".blue/config.yaml", WIDE);
        let output = run(&project, &["knowledge", "build"]);
        assert_eq!(output.code, 0, "{}", output.stderr);
        assert!(output.stderr.contains("deny-list"), "{path}: {}", output.stderr);
        assert_no_leak(&project, path);
    }
    let project = Project::with("docs/adr/0001-one.md", "# One\n\nText.\n");
    project
        .write("docs/adr/0002-x/README.md", "# X\n")
        .write("docs/adr/0002-x/metadata.yaml", format!("title: {SECRET}\n"));
    project.write(".blue/config.yaml", format!("{WIDE}security: {{deny: ['META*']}}\n"));
    run(&project, &["knowledge", "build"]);
    assert_no_leak(&project, "a sidecar");
}

/// A decision about secrets, with some text.
fn about_secrets(text: &str) -> Project {
    let project = Project::with("docs/adr/0001-one.md", "# One\n\nText.\n");
    let text = format!("# Rotate credentials\n\n- Status: accepted\n\n{text}\n");
    project.write("docs/adr/0002-rotate-CREDENTIALS.md", text);
    project
}

const SHOW: [&str; 3] = ["knowledge", "show", "blue://docs/adrs/2"];

#[test]
fn a_decision_about_secrets_is_read() {
    let project = about_secrets("The vault rotates them.");
    let output = project.build();
    assert!(!output.stderr.contains("deny-list"), "{}", output.stderr);
    assert!(project.read("knowledge/adrs.md").contains("Rotate credentials"));
    assert!(project.blue(&SHOW).stdout.contains("The vault rotates them."));
    // The MCP server and `show` share their reader.
    project.write(".blue/config.yaml", "security: {deny_documents: strict}\n");
    let refused = project.blue(&SHOW);
    assert!(refused.stderr.contains("deny-list"), "{}", refused.stderr);
    let output = project.build();
    assert!(output.stderr.contains("BLUE-SRC-002"), "{}", output.stderr);
    assert!(!project.read("knowledge/adrs.md").contains("Rotate credentials"));
    assert_eq!(project.blue(&["schema", "validate", ".blue/config.yaml"]).code, 0);
    project.write(".blue/config.yaml", "security: {deny_documents: never}\n");
    let output = project.blue(&["knowledge", "build"]);
    assert_eq!(output.code, 2);
    assert!(output.stderr.contains(".blue/config.yaml:1:"), "{}", output.stderr);
}

#[test]
fn a_decision_with_a_secret_in_it_is_left_out() {
    let secret = format!("postgres://app:{SECRET}@db.internal/app");
    let project = about_secrets(&secret);
    let output = project.build();
    for expected in ["BLUE-SRC-002", "its text has 1 secret", "BLUE-SEC-001", "fingerprint"] {
        assert!(output.stderr.contains(expected), "{expected}: {}", output.stderr);
    }
    assert_no_leak(&project, "a decision with a secret");
    assert!(!project.read("knowledge/adrs.md").contains("Rotate"));
    assert!(project.blue(&SHOW).stdout.is_empty());
    // A build that changes nothing reports it again to `lint`, and finds a change.
    assert!(project.blue(&["knowledge", "lint"]).stdout.contains("BLUE-SRC-002"));
    let clean = "# Rotate credentials\n\nNo secret.\n";
    project.write("docs/adr/0002-rotate-CREDENTIALS.md", clean);
    project.build();
    assert!(project.read("knowledge/adrs.md").contains("Rotate credentials"));
    // A secret that was added after the build is not shown, not even redacted.
    project.write("docs/adr/0002-rotate-CREDENTIALS.md", format!("{clean}\nAlso {secret} here\n"));
    let shown = project.blue(&SHOW);
    assert!(shown.stdout.is_empty() && shown.stderr.contains("deny-list"), "{}", shown.stderr);
    let metadata = format!("title: x\nurl: {secret}\n");
    project
        .write("docs/adr/0003-new-secret/README.md", "# New\n")
        .write("docs/adr/0003-new-secret/metadata.yaml", metadata);
    project.build();
    assert!(!project.read(".blue/context/documents.jsonl").contains("new-secret"));
    assert_no_leak(&project, "a sidecar with a secret");
}

#[test]
fn a_decision_about_secrets_needs_a_title() {
    let project = Project::with("docs/adr/0001-one.md", "# One\n\nText.\n");
    project.write("docs/adr/0002-my-secret.md", format!("{SECRET}\n"));
    let output = project.build();
    assert!(output.stderr.contains("it has no title"), "{}", output.stderr);
    assert_no_leak(&project, "a document without a title");
}

#[test]
fn a_link_to_a_file_on_the_deny_list_is_not_followed() {
    for target in ["private/0007-secrets.md", "secrets.md"] {
        let project = Project::with("docs/adr/0001-one.md", "# One\n\nText.\n");
        project.write(target, format!("# X\n\n{SECRET}\n"));
        for name in ["0002-secret-link.md", "0003-link.md"] {
            let to = Path::new("../..").join(target);
            symlink(to, project.path().join("docs/adr").join(name)).unwrap();
        }
        let output = project.build();
        assert!(output.stderr.contains("deny-list"), "{}", output.stderr);
        assert_no_leak(&project, target);
    }
}

#[test]
fn an_index_cannot_name_a_file_on_the_deny_list() {
    let project = about_secrets("The vault rotates them.");
    project.build();
    let index = project.read(".blue/context/documents.jsonl");
    for path in ["secrets.md", "docs/adr/0002-secret.txt", "credentials/0001-x.md"] {
        project.write(path, format!("# X\n\n{SECRET}\n"));
        let forged = index.replace("docs/adr/0002-rotate-CREDENTIALS.md", path);
        project.write(".blue/context/documents.jsonl", forged);
        let shown = project.blue(&SHOW);
        assert!(!shown.stdout.contains(SECRET), "{path}: {}", shown.stdout);
    }
}

#[test]
fn the_bundle_of_an_rfc_about_secrets_is_readable() {
    let project = Project::new();
    project.write("docs/rfcs/0007-store-secrets.md", "# Store secrets\n\n- Status: draft\n\nX.\n");
    project.build();
    let shown = project.blue(&["knowledge", "show", "blue://context/workflow/0007-store-secrets"]);
    let listed = project.files();
    let bundle = listed.keys().find(|path| path.contains("context/workflow"));
    assert!(bundle.is_some_and(|path| path.contains("secret")), "{listed:?}");
    assert!(shown.stdout.contains("Store secrets"), "{}", shown.stderr);
}

#[test]
fn the_git_folder_is_never_read() {
    for path in [".git/x.md", ".GIT/x.md", "sub/.Git/docs/adr/0001-x.md", "GIT~1/x.md"] {
        let project = Project::with("docs/adr/0001-one.md", "# One\n\nText.\n");
        project.write(path, format!("# X\n\n{SECRET}\n"));
        project.write(".blue/config.yaml", WIDE);
        symlink(Path::new("../..").join(path), project.path().join("docs/adr/0002-link.md"))
            .unwrap();
        let folder = Path::new("../..").join(path).parent().unwrap().to_path_buf();
        symlink(folder, project.path().join("docs/adr/linked")).unwrap();
        let output = run(&project, &["knowledge", "build"]);
        assert_eq!(output.code, 0, "{}", output.stderr);
        assert_no_leak(&project, path);
    }
    // In a worktree `.git` is a file with the path of the folder.
    let project = Project::with("docs/adr/0001-one.md", "# One\n\nText.\n");
    project.write("elsewhere/HEAD", "ref: refs/heads/main\n").write(".git", "gitdir: elsewhere\n");
    symlink("../../.git", project.path().join("docs/adr/0002-link.md")).unwrap();
    assert_eq!(run(&project, &["knowledge", "build"]).code, 0);
    assert!(!project.read(".blue/context/documents.jsonl").contains("gitdir"));
}

#[test]
fn odd_file_names_are_accepted() {
    let project = Project::with("docs/adr/0001-one.md", "# One\n\nText.\n");
    for name in [
        "-rf.md",
        "--help.md",
        "0002-a\nb.md",
        "0003-\u{1b}[31mred.md",
        "0004-\u{202e}gpj.md",
        "0005 space .md",
        "0006-$(id).md",
        "0007-`id`.md",
        "0008-'\"\\.md",
        "0009-%2e%2e%2f.md",
        "0010-a:b*c?d|e.md",
        "0011-|x|.md",
        "...md",
        "~.md",
    ] {
        project.write(&format!("docs/adr/{name}"), format!("# T {}\n\nText.\n", name.len()));
    }
    let output = run(&project, &["knowledge", "build"]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    for bytes in [
        output.stderr,
        output.stdout,
        run(&project, &["knowledge", "list"]).stdout,
        run(&project, &["knowledge", "lint"]).stderr,
    ] {
        assert!(!bytes.contains('\u{1b}') && !bytes.contains('\u{202e}'), "{bytes:?}");
    }
    let index = project.read(".blue/context/documents.jsonl");
    assert!(
        index.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()),
        "{index}"
    );
    assert_eq!(run(&project, &["knowledge", "build", "--check"]).code, 0);
}

#[test]
fn an_unreadable_file_stops_the_build_and_is_named() {
    let project = Project::with("docs/adr/0001-one.md", "# One\n\nText.\n");
    project.build();
    let before = project.files();
    project.write("docs/adr/0002-two.md", "# Two\n");
    let closed = project.path().join("docs/adr");
    std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(0o000)).unwrap();
    let open = std::fs::read_dir(&closed).is_ok();
    let output = run(&project, &["knowledge", "build"]);
    std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(0o755)).unwrap();
    if open {
        println!("skipped: everything can be read here");
        return;
    }
    assert_eq!(output.code, 2, "{}", output.stderr);
    assert!(output.stderr.contains("docs/adr"), "{}", output.stderr);
    std::fs::remove_file(project.path().join("docs/adr/0002-two.md")).unwrap();
    assert_eq!(project.files(), before);
}
