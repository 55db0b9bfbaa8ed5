//! Finds the files and folders that a document may name in code spans, links and header fields.

use std::collections::BTreeSet;

use super::Page;
use super::header_fields::Field;
use super::percent::percent_decoded;
use crate::model::binding::{MAX_PATH, clean_path, is_glob};
use crate::model::{NamedPath, Naming, TextFormat};

/// Maximum number of paths per document. A document with more is an index, and the rest is ignored.
const MAX_NAMED: usize = 1_000;

#[derive(Default)]
struct PathCollector {
    named: Vec<NamedPath>,
    seen: BTreeSet<(String, Naming)>,
}

impl PathCollector {
    fn add(&mut self, path: String, naming: Naming, line: impl FnOnce() -> u32) {
        if self.named.len() < MAX_NAMED && self.seen.insert((path.clone(), naming)) {
            self.named.push(NamedPath { path, naming, line: line() });
        }
    }
}

/// Returns everything that may be a path, once for each way in which it is named. `link` checks
/// which of them are in the repository.
pub(super) fn named_paths(page: &Page<'_>) -> Vec<NamedPath> {
    let mut collector = PathCollector::default();
    for field in page.fields.iter().filter(|field| names_code(&field.key)) {
        for path in paths_in_field(field) {
            collector.add(path, Naming::Field, || field.line);
        }
    }
    for link in &page.body.links {
        if let Some(path) = path_of_link(&link.destination) {
            collector.add(path, Naming::Link, || page.lines.line(link.range.start));
        }
    }
    for code in &page.body.code_spans {
        // A glob in prose is usually an example. Globs count only in header fields.
        if let Some(path) = clean_path(&code.text).filter(|path| !path.contains('*')) {
            collector.add(path, Naming::Code, || page.lines.line(code.start));
        }
    }
    collector.named
}

/// Returns true if a header field of this key names the code that a document is about.
fn names_code(key: &str) -> bool {
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

/// Returns the paths in a field. In front matter an item is a path, in the body it is Markdown.
fn paths_in_field(field: &Field) -> Vec<String> {
    let mut paths = Vec::new();
    for item in &field.items {
        for part in split_list(item) {
            let mut part = part.trim();
            if !field.outside_markdown {
                let bold = part.strip_prefix("**").and_then(|rest| rest.strip_suffix("**"));
                part = bold.unwrap_or(part);
            }
            let part = part.trim_matches(['`', '"', '\'', ' ']);
            let has_spaces = part.contains(char::is_whitespace);
            let is_prose = has_spaces && !(field.outside_markdown && part.contains('/'));
            if !is_prose {
                paths.extend(glob_or_path(part));
            }
        }
    }
    paths
}

/// Splits at commas, but not at those of `{a,b}`.
fn split_list(item: &str) -> Vec<&str> {
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

/// Returns a glob as written, or a path in its normal form.
fn glob_or_path(text: &str) -> Option<String> {
    if text.is_empty() || text.len() > MAX_PATH || text.contains("](") {
        return None;
    }
    if is_glob(text) {
        let glob = text.replace('\\', "/");
        let glob = glob.trim_start_matches("./");
        return (!glob.contains(':')).then(|| glob.to_string());
    }
    clean_path(text)
}

/// Returns the path that a link points to, if it can be a file of the repository.
fn path_of_link(destination: &str) -> Option<String> {
    let bare = destination.trim().split(['#', '?']).next()?;
    let has_scheme = bare.find(':').is_some_and(|at| !bare[..at].contains('/'));
    if bare.is_empty() || has_scheme || bare.starts_with("//") || bare.len() > MAX_PATH {
        return None;
    }
    let path = percent_decoded(bare);
    // A text in the same folder is most often another document.
    let is_sibling = TextFormat::of_path(&path).is_some() && !path.contains('/');
    (!is_sibling && !path.chars().any(char::is_control)).then_some(path)
}

#[cfg(test)]
mod tests {
    use crate::guard::Allowed;
    use crate::model::plan::Limits;
    use crate::model::{Naming, Source};

    fn named(text: &str) -> Vec<(String, Naming, u32)> {
        let source = Source::markdown(text);
        let paths =
            super::super::parse(&source, &Limits::default(), &Allowed::default()).facts.paths;
        paths.into_iter().map(|named| (named.path, named.naming, named.line)).collect()
    }

    #[test]
    fn paths_are_read_from_code_spans_links_and_fields_but_not_from_code_blocks() {
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
    fn a_field_in_the_body_is_read_as_markdown() {
        let text = "# T\n\n- **Affects:** `src/a.rs`, `src/b/**`\n- Components: the web client, api\n\n## Decision\n\nx\n";
        let fields: Vec<String> = named(text)
            .into_iter()
            .filter(|(_, naming, _)| *naming == Naming::Field)
            .map(|(path, ..)| path)
            .collect();
        assert_eq!(fields, ["src/a.rs", "src/b/**", "api"]);
    }
}
