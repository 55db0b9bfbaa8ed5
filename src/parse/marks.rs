//! Who and what a document is filed under: authors, tags, components.

use super::Page;
use super::text::plain;

/// Marks kept of one document, and the bytes of one.
const MAX_MARKS: usize = 12;
const MAX_BYTES: usize = 40;

/// What a field's values are, if they file the document.
fn noun(key: &str) -> Option<&'static str> {
    match key {
        "author" | "authors" | "deciders" | "decision makers" | "decision-makers" => Some("author"),
        "tag" | "tags" | "labels" | "keywords" | "topics" => Some("tag"),
        "component" | "components" | "area" | "areas" | "scope" | "module" => Some("component"),
        _ => None,
    }
}

/// `author Ada Lovelace`, `tag storage`: sorted, each once.
pub(super) fn marks(page: &Page<'_>) -> Vec<String> {
    let mut marks = Vec::new();
    for field in &page.fields {
        let Some(noun) = noun(&field.key) else { continue };
        for item in &field.items {
            for name in plain(item).split([',', ';']) {
                let name = name.split(['<', '(', '@']).next().unwrap_or_default();
                let name =
                    name.trim().trim_matches(['[', ']', '"', '\'', '`']).trim().to_lowercase();
                let told = name.chars().any(char::is_alphabetic);
                if told && name.len() <= MAX_BYTES && !is_nobody(&name) {
                    marks.push(format!("{noun} {name}"));
                }
            }
        }
    }
    marks.sort_unstable();
    marks.dedup();
    marks.truncate(MAX_MARKS);
    marks
}

fn is_nobody(name: &str) -> bool {
    matches!(name, "tbd" | "n/a" | "none" | "unknown" | "team" | "everyone" | "the team")
}
