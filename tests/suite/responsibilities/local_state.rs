//! `state: local`: the state and what is made from it are below `.blue/local`.

use std::process::Command;

use super::{NOW, mandate, own, workspace};
use crate::support::{Project, run};

const LOCAL: &str = ".blue/local/responsibilities/parenting_cos";
const PACK: &str = ".blue/context/responsibilities/parenting_cos.md";

fn local_workspace() -> Project {
    let project = workspace();
    let config =
        project.read(".blue/config.yaml").replace("{workspace", "{state: local, workspace");
    project.write(".blue/config.yaml", config);
    project.write(&own("model_policy.yaml"), "preferred_model: big\n");
    project
}

/// All files that a build commits or reads, without the database and the log.
fn committed(project: &Project) -> std::collections::BTreeMap<String, Vec<u8>> {
    let mut files = project.files();
    files.retain(|path, _| !path.starts_with("queue.sqlite") && !path.contains("/logs/"));
    files
}

#[test]
fn a_local_state_and_the_files_made_from_it_are_not_committed() {
    let project = local_workspace();
    project.build();
    let before = committed(&project);
    assert!(before.contains_key(&own("ai_context/system_context.md")));
    for name in ["state.jsonl", "open_requests.md", "model_preferences.md"] {
        assert!(!before.contains_key(&own(&format!("ai_context/{name}"))), "{name}");
    }
    let output = mandate(&project, "refresh_ai_context", NOW, &["--detected", "big"]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    assert!(committed(&project) == before, "a refresh changes no committed file");
    assert_eq!(project.blue(&["knowledge", "build", "--check"]).code, 0);
    let requests = project.read(&format!("{LOCAL}/open_requests.md"));
    assert!(requests.contains("[pending] req_1: Sum of allowances"), "{requests}");
    assert!(requests.contains("source: mandate_run:context_curator.refresh_ai_context@"));
    let models = project.read(&format!("{LOCAL}/model_preferences.md"));
    assert!(models.contains("last_detected_model: big\n"), "{models}");
    assert!(project.read(&format!("{LOCAL}/state.jsonl")).contains("\"seal\""));
    assert!(project.read(&format!("{LOCAL}/pack.md")).contains("req_1"));
    let pack = project.read(PACK);
    assert!(!pack.contains("req_1"), "{pack}");
    assert!(pack.contains(&format!("{LOCAL}/open_requests.md")), "{pack}");
    let shown = project.blue(&["responsibility", "show", "parenting_cos", "open_requests"]);
    assert_eq!(shown.stdout, requests);
    let live = ["responsibility", "check", "parenting_cos", "--live", "--now"];
    assert_eq!(project.blue(&[&live[..], &[NOW]].concat()).code, 0);
    let late = project.blue(&[&live[..], &["2026-01-26T00:00:00Z"]].concat());
    assert_eq!(late.code, 1, "{}", late.stderr);
    let stamps = project.stamps();
    mandate(&project, "refresh_ai_context", NOW, &["--detected", "big"]);
    assert_eq!(project.stamps(), stamps, "a second refresh writes nothing");
}

#[test]
fn the_hook_prefers_the_local_pack_and_logs_it() {
    let project = local_workspace();
    mandate(&project, "refresh_ai_context", NOW, &[]);
    project.write_hooks();
    let pack = project.read(&format!("{LOCAL}/pack.md"));
    let hook = |name: &str| {
        let mut command = Command::new("sh");
        command.arg(".blue/hooks/session-responsibility").current_dir(project.path());
        command.stdin(std::process::Stdio::null());
        run(project.isolate(&mut command).env("BLUE_RESPONSIBILITY", name))
    };
    assert_eq!(hook("parenting_cos").stdout, pack);
    let line = project.audit_log().pop().unwrap();
    assert_eq!(line["source"], "blue://responsibility/parenting_cos");
    assert_eq!(line["artifact"], format!("{LOCAL}/pack.md"));
    assert_eq!(line["bytes"], pack.len());
    assert_eq!(hook("absent").stdout, "");
    let mut command = project.command(&["hook", "session-responsibility"]);
    command.env("BLUE_RESPONSIBILITY", "parenting_cos").stdin(std::process::Stdio::null());
    assert_eq!(run(&mut command).stdout, pack);
    let outside = project.home().join("outside.md");
    crate::support::write(&outside, pack.replace("req_1", "stolen"));
    std::fs::remove_file(project.path().join(LOCAL).join("pack.md")).unwrap();
    std::os::unix::fs::symlink(&outside, project.path().join(LOCAL).join("pack.md")).unwrap();
    assert_eq!(hook("parenting_cos").stdout, project.read(PACK), "a link is not followed");
}

#[test]
fn local_files_go_away_with_the_setting_and_a_broken_local_state_keeps_them() {
    let project = local_workspace();
    mandate(&project, "refresh_ai_context", NOW, &[]);
    let state = project.read(&format!("{LOCAL}/state.jsonl"));
    let requests = project.read(&format!("{LOCAL}/open_requests.md"));
    project.write(&format!("{LOCAL}/state.jsonl"), state.replace("Sum of", "Twice the"));
    let output = project.blue(&["knowledge", "build"]);
    assert_eq!(output.code, 1, "{}", output.stderr);
    assert_eq!(project.read(&format!("{LOCAL}/open_requests.md")), requests);
    let config = project.read(".blue/config.yaml").replace("state: local, ", "");
    project.write(".blue/config.yaml", config);
    assert_eq!(mandate(&project, "refresh_ai_context", NOW, &[]).code, 0);
    assert!(project.exists(&own("ai_context/state.jsonl")));
    for name in ["open_requests.md", "model_preferences.md", "pack.md"] {
        assert!(!project.exists(&format!("{LOCAL}/{name}")), "{name}");
    }
    assert!(project.read(PACK).contains("req_1"));
}
