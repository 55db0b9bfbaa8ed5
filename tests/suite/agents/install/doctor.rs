//! `blue doctor` finds what keeps context from an agent.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::{Value, json};

use super::{POSING, SETTINGS, adopted, blue, doctor, doctor_at, with_command};
use crate::support;
use crate::support::Project;

#[test]
fn doctor_passes_for_a_connected_project() {
    let project = adopted();
    let output = doctor(&project, &[]);
    assert_eq!(output.code, 0, "{}{}", output.stdout, output.stderr);
    for line in
        ["the bytes of .blue/context/session.md", "tokens", ".mcp.json", "blue: all is well"]
    {
        assert!(output.stdout.contains(line), "{line}: {}", output.stdout);
    }
    let output = doctor(&project, &["--format", "json"]);
    let report: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(report["n_problems"], 0);
    assert_eq!(report["received"]["same_as_built"], true);
    let n_bytes = project.read(".blue/context/session.md").len();
    assert_eq!(report["received"]["bytes"], n_bytes);
}

#[test]
fn doctor_reports_each_problem_with_its_fix() {
    let output = doctor(&Project::new(), &[]);
    assert_eq!(output.code, 1, "{}", output.stdout);
    assert!(output.stdout.contains("hint: run `blue init`"), "{}", output.stdout);
    type Damage = fn(&Project);
    let damages: [(&str, Damage); 6] = [
        ("not current", |project| {
            project.write(
                "docs/adr/0002-b.md",
                "# 2. B\n\n## Status\n\nAccepted\n\n## Decision\n\nB.\n",
            );
        }),
        ("is damaged", |project| {
            project.write(".blue/context.manifest.yaml", "version: 1\n");
        }),
        ("does not begin with `<`", |project| {
            project.write(".blue/context/session.md", "{}\n");
        }),
        ("bytes; an agent truncates", |project| {
            project.write(".blue/context/workflow/plan.md", format!("<{}", "x".repeat(9_500)));
        }),
        (".claude/settings.json:1:1: ", |project| {
            project.write(SETTINGS, "oops");
        }),
        ("not executable", |project| {
            let file = project.path().join(".blue/hooks/session-start");
            std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o644)).unwrap();
        }),
    ];
    for (line, damage) in damages {
        let project = adopted();
        damage(&project);
        let output = doctor(&project, &[]);
        assert_eq!(output.code, 1, "{line}: {}", output.stdout);
        assert!(output.stdout.contains(line), "{line}: {}", output.stdout);
    }
    let project = adopted();
    let home = tempfile::tempdir().unwrap();
    let mut command = project.command(&["doctor"]);
    let output = support::run(command.env("HOME", home.path()).env("PATH", "/usr/bin:/bin"));
    assert!(output.stdout.contains("has no `blue`"), "{}", output.stdout);
}

#[test]
fn doctor_prints_a_line_for_each_group_of_files() {
    let project = adopted();
    for i in 1..=12 {
        let text = format!("# RFC {i}\n\n- Status: draft\n\nText.\n");
        project.write(&format!(".blue/docs/rfcs/{i:04}-x.md"), text);
    }
    project.write("knowledge/notes.md", "# Notes\n\nWritten by hand.\n");
    project.build();
    let plain = |output: &str| output.split_whitespace().collect::<Vec<_>>().join(" ");
    let output = doctor(&project, &[]).stdout;
    for line in [
        "ok .blue/context/knowledge.md ",
        "ok .blue/context/workflow 12 bundles, each at most 9500 bytes",
        "ok .blue/hooks 3 scripts, current, executable",
    ] {
        assert!(plain(&output).contains(line), "{line}: {output}");
    }
    assert!(!output.contains("0001-x.md"), "{output}");
    // Of a group with a problem, only the files with a problem are listed.
    project.write(".blue/context/workflow/0007-x.md", "text\n");
    project.write(".blue/hooks/session-workflow", "#!/bin/sh\n");
    let output = doctor(&project, &[]).stdout;
    let bad = "problem .blue/context/workflow/0007-x.md does not begin with `<`";
    assert!(plain(&output).contains(bad), "{output}");
    assert!(plain(&output).contains(" .blue/hooks/session-workflow differs from"), "{output}");
    for other in ["0006-x.md", "12 bundles", "session-start ", "2 scripts"] {
        assert!(!output.contains(other), "{other}: {output}");
    }
}

type Damage = fn(&Project, &Path);
const LOCAL: &str = ".claude/settings.local.json";

/// Lines that Codex writes into its configuration when hooks are trusted.
fn trusted(hooks: &Path) -> String {
    let hooks = hooks.display();
    format!("[hooks.state.\"{hooks}:session_start:0:0\"]\ntrusted_hash = \"sha256:0\"\n")
}

/// Settings that keep an agent from running hooks or the server, and the message about each.
const HINDRANCES: [(&str, Damage); 16] = [
    (".claude/settings.json  line 2: a comment", |project, _| {
        project.write(SETTINGS, project.read(SETTINGS).replacen('{', "{\n  // ours", 1));
    }),
    (".mcp.json              line ", |project, _| {
        project.write(".mcp.json", project.read(".mcp.json").trim_end().to_string() + "// x\n");
    }),
    (".claude/settings.json  line ", |project, _| {
        let text = project.read(SETTINGS);
        project.write(
            SETTINGS,
            text.trim_end().trim_end_matches('}').trim_end().to_string() + ",\n}\n",
        );
    }),
    (".codex/hooks.json  line 1: a comment, a trailing comma", |project, _| {
        let hooks = project.read(".codex/hooks.json");
        project.write(".codex/hooks.json", format!("/* ours */ {hooks}"));
    }),
    ("disableAllHooks is true", |project, _| {
        project
            .write(SETTINGS, project.read(SETTINGS).replacen('{', "{\"disableAllHooks\":true,", 1));
    }),
    ("disableAllHooks is true", |project, _| {
        project.write(LOCAL, "{\"disableAllHooks\": true}");
    }),
    ("disableAllHooks is true", |_, home| {
        support::write(&home.join(SETTINGS), "{\"disableAllHooks\": true}");
    }),
    ("disabledMcpjsonServers has \"blue\"", |project, _| {
        project.write(LOCAL, "{\"disabledMcpjsonServers\": [\"x\", \"blue\"]}");
    }),
    ("disabledMcpjsonServers has \"blue\"", |project, home| {
        let root = project.path().canonicalize().unwrap();
        let state =
            json!({"projects": {root.to_str().unwrap(): {"disabledMcpjsonServers": ["blue"]}}});
        support::write(&home.join(".claude.json"), state.to_string());
    }),
    ("disabledMcpServers has \"blue\"", |project, _| {
        project.write(LOCAL, "{\"disabledMcpServers\": [\"blue\"]}");
    }),
    ("this folder is not trusted", |project, home| {
        let root = project.path().canonicalize().unwrap();
        let state =
            json!({"projects": {root.to_str().unwrap(): {"hasTrustDialogAccepted": false}}});
        support::write(&home.join(".claude.json"), state.to_string());
    }),
    ("the hooks are not trusted: Codex skips them", |_, home| {
        support::write(&home.join(".codex/config.toml"), "model = \"x\"\n");
    }),
    ("Codex the hooks are switched off", |project, home| {
        let hooks = project.path().canonicalize().unwrap().join(".codex/hooks.json");
        support::write(&home.join(".codex/config.toml"), trusted(&hooks) + "enabled = false\n");
    }),
    ("Codex the hooks are not trusted", |project, home| {
        // A worktree whose main checkout has the hooks. Only those of the worktree are trusted.
        let hooks = project.path().canonicalize().unwrap().join(".codex/hooks.json");
        support::write(&home.join(".codex/config.toml"), trusted(&hooks));
        support::write(&home.join("main/.codex/hooks.json"), project.read(".codex/hooks.json"));
        let git = home.join("main/.git/worktrees/x");
        support::write(&git.join("commondir"), "../..\n");
        project.write(".git", format!("gitdir: {}\n", git.display()));
    }),
    ("PATH in .claude/settings.json  has no `blue`", |project, _| {
        project.write(
            SETTINGS,
            project.read(SETTINGS).replacen('{', "{\"env\":{\"PATH\":\"/usr/bin\"},", 1),
        );
    }),
    ("main/.codex/hooks.json hooks not registered hint: run `blue -C '", |project, home| {
        // A worktree whose main checkout, where Codex looks, has no hooks.
        let git = home.join("main/.git/worktrees/x");
        support::write(&git.join("commondir"), "../..\n");
        project.write(".git", format!("gitdir: {}\n", git.display()));
    }),
];

#[test]
fn doctor_fails_where_no_context_can_be_delivered() {
    for (line, damage) in HINDRANCES {
        let (project, home) = (adopted(), tempfile::tempdir().unwrap());
        damage(&project, home.path());
        let output = doctor_at(&project, home.path(), &[]).stdout;
        let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(plain(&output).contains(&plain(line)), "{line}: {output}");
        assert!(!output.contains("all is well"), "{line}: {output}");
    }
}

#[test]
fn doctor_passes_when_a_settings_file_with_precedence_allows_hooks() {
    let (project, home) = (adopted(), tempfile::tempdir().unwrap());
    project.write(SETTINGS, project.read(SETTINGS).replacen('{', "{\"disableAllHooks\":true,", 1));
    project.write(LOCAL, "{\"disableAllHooks\": false}");
    let hooks = project.path().canonicalize().unwrap().join(".codex/hooks.json");
    support::write(&home.path().join(".codex/config.toml"), trusted(&hooks));
    let output = doctor_at(&project, home.path(), &[]).stdout;
    assert!(output.contains("all is well") && output.contains("were trusted"), "{output}");
}

#[test]
fn the_trial_run_of_doctor_counts_as_no_delivery() {
    let project = adopted();
    assert_eq!(doctor(&project, &[]).code, 0);
    assert!(project.read(".blue/local/audit.jsonl").contains("\"doctor\""));
    let shown = project.blue(&["context", "show", "--verbose"]).stdout;
    assert!(shown.contains("never injected") && !shown.contains("doctor"), "{shown}");
    let shown = project.blue(&["context", "show", "--format", "json"]).stdout;
    let value: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!((&value["log"], &value["usage"]["events"]), (&json!([]), &json!(0)), "{shown}");
    assert_eq!(project.blue(&["context", "log"]).stdout, "");
    let status = project.blue(&["status"]).stdout;
    assert!(status.contains("Delivered  nothing yet"), "{status}");
}

#[test]
fn doctor_runs_no_script_of_another_author() {
    let project = adopted();
    project.write(".blue/hooks/session-start", "#!/bin/sh\ntouch ran\n");
    let output = doctor(&project, &[]);
    assert!(output.stdout.contains("not tried"), "{}", output.stdout);
    assert!(!project.exists("ran"));
}

#[test]
fn doctor_reports_an_agent_that_is_not_connected() {
    let project = adopted();
    blue(&project, &["uninstall"]);
    let output = doctor(&project, &[]);
    assert_eq!(output.code, 1, "{}", output.stdout);
    assert!(output.stdout.contains("hooks not registered"), "{}", output.stdout);
    blue(&project, &["install", "--no-codex", "--no-mcp"]);
    let output = doctor(&project, &[]);
    assert_eq!(output.code, 0, "{}", output.stdout);
    assert!(output.stdout.contains("blue: 0 problems, 3 warnings"), "{}", output.stdout);
    assert!(output.stdout.contains("hint: run `blue install`"), "{}", output.stdout);
}

#[test]
fn doctor_reports_a_command_that_imitates_blue() {
    for file in [SETTINGS, ".claude/settings.local.json"] {
        for command in POSING {
            let project = adopted();
            if file == SETTINGS {
                let own = "blue hook pre-compact || :";
                let settings = project.read(SETTINGS);
                let quoted = |text: &str| serde_json::to_string(text).unwrap();
                assert!(settings.contains(&quoted(own)));
                project.write(SETTINGS, settings.replace(&quoted(own), &quoted(command)));
            } else {
                project.write(file, with_command(command));
            }
            let output = doctor(&project, &[]);
            assert_eq!(output.code, 1, "{command}: {}", output.stdout);
            let line = output.stdout.lines().find(|line| line.starts_with("problem")).unwrap();
            assert!(
                line.contains(file) && line.contains("looks like a hook of blue's"),
                "{command}: {line}"
            );
        }
    }
    // Commands of this or an earlier version, and commands with a similar name, are no problem.
    let project = adopted();
    for command in ["blue hook pre-compact", "blue knowledge build", "cat blueprint hooks"] {
        project.write(".claude/settings.local.json", with_command(command));
        let output = doctor(&project, &[]);
        assert!(!output.stdout.contains("poses"), "{command}: {}", output.stdout);
    }
}
