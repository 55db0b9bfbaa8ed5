//! Deliveries to a session, by hook and by command.

mod prompts;
mod reports;

use serde_json::Value;

use crate::support::Project;

const RFC: &str =
    "# RFC 0016: Context\n\n- Status: in progress\n\n## Tasks\n\n- [x] first\n- [ ] second\n";

/// A project whose branch works on RFC 16.
fn sample(config: &str) -> Project {
    let project = Project::new();
    project
        .write(".blue/config.yaml", config)
        .write(
            ".blue/docs/adrs/0001-one.md",
            "# ADR 0001: One\n\nStatus: accepted\n\n## Decision\n\nWe do one thing.\n",
        )
        .write(".blue/docs/rfcs/0016-context.md", RFC)
        .write(
            ".blue/docs/rfcs/0017-done.md",
            "# RFC 0017: Done\n\n- Status: implemented\n\nIt is done.\n",
        )
        .write(".git/HEAD", "ref: refs/heads/rfc/0016\n");
    assert_eq!(project.build().code, 0);
    project
}

fn prompt(project: &Project, session: &str) -> String {
    project.blue_with_input(
        &["hook", "user-prompt-submit"],
        &format!("{{\"session_id\":\"{session}\",\"prompt\":\"x\"}}"),
    )
}

fn bundle(project: &Project) -> String {
    project.read(".blue/context/workflow/0016-context.md")
}

/// Backdates every line of the log, so that no test has to wait for thirty seconds.
fn backdate_log(project: &Project) {
    let log = project.read(".blue/local/audit.jsonl");
    let aged = log.lines().map(|line| {
        let mut value: Value = serde_json::from_str(line).unwrap();
        value["timestamp"] = "2020-01-25T12:00:00Z".into();
        format!("{value}\n")
    });
    project.write(".blue/local/audit.jsonl", aged.collect::<String>());
}
