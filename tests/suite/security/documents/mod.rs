//! Hostile text in documents.

mod hidden_characters;
mod leaks;
mod prompt_injection;
mod secrets;
mod split_secrets;

use crate::support;
use crate::support::Project;

/// Findings of a project as `code line:column message`, and every byte that blue wrote or printed.
struct Seen {
    findings: Vec<String>,
    emitted: String,
}

const URI: &str = "blue://docs/adrs/0001-a";

fn see(project: &Project) -> Seen {
    let mut emitted = String::new();
    let build = project.build();
    emitted += &(build.stdout + &build.stderr);
    let lint = project.blue(&["knowledge", "lint", "--format", "json"]);
    for format in ["text", "github", "sarif"] {
        let output = project.blue(&["knowledge", "lint", "--format", format]);
        emitted += &(output.stdout + &output.stderr);
    }
    for arguments in
        [&["knowledge", "show", URI][..], &["knowledge", "list"], &["knowledge", "related", URI]]
    {
        let output = project.blue(arguments);
        emitted += &(output.stdout + &output.stderr);
    }
    for folder in ["knowledge", ".blue/context", ".blue/local"] {
        gather(&project.path().join(folder), &mut emitted);
    }
    emitted += &String::from_utf8_lossy(
        &std::fs::read(project.path().join(".blue/context.manifest.yaml")).unwrap_or_default(),
    );
    emitted += &lint.stdout;
    Seen { findings: findings(&lint.stdout), emitted }
}

fn gather(at: &std::path::Path, all: &mut String) {
    if !at.is_dir() {
        return;
    }
    for path in support::entries(at) {
        match path.is_dir() {
            true => gather(&path, all),
            false => all.push_str(&String::from_utf8_lossy(&std::fs::read(&path).unwrap())),
        }
    }
}

fn findings(json: &str) -> Vec<String> {
    let report: serde_json::Value = serde_json::from_str(json).unwrap();
    let ours = ["BLUE-SEC", "BLUE-HID", "BLUE-INJ", "BLUE-DOC-010"];
    let all = report["diagnostics"].as_array().unwrap().iter();
    let ours =
        all.filter(|d| ours.iter().any(|code| d["code"].as_str().unwrap().starts_with(code)));
    ours.map(|d| {
        format!("{} {}:{} {}", d["code"].as_str().unwrap(), d["line"], d["column"], d["message"])
    })
    .collect()
}

fn project_with(text: &str) -> Project {
    Project::with("docs/adr/0001-a.md", text)
}

/// Joins a token from two parts, so that no scanner reports this file as a leak.
fn token(start: &str, rest: &str) -> String {
    format!("{start}{rest}")
}

/// Two halves of a token, neither of which any rule matches.
fn halves() -> (String, String) {
    (token("ghp_", "Zk3mQ9xW2vB7nR4t"), "Y8pL5sD1fG6hJ0cA9eUq".to_string())
}
