//! Installation edits settings only where it must, and never through links.

use std::os::unix::fs::{PermissionsExt, symlink};

use super::{POSING, SETTINGS, blue, commands, run, with_command};
use crate::support;
use crate::support::Project;

#[test]
fn an_older_installation_is_updated_in_place() {
    let project = Project::new();
    blue(&project, &["install"]);
    let current = project.read(SETTINGS);
    let older = current
        .replace("\"timeout\": 60", "\"timeout\": 30")
        .replace("Edit|MultiEdit|Write|NotebookEdit", "Edit")
        .replace("blue hook pre-compact || :", "blue hook pre-compact --old");
    assert_ne!(older, current);
    project.write(SETTINGS, &older);
    assert!(blue(&project, &["install"]).stdout.contains("updated  .claude/settings.json"));
    assert_eq!(project.read(SETTINGS), current);
    blue(&project, &["uninstall"]);
    assert!(!project.exists(".claude"), "the first installation made it");
}

#[test]
fn invalid_json_stops_the_installation_before_any_write() {
    for (text, place) in [
        ("{\n  \"a\": 1\n  \"b\": 2\n}", ":3:3: expected `,` or `}` here"),
        ("{\"hooks\": {\"SessionStart\": {}}}", ":1:28: expected an array here"),
        ("[]", ":1:1: expected an object here"),
        ("{\"a\": \"b}", ":1:7: this string does not end"),
    ] {
        let project = Project::new();
        project.write("README.md", "").write(SETTINGS, "{}").write(".codex/hooks.json", text);
        let before = project.files();
        let home = tempfile::tempdir().unwrap();
        for command in [vec!["install"], vec!["install", "--dry-run"]] {
            let output = run(&project, home.path(), &command);
            assert_eq!(output.code, 2, "{}", output.stdout);
            assert!(
                output.stderr.contains(&format!(".codex/hooks.json{place}")),
                "{}",
                output.stderr
            );
            assert!(output.stderr.contains("hint: "), "{}", output.stderr);
            assert_eq!(project.files(), before);
            assert!(!project.exists(".blue") && !project.exists(".mcp.json"));
        }
    }
    let project = Project::new();
    project.write(SETTINGS, b"{\"a\": \"\xff\"}");
    let home = tempfile::tempdir().unwrap();
    assert_eq!(run(&project, home.path(), &["install"]).code, 2);
    project.write(SETTINGS, "{");
    assert_eq!(run(&project, home.path(), &["uninstall"]).code, 2);
    assert_eq!(project.read(SETTINGS), "{");
}

#[test]
fn a_failed_write_rolls_the_other_files_back() {
    for refused in [".codex/hooks.json", ".blue/hooks/session-workflow"] {
        let project = Project::new();
        project.write(SETTINGS, "{ }").write(".blue/config.yaml", "");
        // A folder with this name keeps blue from creating the temporary file.
        project.write(&format!("{refused}.blue-tmp/x"), "");
        let before = project.files();
        let home = tempfile::tempdir().unwrap();
        let output = run(&project, home.path(), &["install"]);
        assert_eq!(output.code, 2, "{refused}: {}", output.stdout);
        assert_eq!(project.files(), before, "{refused}");
        std::fs::remove_dir_all(project.path().join(format!("{refused}.blue-tmp"))).unwrap();
        blue(&project, &["install"]);
        blue(&project, &["uninstall"]);
        assert_eq!(project.read(SETTINGS), "{ }", "{refused}");
    }
}

#[test]
fn a_dry_run_shows_the_lines_and_writes_nothing() {
    let project = Project::new();
    project.write(SETTINGS, "{\n  \"model\": \"opus\"\n}\n");
    let before = project.stamps();
    let output = blue(&project, &["install", "--dry-run"]);
    assert_eq!(project.stamps(), before);
    assert!(!project.exists(".blue") && !project.exists(".codex"));
    assert!(
        output
            .stdout
            .contains("-  \"model\": \"opus\"\n+  \"model\": \"opus\",\n+  \"hooks\": {\n"),
        "{}",
        output.stdout
    );
    assert!(output.stdout.contains("--- /dev/null\n+++ b/.mcp.json\n"), "{}", output.stdout);
    blue(&project, &["install"]);
    let before = project.stamps();
    let output = blue(&project, &["uninstall", "--dry-run"]);
    assert!(output.stdout.contains("-  \"hooks\": {\n"), "{}", output.stdout);
    assert_eq!(project.stamps(), before);
    let output = blue(&project, &["install", "--dry-run"]);
    assert!(!output.stdout.contains('+'), "{}", output.stdout);
}

#[test]
fn flags_skip_files_and_permissions_stay() {
    let project = Project::new();
    project.write(SETTINGS, "{}\n");
    let file = project.path().join(SETTINGS);
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    blue(&project, &["install", "--no-mcp", "--no-codex"]);
    assert!(!project.exists(".mcp.json") && !project.exists(".codex"));
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    blue(&project, &["uninstall"]);
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_foreign_server_keeps_its_name() {
    let project = Project::new();
    let text = "{\"mcpServers\":{\"blue\":{\"command\":\"blueprint\"},\"x\":{}}}";
    project.write(".mcp.json", text);
    let output = blue(&project, &["install"]);
    assert!(
        output.stdout.contains("kept     .mcp.json (another server is called blue)"),
        "{}",
        output.stdout
    );
    blue(&project, &["uninstall"]);
    assert_eq!(project.read(".mcp.json"), text);
    let text = "{\"mcpServers\":{\"x\":{\"url\":\"https://example.org\"}}}";
    project.write(".mcp.json", text);
    blue(&project, &["install"]);
    assert_eq!(
        project.read(".mcp.json"),
        "{\"mcpServers\":{\"x\":{\"url\":\"https://example.org\"},\"blue\":{\"command\":\"blue\",\"args\":[\"mcp\"]}}}"
    );
    blue(&project, &["uninstall"]);
    assert_eq!(project.read(".mcp.json"), text);
}

#[test]
fn nothing_is_written_through_a_link_in_the_project() {
    for link in [".claude", SETTINGS, ".mcp.json", ".codex", ".blue/hooks"] {
        let (project, outside) = (Project::new(), Project::new());
        outside.write("settings.json", "{}\n").write("hooks.json", "{}\n");
        let at = project.path().join(link);
        std::fs::create_dir_all(at.parent().unwrap()).unwrap();
        let to = if link.ends_with("json") {
            outside.path().join("settings.json")
        } else {
            outside.path().to_path_buf()
        };
        symlink(to, at).unwrap();
        let before = outside.stamps();
        let output = run(&project, &project.home(), &["install"]);
        assert_eq!(output.code, 2, "{link}: {}", output.stdout);
        assert!(output.stderr.contains("symbolic link"), "{link}: {}", output.stderr);
        assert_eq!(outside.stamps(), before, "{link}");
        assert!(!project.exists(".blue/local"), "{link}");
    }
}

#[test]
fn a_forged_install_record_does_no_harm() {
    let outside = Project::new();
    std::fs::create_dir_all(outside.path().join("project/empty")).unwrap();
    std::fs::create_dir_all(outside.path().join("project/.git")).unwrap();
    std::fs::create_dir_all(outside.path().join("victim")).unwrap();
    outside.write("project/README.md", "# Project\n").write("file", "");
    let settings = format!("project/{SETTINGS}");
    let original = "{\n  \"hooks\": {\n    \"SessionEnd\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"blue hook session-end\"}]}]\n  }\n}\n";
    outside.write(&settings, original);
    outside.write(
        "project/.blue/local/installed.json",
        r#"{
            "files": {".claude/settings.json": {
                "created": false, "left": "", "original": null,
                "traces": {"created": ["", "/", "hooks/x/y"], "empty": {"hooks/SessionEnd": "}", "": "{"}}
            }},
            "scripts": {"../file": "", "README.md": ""},
            "folders": ["../victim", "empty", "victim", ".git", "/tmp"]
        }"#,
    );
    let home = tempfile::tempdir().unwrap();
    let output = run(&outside, home.path(), &["-C", "project", "uninstall"]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    for path in ["victim", "file", "project/empty", "project/README.md", "project/.git"] {
        assert!(outside.exists(path), "{path}");
    }
    // The record lists no files, so only entries of blue are removed.
    assert!(!outside.exists(&settings));
    outside.write("project/.blue/local/installed.json", "not JSON");
    assert_eq!(run(&outside, home.path(), &["-C", "project", "install"]).code, 0);
    assert_eq!(run(&outside, home.path(), &["-C", "project", "uninstall"]).code, 0);
    // The record lists no files, so only entries of blue are removed.
    assert!(!outside.exists(&settings));
}

#[test]
fn user_settings_behind_a_link_are_edited_at_the_target() {
    let (project, home) = (Project::new(), Project::new());
    let original = "{\n\t\"model\": \"opus\"\n}\n";
    home.write("dotfiles/claude.json", original);
    std::fs::create_dir_all(home.path().join(".claude")).unwrap();
    symlink("../dotfiles/claude.json", home.path().join(SETTINGS)).unwrap();
    home.write(".blue/local/key", [7; 32]);
    let private = std::fs::Permissions::from_mode(0o600);
    std::fs::set_permissions(home.path().join(".blue/local/key"), private).unwrap();
    let before = home.files();
    let output = run(&project, home.path(), &["install", "--user"]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    assert!(output.stdout.contains("added    ~/.claude/settings.json\n"), "{}", output.stdout);
    assert!(home.path().join(SETTINGS).symlink_metadata().unwrap().is_symlink());
    assert_eq!(commands(&home.read("dotfiles/claude.json")).len(), 10);
    assert!(project.files().is_empty() && !project.exists(".blue"));
    assert!(run(&project, home.path(), &["install", "--user"]).stdout.contains("current  ~/"));
    assert_eq!(run(&project, home.path(), &["uninstall", "--user"]).code, 0);
    assert_eq!(home.files(), before);
    assert!(!home.exists(".local"));
}

#[test]
fn user_settings_are_created_and_removed() {
    let (project, home) = (Project::new(), Project::new());
    assert_eq!(run(&project, home.path(), &["install", "--user"]).code, 0);
    assert!(home.exists(SETTINGS) && home.exists(".blue/local/key"));
    assert_eq!(run(&project, home.path(), &["uninstall", "--user"]).code, 0);
    assert!(!home.exists(".claude") && !home.exists(".local"));
    let mut command = project.command(&["install", "--user"]);
    assert_eq!(support::run(command.env_remove("HOME")).code, 2);
}

#[test]
fn install_replaces_a_command_that_imitates_blue() {
    for command in POSING {
        let project = Project::new();
        project.write(SETTINGS, with_command(command));
        let before = project.files();
        let output = run(&project, project.path(), &["install"]);
        match output.code {
            0 => {
                let all = commands(&project.read(SETTINGS));
                assert!(all.iter().all(|(_, other)| other != command), "{command}: {all:?}");
                assert!(!project.read(SETTINGS).contains("evil"), "{command}");
            }
            code => {
                assert_eq!(code, 2, "{command}: {}", output.stderr);
                assert!(output.stderr.contains(SETTINGS), "{command}: {}", output.stderr);
                assert_eq!(project.files(), before, "{command}: something was changed");
            }
        }
    }
}
