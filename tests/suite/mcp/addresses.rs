//! Every kind of address gives the same answer on the command line and from the server.

use serde_json::json;

use crate::support::Project;
use crate::support::mcp_client::{Client, Era};

fn project() -> Project {
    let project = Project::new();
    project
        .write(".git/HEAD", "ref: refs/heads/rfc/context\n")
        .write(".blue/voice.md", "Plain words.\n")
        .write(".blue/workflow.md", "Small commits.\n")
        .write("knowledge/notes.md", "# Notes\n\nWritten by hand.\n")
        .write(".blue/docs/adrs/0001-cache.md", adr(1, "Cache", "superseded by ADR 5"))
        .write(".blue/docs/adrs/0005-locks.md", adr(5, "Locks", "accepted"))
        .write(".blue/docs/adrs/0003-überblick.md", adr(3, "Überblick", "accepted"))
        .write(
            ".blue/docs/rfcs/0016-context.md",
            "# RFC 0016: Context\n\n- Status: draft\n\nSee ADR 5 and ADR 3.\n\n## Tasks\n\n- [x] first\n- [ ] second\n\n## Success criteria\n\n- it works\n",
        )
        .write(".blue/docs/rfcs/0016-context.plan.md", "# Plan\n\n- [ ] plan it\n")
        .write(".blue/docs/spikes/2026-01-25-speed.md", "# Speed\n\n- Status: done\n")
        .write(".blue/docs/dialogues/talk.dialogue.recorded.md", "# Talk\n\nWords.\n")
        .write(".blue/contracts/api.md", "# API\n\nA contract.\n");
    project.build();
    project
}

fn adr(number: u32, title: &str, status: &str) -> String {
    format!(
        "# ADR {number:04}: {title}\n\n- Status: {status}\n\n## Decision\n\n{title} it is. {}\n",
        "A sentence that takes room. ".repeat(30)
    )
}

/// The texts of a resource, without the banner of a document that is not current.
fn texts(client: &mut Client, uri: &str) -> Result<String, String> {
    let answer = client.read(uri);
    let Some(contents) = answer["result"]["contents"].as_array() else {
        return Err(answer["error"]["message"].as_str().unwrap().to_string());
    };
    let texts = contents.iter().filter(|content| content["_meta"].is_object());
    let texts: Vec<&str> = texts.filter_map(|content| content["text"].as_str()).collect();
    Ok(texts.join("\n"))
}

#[test]
fn the_command_line_and_the_server_give_the_same_text() {
    let project = project();
    let mut client = Client::new(&project, Era::Modern);
    for uri in [
        "blue://docs/adrs/",
        "blue://docs/rfcs/",
        "blue://docs/adrs/0005-locks",
        "blue://docs/adrs/5",
        "blue://docs/adrs/locks",
        "blue://docs/adrs/0001-cache",
        "blue://docs/adrs/0003-überblick",
        "blue://docs/adrs/0003-%c3%bcberblick",
        "blue://docs/rfcs/{active}",
        "blue://docs/rfcs/%7Bactive%7D",
        "blue://adr/5",
        "blue://adr/0005",
        "blue://adr/locks",
        "blue://rfc/16",
        "blue://rfc/context",
        "blue://rfc/16/plan",
        "blue://spike/speed",
        "blue://dialogue/talk",
        "blue://contract/api",
        "blue://knowledge/adrs",
        "blue://knowledge/notes",
        "blue://context/session",
        "blue://context/workflow",
        "blue://context/workflow/0016-context",
        "blue://context/guide",
        "blue://context/voice",
        "blue://context/documents",
        "blue://context/bundles",
        "blue://context/paths",
        "blue://context/relevance",
        "blue://context/relevance/5",
        "blue://context/relevance/rfc/16",
        "blue://state/current-rfc",
        "blue://state/active-tasks",
    ] {
        let shown = project.blue(&["knowledge", "show", uri]);
        assert_eq!(shown.code, 0, "{uri}: {}", shown.stderr);
        assert_eq!(texts(&mut client, uri).as_ref(), Ok(&shown.stdout), "{uri}");
        assert!(!shown.stdout.is_empty(), "{uri}");
    }
    assert_eq!(
        texts(&mut client, "blue://knowledge/notes").unwrap(),
        "# Notes\n\nWritten by hand.\n"
    );
}

#[test]
fn an_address_that_fails_fails_for_the_same_reason_in_both() {
    let project = project();
    let mut client = Client::new(&project, Era::Modern);
    for (uri, reason) in [
        ("blue://docs/adrs/nonsense", "nothing at blue://docs/adrs/nonsense"),
        ("blue://knowledge/missing", "nothing at blue://knowledge/missing"),
        ("blue://docs/adrs/{active}", "is not in adrs"),
        ("blue://context/relevance/context/voice", "blue://context/voice is not a document"),
        ("blue://context/nonsense", "nothing at blue://context/nonsense"),
        ("blue://docs/%2e%2e/x", "an address has only letters"),
        ("blue://docs/../x", "an address has no empty"),
        ("file:///etc/passwd", "an address begins with blue://"),
        ("blue://docs/adrs/0003-%c3", "the address is not UTF-8"),
    ] {
        let shown = project.blue(&["knowledge", "show", uri]);
        assert_eq!(shown.code, 2, "{uri}: {}", shown.stdout);
        assert!(shown.stderr.contains(reason), "{uri}: {}", shown.stderr);
        let error = texts(&mut client, uri).unwrap_err();
        assert!(error.contains(reason), "{uri}: {error}");
    }
    project.write(".git/HEAD", "ref: refs/heads/main\n");
    for uri in ["blue://state/current-rfc", "blue://state/active-tasks", "blue://context/relevance"]
    {
        let shown = project.blue(&["knowledge", "show", uri]);
        let reason = "no unfinished RFC is called main";
        assert!(shown.stderr.contains(reason), "{uri}: {}", shown.stderr);
        let error = texts(&mut client, uri).unwrap_err();
        assert!(error.contains(reason), "{uri}: {error}");
    }
}

#[test]
fn what_is_related_to_an_address_is_the_same_in_both() {
    let project = project();
    let mut client = Client::new(&project, Era::Modern);
    for about in [
        "blue://rfc/16",
        "blue://docs/rfcs/{active}",
        "blue://state/current-rfc",
        "blue://state/active-tasks",
        "blue://context/relevance/5",
        ".blue/docs/rfcs/0016-context.md",
        "locks",
    ] {
        let shown = project.blue(&["knowledge", "related", about]);
        assert_eq!(shown.code, 0, "{about}: {}", shown.stderr);
        let asked = client.tool_text("blue_related", json!({"about": about}));
        assert_eq!(asked, shown.stdout, "{about}");
        assert!(asked.starts_with(".blue/docs/"), "{about}: {asked}");
    }
}
