//! A build after an edit gives the bytes of a clean build.

use std::time::{Duration, SystemTime};

use crate::support::Project;

const CACHES: [&str; 2] = ["facts", "state"];

fn path(i: usize) -> String {
    format!("docs/{}/{i:04}-document-{i}.md", if i.is_multiple_of(3) { "rfcs" } else { "adrs" })
}

const WORDS: &[&str] = &[
    "manifest",
    "tombstone",
    "shard",
    "passkey",
    "session",
    "cookie",
    "compaction",
    "index",
    "tier",
    "budget",
    "ledger",
    "quorum",
    "replica",
    "lantern",
    "harbour",
    "moraine",
];

fn sentence(seed: usize) -> String {
    let word = |k: usize| WORDS[(seed * 7 + k * k * 3 + seed / 5) % WORDS.len()];
    let words: Vec<&str> = (0..9).map(word).collect();
    format!("{} is decided `by_{}_{}`.", words.join(" "), word(2), word(5))
}

/// ADRs and RFCs that cite each other, name files and have authors.
fn sample() -> Project {
    let project = Project::new();
    project.write("src/walk.rs", "fn walk() {}\n").write("src/emit/mod.rs", "fn emit() {}\n");
    for i in 1..=60 {
        let (kind, other) = (if i % 3 == 0 { "RFC" } else { "ADR" }, 1 + i * 7 % 60);
        let named = if i % 4 == 0 { "`src/walk.rs`" } else { "[it](../../src/emit/mod.rs)" };
        let tasks = if i % 3 == 0 { "- [ ] do it\n- [x] done\n\n" } else { "" };
        project.write(
            &path(i),
            format!(
                "# {kind} {i:04}: {} of {i}\n\n- Status: accepted\n- Author: Ada {}\n\n## Summary\n\n{}\n\n{tasks}## Decision\n\n{}\n\nIt follows [{other}](../{}) in the ledger, as {named} does.\n\n{}\n",
                WORDS[i % WORDS.len()],
                i % 5,
                sentence(i),
                sentence(i * 3),
                path(other).trim_start_matches("docs/"),
                sentence(i * 5),
            ),
        );
    }
    settle(&project);
    project.build();
    project
}

/// Makes every file older than any build, so that its time proves that it is unchanged.
fn settle(project: &Project) {
    let before = SystemTime::now() - Duration::from_secs(60);
    for file in project.stamps().into_keys().filter(|file| file.starts_with("docs/")) {
        let file = std::fs::File::options().append(true).open(project.path().join(file)).unwrap();
        file.set_modified(before).unwrap();
    }
    // The change time cannot be set, so the test waits for it to pass.
    std::thread::sleep(Duration::from_millis(20));
}

/// Builds after an edit. The times of the edited files are older than the build, so that the next one
/// need not read them again.
fn rebuild(project: &Project) {
    std::thread::sleep(Duration::from_millis(20));
    project.build();
}

fn assert_current(project: &Project, what: &str) {
    let check = project.blue(&["knowledge", "build", "--check"]);
    assert_eq!(check.code, 0, "{what}: {}{}", check.stdout, check.stderr);
}

fn edit(project: &Project, i: usize, change: impl Fn(&str) -> String) {
    let text = project.read(&path(i));
    project.write(&path(i), change(&text));
}

#[test]
fn an_edit_of_one_body_gives_the_bytes_of_a_clean_build() {
    let project = sample();
    type Change = fn(&str) -> String;
    let changes: [(&str, usize, Change); 9] = [
        ("words at the end", 7, |text| format!("{text}\nMore of the quorum and a glacier.\n")),
        ("lines before references", 7, |text| {
            text.replacen("## Sum", "A line.\n\nMore.\n\n## Sum", 1)
        }),
        ("other words", 30, |text| text.replacen("is decided", "was never settled", 1)),
        ("a task done", 30, |text| text.replacen("- [ ] do it", "- [x] do it", 1)),
        ("another name of code", 44, |text| text.replacen("`by_", "`past_", 1)),
        ("fewer words", 44, |text| text.replacen("is decided", "is", 2)),
        ("the same bytes", 12, str::to_string),
        ("a longer summary", 9, |text| {
            text.replacen(".\n", " and the whole moraine behind it.\n", 1)
        }),
        ("words that were there", 7, |text| text.replacen("A line.\n\nMore.\n\n", "", 1)),
    ];
    for (what, i, change) in changes {
        edit(&project, i, change);
        rebuild(&project);
        assert_current(&project, what);
    }
    // Two documents at once, of which one was edited before.
    edit(&project, 7, |text| format!("{text}\n{}\n", sentence(91)));
    edit(&project, 51, |text| format!("{text}\n{}\n", sentence(92)));
    rebuild(&project);
    let built = project.files();
    assert_current(&project, "two documents");
    for folder in [".blue/local", ".blue/context", "knowledge"] {
        std::fs::remove_dir_all(project.path().join(folder)).unwrap();
    }
    std::fs::remove_file(project.path().join(".blue/context.manifest.yaml")).unwrap();
    project.build();
    assert!(built == project.files(), "not what a clean build gives");
}

#[test]
fn an_edit_that_affects_other_documents_updates_them() {
    let project = sample();
    type Change<'a> = (&'a str, &'a dyn Fn(&Project));
    let changes: [Change<'_>; 10] = [
        ("a title", &|project| {
            edit(project, 7, |text| text.replacen(" of 7", " of another name", 1))
        }),
        ("a status", &|project| edit(project, 8, |text| text.replace("accepted", "superseded"))),
        ("an author", &|project| edit(project, 10, |text| text.replace("Ada 0", "Grace"))),
        ("a reference more", &|project| {
            edit(project, 11, |text| format!("{text}\nSee RFC 0030.\n"))
        }),
        ("a reference less", &|project| {
            edit(project, 13, |text| text.replace("It follows [", "["))
        }),
        ("words beside a reference", &|project| {
            edit(project, 14, |text| text.replace("in the ledger", "in the glacier"))
        }),
        ("a broken link", &|project| {
            edit(project, 16, |text| format!("{text}\n[x](nowhere.md)\n"))
        }),
        ("a path", &|project| edit(project, 17, |text| format!("{text}\n`src/walk.rs`\n"))),
        ("a new document", &|project| {
            project.write("docs/adrs/0099-new.md", "# ADR 0099: New\n\n- Status: accepted\n");
        }),
        ("a document that is gone", &|project| {
            std::fs::remove_file(project.path().join("docs/adrs/0099-new.md")).unwrap();
        }),
    ];
    for (what, change) in changes {
        change(&project);
        rebuild(&project);
        assert_current(&project, what);
    }
    // Findings have the current line number.
    edit(&project, 16, |text| text.replacen("## Sum", "A line.\n\n## Sum", 1));
    let line =
        1 + project.read(&path(16)).lines().position(|line| line.contains("nowhere")).unwrap();
    let output = project.blue(&["knowledge", "build", "--format", "github"]).stdout;
    assert!(output.contains(&format!("file={},line={line},", path(16))), "{output}");
}

#[test]
fn damaged_or_older_caches_change_no_output() {
    let project = sample();
    let file = |name: &str| project.path().join(".blue/local").join(name);
    let all = || CACHES.map(|name| std::fs::read(file(name)).unwrap());
    let mut older = vec![all()];
    for i in [7, 30] {
        edit(&project, i, |text| format!("{text}\n{}\n", sentence(i + 100)));
        rebuild(&project);
        older.push(all());
    }
    edit(&project, 8, |text| text.replacen(" of 8", " of another name", 1));
    rebuild(&project);
    for (n, name) in CACHES.into_iter().enumerate() {
        let now = std::fs::read(file(name)).unwrap();
        let mut flipped = now.clone();
        let middle = flipped.len() / 2;
        flipped[middle] ^= 0x20;
        let half = now[..now.len() / 2].to_vec();
        let mut states: Vec<Vec<u8>> = vec![flipped, half, Vec::new()];
        states.extend(older.iter().map(|all| all[n].clone()));
        for (k, state) in states.into_iter().enumerate() {
            edit(&project, 33, |text| format!("{text}\n{}\n", sentence(n * 10 + k)));
            std::fs::write(file(name), state).unwrap();
            rebuild(&project);
            assert_current(&project, &format!("{name}, state {k}"));
        }
    }
}

#[test]
fn many_edits_in_a_row_leave_a_current_project() {
    let project = sample();
    for i in 1..=40 {
        edit(&project, i, |text| format!("{text}\n{}\n", sentence(i + 50)));
        rebuild(&project);
    }
    assert_current(&project, "forty edits");
}

#[test]
fn the_facts_cache_does_not_grow_without_bound() {
    let project = Project::new();
    let size = || std::fs::metadata(project.path().join(".blue/local/facts")).unwrap().len();
    let mut sizes = Vec::new();
    for n in 0..150 {
        project.write("docs/adrs/0001-x.md", format!("# ADR 0001: X\n\n{}\n", sentence(n)));
        project.build();
        sizes.push(size());
    }
    let (first, max) = (sizes[0], *sizes.iter().max().unwrap());
    assert!(sizes[1] > first, "entries of earlier contents are kept for a while");
    assert!(max < first * 80, "{max} bytes after 150 edits of one document of {first} bytes");
}

/// Compares the findings of an incremental build with those of a build without caches.
fn assert_same_findings(project: &Project, what: &str) {
    std::thread::sleep(Duration::from_millis(20));
    let output = project.blue(&["knowledge", "build", "--format", "json"]).stdout;
    assert_current(project, what);
    let forced = project.blue(&["knowledge", "build", "--force", "--format", "json"]).stdout;
    assert_eq!(output, forced, "{what}");
}

#[test]
fn findings_outside_the_record_are_reported_after_every_edit() {
    let project = sample();
    let elsewhere = |n: usize| edit(&project, 40, |text| format!("{text}\n{}\n", sentence(n)));
    // The own id of a document counts as a header only in the first lines.
    let own = "# ADR 0070: Own\n\n- Status: accepted\n\nA line.\n\nADR 0070 decides it.\n";
    project.write("docs/adrs/0070-own.md", own);
    assert_same_findings(&project, "an own id in the header");
    project.write("docs/adrs/0070-own.md", own.replace("A line.\n", &"A line.\n\n".repeat(6)));
    assert_same_findings(&project, "an own id behind the header");
    // A file that looks like an artifact is not read until it is edited.
    project.write("knowledge/mine.md", project.read("knowledge/adrs.md"));
    assert_same_findings(&project, "a copy of a digest");
    project.write("knowledge/mine.md", "# Mine\n\nWritten by hand.\n");
    elsewhere(1);
    assert_same_findings(&project, "no copy any more");
    // A link to a document is a second name only while it leads there.
    std::os::unix::fs::symlink("0001-document-1.md", project.path().join("docs/adrs/0080-x.md"))
        .unwrap();
    project.write("notes/real.md", "# Real\n\nText.\n");
    assert_same_findings(&project, "a second name");
    std::fs::remove_file(project.path().join("docs/adrs/0080-x.md")).unwrap();
    std::os::unix::fs::symlink("../../notes/real.md", project.path().join("docs/adrs/0080-x.md"))
        .unwrap();
    elsewhere(2);
    assert_same_findings(&project, "another document's name");
    std::fs::remove_file(project.path().join("docs/adrs/0080-x.md")).unwrap();
    // A link may lead to an ignored file, which may appear and disappear.
    project.write(".gitignore", "out/\n").write("out/report.txt", "x\n");
    edit(&project, 41, |text| format!("{text}\n[report](../../out/report.txt)\n"));
    assert_same_findings(&project, "an ignored file");
    std::fs::remove_file(project.path().join("out/report.txt")).unwrap();
    elsewhere(3);
    assert_same_findings(&project, "no ignored file");
}

#[test]
fn every_build_writes_the_state_that_the_next_one_reads() {
    let project = Project::new();
    for i in 1..4 {
        let link = if i == 3 { "No link." } else { "See [all](../../knowledge/adrs.md)." };
        let text = format!("# ADR {i:04}: T{i}\n\n- Status: accepted\n\n{link}\n");
        project.write(&format!("docs/adrs/{i:04}-x.md"), text);
    }
    settle(&project);
    project.build();
    project.write("docs/adrs/0003-x.md", project.read("docs/adrs/0003-x.md") + "\nMore.\n");
    assert_same_findings(&project, "links to a digest");
}

#[test]
fn a_bundle_keeps_its_neighbours_when_only_its_plan_changed() {
    let project = Project::new();
    let related: Vec<String> = (1..=30).map(|i| format!("ADR {i:04}")).collect();
    for i in 1..=120 {
        let text = format!(
            "# ADR {i:04}: {} {i}\n\n- Status: accepted\n\n{}\n",
            WORDS[i % 16],
            sentence(i)
        );
        project.write(&format!("docs/adrs/{i:04}-a{i}.md"), text);
    }
    let rfc = format!(
        "# RFC 0016: Whole\n\n- Status: accepted\n- Depends On: {}\n\n{}\n",
        related.join(", "),
        (1..9).map(sentence).collect::<String>(),
    );
    project.write("docs/rfcs/0016-whole.md", rfc);
    let plan = "# Steps\n\n- Status: paused\n\n- [ ] umbrella\n- [ ] kettle\n";
    project.write("docs/rfcs/0016-whole.plan.md", plan);
    settle(&project);
    project.build();
    project.write("docs/rfcs/0016-whole.plan.md", plan.replacen("[ ]", "[x]", 1));
    rebuild(&project);
    assert_current(&project, "a plan");
}

#[test]
fn every_command_finishes_on_one_thread() {
    let project = Project::new();
    // No step may wait for a second thread of the pool.
    let words: String =
        (0..200_000u32).map(|i| format!("w{:x} ", i.wrapping_mul(2_654_435_761))).collect();
    project.write("docs/adrs/0001-x.md", format!("# ADR 0001: X\n\n{words}\n"));
    for _ in 0..2 {
        let mut child = project.command(&["knowledge", "build", "--jobs", "1"]).spawn().unwrap();
        let began = std::time::Instant::now();
        while child.try_wait().unwrap().is_none() {
            assert!(began.elapsed() < Duration::from_secs(100), "it waits for itself");
            std::thread::sleep(Duration::from_millis(20));
        }
        assert!(child.wait().unwrap().success());
        project.write("docs/adrs/0001-x.md", format!("# ADR 0001: X\n\n{words}\n\nMore.\n"));
    }
}

#[test]
fn a_document_in_a_folder_that_the_build_created_is_found() {
    let project = Project::new();
    project.write("docs/adr/0001-use-files.md", "# 1. Use files\n\n## Status\n\nAccepted\n");
    project.build();
    project.write("knowledge/house.md", "# House rules\n\nWrite tests first.\n");
    let built = project.build();
    assert!(!built.stderr.contains("nothing to do"), "{}", built.stderr);
    assert_current(&project, "a document beside the digests");
    assert!(project.read(".blue/context/documents.jsonl").contains("knowledge/house.md"));
    std::fs::remove_file(project.path().join("knowledge/house.md")).unwrap();
    project.build();
    assert_current(&project, "the document removed");
}
