//! Which documents bind which files, and when a build must look again.

use crate::space::Space;
use serde_json::Value;

fn adr(space: &Space, number: u32, head: &str, body: &str) {
    space.write(
        &format!("docs/adr/{number:04}-d{number}.md"),
        format!("---\nstatus: accepted\n{head}---\n# Decision {number}\n\n## Decision\n\n{body}\n"),
    );
}

fn project() -> Space {
    let space = Space::new();
    for file in
        ["src/parse/mod.rs", "src/parse/deep/x.rs", "src/walk.rs", "tests/tidy.rs", "Cargo.toml"]
    {
        space.write(file, "x");
    }
    space.write(".gitignore", "/out/\n").write("out/made.rs", "x").write("conf/.env", "x");
    std::fs::create_dir_all(space.path().join("empty/inner")).unwrap();
    adr(&space, 1, "affects: [\"src/parse/**\"]\n", "All of the parser.");
    adr(&space, 2, "", "The room is `src/parse/`; see `src/parse/mod.rs:12`.");
    adr(&space, 3, "", "See [the walk](../../src/walk.rs#L4) and `src\\walk.rs`.");
    adr(
        &space,
        4,
        "",
        "All of `src/` and/or `and/or`, `text/html`, `origin/main`, `out/made.rs`, `conf/.env`, `empty/inner`.",
    );
    adr(
        &space,
        5,
        "affects: src/gone.rs\n",
        "House rules are in `tests/tidy.rs`; see `Cargo.toml`.",
    );
    adr(&space, 6, "", "It was `src/parse/mod.rs`.");
    adr(&space, 7, "supersedes: 6\n", "No path.");
    space.build();
    space
}

fn answer(space: &Space, arguments: &[&str]) -> Value {
    let arguments = [&["knowledge", "for", "--format", "json"], arguments].concat();
    serde_json::from_str(&space.blue(&arguments).stdout).unwrap()
}

fn ids(answer: &Value) -> Vec<String> {
    let documents = answer["documents"].as_array().unwrap().iter();
    documents.map(|d| d["uri"].as_str().unwrap().rsplit('/').next().unwrap().to_string()).collect()
}

#[test]
fn the_most_specific_decision_comes_first_with_its_reasons() {
    let space = project();
    let found = answer(&space, &["src/parse/mod.rs"]);
    assert_eq!(ids(&found), ["0002-d2", "0001-d1", "0004-d4"], "{found}");
    assert_eq!(found["documents"][0]["because"][0]["line"], 8);
    assert_eq!(found["documents"][0]["because"][1]["path"], "src/parse");
    assert_eq!(found["documents"][1]["because"][0]["reason"], "affects it");
    assert_eq!(found["documents"][1]["because"][0]["kind"], "glob");
    assert_eq!(found["history_left_out"], 1);
    let all = answer(&space, &["src/parse/mod.rs", "--all"]);
    assert_eq!(all["documents"].as_array().unwrap().len(), 4);
    // A file below that nobody names, and one that is not there.
    assert_eq!(ids(&answer(&space, &["src/parse/deep/x.rs"])), ["0002-d2", "0001-d1", "0004-d4"]);
    assert_eq!(ids(&answer(&space, &["src/parse/new.rs"])).len(), 3);
    let text = space.blue(&["knowledge", "for", "src/walk.rs", "--limit", "1"]);
    assert_eq!(
        text.stdout,
        "blue://docs/adrs/0003-d3  Decision 3  (accepted)\n    src/walk.rs: links to it, line 8\n"
    );
    assert!(text.stderr.contains("1 more"), "{}", text.stderr);
}

#[test]
fn a_path_may_be_absolute_relative_or_a_folder() {
    let space = project();
    let absolute = space.path().join("src/walk.rs");
    for path in [absolute.to_str().unwrap(), "./src/walk.rs", "src/parse/../walk.rs"] {
        assert_eq!(ids(&answer(&space, &[path])), ["0003-d3", "0004-d4"], "{path}");
    }
    let mut inside = space.command(&["knowledge", "for", "--format", "json", "../walk.rs"]);
    let output = inside.current_dir(space.path().join("src/parse")).output().unwrap();
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(ids(&found), ["0003-d3", "0004-d4"]);
    let folder = answer(&space, &["src"]);
    assert_eq!(ids(&folder), ["0004-d4"]);
    assert_eq!(folder["below"], serde_json::json!({"paths": 4, "documents": 3}));
    assert_eq!(answer(&space, &["."])["below"]["paths"], 7);
    let outside = space.blue(&["knowledge", "for", "/nowhere/else"]);
    assert!(outside.code == 2 && outside.stderr.contains("not in this project"));
    let nothing = space.blue(&["knowledge", "for", "lib/wlak.rs"]);
    assert_eq!((nothing.code, nothing.stdout.as_str()), (1, ""));
    let near = space.blue(&["knowledge", "for", "lib/tidy.rs"]);
    assert!(near.stderr.contains("did you mean tests/tidy.rs?"), "{}", near.stderr);
}

#[test]
fn related_gives_what_binds_a_file_as_the_server_does() {
    let space = project();
    let bound = ids(&answer(&space, &["src/parse/mod.rs"]));
    assert!(!bound.is_empty());
    let here = space.path().join("src");
    for (directory, about) in [
        (space.path(), "src/parse/mod.rs"),
        (space.path(), "./src/parse/mod.rs"),
        (here.as_path(), "parse/mod.rs"),
    ] {
        let mut command =
            space.command(&["knowledge", "related", about, "--format", "json", "--why"]);
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
fn only_what_every_clone_has_is_named() {
    let space = project();
    let index = space.read(".blue/context/paths.jsonl");
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
    let lint = space.blue(&["knowledge", "lint"]).stdout;
    assert!(lint.contains("0005-d5.md:3:1: info: nothing is at \"src/gone.rs\""), "{lint}");
    assert_eq!(lint.matches("BLUE-REF-008").count(), 1, "{lint}");
    let valid = space.blue(&["schema", "validate", ".blue/context/paths.jsonl"]);
    assert_eq!(valid.code, 0, "{}{}", valid.stdout, valid.stderr);
    let shown = space.blue(&["knowledge", "show", "blue://context/paths"]).stdout;
    assert_eq!(shown, index);
}

#[test]
fn a_clone_gives_the_same_bytes() {
    let space = project();
    space.git(&["init", "-q"]);
    space.git(&["add", "-A"]);
    space.git(&["commit", "-qm", "x"]);
    let clone = Space::new();
    clone.git(&["clone", "-q", space.path().to_str().unwrap(), "c"]);
    let check = clone.blue(&["-C", "c", "knowledge", "build", "--check"]);
    assert_eq!(check.code, 0, "{}", check.stderr);
    assert!(!clone.exists("c/out") && !clone.exists("c/empty"));
}

#[test]
fn a_named_file_that_comes_or_goes_is_noticed_also_where_nobody_walks() {
    let space = project();
    let paths = || space.read(".blue/context/paths.jsonl");
    let before = paths();
    let nothing = || space.blue(&["knowledge", "build"]).stderr.contains("nothing to do");
    assert!(nothing());
    // The folder of tests is not walked for documents.
    std::fs::remove_file(space.path().join("tests/tidy.rs")).unwrap();
    assert_eq!(space.blue(&["knowledge", "build", "--check"]).code, 1);
    assert!(space.blue(&["status"]).stdout.contains("stale"));
    space.build();
    assert!(!paths().contains("tests/tidy.rs") && nothing());
    space.write("tests/tidy.rs", "x");
    space.build();
    assert_eq!(paths(), before);
    assert!(nothing());
    // What a file says is nobody's business, only that it is there.
    space.write("tests/tidy.rs", "other").write("src/walk.rs", "other");
    let stamps = space.stamps();
    assert!(nothing());
    assert_eq!(space.stamps(), stamps);
    // An ignored file is not there; the rule may change.
    space.write(".gitignore", "");
    space.build();
    assert!(paths().contains("out/made.rs"));
    space.write("tests/.gitignore", "tidy.rs\n");
    space.build();
    assert!(!paths().contains("tests/tidy.rs") && nothing());
    space.write("tests/.gitignore", "none\n");
    space.build();
    assert!(paths().contains("tests/tidy.rs"));
    assert_eq!(space.blue(&["knowledge", "build", "--check"]).code, 0);
}

#[test]
fn what_blue_emits_is_no_code() {
    let space = Space::new();
    adr(
        &space,
        1,
        "",
        "`.blue/context/session.md`, `knowledge/adrs.md`, `.blue/`, `knowledge/` are made.",
    );
    space.build();
    let first = space.files();
    assert_eq!(space.read(".blue/context/paths.jsonl").lines().count(), 1);
    let again = space.blue(&["knowledge", "build", "--force"]);
    assert!(again.stderr.contains("nothing to do"), "{}", again.stderr);
    assert_eq!(space.files(), first);
}

#[test]
fn hostile_paths_neither_break_the_index_nor_reach_out() {
    let space = Space::new();
    space.write("src/a.rs", "x");
    std::os::unix::fs::symlink("/etc", space.path().join("out")).unwrap();
    let many: String = (0..3_000).map(|i| format!("`src/{i}.rs` ")).collect();
    adr(
        &space,
        1,
        "affects: [\"../../etc/passwd\", \"/etc/**\", \"src/</blue-session>\", \"src/[\", \"{a,{b,c}}/*\"]\n",
        &format!(
            "`out/passwd`, `../../../etc/passwd`, `/etc/hosts`, `src/a.rs\u{202e}` and {many}"
        ),
    );
    space.build();
    let index = space.read(".blue/context/paths.jsonl");
    assert!(!index.contains("passwd") && !index.contains("</blue-session"), "{index}");
    assert_eq!(space.blue(&["schema", "validate", ".blue/context/paths.jsonl"]).code, 0);
    assert_eq!(space.blue(&["knowledge", "for", "src/a.rs"]).code, 1);
}
