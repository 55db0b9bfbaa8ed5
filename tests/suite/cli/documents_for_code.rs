//! `knowledge for`: decisions about a file that no document names by its path.

use serde_json::Value;

use crate::support::Project;

fn adr(project: &Project, number: u32, head: &str, title: &str, body: &str) {
    project.write(
        &format!("docs/adr/{number:04}-d{number}.md"),
        format!("---\nstatus: accepted\n{head}---\n# {title}\n\n## Decision\n\n{body}\n"),
    );
}

/// A project with code in two files, and decisions about it.
fn sample() -> Project {
    let project = Project::new();
    project.write(
        "src/jobs/worker.rs",
        "//! Runs jobs with retries.\n\npub struct RetryPolicy;\n\npub fn drain_backlog() {}\n\nstruct Checkpoint;\n",
    );
    project.write("src/billing/invoice.py", "\"\"\"Rounds amounts of money.\"\"\"\n\nx = 1\n");
    project.write("src/named.rs", "fn drain_backlog() {}\n");
    adr(&project, 1, "", "Retry three times", "The type `RetryPolicy` counts.\nSee RetryPolicy.");
    adr(&project, 2, "", "Empty the list", "Call drain_backlog at the end.");
    adr(&project, 3, "", "Save often", "Each checkpoint is saved. A Checkpoint is small.");
    adr(&project, 4, "", "Round amounts of money half to even", "Banks do so.");
    adr(&project, 5, "", "Use another log format", "The lines are JSON in `src/named.rs`.");
    adr(&project, 6, "", "Retry for ever", "A `RetryPolicy` has no limit.");
    adr(&project, 7, "supersedes: 6\n", "Give up at last", "No type is named.");
    project.build();
    project
}

fn answer(project: &Project, arguments: &[&str]) -> Value {
    project.json(&[&["knowledge", "for", "--format", "json"], arguments].concat())
}

fn names(documents: &Value) -> Vec<String> {
    let documents = documents.as_array().unwrap().iter();
    documents.map(|d| d["path"].as_str().unwrap().rsplit('/').next().unwrap().to_string()).collect()
}

#[test]
fn documents_that_name_a_symbol_of_the_file_are_a_group() {
    let project = sample();
    let found = answer(&project, &["src/jobs/worker.rs"]);
    // `Checkpoint` is an ordinary word unless it is in code, and history is left out.
    assert_eq!(names(&found["by_symbol"]), ["0001-d1.md", "0002-d2.md"], "{found}");
    assert_eq!(
        found["by_symbol"][0]["because"],
        serde_json::json!([{"symbol": "RetryPolicy", "line": 8}])
    );
    assert_eq!(found["documents"], serde_json::json!([]));
    let all = answer(&project, &["src/jobs/worker.rs", "--all"]);
    assert!(names(&all["by_symbol"]).contains(&"0006-d6.md".to_string()), "{all}");
    let text = project.blue(&["knowledge", "for", "src/jobs/worker.rs"]).stdout;
    let group = "By symbol: documents that name what the file defines\ndocs/adr/0001-d1.md  ADR 0001: Retry three times  (accepted)\n    RetryPolicy, line 8\n";
    assert!(text.starts_with(group), "{text}");
    // A document that names the path is not repeated, and makes the search unnecessary.
    let named = answer(&project, &["src/named.rs"]);
    assert_eq!(names(&named["documents"]), ["0005-d5.md"]);
    assert_eq!(names(&named["by_symbol"]), ["0002-d2.md"]);
    assert_eq!(named["by_meaning"], serde_json::json!([]));
}

#[test]
fn a_file_that_no_document_names_is_searched_by_its_words() {
    let project = sample();
    let found = answer(&project, &["src/billing/invoice.py"]);
    assert_eq!(names(&found["by_meaning"])[0], "0004-d4.md", "{found}");
    assert_eq!(found["by_symbol"], serde_json::json!([]));
    let output = project.blue(&["knowledge", "for", "src/billing/invoice.py"]);
    assert_eq!(output.code, 0);
    assert!(output.stdout.starts_with("By meaning: "), "{output:?}");
    assert!(output.stderr.contains("no live document names src/billing/invoice.py"), "{output:?}");
    // A file that does not exist yet is searched by its path, but not by its folders alone.
    let new = answer(&project, &["src/money/round_amounts.rs"]);
    assert_eq!(names(&new["by_meaning"])[0], "0004-d4.md", "{new}");
    for nothing in ["money/zebra.rs", "src/lib/mod.rs", "zebra"] {
        let output = project.blue(&["knowledge", "for", nothing]);
        assert_eq!((output.code, output.stdout.as_str()), (1, ""), "{nothing}");
    }
}

#[test]
fn large_binary_and_denied_files_are_not_read() {
    let project = sample();
    let code = "fn drain_backlog() {}\n";
    project.write("src/large.rs", code.repeat(20_000));
    project.write("src/binary.rs", format!("{code}\0"));
    project.write("src/latin.rs", b"fn drain_backlog() {} // caf\xe9\n");
    project.write(".env.rs", code).write("src/.env", code);
    std::os::unix::fs::symlink("named.rs", project.path().join("src/link.rs")).unwrap();
    for path in ["src/large.rs", "src/binary.rs", "src/.env", "src/link.rs"] {
        let found = answer(&project, &[path]);
        assert_eq!(found["by_symbol"], serde_json::json!([]), "{path}: {found}");
    }
    assert_eq!(names(&answer(&project, &["src/latin.rs"])["by_symbol"]), ["0002-d2.md"]);
}
