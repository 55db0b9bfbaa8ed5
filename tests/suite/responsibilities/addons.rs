//! Add-ons: files of `ai_context/` that the configuration describes.

use super::{NOW, mandate, own, workspace};
use crate::support::Project;

const SETTINGS: &str = "workspace: dad_mode, queue: queue.sqlite, context_worker: context_curator";

fn configure(project: &Project, addons: &str) {
    let text =
        format!("responsibilities:\n  addons:\n{addons}  {}\n", SETTINGS.replace(", ", "\n  "));
    project.write(".blue/config.yaml", text);
}

fn risk(project: &Project, name: &str, level: &str, text: &str) {
    let header = format!("---\nauthored_by: human\ncontext_role: report\nlevel: {level}\n---\n");
    project.write(&own(&format!("risks/{name}.md")), format!("{header}# {name}\n\n{text}\n"));
}

/// A workspace with two risks, and an add-on that lists them.
fn with_risks(keys: &str) -> Project {
    let project = workspace();
    risk(&project, "flu", "high", "Both children ill. More about it.");
    risk(&project, "snow", "low", "The road is closed.");
    let addon = "    - name: risk_register.md\n      from: [\"risks/*.md\"]\n";
    configure(&project, &format!("{addon}{keys}"));
    project
}

#[test]
fn an_add_on_lists_the_files_that_match_and_is_an_ordinary_artifact() {
    let project = with_risks("");
    assert_eq!(mandate(&project, "refresh_ai_context", NOW, &[]).code, 0);
    let path = own("ai_context/risk_register.md");
    let text = project.read(&path);
    assert!(text.contains("\ncontext_role: report\nrefresh: wholesale\n"), "{text}");
    let lines = "# Risk register of parenting_cos\n\n- flu: Both children ill. ([flu.md](../risks/flu.md))\n- snow: The road is closed. ([snow.md](../risks/snow.md))\n";
    assert!(text.ends_with(lines), "{text}");
    assert!(project.read(".blue/context.manifest.yaml").contains(&path));
    let shown = project.blue(&["responsibility", "show", "parenting_cos", "risk_register"]);
    assert_eq!(shown.stdout, text);
    let shown =
        project.blue(&["knowledge", "show", "blue://responsibility/parenting_cos/risk_register"]);
    assert!(shown.stdout.contains("# Risk register"), "{}", shown.stderr);
    assert_eq!(project.blue(&["knowledge", "build", "--check"]).code, 0);
    let before = project.files();
    assert_eq!(mandate(&project, "refresh_ai_context", NOW, &[]).code, 0);
    assert_eq!(project.files(), before, "a second refresh writes nothing");

    risk(&project, "snow", "low", "The road is open.");
    assert_eq!(project.blue(&["knowledge", "build", "--check"]).code, 1);
    project.build();
    assert!(project.read(&path).contains("The road is open."));
}

#[test]
fn a_template_renders_an_add_on_and_its_changes_are_noticed() {
    let project = with_risks("      template: risks.md\n");
    let template = "# {{ title }}\n\n{% for file in files %}\n- {{ file.fields.level }}: [{{ file.title }}]({{ file.link }}) {{ file.sentence }}\n{% endfor %}\n";
    project.write(".blue/templates/risks.md", template);
    project.build();
    let path = own("ai_context/risk_register.md");
    let expected = "---\n# Risk register of parenting_cos\n\n- high: [flu](../risks/flu.md) Both children ill.\n- low: [snow](../risks/snow.md) The road is closed.\n";
    assert!(project.read(&path).ends_with(expected), "{}", project.read(&path));
    project.write(".blue/templates/risks.md", template.replace("# {{ title }}", "# Risks"));
    assert_eq!(project.blue(&["knowledge", "build", "--check"]).code, 1);
    project.build();
    assert!(project.read(&path).contains("---\n# Risks\n"));
    project.write(".blue/templates/risks.md", "one\n{{ unknown }}\n");
    let output = project.blue(&["knowledge", "build"]);
    assert_eq!(output.code, 2);
    assert!(output.stderr.contains(".blue/templates/risks.md:2: undefined"), "{}", output.stderr);
}

#[test]
fn an_add_on_stays_within_its_budget_and_counts_what_it_leaves_out() {
    let project = with_risks("      max_tokens: 60\n");
    for i in 0..50 {
        risk(&project, &format!("risk_{i}"), "low", "Something might break.");
    }
    project.build();
    let text = project.read(&own("ai_context/risk_register.md"));
    assert!(text.contains("\nNot shown: "), "{text}");
    assert!(text.lines().filter(|line| line.starts_with("- ")).count() < 5, "{text}");
    configure(&project, "    - {name: risks.md, from: [\"risks/*.md\"], max_tokens: 2}\n");
    let output = project.blue(&["knowledge", "build"]);
    assert_eq!(output.code, 2);
    assert!(output.stderr.contains("risks.md: its title alone takes"), "{}", output.stderr);
}

#[test]
fn a_hand_written_file_takes_the_place_of_an_add_on_until_it_is_adopted() {
    let project = with_risks("");
    let path = own("ai_context/risk_register.md");
    let written = "# My risks\n\nSee [flu](../risks/flu.md).\n";
    project.write(&path, written);
    let output = project.build();
    assert!(
        output.stderr.contains("risk_register.md: warning: written by hand"),
        "{}",
        output.stderr
    );
    assert_eq!(mandate(&project, "refresh_ai_context", NOW, &[]).code, 0);
    assert_eq!(project.read(&path), written);
    assert_eq!(project.blue(&["knowledge", "build", "--check"]).code, 0);
    assert_eq!(project.blue(&["responsibility", "adopt", "parenting_cos"]).code, 0);
    assert_eq!(project.read(&own("ai_context/adopted/risk_register.md")), written);
    assert!(project.read(&path).contains("# Risk register of parenting_cos"));
}

#[test]
fn an_add_on_that_is_removed_from_the_configuration_leaves_nothing_behind() {
    let project = with_risks("");
    let with_add_on = mandate(&project, "refresh_ai_context", NOW, &[]);
    assert_eq!(with_add_on.code, 0, "{}", with_add_on.stderr);
    configure(&project, "    []\n");
    project.build();
    assert!(!project.exists(&own("ai_context/risk_register.md")));
    assert_eq!(project.blue(&["knowledge", "build", "--check"]).code, 0);
}

#[test]
fn names_globs_and_templates_that_cannot_be_used_are_errors_with_their_line() {
    let project = workspace();
    for (addon, line, message) in [
        ("name: a/b.md", 4, "\"a/b.md\" is not the name of a Markdown file"),
        ("name: ../b.md", 4, "\"../b.md\" is not the name"),
        ("name: a..md", 4, "\"a..md\" is not the name"),
        ("name: state.jsonl", 4, "\"state.jsonl\" is not the name"),
        ("name: .md", 4, "\".md\" is not the name"),
        ("name: current_focus.md", 4, "blue makes `current_focus.md` itself"),
        ("name: one.md", 4, "two add-ons are named `one.md`"),
        ("name: b.md\n      template: ../x.md", 5, "\"../x.md\" is not the name"),
        ("name: b.md\n      template: none.md", 5, "no template `none.md`"),
        ("name: b.md\n      template: digest.md", 5, "`digest.md` renders another file"),
        ("name: b.md\n      max_tokens: none", 5, "max_tokens"),
    ] {
        let first = "    - {name: one.md, from: [\"risks/*.md\"]}\n";
        configure(&project, &format!("{first}    - {addon}\n      from: [\"*.md\"]\n"));
        let output = project.blue(&["knowledge", "build"]);
        assert_eq!(output.code, 2, "{addon}: {}", output.stderr);
        let at = format!(".blue/config.yaml:{line}: ");
        assert!(output.stderr.contains(&at), "{addon}: {}", output.stderr);
        assert!(output.stderr.contains(message), "{addon}: {}", output.stderr);
    }
    configure(&project, "    - name: b.md\n      from: [\"a{\"]\n");
    let output = project.blue(&["knowledge", "build"]);
    assert!(
        output.stderr.contains(".blue/config.yaml:4: \"a{\" is not a glob"),
        "{}",
        output.stderr
    );
}
