//! The session that the server answers, and what that session received.

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::json;

use super::tools::{sample, tags};
use crate::support::Project;
use crate::support::mcp_client::Client;

/// Runs a hook as an agent does. This process is the agent, unless another program starts the hook.
fn hook(project: &Project, between: &[&str], event: &str, session: &str) {
    let blue = project.command(&[]).get_program().to_owned();
    let mut command = match between {
        [] => Command::new(&blue),
        [program, arguments @ ..] => {
            let mut command = Command::new(program);
            command.args(arguments).arg(&blue);
            command
        }
    };
    project
        .isolate(command.args(["hook", event]).current_dir(project.path()).stdin(Stdio::piped()));
    let mut child = command.stdout(Stdio::null()).spawn().unwrap();
    let input = json!({"session_id": session, "hook_event_name": "SessionStart"});
    child.stdin.take().unwrap().write_all(input.to_string().as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
}

#[test]
fn status_belongs_to_the_session_that_asks() {
    let project = sample();
    let other = ["timeout", "60"];
    let mut client = Client::unnamed(&project, "");
    hook(&project, &other, "session-start", "other");
    hook(&project, &other, "user-prompt-submit", "other");
    // No hook has reported a session of this agent yet.
    let status = client.tool("blue_context_status", json!({}));
    assert_eq!(status["session"], "unknown", "{status}");
    assert_eq!(status["sources"][0]["state"], "unknown", "{status}");
    assert_eq!(status["sessions"], json!(["other"]), "{status}");
    hook(&project, &[], "session-start", "mine");
    hook(&project, &["sh", "-c", "\"$0\" \"$@\"; :"], "user-prompt-submit", "mine");
    hook(&project, &other, "session-start", "other");
    hook(&project, &other, "user-prompt-submit", "other");
    let status = client.tool("blue_context_status", json!({}));
    assert_eq!(status["session"], "mine", "{status}");
    assert!(status["because"].as_str().unwrap().contains("hooks reported it"), "{status}");
    assert_eq!(status["sources"][0]["state"], "fresh", "{status}");
    let mut started_for = Client::unnamed(&project, "another");
    let asks =
        |client: &mut Client| client.tool("blue_context_status", json!({}))["session"].clone();
    assert_eq!(asks(&mut started_for), "mine", "hooks know better than the start");
    hook(&project, &[], "user-prompt-submit", "another");
    assert_eq!(asks(&mut started_for), "another", "one of two, and the start says which");
    hook(&project, &[], "session-end", "another");
    assert_eq!(asks(&mut started_for), "mine");
    let named = client.tool("blue_context_status", json!({"session": "other"}));
    assert_eq!(named["session"], "other", "{named}");
    // The same agent starts another session, which has read nothing yet.
    let read = json!({"uris": ["blue://adr/1"], "changed_only": true});
    let n_read = |client: &mut Client| tags(&client.tool_text("blue_read", read.clone())).len();
    assert_eq!((n_read(&mut client), n_read(&mut client)), (1, 0));
    hook(&project, &[], "session-end", "mine");
    hook(&project, &[], "user-prompt-submit", "cleared");
    assert_eq!(client.tool("blue_context_status", json!({}))["session"], "cleared");
    assert_eq!((n_read(&mut client), n_read(&mut client)), (1, 0));
    // With two sessions at once none is chosen, and no document is left out as known.
    hook(&project, &[], "user-prompt-submit", "second");
    let status = client.tool("blue_context_status", json!({}));
    assert_eq!(status["session"], "unknown", "{status}");
    assert_eq!(status["sessions"], json!(["second", "cleared"]), "{status}");
    assert_eq!((n_read(&mut client), n_read(&mut client)), (1, 1));
}

#[test]
fn a_session_that_started_with_the_server_is_probably_the_one_that_asks() {
    let project = sample();
    let other = ["timeout", "60"];
    // A session of another day, and the probe of `blue doctor`.
    let line = |time: &str, session: &str| {
        json!({"timestamp": time, "session_id": session, "event": "SessionStart",
            "source": "blue://context/session", "artifact": ".blue/context/session.md",
            "content_hash": "blake3:00", "tokens": 1, "bytes": 1})
        .to_string()
            + "\n"
    };
    hook(&project, &other, "session-start", "fresh");
    let log = project.read(".blue/local/audit.jsonl");
    let now = project.audit_log()[0]["timestamp"].as_str().unwrap().to_string();
    let log = line("2026-01-25T12:00:00Z", "old") + &log + &line(&now, "doctor");
    project.write(".blue/local/audit.jsonl", log);
    let mut client = Client::unnamed(&project, "");
    let mut status = |arguments| client.tool("blue_context_status", arguments);
    let answer = status(json!({}));
    assert_eq!(answer["session"], "fresh", "{answer}");
    let because = answer["because"].as_str().unwrap();
    assert!(because.starts_with("probably: it started "), "{because}");
    assert!(because.contains(" this server"), "{because}");
    assert_eq!(answer["sources"][0]["state"], "fresh", "{answer}");
    let named = status(json!({"session": "old"}));
    assert_eq!(
        (&named["session"], &named["because"]),
        (&json!("old"), &json!("it was named in the call"))
    );
    assert_eq!(named["sources"][0]["state"], "changed since", "{named}");
    // A hook shows that the session belongs to another process.
    hook(&project, &other, "user-prompt-submit", "fresh");
    let answer = status(json!({}));
    assert_eq!(answer["session"], "unknown", "{answer}");
    assert!(
        answer["because"].as_str().unwrap().starts_with("no hook named the session"),
        "{answer}"
    );
    assert_eq!(answer["sessions"], json!(["fresh", "old"]), "{answer}");
}
