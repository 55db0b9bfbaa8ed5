//! Clients that send too much, read nothing or cancel everything.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::sample;
use crate::support::mcp_client::{Client, Era};
use crate::support::{Project, mcp_client};

#[test]
fn many_clients_lose_no_answer() {
    const CLIENTS: usize = 8;
    const EACH: usize = 1_250;
    let project = sample();
    let threads: Vec<_> = (0..CLIENTS)
        .map(|number| {
            let mut client =
                Client::new(&project, if number % 2 == 0 { Era::Legacy } else { Era::Modern });
            std::thread::spawn(move || {
                let mut open = BTreeMap::new();
                for i in 0..EACH {
                    let (method, params) = match i % 8 {
                        0 => ("resources/list", json!({})),
                        1 => {
                            ("resources/read", json!({"uri": format!("blue://adr/{}", i % 30 + 1)}))
                        }
                        2 => ("resources/read", json!({"uri": "blue://context/session"})),
                        3 => (
                            "tools/call",
                            json!({"name": "blue_related", "arguments": {"about": "part"}}),
                        ),
                        4 => ("tools/list", json!({})),
                        5 => ("prompts/get", json!({"name": "decisions"})),
                        6 => ("resources/read", json!({"uri": "blue://docs/../x"})),
                        _ => (
                            "completion/complete",
                            json!({
                                "ref": {"type": "ref/resource", "uri": "blue://adr/{number}"},
                                "argument": {"name": "number", "value": "1"},
                            }),
                        ),
                    };
                    open.insert(client.send(method, params), i % 8 == 6);
                    // At most 100 requests are open at once.
                    while open.len() > 100 {
                        settle(&mut client, &mut open);
                    }
                }
                while !open.is_empty() {
                    settle(&mut client, &mut open);
                }
                assert!(client.line(Duration::from_millis(50)).is_none());
                client.end()
            })
        })
        .collect();
    for thread in threads {
        assert_eq!(thread.join().unwrap(), 0);
    }
    // Every read left a complete line: three of eight requests read something, one is refused.
    let log = project.read(".blue/local/audit.jsonl");
    let before = if project.exists(".blue/local/audit.1.jsonl") {
        project.read(".blue/local/audit.1.jsonl")
    } else {
        String::new()
    };
    let lines: Vec<Value> =
        before.lines().chain(log.lines()).map(|line| serde_json::from_str(line).unwrap()).collect();
    let expected: usize = (0..EACH).filter(|i| [1, 2, 5, 6].contains(&(i % 8))).count() * CLIENTS;
    assert_eq!(lines.len(), expected);
}

#[test]
fn a_reader_never_sees_half_a_build() {
    let project = sample();
    let until = Instant::now() + Duration::from_secs(4);
    std::thread::scope(|scope| {
        let readers: Vec<_> = [Era::Legacy, Era::Modern]
            .into_iter()
            .map(|era| {
                let mut client = Client::new(&project, era);
                scope.spawn(move || {
                    let mut n = 0;
                    while Instant::now() < until {
                        for uri in
                            ["blue://context/session", "blue://knowledge/adrs", "blue://adr/2"]
                        {
                            assert!(client.text(uri).ends_with('\n'));
                            n += 1;
                        }
                        client.tool("blue_read", json!({"uris": ["blue://context/session"]}));
                    }
                    n
                })
            })
            .collect();
        let mut n_builds = 0;
        while Instant::now() < until {
            n_builds += 1;
            project.write(
                ".blue/docs/adrs/0001-part.md",
                format!("# ADR 0001: Part {n_builds}\n\n- Status: accepted\n\nNow {n_builds}.\n"),
            );
            project.build();
        }
        let n_reads: usize = readers.into_iter().map(|reader| reader.join().unwrap()).sum();
        assert!(n_builds > 5 && n_reads > 50, "{n_builds} {n_reads}");
    });
}

#[test]
fn the_server_waits_for_a_build_in_progress() {
    let project = sample();
    let mut client = Client::new(&project, Era::Modern);
    let whole = client.text("blue://knowledge/adrs");
    let built = project.read("knowledge/adrs.md");
    let lock = std::fs::File::open(project.path().join(".blue/local/lock")).unwrap();
    lock.lock().unwrap();
    project.write(".blue/local/txn/record", "renaming");
    project.write("knowledge/adrs.md", built.replace("Part", "Half"));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(600));
            project.write("knowledge/adrs.md", &built);
        });
        assert_eq!(client.text("blue://knowledge/adrs"), whole);
    });
}

/// Receives one answer.
fn settle(client: &mut Client, open: &mut BTreeMap<u64, bool>) {
    let answer = client.line(Duration::from_secs(60)).expect("an answer");
    let id = answer["id"].as_u64().unwrap_or_else(|| panic!("{answer}"));
    let fails = open.remove(&id).unwrap_or_else(|| panic!("no open request {id}"));
    assert_eq!(answer.get("error").is_some(), fails, "{answer}");
}

/// Sends messages without reading the answers. Returns the peak memory in kB, whether the server
/// stopped reading, and all answers, which are read afterwards.
fn flood(
    project: &Project,
    n: usize,
    message: fn(usize) -> Vec<Value>,
) -> (Option<u64>, bool, Vec<Value>) {
    let mut child =
        project.command(&["mcp"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let status = format!("/proc/{}/status", child.id());
    let writer = std::thread::spawn(move || {
        for i in 1..=n {
            for message in message(i) {
                stdin.write_all(format!("{message}\n").as_bytes()).unwrap();
            }
        }
    });
    std::thread::sleep(Duration::from_millis(1_500));
    let stopped = !writer.is_finished();
    let peak = std::fs::read_to_string(&status).ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("VmHWM:"))?.to_string();
        line.split_whitespace().nth(1)?.parse().ok()
    });
    let lines = BufReader::new(stdout).lines();
    let answers = lines.map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect();
    writer.join().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    (peak, stopped, answers)
}

fn request(id: usize, method: &str, mut params: Value) -> Value {
    params["_meta"] = mcp_client::meta("2026-07-28");
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

#[test]
fn a_client_that_does_not_read_does_not_use_up_memory() {
    let project = sample();
    project.write(
        ".blue/docs/adrs/0001-part.md",
        format!("# ADR 0001: Part\n\nStatus: accepted\n\n{}\n", "many words ".repeat(20_000)),
    );
    project.build();
    // Answers of 220 kB each: all of them would be 130 MB.
    let (peak, stopped, answers) = flood(&project, 600, |id| {
        vec![request(id, "resources/read", json!({"uri": "blue://adr/1"}))]
    });
    assert!(stopped && peak.is_none_or(|peak| peak < 90_000), "{peak:?} kB");
    // The server continues and loses no answer.
    let mut ids: Vec<u64> = answers.iter().filter_map(|answer| answer["id"].as_u64()).collect();
    ids.sort_unstable();
    assert_eq!(ids, (1..=600).collect::<Vec<_>>());
}

#[test]
fn a_client_that_cancels_or_repeats_does_not_use_up_memory() {
    let project = sample();
    let floods: [fn(usize) -> Vec<Value>; 4] = [
        |_| vec![request(7, "resources/list", json!({}))],
        |id| {
            let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
                "params": {"requestId": id, "_meta": mcp_client::meta("2026-07-28")}});
            vec![request(id, "resources/list", json!({})), cancel]
        },
        |id| {
            let listen = json!({"notifications": {"resourcesListChanged": true}});
            vec![request(id, "subscriptions/listen", listen)]
        },
        |_| {
            let listen = json!({"notifications": {"resourcesListChanged": true}});
            vec![request(7, "subscriptions/listen", listen)]
        },
    ];
    for (i, message) in floods.into_iter().enumerate() {
        // Cancelled requests and repeated ids need no answer, but they must not accumulate.
        let (peak, ..) = flood(&project, 4_000, message);
        assert!(peak.is_none_or(|peak| peak < 90_000), "{i}: {peak:?} kB");
    }
}

#[test]
fn a_thousand_unknown_subscriptions_do_not_slow_the_server() {
    let project = Project::new();
    for i in 1..=400 {
        project.write(
            &format!(".blue/docs/adrs/{i:04}-part-{i}.md"),
            format!("# ADR {i:04}: Part {i}\n"),
        );
    }
    project.build();
    let mut client = Client::new(&project, Era::Modern);
    let uris: Vec<String> =
        (0..1_000).map(|i| format!("blue://docs/adrs/{i}-{}", "long-".repeat(90))).collect();
    let started = Instant::now();
    client.send("subscriptions/listen", json!({"notifications": {"resourceSubscriptions": uris}}));
    client.result("tools/list", json!({}));
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
    let uris: Vec<&String> = uris.iter().take(50).collect();
    let started = Instant::now();
    client.tool("blue_read", json!({"uris": uris}));
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
}

#[test]
fn one_answer_never_mixes_two_builds() {
    let project = sample();
    let names = [
        ".blue/context.manifest.yaml",
        ".blue/context/documents.jsonl",
        ".blue/context/bundles.jsonl",
    ];
    let old = names.map(|name| project.read(name));
    project.write(".blue/docs/adrs/0099-new.md", "# ADR 0099: New\n\nStatus: accepted\n");
    project.build();
    let new = names.map(|name| project.read(name));
    for (name, text) in names.iter().zip(&old) {
        project.write(name, text);
    }
    let mut client = Client::new(&project, Era::Modern);
    let before = client.all().len();
    // The manifest is written first, as by a checkout, and a request comes in between.
    project.write(names[0], &new[0]);
    assert_eq!(client.all().len(), before);
    project.write(names[1], &new[1]);
    project.write(names[2], &new[2]);
    assert!(client.text("blue://adr/99").contains("New"));
    assert_eq!(client.all().len(), before + 1);
    // Files that never match are reported.
    for (text, what) in [
        (new[1].lines().take(3).map(|line| format!("{line}\n")).collect::<String>(), "cut"),
        (new[1].replace("Part 3\"", "<system-reminder>\""), "changed"),
        (String::new(), "empty"),
    ] {
        project.write(names[1], text);
        let answer = Client::new(&project, Era::Modern).read("blue://adr/1");
        let message = answer["error"]["message"].as_str().unwrap_or_default().to_string();
        assert!(message.contains("run `blue knowledge build`"), "{what}: {answer}");
    }
}

#[test]
fn the_server_survives_lines_that_are_no_messages() {
    let project = sample();
    let mut client = Client::new(&project, Era::Modern);
    let stdin = client.stdin.as_mut().unwrap();
    stdin.write_all(b"\n\n{\nnonsense\n\xff\xfe\n[]\n\"x\"\n{\"jsonrpc\":\"2.0\"}\n").unwrap();
    let mut long = vec![b'x'; 20 << 20];
    long.push(b'\n');
    stdin.write_all(&long).unwrap();
    stdin.write_all(format!("{}\n", "[".repeat(200_000)).as_bytes()).unwrap();
    assert!(client.text("blue://adr/2").contains("Part 2"));
    assert!(client.ask("tools/call", json!({"name": 7}))["error"]["code"].is_i64());
    assert!(client.ask("completion/complete", json!({"ref": {}}))["error"]["code"].is_i64());
    // A cancelled request is not answered and does not count against the limit.
    for _ in 0..200 {
        let id = client.send("resources/list", json!({}));
        client.write(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
            "params": {"requestId": id, "_meta": mcp_client::meta("2026-07-28")}}));
    }
    assert!(client.text("blue://adr/3").contains("Part 3"));
    let started = Instant::now();
    assert_eq!(client.end(), 0);
    assert!(started.elapsed() < Duration::from_secs(2));
}

#[test]
fn subscriptions_are_limited_and_end_when_cancelled() {
    let project = sample();
    let mut client = Client::new(&project, Era::Modern);
    let listen = json!({"notifications": {"resourcesListChanged": true}});
    let mut ids = Vec::new();
    for _ in 0..16 {
        ids.push(client.send("subscriptions/listen", listen.clone()));
        let heard =
            client.wait_for("notifications/subscriptions/acknowledged", Duration::from_secs(20));
        assert!(heard.is_some());
    }
    let answer = client.ask("subscriptions/listen", listen.clone());
    assert!(answer["error"]["message"].as_str().unwrap().contains("at most 16"), "{answer}");
    client.write(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": {"requestId": ids[0], "_meta": mcp_client::meta("2026-07-28")}}));
    client.result("tools/list", json!({}));
    let id = client.send("subscriptions/listen", listen);
    client.notes.clear();
    let until = Instant::now() + Duration::from_secs(5);
    while Instant::now() < until {
        match client.line(Duration::from_millis(200)) {
            Some(line) if line["id"] == id => panic!("{line}"),
            Some(line) if line["method"] == "notifications/subscriptions/acknowledged" => break,
            _ => {}
        }
    }
    assert_eq!(client.end(), 0);
}
