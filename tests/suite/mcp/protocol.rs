//! Opening, listing, notifications, prompts and the end of a connection.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{ERAS, sample};
use crate::support::mcp_client::{Client, Era};
use crate::support::{Project, mcp_client};

#[test]
fn both_protocol_versions_open_as_specified() {
    let project = sample();
    let mut client = Client::silent(&project, Era::Modern);
    let found = client.result("server/discover", json!({}));
    assert_eq!(found["resultType"], "complete");
    assert!(found["ttlMs"].is_u64() && found["cacheScope"] == "private", "{found}");
    let versions = found["supportedVersions"].clone();
    assert!(versions.as_array().unwrap().contains(&json!("2026-07-28")));
    assert!(found["capabilities"]["resources"]["listChanged"] == true, "{found}");
    // Both versions may follow a probe. A modern request needs no handshake.
    for (method, params) in [
        ("resources/list", json!({})),
        ("resources/templates/list", json!({})),
        ("tools/list", json!({})),
        ("prompts/list", json!({})),
        ("resources/read", json!({"uri": "blue://context/session"})),
    ] {
        let result = client.result(method, params);
        assert_eq!(result["resultType"], "complete", "{method}");
        assert!(result["ttlMs"].is_u64() && result["cacheScope"].is_string(), "{method} {result}");
        let server = &result["_meta"]["io.modelcontextprotocol/serverInfo"];
        assert_eq!(server["name"], "blue", "{method}");
    }
    // A request without metadata, or of an unknown version, is answered with an error.
    client.write(&json!({"jsonrpc": "2.0", "id": 900, "method": "tools/list", "params": {}}));
    assert_eq!(client.answer(900)["error"]["code"], -32602);
    let params = json!({"_meta": mcp_client::meta("2199-01-01")});
    client.write(&json!({"jsonrpc": "2.0", "id": 901, "method": "tools/list", "params": params}));
    let answer = client.answer(901);
    assert_eq!(answer["error"]["code"], -32022, "{answer}");
    assert_eq!(answer["error"]["data"]["supported"], versions);
    // Methods of the older protocol are unknown in the newer one and do not change the version.
    for method in ["no/such", "initialize", "ping", "resources/subscribe", "logging/setLevel"] {
        assert_eq!(client.ask(method, json!({}))["error"]["code"], -32601, "{method}");
    }
    assert_eq!(client.ask("resources/read", json!({}))["error"]["code"], -32602);
    assert_eq!(client.end(), 0);
    let mut client = Client::silent(&project, Era::Modern);
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"}});
    assert_eq!(client.ask("initialize", hello)["error"]["code"], -32601);
    assert_eq!(client.ask("ping", json!({}))["error"]["code"], -32601);
    assert_eq!(client.result("tools/list", json!({}))["resultType"], "complete");

    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut client = Client::silent(&project, Era::Legacy);
        let hello = json!({"protocolVersion": version, "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"}});
        let result = client.result("initialize", hello);
        assert_eq!(result["protocolVersion"], version);
        assert!(result.get("resultType").is_none() && result.get("ttlMs").is_none());
        assert_eq!(client.result("ping", json!({})), json!({}));
        let list = client.result("resources/list", json!({}));
        assert!(list.get("resultType").is_none() && list.get("ttlMs").is_none(), "{list}");
    }
}

#[test]
fn subscribers_are_notified_of_a_build() {
    let project = sample();
    let change = |text: &str| {
        project.write(
            ".blue/docs/adrs/0012-locks.md",
            format!("# ADR 0012: Locks\n\nStatus: accepted\n\n{text}\n"),
        );
        project.build();
    };
    let wait = Duration::from_secs(20);
    let (list, one) = ("notifications/resources/list_changed", "notifications/resources/updated");
    let mut old = Client::new(&project, Era::Legacy);
    old.all();
    old.result("resources/subscribe", json!({"uri": "blue://adr/12"}));
    let mut new = Client::new(&project, Era::Modern);
    new.all();
    let id = new.send(
        "subscriptions/listen",
        json!({"notifications": {"resourcesListChanged": true, "resourceSubscriptions": ["blue://adr/12"]}}),
    );
    assert!(new.wait_for("notifications/subscriptions/acknowledged", wait).is_some());
    change("one");
    for client in [&mut old, &mut new] {
        assert!(client.wait_for(list, wait).is_some());
        let updated = client.wait_for(one, wait).unwrap();
        assert_eq!(updated["params"]["uri"], "blue://adr/12");
        assert!(client.text("blue://adr/12").contains("one"));
    }
    // The list may be announced again at once, one resource only after thirty seconds.
    change("two");
    let notification = new.wait_for(list, wait).unwrap();
    let key = "io.modelcontextprotocol/subscriptionId";
    assert_eq!(notification["params"]["_meta"][key], id, "{notification}");
    assert!(old.wait_for(list, wait).is_some());
    assert!(old.wait_for(one, Duration::from_millis(500)).is_none());
    assert!(new.wait_for(one, Duration::from_millis(100)).is_none());
    assert!(old.text("blue://adr/12").contains("two"));
    // Another branch names another RFC.
    project.write(".git/HEAD", "ref: refs/heads/rfc/9999\n");
    assert!(new.wait_for(list, wait).is_some());
    // An open subscription does not keep the server from ending.
    let started = Instant::now();
    assert_eq!(new.end(), 0);
    assert!(started.elapsed() < Duration::from_secs(2));
}

#[test]
fn a_build_is_notified_once_although_dates_change_too() {
    let project = sample();
    project.git(&["init", "-q"]);
    project.git(&["add", "."]);
    project.git(&["commit", "-qm", "one"]);
    let wait = Duration::from_secs(20);
    let list = "notifications/resources/list_changed";
    let mut old = Client::new(&project, Era::Legacy);
    old.all();
    // The first dates, which the next server finds in the cache.
    assert!(old.wait_for(list, wait).is_some());
    let mut new = Client::new(&project, Era::Modern);
    new.send("subscriptions/listen", json!({"notifications": {"resourcesListChanged": true}}));
    assert!(new.wait_for("notifications/subscriptions/acknowledged", wait).is_some());
    project.write(".blue/docs/adrs/0020-new.md", "# ADR 0020: New\n\nStatus: accepted\n");
    project.git(&["add", "."]);
    project.git(&["commit", "-qm", "two"]);
    project.build();
    for client in [&mut old, &mut new] {
        assert!(client.wait_for(list, wait).is_some());
        // The list has the dates already.
        let all = client.all();
        let found = all.iter().find(|one| one["uri"] == "blue://docs/adrs/0020-new").unwrap();
        assert_eq!(found["annotations"]["lastModified"], "2026-01-25T12:00:00Z", "{found}");
    }
    for client in [&mut old, &mut new] {
        let again = client.wait_for(list, Duration::from_millis(1_500));
        assert!(again.is_none(), "{again:?}");
    }
}

#[test]
fn without_a_build_every_answer_says_what_to_run() {
    let project = Project::new();
    project.write(".blue/docs/adrs/0001-a.md", "# ADR 0001: A\n\nStatus: accepted\n");
    let hint = "run `blue knowledge build`";
    for era in ERAS {
        let mut client = Client::new(&project, era);
        for method in ["resources/list", "resources/templates/list"] {
            let result = client.result(method, json!({}));
            assert!(result["resources"].as_array().is_none_or(Vec::is_empty), "{result}");
            assert!(result["resourceTemplates"].as_array().is_none_or(Vec::is_empty), "{result}");
            assert!(result["_meta"]["blue/hint"].as_str().unwrap().contains(hint), "{result}");
        }
        let error = client.read("blue://context/session")["error"].clone();
        assert!(error["message"].as_str().unwrap().contains(hint), "{error}");
        for (tool, arguments) in [
            ("blue_status", json!({})),
            ("blue_context_status", json!({})),
            ("blue_related", json!({"about": "a"})),
            ("blue_read", json!({"uris": ["blue://adr/1"]})),
        ] {
            let result = client.result("tools/call", json!({"name": tool, "arguments": arguments}));
            assert_eq!(result["isError"], true);
            assert!(result["content"][0]["text"].as_str().unwrap().contains(hint), "{result}");
        }
        for prompt in ["brief", "decisions"] {
            let answer = client.result("prompts/get", json!({"name": prompt}));
            assert!(answer.to_string().contains(hint), "{answer}");
        }
    }
    let mut client = Client::new(&project, Era::Legacy);
    assert!(client.all().is_empty());
    project.build();
    // The server notices the build without a restart and notifies the client.
    assert!(client.text("blue://adr/1").contains("ADR 0001"));
    assert!(
        client.wait_for("notifications/resources/list_changed", Duration::from_secs(20)).is_some()
    );
    // A damaged manifest is reported.
    let manifest = project.read(".blue/context.manifest.yaml").replace("live: 1", "live: 2");
    project.write(".blue/context.manifest.yaml", manifest);
    // A checkout writes one file after the other, so the server waits before it reports damage.
    let until = Instant::now() + Duration::from_secs(20);
    loop {
        let answer = client.read("blue://adr/1");
        if answer["error"]["message"].as_str().is_some_and(|text| text.contains(hint)) {
            break;
        }
        assert!(Instant::now() < until, "{answer}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn prompts_return_the_built_bundles() {
    let project = sample();
    let mut client = Client::new(&project, Era::Legacy);
    let text_of =
        |result: &Value| result["messages"][0]["content"]["text"].as_str().unwrap().to_string();
    let brief = client.result("prompts/get", json!({"name": "brief"}));
    assert_eq!(text_of(&brief), project.read(".blue/context/workflow/0016-context.md"));
    let same = client.result("prompts/get", json!({"name": "brief", "arguments": {"rfc": "16"}}));
    assert_eq!(text_of(&same), text_of(&brief));
    let decisions = client.result("prompts/get", json!({"name": "decisions"}));
    assert_eq!(text_of(&decisions), project.read("knowledge/adrs.md"));
    assert_eq!(client.ask("prompts/get", json!({"name": "x"}))["error"]["code"], -32602);
    // Without a branch, the only RFC in progress is the current work.
    std::fs::remove_file(project.path().join(".git/HEAD")).unwrap();
    let only = client.result("prompts/get", json!({"name": "brief"}));
    assert_eq!(text_of(&only), text_of(&brief));
    project.write(".git/HEAD", "ref: refs/heads/rfc/9999\n");
    let none = client.result("prompts/get", json!({"name": "brief"}));
    assert!(text_of(&none).contains("no unfinished RFC is called rfc/9999"), "{none}");
}

#[test]
fn every_read_is_logged_with_the_digest_of_its_bytes() {
    let project = sample();
    let mut client = Client::new(&project, Era::Modern);
    let mut expected = Vec::new();
    for uri in
        ["blue://context/session", "blue://docs/adrs/0012-locks", "blue://docs/adrs/0013-crlf"]
    {
        let text = client.text(uri);
        let digest = blue::model::Digest::of(text.as_bytes()).to_string();
        expected.push((uri.to_string(), digest, text.len() as u64));
    }
    client.read("blue://docs/../../etc/passwd");
    let lines: Vec<Value> = project
        .read(".blue/local/audit.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 4);
    for (line, (uri, digest, bytes)) in lines.iter().zip(&expected) {
        assert_eq!(
            (&line["session_id"], &line["event"]),
            (&json!("test"), &json!("resources/read"))
        );
        assert_eq!((&line["source"], &line["content_hash"]), (&json!(uri), &json!(digest)));
        assert_eq!(line["bytes"], *bytes);
    }
    assert_eq!(lines[3]["event"], "refused");
    // A torn line does not damage the next one.
    let log = project.read(".blue/local/audit.jsonl") + "{\"timestamp\":\"20";
    project.write(".blue/local/audit.jsonl", log);
    client.text("blue://context/session");
    let last = project.read(".blue/local/audit.jsonl").lines().last().unwrap().to_string();
    assert!(serde_json::from_str::<Value>(&last).is_ok(), "{last}");
    let shown = project.blue(&["context", "show"]).stdout;
    assert!(shown.contains("fresh"), "{shown}");
}

#[test]
fn the_server_ends_with_its_client_and_on_signals() {
    let project = sample();
    for signal in [None, Some("INT"), Some("TERM")] {
        for era in ERAS {
            let mut client = Client::new(&project, era);
            client.result("tools/list", json!({}));
            let started = Instant::now();
            let code = match signal {
                None => client.end(),
                Some(signal) => {
                    let pid = client.child.id().to_string();
                    let kill =
                        std::process::Command::new("kill").args(["-s", signal, &pid]).status();
                    assert!(kill.unwrap().success());
                    client.child.wait().unwrap().code().unwrap_or(-1)
                }
            };
            assert_eq!(code, 0, "{signal:?}");
            assert!(
                started.elapsed() < Duration::from_secs(1),
                "{signal:?} {:?}",
                started.elapsed()
            );
        }
    }
    // No input, only a probe, or a notification first: none of these is an error.
    assert_eq!(Client::silent(&project, Era::Modern).end(), 0);
    let mut probed = Client::silent(&project, Era::Modern);
    probed.result("server/discover", json!({}));
    assert_eq!(probed.end(), 0);
    let mut odd = Client::silent(&project, Era::Modern);
    odd.write(
        &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}}),
    );
    odd.write(&json!({"jsonrpc": "2.0", "id": 4, "result": {}}));
    odd.result("server/discover", json!({}));
    odd.result("tools/list", json!({}));
    assert_eq!(odd.end(), 0);
}
