//! Names and addresses of documents that compete for them.

use crate::support::Project;

/// The address of each document, by path.
fn addresses(project: &Project) -> std::collections::BTreeMap<String, String> {
    let lines = project.read(".blue/context/documents.jsonl");
    let lines = lines.lines().skip(1).map(|line| {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let text = |key: &str| line[key].as_str().unwrap().to_string();
        (text("path"), text("uri"))
    });
    lines.collect()
}

fn notes_project(paths: &[&str]) -> Project {
    let project = Project::new();
    let config = "documents:\n  - type: note\n    paths: [\"*/notes/*.md\"]\nidentity:\n  sources: [\"blue://docs/notes/focus\"]\n";
    project.write(".blue/config.yaml", config);
    for path in paths {
        project.write(path, format!("# Of {path}\n\nText of {path}.\n"));
    }
    project
}

#[test]
fn a_second_document_of_the_same_name_takes_over_no_address() {
    let project = notes_project(&["b/notes/focus.md"]);
    project.write("c/notes/other.md", "# Other\n\nSee blue://docs/notes/focus for it.\n");
    project.build();
    let short = "blue://docs/notes/focus";
    assert!(
        project.blue(&["knowledge", "show", short]).stdout.contains("Text of b/notes/focus.md")
    );
    project.write("a/notes/focus.md", "# New\n\nText of a.\n");
    let built = project.build();
    let long = |name: &str| format!("blue://docs/notes/{name}-notes-focus");
    for name in ["a", "b"] {
        let finding = format!("{name}/notes/focus.md: warning: ");
        assert!(built.stderr.contains(&finding), "{}", built.stderr);
        assert!(built.stderr.contains(&long(name)), "{}", built.stderr);
        let shown = project.blue(&["knowledge", "show", &long(name)]);
        assert!(shown.stdout.contains(&format!("Text of {name}")), "{shown:?}");
    }
    assert_eq!(built.stderr.matches("[BLUE-ID-002]").count(), 2, "{}", built.stderr);
    // The short address resolves to neither document, for a reader and for a link.
    for address in [short, "blue://note/focus"] {
        let shown = project.blue(&["knowledge", "show", address]);
        assert_eq!((shown.code, shown.stdout.as_str()), (2, ""), "{address}: {shown:?}");
        assert!(["a", "b"].iter().all(|n| shown.stderr.contains(&long(n))), "{shown:?}");
    }
    for place in ["c/notes/other.md:3", ".blue/config.yaml: "] {
        let line = built.stderr.lines().find(|line| line.starts_with(place)).unwrap();
        assert!(["a", "b"].iter().all(|n| line.contains(&format!("{n}/notes/focus.md"))), "{line}");
        assert!(line.contains("[BLUE-REF-002]"), "{line}");
    }
}

#[test]
fn the_address_of_a_contested_name_depends_on_its_path_alone() {
    let all = [
        "a/notes/focus.md",
        "b/notes/focus.md",
        "b/notes/focus.draft.md",
        "c/notes/notes-focus.md",
        "c/notes/2026-01-25-standup.md",
        "c/notes/2026-02-01-standup.md",
    ];
    let whole = notes_project(&all);
    whole.build();
    let known = addresses(&whole);
    let unique: std::collections::BTreeSet<&String> = known.values().collect();
    assert_eq!(unique.len(), all.len(), "{known:?}");
    assert_eq!(known[all[4]], "blue://docs/notes/2026-01-25-standup");
    // An address never means two documents, whichever of them exist and whichever came first.
    for left_out in all {
        let fewer: Vec<&str> = all.iter().copied().filter(|path| *path != left_out).collect();
        let project = notes_project(&fewer);
        project.build();
        for (path, uri) in addresses(&project) {
            let other = known.iter().find(|(other, known)| **known == uri && **other != path);
            assert_eq!(other, None, "{uri} is {path} without {left_out}");
        }
    }
}

#[test]
fn two_documents_of_one_number_are_distinguished_by_file_name() {
    let project = Project::new();
    for i in 1..=4 {
        let folder = format!("CIP-000{i}");
        project.write(&format!("{folder}/README.md"), format!("# CIP {i}\n\nStatus: Active\n"));
        project.write(&format!("{folder}/CIP-000{i}.md"), "Moved to [README](README.md).\n");
    }
    let config = "documents:\n  - {type: cip, paths: [\"CIP-*/*.md\"]}\n";
    project.write(".blue/config.yaml", config);
    project.build();
    let known = addresses(&project);
    assert_eq!(known["CIP-0001/README.md"], "blue://docs/cips/cip-0001-readme");
    assert_eq!(known["CIP-0001/CIP-0001.md"], "blue://docs/cips/cip-0001-cip-0001");
}

#[test]
fn two_rfcs_of_one_name_in_two_collections_have_two_bundles() {
    let project = Project::new();
    let entry =
        |name: &str| format!("  - {{type: rfc, collection: {name}, paths: [\"{name}/*.md\"]}}\n");
    let config = format!("documents:\n{}{}", entry("one"), entry("two"));
    project.write(".blue/config.yaml", config);
    project.write("one/0001-x.md", "# RFC 1: A\n\n- Status: draft\n\nText one.\n");
    project.build();
    assert!(project.exists(".blue/context/workflow/0001-x.md"));
    project.write("two/0001-x.md", "# RFC 1: B\n\n- Status: draft\n\nText two.\n");
    project.build();
    assert!(!project.exists(".blue/context/workflow/0001-x.md"));
    for (name, title) in [("one", "A"), ("two", "B")] {
        let text = project.read(&format!(".blue/context/workflow/{name}.0001-x.md"));
        assert!(text.contains(title), "{text}");
    }
    assert_eq!(project.blue(&["knowledge", "build", "--check"]).code, 0);
}
