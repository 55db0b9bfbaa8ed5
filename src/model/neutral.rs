//! Makes text from documents harmless in a wrapper and visible to a reader.

use std::borrow::Cow;

use super::hidden::is_hidden;

/// Tag names that blue or an agent's host gives a meaning; a document may not open or close them.
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
];

/// Escapes the `<` of such tags, shows hidden characters as `[U+202E]`, turns a lone CR into LF.
pub fn neutral(text: &str) -> Cow<'_, str> {
    let plain = |b: u8| (b' '..0x7F).contains(&b) && b != b'<' || b == b'\n' || b == b'\t';
    if text.bytes().all(plain) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut before = ' ';
    let mut rest = text.chars().peekable();
    let mut at = 0;
    while let Some(c) = rest.next() {
        at += c.len_utf8();
        match c {
            '<' if opens_tag(&text[at..]) => out.push_str("&lt;"),
            '\r' => {
                if rest.peek() != Some(&'\n') {
                    out.push('\n');
                }
            }
            c if is_hidden(c, before) => out.push_str(&format!("[U+{:04X}]", c as u32)),
            c => out.push(c),
        }
        before = c;
    }
    Cow::Owned(out)
}

/// Whether what follows a `<` is the name of a tag that means something to a reader.
fn opens_tag(after: &str) -> bool {
    let visible: String = after
        .chars()
        .filter(|c| !is_hidden(*c, ' ') && !c.is_whitespace())
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
        ] {
            assert!(neutral(text).starts_with("&lt;"), "{text}");
        }
        assert_eq!(neutral("Vec<u8> and a < b"), "Vec<u8> and a < b");
    }

    #[test]
    fn hidden_characters_are_shown_and_visible_ones_kept() {
        assert_eq!(neutral("a\u{202E}b"), "a[U+202E]b");
        assert_eq!(neutral("\u{1b}[31m"), "[U+001B][31m");
        assert_eq!(neutral("👩\u{200D}💻 ❤\u{FE0F} שלום"), "👩\u{200D}💻 ❤\u{FE0F} שלום");
        assert_eq!(neutral("a\rb\r\nc"), "a\nb\nc");
    }
}
