//! Derives a title from a slug in metadata or the file name, for documents that have no other.

use super::section_names::{is_cover_name, is_section_name};
use crate::model::{FileName, FoundFile, TitleCandidates};

/// Returns the slug in words, or else the id of the document.
pub(super) fn from_name(
    name: &FileName,
    found: &FoundFile,
    candidates: &TitleCandidates,
) -> String {
    let short_name = candidates.name.as_ref().filter(|_| name.slug.is_empty());
    let slug = match candidates.stated.as_ref().or(short_name) {
        Some(stated) => stated.trim_matches('`').to_string(),
        None => name.slug.clone(),
    };
    let words = capitalised(&as_written(&slug, &found.path).replace(['-', '_'], " "));
    match (words.is_empty(), &name.number) {
        (false, _) => words,
        (true, Some(number)) => match &name.prefix {
            Some(prefix) => format!("{}-{number}", prefix.to_uppercase()),
            None => number.to_string(),
        },
        (true, None) => {
            let is_name = |text: &str| !is_section_name(text) && !is_cover_name(text);
            let mut headings = candidates.headings.iter().map(|heading| &heading.text);
            let heading = headings.find(|text| is_name(text)).cloned();
            heading.unwrap_or_else(|| found.path_in_collection().to_string())
        }
    }
}

/// Returns a slug with the capitals that the path has: `use-grpc` for `Use-gRPC.md` is `Use-gRPC`.
fn as_written(slug: &str, path: &str) -> String {
    let mut from = 0;
    let lower = path.to_ascii_lowercase();
    // Only the last folder and the file can contain the slug.
    if let Some(at) = path.rmatch_indices('/').nth(1).map(|(at, _)| at) {
        from = at;
    }
    let words = slug.split('-').map(|word| match lower[from..].rfind(word) {
        Some(at) if !word.is_empty() => &path[from + at..from + at + word.len()],
        _ => word,
    });
    words.collect::<Vec<&str>>().join("-")
}

/// Writes a title that is a slug in words: `use-lograge-gem` becomes `Use lograge gem`.
pub(super) fn in_words(title: String) -> String {
    let is_slug = title.split('-').count() > 2
        && title.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
    if is_slug { capitalised(&title.replace('-', " ")) } else { title }
}

/// Trims a text and writes its first letter in upper case.
fn capitalised(text: &str) -> String {
    let mut chars = text.trim().chars();
    let first = chars.next().into_iter().flat_map(char::to_uppercase);
    first.chain(chars.as_str().chars()).collect()
}
