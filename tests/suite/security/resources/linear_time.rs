//! Parsing takes time linear in the size of any input.

use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use blue::guard::Allowed;
use blue::model::plan::Limits;
use blue::model::{Source, TextFormat};
use blue::parse::{parse, texts, work};

use super::{fill, fronted};
use crate::support::{Project, thread_time};

/// Appends numbered parts until the text has N bytes.
fn count(n_bytes: usize, part: impl Fn(usize) -> String) -> String {
    let mut text = String::new();
    for i in 0.. {
        if text.len() >= n_bytes {
            break;
        }
        text.push_str(&part(i));
    }
    text
}

pub(super) type Shape = (&'static str, fn(usize) -> String);

/// Markdown that parsers are known to be slow at: the lists of cmark, commonmark.js, markdown-it
/// and pulldown-cmark, and shapes that blue's own parsing could be slow at.
const MARKDOWN: &[Shape] = &[
    ("nested brackets", |n| format!("{}a{}", fill("[", n / 2), fill("]", n / 2))),
    ("open brackets", |n| fill("[", n)),
    ("closing brackets", |n| fill("]", n)),
    ("nested strong", |n| format!("{}a{}", fill("*a **a ", n / 2), fill("b** b* ", n / 2))),
    ("emphasis closers", |n| fill("a_ ", n)),
    ("emphasis openers", |n| fill("_a ", n)),
    ("mixed emphasis", |n| fill("*a_ ", n)),
    ("mismatched emphasis", |n| fill("a***b__ c*d_", n)),
    ("rule of three", |n| format!("a**b{}", fill("c* ", n))),
    ("link closers", |n| fill("a]", n)),
    ("link openers", |n| fill("[a", n)),
    ("links without end", |n| fill("[a](<b", n)),
    ("link destinations", |n| fill("[a](b", n)),
    ("nested links", |n| fill("[](", n)),
    ("link titles", |n| fill("[a](b \"", n)),
    ("images", |n| fill("![", n)),
    ("nested images", |n| fill("![[]()", n)),
    ("parentheses in a link", |n| format!("[a]({}", fill("(", n))),
    ("backticks", |n| count(n, |i| format!("e{}", "`".repeat(i % 4_000)))),
    ("odd backticks", |n| fill("`a``b```c", n)),
    ("declarations", |n| fill("<!A ", n)),
    ("processing", |n| fill("<?", n)),
    ("character data", |n| fill("<![CDATA[", n)),
    ("comments", |n| fill("<!-- a", n)),
    ("short comments", |n| fill("a <!-", n)),
    ("tags", |n| fill("<a b", n)),
    ("tag values", |n| fill("<a x='", n)),
    ("angle brackets", |n| fill("<", n)),
    ("autolinks", |n| fill("<http:a", n)),
    ("entities", |n| fill("&", n)),
    ("entity names", |n| fill("&#1234567;&foo", n)),
    ("backslashes", |n| fill("\\", n)),
    ("quotes", |n| format!("{}a", fill("> ", n))),
    ("deep quotes and lazy lines", |n| format!("{}a\n{}", fill("> ", n / 2), fill("b\n", n / 2))),
    ("deep lists", |n| format!("{}a", fill("- ", n))),
    ("deep numbers", |n| format!("{}a", fill("1. ", n))),
    ("lists in steps", |n| {
        let depth = (n as f64).sqrt() as usize;
        (0..depth).map(|i| format!("{}* a\n", " ".repeat(i * 2))).collect()
    }),
    ("quotes without spaces", |n| format!("{}a\n{}", fill(">", n / 2), fill("b\n", n / 2))),
    ("lists in steps and lazy lines", |n| {
        let depth = (n as f64 / 2.0).sqrt() as usize;
        let steps: String = (0..depth).map(|i| format!("{}* a\n", " ".repeat(i * 2))).collect();
        steps + &fill("b\n", n / 2)
    }),
    ("deep lists and empty lines", |n| format!("{}a\n{}", fill("- ", n / 2), fill("\n", n / 2))),
    ("quotes and lists in turn", |n| format!("{}a", fill("> - ", n))),
    ("list items", |n| fill("-\n", n)),
    ("list markers", |n| fill("- a\n1. b\n", n)),
    ("definitions", |n| count(n, |i| format!("[a{i}]: b\n"))),
    ("equal definitions", |n| fill("[a]: b\n", n)),
    ("definitions and uses", |n| {
        count(n / 2, |i| format!("[a{i}]: b{i}.md\n")) + &count(n / 2, |i| format!("[a{i}] "))
    }),
    ("chains of definitions", |n| count(n, |i| format!("[a{i}]: [a{}]\n", i + 1))),
    ("long labels", |n| fill(&format!("[{}][", "a".repeat(900)), n)),
    ("broken definitions", |n| fill("[a]: <b\n", n)),
    ("definition titles", |n| fill("[a]: b \"\n", n)),
    ("footnotes", |n| count(n, |i| format!("[^{i}]: a\n"))),
    ("footnote uses", |n| fill("[^a]", n)),
    ("nested footnotes", |n| fill("[^a]: ", n)),
    ("tables with many columns", |n| {
        format!("{}\n{}\n{}\n", fill("|a", n / 3), fill("|-", n / 3), fill("|b", n / 3))
    }),
    ("tables with many rows", |n| format!("|a|b|\n|-|-|\n{}", fill("|c\n", n))),
    ("setext headings", |n| fill("a\n=\n", n)),
    ("headings", |n| fill("# a\n", n)),
    ("headings of telling names", |n| fill("## Decision\n", n)),
    ("decisions with text", |n| fill("## Decision\n\na\n\n", n)),
    ("heading attributes", |n| fill("# a {#b .c}\n", n)),
    ("heading attributes without end", |n| format!("# a {}", fill("{", n))),
    ("one heading", |n| format!("# {}", fill("a ", n))),
    ("rules", |n| fill("***\n", n)),
    ("fences", |n| fill("```\n~~~\n", n)),
    ("fences in quotes", |n| fill("> ```\n", n)),
    ("indented code", |n| fill("    a\n\n", n)),
    ("tabs", |n| fill("\t", n)),
    ("spaces", |n| format!("a{}b", fill(" ", n))),
    ("hard breaks", |n| fill("a  \n", n)),
    ("empty lines", |n| fill("\n", n)),
    ("carriage returns", |n| fill("\r", n)),
    ("one long word", |n| fill("a", n)),
    ("one paragraph", |n| fill("word ", n)),
    ("mentions", |n| count(n, |i| format!("ADR {i} "))),
    ("equal mentions", |n| fill("ADR-5, ", n)),
    ("lists of mentions", |n| format!("ADRs {}", fill("1, ", n))),
    ("mentions without number", |n| fill("ADR ", n)),
    ("mention and digits", |n| format!("ADR {}", fill("1", n))),
    ("addresses", |n| fill("blue://", n)),
    ("addresses in lines", |n| count(n, |i| format!("blue://docs/adrs/{i}\n"))),
    ("links to documents", |n| count(n, |i| format!("[a]({i}.md)\n"))),
    ("links with labels", |n| count(n, |i| format!("[ADR {i}]({i}.md) "))),
    ("labels before links", |n| count(n, |i| format!("ADR {i}: [a]({i}.md) "))),
    ("superseded lines", |n| count(n, |i| format!("Superseded by [ADR {i}]({i}.md)\n"))),
    ("references in one long line", |n| {
        format!("Depends on: {}", count(n, |i| format!("[ADR {i}]({i}.md), ")))
    }),
    ("html links", |n| fill("<a href=\"b.md\">\n", n)),
    ("html links without end", |n| format!("<p>\n{}", fill("href=\"b.md", n))),
    ("html table", |n| format!("<table>\n{}", fill("<tr><td>", n))),
    ("html rows", |n| fill("<tr", n)),
    ("fields", |n| count(n, |i| format!("Key{i}: value\n"))),
    ("field table", |n| format!("| Status |{}\n", fill(" a |", n))),
    ("status bullets", |n| fill("- Status: accepted\n", n)),
    ("status sections", |n| fill("## Status\n\nAccepted\n\n", n)),
    ("check boxes", |n| fill("- [ ] a\n", n)),
    ("phases and boxes", |n| fill("## Phase 1\n\n- [ ] a\n\n", n)),
    ("sentences", |n| fill("e.g. ", n)),
    ("sentence ends", |n| fill("a. ", n)),
    ("hidden characters", |n| fill("\u{200B}", n)),
    ("combining characters", |n| format!("a{}", fill("\u{0301}", n))),
    ("wide characters", |n| fill("語", n)),
    ("capital sharp s", |n| fill("ẞ", n)),
    ("camel case", |n| fill("aB", n)),
    ("words of one letter", |n| fill("a-b_c.", n)),
    ("many words", |n| count(n, |i| format!("w{i} "))),
    ("open front matter", |n| format!("---\na: b\n{}", fill("c: d\n", n))),
];

/// YAML that parsers are known to be slow at, as front matter.
const YAML: &[Shape] = &[
    ("billion laughs", |n| {
        let line = |i: usize| match i {
            0 => "a0: &a0 lol\n".to_string(),
            i => format!("a{i}: &a{i} [{}]\n", vec![format!("*a{}", i - 1); 9].join(", ")),
        };
        count(n, line)
    }),
    ("quadratic aliases", |n| {
        format!("a: &a {}\nb: [{}x]\n", fill("x", n / 2), fill("*a, ", n / 2))
    }),
    ("quadratic sequences", |n| {
        format!("a: &a [{}x]\nb: [{}x]\n", fill("x, ", n / 2), fill("*a, ", n / 2))
    }),
    ("merge keys", |n| {
        let line = |i: usize| match i {
            0 => "a0: &a0 {x: 1}\n".to_string(),
            i => format!("a{i}: &a{i}\n  <<: *a{}\n  k{i}: 1\n", i - 1),
        };
        count(n, line)
    }),
    ("many anchors", |n| count(n, |i| format!("k{i}: &a{i} x\n"))),
    ("anchors and aliases", |n| count(n, |i| format!("k{i}: &a{i} x\nl{i}: *a{i}\n"))),
    ("an anchor set again", |n| count(n, |i| format!("k{i}: &a x\n"))),
    ("deep flow", |n| format!("a: {}{}", fill("[", n / 2), fill("]", n / 2))),
    ("open flow", |n| format!("a: {}", fill("[", n))),
    ("open mappings", |n| format!("a: {}", fill("{a: ", n))),
    ("shallow flow", |n| format!("a: [{}x]", fill("[[x]], ", n))),
    ("closing flow", |n| format!("a: {}", fill("]", n))),
    ("deep dashes", |n| format!("a:\n  {}x", fill("- ", n))),
    ("deep questions", |n| format!("{}x", fill("? ", n))),
    ("nested blocks", |n| {
        let depth = (n as f64).sqrt() as usize;
        (0..depth).map(|i| format!("{}a:\n", " ".repeat(i))).collect()
    }),
    ("a huge key", |n| format!("{}: b", fill("k", n))),
    ("a huge quoted key", |n| format!("\"{}\": b", fill("k", n))),
    ("huge flow keys", |n| format!("a: {{{}: b}}", fill("k ", n))),
    ("many keys", |n| count(n, |i| format!("k{i}: v\n"))),
    ("nested keys", |n| format!("m:\n{}", count(n, |i| format!("  k{i}: v\n")))),
    ("keys nested twice", |n| format!("m:\n  o:\n{}", count(n, |i| format!("    k{i}: v\n")))),
    ("equal keys", |n| fill("k: v\n", n)),
    ("keys that share a beginning", |n| count(n, |i| format!("\"k:{i}\": v\n"))),
    ("a long scalar", |n| format!("a: {}", fill("word ", n))),
    ("a long block", |n| format!("a: |\n{}", fill("  word\n", n))),
    ("a long folded block", |n| format!("a: >\n{}", fill("  word\n\n", n))),
    ("quoted escapes", |n| format!("a: \"{}\"", fill("\\x41", n))),
    ("a quote without end", |n| format!("a: \"{}", fill("word ", n))),
    ("single quotes", |n| format!("a: '{}'", fill("''", n))),
    ("plain lines", |n| format!("a:\n{}", fill("  word\n", n))),
    ("comments", |n| fill("# a\n", n)),
    ("colons", |n| format!("a: {}", fill(": ", n))),
    ("colon keys", |n| fill("a:b:", n)),
    ("tags", |n| format!("a: {}x", fill("!!str ", n))),
    ("a long tag", |n| format!("a: !{} x", fill("t", n))),
    ("directives", |n| format!("a: b\n{}", fill("%TAG ! x\n", n))),
    ("documents", |n| fill("a: b\n--- x\n", n)),
    ("spaces", |n| format!("a:{}b", fill(" ", n))),
    ("tabs", |n| format!("a:{}b", fill("\t", n))),
    ("empty lines", |n| format!("a: b\n{}", fill("\n", n))),
    ("commas", |n| format!("a: [{}]", fill(",", n))),
    ("items", |n| format!("a: [{}x]", fill("x, ", n))),
    ("requires", |n| format!("requires: [{}x]", count(n, |i| format!("{i}, ")))),
    ("depends on", |n| format!("depends-on:\n{}", count(n, |i| format!("  - ADR {i}\n")))),
    ("superseded by", |n| format!("status: superseded by {}", fill("ADR 5, ", n))),
    ("parentheses", |n| format!("related: {}", fill("(", n))),
];

/// Runs every parser on one document.
fn all(text: &str, format: TextFormat) {
    let source = Source { bytes: text.as_bytes().to_vec(), sidecar: None, format };
    let limits = Limits::default();
    parse(&source, &limits, &Allowed::default());
    texts(&source, &limits, &Allowed::default());
    work(&source, &limits, &Allowed::default());
    // Projects may raise these limits, so parsing without them must be linear, too.
    let raised = Limits {
        line_bytes: u64::MAX,
        references: u64::MAX,
        front_matter_bytes: u64::MAX,
        ..limits
    };
    parse(&source, &raised, &Allowed::default());
}

/// The shortest time of several tries.
fn best(text: &str, format: TextFormat, n_tries: u32) -> Duration {
    let time = |_| {
        let started = thread_time();
        all(text, format);
        thread_time() - started
    };
    (0..n_tries).map(time).min().unwrap()
}

/// Describes a time that grows faster than the size. A factor of 4 is linear, 16 is quadratic.
fn growth(name: &str, format: TextFormat, small: &str, large: &str) -> Option<String> {
    for n_tries in [1, 3, 9] {
        let (few, many) = (best(small, format, n_tries), best(large, format, n_tries));
        if std::env::var_os("BLUE_TIMES").is_some() {
            eprintln!("{name:35} {few:>10.1?} {many:>10.1?}");
        }
        // Very short times are too noisy to compare.
        let ratio = many.as_secs_f64() / few.as_secs_f64().max(0.002);
        if ratio < 9.0 || many < Duration::from_millis(40) {
            return None;
        }
        if n_tries == 9 || many > Duration::from_secs(5) {
            let (few_bytes, many_bytes) = (small.len(), large.len());
            return Some(format!(
                "{name}: {few:.1?} for {few_bytes} bytes, {many:.1?} for {many_bytes}"
            ));
        }
    }
    None
}

/// Fails for shapes whose time grows faster than their size, or that do not end.
pub(super) fn stays_linear(
    shapes: &'static [Shape],
    format: TextFormat,
    wrap: fn(&str) -> String,
    n_bytes: usize,
) {
    let mut slow = Vec::new();
    for (name, shape) in shapes {
        let (sender, done) = channel();
        std::thread::spawn(move || {
            let (small, large) = (wrap(&shape(n_bytes)), wrap(&shape(4 * n_bytes)));
            // The receiver is gone if the time limit was reached.
            sender.send(growth(name, format, &small, &large)).ok();
        });
        // A shape over this limit counts as endless. Its thread is not joined.
        match done.recv_timeout(Duration::from_secs(60)) {
            Ok(found) => slow.extend(found),
            Err(_) => slow.push(format!("{name}: did not end")),
        }
    }
    assert!(slow.is_empty(), "{}", slow.join("\n"));
}

#[test]
fn pathological_markdown_takes_time_linear_in_its_size() {
    let wrap = |text: &str| format!("# Title\n\nStatus: accepted\n\n{text}");
    stays_linear(MARKDOWN, TextFormat::Markdown, wrap, 16 << 10);
}

#[test]
fn pathological_front_matter_takes_time_linear_in_its_size() {
    stays_linear(YAML, TextFormat::Markdown, fronted, 12 << 10);
}

#[test]
fn a_megabyte_of_any_shape_is_built_in_time() {
    // The real binary with its default limits. The minute allows for slow machines.
    let project = Project::new();
    let megabyte = 1 << 20;
    for (i, (_, shape)) in MARKDOWN.iter().enumerate().step_by(4) {
        project.write(&format!("docs/adr/{i:04}-m.md"), format!("# M\n\n{}", shape(megabyte)));
    }
    for (i, (_, shape)) in YAML.iter().enumerate() {
        project.write(&format!("docs/adr/{:04}-y.md", 1000 + i), fronted(&shape(60 << 10)));
    }
    let started = Instant::now();
    assert_eq!(project.build().code, 0);
    let took = started.elapsed();
    assert!(took < Duration::from_secs(60), "{took:.1?}");
}
