//! What can be told of a document at each level of detail: extracted, never invented.

use pulldown_cmark::{Event, Parser, Tag, TagEnd};

use super::Page;
use super::body::Paragraph;
use crate::model::Texts;

/// Headings under which a document says what it is about, best first.
const TELLING: &[&str] = &[
    "summary",
    "simple summary",
    "tl;dr",
    "tldr",
    "executive summary",
    "abstract",
    "decision",
    "decision outcome",
    "decision summary",
    "the decision",
    "outcome",
    "conclusion",
    "principle",
    "proposed solution",
    "solution",
    "proposal",
    "introduction",
    "overview",
    "description",
    "recommendation",
    "goal",
    "goals",
    "purpose",
    "motivation",
    "problem",
    "problem statement",
    "question",
    "topic",
    "context",
    "context and problem statement",
    "background",
];

/// Headings of the parts that bind whoever works under the document.
const BINDING: &[&str] = &[
    "decision",
    "decision outcome",
    "the decision",
    "outcome",
    "consequences",
    "applies when",
    "anti-patterns",
    "success criteria",
    "tasks",
    "implementation plan",
    "phase",
];

const MAX_LINE: usize = 240;
const MAX_BRIEF: usize = 600;
const MAX_SECTIONS: usize = 1_500;
const MAX_FULL: usize = 1_500;

/// Extracts the telling texts of a document: one sentence, and the longer ones.
pub(super) fn texts(page: &Page<'_>) -> (String, Texts) {
    let stated = page
        .fields
        .iter()
        .find(|f| matches!(f.key.as_str(), "description" | "summary" | "abstract"));
    let stated = stated.map(|field| plain(&field.items.join(" "))).filter(|text| text.len() > 10);
    let brief =
        stated.or_else(|| telling_section(page)).or_else(|| first_prose(page)).unwrap_or_default();
    let brief = page.again.text(brief);
    let body = page.text[after_title(page)..].trim();
    let full = if body.len() <= MAX_FULL { unix(body) } else { String::new() };
    let line = clip(&first_sentence(&brief), MAX_LINE);
    (
        line,
        Texts { brief: clip(&brief, MAX_BRIEF), sections: page.again.text(sections(page)), full },
    )
}

/// Where the text begins once the title is told.
fn after_title(page: &Page<'_>) -> usize {
    let first =
        page.body.headings.first().filter(|first| {
            first.level == 1 && page.text[page.start..first.start].trim().is_empty()
        });
    first.map_or(page.start, |first| first.after)
}

fn telling_section(page: &Page<'_>) -> Option<String> {
    let ranked = page
        .body
        .headings
        .iter()
        .enumerate()
        .filter_map(|(index, heading)| Some((position(TELLING, &heading.title)?, index)));
    let mut ranked: Vec<(usize, usize)> = ranked.collect();
    ranked.sort_unstable();
    ranked.into_iter().find_map(|(_, index)| {
        let range = page.body.section(index);
        prose_of(page, page.body.paragraphs_in(&range))
    })
}

/// A heading without a leading number or a closing colon.
fn section_name(title: &str) -> &str {
    let title = title.trim().trim_end_matches(':').trim_matches('*');
    let title = title.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.' || c == ')');
    title.trim()
}

/// Where a heading stands in a list of names.
pub(super) fn position(names: &[&str], title: &str) -> Option<usize> {
    let title = section_name(title);
    names.iter().position(|name| name.eq_ignore_ascii_case(title))
}

/// A text with plain line ends.
fn unix(text: &str) -> String {
    match memchr::memchr(b'\r', text.as_bytes()) {
        Some(_) => text.replace('\r', ""),
        None => text.to_string(),
    }
}

/// The first paragraph of running text, or the first list items where there is none.
fn prose_of(page: &Page<'_>, paragraphs: &[Paragraph]) -> Option<String> {
    let telling = |paragraph: &&Paragraph| {
        !paragraph.in_list && is_prose(&page.text[paragraph.range.clone()])
    };
    let mut plain_ones = paragraphs.iter().filter(telling).take(3);
    if let Some(first) = plain_ones.next() {
        let mut text = plain(&page.text[first.range.clone()]);
        // A lead such as "We decide:" says nothing without what follows.
        let leads = text.ends_with(':') || text.len() < 40;
        if let Some(next) = plain_ones.next().filter(|_| leads) {
            text = format!("{text} {}", plain(&page.text[next.range.clone()]));
        }
        if text.len() > 2 {
            return Some(text);
        }
    }
    // Fields in the head and boxes to tick say nothing of what a document is about.
    let head = page.body.head();
    let telling = |item: &&Paragraph| {
        let line = page.text[item.range.clone()].lines().next().unwrap_or_default();
        let field = head.contains(&item.range.start) && super::field::of_line(line).is_some();
        item.in_list && !field
    };
    let items = paragraphs.iter().filter(telling);
    let items: Vec<String> = items
        .filter_map(|item| page.text[item.range.clone()].lines().next())
        .map(|line| line.trim_start_matches(['-', '*', '+', ' ', '\t']))
        .filter(|line| !["[ ]", "[x]", "[X]"].iter().any(|tick| line.starts_with(tick)))
        .map(plain)
        .filter(|text| !text.is_empty())
        .take(3)
        .collect();
    (!items.is_empty()).then(|| items.join("; "))
}

/// Whether a paragraph is running text: no table row, field, image or markup.
fn is_prose(text: &str) -> bool {
    let text = text.trim();
    let first = text.lines().next().unwrap_or("");
    let field = super::field::of_line(first)
        .is_some_and(|(key, _)| key.split(' ').count() <= 2 && first.starts_with(['*', '_', '-']));
    !text.is_empty()
        && !text.starts_with(['|', '<', '!', '['])
        && !field
        && !first.starts_with("Date:")
}

fn first_prose(page: &Page<'_>) -> Option<String> {
    prose_of(page, &page.body.paragraphs)
}

fn sections(page: &Page<'_>) -> String {
    let mut text = String::new();
    for (index, heading) in page.body.headings.iter().enumerate() {
        if text.len() >= MAX_SECTIONS || position(BINDING, &heading.title).is_none() {
            continue;
        }
        let body = unix(page.text[page.body.section(index)].trim());
        if body.is_empty() {
            continue;
        }
        let room = MAX_SECTIONS - text.len();
        text.push_str(&format!("{}: {}\n", heading.title, clip_lines(&body, room)));
    }
    text.trim_end().to_string()
}

/// Markdown to one line of plain text: emphasis and links gone, code spans kept.
pub(super) fn plain(markdown: &str) -> String {
    if is_bare(markdown) {
        let words: Vec<&str> = markdown.split_ascii_whitespace().collect();
        return words.join(" ");
    }
    let mut text = String::with_capacity(markdown.len());
    let mut n_images = 0;
    for event in Parser::new(markdown) {
        match event {
            Event::Text(part) if n_images == 0 => text.push_str(&part),
            Event::Code(code) => {
                text.push('`');
                text.push_str(&code);
                text.push('`');
            }
            Event::Start(Tag::Image { .. }) => n_images += 1,
            Event::End(TagEnd::Image) => n_images -= 1,
            Event::SoftBreak | Event::HardBreak | Event::End(_) if !matches!(event, Event::End(e) if is_inline(e)) =>
            {
                text.push(' ');
            }
            _ => {}
        }
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ")
}

/// Whether nothing in a text can be markup: only signs that mean nothing to Markdown, and lines
/// that begin with a letter.
fn is_bare(markdown: &str) -> bool {
    let sign = |b: u8| matches!(b, b' ' | b'\n' | b'.' | b',' | b'-' | b':' | b';' | b'/');
    let quiet = |b: u8| {
        b.is_ascii_alphanumeric()
            || sign(b)
            || matches!(b, b'(' | b')' | b'\'' | b'"' | b'?' | b'%')
    };
    let bytes = markdown.trim_end().as_bytes();
    let begins = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_alphabetic);
    let digits = || bytes.iter().take_while(|b| b.is_ascii_digit()).count();
    let numbered = || matches!(bytes.get(digits()), Some(b'.' | b')'));
    // Folded without an early end, this is one pass over whole vectors of bytes.
    bytes.iter().fold(true, |all, b| all & quiet(*b))
        && (begins(0) || bytes.first().is_some_and(u8::is_ascii_digit) && !numbered())
        && memchr::memchr_iter(b'\n', bytes).all(|at| begins(at + 1))
}

fn is_inline(tag: TagEnd) -> bool {
    matches!(
        tag,
        TagEnd::Emphasis | TagEnd::Strong | TagEnd::Link | TagEnd::Image | TagEnd::Strikethrough
    )
}

/// The first sentence: up to a full stop that ends one, not `e.g.` or `1.0`.
fn first_sentence(text: &str) -> String {
    // Only these end a sentence, or begin a sign that does.
    let ends = |b: &u8| matches!(b, b'.' | b'!' | b'?' | 0xE3 | 0xEF);
    let places = text.bytes().enumerate().filter(|(_, b)| ends(b));
    for (at, c) in places.filter_map(|(at, _)| Some((at, text.get(at..)?.chars().next()?))) {
        let after = &text[at + c.len_utf8()..];
        let ends = matches!(c, '.' | '!' | '?') && (after.is_empty() || after.starts_with(' '));
        let wide = matches!(c, '。' | '！' | '？');
        if !(ends || wide) {
            continue;
        }
        let head = &text[..at + c.len_utf8()];
        let last = head.rsplit(' ').next().unwrap_or("");
        let short =
            ["e.g.", "i.e.", "etc.", "vs.", "cf.", "approx.", "no.", "fig.", "st.", "mr.", "dr."];
        let follows_lower = after.trim_start().starts_with(|c: char| c.is_lowercase());
        if wide
            || !(short.contains(&last.to_lowercase().as_str()) || (follows_lower && c == '.'))
                && at > 12
        {
            return head.to_string();
        }
    }
    text.to_string()
}

/// At most `max` bytes, cut at a word, with an ellipsis where something was cut.
pub(super) fn clip(text: &str, max: usize) -> String {
    if text.len() <= max {
        return text.to_string();
    }
    let mut end = max.saturating_sub('…'.len_utf8());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let cut = text[..end].rfind(' ').filter(|at| *at > end / 2).unwrap_or(end);
    format!("{}…", text[..cut].trim_end())
}

/// At most `max` bytes of whole lines.
fn clip_lines(text: &str, max: usize) -> String {
    if text.len() <= max {
        return text.to_string();
    }
    let mut end = max.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    match text[..end].rfind('\n') {
        Some(at) => format!("{}\n…", text[..at].trim_end()),
        None => clip(text, max),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_does_not_end_at_an_abbreviation() {
        assert_eq!(
            first_sentence("Use a queue, e.g. Kafka. It scales."),
            "Use a queue, e.g. Kafka."
        );
        assert_eq!(first_sentence("Version 1.0 is out. More."), "Version 1.0 is out.");
        assert_eq!(first_sentence("no stop"), "no stop");
    }

    #[test]
    fn plain_text_has_no_markup() {
        assert_eq!(
            plain("**One** [truth](x.md), `code` ![img](y)\nnext"),
            "One truth, `code` next"
        );
    }

    #[test]
    fn a_clip_ends_at_a_word_within_its_bytes() {
        let text = clip("one two three four five", 14);
        assert!(text.len() <= 14, "{text}");
        assert_eq!(text, "one two…");
    }
}
