//! Converts Markdown to plain text and cuts text to a length.

use pulldown_cmark::{Event, Parser, Tag, TagEnd};

use crate::model::byte_scan::prefix;

/// Converts Markdown to one line of plain text. Emphasis and links are removed, code spans stay.
pub(super) fn plain(markdown: &str) -> String {
    if has_no_markup(markdown) {
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
        let abbreviations =
            ["e.g.", "i.e.", "etc.", "vs.", "cf.", "approx.", "no.", "fig.", "st.", "mr.", "dr."];
        let follows_lower = after.trim_start().starts_with(|c: char| c.is_lowercase());
        if full_width
            || !(abbreviations.contains(&last.to_lowercase().as_str())
                || (follows_lower && c == '.'))
                && at > 12
        {
            return head.to_string();
        }
    }
    text.to_string()
}

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
    }

    #[test]
    fn plain_text_has_no_markup() {
        assert_eq!(
            plain("**One** [truth](x.md), `code` ![img](y)\nnext"),
            "One truth, `code` next"
        );
    }

    #[test]
    fn a_clipped_text_ends_at_a_word_and_within_the_limit() {
        let text = clip("one two three four five", 14);
        assert!(text.len() <= 14, "{text}");
        assert_eq!(text, "one two…");
    }
}
