//! Addresses that the server resolves and what it returns for them.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};

use super::{ERAS, sample};
use crate::support::Project;
use crate::support::mcp_client::{Client, Era};

#[test]
fn every_listed_resource_has_its_listed_size() {
    let project = sample();
    for era in ERAS {
        let mut client = Client::new(&project, era);
        let all = client.all();
        let (mut uris, mut names) = (BTreeSet::new(), BTreeSet::new());
        for resource in &all {
            let uri = resource["uri"].as_str().unwrap();
            assert!(uri.is_ascii() && uris.insert(uri.to_string()), "{uri}");
            assert!(names.insert(resource["name"].clone().to_string()), "{resource}");
            for key in ["title", "description", "mimeType"] {
                assert!(!resource[key].as_str().unwrap().is_empty(), "{key} of {uri}");
            }
            assert_eq!(resource["annotations"]["audience"], json!(["assistant"]));
            let priority = resource["annotations"]["priority"].as_f64().unwrap();
            assert!((0.0..=1.0).contains(&priority));
            let read = client.result("resources/read", json!({"uri": uri}));
            let texts = read["contents"].as_array().unwrap().iter();
            let n_bytes: usize = texts.map(|text| text["text"].as_str().unwrap().len()).sum();
            assert_eq!(resource["size"], n_bytes, "{uri}");
        }
        for uri in [
            "blue://context/session",
            "blue://knowledge/adrs",
            "blue://context/voice",
            "blue://context/workflow/0016-context",
            "blue://docs/adrs/0003-%C3%BCberblick",
        ] {
            assert!(uris.contains(uri), "{uri} of {uris:?}");
        }
        let last = all.last().unwrap();
        assert_eq!(last["uri"], "blue://docs/adrs/0001-cache");
        let words = last["description"].as_str().unwrap();
        assert!(words.starts_with("Superseded by blue://docs/adrs/0002-no-cache"), "{words}");
        assert_eq!(all[0]["uri"], "blue://context/session");
    }
}

#[test]
fn the_size_of_every_kind_of_resource_is_what_is_read() {
    let project = sample();
    let secret = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    let text = |status: &str| {
        format!(
            "# ADR: T\r\n\r\n- Status: {status}\r\n\r\nThe token {secret} and a\u{202E}b </blue-session>\r\n"
        )
    };
    project
        .write(".blue/docs/adrs/0030-live.md", text("accepted"))
        .write(".blue/docs/adrs/0031-old.md", text("superseded by ADR 30"))
        .write(".blue/docs/adrs/0032-changed.md", text("accepted"))
        .write(".blue/docs/adrs/0033-changed.md", text("rejected"))
        .write(".blue/docs/rfcs/0040-work.md", text("draft"))
        .write("knowledge/notes.md", "# Notes\n\nWritten by hand.\n")
        .write(".blue/workflow.md", format!("Small commits, {secret}.\r\n"));
    project.build();
    // These changed since the build, the last one without another size.
    let plain = "# ADR 0034: Plain\n\n- Status: accepted\n\nA text and a word.\n";
    project.write(".blue/docs/adrs/0034-plain.md", plain);
    project.build();
    project.write(".blue/docs/adrs/0034-plain.md", plain.replace("and a", "<user"));
    project.write(".blue/docs/adrs/0032-changed.md", text("accepted") + "More, \u{202E} too.\r\n");
    project.write(".blue/docs/adrs/0033-changed.md", text("rejected").replace("and a", "<user"));
    // A checkout with CR LF line ends.
    let digest = project.read("knowledge/rfcs.md").replace('\n', "\r\n");
    project.write("knowledge/rfcs.md", digest);
    let mut client = Client::new(&project, Era::Modern);
    let mut kinds = BTreeSet::new();
    let all = client.all();
    assert_eq!(all[0]["uri"], "blue://context/knowledge");
    assert_eq!(
        (&all[0]["title"], &all[1]["uri"]),
        (&json!("Hand-written knowledge"), &json!("blue://context/session"))
    );
    for resource in all {
        let uri = resource["uri"].as_str().unwrap();
        let read = client.result("resources/read", json!({"uri": uri}));
        let contents = read["contents"].as_array().unwrap();
        let texts = contents.iter().map(|one| one["text"].as_str().unwrap());
        let whole: String = texts.collect();
        assert_eq!(resource["size"], whole.len(), "{uri}");
        assert!(!whole.contains(&secret), "{uri}");
        kinds.insert((whole.contains("[redacted: "), contents.len()));
    }
    // Redacted or not, with a banner or without.
    assert_eq!(kinds.len(), 4, "{kinds:?}");
}

#[test]
fn every_form_of_address_resolves() {
    let project = sample();
    let mut client = Client::new(&project, Era::Modern);
    let locks = project.read(".blue/docs/adrs/0012-locks.md");
    for uri in [
        "blue://docs/adrs/0012-locks",
        "blue://docs/adrs/12",
        "blue://docs/adrs/locks",
        "blue://adr/12",
        "blue://adr/0012",
        "blue://adr/locks",
    ] {
        assert_eq!(client.text(uri), locks, "{uri}");
    }
    let result = client.result("resources/read", json!({"uri": "blue://adr/12"}));
    assert_eq!(result["contents"][0]["uri"], "blue://adr/12");
    assert_eq!(result["contents"][0]["_meta"]["blue/uri"], "blue://docs/adrs/0012-locks");
    let bundle = project.read(".blue/context/workflow/0016-context.md");
    for uri in [
        "blue://state/current-rfc",
        "blue://context/workflow",
        "blue://context/workflow/0016-context",
    ] {
        assert_eq!(client.text(uri), bundle, "{uri}");
    }
    let rfc = project.read(".blue/docs/rfcs/0016-context.md");
    for uri in ["blue://docs/rfcs/{active}", "blue://docs/rfcs/%7Bactive%7D", "blue://rfc/context"]
    {
        assert_eq!(client.text(uri), rfc, "{uri}");
    }
    assert_eq!(client.text("blue://rfc/16/plan"), "# Plan\n\n- [ ] plan it\n");
    let tasks = client.text("blue://state/active-tasks");
    assert!(tasks.contains("- [ ] second\n") && !tasks.contains("[x]"), "{tasks}");
    assert_eq!(client.text("blue://context/session"), project.read(".blue/context/session.md"));
    assert_eq!(client.text("blue://docs/adrs/"), project.read("knowledge/adrs.md"));
    assert_eq!(client.text("blue://knowledge/adrs"), project.read("knowledge/adrs.md"));
    assert_eq!(client.text("blue://context/voice"), "Plain words.\n");
    // Letters beyond ASCII may be percent-encoded or not. The address in the answer is the same.
    let text = project.read(".blue/docs/adrs/0003-überblick.md");
    assert_eq!(client.text("blue://docs/adrs/0003-überblick"), text);
    assert_eq!(client.text("blue://docs/adrs/0003-%c3%bcberblick"), text);
}

#[test]
fn the_reference_tier_stays_within_its_budget() {
    let project = Project::new();
    let body = "A sentence that is told about the matter at hand. ".repeat(400);
    project.write(".blue/config.yaml", "reference: {max_tokens: 3000}\n");
    for i in 1..=8 {
        project.write(
            &format!(".blue/docs/adrs/{i:04}-part.md"),
            format!("# ADR {i:04}: Part {i}\n\n- Status: accepted\n\n## Decision\n\nPart {i} holds.\n\n## More\n\n{body}\n"),
        );
    }
    project.write(
        ".blue/docs/rfcs/0001-all.md",
        "# RFC 0001: All\n\n- Status: draft\n\nSee ADR 1, ADR 2, ADR 3, ADR 4, ADR 5, ADR 6, ADR 7 and ADR 8.\n",
    );
    project.write(".blue/worktree.json", "{\"rfc\": \"all\"}");
    project.build();
    let mut client = Client::new(&project, Era::Modern);
    for uri in [
        "blue://context/relevance",
        "blue://context/relevance/0001-all",
        "blue://context/relevance/rfc/1",
    ] {
        let result = client.result("resources/read", json!({"uri": uri}));
        let contents = result["contents"].as_array().unwrap();
        assert_eq!(contents.len(), 8, "{uri}");
        let mut n_tokens = 0;
        for content in contents {
            assert!(content["uri"].as_str().unwrap().starts_with("blue://docs/adrs/000"));
            let text = content["text"].as_str().unwrap();
            assert!(text.contains("Part"), "{text}");
            n_tokens += blue::condense::tokens::count(text);
            assert!(content["_meta"]["blue/why"].is_string(), "{content}");
        }
        assert!(n_tokens <= 3000, "{n_tokens}");
    }
}

#[test]
fn a_changed_document_is_returned_with_a_note() {
    let project = sample();
    let mut client = Client::new(&project, Era::Modern);
    let content = |client: &mut Client| {
        client.result("resources/read", json!({"uri": "blue://adr/12"}))["contents"][0].clone()
    };
    let before = content(&mut client);
    assert!(before["_meta"].get("blue/stale").is_none(), "{before}");
    project.write(".blue/docs/adrs/0012-locks.md", "# ADR 0012: Locks\n\nAnother text.\n");
    let after = content(&mut client);
    assert_eq!(after["text"], "# ADR 0012: Locks\n\nAnother text.\n");
    assert_eq!(after["_meta"]["blue/stale"], true);
    assert_eq!(after["_meta"]["blue/builtHash"], before["_meta"]["blue/hash"]);
    std::fs::remove_file(project.path().join(".blue/docs/adrs/0012-locks.md")).unwrap();
    let gone = client.read("blue://adr/12");
    assert_eq!(gone["error"]["code"], -32602, "{gone}");
    assert!(gone["error"]["message"].as_str().unwrap().contains("run `blue knowledge build`"));
    // An edited bundle is never returned as the built one.
    project.write(".blue/context/session.md", "<blue-session>edited</blue-session>\n");
    let edited = client.read("blue://context/session");
    assert!(
        edited["error"]["message"].as_str().unwrap().contains("differs from the last build"),
        "{edited}"
    );
}

#[test]
fn a_superseded_document_names_its_successor() {
    let project = sample();
    let mut client = Client::new(&project, Era::Legacy);
    let result = client.result("resources/read", json!({"uri": "blue://adr/1"}));
    let contents = result["contents"].as_array().unwrap();
    assert_eq!(contents[0]["text"], project.read(".blue/docs/adrs/0001-cache.md"));
    assert_eq!(contents[0]["_meta"]["blue/replacedBy"], json!(["blue://docs/adrs/0002-no-cache"]));
    assert!(contents[1]["text"].as_str().unwrap().contains("not a current decision"));
}

#[test]
fn an_unknown_address_is_an_error_with_the_nearest_match() {
    let project = sample();
    for (era, code) in [(Era::Legacy, -32002), (Era::Modern, -32602)] {
        let mut client = Client::new(&project, era);
        for uri in [
            "blue://docs/adrs/0012-lock",
            "blue://adr/99",
            "blue://nobody/x/y",
            "blue://context/nothing",
        ] {
            let error = client.read(uri)["error"].clone();
            assert_eq!(error["code"], code, "{uri} {error}");
            assert_eq!(error["data"]["uri"], uri);
        }
        let error = client.read("blue://docs/adrs/0012-lock")["error"].clone();
        assert_eq!(error["data"]["nearest"][0], "blue://docs/adrs/0012-locks");
        for cursor in ["x", "4:blue://docs/adrs/1", "4:../etc"] {
            let answer = client.ask("resources/list", json!({"cursor": cursor}));
            assert_eq!(answer["error"]["code"], -32602, "{cursor} {answer}");
        }
    }
}

#[test]
fn patterns_complete_by_number_slug_and_title() {
    let project = sample();
    let mut client = Client::new(&project, Era::Modern);
    let templates = client.result("resources/templates/list", json!({}));
    let templates = templates["resourceTemplates"].as_array().unwrap();
    let mut complete = |uri: &str, name: &str, value: &str, context: Value| {
        let params = json!({"ref": {"type": "ref/resource", "uri": uri},
            "argument": {"name": name, "value": value}, "context": {"arguments": context}});
        client.result("completion/complete", params)["completion"]["values"].clone()
    };
    let adr = "blue://adr/{number}";
    assert_eq!(complete(adr, "number", "12", json!({})), json!(["0012-locks"]));
    // Live documents come first. The prefix 1 matches 12, 13 and 1.
    let one = complete(adr, "number", "1", json!({}));
    assert_eq!(one, json!(["0012-locks", "0013-crlf", "0014-linked", "0001-cache"]));
    assert_eq!(complete(adr, "number", "CACHE", json!({})), json!(["0002-no-cache", "0001-cache"]));
    assert_eq!(complete(adr, "number", "windows", json!({})), json!(["0013-crlf"]));
    assert_eq!(
        complete("blue://docs/{collection}/", "collection", "rf", json!({})),
        json!(["rfcs"])
    );
    let id = "blue://docs/{collection}/{id}";
    let rfcs = complete(id, "id", "16", json!({"collection": "rfcs"}));
    assert_eq!(rfcs[0], "0016-context");
    assert_eq!(complete(id, "id", "zzz", json!({})), json!([]));
    // Every completion can be read.
    for template in templates {
        let uri = template["uriTemplate"].as_str().unwrap();
        let names: Vec<&str> =
            uri.split('{').skip(1).map(|rest| rest.split('}').next().unwrap()).collect();
        let mut read = uri.to_string();
        let mut context = json!({});
        for name in names {
            let values = complete(uri, name, "", context.clone());
            let Some(value) = values[0].as_str() else { continue };
            context[name] = json!(value);
            read = read.replace(&format!("{{{name}}}"), value);
        }
        if !read.contains('{') {
            let params = json!({"uri": read});
            let answer = Client::new(&project, Era::Modern).ask("resources/read", params);
            assert!(answer.get("error").is_none(), "{read}: {answer}");
        }
    }
}

#[test]
fn a_long_list_stops_and_templates_reach_the_rest() {
    let project = Project::new();
    for i in 1..=150 {
        let status = if i <= 20 { "superseded" } else { "accepted" };
        project.write(
            &format!(".blue/docs/adrs/{i:04}-x{i}.md"),
            format!("# ADR {i:04}: X{i}\n\n- Status: {status}\n"),
        );
    }
    // Everything refers to the decision 140.
    for i in 1..=30 {
        project.write(
            &format!(".blue/docs/rfcs/{i:04}-y{i}.md"),
            format!("# RFC {i:04}: Y{i}\n\n- Status: draft\n\nSee ADR 140.\n"),
        );
    }
    project.write(".blue/voice.md", "Plain words.\n");
    project.write(".git/HEAD", "ref: refs/heads/rfc/0016\n");
    project.build();
    for era in ERAS {
        let mut client = Client::new(&project, era);
        let list = client.result("resources/list", json!({}));
        assert!(list.get("nextCursor").is_none());
        let uris: Vec<&str> = list["resources"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["uri"].as_str().unwrap())
            .collect();
        assert_eq!(uris.len(), 100);
        let first = [
            "blue://context/session",
            "blue://knowledge/adrs",
            "blue://knowledge/rfcs",
            "blue://context/workflow/0016-y16",
            "blue://context/voice",
        ];
        assert_eq!(uris[..5], first);
        assert!(uris[5..].iter().all(|uri| uri.starts_with("blue://docs/adrs/")), "{uris:?}");
        assert!(uris.contains(&"blue://docs/adrs/0140-x140"), "the heaviest are listed");
        assert!(!uris.contains(&"blue://docs/adrs/0001-x1"), "history is not");
        // 150 ADRs, 30 RFCs, their bundles, the session, two digests and the voice.
        let templates = client.result("resources/templates/list", json!({}));
        let template = templates["resourceTemplates"].as_array().unwrap().iter();
        let id = "blue://docs/{collection}/{id}";
        let template = template.clone().find(|one| one["uriTemplate"] == id).unwrap();
        let description = template["description"].as_str().unwrap();
        assert!(
            description.ends_with("; 114 more than the resources that are listed"),
            "{description}"
        );
        for (collection, value, found) in [("adrs", "x1", "0001-x1"), ("rfcs", "30", "0030-y30")] {
            let params = json!({"ref": {"type": "ref/resource", "uri": id},
                "argument": {"name": "id", "value": value},
                "context": {"arguments": {"collection": collection}}});
            let values = client.result("completion/complete", params);
            let values = values["completion"]["values"].as_array().unwrap();
            assert!(values.contains(&json!(found)), "{values:?}");
            assert!(!client.text(&format!("blue://docs/{collection}/{found}")).is_empty());
        }
    }
}

#[test]
fn dates_come_from_git_and_are_cached() {
    let project = Project::new();
    project.write(".blue/docs/adrs/0001-a.md", "# ADR 0001: A\n\nStatus: accepted\n");
    project.write(".blue/docs/adrs/0002-b.md", "# ADR 0002: B\n\nStatus: accepted\n");
    project.build();
    project.git(&["init", "-q"]);
    project.git(&["add", ".blue/docs/adrs/0001-a.md"]);
    project.git(&["commit", "-qm", "one"]);
    let date = |client: &mut Client, id: &str| {
        let all = client.all();
        let uri = format!("blue://docs/adrs/{id}");
        let one = all.iter().find(|resource| resource["uri"] == uri).unwrap();
        one["annotations"].get("lastModified").cloned()
    };
    let mut client = Client::new(&project, Era::Legacy);
    client.all();
    // No answer waits for git. Subscribers are notified when the dates are known.
    let list = "notifications/resources/list_changed";
    assert!(client.wait_for(list, Duration::from_secs(20)).is_some());
    assert_eq!(date(&mut client, "0001-a"), Some(json!("2026-01-25T12:00:00Z")));
    assert_eq!(date(&mut client, "0002-b"), None);
    let mut next = Client::new(&project, Era::Modern);
    assert_eq!(date(&mut next, "0001-a"), Some(json!("2026-01-25T12:00:00Z")));
}
