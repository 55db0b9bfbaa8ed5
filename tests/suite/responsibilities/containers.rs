//! Containers without configuration, statuses, gates, adoption and delivery.

use super::{NOW, container, mandate, own, workspace};
use crate::support::{Project, run};
use std::process::Command;

#[test]
fn a_workspace_compiles_without_configuration_and_its_containers_stay_untouched() {
    let project = Project::new();
    container(&project, "parenting_cos");
    project.write(
        "protocol/examples/manager/guardrails.md",
        "# guardrails.manager\n\n- no_pii_in_logs: true\n",
    );
    project.write("protocol/examples/manager/persona.md", "# persona\n\nvoice: Clear.\n");
    let before = project.files();
    project.build();
    let after = project.files();
    for (path, bytes) in &before {
        assert_eq!(after.get(path), Some(bytes), "{path}");
    }
    let added: Vec<&String> = after.keys().filter(|path| !before.contains_key(*path)).collect();
    assert!(added.iter().all(|path| path.starts_with(".blue/")), "{added:?}");
    let pack = project.read(".blue/context/responsibilities/manager.md");
    assert!(pack.starts_with("<blue-responsibility id=\"manager\" inputs=\""), "{pack}");
    assert!(pack.contains("- `no_pii_in_logs`: true\n"), "{pack}");
    let system = project.read(".blue/context/responsibilities/parenting_cos/system_context.md");
    assert!(system.contains("](../../../../registry/parenting_cos/kernel.md)"), "{system}");
    let refused = mandate(&project, "refresh_ai_context", NOW, &[]);
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("context_worker"), "{}", refused.stderr);
}

#[test]
fn only_active_responsibilities_are_built_and_statuses_that_differ_are_reported() {
    let project = workspace();
    container(&project, "old_cos");
    project.write(
        "registry/responsibility_registry.json",
        "{\"parenting_cos\": {\"status\": \"active\"}, \"old_cos\": {\"status\": \"retired\"}}\n",
    );
    project.write("registry/old_cos/responsibility.md", "---\nstatus: active\n---\n# Old\n");
    let output = project.build();
    assert!(output.stderr.contains("retired in the registry and active in its own file"));
    assert!(!project.exists("registry/old_cos/ai_context"));
    let list = project.json(&["responsibility", "list", "--format", "json"]);
    assert_eq!(list["responsibilities"][0]["status"], "retired");
}

#[test]
fn a_volume_over_the_limit_holds_the_publication_until_the_steward_allows_it() {
    let project = workspace();
    let lines = |n: usize| {
        let text: String = (0..n).map(|i| format!("Line {i}.\n\n")).collect();
        format!("---\nstatus: active\n---\n# Plan\n\n{text}")
    };
    project.write(&own("context/projects/plan.md"), lines(200));
    assert_eq!(mandate(&project, "refresh_ai_context", NOW, &[]).code, 0);
    let published = project.read(&own("ai_context/current_focus.md"));
    project.write(&own("context/projects/plan.md"), lines(1_600).replace("# Plan", "# New plan"));
    let held = project.blue(&["knowledge", "build"]);
    assert_eq!(held.code, 1, "{}", held.stderr);
    assert!(
        held.stderr.contains("over 3000; largest: context/projects/plan.md"),
        "{}",
        held.stderr
    );
    assert_eq!(project.read(&own("ai_context/current_focus.md")), published);
    let wrong = ["responsibility", "override", "parenting_cos", "--gate", "red", "--reason", "r"];
    assert_eq!(project.blue(&[&wrong[..], &["--as", "joe"]].concat()).code, 2);
    for gate in ["red", "growth"] {
        let allow = [
            "responsibility",
            "override",
            "parenting_cos",
            "--gate",
            gate,
            "--reason",
            "moving",
            "--as",
            "jane",
        ];
        let allowed = project.blue(&allow);
        assert_eq!(allowed.code, 0, "{}", allowed.stderr);
    }
    let output = mandate(&project, "refresh_ai_context", NOW, &[]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    assert!(project.read(&own("ai_context/current_focus.md")).contains("New plan"));
    assert_eq!(project.blue(&["knowledge", "build", "--check"]).code, 0);
}

#[test]
fn guardrails_are_never_cut() {
    let project = workspace();
    let clauses: String =
        (0..200).map(|i| format!("- `clause.number_{i}`: Do not do {i}.\n")).collect();
    project.build();
    let published = project.read(&own("ai_context/system_context.md"));
    project.write(&own("guardrails.md"), format!("# Guardrails\n\n{clauses}"));
    let output = project.blue(&["knowledge", "build"]);
    assert_eq!(output.code, 1, "{}", output.stderr);
    assert!(output.stderr.contains("its guardrails alone take"), "{}", output.stderr);
    assert_eq!(project.read(&own("ai_context/system_context.md")), published);
}

#[test]
fn a_hand_written_file_is_left_alone_until_it_is_adopted() {
    let project = workspace();
    project.write(&own("ai_context/current_focus.md"), "# My own focus\n");
    let output = project.build();
    assert!(output.stderr.contains("BLUE-RSP-008"), "{}", output.stderr);
    assert_eq!(project.read(&own("ai_context/current_focus.md")), "# My own focus\n");
    assert_eq!(project.blue(&["responsibility", "adopt", "parenting_cos"]).code, 0);
    assert_eq!(project.read(&own("ai_context/adopted/current_focus.md")), "# My own focus\n");
    assert!(project.read(&own("ai_context/current_focus.md")).contains("Current focus of"));
}

#[test]
fn a_new_container_is_a_draft_and_nothing_is_overwritten() {
    let project = workspace();
    assert_eq!(project.blue(&["responsibility", "new", "school_cos"]).code, 0);
    let list = project.json(&["responsibility", "list", "--format", "json"]);
    let ids: Vec<&str> = list["responsibilities"]
        .as_array()
        .unwrap()
        .iter()
        .map(|role| role["status"].as_str().unwrap())
        .collect();
    assert_eq!(ids, ["active", "draft"]);
    for id in ["school_cos", "../x", "a/b"] {
        assert_eq!(project.blue(&["responsibility", "new", id]).code, 2, "{id}");
    }
}

#[test]
fn the_pack_and_the_files_are_served_by_their_addresses() {
    let project = workspace();
    project.build();
    let show = |uri: &str| project.blue(&["knowledge", "show", uri]).stdout;
    let pack = project.read(".blue/context/responsibilities/parenting_cos.md");
    assert_eq!(show("blue://responsibility/parenting_cos"), pack);
    assert!(show("blue://responsibility/parenting_cos/open_requests").contains("# Open requests"));
    assert_eq!(project.blue(&["responsibility", "show", "parenting_cos"]).stdout, pack);
    assert!(pack.len() <= 9_500);
}

#[test]
fn dates_of_commits_are_sticky_and_outside_every_digest() {
    let project = workspace();
    project.git(&["init", "-q"]);
    project.git(&["add", "registry"]);
    project.git(&["commit", "-qm", "roles"]);
    project.build();
    let file = project.read(&own("ai_context/system_context.md"));
    assert!(
        file.starts_with(
            "---\ncreated_at: 2026-01-25T12:00:00Z\nupdated_at: 2026-01-25T12:00:00Z\ncommit: "
        ),
        "{file}"
    );
    project.git(&["commit", "-qm", "again", "--allow-empty"]);
    project.blue(&["knowledge", "build", "--force"]);
    assert_eq!(project.read(&own("ai_context/system_context.md")), file);
    assert_eq!(project.blue(&["knowledge", "build", "--check"]).code, 0);
}

#[test]
fn the_hook_prints_the_pack_of_the_named_responsibility_and_logs_it() {
    let project = workspace();
    project.build();
    project.write_hooks();
    let pack = project.read(".blue/context/responsibilities/parenting_cos.md");
    let hook = |role: Option<&str>| {
        let mut command = Command::new("sh");
        command.arg(".blue/hooks/session-responsibility").current_dir(project.path());
        command.stdin(std::process::Stdio::null());
        project.isolate(&mut command).env_remove("BLUE_RESPONSIBILITY");
        if let Some(role) = role {
            command.env("BLUE_RESPONSIBILITY", role);
        }
        run(&mut command)
    };
    assert_eq!(hook(None).stdout, "");
    assert_eq!(hook(Some("../../session")).stdout, "");
    assert_eq!(hook(Some("absent")).stdout, "");
    assert_eq!(hook(Some("parenting_cos")).stdout, pack);
    let line = project.audit_log().pop().unwrap();
    assert_eq!(line["source"], "blue://responsibility/parenting_cos");
    assert_eq!(line["bytes"], pack.len());
    project.write(".blue/worktree.json", "{\"responsibility\": \"parenting_cos\"}");
    assert_eq!(hook(None).stdout, pack);
}

#[test]
fn reports_with_a_date_are_recent_activity() {
    let project = workspace();
    let header = "---\nauthored_by: human\ncontext_role: report\n";
    let report = |name: &str, keys: &str, title: &str| {
        let text = format!("{header}{keys}---\n# {title}\n\nAll is well. More.\n");
        project.write(&own(&format!("reports/{name}.md")), text);
    };
    report("week_2026-01-20", "", "Week 4");
    report("month", "created_at: 2026-01-24T10:00:00Z\n", "January");
    report("undated", "", "Undated");
    let event = "# Events\n\n- 2026-01-22T08:00:00Z note (source: kernel) – Snow.\n";
    project.write(&own("memory/events.md"), event);
    project.build();
    let recent = project.read(&own("ai_context/recent_activity.md"));
    let lines = "- 2026-01-24T10:00:00Z report: January: All is well. (reports/month.md)\n- 2026-01-22T08:00:00Z note: Snow. (memory/events.md#L3)\n- 2026-01-20T00:00:00Z report: Week 4: All is well. (reports/week_2026-01-20.md)\n";
    assert!(recent.ends_with(lines), "{recent}");
}

#[test]
fn an_append_only_file_may_only_grow() {
    let project = workspace();
    let path = own("ai_context/journal.md");
    let start =
        "---\nauthored_by: human\ncontext_role: log\nrefresh: append_only\n---\n# Journal\n";
    let refresh = || mandate(&project, "refresh_ai_context", NOW, &[]);
    project.write(&path, start);
    assert_eq!(refresh().code, 0);
    let longer = format!("{start}\n## 2026-01-25T12:00:00Z\n\nAll is well.\n");
    project.write(&path, &longer);
    assert_eq!(refresh().code, 0);
    let state = || project.read(&own("ai_context/state.jsonl"));
    let recorded = || state().lines().find(|line| line.contains("append_only")).map(str::to_string);
    let line = recorded().unwrap();
    assert!(line.contains(&format!("journal.md\",\"bytes\":{},", longer.len())), "{line}");
    for (text, message) in [
        (longer.replace("well", "lost"), "bytes changed"),
        (start.to_string(), "bytes changed"),
        (longer.replace("refresh: append_only\n", ""), "bytes changed"),
    ] {
        project.write(&path, &text);
        for _ in 0..2 {
            let output = refresh();
            assert_eq!(output.code, 1, "{}", output.stderr);
            assert!([output.stdout, output.stderr].concat().contains(message));
        }
        assert_eq!(project.read(&path), text, "blue never writes it");
        assert_eq!(recorded().as_ref(), Some(&line));
    }
    std::fs::remove_file(project.path().join(&path)).unwrap();
    assert_eq!(refresh().code, 1);
    project.write(&path, &longer);
    assert_eq!(refresh().code, 0);
    assert!(!project.read(".blue/context.manifest.yaml").contains("journal.md"));
}

#[test]
fn a_build_alone_reports_an_append_only_file_that_was_rewritten() {
    let project = workspace();
    let path = own("ai_context/journal.md");
    let start =
        "---\nauthored_by: human\ncontext_role: log\nrefresh: append_only\n---\n# Journal\n";
    project.write(&path, start);
    assert_eq!(mandate(&project, "refresh_ai_context", NOW, &[]).code, 0);
    project.write(&path, format!("{start}\n## 2026-01-25T12:00:00Z\n\nMore.\n"));
    assert_eq!(project.blue(&["knowledge", "build"]).code, 0);
    project.write(&path, start.replace("Journal", "Diary"));
    for command in [&["knowledge", "build"][..], &["knowledge", "build", "--check"]] {
        let output = project.blue(command);
        assert_eq!(output.code, 1, "{}", output.stderr);
        let message = format!(
            "journal.md: error: it is append_only, and its first {} bytes changed",
            start.len()
        );
        assert!(output.stderr.contains(&message), "{}", output.stderr);
    }
    let mandated = mandate(&project, "refresh_ai_context", NOW, &[]);
    assert_eq!(mandated.code, 1);
    assert_eq!(mandated.stderr.matches("bytes changed").count(), 1, "{}", mandated.stderr);
}

#[test]
fn mandates_add_sections_to_files_that_may_only_grow() {
    let project = workspace();
    let path = own("ai_context/open_requests.md");
    let start =
        "---\nauthored_by: hybrid\ncontext_role: request\nrefresh: append_only\n---\n# Requests";
    project.write(&path, start);
    let output = project.build();
    assert!(!output.stderr.contains("written by hand"), "{}", output.stderr);
    let update = |now: &str| mandate(&project, "update_open_requests", now, &[]);
    assert_eq!(update(NOW).code, 0);
    let first = project.read(&path);
    let line =
        "- [pending] req_1: Sum of allowances, from finance_cos, respond by 2026-01-25T12:00:00Z";
    assert_eq!(first, format!("{start}\n\n## 2026-01-25T11:58:02Z\n\n{line}, at_risk\n"));
    let stamps = project.stamps();
    assert_eq!(update(NOW).code, 0);
    assert_eq!(project.stamps(), stamps, "the same text is not added again");
    let late = "2026-01-25T12:30:00Z";
    assert_eq!(update(late).code, 1);
    let second = project.read(&path);
    assert_eq!(second, format!("{first}\n## {late}\n\n{line}, breached\n"));
    assert_eq!(project.blue(&["knowledge", "build", "--check"]).code, 0);
    let manifest = project.read(".blue/context.manifest.yaml");
    assert!(!manifest.contains("ai_context/open_requests.md"));
    let rewritten = second.replace("at_risk", "on_track");
    project.write(&path, &rewritten);
    assert_eq!(update("2026-01-26T12:30:00Z").code, 1);
    assert_eq!(project.read(&path), rewritten, "nothing is added to a rewritten file");
}

#[test]
fn lint_has_the_findings_of_the_hygiene_gates() {
    let project = workspace();
    let text: String = (0..3_100).map(|i| format!("Line {i}.\n")).collect();
    project.write(&own("context/projects/plan.md"), format!("# Plan\n\n{text}"));
    let output = project.blue(&["knowledge", "lint"]);
    assert_eq!(output.code, 1);
    assert!(output.stdout.contains("BLUE-RSP-006"), "{}", output.stdout);
    for _ in 0..2 {
        let output = mandate(&project, "refresh_ai_context", NOW, &[]);
        assert_eq!(output.code, 1, "it is found each time: {}", output.stderr);
        assert!(output.stderr.contains("is not published"), "{}", output.stderr);
    }
}

#[test]
fn a_hand_written_addition_is_checked_counted_and_never_overwritten() {
    let project = workspace();
    let volume = || {
        let arguments = ["mandate", "refresh_ai_context", "parenting_cos", "--now", NOW];
        let json = project.json(&[&arguments[..], &["--dry-run", "--format", "json"]].concat());
        json["results"][0]["volume"].as_u64().unwrap()
    };
    let before = volume();
    let addition = "# Risks\n\nSee [the kernel](../kernel.md).\n";
    project.write(&own("ai_context/risk_register.md"), addition);
    assert_eq!(volume(), before + 3);
    let checked = project.blue(&["responsibility", "check", "parenting_cos"]);
    let expected = "ai_context/risk_register.md: info: no front matter";
    assert!(checked.stdout.contains(expected), "{}", checked.stdout);
    mandate(&project, "refresh_ai_context", NOW, &[]);
    assert_eq!(project.read(&own("ai_context/risk_register.md")), addition);
}
