//! Mutated input for hooks and servers, which are processes of their own.

use std::io::Write;
use std::process::Stdio;

use blue::wire::audit;

use super::{DOCUMENT, fuzz, size};
use crate::support::Project;
use crate::support::mcp_client::{Client, Era};

/// Mutates the input that an agent sends to a hook.
#[test]
fn hooks_survive_any_input() {
    let project = Project::new();
    project.write("docs/adr/0001-one.md", DOCUMENT);
    project.build();
    let input: &[u8] = b"{\"session_id\":\"abc\",\"hook_event_name\":\"SessionStart\",\"tool_name\":\"Edit\",\"tool_input\":{\"file_path\":\"docs/adr/0001-one.md\"},\"agent_id\":\"\"}";
    let events = [
        "session-start",
        "user-prompt-submit",
        "pre-tool-use",
        "post-tool-use",
        "pre-compact",
        "session-end",
    ];
    fuzz("hooks", &[input, b"", b"null", b"{\"session_id\":[\"\\u0000\"]}"], 3.0, |bytes| {
        let event = events[bytes.len() % events.len()];
        let mut child = project
            .command(&["hook", event])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(bytes).ok();
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{event}: {stderr}");
        assert!(!stderr.contains("this is a bug"), "{event}: {stderr}");
        vec![(bytes.len() % events.len()) as u64, size(output.stdout.len()), size(stderr.len())]
    });
    let log = std::fs::read(project.path().join(".blue/local/audit.jsonl")).unwrap();
    assert_eq!(audit::read(&log, None).1, 0, "torn lines in the log");
}

/// Mutates lines to a server, which must still answer after each of them.
#[test]
fn servers_survive_any_line() {
    let project = Project::new();
    project.write("docs/adr/0001-one.md", DOCUMENT);
    project.build();
    let seeds: [&[u8]; 6] = [
        b"{\"jsonrpc\":\"2.0\",\"id\":900001,\"method\":\"resources/read\",\"params\":{\"uri\":\"blue://docs/adrs/1\"}}",
        b"{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"tools/call\",\"params\":{\"name\":\"blue_read\",\"arguments\":{\"uri\":\"blue://docs/adrs/1\"}}}",
        b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}}",
        b"{\"jsonrpc\":\"2.0\",\"id\":900002,\"method\":\"completion/complete\",\"params\":{\"ref\":{\"type\":\"ref/resource\",\"uri\":\"blue://docs/{collection}/{id}\"},\"argument\":{\"name\":\"id\",\"value\":\"1\"}}}",
        b"[{},{}]", b"{\"jsonrpc\":\"2.0\",\"id\":900003,\"method\":\"resources/list\",\"params\":{\"cursor\":\"zz\"}}",
    ];
    let client = std::cell::RefCell::new(Client::new(&project, Era::Legacy));
    fuzz("servers", &seeds, 3.0, |bytes| {
        let mut client = client.borrow_mut();
        let line: Vec<u8> =
            bytes.iter().map(|b| if *b == b'\n' { b' ' } else { *b }).chain([b'\n']).collect();
        client.stdin.as_mut().unwrap().write_all(&line).unwrap();
        let pong = client.ask("ping", serde_json::json!({}));
        assert!(pong.get("result").is_some() || pong.get("error").is_some(), "{pong}");
        let notes = std::mem::take(&mut client.notes);
        notes
            .iter()
            .map(|note| note["error"]["code"].as_i64().unwrap_or(1).unsigned_abs())
            .collect()
    });
}
