//! A workspace in the layout of the protocol, that no rule of blue was written for.

use super::container;
use crate::support::Project;

/// A workspace with two roles and no configuration: requests are Markdown files of the workspace.
fn held_out() -> Project {
    let project = Project::new();
    let file = |path: &str, role: &str, text: &str| {
        let header =
            format!("---\nauthored_by: human\nauthor_id: dad\ncontext_role: {role}\n---\n");
        project.write(path, header + text);
    };
    for id in ["finance_cos", "parenting_cos"] {
        container(&project, id);
        let manifest = format!(
            "{{\"version\": 1, \"responsibility_id\": \"{id}\", \"intent_tags\": [\"allowance\"], \"mandates\": [\"mandate.{id}.weekly_review\"], \"tools\": [{{\"name\": \"bank\", \"resource\": \"statements\", \"guardrail_clause\": \"privacy.local\"}}], \"dependencies\": [], \"model_preferences_file\": \"ai_context/model_preferences.md\"}}\n"
        );
        project.write(&format!("registry/{id}/manifest.json"), manifest);
        file(
            &format!("registry/{id}/mandates/definitions/weekly_review.md"),
            "mandate_definition",
            "# mandate.weekly_review\n\n## Intent\n\nReview the week.\n",
        );
        file(
            &format!("registry/{id}/context/knowledge/banking.md"),
            "long_term_memory",
            "# Banking\n\nAllowances are paid on Fridays.\n",
        );
        file(&format!("registry/{id}/context/packs/p1.md"), "report", "# Budgeting\n\nA pack.\n");
    }
    project.write(
        "registry/responsibility_registry.json",
        "{\"responsibilities\": [{\"id\": \"finance_cos\", \"status\": \"active\"}, {\"id\": \"parenting_cos\", \"status\": \"active\"}]}\n",
    );
    project
}

const REQUEST: &str = "req_2025-11-28T09-15Z_finance_to_parenting_allowance";

fn write_request(project: &Project, status: &str, more: &str) {
    let text = format!(
        "---\nauthored_by: ai\nauthor_id: finance_cos\ncontext_role: request\nrequest_id: {REQUEST}\norigin_responsibility_id: finance_cos\ntarget_responsibility_id: parenting_cos\nstatus: {status}\npriority: 100\ncreated_at: 2025-11-28T09:15:00Z\nsla_response_seconds: 14400\nsla_completion_seconds: 86400\n{more}---\n# Review the allowance\n"
    );
    project.write(&format!("queue/inbox/{REQUEST}.md"), text);
}

#[test]
fn a_held_out_workspace_compiles_without_configuration() {
    let project = held_out();
    write_request(&project, "pending", "");
    let output = project.build();
    assert!(!output.stderr.contains("warning"), "{}", output.stderr);
    let pack = |id: &str| project.read(&format!(".blue/context/responsibilities/{id}.md"));
    let parenting = pack("parenting_cos");
    assert!(parenting.contains(&format!("[pending] {REQUEST}: Review the allowance, from finance_cos, respond by 2025-11-28T13:15:00Z (queue/inbox/{REQUEST}.md of the workspace)")), "{parenting}");
    assert!(parenting.contains("- `bank`: statements (clause `privacy.local`)\n"), "{parenting}");
    assert!(
        parenting.contains(
            "- Banking: Allowances are paid on Fridays. (context/knowledge/banking.md)\n"
        ),
        "{parenting}"
    );
    assert!(parenting.contains("- Pack Budgeting (context/packs/p1.md)\n"), "{parenting}");
    assert!(!pack("finance_cos").contains(REQUEST), "a request is its target's");
    assert_eq!(project.blue(&["knowledge", "build", "--check"]).code, 0);
    let list = project.json(&["responsibility", "list", "--format", "json"]);
    assert_eq!(list["responsibilities"][0]["tools"][0]["name"], "bank");
}

#[test]
fn a_request_is_replayed_step_by_step_with_its_seven_memory_events() {
    let project = held_out();
    project.write(".blue/config.yaml", "responsibilities: {context_worker: context_curator}\n");
    let own = |name: &str| format!("registry/parenting_cos/{name}");
    let memory = "---\nauthored_by: hybrid\ncontext_role: log\n---\n# Events\n\n";
    project.write(&own("memory/events.md"), memory);
    let mut events = memory.to_string();
    let mut step = |time: &str, kind: &str, text: &str| {
        events += &format!(
            "- {time} {kind} (source: kernel, mandate: weekly_review, task: t1, rfa: {REQUEST}) – {text}\n"
        );
        project.write(&own("memory/events.md"), &events);
        let signal =
            ["responsibility", "signal", "parenting_cos", "request_changed", "--now", time];
        let output = project.blue(&signal);
        assert_eq!(output.code, 0, "{kind}: {}", output.stderr);
        assert_eq!(project.blue(&["knowledge", "build", "--check"]).code, 0, "{kind}");
        let recent = project.read(&own("ai_context/recent_activity.md"));
        let n = 5 + 1 + events.lines().filter(|line| line.starts_with("- ")).count();
        let line = format!("- {time} {kind}: {text} (memory/events.md#L{n})\n");
        let newest = recent.lines().find(|line| line.starts_with("- 2025")).unwrap_or_default();
        assert_eq!(format!("{newest}\n"), line, "{recent}");
        project.read(&own("ai_context/open_requests.md"))
    };
    write_request(&project, "pending", "");
    let open = step("2025-11-28T09:16:00Z", "request_received", "Finance asks for a review.");
    assert!(open.contains(&format!("[pending] {REQUEST}")) && open.contains("on_track"), "{open}");
    let open = step("2025-11-28T12:30:00Z", "request_reminded", "Finance asks again.");
    assert!(open.contains("at_risk"), "{open}");
    write_request(&project, "accepted", "acknowledged_at: 2025-11-28T13:00:00Z\n");
    let open = step("2025-11-28T13:00:00Z", "request_accepted", "Parenting will do it.");
    assert!(open.contains("[accepted]"), "{open}");
    assert!(open.contains("complete by 2025-11-29T13:00:00Z, on_track"), "{open}");
    step("2025-11-28T14:00:00Z", "mandate_run_started", "The review began.");
    step("2025-11-28T15:00:00Z", "report_written", "The report is there.");
    step("2025-11-28T16:00:00Z", "mandate_run_closed", "The review ended.");
    write_request(&project, "completed", "acknowledged_at: 2025-11-28T13:00:00Z\n");
    let open = step("2025-11-28T17:00:00Z", "request_completed", "Finance has the answer.");
    assert!(open.contains("None."), "{open}");
    let recent = project.read(&own("ai_context/recent_activity.md"));
    assert_eq!(recent.lines().filter(|line| line.starts_with("- 2025")).count(), 7, "{recent}");
    let state = project.read(&own("ai_context/state.jsonl"));
    assert!(state.contains("\"as_of\":\"2025-11-28T17:00:00Z\""), "{state}");
}

#[test]
fn a_manifest_that_names_what_does_not_exist_is_reported() {
    let project = Project::new();
    container(&project, "a");
    project.write(
        "registry/a/manifest.json",
        "{\"responsibility_id\": \"a\", \"mandates\": [\"m.absent\"], \"tools\": [{\"name\": \"bank\", \"guardrail_clause\": \"money.none\"}], \"model_preferences_file\": \"models.md\"}",
    );
    let output = project.build();
    for message in [
        "the mandate \"m.absent\" has no definition",
        "the tool \"bank\" names the clause \"money.none\"",
        "model_preferences_file is \"models.md\"",
    ] {
        assert!(output.stderr.contains(message), "{message}: {}", output.stderr);
    }
    assert_eq!(output.stderr.matches("BLUE-RSP-010").count(), 3, "{}", output.stderr);
}
