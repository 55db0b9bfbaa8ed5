//! Emitted files: `--check`, hand edits, foreign files and templates.

use crate::support;
use crate::support::Project;

#[test]
fn check_distinguishes_stale_edited_missing_and_orphaned_files() {
    let project = Project::with_two_decisions();
    project.write("docs/rfcs/0001-gone.md", "# RFC 1: Gone\n\n- Status: draft\n\nGone.\n");
    project.build();
    project.write(
        "docs/adr/0001-use-rust.md",
        "# 1. Use Rust\n\n## Status\n\nAccepted\n\n## Decision\n\nWe use Rust 2024.\n",
    );
    std::fs::remove_file(project.path().join("docs/rfcs/0001-gone.md")).unwrap();
    std::fs::remove_file(project.path().join(".blue/context/relevance.jsonl")).unwrap();
    let edited = project.read(".blue/context/session.md").replace("Rust", "rust");
    project.write(".blue/context/session.md", edited);
    let before = project.stamps();
    let output = project.blue(&["knowledge", "build", "--check"]);
    assert_eq!(output.code, 1);
    for expected in [
        "knowledge/adrs.md: error: stale",
        "knowledge/rfcs.md: error: no document asks for it any more",
        ".blue/context/session.md: error: edited by hand",
        ".blue/context/relevance.jsonl: error: missing",
        ".blue/context.manifest.yaml: error: stale",
    ] {
        assert!(output.stderr.contains(expected), "{expected}: {}", output.stderr);
    }
    assert_eq!(project.stamps(), before, "--check writes nothing");
    project.build();
    assert!(!project.exists("knowledge/rfcs.md"), "an orphan is removed");
    assert_eq!(project.blue(&["knowledge", "build", "--check"]).code, 0);
}

#[test]
fn every_flipped_byte_is_noticed() {
    let project = Project::with_two_decisions();
    project.build();
    for path in [
        "knowledge/adrs.md",
        ".blue/context/session.md",
        ".blue/context/documents.jsonl",
        ".blue/context.manifest.yaml",
    ] {
        let file = project.path().join(path);
        let bytes = std::fs::read(&file).unwrap();
        for i in (0..bytes.len()).step_by(bytes.len() / 40 + 1) {
            let mut flipped = bytes.clone();
            flipped[i] ^= 1;
            project.write(path, &flipped);
            let output = project.blue(&["knowledge", "build", "--check"]);
            assert_eq!(output.code, 1, "byte {i} of {path}");
        }
        project.write(path, &bytes);
    }
}

#[test]
fn a_hand_edit_is_copied_to_rescued_before_it_is_replaced() {
    let project = Project::with_two_decisions();
    project.build();
    let edited = project.read("knowledge/adrs.md") + "My own words.\n";
    project.write("knowledge/adrs.md", &edited);
    let output = project.build();
    assert!(
        output.stderr.contains("so edited by hand; the edit is kept in .blue/local/rescued/"),
        "{}",
        output.stderr
    );
    assert!(!project.read("knowledge/adrs.md").contains("My own words"));
    let copies = support::entries(&project.path().join(".blue/local/rescued"));
    assert_eq!(std::fs::read_to_string(&copies[0]).unwrap(), edited);
}

#[test]
fn a_file_blue_did_not_make_is_never_overwritten() {
    let project = Project::with_two_decisions();
    project.write(".blue/context/session.md", "mine\n");
    let output = project.blue(&["knowledge", "build"]);
    assert_eq!(output.code, 2);
    assert!(
        output.stderr.contains(".blue/context/session.md was not written by blue"),
        "{}",
        output.stderr
    );
    assert_eq!(project.read(".blue/context/session.md"), "mine\n");
    assert!(
        !project.exists("knowledge/adrs.md") && !project.exists(".blue/context.manifest.yaml"),
        "nothing changed"
    );
}

#[test]
fn a_bad_configuration_stops_before_anything_is_written() {
    for (text, expected) in [
        ("identty: {}\n", ".blue/config.yaml:1: unknown key `identty` at $.identty"),
        ("identity:\n  max_tokens: lots\n", ".blue/config.yaml:2: \"lots\" is not of type"),
        ("a: [\n", ".blue/config.yaml:"),
        ("version: 1\nversion: 1\n", ".blue/config.yaml:2: duplicate"),
        ("documents:\n  - type: adr\n    paths: [\"../x/*.md\"]\n", "leaves the project"),
        ("documents:\n  - type: adr\n    paths: [\"secret/*.md\"]\n", "deny-list"),
        ("identity: {max_tokens: 3}\n", "the budget leaves"),
        ("security: {deny: [\"a[\"]}\n", "security.deny"),
    ] {
        let project = Project::with_two_decisions();
        project.write(".blue/config.yaml", text);
        let output = project.blue(&["knowledge", "build"]);
        assert_eq!(output.code, 2, "{text}: {}", output.stderr);
        assert!(output.stderr.contains(expected), "{text}: {}", output.stderr);
        assert!(!project.exists("knowledge"), "{text}: nothing is written");
    }
}

#[test]
fn a_template_can_be_overridden_and_its_error_names_file_and_line() {
    let project = Project::with_two_decisions();
    project.write(
        ".blue/templates/digest.md",
        "{% for entry in in_force %}\n* {{ entry.head }}\n{% endfor %}\n",
    );
    project.build();
    assert!(project.read("knowledge/adrs.md").ends_with("* 0001 Use Rust\n* 0002 Use YAML\n"));
    project.write(".blue/templates/digest.md", "one\n{{ nobody }}\n");
    let output = project.blue(&["knowledge", "build"]);
    assert_eq!(output.code, 2);
    assert!(
        output.stderr.contains(".blue/templates/digest.md:2: undefined value"),
        "{}",
        output.stderr
    );
}
