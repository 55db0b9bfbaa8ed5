//! Reads the authors, tags and components in a document's header.

use super::Page;
use super::plain_text::plain;

/// Maximum number of entries per document, and of bytes per entry.
const MAX_ENTRIES: usize = 12;
const MAX_BYTES: usize = 40;

/// Maps the key of a header field to the kind of its entries.
fn entry_kind(key: &str) -> Option<&'static str> {
    match key {
        "author" | "authors" | "deciders" | "decision makers" | "decision-makers" => Some("author"),
        "tag" | "tags" | "labels" | "keywords" | "topics" => Some("tag"),
        "component" | "components" | "area" | "areas" | "scope" | "module" => Some("component"),
        _ => None,
    }
}

/// Returns entries such as `author ada lovelace` and `tag storage`, sorted and without duplicates.
pub(super) fn authors_and_tags(page: &Page<'_>) -> Vec<String> {
    let mut entries = Vec::new();
    for field in &page.fields {
        let Some(kind) = entry_kind(&field.key) else { continue };
        for item in &field.items {
            for name in plain(item).split([',', ';']) {
                let name = name.split(['<', '(', '@']).next().unwrap_or_default();
                let name =
                    name.trim().trim_matches(['[', ']', '"', '\'', '`']).trim().to_lowercase();
                let has_letters = name.chars().any(char::is_alphabetic);
                if has_letters && name.len() <= MAX_BYTES && !is_placeholder(&name) {
                    entries.push(format!("{kind} {name}"));
                }
            }
        }
    }
    entries.sort_unstable();
    entries.dedup();
    entries.truncate(MAX_ENTRIES);
    entries
}

/// Returns true if a value does not name a particular person or topic.
fn is_placeholder(name: &str) -> bool {
    matches!(name, "tbd" | "n/a" | "none" | "unknown" | "team" | "everyone" | "the team")
}
