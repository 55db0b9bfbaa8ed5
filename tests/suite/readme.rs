//! Every command in README.md, run on a copy of this repository and compared with what README
//! shows.

use crate::support;
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::Project;

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn readme() -> String {
    std::fs::read_to_string(repository().join("README.md")).unwrap()
}

/// A copy of this repository without its history and what is built from it.
fn copy() -> Project {
    let project = Project::named("blue");
    let mut open = vec![String::new()];
    while let Some(folder) = open.pop() {
        for path in support::entries(&repository().join(&folder)) {
            let below = path.strip_prefix(repository()).unwrap().to_str().map(str::to_string);
            let Some(below) = below else { continue };
            if [".git", "target", ".blue/local", "fuzz/target"].contains(&below.as_str()) {
                continue;
            }
            let stat = path.symlink_metadata().unwrap();
            if stat.is_dir() {
                std::fs::create_dir_all(project.path().join(&below)).unwrap();
                open.push(below);
            } else if stat.is_file() {
                std::fs::copy(&path, project.path().join(&below)).unwrap();
            }
        }
    }
    project
}

/// A copy without any file that blue wrote.
fn copy_without_blue() -> Project {
    let project = copy();
    for path in support::entries(project.path()) {
        let name = path.file_name().unwrap().to_str().unwrap();
        if [".claude", ".codex", "knowledge"].contains(&name) {
            std::fs::remove_dir_all(&path).unwrap();
        } else if [".mcp.json", ".gitattributes"].contains(&name) {
            std::fs::remove_file(&path).unwrap();
        }
    }
    for path in support::entries(&project.path().join(".blue")) {
        match path.file_name().unwrap().to_str().unwrap() {
            "docs" => {}
            _ if path.is_dir() => std::fs::remove_dir_all(&path).unwrap(),
            _ => std::fs::remove_file(&path).unwrap(),
        }
    }
    project
}

/// A shell whose PATH has this blue and the system's programs, without settings of a user.
fn shell(project: &Project, home: &Project, line: &str) -> Command {
    let blue = Path::new(env!("CARGO_BIN_EXE_blue")).parent().unwrap();
    let system = std::env::var_os("PATH").unwrap_or_default();
    let paths = [blue.to_path_buf()].into_iter().chain(std::env::split_paths(&system));
    let path: OsString = std::env::join_paths(paths).unwrap();
    let mut command = Command::new("sh");
    command.args(["-c", line]).current_dir(project.path()).stdin(Stdio::null());
    command.env("PATH", path).env("HOME", home.path()).env("NO_COLOR", "1");
    command.env_remove("BLUE_HOME").env_remove("SOURCE_DATE_EPOCH").env_remove("CODEX_HOME");
    support::ceiling(&mut command);
    command
}

/// Runs a command line, which must succeed, and returns both output streams.
fn typed(project: &Project, home: &Project, line: &str) -> String {
    let output = shell(project, home, &format!("{{ {line}\n}} 2>&1")).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "$ {line}\n{text}");
    text
}

/// The blocks of a language, in order.
fn blocks(readme: &str, language: &str) -> Vec<String> {
    let start = format!("\n```{language}\n");
    let blocks = readme.split(&start).skip(1);
    blocks.map(|rest| rest.split("\n```").next().unwrap().to_string() + "\n").collect()
}

/// The commands of a console block, each with the output that is shown.
fn commands(block: &str) -> Vec<(String, Vec<String>)> {
    let mut commands: Vec<(String, Vec<String>)> = Vec::new();
    for line in block.lines() {
        match line.strip_prefix("$ ") {
            Some(command) => commands.push((command.to_string(), Vec::new())),
            None => commands.last_mut().expect("a command comes first").1.push(line.to_string()),
        }
    }
    commands
}

/// Returns true if the lines match. `…` in a line matches any text, on a line of its own any lines.
fn is_shown(shown: &[String], lines: &[&str]) -> bool {
    match (shown.split_first(), lines.split_first()) {
        (None, _) => lines.is_empty(),
        (Some((first, rest)), _) if first == "…" => {
            (0..=lines.len()).any(|n| is_shown(rest, &lines[n..]))
        }
        (Some((first, rest)), Some((line, others))) => fits(first, line) && is_shown(rest, others),
        (Some(_), None) => false,
    }
}

fn fits(pattern: &str, line: &str) -> bool {
    match pattern.split_once('…') {
        None => pattern == line,
        Some((start, rest)) => line.strip_prefix(start).is_some_and(|line| {
            let ends = line.char_indices().map(|(at, _)| at).chain([line.len()]);
            ends.into_iter().any(|at| fits(rest, &line[at..]))
        }),
    }
}

/// Rewrites a command for the test, which has blue built already. `None` if it cannot run here.
fn runnable(command: &str) -> Option<String> {
    let blue = command.strip_prefix("cargo run --release -- ").map(|rest| format!("blue {rest}"));
    let blue = blue.or_else(|| command.strip_prefix("target/debug/").map(str::to_string));
    blue.or_else(|| (!command.contains("cargo ")).then(|| command.to_string()))
}

#[test]
fn an_ellipsis_matches_any_text_and_any_lines() {
    let shown = |text: &str| text.lines().map(str::to_string).collect::<Vec<_>>();
    assert!(is_shown(&shown("a … c\n…\nz"), &["a b c", "x", "y", "z"]));
    assert!(is_shown(&shown("…"), &[]) && is_shown(&shown("a…"), &["a"]));
    assert!(!is_shown(&shown("a … c"), &["a b d"]) && !is_shown(&shown("a"), &["a", "b"]));
}

#[test]
fn the_readme_shows_the_real_output() {
    let (project, home) = (copy_without_blue(), Project::new());
    let mut n_compared = 0;
    for (command, shown) in blocks(&readme(), "console").iter().flat_map(|block| commands(block)) {
        let Some(line) = runnable(&command) else { continue };
        // The README shows a delivery after an agent started a session.
        if line == "blue context" {
            let mut hook = shell(&project, &home, ".blue/hooks/session-start");
            let mut child = hook.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
            child.stdin.take().unwrap().write_all(b"{\"session_id\":\"abc123\"}").unwrap();
            assert!(child.wait().unwrap().success());
        }
        let printed = typed(&project, &home, &line);
        if !shown.is_empty() {
            let lines: Vec<&str> = printed.lines().collect();
            assert!(is_shown(&shown, &lines), "$ {command}\nREADME: {shown:#?}\nhere: {lines:#?}");
            n_compared += 1;
        }
    }
    assert!(n_compared >= 7, "{n_compared} commands were compared");
    let digest = project.read("knowledge/adrs.md");
    let lines: Vec<&str> = digest.lines().filter(|line| !line.starts_with("Generated: ")).collect();
    let lines: Vec<&str> = lines.into_iter().filter(|line| !line.starts_with("Commit: ")).collect();
    let shown: Vec<String> = blocks(&readme(), "markdown")[0].lines().map(str::to_string).collect();
    // A copy has no commit, so it is built without a date.
    let undated =
        |line: &&String| !line.starts_with("Generated: ") && !line.starts_with("Commit: ");
    let shown: Vec<String> = shown.iter().filter(undated).cloned().collect();
    assert!(is_shown(&shown, &lines), "README: {shown:#?}\nhere: {lines:#?}");
    let committed = std::fs::read_to_string(repository().join("knowledge/adrs.md")).unwrap();
    let committed: Vec<&str> = committed.lines().collect();
    let shown: Vec<String> = blocks(&readme(), "markdown")[0].lines().map(str::to_string).collect();
    assert!(is_shown(&shown, &committed), "README: {shown:#?}\ncommitted: {committed:#?}");
}

#[test]
fn every_command_of_the_table_works_on_this_repository() {
    let (project, home) = (copy(), Project::new());
    project.build();
    let readme = readme();
    let table = readme.split("| command | example |").nth(1).unwrap().split("\n\n").next().unwrap();
    let mut n_commands = 0;
    for row in table.lines().filter(|row| row.contains('`')) {
        let examples = row.trim_end_matches(" |").rsplit(" | ").next().unwrap();
        for line in examples.split('`').skip(1).step_by(2) {
            n_commands += 1;
            if line == "blue watch" {
                let mut watch = shell(&project, &home, &format!("exec {line}"));
                let mut child = watch.stderr(Stdio::piped()).spawn().unwrap();
                let mut first = String::new();
                BufReader::new(child.stderr.take().unwrap()).read_line(&mut first).unwrap();
                child.kill().unwrap();
                child.wait().unwrap();
                assert!(first.starts_with("blue: watching "), "{first}");
                continue;
            }
            let output = shell(&project, &home, line).output().unwrap();
            assert!(output.status.success(), "$ {line}\n{output:?}");
            let is_question =
                ["related", "why", "for", "reference", "list", "show", "graph", "explain", "print"]
                    .iter()
                    .any(|word| line.split(' ').take(3).any(|part| part == *word));
            assert!(!is_question || !output.stdout.is_empty(), "$ {line} finds nothing");
        }
    }
    assert!(n_commands >= 25, "{n_commands} commands");
}

#[test]
fn the_ci_script_runs_the_commands_of_the_readme() {
    let readme = readme();
    let developing = readme.split("\n## Developing\n").nth(1).unwrap();
    let gate = std::fs::read_to_string(repository().join(".ci/run")).unwrap();
    for (command, _) in commands(&blocks(developing, "console")[0]) {
        assert!(gate.lines().any(|line| line == command), "{command} is not in .ci/run");
    }
}
