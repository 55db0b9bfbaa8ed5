//! Help, exit codes, output and process limits of the commands.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support;
use crate::support::Project;

#[test]
fn every_command_has_help_with_an_example() {
    let project = Project::new();
    for command in [
        vec!["knowledge", "build"],
        vec!["knowledge", "list"],
        vec!["knowledge", "show"],
        vec!["knowledge", "lint"],
        vec!["schema", "print"],
        vec!["schema", "validate"],
        vec!["init"],
        vec!["install"],
        vec!["uninstall"],
        vec!["doctor"],
        vec!["explain"],
        vec!["completions"],
        vec!["man"],
    ] {
        let output = project.blue(&[command.as_slice(), &["--help"]].concat());
        assert_eq!(output.code, 0);
        assert!(output.stdout.contains("Example"), "{command:?}: {}", output.stdout);
    }
}

#[test]
fn a_wrong_flag_cannot_run() {
    assert_eq!(Project::new().blue(&["knowledge", "build", "--chekc"]).code, 2);
    assert_eq!(Project::new().blue(&["knowledge", "build", "-C", "nowhere"]).code, 2);
    assert_eq!(Project::new().blue(&["--version"]).code, 0);
}

#[test]
fn completions_and_manual_name_the_commands() {
    let project = Project::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert!(project.blue(&["completions", shell]).stdout.contains("knowledge"), "{shell}");
    }
    assert!(project.blue(&["man"]).stdout.contains(".TH blue"));
}

#[test]
fn an_unwritable_project_gives_one_clear_message() {
    if rustix::process::geteuid().is_root() {
        println!("skipped: the superuser may write anywhere");
        return;
    }
    let project = Project::with_two_decisions();
    std::fs::set_permissions(project.path(), std::fs::Permissions::from_mode(0o555)).unwrap();
    let output = project.blue(&["knowledge", "build"]);
    std::fs::set_permissions(project.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(output.code, 2);
    assert!(output.stderr.contains("create .blue: Permission denied"), "{}", output.stderr);
}

#[test]
fn a_closed_pipe_is_no_error() {
    let project = Project::with_two_decisions();
    project.build();
    let mut child = project
        .command(&["knowledge", "list"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn list_and_show_find_documents_by_every_short_name() {
    let project = Project::with_two_decisions();
    assert_eq!(project.blue(&["knowledge", "list"]).code, 2, "nothing was built");
    project.build();
    assert_eq!(project.blue(&["knowledge", "list", "adrs"]).stdout.lines().count(), 2);
    let json: serde_json::Value =
        serde_json::from_str(&project.blue(&["knowledge", "list", "--format", "json"]).stdout)
            .unwrap();
    assert_eq!(json[0]["uri"], "blue://docs/adrs/0001-use-rust");
    for uri in [
        "blue://docs/adrs/0001-use-rust",
        "blue://docs/adrs/1",
        "blue://adr/0001",
        "blue://adr/use-rust",
    ] {
        assert!(
            project.blue(&["knowledge", "show", uri]).stdout.starts_with("# 1. Use Rust"),
            "{uri}"
        );
    }
    assert_eq!(
        project.blue(&["knowledge", "show", "blue://docs/adrs/"]).stdout,
        project.read("knowledge/adrs.md")
    );
    let output = project.blue(&["knowledge", "show", "blue://docs/adrs/use-rast"]);
    assert_eq!(output.code, 2);
    assert!(
        output.stderr.contains("did you mean blue://docs/adrs/0001-use-rust"),
        "{}",
        output.stderr
    );
    for hostile in [
        "blue://docs/../../etc/passwd",
        "blue://docs/adrs/%2e%2e",
        "file:///etc/passwd",
        "blue://docs/adrs/a\\b",
    ] {
        assert!(
            project.blue(&["knowledge", "show", hostile]).stderr.contains("is refused"),
            "{hostile}"
        );
    }
}

#[test]
fn show_prints_a_document_as_it_is_written() {
    let project = Project::new();
    let text = "= ADR 1: One queue\n:status: accepted\n\n== Decision\n\nSee xref:0002-b.adoc[].\n";
    project.write("docs/adr/0001-one-queue.adoc", text);
    project.build();
    assert_eq!(project.blue(&["knowledge", "show", "blue://docs/adrs/1"]).stdout, text);
    let list = project.blue(&["knowledge", "list"]).stdout;
    assert!(list.contains("One queue") && list.contains("accepted"), "{list}");
}

#[test]
fn counts_of_one_use_the_singular() {
    let project = Project::new();
    project.write("docs/adr/0001-a.md", "# A\n\n## Status\n\nAccepted\n\nSee [b](0002-b.md).\n");
    let accept = ["knowledge", "lint", "--accept", "--reason", "x"];
    let mut texts = Vec::new();
    for arguments in [
        &["init"][..],
        &["knowledge", "lint"],
        &["knowledge", "build", "--force", "--explain"],
        &["doctor"],
        &["context"],
        &["context", "show"],
        &["status"],
        &accept,
    ] {
        let output = project.blue(arguments);
        texts.push((arguments.join(" "), output.stdout + &output.stderr));
    }
    project.write("docs/adr/0001-a.md", "# A\n\n## Status\n\nAccepted\n\nNothing more.\n");
    for arguments in [
        &["knowledge", "build", "--check"][..],
        &["knowledge", "lint", "--prune"],
        &["knowledge", "build"],
    ] {
        let output = project.blue(arguments);
        texts.push((arguments.join(" "), output.stdout + &output.stderr));
    }
    let all: String = texts.iter().map(|(_, text)| text.as_str()).collect();
    for right in [
        "found    1 document in ",
        "blue: 1 document; 0 errors, 1 warning, 0 notes",
        "found    1 warning in the documents",
        "blue: accepted 1 finding in ",
        "blue: removed 1 entry from ",
        "blue: 1 document, 1 live; wrote ",
        "| Reference: 1 document (",
        "current, 1 document",
    ] {
        assert!(all.contains(right), "{right}: {all}");
    }
    for (command, text) in texts {
        let words: Vec<&str> = text.split_whitespace().collect();
        let wrong = words.windows(2).find(|two| {
            two[0] == "1" && two[1].trim_end_matches([',', ';', '.', ':', ')']).ends_with('s')
        });
        assert_eq!(wrong, None, "{command}: {text}");
    }
}

#[test]
fn suggested_commands_work_as_printed() {
    let document = "# A\n\n## Status\n\nAccepted\n\nSee [b](0002-b.md).\n";
    let blue = Path::new(env!("CARGO_BIN_EXE_blue")).parent().unwrap();
    let path = std::env::join_paths([blue, Path::new("/usr/bin"), Path::new("/bin")]).unwrap();
    for (with_git, with_documents, below) in [
        (true, true, ""),
        (true, false, ""),
        (false, true, ""),
        (false, false, ""),
        (true, true, "it's below"),
    ] {
        let (project, home) = (Project::named("a 'b"), Project::new());
        let here = project.path().join(below);
        std::fs::create_dir_all(&here).unwrap();
        if with_git {
            project.git(&["init", "-q"]);
        }
        if with_documents {
            project.write("docs/adr/0001-a.md", document);
        }
        let typed = |text: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", text]).current_dir(&here).env("HOME", home.path());
            let output = support::ceiling(&mut command).env("PATH", &path).output().unwrap();
            assert!(output.status.success(), "{text}: {output:?}");
            String::from_utf8(output.stdout).unwrap()
        };
        for command in ["blue install", "blue init"] {
            let text = typed(command);
            let (_, steps) = text.split_once("\nNext:\n").unwrap();
            assert_eq!(steps.contains("git "), with_git, "{text}");
            for line in steps.lines().filter(|line| !line.starts_with("Then restart ")) {
                let step = line.strip_prefix("  ").expect("every line is a step");
                let (step, why) = step.split_once("   ").expect("every step says why");
                assert!(!why.trim().is_empty(), "{line}");
                typed(step);
            }
        }
    }
}

/// Runs blue under resource limits set by the shell.
#[cfg(target_os = "linux")]
fn limited(project: &Project, limits: &str, arguments: &str) -> (Option<i32>, String) {
    let blue = env!("CARGO_BIN_EXE_blue");
    let line = format!("{limits}; exec '{blue}' {arguments}");
    let mut command = std::process::Command::new("sh");
    command.args(["-c", &line]).current_dir(project.path()).env("NO_COLOR", "1");
    let output = project.isolate(&mut command).output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
#[cfg(target_os = "linux")]
fn a_build_with_little_memory_takes_a_smaller_stack() {
    let project = Project::new();
    project.write("docs/adr/0001-one.md", "# One\n");
    let (code, stderr) = limited(&project, "ulimit -v 250000", "knowledge build --jobs 1");
    assert_eq!(code, Some(0), "{stderr}");
    // Deep templates end with an error on a small stack, too.
    let deep = [
        format!("{{{{ {}1 }}}}", "not ".repeat(900)),
        format!("{{{{ {}1{} }}}}", "[".repeat(400), "]".repeat(400)),
        format!("{{{{ n_live{} }}}}", " + 1".repeat(490)),
        format!("{}{}", "{% if 1 %}".repeat(3_000), "{% endif %}".repeat(3_000)),
        format!("{{% if 1 %}}{}{{% endif %}}", "{% elif 1 %}".repeat(190)),
        "{% macro m(x) %}{{ m([x]) }}{% endmacro %}{{ m(1) }}".to_string(),
    ];
    for template in deep {
        project.write(".blue/templates/digest.md", &template);
        let (code, stderr) = limited(&project, "ulimit -v 180000", "knowledge build --jobs 1");
        assert!(matches!(code, Some(0 | 2)), "{}: {code:?} {stderr}", &template[..40]);
    }
}

#[test]
fn file_times_beyond_the_year_9999_are_accepted() {
    let project = Project::new();
    project.write("docs/adr/0001-one.md", "# One\n");
    project.git(&["init", "-q"]);
    project.git(&["add", "."]);
    for date in ["253402300799 +0000", "99999999999999 +0000", "1 +0000"] {
        let mut git = std::process::Command::new("git");
        git.args(["-c", "user.name=T", "-c", "user.email=t@x", "commit", "-qm", "x"]);
        project.isolate(git.arg("--allow-empty").current_dir(project.path()));
        // git may refuse such a date itself.
        git.env("GIT_COMMITTER_DATE", date).env("GIT_AUTHOR_DATE", date).output().unwrap();
        project.build();
    }
    for epoch in ["253402300799", "253402300800", "99999999999999999999", "-1"] {
        let mut command = project.command(&["knowledge", "build", "--force"]);
        let output = command.env("SOURCE_DATE_EPOCH", epoch).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{epoch}: {stderr}");
    }
    let document = project.path().join("docs/adr/0001-one.md");
    for (edition, seconds) in [253_402_300_799, 253_402_300_800, 900_000_000_000].iter().enumerate()
    {
        // The size is the same each time, so only the time and the bytes differ.
        project.write("docs/adr/0001-one.md", format!("# One {edition}\n"));
        let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(*seconds);
        let file = std::fs::File::options().append(true).open(&document).unwrap();
        // Some file systems do not support such times.
        file.set_modified(time).ok();
        project.build();
        let digest = project.read("knowledge/adrs.md");
        assert!(digest.contains(&format!("One {edition}")), "{digest}");
    }
    // A log line with such a time.
    let line = |time: &str| {
        format!(
            "{{\"timestamp\":\"{time}\",\"session_id\":\"s\",\"event\":\"SessionStart\",\"tier\":\"identity\",\"source\":\"blue://context/session\",\"tokens\":1,\"bytes\":1,\"hash\":\"x\",\"outcome\":\"delivered\"}}\n"
        )
    };
    let lines = ["9999-12-31T23:59:59Z", "10000-01-01T00:00:00Z", "9999-12-30T21:59:59Z"].map(line);
    project.write(".blue/local/audit.jsonl", lines.concat());
    for arguments in
        [&["context"][..], &["context", "show"], &["context", "log", "--since", "99999999999d"]]
    {
        let output = project.blue(arguments);
        assert!(!output.stderr.contains("this is a bug"), "{arguments:?}: {}", output.stderr);
    }
}
