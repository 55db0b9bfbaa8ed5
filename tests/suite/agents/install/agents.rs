//! Agents beside Claude Code and Codex: their files come back to the original bytes.

use serde_json::Value;

use super::{blue, doctor, run};
use crate::support::Project;

const ALL: &str = "claude,codex,gemini,copilot,opencode,cursor";

/// Contents of the files that an installation for all agents shares with people; `None` for no file.
const ORIGINALS: &[[Option<&str>; 7]] = &[
    [None; 7],
    [Some(""); 7],
    [
        Some("{\n  \"theme\": \"dark\", // mine\n  \"hooks\": {\"SessionStart\": []}\n}\n"),
        Some("{\"instructions\": [ ], \"mcp\": {\"x\": {\"type\": \"remote\"}}}"),
        Some("{\r\n\t\"mcpServers\": {}\r\n}\r\n"),
        Some("# Codex\r\nmodel = \"o\" # best\r\n\r\n[mcp_servers.x]\r\ncommand = \"x\"\r\n"),
        Some("# Gemini\n\nBe brief."),
        Some("version: 1\ntargets: [agents-md] # ours"),
        Some("\u{feff}# Agents\r\n"),
    ],
    [
        Some("{ }"),
        Some("// only a comment\n"),
        Some("{\"mcpServers\":{\"y\":{\"command\":\"y\"}}}"),
        Some("model = \"o\""),
        Some("\n\n"),
        Some("# ours\nversion: 1\ntargets:\n- llms-txt\n- agents-md\n\nproject: x\n"),
        Some("a\r\nb"),
    ],
];

const PATHS: [&str; 7] = [
    ".gemini/settings.json",
    "opencode.json",
    ".cursor/mcp.json",
    ".codex/config.toml",
    "GEMINI.md",
    ".blue/config.yaml",
    "AGENTS.md",
];

/// A project with a decision that names files of agents.
fn project_with(originals: &[Option<&str>; 7]) -> Project {
    let project = Project::new();
    let decision = "---\nstatus: accepted\naffects: [src/**, .mcp.json]\n---\n# 1. Use Rust\n\n## Decision\n\nWe use Rust. See `.gemini/settings.json` and `.cursor/mcp.json`.\n";
    project.write("docs/adr/0001-use-rust.md", decision).write("src/main.rs", "");
    for (path, original) in PATHS.iter().zip(originals) {
        if let Some(original) = original {
            project.write(path, original);
        }
    }
    project
}

#[test]
fn install_and_uninstall_for_all_agents_restore_every_file() {
    for (i, originals) in ORIGINALS.iter().enumerate() {
        for is_built in [true, false] {
            let project = project_with(originals);
            if is_built {
                project.build();
            }
            let before = project.files();
            let output = blue(&project, &["install", "--agent", ALL]);
            assert!(
                output.stdout.contains("added    .gemini/settings.json\n"),
                "{}",
                output.stdout
            );
            if is_built {
                let checked = project.blue(&["knowledge", "build", "--check"]);
                assert_eq!(checked.code, 0, "{i}: {}", checked.stderr);
                assert!(project.read("GEMINI.md").contains("@./.blue/context/session.md\n"));
            }
            let stamps = project.stamps();
            let again = blue(&project, &["install", "--agent", ALL]);
            assert!(!again.stdout.contains("added"), "{i}: {}", again.stdout);
            assert!(!blue(&project, &["install"]).stdout.contains("updated"), "{i}");
            assert_eq!(project.stamps(), stamps, "{i}: a second time writes nothing");
            let output = blue(&project, &["uninstall"]);
            let after = project.files();
            for (path, bytes) in &before {
                let text = |bytes: &Vec<u8>| String::from_utf8_lossy(bytes).into_owned();
                assert_eq!(
                    after.get(path).map(text),
                    Some(text(bytes)),
                    "{i} {path} {}",
                    output.stdout
                );
            }
            assert_eq!(after.keys().collect::<Vec<_>>(), before.keys().collect::<Vec<_>>(), "{i}");
            for folder in [".gemini", ".cursor", ".github", ".codex", ".claude"] {
                let is_theirs = PATHS.iter().zip(originals).any(|(path, original)| {
                    original.is_some() && path.starts_with(&format!("{folder}/"))
                });
                assert_eq!(project.exists(folder), is_theirs, "{i}: {folder}");
            }
            if is_built {
                assert_eq!(project.blue(&["knowledge", "build", "--check"]).code, 0, "{i}");
            }
        }
    }
}

#[test]
fn each_agent_gets_hooks_and_server_in_its_own_form() {
    let project = project_with(&[None; 7]);
    project.build();
    blue(&project, &["install", "--agent", "gemini", "--agent", "copilot,opencode,cursor"]);
    let json = |path: &str| -> Value { serde_json::from_str(&project.read(path)).unwrap() };
    let gemini = json(".gemini/settings.json");
    let start = gemini["hooks"]["SessionStart"].as_array().unwrap();
    let commands: Vec<&str> =
        start.iter().map(|group| group["hooks"][0]["command"].as_str().unwrap()).collect();
    let script = "sh \"$GEMINI_PROJECT_DIR\"/.blue/hooks/session-";
    assert_eq!(
        commands,
        ["start global", "start knowledge", "workflow"]
            .map(|name| format!("{script}{name} gemini || :")),
        "GEMINI.md has the session text"
    );
    assert_eq!(start[0]["hooks"][0]["timeout"], 5000, "milliseconds");
    assert_eq!(gemini["mcpServers"]["blue"]["args"][0], "mcp");
    let copilot = json(".github/hooks/blue.json");
    assert_eq!(copilot["version"], 1);
    let start = copilot["hooks"]["sessionStart"].as_array().unwrap();
    assert_eq!(start.len(), 4);
    assert!(start[1]["bash"].as_str().unwrap().ends_with("/.blue/hooks/session-start\" copilot"));
    assert_eq!(json(".mcp.json")["mcpServers"]["blue"]["command"], "blue");
    let opencode = json("opencode.json");
    assert_eq!(opencode["mcp"]["blue"]["command"], serde_json::json!(["blue", "mcp"]));
    assert_eq!(
        opencode["instructions"],
        serde_json::json!([
            ".blue/context/session.md",
            ".blue/context/knowledge.md",
            ".blue/local/current.md"
        ])
    );
    assert_eq!(json(".cursor/mcp.json")["mcpServers"]["blue"]["command"], "blue");
    assert_eq!(
        project.read(".blue/config.yaml"),
        "targets: [gemini-md, copilot-rules, opencode, cursor-rules]\n"
    );
    assert!(!project.exists(".claude/settings.json") && !project.exists(".codex"));
    blue(&project, &["install"]);
    let output = doctor(&project, &[]);
    assert!(output.stdout.contains("all is well"), "{}", output.stdout);
    let gemini = output.stdout.lines().find(|line| line.contains(".gemini/settings.json"));
    assert!(gemini.unwrap().ends_with("  hooks and server registered"), "{}", output.stdout);
    let toml = project.read(".codex/config.toml");
    assert!(toml.contains("[mcp_servers.blue]\ncommand = \"blue\"\nargs = [\"mcp\"]\n"), "{toml}");
}

#[test]
fn flags_and_foreign_entries_are_respected() {
    let project = project_with(&[None; 7]);
    blue(&project, &["install", "--no-mcp", "--agent", "gemini,codex,opencode,cursor"]);
    assert!(!project.read(".gemini/settings.json").contains("mcpServers"));
    assert!(!project.exists(".codex/config.toml") && !project.exists(".cursor"));
    let taken = "[mcp_servers.blue]\ncommand = \"blueprint\"\n";
    let mine = "{\"version\":1,\"hooks\":{\"sessionStart\":[{\"type\":\"command\",\"bash\":\"echo hi\"}]}}\n";
    project.write(".codex/config.toml", taken).write(".github/hooks/blue.json", mine);
    let output = blue(&project, &["install", "--agent", "codex,copilot"]).stdout;
    assert!(
        output.contains("kept     .codex/config.toml (another server is called blue)"),
        "{output}"
    );
    assert!(output.contains("kept     .github/hooks/blue.json (it has hooks that are not blue's)"));
    blue(&project, &["uninstall"]);
    assert_eq!(project.read(".codex/config.toml"), taken);
    assert_eq!(project.read(".github/hooks/blue.json"), mine);
    project.write(".codex/config.toml", "a = 1\nb = = 2\n");
    let output = run(&project, &project.home(), &["install"]);
    assert_eq!(output.code, 2);
    assert!(output.stderr.contains(".codex/config.toml:2:5: "), "{}", output.stderr);
    let output = run(&project, &project.home(), &["install", "--agent", "emacs"]);
    assert!(output.code == 2 && output.stderr.contains("opencode"), "{}", output.stderr);
}

#[test]
fn the_user_level_registers_the_server_too() {
    let (project, home) = (Project::new(), Project::new());
    let original = "{\n  \"numStartups\": 3,\n  \"mcpServers\": {}\n}";
    home.write(".claude.json", original);
    let before = home.files();
    assert_eq!(run(&project, home.path(), &["install", "--user"]).code, 0);
    let value: Value = serde_json::from_str(&home.read(".claude.json")).unwrap();
    assert_eq!(value["mcpServers"]["blue"]["command"], "blue");
    assert_eq!(value["numStartups"], 3);
    assert_eq!(run(&project, home.path(), &["uninstall", "--user"]).code, 0);
    assert_eq!(home.read(".claude.json"), original);
    assert!(before.keys().all(|path| home.files().contains_key(path)));
}
