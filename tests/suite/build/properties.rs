//! Properties that hold for any input, on generated documents and edits.

use blue::guard::Allowed;
use blue::model::FileName;
use blue::model::plan::Limits;
use blue::model::uri::Uri;
use blue::model::{Source, TextFormat};
use blue::parse::parse;
use proptest::prelude::*;

use crate::support::Project;

/// Markdown with every construct that the parser handles, in any order.
fn markdown() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("---\n".to_string()),
        Just("status: accepted\n".to_string()),
        Just("title: [x\n".to_string()),
        Just("| **Status** | Draft |\n".to_string()),
        Just("## Status\n\nSuperseded by [2](0002-b.md)\n\n".to_string()),
        Just("```\nRFC 3\n".to_string()),
        Just("<table><tr><td>Status</td><td>x".to_string()),
        Just("- ADR 0001: [x](0001-a.md)\n".to_string()),
        Just("blue://docs/adrs/1, RFC 2119 and ADRs 1, 2 and 3.\n".to_string()),
        Just("[a][b]\n\n[b]: c.md\n".to_string()),
        Just("\u{202e}\u{200b}é—ADR-4\r\n".to_string()),
        "[ -~\n]{0,40}",
        "\\PC{0,20}",
    ];
    proptest::collection::vec(piece, 0..20).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_give_facts(bytes in proptest::collection::vec(any::<u8>(), 0..2_000)) {
        let n_bytes = bytes.len() as u64;
        for format in TextFormat::ALL {
            let source = Source { bytes: bytes.clone(), sidecar: None, format };
            let facts = parse(&source, &Limits::default(), &Allowed::default()).facts;
            prop_assert_eq!(facts.n_bytes, n_bytes);
        }
    }

    #[test]
    fn places_in_any_markdown_are_within_the_text(text in markdown()) {
        let facts = parse(&Source::markdown(&text), &Limits::default(), &Allowed::default()).facts;
        let n_lines = text.lines().count() as u32 + 1;
        for reference in &facts.references {
            prop_assert!((1..=n_lines).contains(&reference.line), "line {} of {n_lines}", reference.line);
            prop_assert!(reference.count >= 1);
        }
        prop_assert!(!facts.line.contains('\n'));
        prop_assert!(facts.brief.len <= 600 && facts.line.len() <= 240);
    }

    #[test]
    fn any_name_is_read_and_its_slug_is_a_valid_address(file in "\\PC{0,60}") {
        let name = FileName::parse(&format!("{file}.md"));
        let id = if name.slug.is_empty() { "x" } else { &name.slug };
        let uri = Uri::of_document("adrs", id);
        prop_assert!(Uri::parse(uri.as_str()).is_ok(), "{uri}");
    }

    #[test]
    fn any_text_is_an_address_or_is_refused(text in "\\PC{0,60}") {
        if let Ok(uri) = Uri::parse(&text) {
            prop_assert!(uri.segments().iter().all(|segment| *segment != ".." && !segment.contains('\0')));
        }
    }

    #[test]
    fn any_configuration_is_valid_or_refused(text in "\\PC{0,200}") {
        blue::wire::schema::validate("config", &text);
    }
}

/// One change to a project.
#[derive(Clone, Debug)]
enum Step {
    Write(u8, String),
    Remove(u8),
    Rename(u8, u8),
    Configure(u16),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..8u8, markdown()).prop_map(|(i, text)| Step::Write(i, text)),
        1 => (0..8u8).prop_map(Step::Remove),
        1 => (0..8u8, 0..8u8).prop_map(|(a, b)| Step::Rename(a, b)),
        1 => (150..900u16).prop_map(Step::Configure),
    ]
}

fn path(i: u8) -> String {
    let folder = if i.is_multiple_of(2) { "docs/adr" } else { ".blue/docs/rfcs" };
    format!("{folder}/{i:04}-document-{i}.md")
}

fn take(project: &Project, step: &Step) {
    let at = |i: &u8| project.path().join(path(*i));
    match step {
        Step::Write(i, text) => {
            project.write(&path(*i), format!("# {i}. Document {i}\n\n{text}"));
        }
        // A step may find nothing to remove or rename.
        Step::Remove(i) => drop(std::fs::remove_file(at(i))),
        Step::Rename(from, to) => {
            std::fs::create_dir_all(at(to).parent().unwrap()).unwrap();
            drop(std::fs::rename(at(from), at(to)));
        }
        Step::Configure(tokens) => {
            project.write(".blue/config.yaml", format!("identity: {{max_tokens: {tokens}}}\n"));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, max_shrink_iters: 60, ..ProptestConfig::default() })]

    #[test]
    fn an_incremental_build_gives_the_bytes_of_a_clean_one(steps in proptest::collection::vec(step(), 1..7)) {
        let project = Project::new();
        for step in &steps {
            take(&project, step);
            project.build();
        }
        let incremental = project.emitted();
        let checked = project.blue(&["knowledge", "build", "--check"]);
        prop_assert_eq!(checked.code, 0, "{}", checked.stderr);
        let clean = Project::new();
        for (path, bytes) in project.files() {
            if !incremental.contains_key(&path) {
                clean.write(&path, bytes);
            }
        }
        clean.build();
        prop_assert_eq!(clean.emitted(), incremental);
    }
}
