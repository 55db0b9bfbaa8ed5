//! Everything that reads a stranger's bytes, given bytes that nobody would write.
//!
//! Inputs are mutated from seeds written by hand. An answer that was not seen before keeps its input
//! as a new seed, so the search goes where behaviour differs. It runs for a few seconds with the other
//! tests; `BLUE_FUZZ_SECONDS=600 cargo test --test suite fuzz -- --nocapture` gives every target that long, and
//! BLUE_FUZZ_SEED another course. What broke once is kept in `tests/fuzz/` and tried first.

use crate::support;
use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::support::Project;
use crate::support::mcp_client::{Client, Era};
use blue::guard::Allowed;
use blue::model::name::name;
use blue::model::neutral::neutral;
use blue::model::plan::Limits;
use blue::model::uri::Uri;
use blue::model::{Digest, Format, Key, Source};
use blue::wire::agent::{Agent, hooks};
use blue::wire::cache::{self, FactsCache};
use blue::wire::config::Config;
use blue::wire::manifest::Manifest;
use blue::wire::register::{self, Traces, Wanted};
use blue::wire::{audit, header, installed, jsonl, older, record, schema, session, span};
use blue::{parse, wire};

/// What an input led to, as far as it tells one course through the code from another.
type Answer = Vec<u64>;

/// Small, quick and the same everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
}

/// Pieces that mean something to somebody.
const WORDS: &[&str] = &[
    "---\n",
    "\n",
    "\r\n",
    "\r",
    "\0",
    "\t",
    " ",
    "#",
    "## Status\n\n",
    "| a | b |\n|---|---|\n",
    "```",
    "~~~",
    "<!--",
    "-->",
    "<table><tr><td>",
    "[x](",
    "](",
    ")",
    "[a]: b\n",
    "![",
    "<",
    ">",
    "&lt;",
    "&#0;",
    "\\",
    "`",
    "*",
    "**",
    "- ",
    "1. ",
    "> ",
    "- [ ] ",
    "status: ",
    "title: ",
    "Superseded by ",
    "ADR 1",
    "RFC-2",
    "ADRs 1, 2 and 3",
    "blue://docs/adrs/1",
    "blue://",
    "..",
    "/",
    "%2e",
    "%00",
    "%",
    "?",
    "*x",
    "&x",
    "&a [*a]",
    "<<: *a",
    "!!binary ",
    "!!",
    "? ",
    ": ",
    "{",
    "}",
    "[",
    "]",
    "\"",
    "'",
    "|\n",
    ">-\n",
    "\u{feff}",
    "\u{202e}",
    "\u{200b}",
    "\u{e0041}",
    "\u{fe0f}",
    "👩‍👩‍👧",
    "é",
    "ß",
    "ı",
    "İ",
    "\u{0301}",
    "\u{2028}",
    "ﬀ",
    "0x1p-3",
    "1e999",
    "-9223372036854775809",
    "18446744073709551616",
    "null",
    "true",
    "NaN",
    "2026-01-25",
    "//",
    "/*",
    "*/",
    ",",
    ":",
    "\\u0000",
    "\\ud800",
    "hooks",
    "mcpServers",
    "blue",
    "checksum: ",
    "seal: ",
    "version: 1\n",
    "{}",
    "[]",
    "\"\"",
];

fn mutated(random: &mut Random, pool: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = pool[random.below(pool.len())].clone();
    for _ in 0..=random.below(4) {
        let at = random.below(bytes.len() + 1);
        let end = (at + random.below(40)).min(bytes.len());
        match random.below(9) {
            0 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            1 if at < bytes.len() => bytes[at] = random.next() as u8,
            2 => drop(bytes.drain(at..end)),
            3 => {
                let part = bytes[at..end].to_vec();
                let most = if random.below(40) == 0 { 400 } else { 3 };
                let n = 1 + random.below(most);
                bytes.splice(at..at, part.repeat(n));
            }
            4 => bytes.truncate(at),
            5 => {
                let other = &pool[random.below(pool.len())];
                let from = random.below(other.len() + 1);
                let part = other[from..(from + random.below(200)).min(other.len())].to_vec();
                bytes.splice(at..end, part);
            }
            6 => {
                let word = WORDS[random.below(WORDS.len())].as_bytes();
                let most = if random.below(30) == 0 { 300 } else { 1 };
                let n = 1 + random.below(most);
                bytes.splice(at..at, word.repeat(n));
            }
            _ => {
                let word = WORDS[random.below(WORDS.len())].as_bytes().to_vec();
                bytes.splice(at..at, word);
            }
        }
        bytes.truncate(1 << 16);
    }
    bytes
}

fn seconds(few: f64) -> Duration {
    let asked = std::env::var("BLUE_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok());
    Duration::from_secs_f64(asked.unwrap_or(few))
}

fn random() -> Random {
    let asked = std::env::var("BLUE_FUZZ_SEED").ok().and_then(|text| text.parse::<u64>().ok());
    Random(asked.unwrap_or(1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
}

/// What broke a target before.
fn kept(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz");
    let is_ours = |path: &Path| path.file_name().unwrap().to_string_lossy().starts_with(target);
    let paths = support::entries(&folder).into_iter().filter(|path| is_ours(path));
    paths.map(|path| std::fs::read(path).unwrap()).collect()
}

/// Tries a target for a while. A panic shows the input that led to it, and keeps it.
fn fuzz(target: &str, seeds: &[&[u8]], few: f64, judge: impl Fn(&[u8]) -> Answer) {
    let mut pool: Vec<Vec<u8>> =
        seeds.iter().map(|seed| seed.to_vec()).chain(kept(target)).collect();
    let mut seen = BTreeSet::new();
    let attempt = |bytes: &[u8]| {
        let started = Instant::now();
        let judged = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| judge(bytes)));
        let slow = started.elapsed() > Duration::from_secs(5);
        match judged {
            Ok(answer) if !slow => answer,
            _ => {
                let path =
                    std::env::temp_dir().join(format!("{target}-{}", Digest::of(bytes).short()));
                std::fs::write(&path, bytes).unwrap();
                panic!(
                    "{target} broke, slow: {slow}; keep {} in tests/fuzz/:\n{:?}",
                    path.display(),
                    String::from_utf8_lossy(bytes)
                );
            }
        }
    };
    for seed in &pool {
        seen.insert(attempt(seed));
    }
    let (mut random, started, mut n) = (random(), Instant::now(), 0u64);
    while started.elapsed() < seconds(few) {
        let bytes = mutated(&mut random, &pool);
        if seen.insert(attempt(&bytes)) && pool.len() < 4_000 {
            pool.push(bytes);
        }
        n += 1;
    }
    println!("{target}: {n} inputs, {} kinds of answer", seen.len());
    assert!(n > 20, "{target}: only {n} inputs");
}

/// How large something is, roughly.
fn size(n: usize) -> u64 {
    u64::from(usize::BITS - n.leading_zeros())
}

const DOCUMENT: &[u8] = b"---\ntitle: \"One\"\nstatus: accepted\ndate: 2026-01-25\nsupersedes: [ADR-2, '0003']\nx: &a {b: *a}\n---\n\n# ADR 0001: One\n\n| | |\n|---|---|\n| **Status** | Accepted |\n\n## Decision\n\nSee [two](0002-two.md#x), RFC 3, blue://docs/adrs/4 and `code`.\n\n- [ ] task\n\n```\nADR 9\n```\n";
const OLD_STYLE: &[u8] = b"# 1. Record decisions\r\n\r\nDate: 2016-02-12\r\n\r\n## Status\r\n\r\nSuperseded by [2. Two](0002-two.md)\r\n\r\n## Context\r\n\r\nText <table><tr><td>Status</td><td>Draft</td></tr></table>\r\n";

#[test]
fn documents() {
    fuzz(
        "documents",
        &[DOCUMENT, OLD_STYLE, b"", b"\xEF\xBB\xBF+++\ntitle = 1\n+++\n", b"Status: x\n=====\n"],
        4.0,
        |bytes| {
            let half = bytes.len() / 2;
            for sidecar in [None, Some(bytes[half..].to_vec())] {
                let source = Source { bytes: bytes.to_vec(), sidecar };
                parse::texts(&source, &Limits::default(), &Allowed::default());
                parse::work(&source, &Limits::default(), &Allowed::default());
                parse::parse(&source, &Limits::default(), &Allowed::default());
            }
            let whole = parse::whole(bytes, &Allowed::default());
            let safe = neutral(&whole);
            assert!(!safe.contains('\u{202e}') && !safe.contains('\u{1b}'), "not neutral");
            let facts = parse::parse(
                &Source { bytes: bytes.to_vec(), sidecar: None },
                &Limits::default(),
                &Allowed::default(),
            );
            assert_eq!(facts.n_bytes, bytes.len() as u64);
            assert!(
                !facts.line.contains('\n')
                    && facts.line.len() <= 240
                    && facts.sizes.brief.len <= 600
            );
            let n_lines = bytes.iter().filter(|b| matches!(b, b'\n' | b'\r')).count() as u32 + 1;
            assert!(
                facts
                    .references
                    .iter()
                    .all(|one| (1..=n_lines).contains(&one.line) && one.count > 0)
            );
            // What is kept of it is what comes back.
            let (digest, key) = (Digest::of(bytes), Key::new([7; 32]));
            let entry = cache::facts_entry(&digest, &facts);
            let file = [
                cache::facts_head(&Limits::default()),
                blue::wire::blocks::packed(std::iter::once(entry.as_slice()), &key)
                    .flatten()
                    .collect(),
            ]
            .concat();
            let again = FactsCache::open(file, &Limits::default(), &key).get(&digest);
            assert_eq!(again.map(|facts| format!("{facts:?}")), Some(format!("{facts:?}")));
            vec![
                size(facts.references.len()),
                size(facts.line.len()),
                size(safe.len()),
                size(facts.n_tokens as usize),
            ]
        },
    );
}

#[test]
fn names_and_addresses() {
    fuzz(
        "names",
        &[
            b"0001-one.accepted.md",
            b"RFC-0016 Some Title (draft).md",
            b"2026-01-25-x.md",
            b"kep/1234-x/README.md",
            b"ADR\xE2\x80\x94 7.markdown",
        ],
        2.0,
        |bytes| {
            let text = String::from_utf8_lossy(bytes);
            let name = name(&text);
            let id = if name.slug.is_empty() { "x" } else { &name.slug };
            let uri = Uri::of_document("adrs", id);
            assert!(Uri::parse(uri.as_str()).is_ok(), "{uri}");
            vec![size(name.slug.len()), u64::from(name.number.is_some())]
        },
    );
    fuzz(
        "addresses",
        &[
            b"blue://docs/adrs/0001-one",
            b"blue://context/session",
            b"blue://docs/rfcs/{active}",
            b"BLUE://x/../y",
            b"blue://docs/adrs/%2e%2e/x",
        ],
        2.0,
        |bytes| {
            let text = String::from_utf8_lossy(bytes);
            match Uri::parse(&text) {
                Ok(uri) => {
                    let segments = uri.segments();
                    let plain = |segment: &&str| {
                        !matches!(*segment, "." | "..")
                            && !segment.contains(['\0', '\\', '\n', '/'])
                    };
                    assert!(segments.iter().all(plain), "{uri}");
                    assert_eq!(Uri::parse(uri.as_str()).unwrap().as_str(), uri.as_str());
                    vec![1, segments.len() as u64]
                }
                Err(refusal) => vec![0, size(format!("{refusal:?}").len())],
            }
        },
    );
}

#[test]
fn what_people_write_for_blue() {
    let config: &[u8] = b"version: 1\nproject: x\ndocuments:\n- {type: adr, paths: ['docs/**/*.md']}\nidentity: {max_tokens: 400, sources: ['blue://docs/adrs/']}\nsecurity: {deny: ['*.x'], allow_external: false}\nlimits: {depth: 3}\ntokens: {margin_percent: 15}\n";
    fuzz(
        "config",
        &[
            config,
            b"a: &a [*a]\n",
            b"version: 1\n---\nversion: 2\n",
            b"tiers:\n  identity:\n    - uri: a\n    max_tokens: 5\nplugins: [x]\n",
            b"",
        ],
        2.5,
        |bytes| {
            let text = String::from_utf8_lossy(bytes);
            let findings = schema::validate("config", &text);
            let read = serde_yaml::from_str::<Option<Config>>(&text).ok().flatten();
            if let Some(config) = &read {
                let plan = config.plan();
                blue::discover::deny::DenyList::new(&plan.deny).ok();
            }
            older::intent(&text).ok();
            assert!(
                findings.iter().all(|finding| finding.line as usize <= text.lines().count() + 1)
            );
            vec![
                size(findings.len()),
                u64::from(read.is_some()),
                findings.first().map_or(0, |f| size(f.message.len())),
            ]
        },
    );
}

#[test]
fn what_blue_wrote() {
    let project = Project::new();
    project.write("docs/adr/0001-one.md", DOCUMENT).write("docs/adr/0002-two.md", OLD_STYLE);
    project.build();
    let read = |path: &str| std::fs::read(project.path().join(path)).unwrap();
    let manifest = read(".blue/context.manifest.yaml");
    fuzz("manifest", &[&manifest], 2.0, |bytes| {
        let known = Manifest::read(&String::from_utf8_lossy(bytes));
        assert!(known.is_err() || bytes == manifest, "another text passes for a manifest");
        vec![u64::from(known.is_ok()), known.err().map_or(0, |why| size(format!("{why:?}").len()))]
    });
    let lines: Vec<Vec<u8>> = ["documents", "relevance", "bundles"]
        .iter()
        .map(|name| read(&format!(".blue/context/{name}.jsonl")))
        .collect();
    fuzz("indexes", &[&lines[0], &lines[1], &lines[2], &read("knowledge/adrs.md")], 1.5, |bytes| {
        let mut answer = Answer::new();
        for format in [Format::Markdown, Format::Jsonl, Format::Yaml, Format::Bundle] {
            answer.push(
                header::undress(format, bytes)
                    .map_or(0, |undressed| 1 + size(undressed.body.len())),
            );
            header::seal(format, bytes);
        }
        for line in bytes.split(|b| *b == b'\n').take(20) {
            answer.push(u64::from(serde_json::from_slice::<jsonl::DocumentLine>(line).is_ok()));
            answer.push(u64::from(serde_json::from_slice::<jsonl::RelevanceLine>(line).is_ok()));
            answer.push(u64::from(serde_json::from_slice::<jsonl::BundleLine>(line).is_ok()));
        }
        serde_json::from_slice::<wire::commit::CommitRecord>(bytes).ok();
        answer
    });
}

#[test]
fn what_blue_keeps() {
    let project = Project::new();
    project.write("docs/adr/0001-one.md", DOCUMENT);
    project.build();
    let read = |path: &str| std::fs::read(project.path().join(path)).unwrap();
    let (facts, seen) = (read(".blue/local/facts"), read(".blue/local/record"));
    let (digest, key) = (Digest::of(DOCUMENT), project.key());
    let true_facts = FactsCache::open(facts.clone(), &Limits::default(), &key)
        .get(&digest)
        .map(|facts| format!("{facts:?}"));
    assert!(true_facts.is_some());
    let block = &facts[cache::facts_head(&Limits::default()).len()..];
    fuzz("caches", &[&facts, &seen, block], 2.0, |bytes| {
        let cache = FactsCache::open(bytes.to_vec(), &Limits::default(), &key);
        let found = cache.get(&digest).map(|facts| format!("{facts:?}"));
        assert!(found.is_none() || found == true_facts, "a cache that lies");
        let found_in = cache::facts_in(bytes, &digest, &key).map(|facts| format!("{facts:?}"));
        assert!(found_in.is_none() || found_in == true_facts, "a block that lies");
        let known = record::read(bytes, &digest);
        assert!(wire::snapshot::read(bytes, &digest, &digest).is_none());
        session::read(bytes);
        installed::read(bytes, &key);
        vec![
            size(cache.len()),
            u64::from(found.is_some()),
            u64::from(found_in.is_some()),
            u64::from(known.is_some()),
            size(cache.end() as usize),
        ]
    });
    let line: &[u8] = b"{\"timestamp\":\"2026-01-25T12:00:00Z\",\"session_id\":\"s\",\"event\":\"SessionStart\",\"source\":\"blue://context/session\",\"artifact\":\".blue/context/session.md\",\"content_hash\":\"blake3:00\",\"tokens\":1,\"bytes\":2}\n";
    fuzz("audit", &[line, &line.repeat(3), b"\n\n{", b"{\"timestamp\":1}\n"], 1.0, |bytes| {
        let (lines, n_lost) = audit::read(bytes, None);
        let n_lines = bytes.split(|b| *b == b'\n').filter(|line| !line.is_empty()).count();
        assert_eq!(lines.len() + n_lost, n_lines);
        let (own, _) = audit::read(bytes, Some("s"));
        assert!(own.len() <= lines.len());
        vec![size(lines.len()), size(n_lost)]
    });
}

#[test]
fn settings_of_agents_get_their_bytes_back() {
    let wanted = [Wanted::Hooks(hooks(Agent::Claude)), Wanted::Server];
    let seeds: [&[u8]; 7] = [
        b"{}", b"", b"{\n  // mine\n  \"model\": \"x\",\n  \"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"x\"}]}]}\n}\n",
        b"{\"mcpServers\": {\"other\": {\"command\": \"y\", \"args\": [1, 2.5e3, null]}}}\n",
        b"\xEF\xBB\xBF{\r\n\t\"a\": [],\r\n\t\"hooks\": {},\r\n}\r\n", b"/* c */ {\"hooks\":{\"SessionStart\":[ ]}} // end", b"[1]",
    ];
    fuzz("settings", &seeds, 3.0, |bytes| {
        let Ok(text) = std::str::from_utf8(bytes) else { return vec![9] };
        let scan = span::scan(text);
        let mut answer = vec![u64::from(scan.is_ok())];
        for wanted in &wanted {
            let mut traces = Traces::default();
            let Ok(with) = register::add(text, wanted, &mut traces) else { continue };
            assert!(
                register::is_in(&with, wanted).unwrap_or(false),
                "added, but not in it: {with:?}"
            );
            let again = register::add(&with, wanted, &mut Traces::default());
            assert_eq!(again.ok().as_deref(), Some(with.as_str()), "a second time changes it");
            let without = register::remove(&with, wanted, &traces).unwrap();
            // Where there was no value, one had to be made; and what was blue's before is gone too.
            let empty = scan.as_ref().is_ok_and(|scan| scan.root.is_none());
            if !empty && !register::is_taken(text) && !text.contains("blue") {
                assert_eq!(without, text, "not what it was");
            }
            answer.extend([
                size(with.len()),
                u64::from(without == text),
                traces.created.len() as u64,
            ]);
        }
        answer
    });
}

/// What an agent says to a hook; each run is a process.
#[test]
fn hooks_hear_anything() {
    let project = Project::new();
    project.write("docs/adr/0001-one.md", DOCUMENT);
    project.build();
    let said: &[u8] = b"{\"session_id\":\"abc\",\"hook_event_name\":\"SessionStart\",\"tool_name\":\"Edit\",\"tool_input\":{\"file_path\":\"docs/adr/0001-one.md\"},\"agent_id\":\"\"}";
    let events = [
        "session-start",
        "user-prompt-submit",
        "pre-tool-use",
        "post-tool-use",
        "pre-compact",
        "session-end",
    ];
    fuzz("hooks", &[said, b"", b"null", b"{\"session_id\":[\"\\u0000\"]}"], 3.0, |bytes| {
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

/// Lines to a server; after every line it must still answer.
#[test]
fn servers_hear_anything() {
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
