//! Mandates: the state, deadlines, the model and memory.

use super::{NOW, has, insert, mandate, own, workspace};
use crate::support::{Project, run};
use rusqlite::Connection;
use std::process::Command;

#[test]
fn a_second_refresh_at_the_same_time_writes_nothing() {
    let project = workspace();
    project.write(&own("model_policy.yaml"), "preferred_model: big\nenforcement_mode: monitor\n");
    let first = mandate(&project, "refresh_ai_context", NOW, &["--detected", "small"]);
    assert_eq!(first.code, 1, "a drift is a finding: {}", first.stderr);
    let before = project.files();
    let second = mandate(&project, "refresh_ai_context", NOW, &["--detected", "small"]);
    assert!(second.stderr.contains("nothing to do"), "{}", second.stderr);
    assert_eq!(project.files(), before);
    assert_eq!(project.blue(&["knowledge", "build", "--check"]).code, 0);
}

#[test]
fn the_time_of_the_state_moves_only_with_a_change() {
    let project = workspace();
    mandate(&project, "refresh_ai_context", NOW, &[]);
    let state = project.read(&own("ai_context/state.jsonl"));
    assert!(state.contains("\"as_of\":\"2026-01-25T11:58:02Z\""), "{state}");
    assert!(state.contains("\"respond_by\":\"2026-01-25T12:00:00Z\""), "{state}");
    assert!(state.contains("\"sla\":\"at_risk\""), "{state}");
    mandate(&project, "refresh_ai_context", "2026-01-25T11:59:00Z", &[]);
    assert_eq!(project.read(&own("ai_context/state.jsonl")), state);
    let late = mandate(&project, "refresh_ai_context", "2026-01-25T12:00:01Z", &[]);
    assert_eq!(late.code, 1, "a missed deadline is a finding");
    let state = project.read(&own("ai_context/state.jsonl"));
    assert!(state.contains("\"as_of\":\"2026-01-25T12:00:01Z\""), "{state}");
    assert!(project.read(&own("ai_context/open_requests.md")).contains("breached"));
}

#[test]
fn order_vacuum_journal_and_zone_do_not_change_the_bytes() {
    let build = |ids: &[&str], after: &str, zone: &str| {
        let project = workspace();
        let connection = Connection::open(project.path().join("queue.sqlite")).unwrap();
        for id in ids {
            insert(&connection, id, "dad_mode", "deferred", "Another");
        }
        connection.execute_batch(after).unwrap();
        drop(connection);
        let arguments = ["mandate", "refresh_ai_context", "--all", "--now", NOW];
        let output = run(project.command(&arguments).env("TZ", zone).env("LC_ALL", "tr_TR.UTF-8"));
        assert_eq!(output.code, 0, "{}", output.stderr);
        let mut files = project.files();
        files.retain(|path, _| !path.starts_with("queue.sqlite"));
        files
    };
    let plain = build(&["a", "b", "c"], "", "UTC");
    assert_eq!(plain, build(&["c", "a", "b"], "VACUUM", "Asia/Tokyo"));
    assert_eq!(plain, build(&["b", "c", "a"], "PRAGMA journal_mode=WAL", "America/Lima"));
}

#[test]
fn a_clone_without_the_database_builds_the_same_bytes() {
    let project = workspace();
    mandate(&project, "refresh_ai_context", NOW, &[]);
    let clone = Project::new();
    for (path, bytes) in project.files() {
        let is_made = path.starts_with("queue.sqlite")
            || path.starts_with(".blue/context")
            || path.contains("/ai_context/") && path.ends_with(".md");
        if !is_made {
            clone.write(&path, bytes);
        }
    }
    clone.build();
    let is_made =
        |path: &String| path.contains("/ai_context/") || path.starts_with(".blue/context");
    let made = |project: &Project| -> Vec<(String, Vec<u8>)> {
        project.files().into_iter().filter(|(path, _)| is_made(path)).collect()
    };
    assert_eq!(made(&project), made(&clone));
}

#[test]
fn rows_of_another_workspace_and_closed_ones_stay_out() {
    let project = workspace();
    let connection = Connection::open(project.path().join("queue.sqlite")).unwrap();
    insert(&connection, "req_2", "work", "pending", "Of another workspace");
    insert(&connection, "req_3", "dad_mode", "completed", "Done");
    mandate(&project, "update_open_requests", NOW, &[]);
    let requests = project.read(&own("ai_context/open_requests.md"));
    assert!(requests.contains("req_1") && !requests.contains("another"), "{requests}");
    assert!(!requests.contains("req_3"), "{requests}");
}

#[test]
fn an_alert_is_written_once_for_each_request_and_class() {
    let project = workspace();
    for _ in 0..2 {
        mandate(&project, "update_open_requests", NOW, &["--alerts"]);
    }
    for now in ["2026-01-25T12:00:01Z", "2026-01-25T12:10:00Z"] {
        assert_eq!(mandate(&project, "update_open_requests", now, &["--alerts"]).code, 1);
    }
    let events = project.read(&own("memory/events.md"));
    assert_eq!(events.matches("sla_at_risk").count(), 1, "{events}");
    assert_eq!(events.matches("sla_breach").count(), 1, "{events}");
    assert!(events.contains("requests.sla_compliance"), "{events}");
}

#[test]
fn a_drift_is_in_memory_state_and_bundles_with_one_time() {
    let project = workspace();
    let policy = "preferred_model: big\nfallback_models: [small]\naction_required: notify_jane\n";
    project.write(&own("model_policy.yaml"), policy);
    project.write(
        &own("logs/events_2026-01.ndjson"),
        "{\"time\":\"2026-01-25T10:00:00Z\",\"event\":\"model_detected\",\"model\":\"other\"}\n",
    );
    for _ in 0..2 {
        let output = mandate(&project, "check_model_preferences", NOW, &[]);
        assert_eq!(output.code, 1, "{}", output.stderr);
    }
    let event = "2026-01-25T11:58:02Z model_drift";
    assert_eq!(project.read(&own("memory/events.md")).matches(event).count(), 1);
    assert!(project.read(&own("ai_context/recent_activity.md")).contains(event));
    let preferences = project.read(&own("ai_context/model_preferences.md"));
    assert!(preferences.contains("last_detected_model: other\n"), "{preferences}");
    assert!(preferences.contains("last_checked_at: 2026-01-25T11:58:02Z\n"), "{preferences}");
    let pack = project.read(".blue/context/responsibilities/parenting_cos.md");
    assert!(pack.contains("Model drift: other is in use, use big (notified)"), "{pack}");
    let request = "queue/outbox/req_2026-01-25T11-58-02Z_model_drift_parenting_cos.md";
    assert!(project.read(request).contains("target_responsibility_id: jane\n"));
    let later = "2026-01-25T11:59:00Z";
    let pack_before = project.read(".blue/context/responsibilities/parenting_cos.md");
    let state = project.read(&own("ai_context/state.jsonl"));
    mandate(&project, "check_model_preferences", later, &["--sticky"]);
    assert_eq!(project.read(&own("ai_context/state.jsonl")), state);
    mandate(&project, "check_model_preferences", later, &[]);
    assert!(project.read(&own("ai_context/state.jsonl")).contains(later));
    assert_eq!(project.read(".blue/context/responsibilities/parenting_cos.md"), pack_before);
    let output = mandate(&project, "check_model_preferences", later, &["--detected", "small"]);
    assert_eq!(output.code, 0, "a fallback is allowed: {}", output.stderr);
}

#[test]
fn memory_is_compacted_without_being_shortened_and_rewriting_is_noticed() {
    let project = workspace();
    let events: String = (10..40)
        .map(|day| {
            format!("- 2026-01-01T00:{day}:00Z request_accepted (rfa: r{day}) – Yes {day}.\n")
        })
        .collect();
    project.write(&own("memory/events.md"), &events);
    assert_eq!(mandate(&project, "compact_memory_events", NOW, &[]).code, 0);
    assert_eq!(project.read(&own("memory/events.md")), events);
    let insights = project.read(&own("memory/insights.md"));
    assert!(insights.contains("- request r19: 1 event, "), "{insights}");
    assert!(!insights.contains("r20"), "the newest 20 stay: {insights}");
    assert_eq!(mandate(&project, "compact_memory_events", NOW, &[]).code, 0);
    assert_eq!(project.read(&own("memory/insights.md")), insights);
    project.write(&own("memory/events.md"), events.replace("Yes 12", "No 12!"));
    let output = mandate(&project, "compact_memory_events", NOW, &[]);
    assert_eq!(output.code, 1, "{}", output.stderr);
    assert!(output.stderr.contains("was rewritten"), "{}", output.stderr);
}

#[test]
fn digests_are_logged_if_a_guardrail_asks_for_it_and_not_repeated() {
    let project = workspace();
    project.write(&own("guardrails.md"), "# G\n\n- `context.log_refresh_hashes`: Log them.\n");
    for _ in 0..3 {
        mandate(&project, "refresh_ai_context", NOW, &[]);
    }
    let events = project.read(&own("memory/events.md"));
    assert_eq!(events.matches("context_refreshed").count(), 1, "{events}");
    assert!(events.contains("system_context.md blake3:"), "{events}");
    assert!(!project.read(&own("ai_context/recent_activity.md")).contains("context_refreshed"));
}

#[test]
fn a_dry_run_writes_nothing_and_a_live_check_reports_an_outdated_state() {
    let project = workspace();
    project.build();
    let before = project.files();
    let output = mandate(&project, "refresh_ai_context", NOW, &["--dry-run", "--format", "json"]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    let json: serde_json::Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(json["results"][0]["n_requests"], 1);
    assert_eq!(project.files(), before);
    let live = ["responsibility", "check", "parenting_cos", "--live", "--now", NOW];
    assert_eq!(project.blue(&live).code, 1);
    mandate(&project, "refresh_ai_context", NOW, &[]);
    let checked = project.blue(&live);
    assert_eq!(checked.code, 0, "{}{}", checked.stdout, checked.stderr);
}

#[test]
fn neither_a_build_nor_a_mandate_writes_to_the_database() {
    if !has("strace") {
        println!("skipped: strace is not installed");
        return;
    }
    let project = workspace();
    let trace = project.home().join("trace");
    for arguments in [
        &["knowledge", "build"][..],
        &["mandate", "refresh_ai_context", "--all", "--now", NOW],
        &["mandate", "update_open_requests", "--all", "--alerts", "--now", "2026-01-25T13:00:00Z"],
    ] {
        let mut command = Command::new("strace");
        command.args(["-f", "-y", "-e", "trace=openat,openat2,open,write,pwrite64,ftruncate,truncate,rename,renameat,renameat2,unlink,unlinkat", "-o"]);
        command.arg(&trace).arg(env!("CARGO_BIN_EXE_blue")).args(arguments);
        command.current_dir(project.path());
        project.isolate(&mut command);
        let output = run(&mut command);
        let text = std::fs::read_to_string(&trace).unwrap_or_default();
        if text.is_empty() {
            println!("skipped: strace cannot trace here: {}", output.stderr);
            return;
        }
        for line in text.lines().filter(|line| line.contains("queue.sqlite")) {
            let is_open =
                line.contains("open") && !line.contains("O_RDWR") && !line.contains("O_WRONLY");
            assert!(is_open, "{arguments:?}: {line}");
        }
    }
}

#[test]
fn a_request_is_replayed_from_role_to_role() {
    let project = workspace();
    let connection = Connection::open(project.path().join("queue.sqlite")).unwrap();
    let requests = || project.read(&own("ai_context/open_requests.md"));
    mandate(&project, "refresh_ai_context", "2026-01-25T09:00:00Z", &[]);
    assert!(requests().contains("[pending] req_1"), "{}", requests());
    let accept = "UPDATE requests SET status='accepted', acknowledged_at='2026-01-25T09:30:00Z'";
    connection.execute_batch(accept).unwrap();
    let signal = ["responsibility", "signal", "parenting_cos", "request_changed"];
    let output = project.blue(&[&signal[..], &["--now", "2026-01-25T09:31:00Z"]].concat());
    assert_eq!(output.code, 0, "{}", output.stderr);
    let expected = "[accepted] req_1: Sum of allowances, from finance_cos, complete by 2026-01-26T09:30:00Z, on_track";
    assert!(requests().contains(expected), "{}", requests());
    connection.execute_batch("UPDATE requests SET status='completed'").unwrap();
    mandate(&project, "refresh_ai_context", "2026-01-25T10:00:00Z", &[]);
    assert!(requests().contains("None."), "{}", requests());
}

#[test]
fn a_prompt_updates_the_requests_after_the_queue_changed_and_only_then() {
    let project = workspace();
    project.build();
    let prompt = || {
        let input = "{\"session_id\":\"s1\"}";
        project.blue_with_input(&["hook", "user-prompt-submit"], input);
    };
    prompt();
    assert!(project.read(&own("ai_context/open_requests.md")).contains("req_1"));
    let before = project.files();
    prompt();
    assert_eq!(project.files(), before);
    let connection = Connection::open(project.path().join("queue.sqlite")).unwrap();
    insert(&connection, "req_9", "dad_mode", "pending", "New");
    drop(connection);
    prompt();
    assert!(project.read(&own("ai_context/open_requests.md")).contains("req_9"));
}

#[test]
fn the_examples_of_a_schedule_are_valid() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/schedule");
    let crontab = std::fs::read_to_string(folder.join("crontab")).unwrap();
    let jobs = crontab.lines().filter(|line| !line.starts_with('#') && line.contains("blue"));
    let units = crate::support::entries(&folder);
    let services = units.iter().filter(|path| path.extension().is_some_and(|end| end == "service"));
    let mut commands: Vec<String> =
        jobs.map(|line| line.split("blue ").nth(1).unwrap().to_string()).collect();
    for service in services {
        let text = std::fs::read_to_string(service).unwrap();
        let starts = text.lines().filter_map(|line| line.strip_prefix("ExecStart="));
        commands.extend(starts.map(|line| line.split("blue ").nth(1).unwrap().to_string()));
    }
    assert_eq!(commands.len(), 8, "{commands:?}");
    for command in commands {
        let arguments: Vec<&str> = command.split_whitespace().collect();
        let output = workspace().blue(&[&arguments[..], &["--dry-run"]].concat());
        assert!(output.code < 2, "{command}: {}", output.stderr);
    }
    if !has("systemd-analyze") {
        println!("skipped: systemd-analyze is not installed");
        return;
    }
    let is_unit = |path: &&std::path::PathBuf| {
        path.extension().is_some_and(|end| end == "service" || end == "timer")
    };
    let mut command = Command::new("systemd-analyze");
    command.args(["verify", "--user", "--man=no"]).args(units.iter().filter(is_unit));
    let output = run(command.env("XDG_RUNTIME_DIR", std::env::temp_dir()));
    assert!(!output.stderr.contains("blue-"), "{}", output.stderr);
}

#[test]
fn only_the_user_can_allow_the_model_to_be_switched() {
    let project = workspace();
    project.write(&own("model_policy.yaml"), "preferred_model: big\nenforcement_mode: enforce\n");
    let settings = "{\n  \"env\": {}\n}\n";
    project.write(".claude/settings.local.json", settings);
    mandate(&project, "check_model_preferences", NOW, &["--detected", "other"]);
    assert_eq!(project.read(".claude/settings.local.json"), settings);
    assert!(project.read(&own("memory/events.md")).contains("(notified)"));
    let config = project.home().join(".blue/config.yaml");
    crate::support::write(&config, "model_switch: claude-settings\n");
    let later = "2026-01-25T11:59:00Z";
    mandate(&project, "check_model_preferences", later, &["--detected", "other"]);
    assert!(project.read(".claude/settings.local.json").contains("\"model\": \"big\""));
    let events = project.read(&own("memory/events.md"));
    assert!(events.contains("2026-01-25T11:59:00Z model_drift"), "{events}");
    assert!(events.contains("(switched)"), "{events}");
    assert!(project.read(&own("ai_context/state.jsonl")).contains("\"switched\""));
}
