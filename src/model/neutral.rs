//! Makes text from documents harmless in a wrapper and visible to a reader.

use std::borrow::Cow;

use super::hidden::{hidden_in, mark, may_hide};
use super::scan;

/// What stands behind the `<` of a tag that blue, an agent's host or a model's chat format gives a
/// meaning; a document may not open or close them.
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

/// Escapes the `<` of such tags, shows hidden characters as `[U+202E]`, turns a lone CR into LF.
pub fn neutral(text: &str) -> Cow<'_, str> {
    neutral_but(text, "")
}

/// The same, with some hidden characters kept because the configuration says so.
pub fn neutral_but<'a>(text: &'a str, kept: &str) -> Cow<'a, str> {
    let turn = memchr::memmem::find(text.as_bytes(), b"INST]").is_some();
    if !turn && plain_len(text.as_bytes()) == text.len() {
        return Cow::Borrowed(text);
    }
    let hidden = hidden_in(text);
    let mut hidden = hidden.iter().filter(|(_, c)| !kept.contains(*c)).peekable();
    let mut out = String::with_capacity(text.len() + 16);
    let mut at = 0;
    while at < text.len() {
        if !turn {
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
            '[' if turn && (after.starts_with("INST]") || after.starts_with("/INST]")) => {
                out.push_str("&#91;");
            }
            '\r' if !after.starts_with('\n') => out.push('\n'),
            '\r' => {}
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// A text in one line: whatever would end the line is a space, hidden characters are shown.
pub fn one_line(text: &str) -> String {
    let ends =
        |c: char| matches!(c, '\n' | '\r' | '\u{B}' | '\u{C}' | '\u{85}' | '\u{2028}' | '\u{2029}');
    let line: String = text.chars().map(|c| if ends(c) { ' ' } else { c }).collect();
    neutral(&line).into_owned()
}

/// A text as the value of an attribute in quotes: in one line, without the signs that would end the
/// value or the tag.
pub fn attribute(text: &str) -> String {
    one_line(text).replace('"', "&quot;").replace('<', "&lt;").replace('>', "&gt;")
}

/// How many bytes at the beginning need no look: printable ASCII that opens no tag, and lines' ends.
fn plain_len(bytes: &[u8]) -> usize {
    scan::length(bytes, |b| (b' '..0x7F).contains(&b) & (b != b'<') | (b == b'\n') | (b == b'\t'))
}

/// Whether what follows a `<` is the name of a tag that means something to a reader.
fn opens_tag(after: &str) -> bool {
    // Two letters tell nearly every other tag.
    if let [a, b, ..] = after.as_bytes()
        && let two = [a.to_ascii_lowercase(), b.to_ascii_lowercase()]
        && two.iter().all(u8::is_ascii_lowercase)
        && !TAGS.iter().any(|tag| tag.as_bytes().starts_with(&two))
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
            assert!(neutral(text).starts_with("&lt;"), "{text}");
        }
        assert_eq!(neutral("Vec<u8> and a < b"), "Vec<u8> and a < b");
        assert_eq!(neutral("[INST] a [/INST] [1]"), "&#91;INST] a &#91;/INST] [1]");
    }

    #[test]
    fn an_attribute_does_not_end_before_its_quote() {
        assert_eq!(attribute("x\"><b>\r\ny\u{2028}z"), "x&quot;&gt;&lt;b&gt;  y z");
        assert_eq!(attribute("</blue-session>"), "&lt;/blue-session&gt;");
        assert_eq!(attribute("R&D, Zoë's"), "R&D, Zoë's");
    }

    #[test]
    fn hidden_characters_are_shown_and_visible_ones_kept() {
        assert_eq!(neutral("a\u{202E}b"), "a[U+202E]b");
        assert_eq!(neutral("\u{1b}[31m"), "[U+001B][31m");
        assert_eq!(neutral("👩\u{200D}💻 ❤\u{FE0F} שלום"), "👩\u{200D}💻 ❤\u{FE0F} שלום");
        assert_eq!(neutral("a\rb\r\nc"), "a\nb\nc");
        assert_eq!(neutral_but("a\u{200B}\u{202E}b", "\u{200B}"), "a\u{200B}[U+202E]b");
    }
}
