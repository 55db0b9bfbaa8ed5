//! Files for other agents: blocks in people's files, rules, and the text that reaches an agent once.

use std::os::unix::fs::symlink;

use super::{blue, doctor, run};
use crate::support;
use crate::support::Project;

const DECISION: &str =
    "---\nstatus: accepted\naffects: [src/**]\n---\n# 1. Use Rust\n\n## Decision\n\nWe use Rust.\n";

/// A project that is built with some targets.
fn built(targets: &str) -> Project {
    let project = Project::with("docs/adr/0001-use-rust.md", DECISION);
    project.write("src/main.rs", "fn main() {}\n");
    project.write(".blue/config.yaml", format!("targets: [{targets}]\n"));
    project
}

/// Exit code and findings of a check.
fn check(project: &Project) -> (i32, String) {
    let output = project.blue(&["knowledge", "build", "--check"]);
    (output.code, output.stderr)
}

#[test]
fn a_block_is_kept_current_and_removed_with_its_target() {
    for original in ["", "# Ours\n", "# Ours", "\u{feff}a\r\n\r\nb\r\n", "a\r\nb"] {
        let project = built("agents-md");
        project.write("AGENTS.md", original);
        project.build();
        let text = project.read("AGENTS.md");
        assert!(text.starts_with(original), "{text}");
        let session = project.read(".blue/context/session.md");
        assert!(text.replace("\r\n", "\n").contains(&session), "{text}");
        assert_eq!(check(&project).0, 0, "{:?}", check(&project));
        assert!(project.build().stderr.contains("nothing to do"));
        project.write("docs/adr/0002-use-go.md", DECISION.replace("Rust", "Go"));
        let (code, findings) = check(&project);
        assert!(code == 1 && findings.contains("AGENTS.md: error: blue's block is stale"));
        project.build();
        assert!(project.read("AGENTS.md").contains("Use Go"));
        project.write(".blue/config.yaml", "targets: []\n");
        assert!(check(&project).1.contains("no target asks for blue's block any more"));
        project.build();
        assert_eq!(project.read("AGENTS.md"), original);
    }
    let project = built("agents-md, claude-md, copilot-instructions");
    project.build();
    project.write(".blue/config.yaml", "");
    project.build();
    assert!(!project.exists("AGENTS.md") && !project.exists("CLAUDE.md"));
    assert!(!project.exists(".github"), "the folder was created for the file");
}

#[test]
fn an_edit_of_a_block_is_noticed_saved_and_replaced() {
    let project = built("agents-md");
    project.write("AGENTS.md", "# Ours\n");
    project.build();
    let text = project.read("AGENTS.md");
    project.write("AGENTS.md", text.replace("Use Rust", "Use Perl"));
    let (code, findings) = check(&project);
    assert!(code == 1 && findings.contains("AGENTS.md: error: blue's block was edited by hand"));
    let output = project.build();
    assert!(output.stderr.contains("[BLUE-OUT-001]"), "{}", output.stderr);
    assert_eq!(project.read("AGENTS.md"), text);
    let rescued = std::fs::read_dir(project.path().join(".blue/local/rescued")).unwrap();
    let copy = std::fs::read_to_string(rescued.last().unwrap().unwrap().path()).unwrap();
    assert!(copy.contains("Use Perl"));
    // An edit around the block is nothing to report, and stays.
    project.write("AGENTS.md", format!("{}More.\n", text.replace("# Ours", "# Theirs")));
    assert_eq!(check(&project).0, 0);
    assert!(project.build().stderr.contains("nothing to do"));
    assert!(project.read("AGENTS.md").ends_with("-->\nMore.\n"));
    // Without its target, an edited block is left alone.
    let edited = text.replace("Use Rust", "Use Perl");
    project.write("AGENTS.md", &edited).write(".blue/config.yaml", "");
    assert!(project.build().stderr.contains("[BLUE-OUT-007]"));
    assert_eq!(project.read("AGENTS.md"), edited);
}

#[test]
fn a_block_that_codex_would_cut_is_reported_and_can_be_moved() {
    let project = built("agents-md");
    let long = "Be kind.\n".repeat(4_000);
    project.write("AGENTS.md", &long);
    assert!(project.build().stderr.contains("Codex reads 32768"));
    let text = project.read("AGENTS.md");
    let moved = format!("{}{long}", &text[long.len()..]);
    project.write("AGENTS.md", &moved);
    assert!(project.build().stderr.starts_with("blue: nothing to do\n"));
    assert_eq!(project.read("AGENTS.md"), moved);
    project.write("docs/adr/0002-use-go.md", DECISION.replace("Rust", "Go")).build();
    let text = project.read("AGENTS.md");
    assert!(text.starts_with("<!-- blue: begin ") && text.ends_with(&long) && text != moved);
}

#[test]
fn a_killed_build_leaves_nothing_behind_and_targets_of_people_stay() {
    let project = built("agents-md, llms-txt");
    project.write("AGENTS.md.blue-tmp", "half a te").build();
    assert!(!project.exists("AGENTS.md.blue-tmp"));
    let text = project.read("AGENTS.md");
    // A folder with this name keeps blue from staging the block: then nothing is written.
    project.write("AGENTS.md.blue-tmp/x", "").write("docs/adr/0002-use-go.md", DECISION);
    let before = project.files();
    assert_eq!(project.blue(&["knowledge", "build"]).code, 2);
    assert_eq!(project.files(), before);
    std::fs::remove_dir_all(project.path().join("AGENTS.md.blue-tmp")).unwrap();
    project.build();
    assert_ne!(project.read("AGENTS.md"), text);
    blue(&project, &["install"]);
    let output = blue(&project, &["uninstall"]).stdout;
    let kept = "kept     AGENTS.md (.blue/config.yaml has the target agents-md)\n";
    assert!(output.contains(kept) && output.contains("kept     llms.txt "), "{output}");
    assert_eq!(check(&project).0, 0);
}

#[test]
fn nothing_is_written_through_a_link_or_twice_into_one_file() {
    let project = built("agents-md, claude-md");
    project.write("AGENTS.md", "# Ours\n");
    symlink("AGENTS.md", project.path().join("CLAUDE.md")).unwrap();
    let output = project.build();
    assert!(
        output.stderr.contains("CLAUDE.md: warning: it is a symbolic link"),
        "{}",
        output.stderr
    );
    assert!(project.path().join("CLAUDE.md").symlink_metadata().unwrap().is_symlink());
    assert_eq!(project.read("AGENTS.md").matches("blue: begin").count(), 1);
    assert_eq!(check(&project).0, 0);
    assert!(project.build().stderr.contains("nothing to do"));
    std::fs::remove_file(project.path().join("CLAUDE.md")).unwrap();
    project.build();
    assert!(project.read("CLAUDE.md").contains("\n@./.blue/context/session.md\n"));

    let project = built("agents-md, claude-md");
    project.write("AGENTS.md", "# Ours\n");
    let (one, two) = (project.path().join("AGENTS.md"), project.path().join("CLAUDE.md"));
    std::fs::hard_link(&one, &two).unwrap();
    assert!(project.build().stderr.contains("CLAUDE.md: warning: it is the same file"));
    assert_eq!(project.read("CLAUDE.md"), "# Ours\n");
}

#[test]
fn a_conflict_in_a_block_is_resolved_and_one_in_peoples_text_is_not() {
    let project = built("agents-md");
    project.write("AGENTS.md", "# Ours\n");
    project.build();
    let text = project.read("AGENTS.md");
    let block = text.strip_prefix("# Ours\n").unwrap();
    let other = block.replace("begin ", "begin 0").replace("We use Rust", "We use Go");
    let conflict =
        |ours: &str, theirs: &str| format!("<<<<<<< HEAD\n{ours}=======\n{theirs}>>>>>>> other\n");
    project.write("AGENTS.md", format!("# Ours\n{}", conflict(block, &other)));
    assert_eq!(check(&project).0, 1);
    project.build();
    assert_eq!(project.read("AGENTS.md"), text);
    let in_text = format!("{}{block}", conflict("# Ours\n", "# Theirs\n"));
    project.write("AGENTS.md", &in_text);
    assert!(project.build().stderr.contains("a merge left it in conflict"));
    assert_eq!(project.read("AGENTS.md"), in_text);
}

#[test]
fn rules_belong_to_blue_and_foreign_files_stay() {
    let project = built("claude-rules, copilot-rules, cursor-rules, llms-txt");
    project.write(".cursor/rules/team.mdc", "ours\n");
    project.build();
    let rule = ".cursor/rules/blue-adr-0001-use-rust.mdc";
    assert!(project.read(rule).starts_with("---\n# "), "front matter is first");
    assert!(
        project.read(".cursor/rules/blue.mdc").contains("alwaysApply: true\n---\n<blue-session")
    );
    assert_eq!(check(&project).0, 0, "{:?}", check(&project));
    project.write(rule, project.read(rule).replace("We use Rust", "We use Perl"));
    assert!(check(&project).1.contains("edited by hand"));
    project.build();
    assert!(project.read(rule).contains("We use Rust"));
    project.write("docs/adr/0001-use-rust.md", DECISION.replace("affects: [src/**]\n", ""));
    project.build();
    assert!(!project.exists(rule) && project.exists(".cursor/rules/blue.mdc"));
    project.write(".blue/config.yaml", "");
    project.build();
    assert_eq!(project.read(".cursor/rules/team.mdc"), "ours\n");
    assert!(!project.exists(".claude") && !project.exists(".github"));
    assert!(!project.exists("llms.txt") && !project.exists(".cursor/rules/blue.mdc"));

    let project = built("llms-txt");
    project.write("llms.txt", "# Ours\n");
    let output = project.blue(&["knowledge", "build"]);
    assert_eq!(output.code, 2, "{}", output.stderr);
    assert_eq!(project.read("llms.txt"), "# Ours\n");
    let unknown = built("agent-md").blue(&["knowledge", "build"]);
    assert!(unknown.code == 2 && unknown.stderr.contains("did you mean `agents-md`?"));
}

#[test]
fn an_agent_that_reads_the_block_gets_no_session_hook() {
    let project = built("agents-md");
    project.write("CLAUDE.md", "# Ours\n").build();
    blue(&project, &["install", "--agent", "claude,codex,copilot"]);
    let has_session = |path: &str| {
        let text = project.read(path);
        assert!(text.contains("hooks/session-workflow"), "{text}");
        let endings = ["session-start\"", "session-start\\\"\"", "session-start\\\" copilot\""];
        endings.iter().any(|ending| text.contains(ending))
    };
    assert!(has_session(".claude/settings.json"), "it reads CLAUDE.md instead");
    assert!(!has_session(".codex/hooks.json") && !has_session(".github/hooks/blue.json"));
    assert!(doctor(&project, &[]).stdout.contains("all is well"));

    let project = built("");
    project.build();
    blue(&project, &["install", "--agent", "claude,codex,copilot"]);
    project.write(".blue/config.yaml", "targets: [agents-md, copilot-rules]\n").build();
    let output = doctor(&project, &[]).stdout;
    assert!(output.contains("Codex receives the session text twice"), "{output}");
    assert!(output.contains("Copilot receives the session text twice"), "{output}");
    project.write(".blue/config.yaml", "targets: [agents-md, claude-md]\n").build();
    let output = doctor(&project, &[]).stdout;
    assert!(output.contains("Copilot receives the session text of both agents-md and claude-md"));
    project.write(".blue/config.yaml", "targets: [agents-md, copilot-rules]\n").build();
    blue(&project, &["install"]);
    let output = doctor(&project, &[]).stdout;
    assert!(output.contains("hint: make CLAUDE.md a link"), "{output}");
    symlink("AGENTS.md", project.path().join("CLAUDE.md")).unwrap();
    let output = doctor(&project, &[]).stdout;
    assert!(output.contains("all is well"), "{output}");
}

#[test]
fn opencode_includes_the_session_text_unless_it_reads_agents_md() {
    let project = built("");
    let original = "{\"instructions\": [\"a.md\"]}";
    project.write("opencode.json", original).build();
    let instructions = || {
        let json: serde_json::Value = serde_json::from_str(&project.read("opencode.json")).unwrap();
        json["instructions"].clone()
    };
    let (session, work) = (".blue/context/session.md", ".blue/local/current.md");
    let knowledge = ".blue/context/knowledge.md";
    project.write(".blue/config.yaml", "targets: [opencode]\n").build();
    assert_eq!(instructions(), serde_json::json!(["a.md", session, knowledge, work]));
    project.write(".blue/config.yaml", "targets: [agents-md, opencode]\n");
    assert_eq!(check(&project).0, 1);
    project.build();
    assert_eq!(instructions(), serde_json::json!(["a.md", knowledge, work]));
    blue(&project, &["install", "--agent", "opencode"]);
    assert_eq!(check(&project).0, 0);
    assert!(project.read("opencode.json").contains("\"mcp\""));
    project.write(".blue/config.yaml", "").build();
    assert_eq!(instructions(), serde_json::json!(["a.md"]));
    blue(&project, &["uninstall"]);
    assert_eq!(project.read("opencode.json"), original);
}

#[test]
fn the_current_work_has_a_fixed_file_name() {
    let project = built("");
    let rfc = "# RFC 0016: Context\n\nStatus: draft\n\n## Plan\n\n- [ ] one\n";
    project.write(".blue/docs/rfcs/0016-context.md", rfc);
    project.write(".git/HEAD", "ref: refs/heads/rfc/0016\n");
    project.build();
    let current = ".blue/local/current.md";
    let bundle = project.read(".blue/context/workflow/0016-context.md");
    assert_eq!(project.read(current), bundle);
    project.write(".git/HEAD", "ref: refs/heads/main\n");
    assert!(project.build().stderr.contains("nothing to do"));
    assert!(!project.exists(current));
    project.write(".blue/worktree.json", "{\"rfc\": 16}").build();
    assert_eq!(project.read(current), bundle);
}

#[test]
fn no_text_of_people_is_lost_around_a_block() {
    let rescued = |project: &Project| -> String {
        let folder = project.path().join(".blue/local/rescued");
        if !folder.exists() {
            return String::new();
        }
        let files = support::entries(&folder).into_iter().filter(|path| path.is_file());
        files.map(|path| std::fs::read_to_string(path).unwrap()).collect()
    };
    // An example of a conflict stays.
    let example = "Never commit:\n```\n<<<<<<< HEAD\n=======\n>>>>>>> b\n```\n";
    let project = built("agents-md");
    project.write("AGENTS.md", example).build();
    assert!(project.read("AGENTS.md").starts_with(example), "{}", project.read("AGENTS.md"));
    assert_eq!(check(&project).0, 0);
    // A second block is removed, and a copy is kept.
    let text = project.read("AGENTS.md");
    let second = "<!-- blue: begin notes -->\nPRECIOUS\n<!-- blue: end -->\n";
    project.write("AGENTS.md", format!("{text}{second}")).build();
    assert!(rescued(&project).contains("PRECIOUS"));
    // Marks in the workflow guide do not end the block.
    let project = built("agents-md");
    project.write(".blue/workflow.md", "Test.\n<!-- blue: end -->\nafter\n").build();
    assert_eq!(check(&project).0, 0);
    let length = project.read("AGENTS.md").len();
    project.write(".blue/workflow.md", "Test.\n<!-- blue: end -->\nlater\n").build();
    assert_eq!(project.read("AGENTS.md").len(), length);
    project.write(".blue/config.yaml", "").build();
    assert!(!project.exists("AGENTS.md"));
    // Of two sides of a merge, the one that is not used is kept.
    let project = built("agents-md");
    project.build();
    let block = project.read("AGENTS.md");
    let edited = block.replace("</blue-session>", "EDITED\n</blue-session>");
    let conflict = format!("<<<<<<< HEAD\n{block}=======\n{edited}>>>>>>> other\n");
    project.write("AGENTS.md", conflict).build();
    assert_eq!(project.read("AGENTS.md"), block);
    assert!(rescued(&project).contains("EDITED"));
}

#[test]
fn installations_one_after_the_other_are_removed_together() {
    let config = "# mine\nproject: x";
    let project = built("");
    project.write(".blue/config.yaml", config).build();
    blue(&project, &["install", "--agent", "gemini"]);
    blue(&project, &["install", "--agent", "cursor,opencode"]);
    blue(&project, &["install", "--agent", "copilot"]);
    blue(&project, &["uninstall"]);
    assert_eq!(project.read(".blue/config.yaml"), config);
    for path in ["GEMINI.md", "opencode.json", ".gemini", ".cursor", ".github"] {
        assert!(!project.exists(path), "{path}");
    }
}

#[test]
fn instructions_that_people_wrote_stay() {
    for original in [
        "{\"instructions\":[\".blue/context/session.md\"]}",
        "{\"instructions\": [\"docs/a.md\", \".blue/local/current.md\"]}",
    ] {
        let project = built("");
        project.write("opencode.json", original).build();
        blue(&project, &["install", "--agent", "opencode"]);
        blue(&project, &["uninstall"]);
        assert_eq!(project.read("opencode.json"), original);
    }
}

#[test]
fn instructions_are_removed_although_the_configuration_lost_the_target() {
    let original = "{\"a\": 1}\n";
    let project = built("");
    project.write("opencode.json", original).build();
    blue(&project, &["install", "--agent", "opencode"]);
    project.write(".blue/config.yaml", "");
    blue(&project, &["uninstall"]);
    assert_eq!(project.read("opencode.json"), original);
}

#[test]
fn an_invalid_configuration_stops_an_installation_before_it_changes_anything() {
    let project = built("");
    project.write(".blue/config.yaml", "targets: [nope]\n");
    let before = project.files();
    let output = run(&project, &project.home(), &["install", "--agent", "gemini"]);
    assert_eq!(output.code, 2, "{}", output.stderr);
    assert_eq!(project.files(), before);
}
