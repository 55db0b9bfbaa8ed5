//! `knowledge list`: its limit, its filters and its columns.

use crate::support::{Output, Project};

fn sample() -> Project {
    let project = Project::new();
    let head = |status: &str, date: &str| format!("---\nstatus: {status}\n{date}---\n");
    for (name, status, date, title) in [
        ("0001-queue", "Accepted", "date: 2023-05-01\n", "Use one queue"),
        ("0002-cache", "Approved by all", "date: 2024-03-31\n", "Cache the answers"),
        ("0003-lock", "Draft", "date: 2024-04-01\n", "Lock before writing"),
        ("0004-old", "Rejected", "", "Write without a lock"),
    ] {
        let text = format!("{}# {title}\n\nThe text of {name}.\n", head(status, date));
        project.write(&format!("docs/adr/{name}.md"), text);
    }
    project.write("docs/rfcs/0001-limits.md", "# Limits of the queue\n\nAt most ten jobs.\n");
    project.build();
    project
}

fn list(project: &Project, arguments: &[&str]) -> Output {
    project.blue(&[&["knowledge", "list"], arguments].concat())
}

/// The file names that are listed, without extension.
fn names(output: &Output) -> Vec<&str> {
    let paths = output.stdout.lines().map(|line| line[2..].split(' ').next().unwrap());
    paths.map(|path| path.rsplit('/').next().unwrap().trim_end_matches(".md")).collect()
}

#[test]
fn words_status_and_date_choose_documents() {
    let project = sample();
    for (arguments, expected) in [
        (&["queue"][..], &["0001-queue", "0001-limits"][..]),
        (&["QUEUE", "limits"], &["0001-limits"]),
        (&["adrs", "queue"], &["0001-queue"]),
        (&["adr", "lock"], &["0003-lock", "0004-old"]),
        (&["ten jobs"], &["0001-limits"]),
        (&["adrs", "--live", "lock"], &["0003-lock"]),
        (&["--status", "accepted"], &["0001-queue", "0002-cache"]),
        (&["--status", "Approved"], &["0002-cache"]),
        (&["--status", "history"], &["0004-old"]),
        (&["--status", "live", "lock"], &["0003-lock"]),
        (&["--since", "2024"], &["0003-lock", "0002-cache"]),
        (&["--until", "2024-03"], &["0002-cache", "0001-queue"]),
        (&["--since", "2024-04-01", "--until", "2024-04-01"], &["0003-lock"]),
    ] {
        let listed = list(&project, arguments);
        assert_eq!((names(&listed).as_slice(), listed.code), (expected, 0), "{arguments:?}");
    }
    let dated = list(&project, &["--since", "2024"]);
    assert!(dated.stderr.contains("2 documents without a date not shown"), "{dated:?}");
    assert!(dated.stdout.contains("  2024-03-31  "), "{dated:?}");
    let none = list(&project, &["--status", "final"]);
    assert_eq!((none.code, none.stdout.as_str()), (1, ""));
    assert!(none.stderr.contains("accepted (2), draft (1), rejected (1)"), "{none:?}");
    let none = list(&project, &["--status", "draft", "zebra"]);
    assert!(none.code == 1 && none.stderr.contains("blue knowledge related"), "{none:?}");
    assert_eq!(list(&project, &["--since", "soon"]).code, 2);
}

#[test]
fn a_line_has_a_path_that_opens_and_fits_a_terminal() {
    let project = sample();
    let long = "A title of many words that would not fit a terminal ".repeat(4);
    project.write("docs/adr/0005-long.md", format!("# {long}\n\nText.\n"));
    project.build();
    let listed = list(&project, &[]);
    for line in listed.stdout.lines() {
        assert!(line.chars().count() <= 120, "{line}");
        assert!(project.exists(line[2..].split(' ').next().unwrap()), "{line}");
    }
    assert!(listed.stdout.contains("- docs/adr/0004-old.md"), "{listed:?}");
    assert!(listed.stdout.contains('…') && listed.stderr.is_empty(), "{listed:?}");
    let addresses = list(&project, &["rfcs", "--addresses"]).stdout;
    assert!(addresses.starts_with("  blue://docs/rfcs/0001-limits "), "{addresses}");
}

#[test]
fn a_long_list_ends_after_fifty_lines() {
    let project = Project::new();
    for i in 1..=60 {
        project.write(&format!("docs/adr/{i:04}-d{i}.md"), format!("# Decision {i}\n\nText.\n"));
    }
    project.build();
    let listed = list(&project, &[]);
    assert_eq!(listed.stdout.lines().count(), 50);
    assert!(listed.stderr.contains("10 more") && listed.stderr.contains("--status"), "{listed:?}");
    let all = list(&project, &["--all"]);
    assert_eq!((all.stdout.lines().count(), all.stderr.as_str()), (60, ""));
    let json = project.json(&["knowledge", "list", "--format", "json"]);
    assert_eq!(json.as_array().unwrap().len(), 60);
    assert_eq!(list(&project, &["decision", "1", "--format", "json"]).stderr, "");
}
