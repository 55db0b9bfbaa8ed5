//! The real binary: flags, exit codes, manners, and what happens to bad input.

use crate::support;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

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
fn a_build_in_git_is_dated_by_its_commit_and_a_later_commit_is_no_diff() {
    let project = Project::with_two_decisions();
    project.git(&["init", "-q"]);
    project.git(&["add", "docs"]);
    project.git(&["commit", "-qm", "documents"]);
    project.build();
    let digest = project.read("knowledge/adrs.md");
    assert!(
        digest.contains(
            "Generated: 2026-01-25T12:00:00Z\nSource: docs/adr/*.md (2 documents)\nCommit: "
        ),
        "{digest}"
    );
    assert!(project.read(".blue/context/session.md").starts_with("<blue-session"));
    assert!(!project.read(".blue/context/session.md").contains("2026"));
    project.git(&["add", "."]);
    project.git(&["commit", "-qm", "knowledge"]);
    assert_eq!(project.git(&["status", "--porcelain"]), "");
    project.blue(&["knowledge", "build", "--force"]);
    assert_eq!(project.git(&["status", "--porcelain"]), "", "build, commit, build is no diff");
    assert_eq!(project.blue(&["knowledge", "build", "--check"]).code, 0);
}

#[test]
fn a_clone_elsewhere_gives_the_same_bytes() {
    let one = Project::with_two_decisions();
    let other = Project::with_two_decisions();
    one.build();
    let mut command = other.command(&["knowledge", "build", "--jobs", "3"]);
    command.env("TZ", "Asia/Tokyo").env("LC_ALL", "tr_TR.UTF-8").env("HOME", "/nonexistent");
    assert!(command.stderr(Stdio::null()).status().unwrap().success());
    assert_eq!(one.files(), other.files());
}

#[test]
fn source_date_epoch_is_honoured() {
    let project = Project::with_two_decisions();
    let mut command = project.command(&["knowledge", "build"]);
    assert!(
        command.env("SOURCE_DATE_EPOCH", "0").stderr(Stdio::null()).status().unwrap().success()
    );
    assert!(project.read("knowledge/adrs.md").contains("Generated: 1970-01-01T00:00:00Z\n"));
}

#[test]
fn an_unchanged_build_writes_nothing_at_all() {
    let project = Project::with_two_decisions();
    project.build();
    let before = project.stamps();
    let output = project.build();
    assert!(output.stderr.contains("nothing to do"), "{}", output.stderr);
    assert_eq!(project.stamps(), before);
}

#[test]
fn one_changed_document_rewrites_only_what_it_reaches() {
    let project = Project::with_two_decisions();
    project.write("docs/rfcs/0001-other.md", "# RFC 1: Other\n\n- Status: draft\n\nOther.\n");
    project.build();
    let before = project.files();
    project
        .write("docs/rfcs/0001-other.md", "# RFC 1: Other\n\n- Status: draft\n\nQuite another.\n");
    let output = project.blue(&["knowledge", "build", "--explain"]);
    let after = project.files();
    assert_eq!(before["knowledge/adrs.md"], after["knowledge/adrs.md"]);
    assert_ne!(before["knowledge/rfcs.md"], after["knowledge/rfcs.md"]);
    assert!(
        output.stdout.contains("knowledge/adrs.md: current: nothing that decides it changed"),
        "{}",
        output.stdout
    );
    assert!(
        output.stdout.contains("knowledge/rfcs.md: docs/rfcs/0001-other.md changed"),
        "{}",
        output.stdout
    );
}

#[test]
fn an_edit_that_keeps_size_and_time_is_noticed() {
    let project = Project::with_two_decisions();
    let path = project.path().join("docs/adr/0001-use-rust.md");
    let old = SystemTime::now() - Duration::from_secs(3_600);
    let set = |time| {
        std::fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap()
    };
    set(old);
    project.build();
    let text = project.read("docs/adr/0001-use-rust.md").replace("We use Rust.", "We use Ruby.");
    project.write("docs/adr/0001-use-rust.md", text);
    set(old);
    project.build();
    assert!(project.read("knowledge/adrs.md").contains("Ruby"));
}

#[test]
fn a_file_over_the_limit_is_read_once_it_shrinks() {
    let project = Project::with_two_decisions();
    project.write(".blue/config.yaml", "limits: {document_bytes: 1000}\n");
    project.write("docs/adr/0003-large.md", format!("# 3. Large\n\n{}", "x".repeat(2_000)));
    let output = project.build();
    assert!(
        output
            .stderr
            .contains("docs/adr/0003-large.md: warning: 2012 bytes are over the limit of 1000"),
        "{}",
        output.stderr
    );
    project.write("docs/adr/0003-large.md", "# 3. Large\n\nSmall now.\n");
    project.build();
    assert!(project.read("knowledge/adrs.md").contains("Small now"));
}

#[test]
fn check_tells_stale_edited_missing_and_orphaned_apart() {
    let project = Project::with_two_decisions();
    project.write("docs/rfcs/0001-gone.md", "# RFC 1: Gone\n\n- Status: draft\n\nGone.\n");
    project.build();
    project.write(
        "docs/adr/0001-use-rust.md",
        "# 1. Use Rust\n\n## Status\n\nAccepted\n\n## Decision\n\nWe use Rust 2024.\n",
    );
    std::fs::remove_file(project.path().join("docs/rfcs/0001-gone.md")).unwrap();
    std::fs::remove_file(project.path().join(".blue/context/relevance.jsonl")).unwrap();
    let edited = project.read(".blue/context/session.md").replace("Rust", "rust");
    project.write(".blue/context/session.md", edited);
    let before = project.stamps();
    let output = project.blue(&["knowledge", "build", "--check"]);
    assert_eq!(output.code, 1);
    for expected in [
        "knowledge/adrs.md: error: stale",
        "knowledge/rfcs.md: error: no document asks for it any more",
        ".blue/context/session.md: error: edited by hand",
        ".blue/context/relevance.jsonl: error: missing",
        ".blue/context.manifest.yaml: error: stale",
    ] {
        assert!(output.stderr.contains(expected), "{expected}: {}", output.stderr);
    }
    assert_eq!(project.stamps(), before, "--check writes nothing");
    project.build();
    assert!(!project.exists("knowledge/rfcs.md"), "an orphan is removed");
    assert_eq!(project.blue(&["knowledge", "build", "--check"]).code, 0);
}

#[test]
fn every_flipped_byte_is_noticed() {
    let project = Project::with_two_decisions();
    project.build();
    for path in [
        "knowledge/adrs.md",
        ".blue/context/session.md",
        ".blue/context/documents.jsonl",
        ".blue/context.manifest.yaml",
    ] {
        let file = project.path().join(path);
        let bytes = std::fs::read(&file).unwrap();
        for i in (0..bytes.len()).step_by(bytes.len() / 40 + 1) {
            let mut flipped = bytes.clone();
            flipped[i] ^= 1;
            project.write(path, &flipped);
            let output = project.blue(&["knowledge", "build", "--check"]);
            assert_eq!(output.code, 1, "byte {i} of {path}");
        }
        project.write(path, &bytes);
    }
}

#[test]
fn a_hand_edit_is_kept_before_it_is_replaced() {
    let project = Project::with_two_decisions();
    project.build();
    let edited = project.read("knowledge/adrs.md") + "My own words.\n";
    project.write("knowledge/adrs.md", &edited);
    let output = project.build();
    assert!(
        output.stderr.contains("so edited by hand; the edit is kept in .blue/local/rescued/"),
        "{}",
        output.stderr
    );
    assert!(!project.read("knowledge/adrs.md").contains("My own words"));
    let copies = support::entries(&project.path().join(".blue/local/rescued"));
    assert_eq!(std::fs::read_to_string(&copies[0]).unwrap(), edited);
}

#[test]
fn a_file_blue_did_not_make_is_never_overwritten() {
    let project = Project::with_two_decisions();
    project.write(".blue/context/session.md", "mine\n");
    let output = project.blue(&["knowledge", "build"]);
    assert_eq!(output.code, 2);
    assert!(
        output.stderr.contains(".blue/context/session.md was not made by blue"),
        "{}",
        output.stderr
    );
    assert_eq!(project.read(".blue/context/session.md"), "mine\n");
    assert!(
        !project.exists("knowledge/adrs.md") && !project.exists(".blue/context.manifest.yaml"),
        "nothing changed"
    );
}

#[test]
fn a_bad_configuration_stops_before_anything_is_written() {
    for (text, expected) in [
        ("identty: {}\n", ".blue/config.yaml:1: unknown key `identty` at $.identty"),
        ("identity:\n  max_tokens: lots\n", ".blue/config.yaml:2: \"lots\" is not of type"),
        ("a: [\n", ".blue/config.yaml:"),
        ("version: 1\nversion: 1\n", ".blue/config.yaml:2: duplicate"),
        ("documents:\n  - type: adr\n    paths: [\"../x/*.md\"]\n", "leaves the project"),
        ("documents:\n  - type: adr\n    paths: [\"secret/*.md\"]\n", "deny-list"),
        ("identity: {max_tokens: 3}\n", "the budget leaves"),
        ("security: {deny: [\"a[\"]}\n", "security.deny"),
    ] {
        let project = Project::with_two_decisions();
        project.write(".blue/config.yaml", text);
        let output = project.blue(&["knowledge", "build"]);
        assert_eq!(output.code, 2, "{text}: {}", output.stderr);
        assert!(output.stderr.contains(expected), "{text}: {}", output.stderr);
        assert!(!project.exists("knowledge"), "{text}: nothing is written");
    }
}

#[test]
fn a_template_can_be_overridden_and_its_error_names_file_and_line() {
    let project = Project::with_two_decisions();
    project.write(
        ".blue/templates/digest.md",
        "{% for entry in entries %}\n* {{ entry.head }}\n{% endfor %}\n",
    );
    project.build();
    assert!(project.read("knowledge/adrs.md").ends_with("* 0001 Use Rust\n* 0002 Use YAML\n"));
    project.write(".blue/templates/digest.md", "one\n{{ nobody }}\n");
    let output = project.blue(&["knowledge", "build"]);
    assert_eq!(output.code, 2);
    assert!(
        output.stderr.contains(".blue/templates/digest.md:2: undefined value"),
        "{}",
        output.stderr
    );
}

#[test]
fn links_out_of_the_project_are_not_followed_and_special_files_are_not_read() {
    let outside = Project::new();
    outside.write("private.md", "# Private\n\nOutside words.\n");
    let project = Project::with_two_decisions();
    let adr = |name: &str| project.path().join("docs/adr").join(name);
    symlink(outside.path().join("private.md"), adr("0003-outside.md")).unwrap();
    symlink(adr("0004-loop.md"), adr("0004-loop.md")).unwrap();
    symlink("0001-use-rust.md", adr("0005-inside.md")).unwrap();
    symlink(outside.path(), adr("folder")).unwrap();
    assert!(
        std::process::Command::new("mkfifo").arg(adr("0006-pipe.md")).status().unwrap().success()
    );
    let output = project.build();
    for expected in [
        "0003-outside.md: warning: the symbolic link leads out of the project",
        "0004-loop.md: warning: the symbolic link leads nowhere, or in a circle",
        "0006-pipe.md: warning: it is not a regular file",
    ] {
        assert!(output.stderr.contains(expected), "{expected}: {}", output.stderr);
    }
    assert!(!project.read(".blue/context/documents.jsonl").contains("Private"));
    assert!(!project.read("knowledge/adrs.md").contains("Outside words"));
    project.write(".blue/config.yaml", "security: {allow_external: true}\n");
    assert_eq!(project.blue(&["trust"]).code, 0);
    project.build();
    assert!(project.read("knowledge/adrs.md").contains("Outside words"));
}

#[test]
fn nothing_is_written_through_a_link() {
    for (link, folder) in [
        ("knowledge", true),
        (".blue", true),
        (".blue/context", true),
        ("knowledge/adrs.md", false),
    ] {
        let outside = Project::new();
        outside.write("file.md", "theirs\n");
        let project = Project::with_two_decisions();
        let at = project.path().join(link);
        std::fs::create_dir_all(at.parent().unwrap()).unwrap();
        let target =
            if folder { outside.path().to_path_buf() } else { outside.path().join("file.md") };
        symlink(target, &at).unwrap();
        let before = outside.files();
        let output = project.blue(&["knowledge", "build"]);
        assert_eq!(output.code, 2, "{link}: {}", output.stderr);
        assert_eq!(outside.files(), before, "{link}");
    }
}

#[test]
fn what_git_ignores_is_no_document() {
    let project = Project::with_two_decisions();
    project.write(".gitignore", "*.tmp.md\n/private/\n");
    project.write("docs/adr/.gitignore", "0009-*\n!0009-kept.md\n");
    project.write("docs/adr/0008-x.tmp.md", "# Ignored\n");
    project.write("docs/adr/0009-x.md", "# Ignored too\n");
    project.write("docs/adr/0009-kept.md", "# Kept\n");
    project.write("private/docs/adr/0001-x.md", "# Private\n");
    project.build();
    let index = project.read(".blue/context/documents.jsonl");
    assert!(
        index.contains("0009-kept.md") && !index.contains("gnored") && !index.contains("rivate"),
        "{index}"
    );
}

#[test]
fn a_damaged_cache_or_manifest_is_rebuilt() {
    let project = Project::with_two_decisions();
    project.build();
    let clean = project.files();
    for (path, bytes) in [
        (".blue/local/record", &b"garbage"[..]),
        (
            ".blue/local/facts",
            &b"blue facts 0.1.0 1\ngarbage garbage garbage garbage garbage garbage garbage garbage"
                [..],
        ),
        (".blue/local/txn/record", &b"{}"[..]),
        (
            ".blue/context.manifest.yaml",
            &b"# Regenerate: x\n<<<<<<< HEAD\ninputs: 1\n=======\n>>>>>>> x\n"[..],
        ),
    ] {
        project.write(path, bytes);
        project.write("docs/adr/0002-use-yaml.md", project.read("docs/adr/0002-use-yaml.md"));
        project.build();
        assert_eq!(project.files(), clean, "{path}");
    }
}

#[test]
fn hostile_text_ends_in_bounded_time() {
    let n = 20_000;
    let project = Project::with_two_decisions();
    project.write(".blue/config.yaml", "limits: {document_bytes: 60000000}\n");
    for (i, text) in [
        ">".repeat(n) + "x",
        "[".repeat(n) + "x",
        "![".repeat(n),
        "*a_".repeat(n),
        "`".repeat(n),
        "- ".repeat(n),
        "<".repeat(n),
        "[a](".repeat(n),
        "| a ".repeat(n) + "\n" + &"|---".repeat(n) + "\n",
        "RFC 1, ".repeat(n),
        "[x](0001-use-rust.md) ".repeat(n),
        format!(
            "---\na: &a [x]\n{}---\n",
            (0..30).map(|i| format!("b{i}: &b{i} [*a, *a]\n")).collect::<String>()
        ),
        format!("---\n{}\n---\n", "[".repeat(n)),
        "line ".repeat(400_000),
    ]
    .into_iter()
    .enumerate()
    {
        project.write(&format!("docs/adr/{:04}-hostile.md", i + 10), text);
    }
    let output = project.build();
    assert!(output.stderr.contains("16 documents"), "{}", output.stderr);
}

#[test]
fn eight_builds_at_once_agree() {
    let project = Project::with_two_decisions();
    for i in 3..40 {
        project.write(
            &format!("docs/adr/{i:04}-more.md"),
            format!("# {i}. More {i}\n\n## Status\n\nAccepted\n"),
        );
    }
    let children: Vec<_> = (0..8)
        .map(|_| {
            project
                .command(&["knowledge", "build"])
                .stdout(Stdio::null())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    assert_eq!(project.blue(&["knowledge", "build", "--check"]).code, 0);
}

#[test]
fn a_tree_that_cannot_be_written_gives_one_clear_message() {
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
fn findings_are_written_for_people_and_for_machines() {
    let project = Project::with_two_decisions();
    project.write("docs/adr/0003-broken.md", "# 3. Broken\n\nSee [x](0099-gone.md).\n");
    let lint = project.blue(&["knowledge", "lint"]);
    assert_eq!(lint.code, 1);
    assert!(lint.stdout.contains("docs/adr/0003-broken.md:3:5: warning: no document at \"0099-gone.md\" [BLUE-REF-001]\n  hint: "), "{}", lint.stdout);
    let json: serde_json::Value =
        serde_json::from_str(&project.blue(&["knowledge", "lint", "--format", "json"]).stdout)
            .unwrap();
    assert_eq!(json["diagnostics"][0]["code"], "BLUE-REF-001");
    let github = project.blue(&["knowledge", "lint", "--format", "github"]).stdout;
    assert!(
        github.starts_with(
            "::warning file=docs/adr/0003-broken.md,line=3,col=5,title=BLUE-REF-001::"
        ),
        "{github}"
    );
    let sarif: serde_json::Value =
        serde_json::from_str(&project.blue(&["knowledge", "lint", "--format", "sarif"]).stdout)
            .unwrap();
    assert_eq!(sarif["version"], "2.1.0");
    let location = &sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
    assert_eq!(location["region"]["startLine"], 3);
    assert_eq!(project.blue(&["knowledge", "build"]).code, 0, "warnings do not fail a build");
}

#[test]
fn init_adopts_a_repository_and_overwrites_nothing() {
    let project = Project::with_two_decisions();
    project.git(&["init", "-q"]);
    let output = project.blue(&["init"]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    assert!(
        output.stdout.contains("found    2 documents in docs/adr/*.md (adr)"),
        "{}",
        output.stdout
    );
    assert!(project.read(".blue/config.yaml").contains("project: \"a project\""));
    assert_eq!(project.blue(&["schema", "validate", ".blue/config.yaml"]).code, 0);
    assert_eq!(project.blue(&["knowledge", "build", "--check"]).code, 0);
    let ignored = project.git(&["status", "--porcelain", "--untracked-files=all"]);
    assert!(!ignored.contains(".blue/local"), "{ignored}");
    let mut hook = Command::new("sh");
    hook.arg(".blue/hooks/session-start").current_dir(project.path());
    let hook = project.isolate(&mut hook).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&hook.stdout), project.read(".blue/context/session.md"));
    let before = project.files();
    let again = project.blue(&["init"]);
    assert_eq!(again.code, 0, "{}", again.stderr);
    assert!(again.stdout.contains("kept     .blue/config.yaml"), "{}", again.stdout);
    assert_eq!(project.files(), before);
}

#[test]
fn one_thing_is_counted_in_the_singular_everywhere() {
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
        "blue: took 1 entry out of ",
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
fn what_comes_next_can_be_typed_as_it_is_printed() {
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

#[test]
fn a_build_reports_each_warning_once_and_then_counts_it() {
    let project = Project::new();
    let broken = |name: &str| format!("# T\n\n## Status\n\nAccepted\n\nSee [x]({name}.md).\n");
    project.write("docs/adr/0001-a.md", broken("one")).write("docs/adr/0002-b.md", broken("two"));
    let build = |arguments: &[&str]| {
        let output = project.blue(&[&["knowledge", "build"], arguments].concat());
        assert_eq!(output.code, 0, "{}", output.stderr);
        let lines = output.stderr.lines().filter(|line| line.contains(": warning: ")).count();
        (lines, output.stderr.lines().last().unwrap_or_default().to_string(), output.stdout)
    };
    assert_eq!(build(&[]).0, 2);
    // Another line in front moves a finding and does not make it new.
    project.write("docs/adr/0001-a.md", broken("one").replace("See", "More.\n\nSee"));
    let (n, last, _) = build(&[]);
    assert!(
        n == 0 && last.ends_with("; 2 warnings, 2 of them reported before (blue knowledge lint)"),
        "{n} {last}"
    );
    project.write("docs/adr/0003-c.md", broken("three"));
    let (n, last, _) = build(&[]);
    assert!(n == 1 && last.contains("; 3 warnings, 2 of them reported before"), "{n} {last}");
    assert_eq!(build(&["--force"]).0, 0);
    assert_eq!(build(&["--check"]).0, 3);
    let json = build(&["--force", "--format", "json"]).2;
    assert_eq!(json.matches("\"code\"").count(), 3, "{json}");
    assert_eq!(build(&["--force", "--format", "github"]).2.matches("::warning").count(), 3);
    let lint = project.blue(&["knowledge", "lint"]).stdout;
    assert_eq!(lint.matches(": warning: ").count(), 3, "{lint}");
    // What fails a build is always shown; and what was gone is new when it comes back.
    project.write(".blue/config.yaml", "diagnostics: {BLUE-REF-001: error}\n");
    for _ in 0..2 {
        let failed = project.blue(&["knowledge", "build", "--force"]);
        assert_eq!(failed.stderr.matches(": error: ").count(), 3, "{}", failed.stderr);
    }
    project.write(".blue/config.yaml", "diagnostics: {BLUE-REF-001: off}\n");
    build(&[]);
    project.write(".blue/config.yaml", "");
    assert_eq!(build(&[]).0, 3);
}

#[test]
fn a_manifest_from_before_is_moved_into_the_configuration() {
    let project = Project::with_two_decisions();
    let older = "version: 1\nidentity:\n  - uri: blue://docs/adrs/\nworkflow:\n  sources:\n    - uri: blue://state/current-rfc\n  max_tokens: 1234\n";
    project.write(".blue/context.manifest.yaml", older);
    let output = project.blue(&["knowledge", "build"]);
    assert_eq!(output.code, 2);
    assert!(output.stderr.contains("written by hand"), "{}", output.stderr);
    assert_eq!(project.read(".blue/context.manifest.yaml"), older);
    let output = project.blue(&["init"]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    assert!(project.read(".blue/config.yaml").contains("max_tokens: 1234"));
    assert_eq!(project.read(".blue/context.manifest.old.yaml"), older);
    assert!(project.read(".blue/context.manifest.yaml").contains("checksum: blake3:"));
}

#[test]
fn schema_errors_name_file_line_and_path() {
    let project = Project::with_two_decisions();
    project.write("config.yaml", "version: 1\ntokens:\n  margin_percent: 500\n");
    let output = project.blue(&["schema", "validate", "config.yaml"]);
    assert_eq!(output.code, 1);
    assert!(
        output.stderr.contains(
            "config.yaml:3: 500 is greater than the maximum of 90 at $.tokens.margin_percent"
        ),
        "{}",
        output.stderr
    );
    assert!(project.blue(&["schema", "print", "config"]).stdout.contains("\"blue configuration\""));
}

/// Every document's address, by path.
fn addresses(project: &Project) -> std::collections::BTreeMap<String, String> {
    let lines = project.read(".blue/context/documents.jsonl");
    let lines = lines.lines().skip(1).map(|line| {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let text = |key: &str| line[key].as_str().unwrap().to_string();
        (text("path"), text("uri"))
    });
    lines.collect()
}

fn notes_project(paths: &[&str]) -> Project {
    let project = Project::new();
    let config = "documents:\n  - type: note\n    paths: [\"*/notes/*.md\"]\nidentity:\n  sources: [\"blue://docs/notes/focus\"]\n";
    project.write(".blue/config.yaml", config);
    for path in paths {
        project.write(path, format!("# Of {path}\n\nText of {path}.\n"));
    }
    project
}

#[test]
fn a_second_document_of_one_name_takes_no_address_over() {
    let project = notes_project(&["b/notes/focus.md"]);
    project.write("c/notes/other.md", "# Other\n\nSee blue://docs/notes/focus for it.\n");
    project.build();
    let short = "blue://docs/notes/focus";
    assert!(
        project.blue(&["knowledge", "show", short]).stdout.contains("Text of b/notes/focus.md")
    );
    project.write("a/notes/focus.md", "# New\n\nText of a.\n");
    let built = project.build();
    let long = |name: &str| format!("blue://docs/notes/{name}-notes-focus");
    for name in ["a", "b"] {
        let finding = format!("{name}/notes/focus.md: warning: ");
        assert!(built.stderr.contains(&finding), "{}", built.stderr);
        assert!(built.stderr.contains(&long(name)), "{}", built.stderr);
        let shown = project.blue(&["knowledge", "show", &long(name)]);
        assert!(shown.stdout.contains(&format!("Text of {name}")), "{shown:?}");
    }
    assert_eq!(built.stderr.matches("[BLUE-ID-002]").count(), 2, "{}", built.stderr);
    // The short address means neither, for a reader as for a document.
    for address in [short, "blue://note/focus"] {
        let shown = project.blue(&["knowledge", "show", address]);
        assert_eq!((shown.code, shown.stdout.as_str()), (2, ""), "{address}: {shown:?}");
        assert!(["a", "b"].iter().all(|n| shown.stderr.contains(&long(n))), "{shown:?}");
    }
    for place in ["c/notes/other.md:3", ".blue/config.yaml: "] {
        let line = built.stderr.lines().find(|line| line.starts_with(place)).unwrap();
        assert!(["a", "b"].iter().all(|n| line.contains(&format!("{n}/notes/focus.md"))), "{line}");
        assert!(line.contains("[BLUE-REF-002]"), "{line}");
    }
}

#[test]
fn the_address_of_a_contested_name_depends_on_its_path_alone() {
    let all = [
        "a/notes/focus.md",
        "b/notes/focus.md",
        "b/notes/focus.draft.md",
        "c/notes/notes-focus.md",
        "c/notes/2026-01-25-standup.md",
        "c/notes/2026-02-01-standup.md",
    ];
    let whole = notes_project(&all);
    whole.build();
    let known = addresses(&whole);
    let unique: std::collections::BTreeSet<&String> = known.values().collect();
    assert_eq!(unique.len(), all.len(), "{known:?}");
    assert_eq!(known[all[4]], "blue://docs/notes/2026-01-25-standup");
    // However many there are, in whichever order they came, an address never means two things.
    for left_out in all {
        let fewer: Vec<&str> = all.iter().copied().filter(|path| *path != left_out).collect();
        let project = notes_project(&fewer);
        project.build();
        for (path, uri) in addresses(&project) {
            let other = known.iter().find(|(other, known)| **known == uri && **other != path);
            assert_eq!(other, None, "{uri} is {path} without {left_out}");
        }
    }
}

#[test]
fn two_documents_of_one_number_in_one_folder_are_told_apart_by_their_files() {
    let project = Project::new();
    for i in 1..=4 {
        let folder = format!("CIP-000{i}");
        project.write(&format!("{folder}/README.md"), format!("# CIP {i}\n\nStatus: Active\n"));
        project.write(&format!("{folder}/CIP-000{i}.md"), "Moved to [README](README.md).\n");
    }
    let config = "documents:\n  - {type: cip, paths: [\"CIP-*/*.md\"]}\n";
    project.write(".blue/config.yaml", config);
    project.build();
    let known = addresses(&project);
    assert_eq!(known["CIP-0001/README.md"], "blue://docs/cips/cip-0001-readme");
    assert_eq!(known["CIP-0001/CIP-0001.md"], "blue://docs/cips/cip-0001-cip-0001");
}

#[test]
fn two_rfcs_of_one_name_in_two_collections_have_two_bundles() {
    let project = Project::new();
    let entry =
        |name: &str| format!("  - {{type: rfc, collection: {name}, paths: [\"{name}/*.md\"]}}\n");
    let config = format!("documents:\n{}{}", entry("one"), entry("two"));
    project.write(".blue/config.yaml", config);
    project.write("one/0001-x.md", "# RFC 1: A\n\n- Status: draft\n\nText one.\n");
    project.build();
    assert!(project.exists(".blue/context/workflow/0001-x.md"));
    project.write("two/0001-x.md", "# RFC 1: B\n\n- Status: draft\n\nText two.\n");
    project.build();
    assert!(!project.exists(".blue/context/workflow/0001-x.md"));
    for (name, title) in [("one", "A"), ("two", "B")] {
        let text = project.read(&format!(".blue/context/workflow/{name}.0001-x.md"));
        assert!(text.contains(title), "{text}");
    }
    assert_eq!(project.blue(&["knowledge", "build", "--check"]).code, 0);
}

/// A manifest as the first description of the format writes it: settings follow a list in one column.
const SAMPLE: &str = r#"# .blue/context.manifest.yaml
version: 1
generated_at: 2026-01-25T12:00:00Z
source_commit: abc123

identity:
  - uri: blue://docs/adrs/
  - uri: blue://context/voice
  max_tokens: 480

workflow:
  sources:
    - uri: blue://state/current-rfc
    - uri: blue://docs/rfcs/{active}
  refresh_triggers:
    - on_rfc_change
    - every_10_turns
  max_tokens: 1900

reference:
  graph: blue://context/relevance
  max_tokens: 3900
  staleness_days: 30

plugins:
  - uri: blue://jira/
    provides: [ticket-context, acceptance-criteria]
    salience_triggers:
      - commit_msg_pattern: "^[A-Z]+-\\d+"
      - file_annotation: "@jira"
"#;

#[test]
fn the_first_sample_of_a_manifest_is_moved_whole_into_the_configuration() {
    for sample in [SAMPLE.to_string(), SAMPLE.replace('\n', "\r\n"), format!("\u{feff}{SAMPLE}")] {
        let project = Project::with_two_decisions();
        project.write(".blue/context.manifest.yaml", &sample);
        let output = project.blue(&["init"]);
        assert_eq!(output.code, 0, "{}", output.stderr);
        assert_eq!(project.read(".blue/context.manifest.old.yaml"), sample);
        let config: serde_json::Value =
            serde_yaml::from_str(&project.read(".blue/config.yaml")).unwrap();
        assert_eq!(config["identity"]["max_tokens"], 480);
        assert_eq!(config["identity"]["sources"][1], "blue://context/voice");
        assert_eq!(config["workflow"]["refresh_triggers"][1], "every_10_turns");
        assert_eq!(config["reference"]["max_tokens"], 3900);
        let plugin = &config["plugins"][0];
        assert_eq!(plugin["uri"], "blue://jira/");
        assert_eq!(plugin["salience_triggers"][0]["commit_msg_pattern"], "^[A-Z]+-\\d+");
        let manifest = project.read(".blue/context.manifest.yaml");
        assert!(manifest.contains("plugins:\n- jira\n"), "{manifest}");
        let warning = "warning: the plugin `jira` is registered, not run";
        let linted = project.blue(&["knowledge", "lint"]);
        assert!(linted.stdout.contains(warning), "{}", linted.stdout);
        assert_eq!(project.blue(&["knowledge", "build", "--check"]).code, 0);
    }
}

#[test]
fn a_manifest_that_cannot_be_moved_is_named_with_its_line_and_nothing_is_written() {
    for (text, place) in [
        (SAMPLE.replace("\n  ", "\n"), ":18: duplicate"),
        (SAMPLE.replace("480", "many"), ":9: "),
        (SAMPLE.replace("every_10_turns", "at_noon"), ":17: unknown trigger"),
        (SAMPLE.replace("blue://jira/", "blue://docs/"), ":26: `docs` is blue's own"),
        (SAMPLE.replace("uri: blue://jira/", "title: Jira"), ":26: "),
        (SAMPLE.replace("identity:\n", "identity: {\n"), ":"),
    ] {
        let project = Project::with_two_decisions();
        project.write(".blue/context.manifest.yaml", &text);
        let before = project.files();
        let output = project.blue(&["init"]);
        assert_eq!(output.code, 2, "{place}: {}", output.stdout);
        let start = format!("blue: error: .blue/context.manifest.yaml{place}");
        assert!(output.stderr.starts_with(&start), "{place}: {}", output.stderr);
        assert_eq!(project.files(), before, "{place}");
    }
}

#[test]
fn what_an_older_manifest_says_and_blue_does_not_know_is_kept_and_told() {
    let project = Project::with_two_decisions();
    let text = SAMPLE.replace("  max_tokens: 1900\n", "  max_tokens: 1900\n  injection: auto\n");
    project.write(".blue/context.manifest.yaml", text);
    let output = project.blue(&["init"]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    let told = "unknown  .blue/context.manifest.old.yaml:19: workflow.injection";
    assert!(output.stdout.contains(told), "{}", output.stdout);
    assert!(project.read(".blue/config.yaml").contains("# workflow.injection: \"auto\"\n"));
}

#[test]
fn init_that_cannot_build_leaves_everything_as_it_was() {
    type Prepare = fn(&Project);
    let obstacles: [(&str, Prepare); 5] = [
        ("a foreign digest", |project| {
            project.write("knowledge/adrs.md", "My own notes.\n");
        }),
        ("a file for a folder", |project| {
            project.write("knowledge", "not a folder\n");
        }),
        ("a link", |project| {
            project.write("elsewhere/x", "x");
            symlink("elsewhere/x", project.path().join("knowledge")).unwrap();
        }),
        ("an older manifest", |project| {
            project.write("knowledge/adrs.md", "My own notes.\n");
            project.write(".blue/context.manifest.yaml", "identity:\n  - uri: blue://docs/adrs/\n");
        }),
        ("attributes and scripts", |project| {
            project.write("knowledge/adrs.md", "My own notes.\n");
            project.write(".gitattributes", "*.png binary\n");
            project.write(".blue/hooks/session-start", "#!/bin/sh\nexit 0\n");
        }),
    ];
    for (what, prepare) in obstacles {
        let project = Project::with_two_decisions();
        prepare(&project);
        let before: Vec<String> = project.stamps().into_keys().collect();
        let (files, had_blue) = (project.files(), project.exists(".blue"));
        let output = project.blue(&["init"]);
        assert_eq!(output.code, 2, "{what}: {}{}", output.stdout, output.stderr);
        assert!(!output.stdout.contains("wrote"), "{what}: {}", output.stdout);
        assert!(files == project.files(), "{what}: a file changed");
        assert_eq!(before, project.stamps().into_keys().collect::<Vec<_>>(), "{what}");
        assert_eq!(had_blue, project.exists(".blue"), "{what}");
    }
}

#[test]
fn plugins_are_checked_and_said_not_to_run() {
    let project = Project::with_two_decisions();
    let config = "version: 1\nplugins:\n  - x\n  - {name: tickets, provides: [a]}\n";
    project.write(".blue/config.yaml", config);
    let output = project.build();
    for (line, name) in [(3, "x"), (4, "tickets")] {
        let finding = format!(
            ".blue/config.yaml:{line}:1: warning: the plugin `{name}` is registered, not run"
        );
        assert!(output.stderr.contains(&finding), "{}", output.stderr);
    }
    assert_eq!(output.stderr.matches("[BLUE-PLG-001]").count(), 2, "{}", output.stderr);
    for (wrong, message) in [
        ("[../x]", "../x"),
        ("[X Y]", "X Y"),
        ("[\"\"]", "does not match"),
        ("[3]", "3"),
        ("[{provides: [a]}]", "a plugin needs a name"),
        ("[{name: a, run: sh}]", "unknown key `run`"),
        ("[rfc]", "`rfc` is blue's own"),
        ("[a, {uri: \"blue://a/\"}]", "registered twice"),
        ("[{uri: \"https://x/\"}]", "https://x/"),
        ("x", "array"),
    ] {
        project.write(".blue/config.yaml", format!("version: 1\nplugins: {wrong}\n"));
        let output = project.blue(&["knowledge", "build"]);
        assert_eq!(output.code, 2, "{wrong}: {}", output.stderr);
        let start = "blue: error: .blue/config.yaml:2: ";
        assert!(output.stderr.starts_with(start), "{wrong}: {}", output.stderr);
        assert!(output.stderr.contains(message), "{wrong}: {}", output.stderr);
    }
}

/// Runs a build under limits of the shell.
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
    // Deep templates end with an error, on a small stack too.
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
fn times_at_the_end_of_the_year_9999_and_beyond_are_only_times() {
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
        // Of the same size each time, so that only its time and its bytes tell.
        project.write("docs/adr/0001-one.md", format!("# One {edition}\n"));
        let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(*seconds);
        let file = std::fs::File::options().append(true).open(&document).unwrap();
        // Some file systems end sooner.
        file.set_modified(time).ok();
        project.build();
        let digest = project.read("knowledge/adrs.md");
        assert!(digest.contains(&format!("One {edition}")), "{digest}");
    }
    // A line of the log from that day.
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
