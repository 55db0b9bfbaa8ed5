//! Mutated input for every parser, hook and server.
//!
//! Inputs are mutated from handwritten seeds. An input with new behaviour becomes a seed, so the
//! search follows the behaviour of the program. Every target runs for a few seconds;
//! `BLUE_FUZZ_SECONDS=600 cargo test --test suite fuzz -- --nocapture` runs each of them for ten
//! minutes, and BLUE_FUZZ_SEED selects other inputs. Inputs that broke a target once are in
//! `tests/fuzz/` and run first.

mod formats;
mod processes;

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use blue::model::Digest;

use crate::support;

/// Summary of the behaviour on one input, to recognise new behaviour.
type Answer = Vec<u64>;

/// A small pseudo-random generator that gives the same numbers on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
}

/// Fragments with a meaning in one of the formats.
const WORDS: &[&str] = &[
    "---\n",
    "\n",
    "\r\n",
    "\r",
    "\0",
    "\t",
    " ",
    "#",
    "## Status\n\n",
    "| a | b |\n|---|---|\n",
    "```",
    "~~~",
    "<!--",
    "-->",
    "<table><tr><td>",
    "[x](",
    "](",
    ")",
    "[a]: b\n",
    "![",
    "<",
    ">",
    "&lt;",
    "&#0;",
    "\\",
    "`",
    "*",
    "**",
    "- ",
    "1. ",
    "> ",
    "- [ ] ",
    "status: ",
    "title: ",
    "Superseded by ",
    "ADR 1",
    "RFC-2",
    "ADRs 1, 2 and 3",
    "blue://docs/adrs/1",
    "blue://",
    "..",
    "/",
    "%2e",
    "%00",
    "%",
    "?",
    "*x",
    "&x",
    "&a [*a]",
    "<<: *a",
    "!!binary ",
    "!!",
    "? ",
    ": ",
    "{",
    "}",
    "[",
    "]",
    "\"",
    "'",
    "|\n",
    ">-\n",
    "\u{feff}",
    "\u{202e}",
    "\u{200b}",
    "\u{e0041}",
    "\u{fe0f}",
    "👩‍👩‍👧",
    "é",
    "ß",
    "ı",
    "İ",
    "\u{0301}",
    "\u{2028}",
    "ﬀ",
    "0x1p-3",
    "1e999",
    "-9223372036854775809",
    "18446744073709551616",
    "null",
    "true",
    "NaN",
    "2026-01-25",
    "//",
    "/*",
    "*/",
    ",",
    ":",
    "\\u0000",
    "\\ud800",
    "hooks",
    "mcpServers",
    "blue",
    "checksum: ",
    "seal: ",
    "version: 1\n",
    "{}",
    "[]",
    "\"\"",
];

fn mutated(random: &mut Random, pool: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = pool[random.below(pool.len())].clone();
    for _ in 0..=random.below(4) {
        let at = random.below(bytes.len() + 1);
        let end = (at + random.below(40)).min(bytes.len());
        match random.below(9) {
            0 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            1 if at < bytes.len() => bytes[at] = random.next() as u8,
            2 => drop(bytes.drain(at..end)),
            3 => {
                let part = bytes[at..end].to_vec();
                let most = if random.below(40) == 0 { 400 } else { 3 };
                let n = 1 + random.below(most);
                bytes.splice(at..at, part.repeat(n));
            }
            4 => bytes.truncate(at),
            5 => {
                let other = &pool[random.below(pool.len())];
                let from = random.below(other.len() + 1);
                let part = other[from..(from + random.below(200)).min(other.len())].to_vec();
                bytes.splice(at..end, part);
            }
            6 => {
                let word = WORDS[random.below(WORDS.len())].as_bytes();
                let most = if random.below(30) == 0 { 300 } else { 1 };
                let n = 1 + random.below(most);
                bytes.splice(at..at, word.repeat(n));
            }
            _ => {
                let word = WORDS[random.below(WORDS.len())].as_bytes().to_vec();
                bytes.splice(at..at, word);
            }
        }
        bytes.truncate(1 << 16);
    }
    bytes
}

fn seconds(few: f64) -> Duration {
    let asked = std::env::var("BLUE_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok());
    Duration::from_secs_f64(asked.unwrap_or(few))
}

fn random() -> Random {
    let asked = std::env::var("BLUE_FUZZ_SEED").ok().and_then(|text| text.parse::<u64>().ok());
    Random(asked.unwrap_or(1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
}

/// Inputs that broke a target before, from `tests/fuzz/`.
fn kept(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz");
    let is_ours = |path: &Path| path.file_name().unwrap().to_string_lossy().starts_with(target);
    let paths = support::entries(&folder).into_iter().filter(|path| is_ours(path));
    paths.map(|path| std::fs::read(path).unwrap()).collect()
}

/// Runs a target for some seconds. After a panic it prints and stores the input.
fn fuzz(target: &str, seeds: &[&[u8]], few: f64, judge: impl Fn(&[u8]) -> Answer) {
    let mut pool: Vec<Vec<u8>> =
        seeds.iter().map(|seed| seed.to_vec()).chain(kept(target)).collect();
    let mut seen = BTreeSet::new();
    let attempt = |bytes: &[u8]| {
        let started = Instant::now();
        let judged = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| judge(bytes)));
        let slow = started.elapsed() > Duration::from_secs(5);
        match judged {
            Ok(answer) if !slow => answer,
            _ => {
                let path =
                    std::env::temp_dir().join(format!("{target}-{}", Digest::of(bytes).short()));
                std::fs::write(&path, bytes).unwrap();
                panic!(
                    "{target} broke, slow: {slow}; keep {} in tests/fuzz/:\n{:?}",
                    path.display(),
                    String::from_utf8_lossy(bytes)
                );
            }
        }
    };
    for seed in &pool {
        seen.insert(attempt(seed));
    }
    let (mut random, started, mut n) = (random(), Instant::now(), 0u64);
    while started.elapsed() < seconds(few) {
        let bytes = mutated(&mut random, &pool);
        if seen.insert(attempt(&bytes)) && pool.len() < 4_000 {
            pool.push(bytes);
        }
        n += 1;
    }
    println!("{target}: {n} inputs, {} kinds of answer", seen.len());
    assert!(n > 20, "{target}: only {n} inputs");
}

/// Logarithm of a size, so that only large differences count as new behaviour.
fn size(n: usize) -> u64 {
    u64::from(usize::BITS - n.leading_zeros())
}

const DOCUMENT: &[u8] = b"---\ntitle: \"One\"\nstatus: accepted\ndate: 2026-01-25\nsupersedes: [ADR-2, '0003']\nx: &a {b: *a}\n---\n\n# ADR 0001: One\n\n| | |\n|---|---|\n| **Status** | Accepted |\n\n## Decision\n\nSee [two](0002-two.md#x), RFC 3, blue://docs/adrs/4 and `code`.\n\n- [ ] task\n\n```\nADR 9\n```\n";
const OLD_STYLE: &[u8] = b"# 1. Record decisions\r\n\r\nDate: 2016-02-12\r\n\r\n## Status\r\n\r\nSuperseded by [2. Two](0002-two.md)\r\n\r\n## Context\r\n\r\nText <table><tr><td>Status</td><td>Draft</td></tr></table>\r\n";
const MEDIAWIKI: &[u8] = b"<pre>\n  BIP: 2\n  Title: One\n  Authors: A <a@x.org>\n           B\n  Status: Final\n</pre>\n\n==Abstract==\n\n'''See''' [[bip-0001.mediawiki|BIP 1]], [https://x.org x] and <code>c</code>.\n\n{|\n! a\n| b\n|-\n|}\n# one\n## two\n{{t}}\n";
const RESTRUCTURED_TEXT: &[u8] = b"=====\nThree\n=====\n\n:Status: Draft\n:Author: Ada,\n  Bo\n\n.. list-table::\n\n   * - Date\n     - 2026-01-02\n\nDecision\n--------\n\nSee :doc:`0001-a`, `two <0002-b.rst>`_, `c d`_, e_ and [1]_. So::\n\n  code\n\n* a\n\n  * b\n\n.. _c d: x.rst\n.. [1] ADR 4\n.. note:: old\n\n==== ====\na    b\n==== ====\n\n__ y\n";
const ASCIIDOC: &[u8] = b"= ADR 3: Three\nAda Moss <a@x.org>\nv1, 2026-01-02\n:status: accepted\n\n[cols=\"1h,1\"]\n|===\n| Status\n| Draft\n|===\n\nDate:: 2026-01-02\n\n== Decision\n\nSee xref:0001-a.adoc[ADR 1], <<b>>, {status} and link:c[d].\n\n----\ncode\n----\n* a\n** b\n. c\n";
