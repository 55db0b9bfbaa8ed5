//! A build reads and writes only what changed.

use std::time::{Duration, SystemTime};

use crate::support::Project;

#[test]
fn an_unchanged_build_writes_nothing_at_all() {
    let project = Project::with_two_decisions();
    project.build();
    let before = project.stamps();
    let output = project.build();
    assert!(output.stderr.contains("nothing to do"), "{}", output.stderr);
    assert_eq!(project.stamps(), before);
}

#[test]
fn one_changed_document_rewrites_only_affected_artifacts() {
    let project = Project::with_two_decisions();
    project.write("docs/rfcs/0001-other.md", "# RFC 1: Other\n\n- Status: draft\n\nOther.\n");
    project.build();
    let before = project.files();
    project
        .write("docs/rfcs/0001-other.md", "# RFC 1: Other\n\n- Status: draft\n\nQuite another.\n");
    let output = project.blue(&["knowledge", "build", "--explain"]);
    let after = project.files();
    assert_eq!(before["knowledge/adrs.md"], after["knowledge/adrs.md"]);
    assert_ne!(before["knowledge/rfcs.md"], after["knowledge/rfcs.md"]);
    assert!(
        output.stdout.contains("knowledge/adrs.md: current: nothing that decides it changed"),
        "{}",
        output.stdout
    );
    assert!(
        output.stdout.contains("knowledge/rfcs.md: docs/rfcs/0001-other.md changed"),
        "{}",
        output.stdout
    );
}

#[test]
fn a_file_that_becomes_a_document_by_its_first_lines_is_noticed() {
    let project = Project::with_two_decisions();
    let page = "# Page\n\nText.\n";
    let decision = "# Page\n\n- Status: accepted\n- Deciders: all\n\nText.\n";
    for name in ["a", "b", "c"] {
        project.write(&format!("plateau/{name}.md"), page);
    }
    project.build();
    assert!(project.build().stderr.contains("nothing to do"));
    // An edit that does not change the decision about a file is no reason to build.
    project.write("plateau/a.md", "# Page\n\nAnother text.\n");
    assert!(project.build().stderr.contains("nothing to do"));
    for name in ["a", "b", "c"] {
        assert!(!project.read(".blue/context/documents.jsonl").contains("plateau"));
        project.write(&format!("plateau/{name}.md"), decision);
        project.build();
    }
    assert!(project.read("knowledge/plateau.md").contains("3 documents"));
    assert!(project.build().stderr.contains("nothing to do"));
    assert_eq!(project.blue(&["knowledge", "build", "--check"]).code, 0);
    // The metadata of one goes away: two are not enough for a collection.
    project.write("plateau/b.md", page);
    project.build();
    assert!(!project.read(".blue/context/documents.jsonl").contains("plateau"));
    std::fs::remove_file(project.path().join("plateau/a.md")).unwrap();
    project.build();
    assert!(project.build().stderr.contains("nothing to do"));
}

#[test]
fn an_edit_that_keeps_size_and_time_is_noticed() {
    let project = Project::with_two_decisions();
    let path = project.path().join("docs/adr/0001-use-rust.md");
    let old = SystemTime::now() - Duration::from_secs(3_600);
    let set = |time| {
        std::fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap()
    };
    set(old);
    project.build();
    let text = project.read("docs/adr/0001-use-rust.md").replace("We use Rust.", "We use Ruby.");
    project.write("docs/adr/0001-use-rust.md", text);
    set(old);
    project.build();
    assert!(project.read("knowledge/adrs.md").contains("Ruby"));
}

#[test]
fn a_file_over_the_limit_is_read_once_it_shrinks() {
    let project = Project::with_two_decisions();
    project.write(".blue/config.yaml", "limits: {document_bytes: 1000}\n");
    project.write("docs/adr/0003-large.md", format!("# 3. Large\n\n{}", "x".repeat(2_000)));
    let output = project.build();
    assert!(
        output
            .stderr
            .contains("docs/adr/0003-large.md: warning: 2012 bytes are over the limit of 1000"),
        "{}",
        output.stderr
    );
    project.write("docs/adr/0003-large.md", "# 3. Large\n\nSmall now.\n");
    project.build();
    assert!(project.read("knowledge/adrs.md").contains("Small now"));
}

#[test]
fn a_file_that_git_ignores_is_no_document() {
    let project = Project::with_two_decisions();
    project.write(".gitignore", "*.tmp.md\n/private/\n");
    project.write("docs/adr/.gitignore", "0009-*\n!0009-kept.md\n");
    project.write("docs/adr/0008-x.tmp.md", "# Ignored\n");
    project.write("docs/adr/0009-x.md", "# Ignored too\n");
    project.write("docs/adr/0009-kept.md", "# Kept\n");
    project.write("private/docs/adr/0001-x.md", "# Private\n");
    project.build();
    let index = project.read(".blue/context/documents.jsonl");
    assert!(
        index.contains("0009-kept.md") && !index.contains("gnored") && !index.contains("rivate"),
        "{index}"
    );
}

#[test]
fn a_damaged_cache_or_manifest_is_rebuilt() {
    let project = Project::with_two_decisions();
    project.build();
    let clean = project.files();
    for (path, bytes) in [
        (".blue/local/state", &b"garbage"[..]),
        (
            ".blue/local/facts",
            &b"blue facts 0.1.0 1\ngarbage garbage garbage garbage garbage garbage garbage garbage"
                [..],
        ),
        (".blue/local/txn/record", &b"{}"[..]),
        (
            ".blue/context.manifest.yaml",
            &b"# Regenerate: x\n<<<<<<< HEAD\ninputs: 1\n=======\n>>>>>>> x\n"[..],
        ),
    ] {
        project.write(path, bytes);
        project.write("docs/adr/0002-use-yaml.md", project.read("docs/adr/0002-use-yaml.md"));
        project.build();
        assert_eq!(project.files(), clean, "{path}");
    }
}
