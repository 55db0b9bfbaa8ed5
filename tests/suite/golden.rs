//! Golden cases: each folder of `tests/golden/` protects one behaviour that users rely on.
//!
//! A case has `input/`, the project; `expected/`, every file that a build adds to it or changes;
//! `stderr` and `exit` of the build; and `why.md`, the behaviour in plain words. Files are compared
//! in both directions. Then the project is built again, on one thread and with files in reverse
//! order.
//!
//! For a new case, write `why.md` and `input/`, run `BLESS=1 cargo test --test suite golden`, and
//! read the files it wrote as a user would.

use crate::support;
use std::collections::BTreeMap;
use std::path::Path;

use crate::support::Project;

/// Every file below a folder by path, without local state.
fn tree(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(at) = open.pop() {
        for path in support::entries(&at) {
            let below = path.strip_prefix(folder).unwrap().to_str().unwrap().to_string();
            if below == ".blue/local" {
                continue;
            }
            match path.is_dir() {
                true => open.push(path),
                false => drop(files.insert(below, std::fs::read(&path).unwrap())),
            }
        }
    }
    files
}

/// Standard error without the duration, which differs between runs.
fn steady(stderr: &str) -> String {
    let lines = stderr.lines().map(|line| match (line.find(" in "), line.find(" ms")) {
        (Some(start), Some(end)) if line.starts_with("blue: ") => {
            format!("{}{}", &line[..start], &line[end + 3..])
        }
        _ => line.to_string(),
    });
    lines.map(|line| line + "\n").collect()
}

fn differences(
    expected: &BTreeMap<String, Vec<u8>>,
    actual: &BTreeMap<String, Vec<u8>>,
) -> Vec<String> {
    let mut found = Vec::new();
    for (path, bytes) in expected {
        match actual.get(path) {
            None => found.push(format!("missing: {path}")),
            Some(other) if other != bytes => found.push(format!(
                "changed: {path}\n--- expected\n{}\n--- actual\n{}",
                String::from_utf8_lossy(bytes),
                String::from_utf8_lossy(other)
            )),
            Some(_) => {}
        }
    }
    found.extend(
        actual
            .keys()
            .filter(|path| !expected.contains_key(*path))
            .map(|path| format!("stray: {path}")),
    );
    found
}

/// Builds a case and returns its output files, standard error and exit code in one map.
fn run(case: &Path, reversed: bool, arguments: &[&str]) -> (Project, BTreeMap<String, Vec<u8>>) {
    let project = Project::new();
    let input = tree(&case.join("input"));
    let mut order: Vec<_> = input.iter().collect();
    if reversed {
        order.reverse();
    }
    for (path, bytes) in order {
        project.write(path, bytes);
    }
    let output = project.blue(&[&["knowledge", "build"], arguments].concat());
    let mut actual = tree(project.path());
    actual.retain(|path, bytes| input.get(path) != Some(bytes));
    let mut all: BTreeMap<String, Vec<u8>> =
        actual.into_iter().map(|(path, bytes)| (format!("expected/{path}"), bytes)).collect();
    all.insert("stderr".to_string(), steady(&output.stderr).into_bytes());
    all.insert("exit".to_string(), format!("{}\n", output.code).into_bytes());
    (project, all)
}

fn check(case: &Path, bless: bool, failures: &mut Vec<String>) {
    let name = case.file_name().unwrap().to_str().unwrap();
    let (project, actual) = run(case, false, &[]);
    if bless {
        std::fs::remove_dir_all(case.join("expected")).ok();
        for (path, bytes) in &actual {
            support::write(&case.join(path), bytes);
        }
    }
    let mut expected = tree(case);
    expected.retain(|path, _| !path.starts_with("input/") && path != "why.md");
    failures.extend(
        differences(&expected, &actual)
            .into_iter()
            .map(|difference| format!("{name}: {difference}")),
    );

    if actual["exit"] == b"0\n" {
        check_second_build(name, &project, failures);
    }
    for (how, other) in [
        ("one thread", run(case, false, &["--jobs", "1"])),
        ("reverse order", run(case, true, &[])),
    ] {
        for difference in differences(&actual, &other.1) {
            failures.push(format!("{name}: with {how}: {difference}"));
        }
    }
}

/// Checks that a second build writes nothing and that the emitted files are current and valid.
fn check_second_build(name: &str, project: &Project, failures: &mut Vec<String>) {
    let before = project.stamps();
    let again = project.blue(&["knowledge", "build"]);
    if !again.stderr.starts_with("blue: nothing to do") || project.stamps() != before {
        failures.push(format!("{name}: a second build was not idle: {}", again.stderr));
    }
    let checked = project.blue(&["knowledge", "build", "--check"]);
    if checked.code != 0 {
        failures.push(format!("{name}: --check after a build: {}", checked.stderr));
    }
    let validated = project.blue(&[
        "schema",
        "validate",
        ".blue/context.manifest.yaml",
        ".blue/context/documents.jsonl",
        ".blue/context/relevance.jsonl",
    ]);
    if validated.code != 0 {
        failures.push(format!("{name}: emitted files are not valid: {}", validated.stderr));
    }
}

#[test]
fn every_case_gives_its_expected_output() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let bless = std::env::var_os("BLESS").is_some();
    let mut failures = Vec::new();
    let cases = support::entries(&folder);
    assert!(cases.len() >= 30, "only {} cases", cases.len());
    for case in cases {
        assert!(case.join("why.md").is_file(), "{} has no why.md", case.display());
        check(&case, bless, &mut failures);
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}
