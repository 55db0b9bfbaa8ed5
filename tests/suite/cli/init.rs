//! `blue init`: adopting a repository and converting an older manifest.

use std::os::unix::fs::symlink;
use std::process::Command;

use crate::support::Project;

#[test]
fn init_adopts_a_repository_and_overwrites_nothing() {
    let project = Project::with_two_decisions();
    project.git(&["init", "-q"]);
    let output = project.blue(&["init"]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    assert!(
        output.stdout.contains("found    2 documents in docs/adr/*.md (adr)"),
        "{}",
        output.stdout
    );
    assert!(project.read(".blue/config.yaml").contains("project: \"a project\""));
    assert_eq!(project.blue(&["schema", "validate", ".blue/config.yaml"]).code, 0);
    assert_eq!(project.blue(&["knowledge", "build", "--check"]).code, 0);
    let ignored = project.git(&["status", "--porcelain", "--untracked-files=all"]);
    assert!(!ignored.contains(".blue/local"), "{ignored}");
    let mut hook = Command::new("sh");
    hook.arg(".blue/hooks/session-start").current_dir(project.path());
    let hook = project.isolate(&mut hook).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&hook.stdout), project.read(".blue/context/session.md"));
    let before = project.files();
    let again = project.blue(&["init"]);
    assert_eq!(again.code, 0, "{}", again.stderr);
    assert!(again.stdout.contains("kept     .blue/config.yaml"), "{}", again.stdout);
    assert_eq!(project.files(), before);
}

#[test]
fn an_older_manifest_is_converted_to_a_configuration() {
    let project = Project::with_two_decisions();
    let older = "version: 1\nidentity:\n  - uri: blue://docs/adrs/\nworkflow:\n  sources:\n    - uri: blue://state/current-rfc\n  max_tokens: 1234\n";
    project.write(".blue/context.manifest.yaml", older);
    let output = project.blue(&["knowledge", "build"]);
    assert_eq!(output.code, 2);
    assert!(output.stderr.contains("written by hand"), "{}", output.stderr);
    assert_eq!(project.read(".blue/context.manifest.yaml"), older);
    let output = project.blue(&["init"]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    assert!(project.read(".blue/config.yaml").contains("max_tokens: 1234"));
    assert_eq!(project.read(".blue/context.manifest.old.yaml"), older);
    assert!(project.read(".blue/context.manifest.yaml").contains("checksum: blake3:"));
}

/// The manifest of the first description of the format, whose settings are indented like the list
/// before them.
const SAMPLE: &str = r#"# .blue/context.manifest.yaml
version: 1
generated_at: 2026-01-25T12:00:00Z
source_commit: abc123

identity:
  - uri: blue://docs/adrs/
  - uri: blue://context/voice
  max_tokens: 480

workflow:
  sources:
    - uri: blue://state/current-rfc
    - uri: blue://docs/rfcs/{active}
  refresh_triggers:
    - on_rfc_change
    - every_10_turns
  max_tokens: 1900

reference:
  graph: blue://context/relevance
  max_tokens: 3900
  staleness_days: 30

plugins:
  - uri: blue://jira/
    provides: [ticket-context, acceptance-criteria]
    salience_triggers:
      - commit_msg_pattern: "^[A-Z]+-\\d+"
      - file_annotation: "@jira"
"#;

#[test]
fn the_original_sample_manifest_is_converted_completely() {
    for sample in [SAMPLE.to_string(), SAMPLE.replace('\n', "\r\n"), format!("\u{feff}{SAMPLE}")] {
        let project = Project::with_two_decisions();
        project.write(".blue/context.manifest.yaml", &sample);
        let output = project.blue(&["init"]);
        assert_eq!(output.code, 0, "{}", output.stderr);
        assert_eq!(project.read(".blue/context.manifest.old.yaml"), sample);
        let config: serde_json::Value =
            serde_yaml::from_str(&project.read(".blue/config.yaml")).unwrap();
        assert_eq!(config["identity"]["max_tokens"], 480);
        assert_eq!(config["identity"]["sources"][1], "blue://context/voice");
        assert_eq!(config["workflow"]["refresh_triggers"][1], "every_10_turns");
        assert_eq!(config["reference"]["max_tokens"], 3900);
        let plugin = &config["plugins"][0];
        assert_eq!(plugin["uri"], "blue://jira/");
        assert_eq!(plugin["salience_triggers"][0]["commit_msg_pattern"], "^[A-Z]+-\\d+");
        let manifest = project.read(".blue/context.manifest.yaml");
        assert!(manifest.contains("plugins:\n- jira\n"), "{manifest}");
        let warning = "warning: the plugin `jira` is registered, not run";
        let linted = project.blue(&["knowledge", "lint"]);
        assert!(linted.stdout.contains(warning), "{}", linted.stdout);
        assert_eq!(project.blue(&["knowledge", "build", "--check"]).code, 0);
    }
}

#[test]
fn an_unconvertible_manifest_is_reported_and_nothing_is_written() {
    for (text, place) in [
        (SAMPLE.replace("\n  ", "\n"), ":18: duplicate"),
        (SAMPLE.replace("480", "many"), ":9: "),
        (SAMPLE.replace("every_10_turns", "at_noon"), ":17: unknown trigger"),
        (SAMPLE.replace("blue://jira/", "blue://docs/"), ":26: `docs` is blue's own"),
        (SAMPLE.replace("uri: blue://jira/", "title: Jira"), ":26: "),
        (SAMPLE.replace("identity:\n", "identity: {\n"), ":"),
    ] {
        let project = Project::with_two_decisions();
        project.write(".blue/context.manifest.yaml", &text);
        let before = project.files();
        let output = project.blue(&["init"]);
        assert_eq!(output.code, 2, "{place}: {}", output.stdout);
        let start = format!("blue: error: .blue/context.manifest.yaml{place}");
        assert!(output.stderr.starts_with(&start), "{place}: {}", output.stderr);
        assert_eq!(project.files(), before, "{place}");
    }
}

#[test]
fn unknown_keys_of_an_older_manifest_are_copied_and_reported() {
    let project = Project::with_two_decisions();
    let text = SAMPLE.replace("  max_tokens: 1900\n", "  max_tokens: 1900\n  injection: auto\n");
    project.write(".blue/context.manifest.yaml", text);
    let output = project.blue(&["init"]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    let line = "unknown  .blue/context.manifest.old.yaml:19: workflow.injection";
    assert!(output.stdout.contains(line), "{}", output.stdout);
    assert!(project.read(".blue/config.yaml").contains("# workflow.injection: \"auto\"\n"));
}

#[test]
fn a_failed_init_changes_nothing() {
    type Prepare = fn(&Project);
    let obstacles: [(&str, Prepare); 5] = [
        ("a foreign digest", |project| {
            project.write("knowledge/adrs.md", "My own notes.\n");
        }),
        ("a file for a folder", |project| {
            project.write("knowledge", "not a folder\n");
        }),
        ("a link", |project| {
            project.write("elsewhere/x", "x");
            symlink("elsewhere/x", project.path().join("knowledge")).unwrap();
        }),
        ("an older manifest", |project| {
            project.write("knowledge/adrs.md", "My own notes.\n");
            project.write(".blue/context.manifest.yaml", "identity:\n  - uri: blue://docs/adrs/\n");
        }),
        ("attributes and scripts", |project| {
            project.write("knowledge/adrs.md", "My own notes.\n");
            project.write(".gitattributes", "*.png binary\n");
            project.write(".blue/hooks/session-start", "#!/bin/sh\nexit 0\n");
        }),
    ];
    for (what, prepare) in obstacles {
        let project = Project::with_two_decisions();
        prepare(&project);
        let before: Vec<String> = project.stamps().into_keys().collect();
        let (files, had_blue) = (project.files(), project.exists(".blue"));
        let output = project.blue(&["init"]);
        assert_eq!(output.code, 2, "{what}: {}{}", output.stdout, output.stderr);
        assert!(!output.stdout.contains("wrote"), "{what}: {}", output.stdout);
        assert!(files == project.files(), "{what}: a file changed");
        assert_eq!(before, project.stamps().into_keys().collect::<Vec<_>>(), "{what}");
        assert_eq!(had_blue, project.exists(".blue"), "{what}");
    }
}

#[test]
fn plugins_are_validated_and_reported_as_not_run() {
    let project = Project::with_two_decisions();
    let config = "version: 1\nplugins:\n  - x\n  - {name: tickets, provides: [a]}\n";
    project.write(".blue/config.yaml", config);
    let output = project.build();
    for (line, name) in [(3, "x"), (4, "tickets")] {
        let finding = format!(
            ".blue/config.yaml:{line}:1: warning: the plugin `{name}` is registered, not run"
        );
        assert!(output.stderr.contains(&finding), "{}", output.stderr);
    }
    assert_eq!(output.stderr.matches("[BLUE-PLG-001]").count(), 2, "{}", output.stderr);
    for (wrong, message) in [
        ("[../x]", "../x"),
        ("[X Y]", "X Y"),
        ("[\"\"]", "does not match"),
        ("[3]", "3"),
        ("[{provides: [a]}]", "a plugin needs a name"),
        ("[{name: a, run: sh}]", "unknown key `run`"),
        ("[rfc]", "`rfc` is blue's own"),
        ("[a, {uri: \"blue://a/\"}]", "registered twice"),
        ("[{uri: \"https://x/\"}]", "https://x/"),
        ("x", "array"),
    ] {
        project.write(".blue/config.yaml", format!("version: 1\nplugins: {wrong}\n"));
        let output = project.blue(&["knowledge", "build"]);
        assert_eq!(output.code, 2, "{wrong}: {}", output.stderr);
        let start = "blue: error: .blue/config.yaml:2: ";
        assert!(output.stderr.starts_with(start), "{wrong}: {}", output.stderr);
        assert!(output.stderr.contains(message), "{wrong}: {}", output.stderr);
    }
}
