//! Finds the places in a document that can name another file.
//!
//! They are the destinations of links, link definitions, and the words of header fields.

use std::ops::Range;

use pulldown_cmark::{Event, LinkType, Options, Parser, Tag};

use super::front_matter;
use super::header_fields::key_and_value;
use super::markdown::Body;
use crate::model::TextFormat;

/// Returns the byte ranges of all places in a text that can name a file, in order. The text is as
/// written, without a byte order mark. Code blocks and comments have none.
pub fn destinations(text: &str, format: TextFormat) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    if format != TextFormat::Markdown {
        words(text, 0..text.len(), &mut found);
        return found;
    }
    let start = front_matter::find(text).end;
    let options = Options::ENABLE_FOOTNOTES | Options::ENABLE_HEADING_ATTRIBUTES;
    let mut events = Parser::new_ext(&text[start..], options).into_offset_iter();
    for (event, range) in events.by_ref() {
        let range = range.start + start..range.end + start;
        match event {
            Event::Start(
                Tag::Link { link_type: LinkType::Inline, .. }
                | Tag::Image { link_type: LinkType::Inline, .. },
            ) => {
                let after = text[range.clone()].rfind("](").map(|at| range.start + at + 2);
                found.extend(after.and_then(|after| destination(text, after..range.end)));
            }
            Event::Html(html) | Event::InlineHtml(html)
                if !html.trim_start().starts_with("<!--") =>
            {
                for (at, _) in html.match_indices("href=\"") {
                    let from = range.start + at + "href=\"".len();
                    let length = text[from..range.end].find('"');
                    found.extend(length.map(|length| from..from + length));
                }
            }
            _ => {}
        }
    }
    for (_, definition) in events.reference_definitions().iter() {
        let span = definition.span.start + start..definition.span.end + start;
        let after = text[span.clone()].find("]:").map(|at| span.start + at + 2);
        found.extend(after.and_then(|after| destination(text, after..span.end)));
    }
    let n_links = found.len();
    words(text, 0..start, &mut found);
    let body = Body::parse(text, start);
    let is_code = |at: usize| body.code_blocks.iter().any(|code| code.contains(&at));
    let mut at = start;
    for line in text[body.head()].split_inclusive('\n') {
        if key_and_value(line).is_some() && !is_code(at) {
            words(text, at..at + line.len(), &mut found);
        }
        at += line.len();
    }
    let (links, words) = found.split_at(n_links);
    let is_separate = |word: &&Range<usize>| {
        !links.iter().any(|link| link.start < word.end && word.start < link.end)
    };
    let mut all: Vec<Range<usize>> = words.iter().filter(is_separate).cloned().collect();
    all.extend_from_slice(links);
    all.sort_unstable_by_key(|range| range.start);
    all.dedup();
    all
}

/// Returns the destination at the start of a range: in angle brackets, or up to a space or the
/// bracket that closes the link.
fn destination(text: &str, range: Range<usize>) -> Option<Range<usize>> {
    let inner = &text[range.clone()];
    let from = inner.len() - inner.trim_start().len();
    if let Some(bracketed) = inner[from..].strip_prefix('<') {
        let start = range.start + from + 1;
        return Some(start..start + bracketed.find('>')?);
    }
    let mut depth = 0;
    let length = inner[from..].find(|c: char| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        c.is_whitespace() || depth < 0
    });
    let start = range.start + from;
    Some(start..length.map_or(range.end, |length| start + length))
}

/// Adds the words of a range: the runs between spaces, brackets, quotes, bars and commas.
fn words(text: &str, range: Range<usize>, found: &mut Vec<Range<usize>>) {
    let ends = |c: char| c.is_whitespace() || "()<>[]{}\"'`,;|*".contains(c);
    let mut at = range.start;
    for piece in text[range].split_inclusive(ends) {
        let word = piece.trim_end_matches(ends);
        let scheme = ["xref:", "link:", "include:"].into_iter();
        let prefix = scheme.filter(|scheme| word.starts_with(scheme)).map(str::len).next();
        let start = at + prefix.unwrap_or(0);
        if !word.is_empty() {
            found.push(start..at + word.len());
        }
        at += piece.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        let all = destinations(text, TextFormat::Markdown).into_iter();
        all.map(|range| &text[range]).filter(|word| word.contains(".md")).collect()
    }

    #[test]
    fn links_definitions_and_header_fields_name_files() {
        let text = "---\nsource: ../a.md\nrelated: [b.md, \"c.md\"]\n---\n# X\n\n| **Source** | d.md |\n\n## Y\n\n[a](e.md#f) ![b](<g h.md> \"title\") [c]\n\n<a href=\"i.md\">x</a>\n\n[c]: ./j.md 'x'\n";
        assert_eq!(
            found(text),
            ["../a.md", "b.md", "c.md", "d.md", "e.md#f", "g h.md", "i.md", "./j.md"]
        );
    }

    #[test]
    fn code_comments_and_prose_name_none() {
        let text =
            "# X\n\n```\n[a](a.md)\n```\n\n`[b](b.md)` <!-- [c](c.md) --> d.md\n\n    [e](e.md)\n";
        assert_eq!(found(text), Vec::<&str>::new());
    }
}
