//! Symbolic links, special files and folders that are swapped during a build.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rustix::fs::{CWD, RenameFlags, renameat_with};

use super::{SECRET, WIDE, assert_no_leak, run};
use crate::support;
use crate::support::Project;

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
        "0003-outside.md: warning: the symbolic link points outside the project",
        "0004-loop.md: warning: the symbolic link is broken or part of a loop",
        "0006-pipe.md: warning: not a regular file",
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
fn no_artifact_is_written_through_a_link() {
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
fn a_link_to_a_denied_file_is_denied() {
    let project = Project::with("docs/adr/0001-one.md", "# One\n\nText.\n");
    project.write(".env", "TOKEN=hunter2\n");
    symlink("../../.env", project.path().join("docs/adr/0002-x.md")).unwrap();
    let output = project.build();
    assert!(output.stderr.contains("deny-list"), "{}", output.stderr);
    for (path, bytes) in project.files() {
        let own = [".env", "docs/adr/0002-x.md"].contains(&path.as_str());
        let leaked = !own && String::from_utf8_lossy(&bytes).contains("hunter2");
        assert!(!leaked, "{path}");
    }
    let index =
        project.read(".blue/context/documents.jsonl").replace("docs/adr/0001-one.md", ".env");
    project.write(".blue/context/documents.jsonl", index);
    let shown = project.blue(&["knowledge", "show", "blue://docs/adrs/0001-one"]);
    assert!(!shown.stdout.contains("hunter2"), "{}", shown.stdout);
}

#[test]
fn a_folder_that_is_a_link_is_reported() {
    let project = Project::new();
    project.write("elsewhere/0001-one.md", "# One\n");
    std::fs::create_dir_all(project.path().join("docs")).unwrap();
    symlink("../elsewhere", project.path().join("docs/adr")).unwrap();
    let output = project.build();
    assert!(
        output.stderr.contains("docs/adr: warning: the symbolic link to a folder is not followed"),
        "{}",
        output.stderr
    );
}

#[test]
fn a_linked_folder_among_documents_is_reported() {
    let rules = |glob: &str| format!("documents: [{{type: adr, paths: [\"{glob}\"]}}]\n");
    let elsewhere = Project::new();
    elsewhere.write("adr/0003-three.md", "# Three\n");
    let outside = elsewhere.path().to_str().unwrap();
    for (config, link, to) in [
        (String::new(), "docs/adr/old", "../../old"),
        (String::new(), "docs/adr/v1.0", "../../old"),
        (String::new(), "docs/decisions", "../old"),
        (String::new(), "handbook/docs", outside),
        (rules("docs/**/*.md"), "docs/old", "../old"),
        (rules("docs/*/*.md"), "docs/v1.0", "../old"),
        (rules("*/adr/*.md"), "shared", outside),
        (rules("d{ocs,oc}/adr/x/*.md"), "docs/adr/x", "../../old"),
    ] {
        let project = Project::new();
        project.write("docs/adr/0001-one.md", "# One\n\nStatus: accepted\n");
        project.write("old/0002-two.md", "# Two\n");
        project.write(".blue/config.yaml", &config);
        std::fs::create_dir_all(project.path().join(link).parent().unwrap()).unwrap();
        symlink(to, project.path().join(link)).unwrap();
        let output = project.build();
        let finding = format!("{link}: warning: the symbolic link to a folder is not followed");
        assert!(output.stderr.contains(&finding), "{config}{link}: {}", output.stderr);
        assert!(output.stderr.contains("[BLUE-SRC-003]"), "{}", output.stderr);
    }
}

#[test]
fn a_linked_folder_that_hides_no_document_is_not_reported() {
    let rules = |glob: &str| format!("documents: [{{type: adr, paths: [\"{glob}\"]}}]\n");
    for (config, link, to) in [
        // The target is read under its own name.
        (String::new(), "docs/adr/latest", "new"),
        (String::new(), "docs/adr/here", "."),
        (String::new(), "lib", "src"),
        (String::new(), "docs/adr/picture.png", "../../src/x.png"),
        (rules("docs/adr/*.md"), "docs/adr/old", "../../src"),
        (rules("docs/**/*.md"), "lib", "src"),
        (rules("*/adr/*.md"), "lib", "src"),
    ] {
        let project = Project::new();
        project.write("docs/adr/0001-one.md", "# One\n\nStatus: accepted\n");
        project.write("docs/adr/new/0002-two.md", "# Two\n\nStatus: accepted\n");
        project.write("src/x.png", "").write(".blue/config.yaml", &config);
        symlink(to, project.path().join(link)).unwrap();
        let output = project.build();
        assert!(!output.stderr.contains("symbolic link"), "{config}{link}: {}", output.stderr);
    }
}

#[test]
fn links_and_special_files_are_classified_by_their_target() {
    let outside = Project::new();
    outside.write("0009-outside.md", format!("# S\n\n{SECRET}\n"));
    let out = outside.path().join("0009-outside.md");
    let project = Project::with("docs/adr/0001-one.md", "# One\n\nText.\n");
    let adr = project.path().join("docs/adr");
    symlink(&out, adr.join("0002-out.md")).unwrap();
    symlink("0002-out.md", adr.join("0003-link-to-link.md")).unwrap();
    symlink("0005-loop.md", adr.join("0004-loop.md")).unwrap();
    symlink("0004-loop.md", adr.join("0005-loop.md")).unwrap();
    symlink("/proc/self/environ", adr.join("0006-proc.md")).unwrap();
    symlink("/dev/zero", adr.join("0007-zero.md")).unwrap();
    symlink("/proc/self/fd/0", adr.join("0008-fd.md")).unwrap();
    symlink(adr.join("0001-one.md"), adr.join("0010-absolute.md")).unwrap();
    symlink(".", adr.join("self")).unwrap();
    symlink("/", adr.join("root")).unwrap();
    let fifo = Command::new("mkfifo").arg(adr.join("0011-fifo.md")).status().unwrap();
    assert!(fifo.success());
    std::os::unix::net::UnixListener::bind(adr.join("0012-socket.md")).unwrap();
    std::fs::create_dir(adr.join("0013-folder.md")).unwrap();
    for config in
        ["", WIDE, "documents: [{type: adr, paths: ['docs/adr/*.md', 'docs/adr/root/**/*.md']}]\n"]
    {
        project.write(".blue/config.yaml", config);
        let output = run(&project, &["knowledge", "build"]);
        assert_eq!(output.code, 0, "{}", output.stderr);
        let checked = run(&project, &["knowledge", "build", "--check"]).stderr;
        assert!(checked.contains("points outside the project"), "{checked}");
        assert_no_leak(&project, config);
        let index = project.read(".blue/context/documents.jsonl");
        assert_eq!(index.lines().count(), 2, "{index}");
    }
    for config in [
        "documents: [{type: adr, paths: ['../**/*.md']}]\n",
        "documents: [{type: adr, paths: ['/etc/*.md']}]\n",
    ] {
        project.write(".blue/config.yaml", config);
        let output = run(&project, &["knowledge", "build"]);
        assert_eq!(output.code, 2);
        assert!(output.stderr.contains("leaves the project"), "{}", output.stderr);
    }
}

#[test]
fn nothing_is_written_through_a_link() {
    for place in [
        ".blue",
        ".blue/local",
        ".blue/local/txn",
        ".blue/context",
        "knowledge",
        ".blue/context/workflow",
        ".blue/local/lock",
        ".blue/local/audit.jsonl",
        ".blue/local/state",
        ".blue/local/facts",
        ".blue/local/reported",
        ".blue/local/clients",
        "knowledge/adrs.md",
        ".blue/context/session.md",
        ".blue/context.manifest.yaml",
    ] {
        let outside = Project::new();
        let project = Project::with("docs/adr/0001-one.md", "# One\n\nText.\n");
        project.write("docs/rfcs/0001-new.md", "# RFC 1: New\n\n- Status: draft\n");
        let at = project.path().join(place);
        std::fs::create_dir_all(at.parent().unwrap()).unwrap();
        let folder = Path::new(place).extension().is_none_or(|e| e == "blue")
            && !["lock", "state", "facts", "reported"].iter().any(|n| place.ends_with(n));
        let target =
            if folder { outside.path().to_path_buf() } else { outside.path().join("made") };
        symlink(&target, &at).unwrap();
        for arguments in [
            vec!["knowledge", "build"],
            vec!["knowledge", "build", "--check"],
            vec!["init"],
            vec!["hook", "session-start"],
            vec!["session-start", "--session", "s"],
        ] {
            let output = run(&project, &arguments);
            assert!(matches!(output.code, 0..=2), "{place} {arguments:?}: {}", output.stderr);
            assert!(
                support::entries(outside.path()).is_empty(),
                "{place} {arguments:?} wrote outside"
            );
        }
    }
}

/// Swaps a folder with a link to another one repeatedly while blue runs.
fn race(project: &Project, folder: &str, outside: &Path, work: impl Fn(usize)) {
    let place = project.path().join(folder);
    let link = project.path().join("swapped");
    symlink(outside, &link).unwrap();
    let over = AtomicBool::new(false);
    let n_swaps = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                renameat_with(CWD, &place, CWD, &link, RenameFlags::EXCHANGE).ok();
                n_swaps.fetch_add(1, Ordering::Relaxed);
                // Both states must last long enough for blue to use them.
                std::thread::sleep(Duration::from_micros(
                    n_swaps.load(Ordering::Relaxed) as u64 * 37 % 900,
                ));
            }
        });
        let started = Instant::now();
        for i in 0.. {
            if started.elapsed() > Duration::from_secs(3) {
                break;
            }
            work(i);
        }
        over.store(true, Ordering::Relaxed);
    });
    println!("{folder}: {} swaps", n_swaps.into_inner());
}

#[test]
fn a_folder_swapped_for_a_link_is_not_written_through() {
    let works = |project: &Project| {
        project.write("a", "").write("b", "");
        let at = |name: &str| project.path().join(name);
        renameat_with(CWD, at("a"), CWD, at("b"), RenameFlags::EXCHANGE).is_ok()
    };
    for folder in ["knowledge", ".blue/context", ".blue/local", ".blue"] {
        let outside = Project::new();
        let project = Project::with("docs/adr/0001-one.md", "# One\n\nText.\n");
        if !works(&project) {
            println!("skipped: names cannot be exchanged here");
            return;
        }
        project.build();
        race(&project, folder, outside.path(), |i| {
            project.write("docs/adr/0001-one.md", format!("# One\n\nEdition {i}.\n"));
            let output = run(&project, &["knowledge", "build", "--force"]);
            assert!(matches!(output.code, 0 | 2), "{}", output.stderr);
            let made = support::entries(outside.path());
            assert!(made.is_empty(), "{folder}: written outside: {made:?}");
        });
    }
}

#[test]
fn a_folder_swapped_for_a_link_is_not_read_through() {
    let outside = Project::new();
    outside.write("0001-one.md", format!("# One\n\n{SECRET}\n"));
    outside.write("0002-two.md", format!("# Two\n\n{SECRET}\n"));
    let project = Project::with("docs/adr/0001-one.md", "# One\n\nText.\n");
    project.build();
    race(&project, "docs/adr", outside.path(), |_| {
        let output = run(&project, &["knowledge", "build", "--force"]);
        assert!(matches!(output.code, 0 | 2), "{}", output.stderr);
        assert_no_leak(&project, "a race");
    });
}
