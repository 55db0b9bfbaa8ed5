//! Escapes text from documents, so that it cannot close the tag around it or hide characters.

use std::borrow::Cow;

use super::byte_scan;
use super::hidden_chars::{hidden_in, mark, may_hide};

/// Names of tags that have a meaning for blue, for an agent's host or in a model's chat format, as
/// they follow the `<`. A document must not be able to open or close such a tag.
const TAGS: &[&str] = &[
    "blue",
    "system",
    "function",
    "tool",
    "persisted",
    "hook",
    "antml",
    "user",
    "assistant",
    "human",
    "invoke",
    "parameter",
    "start_of_turn",
    "end_of_turn",
    "<sys",
    "|",
];

/// Escapes the `<` of special tags, replaces hidden characters with marks such as `[U+202E]`, and
/// converts CR and CRLF to LF.
pub fn escape(text: &str) -> Cow<'_, str> {
    escape_except(text, "")
}

/// Like [`escape`], but leaves the hidden characters in `allowed` unchanged.
pub fn escape_except<'a>(text: &'a str, allowed: &str) -> Cow<'a, str> {
    let has_inst = memchr::memmem::find(text.as_bytes(), b"INST]").is_some();
    if !has_inst && plain_len(text.as_bytes()) == text.len() {
        return Cow::Borrowed(text);
    }
    let hidden = hidden_in(text);
    let mut hidden = hidden.iter().filter(|(_, c)| !allowed.contains(*c)).peekable();
    let has_tag =
        || memchr::memchr_iter(b'<', text.as_bytes()).any(|at| opens_tag(&text[at + 1..]));
    let has_cr = || memchr::memchr(b'\r', text.as_bytes()).is_some();
    // Copying the text takes longer than to find out that nothing in it changes.
    if !has_inst && hidden.peek().is_none() && !has_cr() && !has_tag() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut at = 0;
    while at < text.len() {
        if !has_inst {
            let len = plain_len(&text.as_bytes()[at..]);
            out.push_str(&text[at..at + len]);
            at += len;
        }
        let Some(c) = text[at..].chars().next() else { break };
        let here = at;
        at += c.len_utf8();
        if hidden.next_if(|(place, _)| *place == here).is_some() {
            out.push_str(&mark(c));
            continue;
        }
        let after = &text[at..];
        match c {
            '<' if opens_tag(after) => out.push_str("&lt;"),
            '[' if has_inst && (after.starts_with("INST]") || after.starts_with("/INST]")) => {
                out.push_str("&#91;");
            }
            '\r' if !after.starts_with('\n') => out.push('\n'),
            '\r' => {}
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// Escapes a text and puts it on one line, with spaces in place of line ends.
pub fn escape_line(text: &str) -> String {
    let ends =
        |c: char| matches!(c, '\n' | '\r' | '\u{B}' | '\u{C}' | '\u{85}' | '\u{2028}' | '\u{2029}');
    let line: String = text.chars().map(|c| if ends(c) { ' ' } else { c }).collect();
    escape(&line).into_owned()
}

/// Escapes a text for use as a quoted attribute value: on one line, and without the characters that
/// would end the value or the tag.
pub fn escape_attribute(text: &str) -> String {
    escape_line(text).replace('"', "&quot;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Returns the length of the prefix that needs no escaping: printable ASCII without `<`, and line
/// ends.
fn plain_len(bytes: &[u8]) -> usize {
    byte_scan::prefix_len(bytes, |b| {
        (b' '..0x7F).contains(&b) & (b != b'<') | (b == b'\n') | (b == b'\t')
    })
}

/// Returns true if the text after a `<` starts with the name of a special tag.
fn opens_tag(after: &str) -> bool {
    // The first two letters rule out nearly every other tag.
    if let [a, b, ..] = after.as_bytes()
        && let letters = [a.to_ascii_lowercase(), b.to_ascii_lowercase()]
        && letters.iter().all(u8::is_ascii_lowercase)
        && !TAGS.iter().any(|tag| tag.as_bytes().starts_with(&letters))
    {
        return false;
    }
    let visible: String = after
        .chars()
        .filter(|c| !may_hide(*c) && !c.is_whitespace())
        .take(16)
        .collect::<String>()
        .to_lowercase();
    let name = visible.trim_start_matches('/');
    TAGS.iter().any(|tag| name.starts_with(tag))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_cannot_close_the_wrapper() {
        for text in [
            "</blue-session>",
            "< / BLUE-session>",
            "</\u{200B}blue-session>",
            "<system-reminder>",
            "<function_calls>",
            "<|im_start|>",
            "<<SYS>>",
            "<invoke name=",
        ] {
            assert!(escape(text).starts_with("&lt;"), "{text}");
        }
        assert_eq!(escape("Vec<u8> and a < b"), "Vec<u8> and a < b");
        assert_eq!(escape("[INST] a [/INST] [1]"), "&#91;INST] a &#91;/INST] [1]");
    }

    #[test]
    fn a_value_cannot_end_its_attribute() {
        assert_eq!(escape_attribute("x\"><b>\r\ny\u{2028}z"), "x&quot;&gt;&lt;b&gt;  y z");
        assert_eq!(escape_attribute("</blue-session>"), "&lt;/blue-session&gt;");
        assert_eq!(escape_attribute("R&D, Zoë's"), "R&D, Zoë's");
    }

    #[test]
    fn only_hidden_characters_are_replaced() {
        assert_eq!(escape("a\u{202E}b"), "a[U+202E]b");
        assert_eq!(escape("\u{1b}[31m"), "[U+001B][31m");
        assert_eq!(escape("👩\u{200D}💻 ❤\u{FE0F} שלום"), "👩\u{200D}💻 ❤\u{FE0F} שלום");
        assert_eq!(escape("a\rb\r\nc"), "a\nb\nc");
        assert_eq!(escape_except("a\u{200B}\u{202E}b", "\u{200B}"), "a\u{200B}[U+202E]b");
    }
}
