//! Usage counted from the audit log changes the order of related documents.

use blue::wire::usage::{self, Usage};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::support::Project;

const LOG: &str = ".blue/local/audit.jsonl";
const BEFORE: &str = ".blue/local/audit.1.jsonl";
const USAGE: &str = ".blue/local/usage";

/// The first decision mentions four others, in order. The sixth is not related to it.
fn sample() -> Project {
    let project = Project::new();
    let adr = |number: u32, body: &str| {
        project.write(
            &format!(".blue/docs/adrs/{number:04}-d{number}.md"),
            format!("# ADR {number:04}: D{number}\n\n- Status: accepted\n\n{body}\n"),
        );
    };
    adr(1, "ADR 2, ADR 3, ADR 4 and ADR 5.");
    for number in 2..=5 {
        adr(number, "Something.");
    }
    adr(6, "Whatever else.");
    project.build();
    project
}

fn ago(days: i64) -> String {
    let now = Timestamp::now().as_second();
    let at = Timestamp::from_second(now).unwrap() - SignedDuration::from_hours(24 * days);
    at.to_string()
}

fn line(days: i64, session: &str, event: &str, source: &str) -> String {
    format!(
        "{{\"timestamp\":\"{}\",\"session_id\":\"{session}\",\"event\":\"{event}\",\"source\":\"{source}\",\"artifact\":\"x\",\"content_hash\":\"blake3:00\",\"tokens\":1,\"bytes\":1}}\n",
        ago(days)
    )
}

fn read(days: i64, session: &str, number: u64) -> String {
    line(days, session, "blue_read", &format!("blue://docs/adrs/{number:04}-d{number}"))
}

fn started(days: i64) -> String {
    line(days, "s", "SessionStart", "blue://context/session")
}

/// Numbers of the documents related to the first decision, with the reasons.
fn near(project: &Project) -> Vec<(u64, Vec<String>)> {
    let arguments = ["knowledge", "related", "blue://adr/1", "--format", "json"];
    let value: Value = serde_json::from_str(&project.blue(&arguments).stdout).unwrap();
    let one = |near: &Value| {
        let title = near["title"].as_str().unwrap().trim_start_matches('D').parse().unwrap();
        let reasons = near["reasons"].as_array().unwrap().iter();
        (title, reasons.map(|reason| reason.as_str().unwrap().to_string()).collect())
    };
    value.as_array().unwrap().iter().map(one).collect()
}

fn order(project: &Project) -> Vec<u64> {
    near(project).into_iter().map(|(id, _)| id).collect()
}

fn phase(project: &Project) -> String {
    let shown = project.blue(&["context", "show"]).stdout;
    let line = shown.lines().find(|line| line.contains("usage: ")).unwrap();
    line.trim().to_string()
}

#[test]
fn usage_changes_nothing_before_its_thresholds() {
    let project = sample();
    let before = near(&project);
    assert_eq!(phase(&project), "usage: off, 0 of 30 days, 0 of 1,000 events");
    assert!(!project.exists(USAGE), "nothing was read, so nothing is kept");
    let log: String = (0..400).map(|i| read(29 - i % 30, "s", 5)).collect();
    project.write(LOG, log);
    assert_eq!(phase(&project), "usage: off, 29 of 30 days, 400 of 1,000 events");
    assert_eq!(near(&project), before);
    let json = project.blue(&["context", "show", "--format", "json"]).stdout;
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["usage"]["phase"], "off");
    assert_eq!((&json["usage"]["days"], &json["usage"]["events"]), (&29.into(), &400.into()));
}

#[test]
fn documents_read_often_come_first_after_thirty_days() {
    let project = sample();
    let before = order(&project);
    let [first, chosen, old, lately] = before[..4] else { panic!("{before:?}") };
    // One document was read often but long ago, one recently, and one only because blue delivered
    // it.
    let mut log: String = (0..40).map(|_| read(400, "", old)).collect();
    log.extend((0..8).map(|_| read(2, "", lately)));
    let own = |_| line(1, "", "reference", &format!("blue://docs/adrs/{chosen:04}-d{chosen}"));
    log.extend((0..20).map(own));
    project.write(LOG, log);
    assert_eq!(phase(&project), "usage: weighted, 399 days, 68 of 1,000 events");
    let after = near(&project);
    assert_eq!(after[0].0, lately, "{after:?}");
    assert!(after[0].1.contains(&"read here 8 times".to_string()), "{after:?}");
    assert_eq!(after[1..4].iter().map(|near| near.0).collect::<Vec<_>>(), [first, chosen, old]);
    assert_eq!(after.len(), before.len());
}

#[test]
fn documents_read_together_are_related_after_a_thousand_events() {
    let project = sample();
    assert!(!order(&project).contains(&6) || order(&project).last() == Some(&6));
    let mut log = String::new();
    for i in 0..14 {
        log += &read(3, &format!("s{i}"), 1);
        log += &read(3, &format!("s{i}"), 6);
        log += &read(3, &format!("s{i}"), 6);
    }
    // Two common sessions are below the threshold.
    for i in 0..2 {
        log += &(read(3, &format!("s{i}"), 5) + &read(3, &format!("s{i}"), 1));
    }
    let n = 1_000 - log.lines().count();
    log.extend((0..n).map(|_| started(2)));
    project.write(LOG, &log);
    assert_eq!(phase(&project), "usage: off, 1 of 30 days, 1,000 of 1,000 events");
    assert!(!near(&project).iter().any(|near| near.1.join(" ").contains("together")));
    log += &started(2);
    project.write(LOG, &log);
    assert_eq!(phase(&project), "usage: learned, 1 of 30 days, 1,001 events");
    let after = near(&project);
    let six = after.iter().find(|near| near.0 == 6).unwrap();
    assert_eq!(six.1.last().unwrap(), "read together 14 times");
    assert!(!after.iter().any(|near| near.0 != 6 && near.1.join(" ").contains("together")));
    // The relation holds in both directions and also appears in the session bundle.
    let why = project.blue(&["knowledge", "why", "blue://adr/6", "blue://adr/1"]).stdout;
    assert_eq!(why.matches("read together 14 times").count(), 2, "{why}");
    let given = project.blue(&["context", "reference", "blue://adr/1"]).stdout;
    assert!(given.contains("0006-d6"), "{given}");
}

#[test]
fn emitted_files_never_depend_on_the_log() {
    let project = sample();
    let before = project.files();
    let mut log = String::new();
    for i in 0..600 {
        log +=
            &(read(100 - i / 6, &format!("s{}", i / 3), 1) + &read(1, &format!("s{}", i / 3), 6));
    }
    project.write(LOG, log);
    assert!(phase(&project).starts_with("usage: weighted, learned, "), "{}", phase(&project));
    let built = project.blue(&["knowledge", "build", "--force"]);
    assert!(built.stderr.contains("nothing to do"), "{}", built.stderr);
    assert_eq!(project.blue(&["knowledge", "build", "--check"]).code, 0);
    assert_eq!(project.files(), before);
}

#[test]
fn unused_old_documents_are_suggested_for_review() {
    let project = sample();
    project.git(&["init", "-q"]);
    let review = |project: &Project| -> Value {
        let shown = project.blue(&["context", "show", "--format", "json"]).stdout;
        serde_json::from_str::<Value>(&shown).unwrap()["review"].clone()
    };
    // Without a commit the age of a document is unknown.
    assert_eq!(review(&project), serde_json::json!({"days": 30, "documents": null}));
    project.git(&["add", "."]);
    project.git(&["commit", "-qm", "long ago"]);
    let adr = |number: u64, text: &str| {
        let name = format!(".blue/docs/adrs/{number:04}-d{number}.md");
        project.write(&name, format!("# ADR {number:04}: D{number}\n\n{text}\n"));
        name
    };
    let recent = adr(4, "- Status: accepted\n\nOther words.");
    let mut commit = std::process::Command::new("git");
    commit.args(["-c", "user.name=T", "-c", "user.email=t@example.org", "commit", "-qm", "now"]);
    commit.arg(&recent).current_dir(project.path());
    assert!(project.isolate(&mut commit).status().unwrap().success());
    adr(5, "- Status: accepted\n\nNot committed yet.");
    adr(6, "- Status: rejected\n\nNo.");
    adr(7, "- Status: accepted\n\nNew.");
    project.build();
    let files = project.files();
    project.write(LOG, read(3, "s", 2) + &read(40, "s", 3));
    let found = review(&project);
    let documents = found["documents"].as_array().unwrap();
    let uris: Vec<&str> = documents.iter().map(|one| one["uri"].as_str().unwrap()).collect();
    assert_eq!(uris, ["blue://docs/adrs/0001-d1", "blue://docs/adrs/0003-d3"], "{found}");
    assert_eq!(documents[0]["changed"], "2026-01-25T12:00:00Z");
    assert_eq!(documents[0]["delivered"], Value::Null);
    assert_eq!(documents[1]["delivered"], ago(40)[..10], "{found}");
    let shown = project.blue(&["context", "show"]).stdout;
    assert!(
        shown.contains("  review: 2 live documents neither changed nor delivered for 30 days\n"),
        "{shown}"
    );
    assert!(
        shown.contains("    blue://docs/adrs/0001-d1  changed 2026-01-25, never delivered\n"),
        "{shown}"
    );
    let status = project.blue(&["status"]).stdout;
    assert!(
        status.contains("Review     2 live documents neither changed nor delivered"),
        "{status}"
    );
    assert_eq!(project.files(), files, "nothing of it is emitted");
    assert_eq!(project.blue(&["knowledge", "build", "--check"]).code, 0);
    for (days, n) in [(50, 1), (100_000, 0)] {
        project.write(".blue/config.yaml", format!("reference: {{staleness_days: {days}}}\n"));
        project.build();
        let found = review(&project);
        assert_eq!(found["documents"].as_array().unwrap().len(), n, "{days}: {found}");
    }
    project.write(".blue/config.yaml", "reference: {staleness_days: 0}\n");
    project.build();
    assert!(!project.blue(&["context", "show"]).stdout.contains("review"));
}

#[test]
fn incremental_and_complete_counts_agree() {
    let (bits, once) = (sample(), sample());
    let lines: Vec<String> = (0..1_200)
        .map(|i| read(60 - i / 20, &format!("s{}", i / 4), (i * 7 % 6 + 1) as u64))
        .collect();
    let mut log = String::new();
    for (i, line) in lines.iter().enumerate() {
        log += line;
        if i % 300 == 0 {
            bits.write(LOG, &log);
            bits.blue(&["knowledge", "build"]);
        }
        // The log is rotated once, and one line is torn.
        if i == 800 {
            bits.write(BEFORE, &log);
            log.clear();
        }
        if i == 1_000 {
            log += "{\"timestamp\":\"20\n";
        }
    }
    // The last line is still being written.
    bits.write(LOG, format!("{log}{{\"time"));
    once.write(LOG, lines.concat());
    assert_eq!(phase(&bits), phase(&once));
    assert!(phase(&once).contains("1,200 events"));
    assert_eq!(near(&bits), near(&once));
    let counts = |project: &Project| {
        let bytes = std::fs::read(project.path().join(USAGE)).unwrap();
        let usage: Usage = usage::seal(&project.key()).decode(&bytes).expect("a sealed cache");
        (usage.documents, usage.together, usage.sessions)
    };
    assert_eq!(counts(&bits), counts(&once));
    // A lost or damaged usage file is counted again from the remaining logs.
    let kept = counts(&once);
    let mut damaged = std::fs::read(once.path().join(USAGE)).unwrap();
    let middle = damaged.len() / 2;
    damaged[middle] ^= 1;
    once.write(USAGE, damaged);
    assert_eq!(phase(&once), phase(&bits));
    assert_eq!(counts(&once), kept);
    std::fs::remove_file(once.path().join(USAGE)).unwrap();
    once.build();
    assert_eq!(counts(&once), kept);
    // The counts of a deleted log stay.
    std::fs::remove_file(once.path().join(LOG)).unwrap();
    assert_eq!(phase(&once), phase(&bits));
}

#[test]
fn a_huge_log_is_counted_quickly() {
    let project = sample();
    let old = started(90);
    let block: String = (0..2_000).map(|i| read(5, &format!("s{i}"), 5)).collect();
    let mut log = old;
    while log.len() < 40 << 20 {
        log += &block;
    }
    project.write(LOG, log);
    let started = std::time::Instant::now();
    let first = phase(&project);
    assert!(first.starts_with("usage: weighted, learned, 85 days, "), "{first}");
    assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
    assert_eq!(order(&project)[0], 5);
}
