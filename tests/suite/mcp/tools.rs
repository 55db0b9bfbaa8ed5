//! The tools of the server, called line by line and through the SDK.

use std::io::Write;
use std::process::{Command, Stdio};

use blue::condense::tokens::count;
use serde_json::{Value, json};

use crate::support::Project;
use crate::support::mcp_client::{Client, Era};

fn sample() -> Project {
    let project = Project::new();
    let body = "It holds for every part of the system and says so at length. ".repeat(60);
    for i in 1..=20 {
        project.write(
            &format!(".blue/docs/adrs/{i:04}-part-{i}.md"),
            format!("# ADR {i:04}: Part {i}\n\n- Status: accepted\n\n## Decision\n\nPart {i} is cached.\n\n## Consequences\n\n{body}\n"),
        );
    }
    project
        .write(
            ".blue/docs/rfcs/0016-context.md",
            "# RFC 0016: Context\n\n- Status: in progress\n- Depends on: ADR 0002\n\nSee ADR 0012.\n\n## Tasks\n\n- [x] first\n- [ ] second\n",
        )
        .write(".git/HEAD", "ref: refs/heads/rfc/0016\n");
    project.build();
    project
}

#[test]
fn related_documents_come_with_reasons_within_the_budget() {
    let project = sample();
    let mut client = Client::new(&project, Era::Modern);
    let path = ".blue/docs/rfcs/0016-context.md";
    for about in
        ["blue://rfc/16", "blue://state/current-rfc", path, "./.blue/docs/rfcs/0016-context.md"]
    {
        let answer = client.tool("blue_related", json!({"about": about}));
        assert_eq!(answer["about"], "blue://docs/rfcs/0016-context", "{about}");
        let related = answer["related"].as_array().unwrap();
        assert_eq!(related[0]["uri"], "blue://docs/adrs/0002-part-2");
        assert_eq!(related[0]["why"][0], "depends on it, line 4", "{answer}");
        assert!(related[0]["summary"].is_string() && related[0]["score"].is_u64());
    }
    let answer = client.tool("blue_related", json!({"about": "which part is cached?", "limit": 3}));
    assert_eq!(answer["related"].as_array().unwrap().len(), 3);
    assert_eq!(answer["not_shown"], 17);
    let first = &answer["related"][0];
    assert!(first["path"].as_str().unwrap().starts_with(".blue/docs/adrs/"), "{answer}");
    assert!(first["passages"][0]["text"].as_str().unwrap().contains("cache"), "{answer}");
    assert!(first["passages"][0]["line"].as_u64().unwrap() > 1, "{answer}");
    for budget in [0, 50, 200, 700] {
        let arguments = json!({"about": "part cached", "limit": 100, "max_tokens": budget});
        let answer = client.tool("blue_related", arguments);
        let n = answer["related"].as_array().unwrap().len();
        assert_eq!(n + answer["not_shown"].as_u64().unwrap() as usize, 20, "{answer}");
        assert!(n == 0 || count(&answer.to_string()) <= budget, "{budget} {answer}");
    }
    assert!(
        client.tool("blue_related", json!({"about": "zebra"}))["related"]
            .as_array()
            .unwrap()
            .is_empty()
    );
}

#[test]
fn a_file_is_related_to_the_documents_that_bind_it() {
    let project = sample();
    project.write("src/cache/mod.rs", "x").write(
        ".blue/docs/adrs/0021-store.md",
        "# ADR 0021: Store\n\n- Status: accepted\n\n## Decision\n\nIt is `src/cache/`.\n",
    );
    project.build();
    let mut client = Client::new(&project, Era::Modern);
    for about in ["src/cache/mod.rs", "./src/cache/mod.rs:12", "src/cache/"] {
        let answer = client.tool("blue_related", json!({"about": about}));
        assert_eq!(answer["related"][0]["uri"], "blue://docs/adrs/0021-store", "{answer}");
        assert_eq!(answer["related"][0]["why"][0], "src/cache/: named in code, line 7");
    }
    let answer = client.tool("blue_related", json!({"about": "../src/cache"}));
    let bound = |near: &Value| near["why"].to_string().contains("named in code");
    assert!(!answer["related"].as_array().unwrap().iter().any(bound), "{answer}");
}

#[test]
fn several_documents_are_read_to_a_budget() {
    let project = sample();
    let mut client = Client::new(&project, Era::Legacy);
    let uris: Vec<String> = (1..=6).map(|i| format!("blue://adr/{i}")).collect();
    let whole = client.tool("blue_read", json!({"uris": [uris[0]], "max_tokens": 4000}));
    assert_eq!(whole["documents"][0]["text"], project.read(".blue/docs/adrs/0001-part-1.md"));
    assert_eq!(whole["documents"][0]["detail"], "full");
    for budget in [10, 100, 600, 1_500, 3_000, 20_000] {
        let answer = client.tool("blue_read", json!({"uris": uris, "max_tokens": budget}));
        let n = answer["documents"].as_array().unwrap().len();
        let not_shown = answer["not_shown"].as_array().unwrap();
        let n_not: u64 = not_shown.iter().map(|one| one["more"].as_u64().unwrap_or(1)).sum();
        assert_eq!(n as u64 + n_not, 6, "{budget} {answer}");
        if n > 0 {
            assert!(
                count(&answer.to_string()) <= budget,
                "{budget}: {}",
                count(&answer.to_string())
            );
        }
        if budget >= 600 {
            assert_eq!(n, 6, "less of each rather than none of some: {answer}");
        }
    }
    let many: Vec<String> = (0..50).map(|i| format!("blue://adr/{}", i % 20 + 1)).collect();
    for budget in [120, 300, 1_000] {
        let answer = client.tool("blue_read", json!({"uris": many, "max_tokens": budget}));
        assert!(count(&answer.to_string()) <= budget, "{budget} {answer}");
        assert!(budget < 300 || !answer["documents"].as_array().unwrap().is_empty(), "{answer}");
    }
    for detail in ["title", "line", "brief", "sections", "full"] {
        let arguments = json!({"uris": [uris[0]], "detail": detail});
        let answer = client.tool("blue_read", arguments);
        assert_eq!(answer["documents"][0]["detail"], detail, "{answer}");
    }
    // Every address can be read. A document with two addresses is returned once.
    let uris =
        json!(["blue://context/session", "blue://adr/1", "blue://docs/adrs/1", "blue://nobody/1"]);
    let answer = client.tool("blue_read", json!({"uris": uris}));
    assert_eq!(answer["documents"].as_array().unwrap().len(), 2, "{answer}");
    assert_eq!(answer["not_shown"][0]["uri"], "blue://nobody/1");
    let again = json!({"uris": ["blue://adr/1", "blue://adr/9"], "changed_only": true});
    let answer = client.tool("blue_read", again);
    assert_eq!(answer["documents"][0]["uri"], "blue://docs/adrs/0009-part-9", "{answer}");
    assert!(answer["not_shown"][0]["why"].as_str().unwrap().contains("unchanged"), "{answer}");
}

#[test]
fn status_reports_the_current_work_and_the_deliveries() {
    let project = sample();
    let mut client = Client::new(&project, Era::Modern);
    let status = client.tool("blue_status", json!({}));
    assert_eq!(status["documents"], json!({"count": 21, "live": 21}));
    assert_eq!(status["built"], "current");
    assert_eq!(status["work"]["uri"], "blue://docs/rfcs/0016-context");
    assert_eq!(status["work"]["open_tasks"], json!(["second"]));
    assert_eq!(status["hints"][0], "next: second");
    let source = |client: &mut Client, uri: &str| -> Value {
        let answer = client.tool("blue_context_status", json!({}));
        let sources = answer["sources"].as_array().unwrap().clone();
        sources.into_iter().find(|source| source["uri"] == uri).unwrap_or_default()
    };
    let session = "blue://context/session";
    assert_eq!(source(&mut client, session)["state"], "never injected");
    client.text(session);
    client.text("blue://adr/1");
    assert_eq!(source(&mut client, session)["state"], "fresh");
    let one = "blue://docs/adrs/0001-part-1";
    assert_eq!(source(&mut client, one)["state"], "fresh");
    project.write(".blue/docs/adrs/0001-part-1.md", "# ADR 0001: Other\n\nStatus: accepted\n");
    assert_eq!(source(&mut client, one)["state"], "changed since");
    let status = client.tool("blue_status", json!({}));
    assert!(status["built"].as_str().unwrap().contains("run `blue knowledge build`"), "{status}");
    project.build();
    assert_eq!(source(&mut client, session)["state"], "changed since");
}

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
    let n_read = |client: &mut Client| {
        client.tool("blue_read", read.clone())["documents"].as_array().unwrap().len()
    };
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
fn a_bad_call_is_answered_with_the_expected_arguments() {
    let project = sample();
    let mut client = Client::new(&project, Era::Modern);
    for (tool, arguments, expected) in [
        ("blue_read", json!({}), "missing field `uris`"),
        ("blue_read", json!({"uris": "blue://adr/1"}), "for example {"),
        ("blue_read", json!({"uris": []}), "it takes 1 to 50"),
        ("blue_read", json!({"uris": ["blue://adr/1"], "detail": "all"}), "detail is title"),
        ("blue_read", json!({"uris": ["blue://adr/1"], "max_tokens": -1}), "for example {"),
        ("blue_related", json!({"uri": "blue://adr/1"}), "unknown field `uri`"),
        ("blue_related", json!({"about": " "}), "about is empty"),
        ("blue_related", json!({"about": "blue://adr/99"}), "nothing at blue://adr/99"),
        ("blue_related", json!({"about": "blue://context/session"}), "is not a document"),
        ("blue_status", json!({"verbose": true}), "unknown field"),
        ("blue_context_status", json!({"session": 7}), "for example {"),
    ] {
        let result = client.result("tools/call", json!({"name": tool, "arguments": arguments}));
        assert_eq!(result["isError"], true, "{tool} {arguments}");
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(text.contains(expected), "{tool} {arguments}: {text}");
    }
    assert_eq!(client.ask("tools/call", json!({"name": "rm"}))["error"]["code"], -32602);
}

#[test]
fn tool_results_match_their_schemas() {
    let project = sample();
    let mut client = Client::new(&project, Era::Modern);
    let tools = client.result("tools/list", json!({}))["tools"].clone();
    let names: Vec<&str> =
        tools.as_array().unwrap().iter().map(|t| t["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["blue_context_status", "blue_related", "blue_read", "blue_status"]);
    for tool in tools.as_array().unwrap() {
        assert_eq!(tool["annotations"]["readOnlyHint"], true);
        for key in ["inputSchema", "outputSchema"] {
            assert_eq!(tool[key]["type"], "object", "{tool}");
        }
        let name = tool["name"].as_str().unwrap();
        let arguments = match name {
            "blue_related" => json!({"about": "part"}),
            "blue_read" => json!({"uris": ["blue://adr/1"]}),
            _ => json!({}),
        };
        let result = client.result("tools/call", json!({"name": name, "arguments": arguments}));
        // The text has the same content, for clients without structured results.
        let text = result["content"][0]["text"].as_str().unwrap();
        assert_eq!(serde_json::from_str::<Value>(text).unwrap(), result["structuredContent"]);
        let validator = jsonschema::validator_for(&tool["outputSchema"]).unwrap();
        assert!(validator.is_valid(&result["structuredContent"]), "{name}: {text}");
        let validator = jsonschema::validator_for(&tool["inputSchema"]).unwrap();
        assert!(validator.is_valid(&arguments), "{name}: {arguments}");
    }
}

/// The SDK's client validates every answer.
#[test]
fn the_official_sdk_client_can_use_the_server() {
    use rmcp::ServiceExt;
    use rmcp::model::{CallToolRequestParams, ReadResourceRequestParams};
    use rmcp::transport::TokioChildProcess;
    let project = sample();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_blue"));
        command.arg("mcp").current_dir(project.path());
        let sdk_client = ().serve(TokioChildProcess::new(command).unwrap()).await.unwrap();
        let resources = sdk_client.list_all_resources().await.unwrap();
        assert!(resources.len() > 20);
        for resource in &resources {
            let request = ReadResourceRequestParams::new(resource.uri.clone());
            let result = sdk_client.read_resource(request).await.unwrap();
            let value = serde_json::to_value(&result).unwrap();
            let text = value["contents"][0]["text"].as_str().unwrap();
            assert_eq!(resource.size, Some(text.len() as u64), "{}", resource.uri);
        }
        assert_eq!(sdk_client.list_all_tools().await.unwrap().len(), 4);
        assert_eq!(sdk_client.list_all_prompts().await.unwrap().len(), 2);
        assert!(sdk_client.list_all_resource_templates().await.unwrap().len() >= 10);
        let call = CallToolRequestParams::new("blue_status");
        let status = serde_json::to_value(sdk_client.call_tool(call).await.unwrap()).unwrap();
        assert_eq!(status["structuredContent"]["built"], "current");
        sdk_client.cancel().await.unwrap();
    });
}
