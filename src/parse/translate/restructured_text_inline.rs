//! Translates the links, roles and footnotes of reStructuredText.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::{Finder, push_link};

/// The link targets that a document defines outside its sentences.
pub(super) struct Targets<'a> {
    /// Names of targets, in lower case with single spaces.
    names: BTreeSet<String>,
    /// Targets without a name that no link has used yet, in order.
    anonymous: std::vec::IntoIter<&'a str>,
}

impl<'a> Targets<'a> {
    /// Collects the targets of a document.
    pub(super) fn new(lines: impl Iterator<Item = &'a str>) -> Targets<'a> {
        let mut names = BTreeSet::new();
        let mut anonymous = Vec::new();
        let mut lines = lines.peekable();
        while let Some(line) = lines.next() {
            let text = line.trim();
            let is_continued = lines.peek().is_some_and(|next| next.starts_with("  "));
            if let Some(target) = text.strip_prefix("__ ").or_else(|| text.strip_prefix(".. __: "))
            {
                anonymous.push(target.trim());
            } else if let Some((name, target)) = text.strip_prefix(".. ").and_then(definition)
                && (is_continued || !target.is_empty())
            {
                names.insert(normal_name(name));
            }
        }
        Targets { names, anonymous: anonymous.into_iter() }
    }

    /// Writes `_name: target` as a definition in Markdown. The target may be on the next line.
    /// Returns false if it is a label or if Markdown cannot express it.
    pub(super) fn push_definition(&self, text: &str, is_continued: bool, out: &mut String) -> bool {
        let Some((name, target)) = definition(text) else { return false };
        let is_label = target.is_empty() && !is_continued;
        if is_label || name.contains(['[', ']']) || target.contains([' ', '<', '>']) {
            return false;
        }
        out.push('[');
        out.push_str(name);
        out.push_str("]:");
        if !target.is_empty() {
            out.push_str(" <");
            out.push_str(target);
            out.push('>');
        }
        true
    }

    /// Writes a link to a named target, or only its text if there is no such target.
    fn push_named(&self, text: &str, name: &str, out: &mut String) {
        let is_link = self.names.contains(&normal_name(name)) && !text.contains(['[', ']']);
        match is_link {
            true if text == name => out.extend(["[", text, "]"]),
            true => out.extend(["[", text, "][", name, "]"]),
            false => out.push_str(text),
        }
    }

    /// Writes a link to the next target without a name.
    fn push_anonymous(&mut self, text: &str, out: &mut String) {
        match self.anonymous.next() {
            Some(target) => push_link(text, target, out),
            None => out.push_str(text),
        }
    }
}

/// Splits a definition into its name and its target: ``_`a b`: https://example.org``. The target of
/// a label is empty.
fn definition(text: &str) -> Option<(&str, &str)> {
    let rest = text.strip_prefix('_')?;
    let (name, target) = match rest.strip_prefix('`') {
        Some(quoted) => {
            let (name, rest) = quoted.split_once('`')?;
            (name, rest.strip_prefix(':')?)
        }
        None => {
            let at = rest.find(": ").or_else(|| rest.ends_with(':').then(|| rest.len() - 1))?;
            (&rest[..at], &rest[at + 1..])
        }
    };
    (!name.is_empty() && !name.starts_with('_')).then(|| (name, target.trim()))
}

fn normal_name(name: &str) -> String {
    name.split_whitespace().map(str::to_lowercase).collect::<Vec<String>>().join(" ")
}

/// Writes a text without block markup, which may have several lines.
pub(super) fn push_inline(text: &str, targets: &mut Targets<'_>, out: &mut String) {
    let bytes = text.as_bytes();
    let mut literal_ends = Finder::new(text, |rest| memchr::memmem::find(rest, b"``"));
    let mut quote_ends = Finder::new(text, |rest| memchr::memchr(b'`', rest));
    let mut copied = 0;
    let mut from = 0;
    while let Some(at) = memchr::memchr3(b'`', b'_', b'\\', &bytes[from..]).map(|at| from + at) {
        from = at + 1;
        match bytes[at] {
            // An escaped space separates markup from a word, and is not shown.
            b'\\' if bytes.get(at + 1) == Some(&b' ') => {
                out.push_str(&text[copied..at]);
                copied = at + 2;
                from = copied;
            }
            b'\\' => from = (at + 2).min(text.len()),
            b'`' if bytes.get(at + 1) == Some(&b'`') => {
                from = literal_ends.at_or_after(at + 2).map_or(at + 2, |end| end + 2);
            }
            b'`' => {
                let Some(end) = quote_ends.at_or_after(at + 1).filter(|end| *end > at + 1) else {
                    continue;
                };
                let start = role_start(&text[copied..at]).map_or(at, |start| copied + start);
                out.push_str(&text[copied..start]);
                let n_signs = bytes[end + 1..].iter().take(2).take_while(|b| **b == b'_').count();
                let role = text[start..at].trim_matches(':');
                push_quoted(role, &text[at + 1..end], n_signs, targets, out);
                copied = end + 1 + n_signs;
                from = copied;
            }
            _ => {
                copied = push_underscore(text, copied, at, targets, out);
                from = from.max(copied);
            }
        }
    }
    out.push_str(&text[copied..]);
}

/// Writes a text up to an underscore, which may be the sign of a reference. Returns the end of what
/// was written; nothing is written for an underscore inside a word.
fn push_underscore(
    text: &str,
    copied: usize,
    at: usize,
    targets: &mut Targets<'_>,
    out: &mut String,
) -> usize {
    let bytes = text.as_bytes();
    let n_signs = 1 + usize::from(bytes.get(at + 1) == Some(&b'_'));
    let next = bytes.get(at + n_signs);
    let is_inside = next.is_some_and(|next| next.is_ascii_alphanumeric() || *next == b'_');
    let start = match is_inside {
        true => None,
        false => reference_start(&text[..at]).filter(|start| *start >= copied),
    };
    let Some(start) = start else {
        let is_letter = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
        let before = at.checked_sub(1).and_then(|at| bytes.get(at));
        if is_letter(before) && is_letter(bytes.get(at + 1)) {
            return copied;
        }
        // At either end of a word, it would start or end emphasis in Markdown.
        out.extend([&text[copied..at], "\\_"]);
        return at + 1;
    };
    out.push_str(&text[copied..start]);
    let word = &text[start..at];
    match n_signs {
        _ if word.starts_with('[') => {}
        1 if targets.names.contains(&normal_name(word)) => targets.push_named(word, word, out),
        1 => out.extend([word, "\\_"]),
        _ => targets.push_anonymous(word, out),
    }
    at + n_signs
}

/// Writes a text in backticks with its role, and with as many signs of a reference behind it.
fn push_quoted(
    role: &str,
    inner: &str,
    n_signs: usize,
    targets: &mut Targets<'_>,
    out: &mut String,
) {
    let explicit = inner.strip_suffix('>').and_then(|inner| inner.rsplit_once('<'));
    let (label, target) = explicit.unwrap_or((inner, inner));
    let label = if label.trim().is_empty() { target } else { label }.trim();
    let start = out.len();
    match (role, n_signs) {
        ("", 0) => out.extend(["`", inner, "`"]),
        ("", _) if explicit.is_some() => match target.strip_suffix('_') {
            Some(name) => targets.push_named(label, name, out),
            None => push_link(label, &without_breaks(target), out),
        },
        ("", 1) => targets.push_named(inner, inner, out),
        ("", _) => targets.push_anonymous(inner, out),
        ("doc" | "download", _) => push_link(label, &without_breaks(target), out),
        ("pep" | "rfc", _) if explicit.is_none() => {
            out.extend([&role.to_uppercase(), " ", label]);
        }
        ("any" | "numref" | "pep" | "ref" | "rfc" | "std:doc" | "std:ref" | "term", _) => {
            out.push_str(label);
            // A label such as `NEP14` is the id of a document.
            let n_letters = target.bytes().take_while(u8::is_ascii_uppercase).count();
            let number = target[n_letters..].trim_start_matches('-');
            let is_number = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
            if n_letters >= 2 && is_number && !label.contains(number) {
                out.extend([" (", target, ")"]);
            }
        }
        _ => out.extend(["`", inner.trim_start_matches(['~', '!']), "`"]),
    }
    // Line breaks that are not in the text of the link are written behind it.
    let n_written = out[start..].matches('\n').count();
    let breaks = inner.match_indices('\n').skip(n_written);
    for (at, _) in breaks {
        out.push_str(if inner[..at].ends_with('\r') { "\r\n" } else { "\n" });
    }
}

/// Joins the parts of a target that is broken over several lines.
fn without_breaks(target: &str) -> Cow<'_, str> {
    match target.contains('\n') {
        true => Cow::Owned(target.split_whitespace().collect()),
        false => Cow::Borrowed(target),
    }
}

/// Returns the start of a role at the end of a text: `:doc:`.
fn role_start(before: &str) -> Option<usize> {
    let name = before.strip_suffix(':')?;
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_:.+".contains(byte);
    let length = name.bytes().rev().take(32).take_while(|byte| is_name(byte)).count();
    let start = name.len() - length;
    let word = &name[start..];
    let colon = word.find(':')?;
    (colon + 1 < word.len()).then_some(start + colon)
}

/// Returns the start of the word or the bracketed number that a reference at its end is.
fn reference_start(before: &str) -> Option<usize> {
    if before.ends_with(']') {
        let near = before.len() - before.bytes().rev().take(40).position(|b| b == b'[')? - 1;
        let is_label = !before[near..].contains(char::is_whitespace);
        return is_label.then_some(near);
    }
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.".contains(byte);
    let length = before.bytes().rev().take(80).take_while(|byte| is_part(byte)).count();
    let start = before.len() - length;
    let is_name = before[start..].starts_with(|c: char| c.is_ascii_alphanumeric());
    let ends_outside = before[..start].chars().next_back().is_none_or(|c| !c.is_alphanumeric());
    (is_name && length < 80 && ends_outside).then_some(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_roles_and_footnotes_are_translated() {
        let definitions = [".. _Other X: x.rst", ".. _y-1: y.rst", "__ https://x.org/", "__ z.rst"];
        for (text, expected) in [
            ("see `ADR 1 <./0001-a.rst>`_.", "see [ADR 1](./0001-a.rst)."),
            ("`ADR 1 <0001-a.rst>`__", "[ADR 1](0001-a.rst)"),
            ("`<https://x.org/>`_", "[https://x.org/](https://x.org/)"),
            ("`ADR\n1 <a.rst>`_ b", "[ADR\n1](a.rst) b"),
            ("`ADR 1\r\n<a.rst>`_ b", "[ADR 1](a.rst)\r\n b"),
            ("`ADR 1 <https://x.org/\n  y>`_ b", "[ADR 1](https://x.org/y)\n b"),
            (":doc:`/adr/0001-a` :doc:`A <b>`", "[/adr/0001-a](/adr/0001-a) [A](b)"),
            (":pep:`8` and :rfc:`2119`", "PEP 8 and RFC 2119"),
            (":ref:`the part <label>` :class:`~a.B`", "the part `a.B`"),
            (":ref:`in 2019 <NEP14>`", "in 2019 (NEP14)"),
            ("`Other X`_ or `x <Other X_>`_", "[Other X] or [x][Other X]"),
            ("y-1_, and `none`_ and none_", "[y-1], and none and none\\_"),
            ("`site`__ and it__", "[site](https://x.org/) and [it](z.rst)"),
            ("a [1]_ b [#note]_.", "a  b ."),
            ("``a_ `b`_`` `c` snake_case _d é_", "``a_ `b`_`` `c` snake_case \\_d é\\_"),
            ("with __a_function__", "with \\_\\_a_function\\_\\_"),
            ("`open", "`open"),
            ("a\\ s \\`b`_", "as \\`b`\\_"),
        ] {
            let mut out = String::new();
            push_inline(text, &mut Targets::new(definitions.into_iter()), &mut out);
            assert_eq!(out, expected, "{text}");
        }
    }
}
