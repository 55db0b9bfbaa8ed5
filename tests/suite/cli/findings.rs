//! Findings as text, JSON, SARIF and workflow commands.

use crate::support::Project;

#[test]
fn findings_are_printed_in_every_format() {
    let project = Project::with_two_decisions();
    project.write("docs/adr/0003-broken.md", "# 3. Broken\n\nSee [x](0099-gone.md).\n");
    let lint = project.blue(&["knowledge", "lint"]);
    assert_eq!(lint.code, 1);
    assert!(lint.stdout.contains("docs/adr/0003-broken.md:3:5: warning: no document at \"0099-gone.md\" [BLUE-REF-001]\n  hint: "), "{}", lint.stdout);
    let json: serde_json::Value =
        serde_json::from_str(&project.blue(&["knowledge", "lint", "--format", "json"]).stdout)
            .unwrap();
    assert_eq!(json["diagnostics"][0]["code"], "BLUE-REF-001");
    let github = project.blue(&["knowledge", "lint", "--format", "github"]).stdout;
    assert!(
        github.starts_with(
            "::warning file=docs/adr/0003-broken.md,line=3,col=5,title=BLUE-REF-001::"
        ),
        "{github}"
    );
    let sarif: serde_json::Value =
        serde_json::from_str(&project.blue(&["knowledge", "lint", "--format", "sarif"]).stdout)
            .unwrap();
    assert_eq!(sarif["version"], "2.1.0");
    let location = &sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
    assert_eq!(location["region"]["startLine"], 3);
    assert_eq!(project.blue(&["knowledge", "build"]).code, 0, "warnings do not fail a build");
}

#[test]
fn a_build_prints_each_warning_once_and_then_counts_it() {
    let project = Project::new();
    let broken = |name: &str| format!("# T\n\n## Status\n\nAccepted\n\nSee [x]({name}.md).\n");
    project.write("docs/adr/0001-a.md", broken("one")).write("docs/adr/0002-b.md", broken("two"));
    let build = |arguments: &[&str]| {
        let output = project.blue(&[&["knowledge", "build"], arguments].concat());
        assert_eq!(output.code, 0, "{}", output.stderr);
        let lines = output.stderr.lines().filter(|line| line.contains(": warning: ")).count();
        (lines, output.stderr.lines().last().unwrap_or_default().to_string(), output.stdout)
    };
    assert_eq!(build(&[]).0, 2);
    // A line inserted before a finding does not make it new.
    project.write("docs/adr/0001-a.md", broken("one").replace("See", "More.\n\nSee"));
    let (n, last, _) = build(&[]);
    assert!(
        n == 0 && last.ends_with("; 2 warnings, 2 of them reported before (blue knowledge lint)"),
        "{n} {last}"
    );
    project.write("docs/adr/0003-c.md", broken("three"));
    let (n, last, _) = build(&[]);
    assert!(n == 1 && last.contains("; 3 warnings, 2 of them reported before"), "{n} {last}");
    assert_eq!(build(&["--force"]).0, 0);
    assert_eq!(build(&["--check"]).0, 3);
    let json = build(&["--force", "--format", "json"]).2;
    assert_eq!(json.matches("\"code\"").count(), 3, "{json}");
    assert_eq!(build(&["--force", "--format", "github"]).2.matches("::warning").count(), 3);
    let lint = project.blue(&["knowledge", "lint"]).stdout;
    assert_eq!(lint.matches(": warning: ").count(), 3, "{lint}");
    // Errors are always printed, and a finding that was fixed is new when it returns.
    project.write(".blue/config.yaml", "diagnostics: {BLUE-REF-001: error}\n");
    for _ in 0..2 {
        let failed = project.blue(&["knowledge", "build", "--force"]);
        assert_eq!(failed.stderr.matches(": error: ").count(), 3, "{}", failed.stderr);
    }
    project.write(".blue/config.yaml", "diagnostics: {BLUE-REF-001: off}\n");
    build(&[]);
    project.write(".blue/config.yaml", "");
    assert_eq!(build(&[]).0, 3);
}

#[test]
fn schema_errors_name_file_line_and_path() {
    let project = Project::with_two_decisions();
    project.write("config.yaml", "version: 1\ntokens:\n  margin_percent: 500\n");
    let output = project.blue(&["schema", "validate", "config.yaml"]);
    assert_eq!(output.code, 1);
    assert!(
        output.stderr.contains(
            "config.yaml:3: 500 is greater than the maximum of 90 at $.tokens.margin_percent"
        ),
        "{}",
        output.stderr
    );
    assert!(project.blue(&["schema", "print", "config"]).stdout.contains("\"blue configuration\""));
}
