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
        "docs/adr/0002-my-CREDENTIALS.md",
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
