//! Converts the destinations of links and the URLs in prose to targets of references.

use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::id_mentions;
use super::percent::percent_decoded;
use crate::model::file_name::is_name_suffix;
use crate::model::{Target, TextFormat};

/// A longer run of characters in prose is not a URL.
const MAX_URL: usize = 512;

/// Finds the end of a URL's scheme. Building a searcher costs more than searching a short text.
static SCHEME_END: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"://"));

/// Returns the target of a link, if it can be a document.
pub(super) fn target(destination: &str) -> Option<Target> {
    let destination = destination.trim();
    if destination.starts_with("blue://") {
        return Some(Target::Address(destination.split(['#', '?']).next()?.to_string()));
    }
    let bare = destination.split(['#', '?']).next()?;
    if destination.starts_with("http://") || destination.starts_with("https://") {
        return may_be_document(bare).then(|| Target::Url(percent_decoded(bare)));
    }
    let has_scheme = bare.find(':').is_some_and(|at| !bare[..at].contains(['/', '.', ' ']));
    if bare.is_empty() || has_scheme || bare.starts_with("//") {
        return None;
    }
    let path = percent_decoded(bare);
    if starts_with_host(&path) {
        return None;
    }
    let last = path.trim_end_matches('/').rsplit('/').next()?.to_string();
    let extension = last.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase());
    let is_text = match extension.as_deref() {
        None | Some("mdx" | "html") => true,
        Some(extension) => TextFormat::of_path(&last).is_some() || is_name_suffix(extension),
    };
    is_text.then_some(Target::Path(path))
}

/// Returns true if a URL can be the page of a document: its last part has a number or the
/// extension of a text, or it names a file or folder of a repository.
fn may_be_document(url: &str) -> bool {
    let last = url.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    TextFormat::of_path(last).is_some()
        || last.bytes().any(|b| b.is_ascii_digit())
        || ["/blob/", "/tree/", "/raw/", ".github.io/"].iter().any(|part| url.contains(part))
}

/// Returns true for a URL without its scheme: `example.org/notes/12.html`.
fn starts_with_host(path: &str) -> bool {
    let Some((host, _)) = path.split_once('/') else { return false };
    let domain = host.rsplit_once('.').filter(|(name, _)| !name.is_empty());
    host.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'.' | b'-'))
        && domain.is_some_and(|(_, domain)| {
            matches!(domain, "com" | "org" | "net" | "io" | "dev" | "edu" | "gov" | "uk" | "de")
        })
}

/// Returns the positions of the URLs in a run of prose.
pub(super) fn bare_urls(text: &str) -> Vec<Range<usize>> {
    let mut urls = Vec::new();
    let mut from = 0;
    while let Some(at) = SCHEME_END.find(&text.as_bytes()[from..]) {
        let at = from + at;
        from = at + 3;
        let scheme = ["https", "http"].into_iter().find(|scheme| text[..at].ends_with(scheme));
        let Some(scheme) = scheme else { continue };
        let end = text[from..].find(ends_url).map_or(text.len(), |end| from + end);
        let url = &text[at - scheme.len()..end];
        let url = url.trim_end_matches(['.', ',', ';', ':', '!', '?', '*', '_', '~']);
        from = end;
        if url.len() <= MAX_URL {
            urls.push(at - scheme.len()..at - scheme.len() + url.len());
        }
    }
    urls
}

fn ends_url(c: char) -> bool {
    c.is_whitespace() || matches!(c, '(' | ')' | '<' | '>' | '[' | ']' | '"' | '\'' | '`' | '|')
}

/// Returns the Markdown links and the ids in the text of a field, with their positions.
pub(super) fn references_in(text: &str) -> Vec<(Target, Range<usize>)> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(middle) = text[from..].find("](").map(|at| from + at) {
        let end = text[middle..].find(')').map_or(text.len(), |end| middle + end + 1);
        let start = text[from..middle].rfind('[').map_or(middle, |start| from + start);
        let destination = text[middle + 2..end].trim_end_matches(')');
        found.extend(target(destination).map(|target| (target, start..end)));
        from = end;
    }
    let in_link = |at: usize| found.iter().any(|(_, range)| range.contains(&at));
    let mentions = id_mentions::mentions(text).into_iter();
    let mentions: Vec<_> = mentions.filter(|mention| !in_link(mention.offset)).collect();
    found.extend(mentions.into_iter().map(|mention| {
        let range = mention.offset..mention.end;
        (Target::Label(mention.label), range)
    }));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_end_before_punctuation() {
        let text = "See https://x.org/a/1. (http://x.org/b_2), ftp://x.org and https://é/3";
        let found: Vec<&str> = bare_urls(text).into_iter().map(|range| &text[range]).collect();
        assert_eq!(found, ["https://x.org/a/1", "http://x.org/b_2", "https://é/3"]);
    }

    #[test]
    fn a_link_target_is_a_path_a_url_or_nothing() {
        let path = |path: &str| Some(Target::Path(path.to_string()));
        let url = |url: &str| Some(Target::Url(url.to_string()));
        assert_eq!(target("a%20b.md#c"), path("a b.md"));
        assert_eq!(target("../adr/12"), path("../adr/12"));
        assert_eq!(target("https://x.org/pull/12"), url("https://x.org/pull/12"));
        assert_eq!(target("https://x.org/about"), None);
        assert_eq!(target("mailto:a@b.c"), None);
        assert_eq!(target("x.org/notes/12.html"), None);
        assert_eq!(target("image.png"), None);
    }
}
