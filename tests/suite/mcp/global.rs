//! The user's own knowledge, which has the addresses `blue://global/…`.

use serde_json::json;

use super::tools::tags;
use crate::support;
use crate::support::Project;
use crate::support::mcp_client::{Client, Era};

/// A project, and a user with decisions of their own.
fn project() -> Project {
    let project = Project::new();
    project.write(
        ".blue/docs/adrs/0001-here.md",
        "# ADR 0001: Here\n\n- Status: accepted\n\n## Decision\n\nTabs here.\n",
    );
    project.build();
    let own =
        |path: &str, text: &str| support::write(&project.home().join(".blue").join(path), text);
    own(
        "docs/adrs/0001-everywhere.md",
        "# ADR 0001: Everywhere\n\n- Status: superseded by ADR 2\n\n## Decision\n\nSpaces.\n",
    );
    own(
        "docs/adrs/0002-tabs.md",
        "# ADR 0002: Tabs\n\n- Status: accepted\n- Supersedes: ADR 1\n\n## Decision\n\nTabs everywhere.\n",
    );
    own("docs/rfcs/0001-more.md", "# RFC 0001: More\n\n- Status: draft\n\nMore tabs, see ADR 2.\n");
    let home = project.home().join(".blue");
    assert_eq!(project.blue(&["-C", home.to_str().unwrap(), "knowledge", "build"]).code, 0);
    project
}

#[test]
fn the_global_bundle_says_that_it_is_global_and_its_addresses_work() {
    let project = project();
    let start = r#"{"session_id": "s", "hook_event_name": "SessionStart"}"#;
    let text = project.blue_with_input(&["hook", "session-global"], start);
    assert!(text.starts_with("<blue-session scope=\"global\" "), "{text}");
    assert!(text.contains("not decisions of this project"), "{text}");
    assert!(text.contains("Decisions in force, blue://global/docs/adrs/<number>:"), "{text}");
    assert!(!text.contains(" docs/"), "paths below another folder are of no use: {text}");
    let shown = project.blue(&["knowledge", "show", "blue://global/docs/adrs/2"]);
    assert!(shown.stdout.contains("Tabs everywhere."), "{}", shown.stderr);
    // The bundle of the project is not global.
    let own = project.blue_with_input(&["hook", "session-start"], start);
    assert!(own.starts_with("<blue-session ") && !own.contains("global"), "{own}");
}

#[test]
fn global_addresses_can_be_read_on_the_command_line_and_from_the_server() {
    let project = project();
    let home = project.home().join(".blue");
    let mut client = Client::new(&project, Era::Modern);
    for (address, path) in [
        ("docs/adrs/0002-tabs", "docs/adrs/0002-tabs.md"),
        ("docs/adrs/2", "docs/adrs/0002-tabs.md"),
        ("adr/tabs", "docs/adrs/0002-tabs.md"),
        ("docs/adrs/1", "docs/adrs/0001-everywhere.md"),
        ("knowledge/adrs", "knowledge/adrs.md"),
        ("docs/adrs/", "knowledge/adrs.md"),
        ("context/session", ".blue/context/session.md"),
    ] {
        let uri = format!("blue://global/{address}");
        let text = std::fs::read_to_string(home.join(path)).unwrap();
        let shown = project.blue(&["knowledge", "show", &uri]);
        assert_eq!(shown.stdout, text, "{uri}: {}", shown.stderr);
        assert_eq!(client.text(&uri), text, "{uri}");
        let answer = client.tool_text("blue_read", json!({"uris": [uri]}));
        let absolute = home.canonicalize().unwrap().join(path);
        let tag = format!("<blue-document path=\"{}\" uri=\"blue://global/", absolute.display());
        assert!(tags(&answer)[0].starts_with(&tag), "{answer}");
    }
    // Everything that is returned is global too.
    let old = client.result("resources/read", json!({"uri": "blue://global/adr/1"}));
    let meta = &old["contents"][0]["_meta"];
    assert_eq!(meta["blue/uri"], "blue://global/docs/adrs/0001-everywhere", "{old}");
    assert_eq!(meta["blue/replacedBy"], json!(["blue://global/docs/adrs/0002-tabs"]), "{old}");
    assert!(client.text("blue://adr/1").contains("ADR 0001: Here"));
    // A delivery is logged in the project of the session.
    let log = project.audit_log();
    assert!(
        log.iter().any(|line| line["source"] == "blue://global/docs/adrs/0002-tabs"),
        "{log:?}"
    );
    let about = "blue://global/docs/adrs/2";
    let shown = project.blue(&["knowledge", "related", about]).stdout;
    let first = format!("{}/docs/", home.canonicalize().unwrap().display());
    assert!(shown.starts_with(&first), "{shown}");
    assert_eq!(client.tool_text("blue_related", json!({"about": about})), shown);
}

#[test]
fn a_global_address_that_fails_fails_in_both_with_a_global_suggestion() {
    let project = project();
    let mut client = Client::new(&project, Era::Modern);
    for (uri, reason) in [
        ("blue://global/docs/adrs/0002-tab", "nothing at blue://global/docs/adrs/0002-tab"),
        ("blue://global/docs/adrs/0002-tab", "blue://global/docs/adrs/0002-tabs"),
        ("blue://global/docs/../adrs", "an address has no empty"),
        ("blue://global/global/adr/2", "nothing at blue://global/"),
    ] {
        let shown = project.blue(&["knowledge", "show", uri]);
        assert_eq!(shown.code, 2, "{uri}: {}", shown.stdout);
        assert!(shown.stderr.contains(reason), "{uri}: {}", shown.stderr);
        let error = client.read(uri)["error"]["message"].as_str().unwrap().to_string();
        assert!(error.contains(reason), "{uri}: {error}");
    }
    let without = Project::with(".blue/docs/adrs/0001-a.md", "# ADR 0001: A\n");
    without.build();
    let shown = without.blue(&["knowledge", "show", "blue://global/adr/1"]);
    assert!(shown.stderr.contains("no global knowledge"), "{}", shown.stderr);
    let mut client = Client::new(&without, Era::Modern);
    let error = client.read("blue://global/adr/1");
    assert!(error.to_string().contains("no global knowledge"), "{error}");
    let templates = client.result("resources/templates/list", json!({}));
    assert!(!templates.to_string().contains("global"), "{templates}");
}

#[test]
fn global_addresses_have_templates_that_complete() {
    let project = project();
    let mut client = Client::new(&project, Era::Modern);
    let templates = client.result("resources/templates/list", json!({}));
    let id = "blue://global/docs/{collection}/{id}";
    assert!(templates.to_string().contains(id), "{templates}");
    let params = json!({"ref": {"type": "ref/resource", "uri": id},
        "argument": {"name": "id", "value": "tab"},
        "context": {"arguments": {"collection": "adrs"}}});
    let values = client.result("completion/complete", params)["completion"]["values"].clone();
    assert_eq!(values, json!(["0002-tabs"]));
}
