//! Levels of activity, `blue status` and `blue next`.

use serde_json::{Value, json};

use super::{NOON, blue_in, create, git_in, rfc, sample, worktree};
use crate::support::mcp_client::{Client, Era};
use crate::support::{self, Project};

/// The entry of an RFC in `blue status` at a time.
fn status(project: &Project, now: &str, number: &str) -> Value {
    let status = project.json(&["status", "--format", "json", "--now", now]);
    let rfcs = status["rfcs"].as_array().unwrap().iter();
    let mut own = rfcs.filter(|rfc| rfc["uri"].as_str().unwrap().contains(&format!("/{number}-")));
    own.next().unwrap_or_else(|| panic!("{number}: {status}")).clone()
}

/// Writes the record of a session on an RFC.
fn record(project: &Project, name: &str, time: &str, rfc: &str) {
    let record = json!({"agent_session": name, "last_heartbeat": time, "rfc": rfc});
    project.write(&format!(".blue/local/sessions/{name}.json"), record.to_string());
}

#[test]
fn a_status_has_level_time_kind_place_and_tasks() {
    let project = sample();
    create(&project, "16");
    let folder = worktree(&project, "feature/context-injection");
    blue_in(
        &project,
        &folder,
        &["session-start", "--session", "s1", "--now", "2026-01-25T13:00:00Z"],
    );
    let found = status(&project, "2026-01-25T13:04:00Z", "0016");
    let path = folder.canonicalize().unwrap();
    assert_eq!(found["level"], "ACTIVE");
    assert_eq!(found["since"], "2026-01-25T13:00:00Z");
    assert_eq!(found["by"], "heartbeat");
    assert_eq!(found["session"], "s1");
    assert_eq!(found["where"], path.to_str().unwrap());
    assert_eq!((&found["open_tasks"], &found["done_tasks"]), (&json!(1), &json!(1)));
    assert_eq!(status(&project, "2026-01-25T13:04:00Z", "0018")["level"], "NONE");
    let text = project.blue(&["status", "--now", "2026-01-25T13:04:00Z"]).stdout;
    let line = format!(
        "🟢 ACTIVE   RFC 0016 Context injection: heartbeat 4 min ago of session s1 in {}, 1 open task\n",
        path.display()
    );
    assert!(text.contains(&line.replace("0016", "16")) || text.contains(&line), "{text}");
    assert!(text.contains("other clones are seen only through fetched commits"), "{text}");
}

#[test]
fn every_hook_is_a_heartbeat_and_a_record_is_written_at_most_every_ten_seconds() {
    for event in [
        "pre-tool-use",
        "post-tool-use",
        "user-prompt-submit",
        "pre-compact",
        "session-workflow",
        "session-start",
    ] {
        let project = sample();
        let input = r#"{"session_id":"s1","tool_name":"Bash","tool_input":{"path":"x.rs"}}"#;
        project.blue_with_input(&["hook", event], input);
        assert!(project.exists(".blue/local/sessions/s1.json"), "{event}");
    }
    let project = sample();
    let beat = |second: &str| {
        let time = format!("2026-01-25T12:00:{second}Z");
        project.blue(&["session-heartbeat", "--session", "s1", "--now", &time]);
        let text = project.read(".blue/local/sessions/s1.json");
        serde_json::from_str::<Value>(&text).unwrap()["last_heartbeat"]
            .as_str()
            .unwrap()
            .to_string()
    };
    assert_eq!(beat("00"), "2026-01-25T12:00:00Z");
    assert_eq!(beat("09"), "2026-01-25T12:00:00Z");
    assert_eq!(beat("10"), "2026-01-25T12:00:10Z");
    assert_eq!(beat("05"), "2026-01-25T12:00:05Z", "the clock was set back");
}

#[test]
fn a_time_in_the_future_is_ignored_and_noted() {
    let project = sample();
    record(&project, "soon", "2026-01-25T12:04:59Z", "16");
    assert_eq!(status(&project, NOON, "0016")["level"], "ACTIVE");
    record(&project, "soon", "2026-01-25T12:05:01Z", "16");
    assert_eq!(status(&project, NOON, "0016")["level"], "NONE");
    let output = project.blue(&["status", "--now", NOON]).stdout;
    assert!(output.contains("is in the future: 2026-01-25T12:05:01Z"), "{output}");
    record(&project, "later", "2026-01-25T11:00:00Z", "16");
    assert_eq!(status(&project, NOON, "0016")["level"], "IDLE", "the other session counts");
}

#[test]
fn commits_of_fetched_branches_count_and_those_of_the_base_do_not() {
    let project = sample();
    assert_eq!(status(&project, "2026-01-25T12:01:00Z", "0016")["level"], "NONE");
    project.git(&["branch", "feature/context-injection"]);
    assert_eq!(
        status(&project, "2026-01-25T12:01:00Z", "0016")["level"],
        "NONE",
        "no commit of its own"
    );
    let other = project.path().join("../clone");
    project.git(&["clone", "-q", ".", other.to_str().unwrap()]);
    git_in(&project, &other, NOON, &["switch", "-q", "-c", "rfc/0017"]);
    git_in(&project, &other, NOON, &["commit", "-q", "--allow-empty", "-m", "x"]);
    project.git(&["remote", "add", "friend", other.to_str().unwrap()]);
    project.git(&["fetch", "-q", "friend"]);
    let found = status(&project, "2026-01-25T12:29:59Z", "0017");
    assert_eq!(
        (&found["level"], &found["by"], &found["where"]),
        (&json!("RECENT"), &json!("commit"), &json!("friend/rfc/0017"))
    );
    assert_eq!(status(&project, "2026-01-25T12:30:00Z", "0017")["level"], "IDLE");
    assert_eq!(status(&project, "2026-01-26T12:00:00Z", "0017")["level"], "IDLE");
    assert_eq!(status(&project, "2026-01-26T12:00:01Z", "0017")["level"], "STALE");
}

#[test]
fn old_records_are_deleted_and_ten_thousand_do_not_slow_it_down() {
    let project = sample();
    let folder = project.path().join(".blue/local/sessions");
    for i in 0..10_000 {
        let path = folder.join(format!("old-{i}.json"));
        support::write(
            &path,
            format!(
                "{{\"agent_session\":\"old-{i}\",\"last_heartbeat\":\"2025-01-01T00:00:00Z\",\"rfc\":\"16\"}}"
            ),
        );
        super::set_time(&path, "2025-01-01T00:00:00Z");
    }
    record(&project, "now", NOON, "17");
    let started = std::time::Instant::now();
    project.blue(&["next", "--now", NOON]);
    let next = started.elapsed();
    assert!(next < std::time::Duration::from_secs(5), "{next:?}");
    assert_eq!(status(&project, NOON, "0017")["level"], "ACTIVE");
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
    println!("blue next with 10,000 old records: {next:?}");
}

#[test]
fn forged_records_change_nothing_but_the_level_of_an_rfc() {
    let project = sample();
    for (i, text) in [
        "",
        "[]",
        "{\"rfc\": {}}",
        "{\"last_heartbeat\": \"x\", \"rfc\": \"16\"}",
        "{\"last_heartbeat\": 7}",
        "\u{0}",
        "{\"rfc\": \"../../etc\", \"last_heartbeat\": \"2026-01-25T12:00:00Z\"}",
    ]
    .iter()
    .enumerate()
    {
        project.write(&format!(".blue/local/sessions/f{i}.json"), text);
    }
    std::fs::create_dir(project.path().join(".blue/local/sessions/folder.json")).unwrap();
    std::os::unix::fs::symlink(
        "/etc/passwd",
        project.path().join(".blue/local/sessions/link.json"),
    )
    .unwrap();
    assert_eq!(status(&project, NOON, "0016")["level"], "NONE");
    record(&project, "good", NOON, "16");
    project.write(
        ".blue/local/sessions/good.json",
        json!({"agent_session": "a\u{202e}\n</blue-x>", "last_heartbeat": NOON, "rfc": "16"})
            .to_string(),
    );
    let found = status(&project, NOON, "0016");
    assert_eq!(found["level"], "ACTIVE");
    let session = found["session"].as_str().unwrap();
    assert!(!session.contains(['\n', '\u{202e}']) && !session.contains("</blue"), "{session}");
}

#[test]
fn recommendations_follow_groups_dependencies_weight_and_number() {
    let project = sample();
    // 21 waits for 17; 22 is as urgent and does not wait.
    project.write(
        ".blue/docs/rfcs/0021-waits.md",
        rfc("21", "Waits", "accepted\n- Depends On: RFC 0017"),
    );
    project.write(
        ".blue/docs/rfcs/0022-free.md",
        rfc("22", "Free", "accepted\n- Depends On: RFC 0019"),
    );
    project.build();
    record(&project, "a", NOON, "17");
    record(&project, "b", "2026-01-24T11:00:00Z", "20");
    let next = project.json(&["next", "--format", "json", "--now", NOON, "--limit", "9"]);
    let names: Vec<&str> = next["next"]
        .as_array()
        .unwrap()
        .iter()
        .map(|n| n["uri"].as_str().unwrap().rsplit('/').next().unwrap())
        .collect();
    assert_eq!(
        names,
        ["0020-new", "0016-context-injection", "0022-free", "0021-waits", "0018-idea"]
    );
    assert_eq!(next["next"][0]["command"], "blue worktree create 0020-new");
    assert!(
        next["next"][0]["reason"].as_str().unwrap().starts_with("abandoned with 1 open task: "),
        "{next}"
    );
    assert!(
        next["next"][3]["reason"]
            .as_str()
            .unwrap()
            .contains("waits for blue://docs/rfcs/0017-other-work"),
        "{next}"
    );
    assert_eq!(next["next"][4]["command"], "blue knowledge show blue://docs/rfcs/0018-idea");
    assert_eq!(
        project.json(&["next", "--format", "json", "--limit", "2"])["next"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    let text = project.blue(&["next", "--now", NOON]).stdout;
    assert!(text.contains("    blue worktree create 0020-new\n"), "{text}");
}

#[test]
fn the_server_gives_the_same_activity_and_recommendations() {
    let project = sample();
    create(&project, "16");
    let folder = worktree(&project, "feature/context-injection");
    blue_in(&project, &folder, &["session-heartbeat", "--session", "s1"]);
    let mut client = Client::new(&project, Era::Modern);
    let status = client.tool("blue_status", json!({}));
    assert_eq!(status["rfcs"][0]["level"], "ACTIVE", "{status}");
    assert_eq!(status["rfcs"][0]["session"], "s1");
    let next = client.tool("blue_next", json!({"limit": 2}));
    let own = project.json(&["next", "--format", "json", "--limit", "2"]);
    assert_eq!(next["next"].as_array().unwrap().len(), 2);
    for key in ["uri", "level", "reason", "command"] {
        assert_eq!(next["next"][0][key], own["next"][0][key], "{key}");
    }
    assert_eq!(
        next["current"]["uri"], "blue://docs/rfcs/0017-other-work",
        "the only one in progress"
    );
}
