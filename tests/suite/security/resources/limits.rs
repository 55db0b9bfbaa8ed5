//! Every limit has a code and a key, and a document over a limit is reported.

use super::{fill, fronted};
use crate::support::Project;

/// A document over one limit: its configuration, the code, the key, a configuration that allows it.
struct Case {
    code: &'static str,
    key: &'static str,
    low: u64,
    high: u64,
    text: String,
}

fn case(code: &'static str, key: &'static str, low: u64, high: u64, text: &str) -> Case {
    let text = text.replace("# Title\n", "# Title\n\nSee [one](0001-one.md).\n");
    Case { code, key, low, high, text }
}

#[test]
fn a_document_over_a_limit_is_reported_with_the_key_and_stays() {
    let quotes = format!("# Lanterns\n\nStatus: accepted\n\n{}deep\n", "> ".repeat(30));
    let links = "# Lanterns\n\nStatus: accepted\n\n[a](1.md) [b](2.md) [c](3.md) [d](4.md)\n";
    let long = format!("# Lanterns\n\nStatus: accepted\n\n{}\n", "word ".repeat(200));
    for case in [
        case("BLUE-LIM-001", "line_bytes", 500, 5_000, &long),
        case("BLUE-LIM-002", "nesting", 20, 40, &quotes),
        case("BLUE-LIM-003", "yaml_depth", 3, 9, &fronted("a: [[[[1]]]]")),
        case("BLUE-LIM-004", "yaml_values", 9, 99, &fronted("a: &a [1, 2, 3]\nb: [*a, *a]")),
        case("BLUE-DOC-006", "front_matter_bytes", 40, 400, &fronted(&fill("k: value", 90))),
        case("BLUE-DOC-009", "references", 3, 30, links),
    ] {
        let Case { code, key, low, high, text } = case;
        let project = Project::new();
        project.write("docs/adr/0001-one.md", "# One\n\nStatus: accepted\n\nText.\n");
        project.write("docs/adr/0002-two.md", &text);
        project.write(".blue/config.yaml", format!("limits: {{{key}: {low}}}\n"));
        let output = project.build();
        let line = output.stderr.lines().find(|line| line.contains(code));
        let line = line.unwrap_or_else(|| panic!("{code}: {}", output.stderr));
        assert!(line.contains(&low.to_string()), "the limit is named: {line}");
        assert!(output.stderr.contains(&format!("limits.{key}")), "{code}: {}", output.stderr);
        let index = project.read(".blue/context/documents.jsonl");
        let line = index.lines().find(|line| line.contains("0002-two")).unwrap();
        assert!(line.contains("\"Lanterns\"") && line.contains("\"accepted\""), "{code}: {line}");
        // A changed limit takes effect although the document is cached.
        project.write(".blue/config.yaml", format!("limits: {{{key}: {high}}}\n"));
        let output = project.build();
        assert!(!output.stderr.contains(code), "{code}: {}", output.stderr);
        assert_eq!(project.blue(&["knowledge", "build", "--check"]).code, 0, "{code}");
    }
}

#[test]
fn a_limit_on_all_documents_stops_the_build_and_changes_nothing() {
    let project = Project::new();
    for i in 1..=4 {
        project
            .write(&format!("docs/adr/000{i}-a.md"), format!("# A{i}\n\n{}\n", fill("word ", 400)));
    }
    project.build();
    project.write("docs/adr/0005-a.md", "# A5\n\nMore.\n");
    let before = project.files();
    for (limits, code) in [("documents: 4", "BLUE-LIM-005"), ("total_bytes: 1000", "BLUE-LIM-006")]
    {
        let config = format!("limits: {{{limits}}}\n");
        project.write(".blue/config.yaml", &config);
        for flags in [vec![], vec!["--force"], vec!["--check"]] {
            let output = project.blue(&[&["knowledge", "build"], flags.as_slice()].concat());
            assert_eq!(output.code, 2, "{limits}: {}", output.stderr);
            assert!(output.stderr.contains(code), "{}", output.stderr);
            let key = limits.split(':').next().unwrap();
            assert!(output.stderr.contains(&format!("limits.{key}")), "{}", output.stderr);
        }
        let mut after = project.files();
        assert_eq!(after.remove(".blue/config.yaml").unwrap(), config.as_bytes());
        assert_eq!(before, after);
    }
}
