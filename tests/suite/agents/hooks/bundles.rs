//! Choice of the bundle that a hook prints, byte for byte.

use std::path::Path;

use super::{Hook, START, everywhere, everywhere_once, sample, within_seconds};
use crate::support;
use crate::support::Project;

#[test]
fn a_session_gets_the_bundle_byte_for_byte_and_the_delivery_is_logged() {
    everywhere(|hook| {
        std::fs::create_dir_all(hook.project.path().join("deep er/below")).unwrap();
        let printed = hook.run("session-start", "deep er/below", &[], START.as_bytes());
        assert_eq!(
            printed,
            std::fs::read(hook.project.path().join(".blue/context/session.md")).unwrap()
        );
        assert!(printed.len() <= 9_500 && printed.starts_with(b"<"));
        let log = hook.project.audit_log();
        let line = log.last().unwrap();
        assert_eq!(line["session_id"], "abc-1");
        assert_eq!(line["event"], "SessionStart");
        assert_eq!(line["source"], "blue://context/session");
        assert_eq!(line["content_hash"], format!("blake3:{}", blake3::hash(&printed).to_hex()));
        assert_eq!(line["bytes"], printed.len());
        let valid = hook.project.blue(&["schema", "validate", ".blue/local/audit.jsonl"]);
        assert_eq!(valid.code, 0, "{valid:?}");
    });
}

#[test]
fn a_subagent_gets_the_same_text_as_json() {
    everywhere(|hook| {
        let input = r#"{ "hook_event_name": "SubagentStart", "session_id": "s" }"#;
        let printed = hook.start(input);
        let json: serde_json::Value = serde_json::from_slice(&printed).unwrap();
        let text = json["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
        assert_eq!(json["hookSpecificOutput"]["hookEventName"], "SubagentStart");
        assert_eq!(text, hook.project.read(".blue/context/session.md").trim_end());
        let line = &hook.project.audit_log()[0];
        assert_eq!(line["artifact"], ".blue/context/session.json");
        // The log has the digest of the text, because the model is given the text and not the JSON.
        let bundle = hook.project.read(".blue/context/session.md");
        assert_eq!(
            line["content_hash"],
            format!("blake3:{}", blake3::hash(bundle.as_bytes()).to_hex())
        );
        assert_eq!(line["bytes"], bundle.len());
    });
}

#[test]
fn the_branch_or_the_worktree_selects_the_rfc() {
    everywhere(|hook| {
        let workflow =
            || String::from_utf8(hook.run("session-workflow", "", &[], START.as_bytes())).unwrap();
        let bundle = |name: &str| hook.project.read(&format!(".blue/context/workflow/{name}.md"));
        assert_eq!(workflow(), "");
        for branch in ["rfc/0016", "rfc/16", "rfc/context", "rfc/0016-context", "0016-context"] {
            hook.project.write(".git/HEAD", format!("ref: refs/heads/{branch}\n"));
            assert_eq!(workflow(), bundle("0016-context"), "{branch}");
        }
        for branch in ["main", "rfc/9999", "rfc/\"", "rfc/00", ".blue/context/session.md"] {
            hook.project.write(".git/HEAD", format!("ref: refs/heads/{branch}\n"));
            assert_eq!(workflow(), "", "{branch}");
        }
        // In a worktree `.git` is a file that names the folder.
        std::fs::remove_dir_all(hook.project.path().join(".git")).unwrap();
        hook.project.write("gits/here/HEAD", "ref: refs/heads/rfc/0017\n");
        hook.project.write(".git", "gitdir: gits/here\n");
        assert_eq!(workflow(), bundle("0017-other"));
        for rfc in ["{\"rfc\": \"0016\"}", "{\n  \"realm\": \"x\",\n  \"rfc\": 16\n}\n"] {
            hook.project.write(".blue/worktree.json", rfc);
            assert_eq!(workflow(), bundle("0016-context"), "{rfc}");
        }
        assert!(hook.project.audit_log().iter().all(|line| {
            line["source"].as_str().unwrap().starts_with("blue://context/workflow/00")
        }));
    });
}

#[test]
fn the_only_rfc_in_progress_is_the_current_work() {
    everywhere(|hook| {
        let workflow =
            || String::from_utf8(hook.run("session-workflow", "", &[], START.as_bytes())).unwrap();
        let rfc = "# RFC 0018: Only\n\n- Status: in progress\n\nText.\n";
        hook.project.write(".blue/docs/rfcs/0018-only.md", rfc).build();
        let only = hook.project.read(".blue/context/workflow/0018-only.md");
        assert_eq!(workflow(), only, "there is no branch");
        for branch in ["main", "fix/typo", "rfc"] {
            hook.project.write(".git/HEAD", format!("ref: refs/heads/{branch}\n"));
            assert_eq!(workflow(), only, "{branch}");
        }
        // These branches name another RFC, whether it has a bundle or not.
        hook.project.write(".git/HEAD", "ref: refs/heads/rfc/9999\n");
        assert_eq!(workflow(), "");
        hook.project.write(".git/HEAD", "ref: refs/heads/rfc/0016\n");
        assert!(workflow().contains("RFC 0016"));
        hook.project.write(".blue/worktree.json", "{\"rfc\": \"9999\"}");
        assert_eq!(workflow(), "");
        // Of two, neither is the current work.
        std::fs::remove_file(hook.project.path().join(".blue/worktree.json")).unwrap();
        hook.project.write(".git/HEAD", "ref: refs/heads/main\n");
        hook.project.write(".blue/docs/rfcs/0019-second.md", rfc.replace("18", "19")).build();
        assert_eq!(workflow(), "");
    });
}

#[test]
fn hand_written_knowledge_is_a_bundle_of_its_own() {
    everywhere(|hook| {
        let knowledge = || {
            let output = hook.run("session-start", "", &["knowledge"], START.as_bytes());
            String::from_utf8(output).unwrap()
        };
        assert_eq!(knowledge(), "");
        hook.project.write("knowledge/house.md", "# House rules\n\nWrite tests first.\n").build();
        let bundle = hook.project.read(".blue/context/knowledge.md");
        assert!(bundle.contains("Write tests first."), "{bundle}");
        assert_eq!(knowledge(), bundle);
        let log = hook.project.audit_log();
        let line = log.last().unwrap();
        assert_eq!(line["source"], "blue://context/knowledge");
        let digest = format!("blake3:{}", blake3::hash(bundle.as_bytes()).to_hex());
        assert_eq!(line["content_hash"], digest.as_str());
        std::fs::remove_file(hook.project.path().join(".blue/context/knowledge.md")).unwrap();
        let fifo = std::process::Command::new("mkfifo")
            .arg(hook.project.path().join(".blue/context/knowledge.md"))
            .status();
        assert!(fifo.unwrap().success());
        assert_eq!(knowledge(), "", "a pipe does not block");
    });
}

#[test]
fn the_bundle_is_printed_for_any_input() {
    everywhere(|hook| {
        let bundle = hook.project.read(".blue/context/session.md").into_bytes();
        let huge = format!("{{\"prompt\":\"{}\"}}", "x".repeat(3_000_000));
        let lists = format!("[{}", "1,".repeat(500_000));
        for input in [
            "",
            "\n",
            "not JSON",
            "{",
            "\u{0}\u{1}\"",
            "{\"session_id\":\"a\\\"b$(id)\"}",
            &huge,
            &lists,
        ] {
            assert_eq!(hook.start(input), bundle, "{input:.40}");
        }
        assert!(hook.project.audit_log().iter().all(|line| line["session_id"] == ""));
    });
}

#[test]
fn a_bundle_that_is_missing_torn_or_too_large_is_not_printed() {
    everywhere(|hook| {
        let path = ".blue/context/session.md";
        let bundle = hook.project.read(path);
        let large = bundle.replace("</blue", &format!("{}\n</blue", "x".repeat(9_500)));
        let torn = &bundle[..bundle.len() - 5];
        let doubled = format!("{torn}\n{torn}");
        for text in ["", "<", "{}", "no tag at all\n", torn, &doubled, &large] {
            hook.project.write(path, text);
            assert_eq!(hook.start(START), b"", "{text:.60}");
        }
        std::fs::remove_file(hook.project.path().join(path)).unwrap();
        assert_eq!(hook.start(START), b"");
        assert!(!hook.project.exists(".blue/local/audit.jsonl"));
    });
}

#[test]
fn the_bundle_is_delivered_without_an_index_or_a_log() {
    everywhere(|hook| {
        let bundle = hook.project.read(".blue/context/session.md").into_bytes();
        std::fs::remove_dir_all(hook.project.path().join(".blue/local")).unwrap();
        std::fs::remove_file(hook.project.path().join(".blue/context/bundles.jsonl")).unwrap();
        assert_eq!(hook.start(START), bundle);
        assert_eq!(hook.project.audit_log()[0]["content_hash"], "");
        assert_eq!(hook.project.read(".blue/local/.gitignore"), "*\n");
        std::fs::remove_file(hook.project.path().join(".blue/local/audit.jsonl")).unwrap();
        std::fs::create_dir(hook.project.path().join(".blue/local/audit.jsonl")).unwrap();
        assert_eq!(hook.start_unlogged(), bundle);
    });
}

#[test]
fn an_edited_bundle_is_logged_with_its_own_digest() {
    everywhere(|hook| {
        let path = ".blue/context/session.md";
        let edited =
            hook.project.read(path).replace("Decisions in force", "Decisions, edited, in force");
        hook.project.write(path, &edited);
        assert_eq!(hook.start(START), edited.as_bytes());
        let line = &hook.project.audit_log()[0];
        assert_eq!(
            (line["content_hash"].as_str(), line["bytes"].as_u64()),
            (Some(""), Some(edited.len() as u64))
        );
    });
}

#[test]
fn global_knowledge_is_delivered_in_every_project_but_its_own() {
    everywhere(|hook| {
        let global = hook.project.path().join("home/.blue");
        assert_eq!(hook.run("session-start", "", &["global"], b""), b"");
        support::write(
            &global.join("docs/adrs/0001-everywhere.md"),
            "# Everywhere\n\nStatus: accepted\n",
        );
        let mut build =
            hook.project.command(&["-C", global.to_str().unwrap(), "knowledge", "build"]);
        let built = build.env("HOME", hook.project.path().join("home")).output().unwrap();
        assert!(built.status.success(), "{built:?}");
        let bundle = std::fs::read(global.join(".blue/context/session.md")).unwrap();
        assert_eq!(hook.run("session-start", "", &["global"], b""), bundle);
        assert_eq!(hook.run("session-start", "home/.blue", &["global"], b""), b"");
    });
}

#[test]
fn eight_hooks_beside_a_build_loop_lose_no_line() {
    let project = sample();
    let n_each = 12;
    let printed: Vec<Vec<u8>> = std::thread::scope(|scope| {
        let builder = scope.spawn(|| {
            for i in 0..30 {
                let text = format!(
                    "# ADR 0002: Turn {i}\n\nStatus: accepted\n\n## Decision\n\nTurn {i}.\n"
                );
                project.write(".blue/docs/adrs/0002-turn.md", text);
                assert_eq!(project.build().code, 0);
            }
        });
        let hooks: Vec<_> = (0..8)
            .map(|_| {
                let project = &project;
                scope.spawn(move || {
                    let hook =
                        Hook { project, shell: vec!["sh"], awk: "awk", environment: Vec::new() };
                    (0..n_each).map(|_| hook.start(START)).collect::<Vec<_>>()
                })
            })
            .collect();
        let printed = hooks.into_iter().flat_map(|hook| hook.join().unwrap()).collect();
        builder.join().unwrap();
        printed
    });
    let mut delivered: Vec<String> =
        printed.iter().map(|text| format!("blake3:{}", blake3::hash(text).to_hex())).collect();
    let mut noted: Vec<String> = project
        .audit_log()
        .iter()
        .map(|line| line["content_hash"].as_str().unwrap().to_string())
        .collect();
    delivered.sort();
    noted.sort();
    assert_eq!(delivered.len(), 8 * n_each);
    assert_eq!(delivered, noted);
    assert!(printed.iter().all(|text| text.ends_with(b"</blue-session>\n")));
}

#[test]
fn all_hooks_are_one_script() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("hooks");
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    for name in ["session-workflow", "session-responsibility"] {
        assert!(read(name).contains("\"$folder/session-start\" #\n"));
        assert!(read(name).lines().count() < 10);
    }
    // This repository's own copies are current.
    for name in ["session-start", "session-workflow", "session-responsibility"] {
        assert_eq!(read(name), read(&format!("../.blue/hooks/{name}")));
    }
}

#[test]
fn a_branch_name_is_never_used_as_a_path() {
    everywhere_once(|hook| {
        for name in ["names", "source", "on_change", "blue", "]", ".*"] {
            hook.project.write(".blue/worktree.json", format!("{{\"rfc\":\"{name}\"}}"));
            assert_eq!(
                within_seconds(hook, "session-workflow", &[]).as_deref(),
                Some(""),
                "{name}"
            );
        }
        let here = [("CLAUDE_PROJECT_DIR", ".")];
        assert_eq!(within_seconds(hook, "session-workflow", &here).as_deref(), Some(""));
        let bundle = hook.project.read(".blue/context/session.md");
        assert_eq!(within_seconds(hook, "session-start", &here), Some(bundle));
    });
}

/// Converts a file to CRLF, as git does when `core.autocrlf` is true.
fn with_crlf(project: &Project, path: &str) {
    let text = project.read(path).replace('\n', "\r\n");
    project.write(path, text);
}

#[test]
fn a_checkout_with_crlf_line_ends_delivers_the_same_bytes() {
    everywhere(|hook| {
        let bundle = hook.project.read(".blue/context/session.md");
        let json = hook.project.read(".blue/context/session.json");
        let workflow = hook.project.read(".blue/context/workflow/0016-context.md");
        hook.project.write(".git/HEAD", "ref: refs/heads/rfc/0016\n");
        let scripts = [".blue/hooks/session-start", ".blue/hooks/session-workflow"];
        let built = [
            ".blue/context/session.md",
            ".blue/context/session.json",
            ".blue/context/bundles.jsonl",
            ".blue/context/workflow/0016-context.md",
        ];
        let delivers = || {
            assert_eq!(hook.start(START), bundle.as_bytes());
            assert_eq!(
                hook.start(&START.replace("SessionStart", "SubagentStart")),
                json.as_bytes()
            );
            let printed = hook.run("session-workflow", "", &[], START.as_bytes());
            assert_eq!(printed, workflow.as_bytes());
            let hash = format!("blake3:{}", blake3::hash(workflow.as_bytes()).to_hex());
            assert_eq!(hook.project.audit_log().last().unwrap()["content_hash"], hash);
        };
        scripts.iter().for_each(|path| with_crlf(hook.project, path));
        delivers();
        built.iter().for_each(|path| with_crlf(hook.project, path));
        delivers();
    });
}
