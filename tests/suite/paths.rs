//! Paths that lie: links, swaps, special files and odd names. Nothing outside is read or written.

use crate::support;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::support::Project;
use rustix::fs::{CWD, RenameFlags, renameat_with};

/// What must never show in an emitted file.
const SECRET: &str = "hunter2-must-not-leak";

const WIDE: &str = "documents: [{type: adr, paths: ['**/*.md']}]\n";

/// Runs blue with a time limit: nothing may make it wait for ever.
fn run(project: &Project, arguments: &[&str]) -> support::Output {
    let mut child =
        project.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let started = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if started.elapsed() > Duration::from_secs(20) {
            child.kill().unwrap();
            panic!("{arguments:?} does not end");
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!stderr.contains("this is a bug"), "{stderr}");
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    support::Output { code: output.status.code().unwrap_or(-1), stdout, stderr }
}

fn assert_no_leak(project: &Project, what: &str) {
    for folder in ["knowledge", ".blue/context", ".blue/local"] {
        let mut open = vec![project.path().join(folder)];
        while let Some(at) = open.pop().filter(|at| at.symlink_metadata().is_ok_and(|m| m.is_dir()))
        {
            for path in support::entries(&at) {
                let kind = path.symlink_metadata().unwrap();
                if kind.is_dir() {
                    open.push(path);
                } else if kind.is_file() {
                    let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
                    assert!(!text.contains(SECRET), "{what}: {} has it", path.display());
                }
            }
        }
    }
}

#[test]
fn names_on_the_deny_list_are_not_read_in_any_case() {
    for path in [
        "docs/adr/.ENV/0002-x.md",
        "docs/adr/Secrets/0002-x.md",
        "docs/adr/ID_RSA/0002-x.md",
        "docs/adr/id_ed25519.md",
        "docs/adr/0002-my-CREDENTIALS.md",
        "docs/adr/.Env.Local/x.md",
        ".SSH/0002-x.md",
        ".aws/0002-x.md",
        "keys.PEM/0002-x.md",
        "server.Key/x.md",
    ] {
        let project = Project::with(
            "docs/adr/0001-one.md",
            "# One

Text.
",
        );
        project.write(path, format!("# X\n\n{SECRET}\n"));
        project.write(".blue/config.yaml", WIDE);
        let output = run(&project, &["knowledge", "build"]);
        assert_eq!(output.code, 0, "{}", output.stderr);
        assert!(output.stderr.contains("deny-list"), "{path}: {}", output.stderr);
        assert_no_leak(&project, path);
    }
    let project = Project::with(
        "docs/adr/0001-one.md",
        "# One

Text.
",
    );
    project
        .write("docs/adr/0002-x/README.md", "# X\n")
        .write("docs/adr/0002-x/metadata.yaml", format!("title: {SECRET}\n"));
    project.write(".blue/config.yaml", format!("{WIDE}security: {{deny: ['META*']}}\n"));
    run(&project, &["knowledge", "build"]);
    assert_no_leak(&project, "a sidecar");
}

#[test]
fn gits_own_folder_is_not_read_by_any_name_or_way() {
    for path in [".git/x.md", ".GIT/x.md", "sub/.Git/docs/adr/0001-x.md", "GIT~1/x.md"] {
        let project = Project::with(
            "docs/adr/0001-one.md",
            "# One

Text.
",
        );
        project.write(path, format!("# X\n\n{SECRET}\n"));
        project.write(".blue/config.yaml", WIDE);
        symlink(Path::new("../..").join(path), project.path().join("docs/adr/0002-link.md"))
            .unwrap();
        let folder = Path::new("../..").join(path).parent().unwrap().to_path_buf();
        symlink(folder, project.path().join("docs/adr/linked")).unwrap();
        let output = run(&project, &["knowledge", "build"]);
        assert_eq!(output.code, 0, "{}", output.stderr);
        assert_no_leak(&project, path);
    }
    // In a worktree `.git` is a file, and says where the folder is.
    let project = Project::with(
        "docs/adr/0001-one.md",
        "# One

Text.
",
    );
    project.write("elsewhere/HEAD", "ref: refs/heads/main\n").write(".git", "gitdir: elsewhere\n");
    symlink("../../.git", project.path().join("docs/adr/0002-link.md")).unwrap();
    assert_eq!(run(&project, &["knowledge", "build"]).code, 0);
    assert!(!project.read(".blue/context/documents.jsonl").contains("gitdir"));
}

#[test]
fn links_and_special_files_among_documents_are_judged_by_what_they_are() {
    let outside = Project::new();
    outside.write("0009-outside.md", format!("# S\n\n{SECRET}\n"));
    let out = outside.path().join("0009-outside.md");
    let project = Project::with(
        "docs/adr/0001-one.md",
        "# One

Text.
",
    );
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
        assert!(checked.contains("leads out of the project"), "{checked}");
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
        ".blue/local/record",
        ".blue/local/facts",
        ".blue/local/ranking",
        ".blue/local/snapshot",
        ".blue/local/reported",
        ".blue/local/clients",
        "knowledge/adrs.md",
        ".blue/context/session.md",
        ".blue/context.manifest.yaml",
    ] {
        let outside = Project::new();
        let project = Project::with(
            "docs/adr/0001-one.md",
            "# One

Text.
",
        );
        project.write("docs/rfcs/0001-new.md", "# RFC 1: New\n\n- Status: draft\n");
        let at = project.path().join(place);
        std::fs::create_dir_all(at.parent().unwrap()).unwrap();
        let folder = Path::new(place).extension().is_none_or(|e| e == "blue")
            && !["lock", "record", "facts", "ranking", "snapshot", "reported"]
                .iter()
                .any(|n| place.ends_with(n));
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

/// Swaps a folder with a link to another one, again and again, while blue is at work.
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
                // Both states must last long enough for blue to get into them.
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
        let project = Project::with(
            "docs/adr/0001-one.md",
            "# One

Text.
",
        );
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
    let project = Project::with(
        "docs/adr/0001-one.md",
        "# One

Text.
",
    );
    project.build();
    race(&project, "docs/adr", outside.path(), |_| {
        let output = run(&project, &["knowledge", "build", "--force"]);
        assert!(matches!(output.code, 0 | 2), "{}", output.stderr);
        assert_no_leak(&project, "a race");
    });
}

#[test]
fn odd_names_are_names() {
    let project = Project::with(
        "docs/adr/0001-one.md",
        "# One

Text.
",
    );
    for name in [
        "-rf.md",
        "--help.md",
        "0002-a\nb.md",
        "0003-\u{1b}[31mred.md",
        "0004-\u{202e}gpj.md",
        "0005 space .md",
        "0006-$(id).md",
        "0007-`id`.md",
        "0008-'\"\\.md",
        "0009-%2e%2e%2f.md",
        "0010-a:b*c?d|e.md",
        "0011-|x|.md",
        "...md",
        "~.md",
    ] {
        project.write(&format!("docs/adr/{name}"), format!("# T {}\n\nText.\n", name.len()));
    }
    let output = run(&project, &["knowledge", "build"]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    for bytes in [
        output.stderr,
        output.stdout,
        run(&project, &["knowledge", "list"]).stdout,
        run(&project, &["knowledge", "lint"]).stderr,
    ] {
        assert!(!bytes.contains('\u{1b}') && !bytes.contains('\u{202e}'), "{bytes:?}");
    }
    let index = project.read(".blue/context/documents.jsonl");
    assert!(
        index.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()),
        "{index}"
    );
    assert_eq!(run(&project, &["knowledge", "build", "--check"]).code, 0);
}

#[test]
fn what_cannot_be_read_stops_the_build_and_is_named() {
    let project = Project::with(
        "docs/adr/0001-one.md",
        "# One

Text.
",
    );
    project.build();
    let before = project.files();
    project.write("docs/adr/0002-two.md", "# Two\n");
    let closed = project.path().join("docs/adr");
    std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(0o000)).unwrap();
    let open = std::fs::read_dir(&closed).is_ok();
    let output = run(&project, &["knowledge", "build"]);
    std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(0o755)).unwrap();
    if open {
        println!("skipped: everything can be read here");
        return;
    }
    assert_eq!(output.code, 2, "{}", output.stderr);
    assert!(output.stderr.contains("docs/adr"), "{}", output.stderr);
    std::fs::remove_file(project.path().join("docs/adr/0002-two.md")).unwrap();
    assert_eq!(project.files(), before);
}
