//! The tool `blue_new`, and what is said while `.blue/workflow.md` is missing.

use blue::condense::tokens::count;
use serde_json::json;

use crate::support::Project;
use crate::support::mcp_client::{Client, Era};

fn names(client: &mut Client) -> Vec<String> {
    let tools = client.result("tools/list", json!({}))["tools"].clone();
    tools.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().into()).collect()
}

/// Calls the tool that writes; the answer may be an error.
fn create(client: &mut Client, arguments: &serde_json::Value) -> serde_json::Value {
    client.result("tools/call", json!({"name": "blue_new", "arguments": arguments}))
}

#[test]
fn the_tool_that_writes_is_offered_only_if_the_configuration_allows_it() {
    let project = Project::with_two_decisions();
    project.build();
    let before = project.files();
    let mut client = Client::new(&project, Era::Modern);
    assert!(!names(&mut client).contains(&"blue_new".to_string()));
    let refused = create(&mut client, &json!({"type": "adr", "title": "X"}));
    assert_eq!(refused["isError"], true, "{refused}");
    assert_eq!(project.files(), before);
    drop(client);
    project.write(".blue/config.yaml", "mcp: {write: true}\n");
    project.build();
    let mut client = Client::new(&project, Era::Modern);
    assert!(names(&mut client).contains(&"blue_new".to_string()));
    let made = client.tool(
        "blue_new",
        json!({"type": "adr", "title": "Use TOML", "supersedes": "blue://docs/adrs/2"}),
    );
    assert_eq!(made["path"], "docs/adr/0003-use-toml.md", "{made}");
    let text = project.read("docs/adr/0003-use-toml.md");
    assert!(text.contains("[ADR 0002](0002-use-yaml.md)"), "{text}");
    assert!(project.read(".blue/context/documents.jsonl").contains("0003-use-toml.md"));
    for bad in [
        json!({"type": "plan", "title": "X"}),
        json!({"type": "adr", "title": "a\nb"}),
        json!({"type": "adr", "title": "X", "supersedes": "blue://docs/adrs/99"}),
        json!({"type": "adr", "title": "X", "path": "/etc/x"}),
    ] {
        let before = project.files();
        assert_eq!(create(&mut client, &bad)["isError"], true, "{bad}");
        assert_eq!(project.files(), before, "{bad}");
    }
}

#[test]
fn a_missing_guide_is_mentioned_until_it_is_written() {
    let project = Project::with_two_decisions();
    project.build();
    let offer = "No .blue/workflow.md found. Ask me to help set up project workflow.";
    assert!(project.blue(&["status"]).stdout.contains(&format!("hint: {offer}\n")));
    let mut client = Client::new(&project, Era::Modern);
    assert_eq!(client.tool("blue_status", json!({}))["hint"], offer);
    let shipped = client.text("blue://knowledge/workflow-creation");
    for word in ["Look", "Ask", "Write", "Confirm", ".blue/workflow.md"] {
        assert!(shipped.contains(word), "{shipped}");
    }
    let shown = project.blue(&["knowledge", "show", "blue://knowledge/workflow-creation"]);
    assert!(shown.stdout.contains("How to set up"), "{}", shown.stderr);
    let session = project.read(".blue/context/session.md");
    let lines: Vec<&str> = session
        .lines()
        .filter(|line| line.contains("blue://knowledge/workflow-creation"))
        .collect();
    assert_eq!(lines.len(), 1, "{session}");
    assert!(count(&session) <= 500, "{session}");
    drop(client);
    project.write(".blue/workflow.md", "We work in small steps.\n");
    project.build();
    let session = project.read(".blue/context/session.md");
    assert!(!session.contains("workflow-creation") && session.contains("small steps"), "{session}");
    assert!(!project.blue(&["status"]).stdout.contains(offer));
    let mut client = Client::new(&project, Era::Modern);
    assert!(client.tool("blue_status", json!({})).get("hint").is_none());
}

#[test]
fn a_file_of_the_project_comes_before_the_text_that_blue_ships() {
    let project = Project::with_two_decisions();
    project.write("knowledge/workflow-creation.md", "# Ours\n\nOur own way.\n");
    project.build();
    let shown = project.blue(&["knowledge", "show", "blue://knowledge/workflow-creation"]);
    assert!(shown.stdout.contains("Our own way."), "{}", shown.stdout);
}
