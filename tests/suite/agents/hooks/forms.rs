//! The JSON that Gemini CLI and Copilot take instead of plain text.

use serde_json::Value;

use super::{Hook, START, everywhere, everywhere_once};

/// Standard input of a hook of Copilot.
const COPILOT_START: &str =
    r#"{"sessionId":"abc-1","timestamp":1,"cwd":"/x","source":"new","initialPrompt":"hi"}"#;

/// Runs a hook and parses what it prints.
fn printed(hook: &Hook<'_>, name: &str, arguments: &[&str], input: &str) -> Value {
    let bytes = hook.run(name, "", arguments, input.as_bytes());
    serde_json::from_slice(&bytes)
        .unwrap_or_else(|error| panic!("{:?} {}: {error}", hook.shell, hook.awk))
}

#[test]
fn each_agent_gets_the_bundle_as_a_string_of_its_json() {
    everywhere(|hook| {
        let path = ".blue/context/session.md";
        let bundle = hook.project.read(path);
        let text = printed(hook, "session-start", &["copilot"], COPILOT_START);
        assert_eq!(text, serde_json::json!({"additionalContext": bundle}));
        let line = &hook.project.audit_log()[0];
        assert_eq!(
            (&line["session_id"], &line["event"]),
            (&"abc-1".into(), &"SessionStart".into())
        );
        assert_eq!(
            line["content_hash"],
            format!("blake3:{}", blake3::hash(bundle.as_bytes()).to_hex())
        );
        hook.project.write(".git/HEAD", "ref: refs/heads/rfc/0016\n");
        let workflow = hook.project.read(".blue/context/workflow/0016-context.md");
        let text = printed(hook, "session-workflow", &["gemini"], START);
        let output = &text["hookSpecificOutput"];
        assert_eq!(output["additionalContext"], workflow);
        assert_eq!(output["hookEventName"], "SessionStart");
        assert_eq!(hook.run("session-start", "", &["global", "gemini"], b""), b"");
        // A bundle that was edited by hand can have any character.
        let edited = bundle.replace("One", "\"\\ \t\u{1}\u{7f} é\r😀");
        hook.project.write(path, &edited);
        let text = printed(hook, "session-start", &["copilot"], "");
        assert_eq!(text["additionalContext"], edited);
    });
}

#[test]
fn copilot_gets_the_text_once_from_hooks_of_claude_code() {
    everywhere_once(|hook| {
        let environment = vec![("COPILOT_CLI", "1")];
        let hook =
            &Hook { environment, project: hook.project, shell: hook.shell.clone(), awk: hook.awk };
        let bundle = hook.project.read(".blue/context/session.md");
        for input in [START, &START.replace("SessionStart", "SubagentStart"), COPILOT_START] {
            let text = printed(hook, "session-start", &[], input);
            assert_eq!(text, serde_json::json!({"additionalContext": bundle}));
        }
        let n_delivered = hook.project.audit_log().len();
        hook.project
            .write("AGENTS.md", "# Ours\n\n<!-- blue: begin 0123 -->\nx\n<!-- blue: end -->\n");
        assert_eq!(hook.start(START), b"", "it reads AGENTS.md");
        std::fs::remove_file(hook.project.path().join("AGENTS.md")).unwrap();
        hook.project.write(".github/hooks/blue.json", "{}");
        for (name, arguments) in
            [("session-start", &[][..]), ("session-start", &["global"]), ("session-workflow", &[])]
        {
            assert_eq!(hook.run(name, "", arguments, START.as_bytes()), b"", "{name}");
        }
        assert_eq!(hook.project.audit_log().len(), n_delivered);
        let text = printed(hook, "session-start", &["copilot"], COPILOT_START);
        assert_eq!(text["additionalContext"], bundle);
    });
}

#[test]
fn claude_code_gets_the_text_once_if_claude_md_is_a_link() {
    everywhere_once(|hook| {
        // The hook runs in the project, so that a relative path is enough.
        let environment = vec![("CLAUDE_PROJECT_DIR", ".")];
        let hook =
            &Hook { environment, project: hook.project, shell: hook.shell.clone(), awk: hook.awk };
        let project = hook.project;
        let own = || project.blue_with_input(&["hook", "session-start"], START).into_bytes();
        project.write(".blue/config.yaml", "targets: [agents-md]\n");
        project.write("CLAUDE.md", "# Ours\n").build();
        let bundle = project.read(".blue/context/session.md").into_bytes();
        assert_eq!((hook.start(START), own()), (bundle.clone(), bundle));
        std::fs::remove_file(project.path().join("CLAUDE.md")).unwrap();
        std::os::unix::fs::symlink("AGENTS.md", project.path().join("CLAUDE.md")).unwrap();
        assert_eq!((hook.start(START), own()), (Vec::new(), Vec::new()));
        std::fs::remove_file(project.path().join("CLAUDE.md")).unwrap();
        project.write(".blue/config.yaml", "targets: [claude-md]\n").build();
        assert_eq!((hook.start(START), own()), (Vec::new(), Vec::new()));
    });
}

#[test]
fn blue_itself_prints_the_same_forms() {
    everywhere_once(|hook| {
        let project = hook.project;
        project.write(".git/HEAD", "ref: refs/heads/rfc/0017\n");
        let script = |name: &str, form: &str| {
            String::from_utf8(hook.run(name, "", &[form], START.as_bytes())).unwrap()
        };
        for name in ["session-start", "session-workflow"] {
            for form in ["gemini", "copilot"] {
                let own = project.blue_with_input(&["hook", name, "--agent", form], START);
                assert_eq!(own, script(name, form), "{name} {form}");
            }
        }
        let bundle = project.read(".blue/context/workflow/0017-other.md");
        for (form, session) in [("gemini", "one"), ("copilot", "two")] {
            let input = format!("{{\"session_id\":\"{session}\"}}");
            let own =
                project.blue_with_input(&["hook", "user-prompt-submit", "--agent", form], &input);
            let json: Value = serde_json::from_str(&own).unwrap();
            let text = match form {
                "gemini" => &json["hookSpecificOutput"]["additionalContext"],
                _ => &json["additionalContext"],
            };
            assert!(text.as_str().unwrap().starts_with(&bundle), "{own}");
        }
    });
}
