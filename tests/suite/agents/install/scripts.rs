//! The installed scripts and the commands that call them.

use std::path::Path;
use std::process::{Command, Stdio};

use super::{SETTINGS, adopted, blue, commands, doctor, run};
use crate::support;
use crate::support::Project;

#[test]
fn scripts_are_updated_unless_they_were_edited() {
    let project = Project::new();
    let (start, workflow) = (".blue/hooks/session-start", ".blue/hooks/session-workflow");
    project.write(start, "#!/bin/sh\n# blue hook of an earlier version\ncat x\n");
    project.write(workflow, "#!/bin/sh\necho mine\n");
    let output = blue(&project, &["install"]);
    assert!(output.stdout.contains(&format!("updated  {start}\n")), "{}", output.stdout);
    assert!(
        output.stdout.contains(&format!("kept     {workflow} (edited by hand)\n")),
        "{}",
        output.stdout
    );
    assert_eq!(project.read(workflow), "#!/bin/sh\necho mine\n");
    assert_eq!(project.read(start), include_str!("../../../../hooks/session-start"));
    assert!(output.stderr.contains(".blue/local/rescued/"), "{}", output.stderr);
    blue(&project, &["uninstall"]);
    assert!(project.exists(start), "it was there before");
}

/// Runs every command of a settings file as an agent would, with blue not installed.
fn run_commands(text: &str, at: &Path, home: &Path) -> String {
    let mut printed = String::new();
    for (event, command) in commands(text) {
        let mut sh = Command::new("sh");
        sh.args(["-c", &command]).current_dir(at).env("CLAUDE_PROJECT_DIR", at);
        support::ceiling(&mut sh)
            .env("HOME", home)
            .env("PATH", "/usr/bin:/bin")
            .env_remove("BLUE_HOME")
            .stdin(Stdio::null());
        let output = support::run(&mut sh);
        assert_eq!(output.code, 0, "{event}: {command}: {}", output.stderr);
        printed.push_str(&output.stdout);
    }
    printed
}

#[test]
fn registered_commands_are_silent_where_blue_is_not_used() {
    let (project, home, other) = (Project::new(), Project::new(), Project::new());
    blue(&project, &["install"]);
    assert_eq!(run(&project, home.path(), &["install", "--user"]).code, 0);
    assert_eq!(run_commands(&project.read(SETTINGS), project.path(), home.path()), "");
    for text in [home.read(SETTINGS), project.read(".codex/hooks.json")] {
        assert_eq!(run_commands(&text, other.path(), home.path()), "");
        assert_eq!(run_commands(&text, Path::new("/"), home.path()), "");
    }
    let bundle = "<blue-session inputs=\"0123456789ab\">\nhere\n</blue-session>\n";
    project.write(".blue/context/session.md", bundle).write("deep/er/x", "");
    let codex = project.read(".codex/hooks.json");
    for folder in ["", "deep/er"] {
        let printed = run_commands(&codex, &project.path().join(folder), home.path());
        assert!(printed.contains(bundle), "{folder}: {printed}");
    }
}

/// A clone whose files get CR LF line ends.
fn crlf_clone(project: &Project) -> Project {
    let clone = Project::named("clone");
    let from = project.path().to_str().unwrap();
    clone.git(&["clone", "-q", "-c", "core.autocrlf=true", from, "."]);
    clone
}

fn committed(project: &Project) {
    project.git(&["init", "-q"]);
    project.git(&["add", "-A"]);
    project.git(&["commit", "-qm", "one"]);
}

#[test]
fn a_clone_with_autocrlf_has_unconverted_scripts_and_artifacts() {
    let project = adopted();
    committed(&project);
    let clone = crlf_clone(&project);
    assert!(clone.read("docs/adr/0001-use-rust.md").contains("\r\n"));
    for path in [
        ".blue/hooks/session-start",
        ".blue/hooks/session-workflow",
        ".blue/context/session.md",
        ".blue/context/session.json",
        ".blue/context/bundles.jsonl",
        ".blue/context.manifest.yaml",
        "knowledge/adrs.md",
    ] {
        assert_eq!(clone.read(path), project.read(path), "{path}");
    }
    let hook = clone.path().join(".blue/hooks/session-start");
    let mut hook = Command::new(hook);
    hook.current_dir(clone.path()).stdin(Stdio::null());
    let output = project.isolate(&mut hook).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), project.read(".blue/context/session.md"));
}

#[test]
fn registered_commands_deliver_from_scripts_with_crlf() {
    let project = adopted();
    blue(&project, &["install"]);
    for path in [".blue/hooks/session-start", ".blue/hooks/session-workflow"] {
        let text = project.read(path).replace('\n', "\r\n");
        project.write(path, text);
    }
    let bundle = project.read(".blue/context/session.md");
    for settings in [SETTINGS, ".codex/hooks.json"] {
        let printed = run_commands(&project.read(settings), project.path(), &project.home());
        assert!(printed.contains(&bundle), "{settings}: {printed}");
    }
}

#[test]
fn install_and_init_restore_scripts_with_crlf() {
    let project = adopted();
    std::fs::remove_file(project.path().join(".gitattributes")).unwrap();
    committed(&project);
    for command in ["install", "init"] {
        let clone = crlf_clone(&project);
        let path = ".blue/hooks/session-start";
        assert!(clone.read(path).contains("\r\n"));
        let doctored = doctor(&clone, &[]);
        assert!(doctored.stdout.contains("has CR LF line endings"), "{}", doctored.stdout);
        // The exit code does not matter here, only the scripts do.
        run(&clone, clone.path(), &[command]);
        assert_eq!(clone.read(path), include_str!("../../../../hooks/session-start"), "{command}");
        assert!(clone.read(".gitattributes").contains("/.blue/hooks/* text eol=lf"), "{command}");
        assert!(!clone.exists(".blue/local/rescued"), "{command}");
    }
}

#[test]
fn foreign_lines_in_gitattributes_stay_byte_for_byte() {
    for original in ["*.png binary\n", "*.png binary", "* text=auto\r\n", "", "# blue: begin\nx\n"]
    {
        for first in ["install", "init"] {
            let project = Project::new();
            project.write("docs/adr/0001-one.md", "# One\n\nStatus: accepted\n");
            project.write(".gitattributes", original);
            blue(&project, &[first]);
            let with = project.read(".gitattributes");
            assert!(with.starts_with(original) && with.contains("eol=lf"), "{with}");
            blue(&project, &["install"]);
            assert_eq!(project.read(".gitattributes"), with);
            blue(&project, &["uninstall"]);
            let left = project.exists(".gitattributes").then(|| project.read(".gitattributes"));
            // A file that was empty may have been removed.
            assert_eq!(left.unwrap_or_default(), original, "{first}");
        }
    }
}

#[test]
fn codex_runs_no_script_of_another_user_and_none_beyond_a_repository() {
    let project = Project::new();
    blue(&project, &["install"]);
    let (script, ran) = (".blue/hooks/session-start", project.path().join("ran"));
    project.write(script, format!("#!/bin/sh\ntouch '{}'\n", ran.display()));
    std::fs::create_dir_all(project.path().join("clone/below")).unwrap();
    let all = commands(&project.read(".codex/hooks.json"));
    let runs_in = |folder: &str| {
        for (_, command) in all.iter().filter(|(event, _)| event == "SessionStart") {
            let mut shell = Command::new("sh");
            shell.args(["-c", command]).current_dir(project.path().join(folder));
            project.isolate(&mut shell).env("PATH", "/usr/bin:/bin").stdin(Stdio::null());
            let status = shell.output().unwrap();
            assert_eq!(status.status.code(), Some(0), "{command}");
        }
        std::fs::remove_file(&ran).is_ok()
    };
    assert!(runs_in("clone/below"));
    project.write("clone/.git/HEAD", "ref: refs/heads/main\n");
    assert!(!runs_in("clone") && !runs_in("clone/below"));
    assert!(runs_in(""));
    let foreign = |path: &str| {
        let path = project.path().join(path);
        std::os::unix::fs::chown(&path, Some(54_321), None).map(|()| path)
    };
    for path in ["", ".blue"] {
        // Only root can give a folder to another user.
        let Ok(path) = foreign(path) else { return };
        assert!(!runs_in(""), "{}", path.display());
        std::os::unix::fs::chown(&path, Some(0), None).unwrap();
    }
}

#[test]
fn project_and_user_installation_together_deliver_each_text_once() {
    let project =
        Project::with("docs/adr/0001-one.md", "# One\n\nStatus: accepted\n\nText it is.\n");
    project.write("knowledge/house.md", "# House rules\n\nWrite tests first.\n");
    project.build();
    let printed = |event: &str| {
        let mut command = project.command(&["hook", event]);
        support::run(command.env("CLAUDE_PROJECT_DIR", project.path())).stdout
    };
    // For the user only, `blue hook` delivers.
    assert_eq!(printed("session-start"), project.read(".blue/context/session.md"));
    assert_eq!(printed("session-knowledge"), project.read(".blue/context/knowledge.md"));
    // With the project's own hooks, the scripts do.
    blue(&project, &["install"]);
    assert_eq!(printed("session-start") + &printed("session-knowledge"), "");
    // Claude Code ignores settings with a comment, so then they do not.
    let settings = project.read(".claude/settings.json");
    project.write(".claude/settings.json", format!("// mine\n{settings}"));
    assert_eq!(printed("session-start"), project.read(".blue/context/session.md"));
}
