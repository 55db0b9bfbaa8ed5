//! `knowledge show`: names of documents, sections, outlines and budgets.

use crate::support::Project;

const QUEUE: &str = "---\nstatus: accepted\ndate: 2024-03-01\n---\n# 5. Use one queue\n\nIntro.\n\n## 1. Context\n\nWork is slow.\n\n### Consequences of waiting\n\nUsers leave.\n\n## 2. Decision\n\n```sh\n# not a heading\nqueue --one\n```\n\nOne queue for all.\n\n## 3. Consequences\n\nLess code.\n";

fn sample() -> Project {
    let project = Project::new();
    project.write("docs/adr/0005-use-one-queue.md", QUEUE);
    project.write(
        "docs/adr/0006-use-two-queues.md",
        "---\nstatus: accepted\nsupersedes: 7\n---\n# Use two queues\n\nText.\n",
    );
    project.write("docs/adr/0007-old.md", "---\nstatus: accepted\n---\n# Old\n\nText.\n");
    project.write("docs/rfcs/0006-queue-limits.md", "# Queue limits\n\nText of the RFC.\n");
    project.write("docs/rfcs/0016-context/README.md", "# Context\n\nText of 16.\n");
    project.build();
    project
}

fn show(project: &Project, arguments: &[&str]) -> crate::support::Output {
    project.blue(&[&["knowledge", "show"], arguments].concat())
}

#[test]
fn a_document_is_found_by_every_name_that_people_use() {
    let project = sample();
    for name in [
        "docs/adr/0005-use-one-queue.md",
        "./docs/adr/0005-use-one-queue.md",
        "adr/0005-use-one-queue",
        "0005-use-one-queue.md",
        "0005-use-one-queue",
        "use-one-queue",
        "ADR 5",
        "ADR-0005",
        "adr 0005",
        "adrs/5",
        "adr#5",
        "ADR0005",
        "5",
        "0005",
        "Use one queue",
        "5. use ONE queue",
    ] {
        let shown = show(&project, &[name]);
        assert_eq!(shown.stdout, QUEUE, "{name}: {}", shown.stderr);
    }
    assert_eq!(show(&project, &["ADR", "5"]).stdout, QUEUE);
    let absolute = project.path().join("docs/adr/0005-use-one-queue.md");
    assert_eq!(show(&project, &[absolute.to_str().unwrap()]).stdout, QUEUE);
    let mut inside = project.command(&["knowledge", "show", "0005-use-one-queue.md"]);
    let output = inside.current_dir(project.path().join("docs/adr")).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), QUEUE);
    for name in ["docs/rfcs/0016-context", "RFC 16", "0016-context", "rfcs/0016-context/README.md"]
    {
        assert!(show(&project, &[name]).stdout.contains("Text of 16"), "{name}");
    }
    for name in ["adrs", "knowledge/adrs.md"] {
        assert_eq!(show(&project, &[name]).stdout, project.read("knowledge/adrs.md"), "{name}");
    }
}

#[test]
fn an_unknown_or_ambiguous_name_lists_the_documents_that_may_be_meant() {
    let project = sample();
    for (name, problem, hint) in [
        ("6", "\"6\" matches 2 documents", "docs/rfcs/0006-queue-limits.md"),
        ("use-one-qeue", "no document is named", "did you mean docs/adr/0005-use-one-queue.md"),
        ("RFC 5", "no document is named \"RFC 5\"", "docs/adr/0005-use-one-queue.md"),
        ("zebra", "no document is named", "blue knowledge related"),
        ("../outside.md", "no document is named", "hint: "),
        ("", "no document is named", "hint: "),
    ] {
        let shown = show(&project, &[name]);
        assert_eq!((shown.code, shown.stdout.as_str()), (2, ""), "{name}");
        assert!(shown.stderr.contains(problem), "{name}: {}", shown.stderr);
        assert!(shown.stderr.contains(hint), "{name}: {}", shown.stderr);
    }
    assert_eq!(show(&project, &["ADR 6"]).code, 0);
    // Documents of a plain type are called by an abbreviation that is in no index.
    project.write("proposals/0401-async.md", "# Async\n\nText of 401.\n");
    project.write("proposals/0402-await.md", "# Await\n\nText of 402.\n");
    project.build();
    for name in ["SE-0401", "se401", "Our SE 401"] {
        assert!(show(&project, &[name]).stdout.contains("Text of 401"), "{name}");
    }
    assert_eq!(show(&project, &["ADR 401"]).code, 2);
    // A dotted number is no number with a file extension, and a pointer is not the document.
    project.write("docs/adr/adr-12 - Parent.md", "# Parent\n\nText of 12.\n");
    project.write("docs/adr/adr-12.3 - Part of it.md", "# Part\n\nText of 12.3.\n");
    project.write("docs/adr/5.md", "This document has moved to [here](0005-use-one-queue.md).\n");
    project.build();
    assert!(show(&project, &["ADR 12.3"]).stdout.contains("Text of 12.3"));
    assert!(show(&project, &["12.3"]).stdout.contains("Text of 12.3"));
    assert_eq!(show(&project, &["ADR 5"]).stdout, QUEUE);
    // A file that is no document is not printed.
    project.write("notes.txt", "private");
    let shown = show(&project, &["notes.txt"]);
    assert_eq!((shown.code, shown.stdout.as_str()), (2, ""));
    // History is printed with a warning.
    let shown = show(&project, &["ADR 7"]);
    assert!(shown.stdout.contains("# Old"), "{shown:?}");
    let warning = "is not live: accepted, replaced by blue://docs/adrs/0006-use-two-queues";
    assert!(shown.stderr.contains(warning), "{}", shown.stderr);
    assert_eq!(show(&project, &["ADR 5"]).stderr, "");
}

#[test]
fn a_section_is_printed_with_its_sub_sections() {
    let project = sample();
    let section = |name: &str| show(&project, &["ADR 5", "--section", name]);
    let decision =
        "## 2. Decision\n\n```sh\n# not a heading\nqueue --one\n```\n\nOne queue for all.\n\n";
    for name in ["Decision", "decision", "2. Decision", "dec", "18"] {
        assert_eq!(section(name).stdout, decision, "{name}");
    }
    assert!(section("context").stdout.contains("Users leave."));
    assert_eq!(section("consequences").stdout, "## 3. Consequences\n\nLess code.\n");
    assert_eq!(section("of waiting").stdout, "### Consequences of waiting\n\nUsers leave.\n\n");
    let several = section("co");
    assert!(several.stdout.starts_with("## 1. Context"), "{several:?}");
    assert!(several.stderr.contains("3 headings match co; this is line 9"), "{several:?}");
    assert!(several.stderr.contains("13, 26"), "{several:?}");
    let none = section("not a heading");
    assert_eq!((none.code, none.stdout.as_str()), (2, ""));
    assert!(none.stderr.contains("1. Context; Consequences of waiting; 2. Decision"), "{none:?}");
    let digest = show(&project, &["blue://context/documents", "--section", "x"]);
    assert!(digest.stderr.contains("there are no headings"), "{digest:?}");
}

#[test]
fn an_outline_lists_headings_with_lines_and_sizes() {
    let project = sample();
    let outline = show(&project, &["ADR 5", "--outline"]).stdout;
    let lines: Vec<&str> = outline.lines().collect();
    let head = "docs/adr/0005-use-one-queue.md  ADR 0005 Use one queue (accepted)";
    assert_eq!(lines[0], head);
    assert!(lines[1].starts_with("28 lines, ") && lines[1].ends_with(" tokens"), "{outline}");
    let titles: Vec<&str> = lines[3..].iter().map(|line| &line[23..]).collect();
    let expected = [
        "5. Use one queue",
        "  1. Context",
        "    Consequences of waiting",
        "  2. Decision",
        "  3. Consequences",
    ];
    assert_eq!(titles, expected);
    assert_eq!(lines[6].split_whitespace().take(2).collect::<Vec<_>>(), ["17", "9"]);
    let json = project.json(&["knowledge", "show", "ADR 5", "--outline", "--format", "json"]);
    assert_eq!(json["documents"][0]["path"], "docs/adr/0005-use-one-queue.md");
    assert_eq!(json["sections"][3]["title"], "2. Decision");
    assert_eq!((&json["sections"][3]["line"], &json["lines"]), (&17.into(), &28.into()));
    let arguments = ["knowledge", "show", "ADR 5", "--section", "dec", "--format", "json"];
    let json = project.json(&arguments);
    assert!(json["text"].as_str().unwrap().starts_with("## 2. Decision"), "{json}");
}

#[test]
fn a_budget_cuts_after_a_paragraph_and_counts_the_rest() {
    let project = sample();
    let long: String = (1..100).map(|i| format!("Paragraph {i} has some words.\n\n")).collect();
    project.write("docs/adr/0009-long.md", format!("# Long\n\n{long}"));
    project.build();
    let shown = show(&project, &["ADR 9", "--budget", "200"]).stdout;
    let (text, notice) = shown.trim_end().rsplit_once('\n').unwrap();
    assert!(text.ends_with("has some words."), "{shown}");
    let n_kept = text.lines().filter(|line| line.starts_with("Paragraph")).count();
    assert!((10..40).contains(&n_kept), "{shown}");
    let place = format!(" left out from line {};", 3 + 2 * n_kept);
    assert!(notice.starts_with("[… ") && notice.contains(&place), "{shown}");
    // What fits is printed unchanged.
    assert_eq!(show(&project, &["ADR 5", "--budget", "5000"]).stdout, QUEUE);
    let part = ["ADR 5", "--section", "context", "--budget", "8"];
    assert!(show(&project, &part).stdout.contains("left out from line "));
    // The whole text is printed unless it goes to a terminal.
    let whole = show(&project, &["ADR 9"]);
    assert_eq!((whole.stdout, whole.stderr.as_str()), (format!("# Long\n\n{long}"), ""));
    assert_eq!(show(&project, &["ADR 9", "--all"]).stdout, format!("# Long\n\n{long}"));
}
