//! Converts Markdown to plain text and cuts text to a length.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::LazyLock;

use pulldown_cmark::{BrokenLink, CowStr, Event, Options, Parser, Tag, TagEnd};

use crate::model::byte_scan::prefix;
use crate::model::escape::escape;
use crate::model::rules;

static HTML_ELEMENTS: LazyLock<BTreeSet<&str>> =
    LazyLock::new(|| rules::entries(include_str!("rules/html_elements.txt")).collect());

/// Converts Markdown to one line of plain text. Emphasis and links are removed, code spans stay.
pub(super) fn plain(markdown: &str) -> String {
    if has_no_markup(markdown) {
        let words: Vec<&str> = markdown.split_ascii_whitespace().collect();
        return words.join(" ");
    }
    text_of(Parser::new(markdown), markdown.len())
}

/// Maximum length in bytes of a part that becomes plain text, and number of links in it that are
/// looked up. Every lookup searches the document.
const MAX_PART: usize = 4_096;
const MAX_LOOKUPS: usize = 32;

/// Converts the start of a part of a document to plain text, like [`plain`]. Links that refer to a definition
/// elsewhere in the document become their text, and footnote marks are removed.
pub(super) fn plain_within(document: &str, markdown: &str) -> String {
    let markdown = prefix(markdown, MAX_PART);
    if memchr::memchr(b'[', markdown.as_bytes()).is_none() {
        return plain(markdown);
    }
    let without_marks = without_footnotes(markdown);
    let markdown = without_marks.as_ref();
    let is_defined = |label: &str| {
        let definition = format!("[{label}]:");
        memchr::memmem::find(document.as_bytes(), definition.as_bytes()).is_some()
    };
    let mut n_lookups = 0;
    let mut resolve = |link: BrokenLink<'_>| -> Option<(CowStr<'_>, CowStr<'_>)> {
        n_lookups += 1;
        let is_link = n_lookups <= MAX_LOOKUPS
            && (is_defined(&link.reference) || is_defined(&link.reference.to_lowercase()));
        is_link.then(|| ("#".into(), CowStr::Borrowed("")))
    };
    let parser =
        Parser::new_with_broken_link_callback(markdown, Options::empty(), Some(&mut resolve));
    text_of(parser, markdown.len())
}

/// Removes footnote marks: `[^1]`.
fn without_footnotes(markdown: &str) -> Cow<'_, str> {
    let Some(first) = markdown.find("[^") else { return Cow::Borrowed(markdown) };
    let mut text = markdown[..first].to_string();
    for part in markdown[first..].split("[^").skip(1) {
        match part.split_once(']') {
            Some((_, rest)) => text.push_str(rest),
            None => text.push_str(part),
        }
    }
    Cow::Owned(text)
}

fn text_of<'a>(events: impl Iterator<Item = Event<'a>>, capacity: usize) -> String {
    let mut text = String::with_capacity(capacity);
    let (mut n_images, mut link) = (0, None);
    for event in events {
        match event {
            Event::Text(part) if n_images == 0 => text.push_str(&part),
            Event::Code(code) => {
                text.push('`');
                text.push_str(&code);
                text.push('`');
            }
            Event::InlineHtml(html) if html.starts_with("<br") => text.push(' '),
            Event::InlineHtml(html) if is_placeholder(&html) => text.push_str(&html),
            Event::Start(Tag::Link { dest_url, .. }) => link = Some((text.len(), dest_url)),
            Event::End(TagEnd::Link) => {
                // A link without words is shown as its target.
                let empty = link.take().filter(|(start, _)| text.len() == *start);
                empty.iter().for_each(|(_, target)| text.push_str(target));
            }
            Event::Start(Tag::Image { .. }) => (n_images, link) = (n_images + 1, None),
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

/// Returns true if a tag is not markup but text: `Vec<T>`, `<uuid>`. Tags with a meaning for an agent
/// are removed.
fn is_placeholder(tag: &str) -> bool {
    let name = tag.trim_start_matches('<').trim_end_matches('>');
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    tag[1..].starts_with(|c: char| c.is_ascii_uppercase())
        || !name.is_empty()
            && name.chars().all(is_word)
            && !HTML_ELEMENTS.contains(name)
            && escape(tag) == tag
}

/// Returns true if a text cannot contain markup: every line starts with a letter, and every
/// character is one without a meaning in Markdown.
fn has_no_markup(markdown: &str) -> bool {
    let is_punctuation =
        |b: u8| matches!(b, b' ' | b'\n' | b'.' | b',' | b'-' | b':' | b';' | b'/');
    let is_plain = |b: u8| {
        b.is_ascii_alphanumeric()
            || is_punctuation(b)
            || matches!(b, b'(' | b')' | b'\'' | b'"' | b'?' | b'%')
    };
    let bytes = markdown.trim_end().as_bytes();
    let is_letter = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_alphabetic);
    let n_digits = || bytes.iter().take_while(|b| b.is_ascii_digit()).count();
    let is_list_item = || matches!(bytes.get(n_digits()), Some(b'.' | b')'));
    // A fold without early exit is vectorized.
    bytes.iter().fold(true, |all, b| all & is_plain(*b))
        && (is_letter(0) || bytes.first().is_some_and(u8::is_ascii_digit) && !is_list_item())
        && memchr::memchr_iter(b'\n', bytes).all(|at| is_letter(at + 1))
}

fn is_inline(tag: TagEnd) -> bool {
    matches!(
        tag,
        TagEnd::Emphasis | TagEnd::Strong | TagEnd::Link | TagEnd::Image | TagEnd::Strikethrough
    )
}

/// Returns the first sentence. A full stop as in `e.g.` or `1.0` does not end it.
pub(super) fn first_sentence(text: &str) -> String {
    // The last two are the first bytes of the full-width characters below.
    let may_end = |b: &u8| matches!(b, b'.' | b'!' | b'?' | 0xE3 | 0xEF);
    let candidates = text.bytes().enumerate().filter(|(_, b)| may_end(b));
    for (at, c) in candidates.filter_map(|(at, _)| Some((at, text.get(at..)?.chars().next()?))) {
        let after = &text[at + c.len_utf8()..];
        let ends = matches!(c, '.' | '!' | '?') && (after.is_empty() || after.starts_with(' '));
        let full_width = matches!(c, '。' | '！' | '？');
        if !(ends || full_width) {
            continue;
        }
        let head = &text[..at + c.len_utf8()];
        let last = head.rsplit(' ').next().unwrap_or("");
        let follows_lower = after.trim_start().starts_with(|c: char| c.is_lowercase());
        if full_width
            || !(is_abbreviation(last) || (follows_lower && c == '.') || is_open(head)) && at > 12
        {
            return head.to_string();
        }
    }
    text.to_string()
}

/// Returns true if a word with a full stop usually does not end a sentence: `e.g.`, `J.`, `2.`
fn is_abbreviation(word: &str) -> bool {
    const ABBREVIATIONS: &[&str] = &[
        "a.k.a.", "al.", "approx.", "ca.", "cf.", "co.", "dr.", "e.g.", "eq.", "etc.", "fig.",
        "i.e.", "inc.", "incl.", "jr.", "ltd.", "mr.", "mrs.", "ms.", "no.", "nos.", "resp.",
        "sec.", "sr.", "st.", "u.s.", "viz.", "vs.",
    ];
    let word = word.trim_start_matches(['(', '[', '"', '\'']);
    let stem = word.strip_suffix('.').unwrap_or(word);
    let is_initial = stem.len() == 1 && stem.bytes().all(|b| b.is_ascii_uppercase()) && stem != "I";
    let is_number = !stem.is_empty() && stem.bytes().all(|b| b.is_ascii_digit()) && stem.len() < 3;
    is_initial
        || is_number && word.len() > stem.len()
        || ABBREVIATIONS.contains(&word.to_lowercase().as_str())
}

/// Returns true if a text ends inside a parenthesis or a code span.
fn is_open(text: &str) -> bool {
    let count = |sign: u8| memchr::memchr_iter(sign, text.as_bytes()).count();
    count(b'(') > count(b')') && text.len() < MAX_OPEN
        || count(b'`') % 2 == 1 && text.len() < MAX_OPEN
}

/// A parenthesis that is open for this many bytes was never closed.
const MAX_OPEN: usize = 400;

/// Cuts a text to at most `max` bytes, at a word, and marks the cut with an ellipsis.
pub(super) fn clip(text: &str, max: usize) -> String {
    if text.len() <= max {
        return text.to_string();
    }
    let start = prefix(text, max.saturating_sub('…'.len_utf8()));
    let cut = start.rfind(' ').filter(|at| *at > start.len() / 2).unwrap_or(start.len());
    format!("{}…", start[..cut].trim_end())
}

/// Cuts a text to whole lines of at most `max` bytes, and marks the cut with an ellipsis.
pub(super) fn clip_lines(text: &str, max: usize) -> String {
    if text.len() <= max {
        return text.to_string();
    }
    match prefix(text, max).rfind('\n') {
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
        assert_eq!(
            first_sentence("Ask J. Doe or Acme Inc. about it. More."),
            "Ask J. Doe or Acme Inc. about it."
        );
        assert_eq!(
            first_sentence("We keep it (the old one. Sorry.) here. More."),
            "We keep it (the old one. Sorry.) here."
        );
    }

    #[test]
    fn plain_text_has_no_markup() {
        assert_eq!(
            plain("**One** [truth](x.md), `code` ![img](y)\nnext"),
            "One truth, `code` next"
        );
    }

    #[test]
    fn placeholders_and_links_without_words_are_shown() {
        assert_eq!(
            plain("Send <uuid> to <b>all</b><br>of <job-id>."),
            "Send <uuid> to all of <job-id>."
        );
        assert_eq!(plain("In [](./0006-x.md) we decided."), "In ./0006-x.md we decided.");
        assert_eq!(plain("A badge [![ok](y)](z) and `Vec`<T>."), "A badge and `Vec`<T>.");
    }

    #[test]
    fn reference_links_become_their_text() {
        let document = "See [the store][1], [RFC 7] and a[0].\n\n[1]: x.md\n[RFC 7]: y.md\n";
        let line = document.lines().next().unwrap_or_default();
        assert_eq!(plain_within(document, line), "See the store, RFC 7 and a[0].");
        assert_eq!(plain_within("", "Marks [U+1][U+2] stay."), "Marks [U+1][U+2] stay.");
        assert_eq!(plain_within("", "A point.[^2] More.[^note]"), "A point. More.");
    }

    #[test]
    fn a_clipped_text_ends_at_a_word_and_within_the_limit() {
        let text = clip("one two three four five", 14);
        assert!(text.len() <= 14, "{text}");
        assert_eq!(text, "one two…");
    }
}
