//! Changed bytes in emitted files and caches.
//!
//! A sample of the bytes is changed. With BLUE_EVERY_BYTE set, every byte is.

use std::collections::BTreeMap;

use blue::build::{Options, Outcome, build};
use blue::model::Machine;
use blue::root::Root;

use crate::support::Project;

/// A committed project with every kind of emitted file, built.
fn built() -> Project {
    let project = Project::new();
    project.git(&["init", "-q"]);
    documents(&project, 1);
    project.git(&["add", "-A"]);
    project.git(&["commit", "-qm", "documents"]);
    project.build();
    project
}

fn documents(project: &Project, edition: usize) {
    for i in 1..=3 {
        let text = format!(
            "# {i}. Decision {i}\n\n## Status\n\nAccepted\n\n## Decision\n\nEdition {} of {i}. See ADR {}.\n",
            if i == 1 { edition } else { 1 },
            i % 3 + 1
        );
        project.write(&format!("docs/adr/{i:04}-decision-{i}.md"), text);
    }
    project.write("docs/rfcs/0001-new.md", "# RFC 1: New\n\n- Status: draft\n\nNew. See ADR 1.\n");
}

fn run(project: &Project, check: bool) -> anyhow::Result<Outcome> {
    let machine = Machine { key: Some(project.key()), ..Machine::default() };
    let root = Root::open(&project.path().canonicalize().unwrap()).unwrap().with_machine(machine);
    build(&root, &Options { check, ..Options::quiet() })
}

/// Evenly spaced positions, or all of them if BLUE_EVERY_BYTE is set.
fn positions(n_bytes: usize, n_wanted: usize) -> impl Iterator<Item = usize> {
    let all = std::env::var_os("BLUE_EVERY_BYTE").is_some();
    (0..n_bytes).step_by(if all { 1 } else { (n_bytes / n_wanted).max(1) })
}

/// Changes one byte in one of three ways: by one bit, in case, or to a byte beyond ASCII.
fn changed(bytes: &[u8], at: usize, way: usize) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[at] ^= [0x01, 0x20, 0x80][way % 3];
    bytes
}

/// Checks that a changed file is reported.
fn assert_noticed(project: &Project, path: &str, what: &str) {
    match run(project, true) {
        Ok(outcome) => {
            assert!(outcome.not_current().next().is_some(), "{path}, {what}: not noticed")
        }
        Err(error) => assert!(format!("{error:#}").contains(path), "{path}, {what}: {error:#}"),
    }
}

/// Checks that a build restores the file or reports why it cannot.
fn assert_restored(project: &Project, clean: &BTreeMap<String, Vec<u8>>, path: &str, what: &str) {
    match run(project, false) {
        Ok(_) => assert_eq!(project.emitted(), *clean, "{path}, {what}: not restored"),
        Err(error) => {
            assert!(format!("{error:#}").contains(path), "{path}, {what}: {error:#}");
            project.write(path, &clean[path]);
        }
    }
}

#[test]
fn every_changed_byte_of_an_emitted_file_is_noticed() {
    let project = built();
    let clean = project.emitted();
    assert!(clean.len() >= 8, "{:?}", clean.keys());
    assert!(run(&project, true).unwrap().not_current().next().is_none());
    let mut n_points = 0;
    for (path, bytes) in &clean {
        for at in positions(bytes.len(), 70) {
            project.write(path, changed(bytes, at, n_points));
            assert_noticed(&project, path, &format!("byte {at}"));
            // A build costs more than a check, so only every eighth change is built.
            match n_points % 8 {
                0 => assert_restored(&project, &clean, path, &format!("byte {at}")),
                _ => drop(project.write(path, bytes)),
            }
            n_points += 1;
        }
        for (what, text) in [
            ("nothing left", Vec::new()),
            ("cut in half", bytes[..bytes.len() / 2].to_vec()),
            ("without its end", bytes[..bytes.len() - 1].to_vec()),
            ("with a line more", [bytes, b"\n".as_slice()].concat()),
            ("twice", [bytes.as_slice(), bytes].concat()),
            ("all NUL", vec![0; bytes.len()]),
        ] {
            project.write(path, text);
            assert_noticed(&project, path, what);
            assert_restored(&project, &clean, path, what);
        }
    }
    println!("{n_points} bytes");
    assert!(n_points > 500, "only {n_points} bytes were tried");
}

/// The dates are outside the digests, so they have a checksum of their own.
#[test]
fn every_changed_byte_of_a_header_is_noticed() {
    let project = built();
    let clean = project.emitted();
    let mut n_points = 0;
    for (path, bytes) in &clean {
        let text = String::from_utf8(bytes.clone()).unwrap();
        let end = text.find("Regenerate").or_else(|| text.find("regenerate"));
        // Every third byte, each changed in another way.
        for at in (0..end.unwrap_or(0)).step_by(3) {
            project.write(path, changed(bytes, at, at));
            let noticed =
                run(&project, true).map_or(true, |outcome| outcome.not_current().next().is_some());
            assert!(noticed, "{path}, byte {at}: not noticed");
            n_points += 1;
        }
        project.write(path, bytes);
    }
    assert!(n_points > 150, "only {n_points} bytes were tried");
}

#[test]
fn a_changed_byte_in_a_cache_changes_no_output() {
    let project = built();
    let clean: Vec<_> = [1, 2]
        .into_iter()
        .map(|edition| {
            documents(&project, edition);
            assert_eq!(project.blue(&["knowledge", "build", "--force"]).code, 0);
            project.emitted()
        })
        .collect();
    let mut n_points = 0;
    for name in ["facts", "state"].map(|n| format!(".blue/local/{n}")) {
        let name = name.as_str();
        let n_bytes = std::fs::read(project.path().join(name)).unwrap().len();
        for at in positions(n_bytes, 120) {
            let edition = n_points % 2;
            documents(&project, edition + 1);
            let bytes = std::fs::read(project.path().join(name)).unwrap();
            project.write(name, changed(&bytes, at.min(bytes.len() - 1), n_points));
            run(&project, false).unwrap();
            assert_eq!(project.emitted(), clean[edition], "{name}: byte {at}");
            n_points += 1;
        }
    }
    assert!(n_points > 200, "only {n_points} bytes were tried");
}
