//! Delivery and triggers: the server, `blue watch`, the registered hook and the reported model.

use std::process::{Command, Stdio};

use rusqlite::Connection;
use serde_json::json;

use super::{NOW, container, insert, mandate, own, workspace};
use crate::support::mcp_client::{Client, Era};
use crate::support::{Project, run};

#[test]
fn the_server_lists_the_packs_and_reads_every_file() {
    let project = workspace();
    project.build();
    let mut client = Client::new(&project, Era::Legacy);
    let list = client.result("resources/list", json!({}));
    let listed: Vec<&str> =
        list["resources"].as_array().unwrap().iter().filter_map(|r| r["uri"].as_str()).collect();
    assert!(listed.contains(&"blue://responsibility/parenting_cos"), "{listed:?}");
    let pack = project.read(".blue/context/responsibilities/parenting_cos.md");
    assert_eq!(client.text("blue://responsibility/parenting_cos"), pack);
    for name in ["system_context", "current_focus", "recent_activity", "open_requests"] {
        let text = client.text(&format!("blue://responsibility/parenting_cos/{name}"));
        assert!(text.contains("of parenting_cos"), "{name}: {text}");
    }
    client.end();
}

#[test]
fn a_watch_updates_the_requests_when_the_queue_changes() {
    let project = workspace();
    project.build();
    let mut watch =
        project.command(&["watch", "--quiet", "50"]).stderr(Stdio::null()).spawn().unwrap();
    let until = |text: &str| {
        for i in 0..200 {
            if project.read(&own("ai_context/open_requests.md")).contains(text) {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
            // The watch may not have been ready when the queue changed.
            if i % 20 == 0 {
                let connection = Connection::open(project.path().join("queue.sqlite")).unwrap();
                insert(&connection, &format!("{text}_{i}"), "dad_mode", "pending", "New");
            }
        }
        panic!("{text} did not arrive");
    };
    until("req_1");
    until("req_watched");
    watch.kill().unwrap();
    watch.wait().unwrap();
}

#[test]
fn a_prompt_notices_a_new_run_of_a_mandate() {
    let project = workspace();
    project.build();
    let prompt = || {
        project.blue_with_input(&["hook", "user-prompt-submit"], "{\"session_id\":\"s1\"}");
    };
    prompt();
    let (before, stamp) = (project.files(), project.read(".blue/local/queue"));
    prompt();
    assert_eq!(project.files(), before);
    let run = "---\nauthored_by: ai\ncontext_role: mandate_run\n---\n# Weekly plan\n\nIn work.\n";
    project.write(&own("mandates/runs/plan/2026-01-25T09-00-00Z.md"), run);
    prompt();
    assert!(project.read(&own("ai_context/current_focus.md")).contains("Weekly plan"));
    assert_ne!(project.read(".blue/local/queue"), stamp, "the mandate ran");
}

#[test]
fn the_hook_is_registered_where_there_are_responsibilities_and_taken_out_again() {
    let settings = "{\n  \"env\": {\"A\": \"1\"}\n}\n";
    let hook = "session-responsibility";
    let without = Project::with_two_decisions();
    without.write(".claude/settings.json", settings);
    assert_eq!(without.blue(&["install"]).code, 0);
    assert!(!without.read(".claude/settings.json").contains(hook));

    for is_configured in [true, false] {
        let project = Project::new();
        project.write(".claude/settings.json", settings);
        match is_configured {
            true => drop(project.write(".blue/config.yaml", "responsibilities:\n  recent: 5\n")),
            false => container(&project, "parenting_cos"),
        }
        let before = project.files();
        let installed = project.blue(&["install", "--agent", "claude,codex,gemini,copilot"]);
        assert_eq!(installed.code, 0, "{}", installed.stderr);
        let files = [
            ".claude/settings.json",
            ".codex/hooks.json",
            ".gemini/settings.json",
            ".github/hooks/blue.json",
        ];
        for path in files {
            assert_eq!(
                project.read(path).matches(&format!("hooks/{hook}")).count().min(1),
                1,
                "{path}"
            );
        }
        let again = project.blue(&["install"]);
        assert!(again.stdout.contains("current  .claude/settings.json"), "{}", again.stdout);
        assert_eq!(project.blue(&["uninstall"]).code, 0);
        let mut after = project.files();
        after.retain(|path, _| !path.starts_with(".blue/"));
        let mut before = before;
        before.retain(|path, _| !path.starts_with(".blue/"));
        assert_eq!(after, before, "byte for byte");
    }
}

#[test]
fn doctor_misses_the_hook_after_the_first_responsibility() {
    let project = Project::with_two_decisions();
    project.build();
    assert_eq!(project.blue(&["install"]).code, 0);
    let doctor = || project.blue(&["doctor"]).stdout;
    let before = doctor();
    container(&project, "parenting_cos");
    project.build();
    let after = doctor();
    assert_ne!(before, after);
    let line = after.lines().find(|line| line.contains(".claude/settings.json")).unwrap();
    assert!(!before.contains(line), "{line}");
    assert_eq!(project.blue(&["install"]).code, 0);
    assert!(project.read(".claude/settings.json").contains("session-responsibility"));
}

#[test]
fn the_model_that_a_session_start_reported_is_the_last_source() {
    let project = workspace();
    project.write(&own("model_policy.yaml"), "preferred_model: big\nfallback_models: [small]\n");
    project.build();
    project.write_hooks();
    let start = |model: &str| {
        let mut command = Command::new("sh");
        command.arg(".blue/hooks/session-start").current_dir(project.path());
        let input = project.home().join("input.json");
        let json = json!({"session_id": "s1", "hook_event_name": "SessionStart", "source": "startup", "model": model});
        crate::support::write(&input, json.to_string());
        command.stdin(std::fs::File::open(&input).unwrap());
        run(project.isolate(&mut command))
    };
    let state = || project.read(&own("ai_context/state.jsonl"));
    let check = |flags: &[&str]| {
        mandate(&project, "check_model_preferences", "2100-01-01T00:00:00Z", flags)
    };
    check(&[]);
    assert!(state().contains("\"verdict\":\"unknown\""), "{}", state());
    start("small");
    assert_eq!(project.audit_log().pop().unwrap()["model"], "small");
    check(&[]);
    assert!(state().contains("\"last_detected_model\":\"small\""), "{}", state());
    start("not\" a model");
    assert!(project.audit_log().pop().unwrap().get("model").is_none());
    let log =
        "{\"time\":\"2026-01-25T10:00:00Z\",\"event\":\"model_detected\",\"model\":\"big\"}\n";
    project.write(&own("logs/events_2026-01.ndjson"), log);
    check(&[]);
    assert!(state().contains("\"last_detected_model\":\"big\""), "a log is nearer: {}", state());
    check(&["--detected", "small"]);
    assert!(state().contains("\"last_detected_model\":\"small\""), "the flag is first");
    std::fs::remove_file(project.path().join(own("logs/events_2026-01.ndjson"))).unwrap();
    let input = "{\"session_id\":\"s2\",\"hook_event_name\":\"SessionStart\",\"model\":\"big\"}";
    project.blue_with_input(&["session-start"], input);
    check(&[]);
    assert!(state().contains("\"last_detected_model\":\"big\""), "{}", state());
    assert_eq!(mandate(&project, "check_model_preferences", NOW, &[]).code, 0);
}
