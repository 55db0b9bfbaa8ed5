//! Mutated input for every format that blue reads.

use blue::guard::Allowed;
use blue::model::FileName;
use blue::model::escape::escape;
use blue::model::plan::Limits;
use blue::model::uri::Uri;
use blue::model::{Digest, Format, Key, Parsed, Source, State, TextFormat};
use blue::wire::agent::{Agent, SessionBy, hooks};
use blue::wire::cache::Seal;
use blue::wire::config::Config;
use blue::wire::facts::{self, FactsCache};
use blue::wire::manifest::Manifest;
use blue::wire::register::{JsonEntry, Registration, ServerForm, UndoInfo};
use blue::wire::{audit, header, installed, jsonc, jsonl, older, register, schema, session};
use blue::{parse, wire};

use super::{ASCIIDOC, Answer, DOCUMENT, MEDIAWIKI, OLD_STYLE, RESTRUCTURED_TEXT, fuzz, size};
use crate::support::Project;

#[test]
fn any_document_is_parsed() {
    fuzz(
        "documents",
        &[
            DOCUMENT,
            OLD_STYLE,
            MEDIAWIKI,
            ASCIIDOC,
            RESTRUCTURED_TEXT,
            b"",
            b"\xEF\xBB\xBF+++\ntitle = 1\n+++\n",
            b"Status: x\n=====\n",
        ],
        4.0,
        |bytes| {
            let half = bytes.len() / 2;
            for sidecar in [None, Some(bytes[half..].to_vec())] {
                for format in TextFormat::ALL {
                    let source = Source { bytes: bytes.to_vec(), sidecar: sidecar.clone(), format };
                    parse::texts(&source, &Limits::default(), &Allowed::default());
                    parse::work(&source, &Limits::default(), &Allowed::default());
                    parse::parse(&source, &Limits::default(), &Allowed::default());
                }
            }
            let whole = parse::whole(bytes, &Allowed::default());
            let safe = escape(&whole);
            assert!(!safe.contains('\u{202e}') && !safe.contains('\u{1b}'), "not neutral");
            let parsed = parse::parse(
                &Source { bytes: bytes.to_vec(), sidecar: None, format: TextFormat::Markdown },
                &Limits::default(),
                &Allowed::default(),
            );
            let Parsed { facts, .. } = &parsed;
            assert_eq!(facts.n_bytes, bytes.len() as u64);
            assert!(
                !facts.line.contains('\n') && facts.line.len() <= 240 && facts.brief.len <= 600
            );
            let n_lines = bytes.iter().filter(|b| matches!(b, b'\n' | b'\r')).count() as u32 + 1;
            assert!(
                facts
                    .references
                    .iter()
                    .all(|one| (1..=n_lines).contains(&one.line) && one.count > 0)
            );
            let (digest, seal) =
                (Digest::of(bytes), facts::seal(&Key::new([7; 32]), &Limits::default()));
            let entry = facts::encode(&digest, &parsed);
            let file = [seal.header(&[&entry]), entry].concat();
            assert_eq!(FactsCache::open(file, &seal).get(&digest).as_ref(), Some(&parsed));
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
fn any_name_and_any_address_is_parsed() {
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
            let name = FileName::parse(&text);
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
fn any_configuration_file_is_read_or_refused() {
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
fn any_emitted_file_is_read_or_refused() {
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
                header::parse(format, bytes).map_or(0, |undressed| 1 + size(undressed.body.len())),
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
fn any_cache_is_read_or_refused() {
    let project = Project::new();
    project.write("docs/adr/0001-one.md", DOCUMENT);
    project.build();
    let read = |path: &str| std::fs::read(project.path().join(path)).unwrap();
    let (facts, state) = (read(".blue/local/facts"), read(".blue/local/state"));
    let (digest, key) = (Digest::of(DOCUMENT), project.key());
    let seal = facts::seal(&key, &Limits::default());
    let parsed = FactsCache::open(facts.clone(), &seal).get(&digest);
    assert!(parsed.is_some());
    let state_seal = Seal::new("state", 1, &key, b"another context");
    fuzz("caches", &[&facts, &state], 2.0, |bytes| {
        let cache = FactsCache::open(bytes.to_vec(), &seal);
        let found = cache.get(&digest);
        assert!(found.is_none() || found == parsed, "a damaged cache is used");
        assert!(state_seal.decode::<State>(bytes).is_none(), "a foreign state is used");
        session::read(bytes);
        installed::read(bytes, &key);
        vec![size(cache.len()), u64::from(found.is_some())]
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
fn agent_settings_get_their_bytes_back() {
    let wanted = [
        Registration::Json(vec![JsonEntry::Hooks(hooks(Agent::Claude, SessionBy::Hook))]),
        Registration::Json(vec![JsonEntry::Server(ServerForm::McpServers)]),
    ];
    let seeds: [&[u8]; 7] = [
        b"{}", b"", b"{\n  // mine\n  \"model\": \"x\",\n  \"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"x\"}]}]}\n}\n",
        b"{\"mcpServers\": {\"other\": {\"command\": \"y\", \"args\": [1, 2.5e3, null]}}}\n",
        b"\xEF\xBB\xBF{\r\n\t\"a\": [],\r\n\t\"hooks\": {},\r\n}\r\n", b"/* c */ {\"hooks\":{\"SessionStart\":[ ]}} // end", b"[1]",
    ];
    fuzz("settings", &seeds, 3.0, |bytes| {
        let Ok(text) = std::str::from_utf8(bytes) else { return vec![9] };
        let scan = jsonc::parse(text);
        let mut answer = vec![u64::from(scan.is_ok())];
        for wanted in &wanted {
            let mut traces = UndoInfo::default();
            let Ok(with) = register::add(text, wanted, &mut traces) else { continue };
            assert!(
                register::is_registered(&with, wanted).unwrap_or(false),
                "added, but not in it: {with:?}"
            );
            let again = register::add(&with, wanted, &mut UndoInfo::default());
            assert_eq!(again.ok().as_deref(), Some(with.as_str()), "a second time changes it");
            let without = register::remove(&with, wanted, &traces).unwrap();
            // An empty file gets a value, and entries of blue that were there before are removed
            // too.
            let empty = scan.as_ref().is_ok_and(|scan| scan.root.is_none());
            if !empty && register::taken(text, wanted).is_none() && !text.contains("blue") {
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
