//! `blue new`.

use std::collections::BTreeSet;
use std::process::Stdio;

use crate::support::Project;

/// Findings of lint in one file.
fn findings(project: &Project, path: &str) -> Vec<String> {
    let output = project.blue(&["knowledge", "lint", "--each"]);
    output.stdout.lines().filter(|line| line.starts_with(path)).map(str::to_string).collect()
}

#[test]
fn every_type_is_created_without_a_finding_and_built_at_once() {
    let project = Project::new();
    for (kind, path) in [
        ("adr", ".blue/docs/adrs/0001-use-x.proposed.md"),
        ("rfc", ".blue/docs/rfcs/0001-use-x.draft.md"),
        ("spike", ".blue/docs/spikes/0001-use-x.wip.md"),
        ("prd", ".blue/docs/prds/0001-use-x.draft.md"),
        ("dialogue", ".blue/docs/dialogues/0001-use-x.dialogue.draft.md"),
    ] {
        let output = project.blue(&["new", kind, "Use X", "--date", "2026-01-25"]);
        assert_eq!(output.code, 0, "{kind}: {}", output.stderr);
        assert_eq!(output.stdout.trim(), path);
        assert!(project.read(path).contains("2026-01-25"), "{kind}");
        assert_eq!(findings(&project, path), Vec::<String>::new(), "{kind}");
        assert!(project.read(".blue/context/documents.jsonl").contains(path), "{kind}");
    }
    let plan = project.blue(&["new", "plan", "Steps", "--from", "blue://docs/rfcs/1"]);
    assert_eq!(plan.stdout.trim(), ".blue/docs/rfcs/0001-use-x.plan.md", "{}", plan.stderr);
    assert_eq!(findings(&project, plan.stdout.trim()), Vec::<String>::new());
    assert_eq!(project.blue(&["new", "plan", "Steps"]).code, 1, "a plan needs its RFC");
}

#[test]
fn name_and_metadata_follow_the_majority_of_the_collection() {
    for (names, text, expected, line) in [
        (
            ["ADR-012-a.md", "ADR-013-b.md"],
            "# ADR-0N: T\n\n- Status: accepted\n- Date: 2020-01-01\n",
            "ADR-014-use-x.md",
            "- Status: Proposed",
        ),
        (
            ["0001-A-a.md", "0002-D-b.md"],
            "# T\n\n**Status:** Accepted\n",
            "0003-D-use-x.md",
            "**Status**: Draft",
        ),
        (
            ["2026-01-01-a.md", "2026-01-02-b.md"],
            "---\nstatus: accepted\n---\n# T\n",
            "2026-01-25-use-x.md",
            "status: proposed",
        ),
        (
            ["0001-a.accepted.md", "0002-b.proposed.md"],
            "# T\n\n## Status\n\nAccepted\n",
            "0003-use-x.proposed.md",
            "## Status\n\nProposed",
        ),
    ] {
        let project = Project::new();
        for name in names {
            project.write(&format!("docs/adr/{name}"), text);
        }
        project.build();
        let output = project.blue(&["new", "adr", "Use X", "--date", "2026-01-25"]);
        assert_eq!(output.stdout.trim(), format!("docs/adr/{expected}"), "{}", output.stderr);
        let text = project.read(output.stdout.trim());
        assert!(text.contains(line), "{text}");
        assert_eq!(findings(&project, output.stdout.trim()), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn numbers_of_other_branches_and_working_trees_are_not_used_again() {
    let project = Project::with_two_decisions();
    project.git(&["init", "-q"]);
    project.git(&["add", "."]);
    project.git(&["commit", "-q", "-m", "one"]);
    project.git(&["checkout", "-q", "-b", "other"]);
    project.write("docs/adr/0007-other.md", "# 7. Other\n\n## Status\n\nAccepted\n");
    project.git(&["add", "."]);
    project.git(&["commit", "-q", "-m", "two"]);
    project.git(&["checkout", "-q", "main"]);
    let dry = project.blue(&["new", "adr", "Use X", "--dry-run"]);
    assert!(dry.stdout.starts_with("docs/adr/0008-use-x.md\n"), "{}", dry.stdout);
    assert!(!project.exists("docs/adr/0008-use-x.md"));
    let tree = project.home().join("tree");
    project.git(&["worktree", "add", "-q", "-b", "third", tree.to_str().unwrap()]);
    std::fs::write(tree.join("docs/adr/0011-third.md"), "# 11. Third\n").unwrap();
    let output = project.blue(&["new", "adr", "Use X"]);
    assert_eq!(output.stdout.trim(), "docs/adr/0012-use-x.md", "{}", output.stderr);
    assert_eq!(project.blue(&["new", "adr", "Y", "--number", "7"]).code, 1);
    assert_eq!(project.blue(&["new", "adr", "Y", "--number", "40"]).code, 0);
    assert!(project.exists("docs/adr/0040-y.md"));
}

#[test]
fn eight_processes_in_two_working_trees_get_eight_numbers() {
    let project = Project::with_two_decisions();
    project.git(&["init", "-q"]);
    project.git(&["add", "."]);
    project.git(&["commit", "-q", "-m", "one"]);
    let tree = project.home().join("tree");
    project.git(&["worktree", "add", "-q", "-b", "other", tree.to_str().unwrap()]);
    let children: Vec<_> = (0..8)
        .map(|i| {
            let mut command = project.command(&["new", "adr", &format!("Title {i}")]);
            if i % 2 == 1 {
                command.current_dir(&tree);
            }
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    let mut numbers = BTreeSet::new();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let path = String::from_utf8(output.stdout).unwrap();
        numbers.insert(path["docs/adr/".len()..][..4].to_string());
    }
    assert_eq!(numbers.len(), 8, "{numbers:?}");
    assert_eq!(numbers.first().map(String::as_str), Some("0003"));
    assert_eq!(numbers.last().map(String::as_str), Some("0010"));
}

#[test]
fn a_title_cannot_name_another_place_or_hide_anything() {
    let project = Project::with_two_decisions();
    project.build();
    for title in ["", "a\nb", "a\u{202e}b", "a\u{200b}b", "🎉🎉", "...", &"é".repeat(151)] {
        let before = project.files();
        let output = project.blue(&["new", "adr", title]);
        assert_eq!(output.code, 1, "{title:?}: {}", output.stderr);
        assert_eq!(project.files(), before, "{title:?}");
    }
    let output = project.blue(&["new", "adr", "../../etc/passwd"]);
    assert_eq!(output.stdout.trim(), "docs/adr/0003-etc-passwd.md");
    let long = project.blue(&["new", "adr", &"word ".repeat(60)]);
    assert_eq!(long.code, 0, "{}", long.stderr);
    let odd = project.blue(&["new", "adr", "A | [b](c.md) <script> \"d\": `e`"]);
    assert_eq!(odd.code, 0, "{}", odd.stderr);
    assert_eq!(findings(&project, odd.stdout.trim()), Vec::<String>::new());
}

#[test]
fn a_number_used_twice_does_not_matter() {
    let project = Project::with_two_decisions();
    project.write("docs/adr/0002-again.md", "# 2. Again\n\n## Status\n\nAccepted\n");
    let output = project.blue(&["new", "adr", "Use X"]);
    assert_eq!(output.stdout.trim(), "docs/adr/0003-use-x.md", "{}", output.stderr);
}

#[test]
fn a_project_can_replace_a_template() {
    let project = Project::with_two_decisions();
    let template = "# {{ heading }}\n\n{{ header }}## Mine\n\nSince {{ date }}.\n";
    project.write(".blue/templates/new/adr.md", template);
    let output = project.blue(&["new", "adr", "Use X", "--date", "2026-01-25"]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    assert!(project.read("docs/adr/0003-use-x.md").ends_with("## Mine\n\nSince 2026-01-25.\n"));
    project.write(".blue/templates/new/adr.md", "# Nothing\n");
    let before = project.files();
    assert_eq!(project.blue(&["new", "adr", "Use Y"]).code, 2);
    assert_eq!(project.files(), before);
}
