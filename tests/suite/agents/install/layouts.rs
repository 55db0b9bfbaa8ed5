//! Settings files of every layout come back to their original bytes.

use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use super::{SETTINGS, blue, commands, is_own};
use crate::support::Project;

const FILES: [&str; 3] = [SETTINGS, ".mcp.json", ".codex/hooks.json"];

/// Valid settings files in different layouts.
const ORIGINALS: &[(&str, &str)] = &[
    ("empty", ""),
    ("only white space", " \n\n"),
    ("an empty object", "{}\n"),
    ("an empty object without a newline", "{}"),
    ("a spaced empty object", "{ }\n"),
    ("an empty object on three lines", "{\n\n}\n"),
    ("hooks there but empty", "{\n  \"model\": \"opus\",\n  \"hooks\": {}\n}\n"),
    ("hooks there, spaced and empty", "{\"hooks\": { }, \"model\": \"opus\"}"),
    (
        "events there but empty",
        "{\n  \"hooks\": {\n    \"SessionStart\": [],\n    \"PostToolUse\": [ ],\n    \"Stop\": [\n    ]\n  }\n}\n",
    ),
    (
        "hooks of other people in the same events",
        r#"{
  "permissions": {
    "allow": ["Bash(cargo test:*)", "Read(//tmp/**)"],
    "deny": []
  },
  "hooks": {
    "SessionStart": [
      {
        "matcher": "startup",
        "hooks": [
          { "type": "command", "command": "cat NOTES.md" }
        ]
      }
    ],
    "PostToolUse": [
      {
        "matcher": "Edit|Write",
        "hooks": [
          { "type": "command", "command": "prettier --write \"$CLAUDE_FILE\"", "timeout": 10 },
          { "type": "command", "command": "eslint --fix" }
        ]
      }
    ]
  },
  "env": { "FOO": "bar" }
}
"#,
    ),
    (
        "on one line, tight",
        r#"{"env":{"A":"1"},"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"true"}]}]},"model":"x"}"#,
    ),
    (
        "on one line, spaced",
        "{ \"env\": { \"A\": \"1\" }, \"hooks\": { \"Stop\": [ { \"hooks\": [] } ] } }\n",
    ),
    (
        "tabs",
        "{\n\t\"model\": \"opus\",\n\t\"hooks\": {\n\t\t\"Stop\": [\n\t\t\t{\n\t\t\t\t\"hooks\": []\n\t\t\t}\n\t\t]\n\t}\n}\n",
    ),
    (
        "four spaces, no newline at the end",
        "{\n    \"model\": \"opus\",\n    \"env\": {\n        \"A\": \"1\"\n    }\n}",
    ),
    (
        "carriage returns",
        "{\r\n  \"model\": \"opus\",\r\n  \"hooks\": {\r\n    \"SessionStart\": [\r\n      {\"hooks\": [{\"type\": \"command\", \"command\": \"dir\"}]}\r\n    ]\r\n  }\r\n}\r\n",
    ),
    ("a byte order mark", "\u{feff}{\n  \"model\": \"opus\"\n}\n"),
    ("a byte order mark and nothing else", "\u{feff}"),
    (
        "comments and trailing commas",
        r#"// Settings of the team.
{
  /* models */
  "model": "opus", // the big one
  "hooks": {
    // ours
    "SessionStart": [
      { "hooks": [{ "type": "command", "command": "date" }] }, // when
    ],
    "SubagentStart": [ // none yet
    ],
    // "Stop": []
  }, // end of hooks   
}
// bye
"#,
    ),
    ("only comments", "// nothing yet\n/* really */\n"),
    ("a comment after the last member", "{\n  \"model\": \"opus\" // keep me last\n}\n"),
    (
        "unicode and escapes",
        "{\n  \"名前\": \"値 😀 \\ud83d\\ude00 \\u0000\",\n  \"\\u0068ooks\": {\"Stop\": [[], [[1, 2], {\"a\": [null, -1.5e-7]}]]}\n}\n",
    ),
    (
        "commands that look like blue's",
        r#"{
  "hooks": {
    "SessionStart": [
      {"hooks": [{"type": "command", "command": "echo blue hook session-start"}]},
      {"hooks": [{"type": "command", "command": "~/.blue/hooks/mine"}]},
      {"hooks": [{"type": "command", "command": "bluetooth hook x"}]}
    ],
    "UserPromptSubmit": [
      {"hooks": [{"type": "prompt", "prompt": "blue hook user-prompt-submit"}]}
    ]
  }
}
"#,
    ),
    (
        "brackets on shared lines",
        "{\n  \"hooks\": { \"SessionStart\": [{\n      \"hooks\": [{\n        \"type\": \"command\",\n        \"command\": \"x\"\n      }]\n    }] }\n}\n",
    ),
    ("keys twice", "{\"hooks\": {\"Stop\": []}, \"a\": 1, \"hooks\": {\"Stop\": [1]}}\n"),
];

fn is_subsequence(part: &str, whole: &str) -> bool {
    let mut rest = whole.chars();
    part.chars().all(|wanted| rest.any(|c| c == wanted))
}

#[test]
fn uninstall_restores_the_bytes_of_every_layout() {
    for (name, original) in ORIGINALS {
        let project = Project::new();
        project.write(SETTINGS, original);
        let before = project.files();
        let output = blue(&project, &["install"]);
        assert!(
            output.stdout.contains("added    .claude/settings.json\n"),
            "{name}: {}",
            output.stdout
        );
        let installed = project.read(SETTINGS);
        let blank = original.trim_matches(['\u{feff}', ' ', '\n']).is_empty();
        assert!(blank || is_subsequence(original, &installed), "{name}: {installed}");
        assert!(blue::wire::jsonc::parse(&installed).is_ok(), "{name}: {installed}");
        assert_eq!(
            original.contains("\r\n"),
            installed.contains("\r\n"),
            "{name}: lines end as they did"
        );
        assert_eq!(
            original.contains("\r\n"),
            !installed.replace("\r\n", "").contains('\n') && installed.contains('\n'),
            "{name}: all lines end alike"
        );
        let bare = !original.contains('\n') && original.contains(':');
        assert_eq!(bare, !installed.contains('\n'), "{name}: one line stays one line");
        let stamps = project.stamps();
        let again = blue(&project, &["install"]);
        assert!(again.stdout.contains("current  .claude/settings.json\n"), "{name}");
        assert_eq!(project.stamps(), stamps, "{name}: a second time writes nothing");
        blue(&project, &["uninstall"]);
        assert_eq!(project.read(SETTINGS), *original, "{name}");
        assert_eq!(project.files(), before, "{name}");
        assert!(!project.exists(".codex") && !project.exists(".blue/hooks"), "{name}");
    }
}

#[test]
fn install_keeps_the_meaning_of_foreign_settings() {
    for (name, original) in ORIGINALS {
        let Ok(before) = serde_json::from_str::<Value>(original.trim_start_matches('\u{feff}'))
        else {
            continue;
        };
        let project = Project::new();
        project.write(SETTINGS, original);
        blue(&project, &["install"]);
        let text = project.read(SETTINGS);
        let mut after: Value = serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap();
        assert_eq!(commands(&text).len(), 10, "{name}");
        let hooks = after["hooks"].as_object_mut().unwrap();
        for (_, groups) in hooks.iter_mut() {
            let own =
                |group: &Value| group["hooks"].as_array().is_some_and(|h| h.iter().any(is_own));
            groups.as_array_mut().unwrap().retain(|group| !own(group));
        }
        let was = |event: &str| before["hooks"].get(event).is_some();
        hooks.retain(|event, groups| was(event) || !groups.as_array().unwrap().is_empty());
        if hooks.is_empty() && before.get("hooks").is_none() {
            after.as_object_mut().unwrap().remove("hooks");
        }
        assert_eq!(after, before, "{name}");
    }
}

#[test]
fn uninstall_removes_the_files_that_install_created() {
    let project = Project::new();
    project.write("README.md", "# Project\n");
    let before = project.files();
    let output = blue(&project, &["install"]);
    for path in FILES {
        assert!(output.stdout.contains(&format!("added    {path}\n")), "{}", output.stdout);
    }
    assert!(output.stdout.contains("added    .blue/hooks/session-start\n"), "{}", output.stdout);
    assert!(output.stdout.contains("trust dialog"), "{}", output.stdout);
    for path in [".blue/hooks/session-start", ".blue/hooks/session-workflow"] {
        let mode = project.path().join(path).metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o755, "{path}");
    }
    assert_eq!(
        project.read(".mcp.json"),
        "{\n  \"mcpServers\": {\n    \"blue\": {\n      \"command\": \"blue\",\n      \"args\": [\n        \"mcp\"\n      ]\n    }\n  }\n}\n"
    );
    let expected = |event: &str, command: &str| (event.to_string(), command.to_string());
    let claude = commands(&project.read(SETTINGS));
    let start: Vec<_> = claude.iter().filter(|(event, _)| event == "SessionStart").collect();
    let script = "sh \"$CLAUDE_PROJECT_DIR\"/.blue/hooks/session-";
    assert_eq!(
        start,
        [
            &expected("SessionStart", &format!("{script}start global")),
            &expected("SessionStart", &format!("{script}start")),
            &expected("SessionStart", &format!("{script}start knowledge")),
            &expected("SessionStart", &format!("{script}workflow")),
        ]
    );
    for event in
        ["user-prompt-submit", "pre-tool-use", "post-tool-use", "pre-compact", "session-end"]
    {
        assert!(claude.iter().any(|(_, c)| *c == format!("blue hook {event} || :")), "{event}");
    }
    blue(&project, &["uninstall"]);
    assert_eq!(project.files(), before);
    assert!(
        !project.exists(".claude") && !project.exists(".codex") && !project.exists(".mcp.json")
    );
    let output = blue(&project, &["uninstall"]);
    assert!(output.stdout.contains("absent   .mcp.json"), "{}", output.stdout);
}

#[test]
fn uninstall_works_in_a_clone_without_an_install_record() {
    let project = Project::new();
    project.write(SETTINGS, "{\n  \"model\": \"opus\"\n}\n");
    blue(&project, &["install"]);
    std::fs::remove_dir_all(project.path().join(".blue/local")).unwrap();
    let output = blue(&project, &["install"]);
    assert!(output.stdout.contains("current  .claude/settings.json"), "{}", output.stdout);
    blue(&project, &["uninstall"]);
    assert_eq!(project.read(SETTINGS), "{\n  \"model\": \"opus\"\n}\n");
    assert!(!project.exists(".codex") && !project.exists(".mcp.json"));
}

#[test]
fn edits_between_install_and_uninstall_stay() {
    for (name, original) in
        ORIGINALS.iter().filter(|(_, text)| text.contains("\"model\": \"opus\""))
    {
        let project = Project::new();
        project.write(SETTINGS, original);
        blue(&project, &["install"]);
        let edit = |text: &str| text.replace("\"opus\"", "\"sonnet\", \"verbose\": true");
        let edited = edit(&project.read(SETTINGS));
        project.write(SETTINGS, &edited);
        blue(&project, &["uninstall"]);
        assert_eq!(project.read(SETTINGS), edit(original), "{name}");
    }
    let project = Project::new();
    blue(&project, &["install"]);
    let theirs = "{\"hooks\": [{\"type\": \"command\", \"command\": \"theirs\"}]}";
    let text = project.read(SETTINGS).replacen(
        "\"SessionStart\": [",
        &format!("\"SessionStart\": [{theirs},"),
        1,
    );
    project.write(SETTINGS, &text);
    blue(&project, &["uninstall"]);
    let left: Value = serde_json::from_str(&project.read(SETTINGS)).unwrap();
    let expected = format!("{{\"hooks\": {{\"SessionStart\": [{theirs}]}}}}");
    assert_eq!(left, serde_json::from_str::<Value>(&expected).unwrap());
}

#[test]
fn uninstall_removes_only_its_handler_from_a_shared_group() {
    let project = Project::new();
    let original = "{\"hooks\": {\"SessionEnd\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"a\"}, {\"type\": \"command\", \"command\": \"blue hook session-end\"}, {\"type\": \"command\", \"command\": \"b\"}]}]}}";
    project.write(SETTINGS, original);
    let output = blue(&project, &["install"]);
    assert!(output.stdout.contains("updated  .claude/settings.json"), "{}", output.stdout);
    assert!(project.read(SETTINGS).contains("\"blue hook session-end || :\", \"timeout\": 3}, {\"type\": \"command\", \"command\": \"b\"}"));
    blue(&project, &["uninstall"]);
    assert_eq!(
        project.read(SETTINGS),
        original.replace("{\"type\": \"command\", \"command\": \"blue hook session-end\"}, ", "")
    );
}
