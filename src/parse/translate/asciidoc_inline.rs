//! Translates the links of AsciiDoc lines. Emphasis and code are the same in Markdown.

use std::borrow::Cow;

use super::{Finder, is_url, push_link};
use crate::model::TextFormat;

/// Longest text that has a role, in bytes.
const MAX_MARKED: usize = 500;

/// Writes a line without block markup.
pub(super) fn push_inline(line: &str, out: &mut String) {
    // A plus sign at the end breaks the line.
    let line = line.strip_suffix(" +").unwrap_or(line);
    let line = &*without_roles(line);
    let bytes = line.as_bytes();
    let mut ends = MacroEnds {
        target: Finder::new(line, |rest| rest.iter().position(|byte| b"[ \t<>\"".contains(byte))),
        text: Finder::new(line, |rest| memchr::memchr(b']', rest)),
    };
    let mut reference_ends = Finder::new(line, |rest| memchr::memmem::find(rest, b">>"));
    let mut code_ends = Finder::new(line, |rest| memchr::memchr(b'`', rest));
    let mut copied = 0;
    let mut from = 0;
    while let Some(at) = memchr::memchr3(b':', b'<', b'`', &bytes[from..]).map(|at| from + at) {
        let replaced = match bytes[at] {
            b'`' => {
                from = code_ends.at_or_after(at + 1).map_or(at + 1, |end| end + 1);
                continue;
            }
            b'<' if bytes.get(at + 1) == Some(&b'<') => {
                reference(line, at, &mut reference_ends).map(|(link, end)| (at, link, end))
            }
            b'<' => None,
            _ => link_macro(line, copied, at, &mut ends),
        };
        from = match replaced {
            Some((start, link, end)) => {
                out.push_str(&line[copied..start]);
                out.push_str(&link);
                copied = end;
                end
            }
            None => at + 1,
        };
    }
    out.push_str(&line[copied..]);
}

/// Removes the roles of text: `[.green]#accepted#` becomes `accepted`.
fn without_roles(line: &str) -> Cow<'_, str> {
    let mut ends = memchr::memmem::find_iter(line.as_bytes(), b"]#").peekable();
    if ends.peek().is_none() {
        return Cow::Borrowed(line);
    }
    let mut plain = String::with_capacity(line.len());
    let mut copied = 0;
    for end in ends {
        let before = line.get(copied..end).unwrap_or_default();
        let text = &line[end + 2..];
        let length = text.bytes().take(MAX_MARKED).position(|byte| byte == b'#');
        let (Some(open), Some(length)) = (before.rfind('['), length) else { continue };
        plain.push_str(&before[..open]);
        plain.push_str(&text[..length]);
        copied = end + 2 + length + 1;
    }
    plain.push_str(&line[copied..]);
    Cow::Owned(plain)
}

/// Writes an image with a description, which can be a badge that states the status.
pub(super) fn push_image(target: &str, text: &str, out: &mut String) {
    if !text.is_empty() {
        out.push('!');
        push_link(text, target, out);
    }
}

/// Finds where the target and the text of a link end.
struct MacroEnds<'a> {
    target: Finder<'a>,
    text: Finder<'a>,
}

/// Translates `link:target[text]`, `xref:target[text]`, `https://example.org[text]` and
/// `image:x.png[]`, given the offset of the colon. Returns where it starts, the Markdown and where
/// it ends.
fn link_macro(
    line: &str,
    copied: usize,
    colon: usize,
    ends: &mut MacroEnds<'_>,
) -> Option<(usize, String, usize)> {
    let n_letters =
        line.as_bytes()[copied..colon].iter().rev().take(5).take_while(|b| b.is_ascii_alphabetic());
    let start = colon - n_letters.count();
    let name = &line[start..colon];
    let before = line[..start].bytes().last();
    if name.is_empty() && before.is_none_or(|byte| byte == b' ') {
        return emoji_end(&line[colon..]).map(|end| (start, String::new(), colon + end));
    }
    // Inside a word, or in the parentheses of a Markdown link, it is none.
    if before.is_some_and(|byte| byte.is_ascii_alphanumeric()) || line[..start].ends_with("](") {
        return None;
    }
    let is_address = matches!(name, "http" | "https" | "mailto");
    let target_start = if is_address { start } else { colon + 1 };
    if !is_address && !matches!(name, "link" | "xref" | "image") {
        return None;
    }
    let open = ends.target.at_or_after(target_start)?;
    if line.as_bytes()[open] != b'[' || open == target_start {
        return None;
    }
    let end = ends.text.at_or_after(open)?;
    let target = &line[target_start..open];
    let text = link_text(&line[open + 1..end]);
    let mut link = String::new();
    match name {
        "image" => push_image(target, text, &mut link),
        "xref" => push_reference(target, text, &mut link),
        _ => push_link(if text.is_empty() { target } else { text }, target, &mut link),
    }
    Some((start, link, end + 1))
}

/// Returns the length of the name of an emoji: `:ok_hand:`.
fn emoji_end(text: &str) -> Option<usize> {
    let is_name = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'_';
    let length = text.bytes().skip(1).take(40).take_while(|byte| is_name(byte)).count();
    let rest = text[1 + length..].strip_prefix(':')?;
    (length >= 2 && (rest.is_empty() || rest.starts_with(' '))).then_some(length + 2)
}

/// Translates `<<target>>` and `<<target,text>>`.
fn reference(line: &str, at: usize, ends: &mut Finder<'_>) -> Option<(String, usize)> {
    let start = at + 2;
    let end = ends.at_or_after(start)?;
    let inner = &line[start..end];
    // With spaces around it, it is an operator and not a reference.
    if inner.is_empty() || inner.len() > 500 || inner.starts_with(' ') || inner.contains("<<") {
        return None;
    }
    let (target, text) = inner.split_once(',').unwrap_or((inner, ""));
    let mut link = String::new();
    push_reference(target.trim(), text.trim(), &mut link);
    Some((link, end + 2))
}

/// Writes a cross reference: to a file if the target has the extension of a document or a `#`
/// after its name, otherwise to an anchor.
fn push_reference(target: &str, text: &str, out: &mut String) {
    if is_url(target) {
        return push_link(if text.is_empty() { target } else { text }, target, out);
    }
    // Antora writes the version, component and module before the path.
    let path = target.rsplit([':', '@']).next().unwrap_or(target);
    let (file, anchor) = path.split_once('#').unwrap_or((path, ""));
    let names_file =
        !file.is_empty() && (path.contains('#') || TextFormat::of_path(file).is_some());
    if names_file {
        let text = if text.is_empty() { file } else { text };
        return push_link(text, file, out);
    }
    let anchor = if anchor.is_empty() { file } else { anchor };
    push_link(if text.is_empty() { anchor } else { text }, &format!("#{anchor}"), out);
}

/// Returns the text of a link or an image without attributes: `text^`, `text,window=_blank`, `"a, b",role=x`.
pub(super) fn link_text(text: &str) -> &str {
    let text = text.trim();
    if let Some(quoted) = text.strip_prefix('"') {
        return quoted.split('"').next().unwrap_or(quoted);
    }
    let has_attributes = text.split(',').skip(1).any(|part| part.contains('='));
    let text = if has_attributes { text.split(',').next().unwrap_or(text) } else { text };
    let is_attribute = text.contains('=') && !text.contains(' ');
    if is_attribute { "" } else { text.trim_end_matches('^') }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_translated() {
        for (text, expected) in [
            ("see xref:adr-0001.adoc[ADR 1].", "see [ADR 1](adr-0001.adoc)."),
            ("xref:adr-0001.adoc#why[why]", "[why](adr-0001.adoc)"),
            ("xref:adr-0001#[]", "[adr-0001](adr-0001)"),
            ("xref:2.0@docs:ROOT:adr/1.adoc[x]", "[x](adr/1.adoc)"),
            ("link:../a/b.adoc[]", "[../a/b.adoc](../a/b.adoc)"),
            ("link:a.adoc[A^], link:b.adoc[B,window=_blank]", "[A](a.adoc), [B](b.adoc)"),
            ("https://x.org/a[site] https://x.org", "[site](https://x.org/a) https://x.org"),
            ("<<adr-0012>> <<x.adoc#,the X>>", "[adr-0012](#adr-0012) [the X](x.adoc)"),
            ("<<part, see below>>", "[see below](#part)"),
            ("[a](https://x.org) [b](xref:c)", "[a](https://x.org) [b](xref:c)"),
            ("`xref:a.adoc[b]` stays", "`xref:a.adoc[b]` stays"),
            ("image:x.png[]y", "y"),
            ("image:https://x.org/a.svg[Accepted,link=b]", "![Accepted](https://x.org/a.svg)"),
            ("[.green]#Accepted# [x]#y [z]", "Accepted [x]#y [z]"),
            ("unlink:a[b]", "unlink:a[b]"),
            ("link:a b[c]", "link:a b[c]"),
            ("xref:a.adoc[b", "xref:a.adoc[b"),
            ("<<a", "<<a"),
            ("a << b >> c", "a << b >> c"),
            ("*bold* _it_ é: xref:ü.adoc[ö]", "*bold* _it_ é: [ö](ü.adoc)"),
            ("Status: accepted +", "Status: accepted"),
            ("Draft :speech_balloon: x :a: 1:23:45", "Draft  x :a: 1:23:45"),
        ] {
            let mut out = String::new();
            push_inline(text, &mut out);
            assert_eq!(out, expected, "{text}");
        }
    }
}
