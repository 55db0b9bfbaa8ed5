//! Deliveries with a prompt after the context changed.

use serde_json::Value;

use super::{RFC, backdate_log, bundle, prompt, sample};

#[test]
fn a_changed_bundle_is_delivered_once_in_thirty_seconds() {
    let project = sample("");
    let first = prompt(&project, "s");
    assert!(first.starts_with(&bundle(&project)), "{first}");
    assert!(first.ends_with("is new to this session.\n"), "{first}");
    assert_eq!(prompt(&project, "s"), "");
    // Another session has not been given the update yet.
    assert_ne!(prompt(&project, "t"), "");
    project.write(".blue/docs/rfcs/0016-context.md", RFC.replace("[ ] second", "[x] second"));
    let edit =
        r#"{"session_id":"s","tool_input":{"file_path":"/p/.blue/docs/rfcs/0016-context.md"}}"#;
    assert_eq!(project.blue_with_input(&["hook", "post-tool-use"], edit), "");
    assert!(bundle(&project).contains("Tasks: 2 of 2 done"), "{}", bundle(&project));
    assert_eq!(prompt(&project, "s"), "", "the session cools down");
    backdate_log(&project);
    let again = prompt(&project, "s");
    assert!(again.starts_with(&bundle(&project)), "{again}");
    assert!(again.contains("changed since 2020-01-25T12:00:00Z"), "{again}");
    let change = "this version replaces it.\ngone: Tasks: 1 of 2 done; tick a task in that file when it is done:\ngone: - [ ] second\nnew: Tasks: 2 of 2 done\n";
    assert!(again.ends_with(change), "{again}");
    assert!(again.len() < 10_000);
    // A clock that was set back does not delay a delivery.
    let log = project.read(".blue/local/audit.jsonl").replace("2020-", "2220-");
    project.write(".blue/local/audit.jsonl", log);
    project.write(".blue/docs/rfcs/0016-context.md", RFC.replace("second", "fourth"));
    project.build();
    assert_ne!(prompt(&project, "t"), "");
}

#[test]
fn a_subagent_does_not_consume_the_update_of_its_session() {
    let project = sample("");
    let subagent = r#"{"session_id":"s","agent_id":"a1","prompt":"x"}"#;
    assert_eq!(project.blue_with_input(&["hook", "user-prompt-submit"], subagent), "");
    assert_ne!(prompt(&project, "s"), "");
    let record: Value = serde_json::from_str(&project.read(".blue/local/sessions/s.json")).unwrap();
    assert_eq!(record["turns"], 1);
}

#[test]
fn a_prompt_without_a_session_delivers_and_stores_nothing() {
    let project = sample("");
    for input in ["", "not JSON", "{}", "{\"session_id\":\"../x\"}"] {
        assert_eq!(project.blue_with_input(&["hook", "user-prompt-submit"], input), "", "{input}");
        assert_eq!(project.blue_with_input(&["hook", "session-end"], input), "", "{input}");
    }
    assert!(!project.exists(".blue/local/sessions"));
}

#[test]
fn the_update_of_a_long_line_shows_the_changed_part() {
    let line = |word: &str| {
        RFC.replace("second", &format!("{} {word}", "a task that takes long to tell".repeat(3)))
    };
    let project = sample("");
    project.write(".blue/docs/rfcs/0016-context.md", line("before"));
    project.build();
    prompt(&project, "s");
    backdate_log(&project);
    project.write(".blue/docs/rfcs/0016-context.md", line("after"));
    let update = prompt(&project, "s");
    assert!(
        update.contains("tell before\nnew: ") && update.trim_end().ends_with("tell after"),
        "{update}"
    );
}

#[test]
fn an_edit_made_outside_the_agent_is_built_with_the_next_prompt() {
    let project = sample("");
    project.write(".blue/docs/rfcs/0016-context.md", RFC.replace("second", "by sed"));
    assert!(prompt(&project, "s").contains("- [ ] by sed"));
}

#[test]
fn a_file_that_is_no_input_does_not_make_the_context_stale() {
    let project = sample("");
    project.write("README.md", "# Not a document\n").write("src/main.rs", "fn main() {}\n");
    let context = project.blue(&["context"]);
    assert_eq!(context.stderr, "");
    assert!(project.blue(&["status"]).stdout.contains("Built      current"));
}

#[test]
fn two_prompts_at_once_deliver_an_update_once() {
    let project = sample("");
    prompt(&project, "other");
    let printed: Vec<String> = std::thread::scope(|scope| {
        let prompts: Vec<_> = (0..4).map(|_| scope.spawn(|| prompt(&project, "s"))).collect();
        prompts.into_iter().map(|prompt| prompt.join().unwrap()).collect()
    });
    assert_eq!(printed.iter().filter(|text| !text.is_empty()).count(), 1, "{printed:?}");
}

#[test]
fn triggers_and_the_policy_decide_when_a_bundle_is_delivered() {
    let project = sample("workflow: {refresh_triggers: [every_3_turns, on_tool_call: Bash]}\n");
    let given: Vec<bool> = (0..3).map(|_| !prompt(&project, "s").is_empty()).collect();
    assert_eq!(given, [false, false, true]);
    let tool = |name: &str| {
        project.blue_with_input(
            &["hook", "pre-tool-use"],
            &format!("{{\"session_id\":\"t\",\"tool_name\":\"{name}\"}}"),
        )
    };
    assert_eq!(tool("Edit"), "");
    let json: Value = serde_json::from_str(&tool("Bash")).unwrap();
    let text = json["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    assert_eq!(json["hookSpecificOutput"]["hookEventName"], "PreToolUse");
    assert!(text.starts_with(bundle(&project).trim_end()), "{text}");
    // An accepted RFC is delivered only on demand, and one that is implemented not at all.
    project.write(".git/HEAD", "ref: refs/heads/rfc/18\n").write(".blue/config.yaml", "");
    project.write(".blue/docs/rfcs/0018-next.md", "# RFC 0018: Next\n\n- Status: accepted\n");
    project.build();
    assert_eq!(prompt(&project, "u"), "");
    let asked = project.blue_with_input(&["context", "refresh"], "{\"session_id\":\"u\"}");
    assert!(asked.contains("RFC 0018 Next, accepted"), "{asked}");
    assert_eq!(project.blue_with_input(&["context", "refresh", "--session", "u"], ""), "");
    project.write(".git/HEAD", "ref: refs/heads/rfc/17\n");
    assert_eq!(project.blue_with_input(&["context", "refresh", "--session", "v"], ""), "");
}

#[test]
fn an_unknown_trigger_is_an_error_with_a_hint() {
    let project = sample("");
    project.write(".blue/config.yaml", "workflow: {refresh_triggers: [on_full_moon]}\n");
    let built = project.blue(&["knowledge", "build"]);
    assert_eq!(built.code, 2);
    assert!(built.stderr.contains("unknown trigger \"on_full_moon\""), "{built:?}");
    assert!(built.stderr.contains("hint: write on_rfc_change"), "{built:?}");
}

#[test]
fn a_compaction_is_given_what_the_summary_must_keep() {
    let project = sample("");
    let kept = project.blue_with_input(&["hook", "pre-compact"], "{\"trigger\":\"auto\"}");
    assert_eq!(
        kept,
        "Keep in the summary:\nCurrent work: .blue/docs/rfcs/0016-context.md: RFC 0016 Context, active\nTasks: 1 of 2 done; open:\n- [ ] second\n"
    );
}

#[test]
fn odd_files_and_odd_input_do_not_silence_the_prompt_hook() {
    let project = sample("");
    for input in [r#"{"session_id":"n1","agent_id":null}"#, r#"{"session_id":"n2","tool_name":5}"#]
    {
        assert_ne!(project.blue_with_input(&["hook", "user-prompt-submit"], input), "", "{input}");
    }
    project.write(".blue/config.yaml", "version: [");
    assert_ne!(prompt(&project, "n3"), "", "what was built is still good");
    std::fs::remove_file(project.path().join(".git/HEAD")).unwrap();
    assert!(
        std::process::Command::new("mkfifo")
            .arg(project.path().join(".git/HEAD"))
            .status()
            .unwrap()
            .success()
    );
    // A pipe does not block. Without a branch, the only RFC in progress is the current work.
    assert!(prompt(&project, "n4").starts_with(&bundle(&project)));
}
