//! `knowledge for`: the decisions that bind a path of the repository.

use serde_json::Value;

use crate::support::Project;

fn adr(project: &Project, number: u32, head: &str, body: &str) {
    project.write(
        &format!("docs/adr/{number:04}-d{number}.md"),
        format!("---\nstatus: accepted\n{head}---\n# Decision {number}\n\n## Decision\n\n{body}\n"),
    );
}

fn sample() -> Project {
    let project = Project::new();
    for file in
        ["src/parse/mod.rs", "src/parse/deep/x.rs", "src/walk.rs", "tests/tidy.rs", "Cargo.toml"]
    {
        project.write(file, "x");
    }
    project.write(".gitignore", "/out/\n").write("out/made.rs", "x").write("conf/.env", "x");
    std::fs::create_dir_all(project.path().join("empty/inner")).unwrap();
    adr(&project, 1, "affects: [\"src/parse/**\"]\n", "All of the parser.");
    adr(&project, 2, "", "The room is `src/parse/`; see `src/parse/mod.rs:12`.");
    adr(&project, 3, "", "See [the walk](../../src/walk.rs#L4) and `src\\walk.rs`.");
    adr(
        &project,
        4,
        "",
        "All of `src/` and/or `and/or`, `text/html`, `origin/main`, `out/made.rs`, `conf/.env`, `empty/inner`.",
    );
    adr(
        &project,
        5,
        "affects: src/gone.rs\n",
        "House rules are in `tests/tidy.rs`; see `Cargo.toml`.",
    );
    adr(&project, 6, "", "It was `src/parse/mod.rs`.");
    adr(&project, 7, "supersedes: 6\n", "No path.");
    project.build();
    project
}

fn answer(project: &Project, arguments: &[&str]) -> Value {
    project.json(&[&["knowledge", "for", "--format", "json"], arguments].concat())
}

fn ids(answer: &Value) -> Vec<String> {
    let documents = answer["documents"].as_array().unwrap().iter();
    documents.map(|d| d["uri"].as_str().unwrap().rsplit('/').next().unwrap().to_string()).collect()
}

#[test]
fn the_most_specific_decision_comes_first_with_its_reasons() {
    let project = sample();
    let found = answer(&project, &["src/parse/mod.rs"]);
    // `src/`, which is named in a text, does not bind what is in it.
    assert_eq!(ids(&found), ["0002-d2", "0001-d1"], "{found}");
    assert_eq!(found["documents"][0]["because"][0]["line"], 8);
    assert_eq!(found["documents"][0]["because"][1]["path"], "src/parse");
    assert_eq!(found["documents"][1]["because"][0]["reason"], "affects it");
    assert_eq!(found["documents"][1]["because"][0]["kind"], "glob");
    assert_eq!(found["history_left_out"], 1);
    let all = answer(&project, &["src/parse/mod.rs", "--all"]);
    assert_eq!(all["documents"].as_array().unwrap().len(), 3);
    // A file below a named folder, and a file that does not exist.
    // A field counts more than a text.
    assert_eq!(ids(&answer(&project, &["src/parse/deep/x.rs"])), ["0001-d1", "0002-d2"]);
    assert_eq!(ids(&answer(&project, &["src/parse/new.rs"])).len(), 2);
    let text = project.blue(&["knowledge", "for", "src/walk.rs"]);
    assert_eq!(
        text.stdout,
        "docs/adr/0003-d3.md  ADR 0003: Decision 3  (accepted)\n    src/walk.rs: links to it, line 8\n    See the walk and `src\\walk.rs`.\n"
    );
    let text = project.blue(&["knowledge", "for", "src/parse/mod.rs", "--limit", "1"]);
    assert!(text.stderr.contains("1 more"), "{}", text.stderr);
}

#[test]
fn a_path_may_be_absolute_relative_or_a_folder() {
    let project = sample();
    let absolute = project.path().join("src/walk.rs");
    for path in [absolute.to_str().unwrap(), "./src/walk.rs", "src/parse/../walk.rs"] {
        assert_eq!(ids(&answer(&project, &[path])), ["0003-d3"], "{path}");
    }
    let mut inside = project.command(&["knowledge", "for", "--format", "json", "../walk.rs"]);
    let output = inside.current_dir(project.path().join("src/parse")).output().unwrap();
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(ids(&found), ["0003-d3"]);
    let folder = answer(&project, &["src"]);
    assert_eq!(ids(&folder), ["0004-d4"]);
    assert_eq!(folder["below"], serde_json::json!({"paths": 4, "documents": 3}));
    assert_eq!(answer(&project, &["."])["below"]["paths"], 7);
    let outside = project.blue(&["knowledge", "for", "/nowhere/else"]);
    assert!(outside.code == 2 && outside.stderr.contains("not in this project"));
    let nothing = project.blue(&["knowledge", "for", "lib/wlak.rs"]);
    assert_eq!((nothing.code, nothing.stdout.as_str()), (1, ""));
    let near = project.blue(&["knowledge", "for", "lib/tidy.rs"]);
    assert!(near.stderr.contains("did you mean tests/tidy.rs?"), "{}", near.stderr);
}

#[test]
fn related_and_the_server_agree_on_a_file() {
    let project = sample();
    let bound = ids(&answer(&project, &["src/parse/mod.rs"]));
    assert!(!bound.is_empty());
    let here = project.path().join("src");
    for (directory, about) in [
        (project.path(), "src/parse/mod.rs"),
        (project.path(), "./src/parse/mod.rs"),
        (here.as_path(), "parse/mod.rs"),
    ] {
        let mut command =
            project.command(&["knowledge", "related", about, "--format", "json", "--why"]);
        let output = command.current_dir(directory).output().unwrap();
        let near: Value = serde_json::from_slice(&output.stdout).unwrap();
        let uris: Vec<&str> =
            near.as_array().unwrap().iter().map(|near| near["uri"].as_str().unwrap()).collect();
        let found: Vec<&str> =
            uris.iter().map(|uri| uri.rsplit('/').next().unwrap()).take(bound.len()).collect();
        assert_eq!(found, bound, "{about}: {near}");
        let why = near[0]["reasons"][0].as_str().unwrap();
        assert!(why.starts_with("src/parse/mod.rs: "), "{about}: {why}");
    }
}

#[test]
fn paths_that_git_does_not_track_are_not_listed() {
    let project = sample();
    let index = project.read(".blue/context/paths.jsonl");
    let paths: Vec<Value> =
        index.lines().skip(1).map(|line| serde_json::from_str(line).unwrap()).collect();
    let paths: Vec<&str> = paths.iter().map(|line| line["path"].as_str().unwrap()).collect();
    assert_eq!(
        paths,
        [
            "Cargo.toml",
            "src",
            "src/gone.rs",
            "src/parse",
            "src/parse/**",
            "src/parse/mod.rs",
            "src/walk.rs",
            "tests/tidy.rs"
        ]
    );
    let lint = project.blue(&["knowledge", "lint"]).stdout;
    assert!(lint.contains("0005-d5.md:3:1: info: no file or folder at \"src/gone.rs\""), "{lint}");
    assert_eq!(lint.matches("BLUE-REF-008").count(), 1, "{lint}");
    let valid = project.blue(&["schema", "validate", ".blue/context/paths.jsonl"]);
    assert_eq!(valid.code, 0, "{}{}", valid.stdout, valid.stderr);
    let shown = project.blue(&["knowledge", "show", "blue://context/paths"]).stdout;
    assert_eq!(shown, index);
}

#[test]
fn a_clone_gives_the_same_bytes() {
    let project = sample();
    project.git(&["init", "-q"]);
    project.git(&["add", "-A"]);
    project.git(&["commit", "-qm", "x"]);
    let clone = Project::new();
    clone.git(&["clone", "-q", project.path().to_str().unwrap(), "c"]);
    let check = clone.blue(&["-C", "c", "knowledge", "build", "--check"]);
    assert_eq!(check.code, 0, "{}", check.stderr);
    assert!(!clone.exists("c/out") && !clone.exists("c/empty"));
}

#[test]
fn a_named_file_that_appears_or_disappears_is_noticed() {
    let project = sample();
    let paths = || project.read(".blue/context/paths.jsonl");
    let before = paths();
    let nothing = || project.blue(&["knowledge", "build"]).stderr.contains("nothing to do");
    assert!(nothing());
    // The folder of tests is not walked for documents.
    std::fs::remove_file(project.path().join("tests/tidy.rs")).unwrap();
    assert_eq!(project.blue(&["knowledge", "build", "--check"]).code, 1);
    assert!(project.blue(&["status"]).stdout.contains("stale"));
    project.build();
    assert!(!paths().contains("tests/tidy.rs") && nothing());
    project.write("tests/tidy.rs", "x");
    project.build();
    assert_eq!(paths(), before);
    assert!(nothing());
    // Only the existence of a file counts, not its content.
    project.write("tests/tidy.rs", "other").write("src/walk.rs", "other");
    let stamps = project.stamps();
    assert!(nothing());
    assert_eq!(project.stamps(), stamps);
    // An ignored file counts as missing, and the ignore rule may change.
    project.write(".gitignore", "");
    project.build();
    assert!(paths().contains("out/made.rs"));
    project.write("tests/.gitignore", "tidy.rs\n");
    project.build();
    assert!(!paths().contains("tests/tidy.rs") && nothing());
    project.write("tests/.gitignore", "none\n");
    project.build();
    assert!(paths().contains("tests/tidy.rs"));
    assert_eq!(project.blue(&["knowledge", "build", "--check"]).code, 0);
}

#[test]
fn emitted_files_are_not_bound_as_code() {
    let project = Project::new();
    adr(
        &project,
        1,
        "",
        "`.blue/context/session.md`, `knowledge/adrs.md`, `.blue/`, `knowledge/` are made.",
    );
    project.build();
    let first = project.files();
    assert_eq!(project.read(".blue/context/paths.jsonl").lines().count(), 1);
    let again = project.blue(&["knowledge", "build", "--force"]);
    assert!(again.stderr.contains("nothing to do"), "{}", again.stderr);
    assert_eq!(project.files(), first);
}

#[test]
fn hostile_paths_neither_break_the_index_nor_leave_the_project() {
    let project = Project::new();
    project.write("src/a.rs", "x");
    std::os::unix::fs::symlink("/etc", project.path().join("out")).unwrap();
    let many: String = (0..3_000).map(|i| format!("`src/{i}.rs` ")).collect();
    adr(
        &project,
        1,
        "affects: [\"../../etc/passwd\", \"/etc/**\", \"src/</blue-session>\", \"src/[\", \"{a,{b,c}}/*\"]\n",
        &format!(
            "`out/passwd`, `../../../etc/passwd`, `/etc/hosts`, `src/a.rs\u{202e}` and {many}"
        ),
    );
    project.build();
    let index = project.read(".blue/context/paths.jsonl");
    assert!(!index.contains("passwd") && !index.contains("</blue-session"), "{index}");
    assert_eq!(project.blue(&["schema", "validate", ".blue/context/paths.jsonl"]).code, 0);
    assert_eq!(project.blue(&["knowledge", "for", "src/a.rs"]).code, 1);
}

#[test]
fn a_file_that_only_this_checkout_has_changes_no_artifact() {
    let project = Project::new();
    adr(&project, 1, "", "The worktree is in `.blue/worktree.json`.");
    project.build();
    let built = project.read(".blue/context/paths.jsonl");
    project.write(".blue/worktree.json", "{\"rfc\": \"0001\"}\n");
    adr(&project, 2, "", "Another decision.");
    project.build();
    let lines = |text: &str| text.lines().skip(1).map(str::to_string).collect::<Vec<String>>();
    assert_eq!(lines(&project.read(".blue/context/paths.jsonl")), lines(&built));
}

#[test]
fn the_way_a_path_is_named_and_its_depth_decide_the_order() {
    let project = Project::new();
    for folder in ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"] {
        project.write(&format!("app/main/java/{folder}/x.java"), "x");
        project.write(&format!("lib/{folder}.java"), "x");
    }
    adr(&project, 1, "", "See `app/`, `app/main/` and `lib/`.");
    adr(&project, 2, "affects: app/\n", "The application.");
    adr(&project, 3, "", "It is in `app/main/java/a/`.");
    adr(&project, 4, "", "Only `app/main/java/a/x.java`.");
    adr(&project, 5, "affects: [\"**/*.java\"]\n", "The language.");
    adr(&project, 6, "affects: app/main/java/a/x.java\n", "One class.");
    adr(&project, 7, "", "A [class](../../app/main/java/a/x.java).");
    project.build();
    let of = |path: &str| ids(&answer(&project, &[path]));
    let expected = ["0006-d6", "0007-d7", "0004-d4", "0002-d2", "0003-d3", "0005-d5"];
    assert_eq!(of("app/main/java/a/x.java"), expected);
    // `app/main` has most of the folders, and `lib` is at the root.
    assert_eq!(of("lib/a.java"), ["0005-d5"]);
    assert_eq!(of("app/main"), ["0001-d1", "0002-d2"]);
    assert_eq!(of("lib"), ["0001-d1"]);
    assert_eq!(project.blue(&["schema", "validate", ".blue/context/paths.jsonl"]).code, 0);
    // The folders that the first build created do not count.
    assert!(project.build().stdout.is_empty());
    assert_eq!(project.blue(&["knowledge", "build", "--check"]).code, 0);
}
