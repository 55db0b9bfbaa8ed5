//! `blue knowledge related` and `show --about`: questions answered in one call.

use crate::support::Project;
use serde_json::Value;

/// A project whose decisions about sessions and erasure are stated in their texts, not their titles.
fn project() -> Project {
    let project = Project::new();
    project
        .write(
            "docs/adr/0001-sessions.md",
            "# 1. Sessions\n\nDate: 2024-01-02\n\n## Status\n\nSuperseded by [3](0003-tokens.md)\n\n## Decision\n\nWe keep the login of a visitor in a server-side cookie jar.\n",
        )
        .write(
            "docs/adr/0002-retention.md",
            "# 2. Retention\n\nDate: 2024-02-03\n\n## Status\n\nAccepted\n\n## Context\n\nVisitors may ask for erasure.\n\n## Decision\n\nThe GDPR right to erasure is served within thirty days:\n\n- the profile is overwritten\n- backups expire after a month\n\n## Consequences\n\nSupport staff need a tool.\n",
        )
        .write(
            "docs/adr/0003-tokens.md",
            "# 3. Tokens\n\nDate: 2024-05-06\n\n## Status\n\nAccepted\n\nSupersedes [1](0001-sessions.md)\n\n## Decision\n\nThe login of a visitor is a signed token, never a cookie.\n",
        )
        .write("docs/adr/0004-logs.md", "# 4. Logs\n\n## Status\n\nAccepted\n\n## Decision\n\nLogs are JSON.\n");
    project.build();
    project
}

fn related(project: &Project, question: &str) -> Vec<Value> {
    let answer = project.json(&["knowledge", "related", question, "--format", "json"]);
    answer.as_array().unwrap().clone()
}

fn text(project: &Project, arguments: &[&str]) -> String {
    project.blue(arguments).stdout
}

#[test]
fn a_question_is_answered_with_path_line_status_and_passage() {
    let project = project();
    let answer = text(&project, &["knowledge", "related", "GDPR", "erasure"]);
    let expected = "docs/adr/0002-retention.md:15  ADR 0002: Retention  (accepted, 2024-02-03)\n";
    assert!(answer.starts_with(expected), "{answer}");
    assert!(answer.contains("Decision: The GDPR right to erasure is served"), "{answer}");
    assert!(answer.contains("- the profile is overwritten"), "{answer}");
    let all = related(&project, "how long may it take to erase visitors under GDPR?");
    assert_eq!(all[0]["path"], "docs/adr/0002-retention.md");
    assert_eq!(all[0]["passages"][0]["section"], "Decision");
}

#[test]
fn what_replaced_a_decision_comes_before_it() {
    let project = project();
    let all = related(&project, "server-side cookie jar for the login of a visitor");
    let paths: Vec<&str> = all.iter().map(|found| found["path"].as_str().unwrap()).collect();
    assert_eq!(paths[..2], ["docs/adr/0003-tokens.md", "docs/adr/0001-sessions.md"], "{all:?}");
    assert_eq!(all[1]["replaced_by"][0], "docs/adr/0003-tokens.md");
    let answer = text(&project, &["knowledge", "related", "cookie jar"]);
    let stated = "(superseded, 2024-01-02, replaced by docs/adr/0003-tokens.md)";
    assert!(answer.contains(stated), "{answer}");
}

#[test]
fn the_document_with_the_title_comes_before_newer_ones_about_it() {
    let project = Project::new();
    let adr = |n: u32, title: &str, text: &str| {
        let path = format!("docs/adr/{n:04}-{n}.md");
        let head = format!("# {n}. {title}\n\nDate: 2024-0{n}-01\n\n## Status\n\nAccepted\n");
        project.write(&path, format!("{head}\n## Decision\n\n{text}\n"));
    };
    adr(1, "Harbour lanterns", "Every pier has one, and its flame is visible from the sea.");
    adr(
        2,
        "Oil for harbour lanterns",
        "A harbour lantern burns oil. Harbour lanterns are filled at noon.",
    );
    adr(
        3,
        "Colours of harbour lanterns",
        "Harbour lanterns are green. A harbour lantern is never red.",
    );
    adr(
        4,
        "Keepers of harbour lanterns",
        "The keeper of a harbour lantern lives near the harbour lanterns.",
    );
    project.build();
    assert_eq!(related(&project, "harbour lanterns")[0]["path"], "docs/adr/0001-1.md");
}

#[test]
fn documents_that_are_only_named_say_if_they_are_newer_or_not_live() {
    let project = Project::new();
    let documents = [
        ("Lanterns of the harbour", 2021, "Accepted"),
        ("Pier 2", 2024, "Accepted"),
        ("Pier 3", 2020, "Rejected"),
    ];
    for (n, (title, year, status)) in (1..).zip(documents) {
        let head = format!("# {n}. {title}\n\nDate: {year}-01-01\n\n## Status\n\n{status}\n");
        let text = format!("{head}\n## Decision\n\nThe harbour has {n} lanterns.\n");
        project.write(&format!("docs/adr/000{n}-decision.md"), text);
    }
    project.build();
    let question = ["knowledge", "related", "lantern of the harbour", "--budget", "80"];
    let answer = text(&project, &question);
    let named = "also: ADR 0002: Pier 2 (newer); ADR 0003: Pier 3 (rejected)\n";
    assert!(answer.ends_with(named), "{answer}");
}

#[test]
fn a_missing_damaged_or_foreign_index_changes_nothing() {
    let project = project();
    let expected = related(&project, "GDPR erasure cookie");
    let path = project.path().join(".blue/local/search");
    let intact = std::fs::read(&path).unwrap();
    let mut damaged = intact.clone();
    *damaged.last_mut().unwrap() ^= 1;
    for bytes in [&damaged[..], &intact[..intact.len() / 2], b"", b"blue search 1\n"] {
        std::fs::write(&path, bytes).unwrap();
        assert_eq!(related(&project, "GDPR erasure cookie"), expected);
        assert_eq!(std::fs::read(&path).unwrap(), intact, "the index was not saved again");
    }
    std::fs::remove_dir_all(project.path().join(".blue/local")).unwrap();
    assert_eq!(related(&project, "GDPR erasure cookie"), expected);
}

#[test]
fn documents_that_changed_since_the_build_are_searched_as_they_are() {
    let project = project();
    project
        .write("docs/adr/0000-new.md", "# 0. New\n\nStatus: accepted\n\nZeppelins are allowed.\n");
    project.write(
        "docs/adr/0004-logs.md",
        "# 4. Logs\n\n## Status\n\nAccepted\n\n## Decision\n\nLogs are marmalade.\n",
    );
    std::fs::remove_file(project.path().join(".blue/local/search")).unwrap();
    let all = related(&project, "marmalade");
    assert_eq!(all[0]["path"], "docs/adr/0004-logs.md");
    assert!(related(&project, "logs")[0]["passages"][0]["text"].to_string().contains("marmalade"));
    assert!(!project.exists(".blue/local/search"), "an index of other documents was saved");
}

#[test]
fn typing_errors_beginnings_and_numbers_are_understood() {
    let project = project();
    for (question, path) in [
        ("erasrue", "docs/adr/0002-retention.md"),
        ("backu", "docs/adr/0002-retention.md"),
        ("ADR-0004", "docs/adr/0004-logs.md"),
        ("adr 3", "docs/adr/0003-tokens.md"),
    ] {
        assert_eq!(related(&project, question)[0]["path"], path, "{question}");
    }
    let output = project.blue(&["knowledge", "related", "zzyzx"]);
    assert_eq!(output.code, 1);
    let message = output.stderr;
    assert!(message.contains("no document contains zzyzx"), "{message}");
}

#[test]
fn a_weak_match_is_marked_and_a_budget_is_kept() {
    let project = project();
    let all = related(&project, "tool for kubernetes quantum blockchain");
    assert_eq!(all[0]["weak"], true, "{all:?}");
    for budget in ["60", "120", "450"] {
        let answer = text(&project, &["knowledge", "related", "visitor login", "--budget", budget]);
        let n_tokens = blue::condense::tokens::count(&answer);
        assert!(n_tokens <= budget.parse::<u64>().unwrap() + 30, "{budget}: {n_tokens} {answer}");
    }
    let largest = u64::MAX.to_string();
    for command in [&["related", "visitor login"][..], &["show", "ADR 3", "--about", "login"]] {
        let arguments = [&["knowledge"], command, &["--budget", &largest]].concat();
        assert!(text(&project, &arguments).contains("signed token"), "{arguments:?}");
    }
}

#[test]
fn a_passage_has_no_secret_and_no_hidden_character() {
    let project = Project::new();
    let key = ["AKIA", "Z7QPLM2XKVTRW4ND"].concat();
    project.write(
        "docs/adr/0001-keys.md",
        format!("# 1. Keys\n\nStatus: accepted\n\n## Decision\n\nThe bucket key is {key} <system>\u{202e}x.\n"),
    );
    project.build();
    let answer = text(&project, &["knowledge", "related", "bucket key"]);
    assert!(answer.contains("The bucket key is") && !answer.contains(&key), "{answer}");
    assert!(!answer.contains('\u{202e}') && !answer.contains("<system>"), "{answer}");
    let shown = text(&project, &["knowledge", "show", "ADR 1", "--about", "bucket key"]);
    assert!(shown.contains("The bucket key is") && !shown.contains(&key), "{shown}");
}

#[test]
fn show_about_prints_the_passages_of_one_document() {
    let project = project();
    let arguments = ["knowledge", "show", "ADR 2", "--about", "backups"];
    let shown = text(&project, &arguments);
    assert!(shown.starts_with("docs/adr/0002-retention.md:18  ADR 0002"), "{shown}");
    assert!(shown.contains("backups expire after a month"), "{shown}");
    let output = project.blue(&["knowledge", "show", "ADR 2", "--about", "zeppelin"]);
    assert_eq!(output.code, 1);
    let all = project.json(&[&arguments[..], &["--format", "json"]].concat());
    assert_eq!(all[0]["line"], 18, "{all}");
}

#[test]
fn an_id_finds_the_document_and_those_near_it() {
    let project = project();
    let near = text(&project, &["knowledge", "related", "blue://adr/1"]);
    assert!(near.starts_with("docs/adr/0003-tokens.md"), "{near}");
    for id in ["ADR-1", "adr 0001", "ADR #1"] {
        let answer = text(&project, &["knowledge", "related", id]);
        assert!(answer.starts_with("docs/adr/0001-sessions.md"), "{id}: {answer}");
        assert!(answer.ends_with(&near), "{id}: {answer}");
    }
    // Together with words, it is a part of a question.
    let answer = text(&project, &["knowledge", "related", "ADR-1 erasure"]);
    assert!(answer.contains("0002-retention.md"), "{answer}");
}
