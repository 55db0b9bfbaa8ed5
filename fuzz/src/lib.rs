//! Fuzz targets: one function for each kind of untrusted input, with the properties it must have.
//!
//! The targets are those of `tests/suite/fuzz`. That search follows new answers; this one follows
//! branch coverage.

use blue::guard::{self, Allowed};
use blue::model::hidden_chars::hidden_in;
use blue::model::FileName;
use blue::model::escape::escape;
use blue::model::plan::Limits;
use blue::model::uri::Uri;
use blue::model::{Digest, Format, Key, Source, State, TextFormat};
use blue::wire::agent::{Agent, SessionBy, hooks};
use blue::wire::cache::Seal;
use blue::wire::config::Config;
use blue::wire::facts::{self, FactsCache};
use blue::wire::manifest::Manifest;
use blue::wire::register::{self, JsonEntry, Registration, ServerForm, UndoInfo};
use blue::wire::{audit, commit, header, installed, jsonc, jsonl, older, schema, session};
use blue::parse;

/// Parses a document, with and without a metadata file next to it.
pub fn documents(bytes: &[u8]) {
    let limits = Limits::default();
    for sidecar in [None, Some(bytes[bytes.len() / 2..].to_vec())] {
        for format in TextFormat::ALL {
            let source = Source { bytes: bytes.to_vec(), sidecar: sidecar.clone(), format };
            parse::texts(&source, &limits, &Allowed::default());
            parse::work(&source, &limits, &Allowed::default());
            parse::parse(&source, &limits, &Allowed::default());
        }
    }
    let whole = parse::whole(bytes, &Allowed::default());
    let safe = escape(&whole);
    assert!(!safe.contains('\u{202e}') && !safe.contains('\u{1b}'), "not escaped");
    let source = Source { bytes: bytes.to_vec(), sidecar: None, format: TextFormat::Markdown };
    let parsed = parse::parse(&source, &limits, &Allowed::default());
    let facts = &parsed.facts;
    assert!(!facts.line.contains('\n') && facts.line.len() <= 240 && facts.brief.len <= 600);
    let n_lines = bytes.iter().filter(|b| matches!(b, b'\n' | b'\r')).count() as u32 + 1;
    let placed = |line: u32| line <= n_lines;
    assert!(facts.references.iter().all(|one| placed(one.line) && one.line > 0 && one.count > 0));
    assert!(parsed.notes.iter().all(|note| placed(note.line)), "a line number after the end");
    let digest = Digest::of(bytes);
    let entry = facts::encode(&digest, &parsed);
    let seal = facts::seal(&Key::new([7; 32]), &limits);
    let file = [seal.header(&[&entry]), entry].concat();
    assert_eq!(FactsCache::open(file, &seal).get(&digest), Some(parsed));
}

/// Scans a text: line numbers do not change, and no hidden character remains.
pub fn guard(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let clean = guard::clean(&text, &Allowed::default());
    let n_lines = |text: &str| text.matches('\n').count();
    assert_eq!(n_lines(&clean.text), n_lines(&text), "line numbers changed");
    let n_placed = n_lines(&text) as u32 + 1;
    assert!(clean.notes.iter().all(|note| note.line <= n_placed), "a line number after the end");
    let safe = escape(&clean.text);
    assert!(hidden_in(&safe).is_empty(), "a hidden character remains");
    guard::check_name(&text);
    guard::redacted(&text);
}

/// Parses a file name and builds an address from it.
pub fn names(bytes: &[u8]) {
    let name = FileName::parse(&String::from_utf8_lossy(bytes));
    let id = if name.slug.is_empty() { "x" } else { &name.slug };
    let uri = Uri::of_document("adrs", id);
    assert!(Uri::parse(uri.as_str()).is_ok(), "{uri}");
}

/// Parses an address.
pub fn addresses(bytes: &[u8]) {
    let Ok(uri) = Uri::parse(&String::from_utf8_lossy(bytes)) else { return };
    let plain = |segment: &&str| {
        !matches!(*segment, "." | "..") && !segment.contains(['\0', '\\', '\n', '/'])
    };
    assert!(uri.segments().iter().all(plain), "{uri}");
    assert_eq!(Uri::parse(uri.as_str()).expect("a parsed address parses again").as_str(), uri.as_str());
}

/// Validates and parses a configuration.
pub fn config(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let findings = schema::validate("config", &text);
    if let Ok(Some(config)) = serde_yaml::from_str::<Option<Config>>(&text) {
        blue::discover::deny::DenyList::new(&config.plan().deny).ok();
    }
    older::intent(&text).ok();
    let n_lines = text.lines().count() + 1;
    assert!(findings.iter().all(|finding| finding.line as usize <= n_lines));
}

/// Reads a manifest.
pub fn manifest(bytes: &[u8]) {
    if let Ok(manifest) = Manifest::read(&String::from_utf8_lossy(bytes)) {
        manifest.source_line();
    }
}

/// Reads headers of emitted files and lines of the indexes.
pub fn indexes(bytes: &[u8]) {
    for format in [Format::Markdown, Format::Jsonl, Format::Yaml, Format::Bundle] {
        header::parse(format, bytes);
        header::seal(format, bytes);
    }
    for line in bytes.split(|b| *b == b'\n').take(20) {
        serde_json::from_slice::<jsonl::DocumentLine>(line).ok();
        serde_json::from_slice::<jsonl::RelevanceLine>(line).ok();
        serde_json::from_slice::<jsonl::BundleLine>(line).ok();
    }
    serde_json::from_slice::<commit::CommitRecord>(bytes).ok();
}

/// Reads the files in `.blue/local`, except the audit log.
pub fn caches(bytes: &[u8]) {
    let (digest, key) = (Digest::of(b"x"), Key::new([7; 32]));
    let seal = facts::seal(&key, &Limits::default());
    for file in [bytes.to_vec(), [&seal.header(&[bytes]), bytes].concat()] {
        FactsCache::open(file, &seal).get(&digest);
    }
    let seal = Seal::new("state", 1, &key, b"");
    seal.decode::<State>(&[&seal.header(&[bytes]), bytes].concat());
    session::read(bytes);
    installed::read(bytes, &key);
}

/// Reads an audit log: each line is parsed or counted as lost.
pub fn audit(bytes: &[u8]) {
    let (lines, n_lost) = audit::read(bytes, None);
    let n_lines = bytes.split(|b| *b == b'\n').filter(|line| !line.is_empty()).count();
    assert_eq!(lines.len() + n_lost, n_lines);
    assert!(audit::read(bytes, Some("s")).0.len() <= lines.len());
}

/// Adds blue to an agent's settings and removes it: the original bytes come back.
pub fn settings(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let scan = jsonc::parse(text);
    for wanted in &[
        Registration::Json(vec![JsonEntry::Hooks(hooks(Agent::Claude, SessionBy::Hook))]),
        Registration::Json(vec![JsonEntry::Server(ServerForm::McpServers)]),
    ] {
        let mut traces = UndoInfo::default();
        let Ok(with) = register::add(text, wanted, &mut traces) else { continue };
        assert!(register::is_registered(&with, wanted).unwrap_or(false), "added, but not in it: {with:?}");
        let again = register::add(&with, wanted, &mut UndoInfo::default());
        assert_eq!(again.ok().as_deref(), Some(with.as_str()), "a second time changes it");
        let without = register::remove(&with, wanted, &traces).expect("it was just added");
        let empty = scan.as_ref().is_ok_and(|scan| scan.root.is_none());
        if !empty && register::taken(text, wanted).is_none() && !text.contains("blue") {
            assert_eq!(without, text, "not what it was");
        }
    }
}
