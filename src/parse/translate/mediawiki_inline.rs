//! Translates the links, emphasis and code of MediaWiki lines.

use memchr::memmem;

use super::{Finder, is_url, push_link};

/// Namespaces of links that show something instead of naming a page.
const SHOWN: [&str; 4] = ["file:", "image:", "category:", "media:"];

/// Longest text of an inline code element, in bytes.
const MAX_CODE: usize = 1_000;

/// Writes a line without block markup.
pub(super) fn push_inline(line: &str, out: &mut String) {
    let bytes = line.as_bytes();
    let mut page_ends = Finder::new(line, |rest| memmem::find(rest, b"]]"));
    let mut link_ends = Finder::new(line, |rest| memchr::memchr(b']', rest));
    let mut code_ends = [
        ("<code>", Finder::new(line, |rest| memmem::find(rest, b"</code>"))),
        ("<tt>", Finder::new(line, |rest| memmem::find(rest, b"</tt>"))),
    ];
    let mut copied = 0;
    let mut from = 0;
    while let Some(at) = memchr::memchr3(b'[', b'\'', b'<', &bytes[from..]).map(|at| from + at) {
        let replaced = match bytes[at] {
            b'\'' => emphasis(&bytes[at..]).map(|(sign, n)| (sign.to_string(), at + n)),
            b'[' if bytes.get(at + 1) == Some(&b'[') => page_link(line, at, &mut page_ends),
            b'[' => url_link(line, at, &mut link_ends),
            _ => code_ends.iter_mut().find_map(|(tag, ends)| code(line, at, tag, ends)),
        };
        match replaced {
            Some((text, end)) => {
                out.push_str(&line[copied..at]);
                out.push_str(&text);
                (copied, from) = (end, end);
            }
            // Further apostrophes and brackets of the same run would give the same result.
            None => from = at + bytes[at..].iter().take_while(|b| **b == bytes[at]).count(),
        }
    }
    out.push_str(&line[copied..]);
}

/// Returns the Markdown for a run of apostrophes and the length of the run.
fn emphasis(bytes: &[u8]) -> Option<(&'static str, usize)> {
    let n = bytes.iter().take_while(|b| **b == b'\'').count();
    let sign = match n {
        2 => "*",
        3 => "**",
        4 => "'**",
        5 => "***",
        _ => return None,
    };
    Some((sign, n))
}

/// Translates `[[target|text]]`. Returns the Markdown and the offset after the link.
fn page_link(line: &str, at: usize, ends: &mut Finder<'_>) -> Option<(String, usize)> {
    let start = at + 2;
    let end = ends.at_or_after(start)?;
    let inner = &line[start..end];
    // The innermost brackets are the link.
    if inner.contains("[[") {
        return None;
    }
    let (target, text) = inner.split_once('|').unwrap_or((inner, inner));
    let (target, text) = (target.trim(), text.trim());
    let text = if text.is_empty() { target } else { text };
    let lower = target.trim_start_matches(':').to_lowercase();
    let mut link = String::new();
    let names_file = target.contains(['/', '.']) || target.starts_with('#');
    let is_namespaced = target.find(':').is_some_and(|at| !target[..at].contains(['/', '.', '#']));
    if SHOWN.iter().any(|namespace| lower.starts_with(namespace)) {
        // Nothing is shown for it.
    } else if is_url(target) || names_file && !is_namespaced {
        push_link(text, target, &mut link);
    } else {
        // A page of a wiki has no file. Its name can be the id of a document.
        link.push_str(text);
        if target != text && !is_namespaced && target.bytes().any(|b| b.is_ascii_digit()) {
            link.push_str(" (");
            link.push_str(target);
            link.push(')');
        }
    }
    Some((link, end + 2))
}

/// Translates `[https://example.org text]`.
fn url_link(line: &str, at: usize, ends: &mut Finder<'_>) -> Option<(String, usize)> {
    let rest = &line[at + 1..];
    if !is_url(rest) {
        return None;
    }
    let end = ends.at_or_after(at + 1)?;
    let inner = &line[at + 1..end];
    let (target, text) = inner.split_once(char::is_whitespace).unwrap_or((inner, inner));
    let mut link = String::new();
    push_link(text.trim(), target, &mut link);
    Some((link, end + 1))
}

/// Translates `<code>text</code>`.
fn code(line: &str, at: usize, tag: &str, ends: &mut Finder<'_>) -> Option<(String, usize)> {
    if !line[at..].starts_with(tag) {
        return None;
    }
    let start = at + tag.len();
    let end = ends.at_or_after(start)?;
    if end - start > MAX_CODE {
        return None;
    }
    let inner = &line[start..end];
    if inner.contains('`') || inner.trim().is_empty() {
        return None;
    }
    Some((format!("`{inner}`"), end + tag.len() + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_emphasis_and_code_are_translated() {
        for (text, expected) in [
            ("see [[bip-0039.mediawiki|BIP 39]].", "see [BIP 39](bip-0039.mediawiki)."),
            ("[[README.mediawiki]]", "[README.mediawiki](README.mediawiki)"),
            ("[[a b.mediawiki|]]", "[a b.mediawiki](<a b.mediawiki>)"),
            ("[[#Part|below]]", "[below](#Part)"),
            ("[[BIP 0032]]", "BIP 0032"),
            ("[[BIP_0032|wallets]]", "wallets (BIP_0032)"),
            ("[[Main Page|home]]", "home"),
            ("[[File:x.png|thumb|a]]y", "y"),
            ("[[w:Hash.1|hash]]", "hash"),
            ("[[https://x.org/a|site]]", "[site](https://x.org/a)"),
            ("[https://x.org the [1] site]", "[the \\[1](https://x.org) site]"),
            ("[https://x.org]", "[https://x.org](https://x.org)"),
            ("[text](a.md) [1]", "[text](a.md) [1]"),
            ("'''bold''' and ''it'' don't", "**bold** and *it* don't"),
            ("'''''both''''' ''''''''", "***both*** ''''''''"),
            ("<code>a_b</code> <tt>c</tt> <code>`</code>", "`a_b` `c` <code>`</code>"),
            ("[[a [[b.md]] c]]", "[[a [b.md](b.md) c]]"),
            ("[[a|b", "[[a|b"),
            ("[[<b.md>|x]]", "x"),
            ("é[[ü.md|ö]]é", "é[ö](ü.md)é"),
        ] {
            let mut out = String::new();
            push_inline(text, &mut out);
            assert_eq!(out, expected, "{text}");
        }
    }
}
