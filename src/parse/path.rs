//! The files and folders a document may name: in code spans, links and header fields.

use std::collections::BTreeSet;

use super::Page;
use super::field::Field;
use super::reference::percent_decoded;
use crate::model::binding::{MAX_PATH, clean_path, is_glob};
use crate::model::{NamedPath, Naming};

/// More than this are an index; the rest is not read.
const MAX_NAMED: usize = 1_000;

#[derive(Default)]
struct Gathered {
    named: Vec<NamedPath>,
    seen: BTreeSet<(String, Naming)>,
}

impl Gathered {
    fn add(&mut self, path: String, naming: Naming, line: impl FnOnce() -> u32) {
        if self.named.len() < MAX_NAMED && self.seen.insert((path.clone(), naming)) {
            self.named.push(NamedPath { path, naming, line: line() });
        }
    }
}

/// Everything that may be a path, each once for every way it is named. Whether it is one, only the
/// repository can say.
pub(super) fn named(page: &Page<'_>) -> Vec<NamedPath> {
    let mut gathered = Gathered::default();
    for field in page.fields.iter().filter(|field| is_key(&field.key)) {
        for path in of_field(field) {
            gathered.add(path, Naming::Field, || field.line);
        }
    }
    for link in &page.body.links {
        if let Some(path) = of_link(&link.destination) {
            gathered.add(path, Naming::Link, || page.lines.line(link.range.start));
        }
    }
    for code in &page.body.codes {
        // A pattern in prose speaks of many files; which, only a field says.
        if let Some(path) = clean_path(&code.text).filter(|path| !path.contains('*')) {
            gathered.add(path, Naming::Code, || page.lines.line(code.start));
        }
    }
    gathered.named
}

/// Header fields that say which code a document is about.
fn is_key(key: &str) -> bool {
    matches!(
        key,
        "affects"
            | "affected files"
            | "affected paths"
            | "affected components"
            | "components"
            | "files"
            | "paths"
    )
}

/// The paths in a field. In front matter an item is a path; elsewhere it is Markdown.
fn of_field(field: &Field) -> Vec<String> {
    let mut paths = Vec::new();
    for item in &field.items {
        for part in parts(item) {
            let mut part = part.trim();
            if !field.front {
                let bold = part.strip_prefix("**").and_then(|rest| rest.strip_suffix("**"));
                part = bold.unwrap_or(part);
            }
            let part = part.trim_matches(['`', '"', '\'', ' ']);
            let spaced = part.contains(char::is_whitespace);
            let prose = spaced && !(field.front && part.contains('/'));
            if !prose {
                paths.extend(pattern_or_path(part));
            }
        }
    }
    paths
}

/// Splits at commas, but not at those of `{a,b}`.
fn parts(item: &str) -> Vec<&str> {
    let mut depth = 0u32;
    item.split(|c| {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        (c == ',' && depth == 0) || c == ';'
    })
    .collect()
}

/// A pattern is kept as it is written; a path is clean_path.
fn pattern_or_path(text: &str) -> Option<String> {
    if text.is_empty() || text.len() > MAX_PATH || text.contains("](") {
        return None;
    }
    if is_glob(text) {
        let plain = text.replace('\\', "/");
        let plain = plain.trim_start_matches("./");
        return (!plain.contains(':')).then(|| plain.to_string());
    }
    clean_path(text)
}

/// Where a link leads, if that can be a file of the repository.
fn of_link(destination: &str) -> Option<String> {
    let bare = destination.trim().split(['#', '?']).next()?;
    let scheme = bare.find(':').is_some_and(|at| !bare[..at].contains('/'));
    if bare.is_empty() || scheme || bare.starts_with("//") || bare.len() > MAX_PATH {
        return None;
    }
    let path = percent_decoded(bare);
    // What lies beside a document is most often another one.
    let beside = path.ends_with(".md") && !path.contains('/');
    (!beside && !path.chars().any(char::is_control)).then_some(path)
}

#[cfg(test)]
mod tests {
    use crate::guard::Allowed;
    use crate::model::plan::Limits;
    use crate::model::{Naming, Source};

    fn named(text: &str) -> Vec<(String, Naming, u32)> {
        let source = Source { bytes: text.as_bytes().to_vec(), sidecar: None };
        let paths =
            super::super::parse(&source, &Limits::default(), &Allowed::default()).facts.paths;
        paths.into_iter().map(|named| (named.path, named.naming, named.line)).collect()
    }

    #[test]
    fn code_spans_links_and_fields_name_paths_and_blocks_do_not() {
        let text = "---\naffects: [src/parse/**, \"src/{a,b}.rs\", ./src/x.rs]\nfiles: a.rs, b.rs\n---\n# T\n\nSee `src/walk.rs:42`, `src\\link\\mod.rs` and\n[the walk](../src/walk.rs#L1), `cargo test`, `Vec`,\n[site](https://x.y/z) and [next](0002-b.md).\n\n```\n`src/block.rs`\n```\n\n`src/walk.rs:50`\n";
        let expected = [
            ("src/parse/**", Naming::Field, 2),
            ("src/{a,b}.rs", Naming::Field, 2),
            ("src/x.rs", Naming::Field, 2),
            ("a.rs", Naming::Field, 3),
            ("b.rs", Naming::Field, 3),
            ("../src/walk.rs", Naming::Link, 8),
            ("src/walk.rs", Naming::Code, 7),
            ("src/link/mod.rs", Naming::Code, 7),
        ];
        assert_eq!(
            named(text),
            expected.map(|(path, naming, line)| (path.to_string(), naming, line))
        );
    }

    #[test]
    fn a_field_in_the_body_is_markdown() {
        let text = "# T\n\n- **Affects:** `src/a.rs`, `src/b/**`\n- Components: the web client, api\n\n## Decision\n\nx\n";
        let fields: Vec<String> = named(text)
            .into_iter()
            .filter(|(_, naming, _)| *naming == Naming::Field)
            .map(|(path, ..)| path)
            .collect();
        assert_eq!(fields, ["src/a.rs", "src/b/**", "api"]);
    }
}
