//! Input built to make parsers and scanners slow.

use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::support::{Project, thread_time};

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
fn slow_shapes_are_built_in_time() {
    let documents = [
        "RFC 1 ".repeat(150_000),
        "[x](0001-one.md) ".repeat(40_000),
        (0..9_000).map(|i| format!("[x](a{i}.md) ADR-{i} ")).collect::<String>(),
        "<tr".repeat(100_000),
        format!("---\na: {}\n---\n", "[".repeat(60_000)),
        format!("---\n{}\n---\n", "- ".repeat(30_000)),
        format!("---\na: {}\n---\n", "{a: ".repeat(15_000)),
        "blue://".repeat(30_000),
        "## Status\n\n".to_string() + &"Superseded by ".repeat(40_000),
    ];
    for (i, text) in documents.iter().enumerate() {
        let project = Project::with("docs/adr/0001-one.md", "# One\n\nText.\n");
        project.write("docs/adr/0002-slow.md", text);
        let started = Instant::now();
        let mut child = project
            .command(&["knowledge", "build"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // A bound on runaway growth, not a measure of speed: these took from eight seconds to for
        // ever.
        while child.try_wait().unwrap().is_none() {
            let late = started.elapsed() > Duration::from_secs(15);
            if late {
                child.kill().unwrap();
            }
            assert!(!late, "document {i} takes too long");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

#[test]
fn thousands_of_broken_links_are_all_reported() {
    let project = Project::with("docs/adr/0001-one.md", "# One\n\nText.\n");
    let long = "a-rather-long-name-for-a-document-".repeat(3);
    for i in 1..500 {
        let links: String = (0..40).map(|k| format!("[x](9{i}{k}-{long}zz.md) ADR 1 ")).collect();
        let chain = format!("- Supersedes: [y](0001-{long}{}.md)", i + 1);
        project
            .write(&format!("docs/adr/0001-{long}{i}.md"), format!("# D\n\n{chain}\n\n{links}\n"));
    }
    let output = project.blue(&["knowledge", "lint", "--each", "--format", "json"]);
    assert_eq!(output.stdout.matches("BLUE-REF-001").count(), 499 * 40 + 1);
    // Without the flag, the links with one cause are one finding with their number.
    let output = project.blue(&["knowledge", "lint", "--format", "json"]);
    let findings: serde_json::Value = serde_json::from_str(&output.stdout).unwrap();
    let broken = findings["diagnostics"].as_array().unwrap().iter();
    let broken = broken.filter(|finding| finding["code"] == "BLUE-REF-001");
    let counts: Vec<u64> = broken.map(|finding| finding["count"].as_u64().unwrap_or(1)).collect();
    assert!(counts.len() < 10, "{counts:?}");
    assert_eq!(counts.iter().sum::<u64>(), 499 * 40 + 1);
}

#[test]
fn scanning_takes_linear_time() {
    for text in [
        "a://".repeat(200_000),
        "<!--".repeat(200_000),
        "-----BEGIN PRIVATE KEY-----\n".repeat(20_000),
        "password=".repeat(80_000),
        "\u{200F}".repeat(200_000),
        "ignore all previous ".repeat(40_000),
        "eyJhbGciOiJI".repeat(60_000),
        "a".repeat(800_000),
        "\u{E0041}a".repeat(100_000),
        "Human:\n".repeat(100_000),
        "curl -u ".repeat(100_000),
        "|password|pwd\n|--|--\n".repeat(40_000),
        format!("{}\n|--|\n", "|pwd".repeat(200)).repeat(1_000),
        "sk-proj-aB3dE5gH7jK9mN1\n".repeat(40_000),
        "AKIA\n".repeat(150_000),
        "oauth:a -us1 pat.".repeat(50_000),
    ] {
        let time = |n_bytes: usize| {
            let started = thread_time();
            let part = &text[..text.floor_char_boundary(n_bytes)];
            blue::guard::clean(part, &blue::guard::Allowed::default());
            thread_time() - started
        };
        // Four times the text takes four times as long on any machine, and sixteen times as long if
        // the time is quadratic. Short times are noise.
        let (short, long) = (time(text.len() / 8), time(text.len() / 2));
        let start: String = text.chars().take(20).collect();
        assert!(long < short * 8 + Duration::from_millis(500), "{start}: {short:?}, {long:?}");
    }
}
