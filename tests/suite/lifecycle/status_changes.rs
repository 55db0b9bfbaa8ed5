//! `blue status set`, `blue rename` and `blue knowledge lint --fix`.

use super::{documents, three_rfcs};
use crate::support::{Project, set_mode};

#[test]
fn a_status_changes_in_header_and_name_and_every_link_follows() {
    let project = three_rfcs();
    project.build();
    let before = documents(&project);
    let output = project.blue(&["status", "set", "blue://docs/rfcs/1", "accepted"]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    let after = documents(&project);
    assert!(!after.contains_key("docs/rfcs/0001-cache.draft.md"));
    for (path, bytes) in &before {
        let old = String::from_utf8(bytes.clone()).unwrap();
        let new = old.replace("| Draft |", "| Accepted |");
        let code = "[code](0001-cache.draft.md)";
        let new =
            new.replace(code, "CODE").replace("0001-cache.draft.md", "0001-cache.accepted.md");
        let new = new.replace("CODE", code);
        let path = path.replace("0001-cache.draft.md", "0001-cache.accepted.md");
        assert_eq!(String::from_utf8(after[&path].clone()).unwrap(), new, "{path}");
    }
    assert!(output.stdout.contains("6 links in 3 files follow"), "{}", output.stdout);
    assert_eq!(project.blue(&["knowledge", "build", "--check"]).code, 0);
}

#[test]
fn a_dry_run_says_the_same_and_writes_nothing() {
    let project = three_rfcs();
    project.build();
    let before = project.files();
    let output = project.blue(&["status", "set", "0001-cache", "wip", "--dry-run"]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    assert!(output.stdout.contains("docs/rfcs/0001-cache.wip.md"), "{}", output.stdout);
    assert_eq!(project.files(), before);
}

#[test]
fn steps_follow_the_order_unless_forced() {
    let project = three_rfcs();
    project.build();
    let set = |words: &[&str]| project.blue(&[&["status", "set", "RFC 2"], words].concat());
    let back = set(&["draft"]);
    assert_eq!(back.code, 1);
    assert!(back.stderr.contains("draft does not follow accepted"), "{}", back.stderr);
    assert_eq!(set(&["impl"]).code, 0);
    assert_eq!(set(&["superseded"]).code, 1, "a successor is needed");
    assert_eq!(set(&["draft", "--force"]).code, 0);
    assert!(project.exists("docs/rfcs/0002-queue.draft.md"));
    assert_eq!(set(&["purple"]).code, 2);
    assert_eq!(set(&["superseded", "--by", "RFC 2"]).code, 1, "not by itself");
}

#[test]
fn a_supersession_is_noted_in_both_documents() {
    let project = three_rfcs();
    project.build();
    let output =
        project.blue(&["status", "set", "docs/rfcs/0001-cache.draft.md", "super", "--by", "RFC 2"]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    let old = project.read("docs/rfcs/0001-cache.super.md");
    assert!(
        old.contains("| **Status** | Superseded by [RFC 0002](0002-queue.accepted.md) |"),
        "{old}"
    );
    let new = project.read("docs/rfcs/0002-queue.accepted.md");
    assert!(new.contains("**Supersedes:** [RFC 0001](0001-cache.super.md)  \r\n"), "{new}");
    let listed = project.json(&["knowledge", "list", "rfcs", "--format", "json"]).to_string();
    assert!(listed.contains("superseded"), "{listed}");
    let lint = project.blue(&["knowledge", "lint"]);
    assert!(!lint.stdout.contains("BLUE-SUP"), "{}", lint.stdout);
}

#[test]
fn nothing_changes_if_a_target_exists_or_a_file_is_read_only_or_a_link() {
    let exists = three_rfcs();
    exists.build();
    exists.write("docs/rfcs/0001-cache.accepted.md", "# Other\n");
    let read_only = three_rfcs();
    read_only.build();
    set_mode(&read_only.path().join("docs/adr/0001-use-rust.md"), 0o444);
    for (project, word) in [(&exists, "exists"), (&read_only, "read-only")] {
        let before = project.files();
        let output = project.blue(&["status", "set", "docs/rfcs/0001-cache.draft.md", "accepted"]);
        assert_eq!(output.code, 2, "{word}");
        assert!(output.stderr.contains(word), "{}", output.stderr);
        assert_eq!(project.files(), before, "{word}");
        assert!(!project.exists(".blue/local/edits/record"));
    }
}

#[test]
fn links_everywhere_follow_only_on_request() {
    let project = three_rfcs();
    project.write("README.md", "See [the cache](docs/rfcs/0001-cache.draft.md).\n");
    project.git(&["init", "-q"]);
    project.git(&["add", "."]);
    project.build();
    assert_eq!(project.blue(&["status", "set", "RFC 1", "proposed"]).code, 0);
    assert!(project.read("README.md").contains("0001-cache.draft.md"));
    project.write("README.md", "See [the cache](docs/rfcs/0001-cache.proposed.md).\n");
    assert_eq!(project.blue(&["status", "set", "RFC 1", "accepted", "--everywhere"]).code, 0);
    assert!(project.read("README.md").contains("0001-cache.accepted.md"));
}

#[test]
fn a_rename_changes_title_number_name_and_plan() {
    let project = three_rfcs();
    project.write(
        "docs/rfcs/0001-cache.plan.md",
        "# Plan: Cache\n\n**RFC:** [RFC 0001](0001-cache.draft.md)\n\n## Tasks\n\n- [ ] One\n",
    );
    project.build();
    let output = project.blue(&["rename", "RFC 1", "--title", "Shared cache", "--number", "7"]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    let text = project.read("docs/rfcs/0007-shared-cache.draft.md");
    assert!(text.starts_with("# RFC 0007: Shared cache\n"), "{text}");
    assert!(
        project
            .read("docs/rfcs/0007-shared-cache.plan.md")
            .contains("(0007-shared-cache.draft.md)")
    );
    assert!(project.read("docs/adr/0001-use-rust.md").contains("0007-shared-cache.draft.md"));
    let taken = project.blue(&["rename", "RFC 7", "--number", "2"]);
    assert_eq!(taken.code, 1, "{}", taken.stderr);
    for title in ["a\nb", "a\u{202e}b", "🎉", "", &"x".repeat(301)] {
        let before = project.files();
        assert_eq!(project.blue(&["rename", "RFC 7", "--title", title]).code, 1, "{title:?}");
        assert_eq!(project.files(), before);
    }
}

#[test]
fn links_to_old_names_are_corrected_and_no_other_byte() {
    let project = three_rfcs();
    project.build();
    let from = project.path().join("docs/rfcs/0001-cache.draft.md");
    std::fs::rename(from, project.path().join("docs/rfcs/0001-cache.impl.md")).unwrap();
    let dry = project.blue(&["knowledge", "lint", "--fix", "BLUE-REF-003", "--dry-run"]);
    assert!(dry.stdout.contains("5 links in 2 files"), "{}", dry.stdout);
    let before = documents(&project);
    let output = project.blue(&["knowledge", "lint", "--fix", "ref-003"]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    for (path, bytes) in documents(&project) {
        let old = String::from_utf8(before[&path].clone()).unwrap();
        let code = "[code](0001-cache.draft.md)";
        let new = old.replace(code, "CODE").replace("0001-cache.draft.md", "0001-cache.impl.md");
        let itself = new.replace("[itself](0001-cache.impl.md", "[itself](0001-cache.draft.md");
        assert_eq!(String::from_utf8(bytes).unwrap(), itself.replace("CODE", code), "{path}");
    }
    assert_eq!(project.blue(&["knowledge", "lint", "--fix", "BLUE-DOC-001"]).code, 2);
}

#[test]
fn ten_thousand_documents_follow_one_rename() {
    let project = Project::with("docs/adr/0001-a.draft.md", "# 1. A\n\nStatus: Draft\n");
    for i in 2..=10_001 {
        let text = format!("# {i}. N\n\nStatus: Accepted\n\nSee [A](0001-a.draft.md).\n");
        project.write(&format!("docs/adr/{i:05}-n.md"), text);
    }
    let output = project.blue(&["status", "set", "docs/adr/0001-a.draft.md", "accepted"]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    assert!(output.stdout.contains("10000 links in 10000 files follow"), "{}", output.stdout);
    assert!(project.read("docs/adr/10001-n.md").contains("0001-a.accepted.md"));
    assert!(!project.exists(".blue/local/edits/record"));
}
