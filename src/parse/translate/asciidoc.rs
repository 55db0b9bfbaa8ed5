//! Translates the lines and blocks of AsciiDoc.

use super::asciidoc_header::Header;
use super::asciidoc_inline::{link_text, push_image, push_inline};
use super::asciidoc_table::{is_table_delimiter, n_columns, push_table_line};
use super::cells::CellWriter;
use super::{ListDepth, Translation, lines, push_code};

/// Longest term of a description list, in bytes.
const MAX_TERM: usize = 80;

/// The block that the current line is in.
enum AsciiDocBlock<'a> {
    Text,
    /// Code, up to a line that equals the delimiter.
    Verbatim(&'a str),
    /// A comment, up to a line that equals the delimiter.
    Comment(&'a str),
    /// A table, up to a line `|===`. There is no writer until the first row.
    Table(Option<CellWriter>),
}

struct AsciiDocTranslator<'a> {
    lines: Vec<(&'a str, &'a str)>,
    header: Header,
    block: AsciiDocBlock<'a>,
    list: ListDepth,
    /// Number of columns that the line above a table states.
    n_columns: Option<usize>,
    /// A term whose definition is on the next line.
    term: Option<&'a str>,
}

/// Translates a body.
pub(super) fn translate(body: &str, first_line: u32) -> Translation {
    let mut translator = AsciiDocTranslator {
        lines: lines(body),
        header: Header::new(first_line),
        block: AsciiDocBlock::Text,
        list: ListDepth::default(),
        n_columns: None,
        term: None,
    };
    let mut text = String::with_capacity(body.len() + body.len() / 8);
    for index in 0..translator.lines.len() {
        let (line, end) = translator.lines[index];
        translator.push_line(index, line, &mut text);
        text.push_str(end);
    }
    Translation { text, fields: translator.header.fields }
}

impl<'a> AsciiDocTranslator<'a> {
    fn push_line(&mut self, index: usize, line: &'a str, out: &mut String) {
        let trimmed = line.trim_end();
        match &mut self.block {
            AsciiDocBlock::Text => self.push_text(index, trimmed, out),
            AsciiDocBlock::Verbatim(delimiter) => match trimmed == *delimiter {
                true => {
                    self.block = AsciiDocBlock::Text;
                    out.push_str("```");
                }
                false => push_code(line, out),
            },
            AsciiDocBlock::Comment(delimiter) => {
                if trimmed == *delimiter {
                    self.block = AsciiDocBlock::Text;
                }
            }
            AsciiDocBlock::Table(writer) => {
                if is_table_delimiter(trimmed) {
                    writer.iter_mut().for_each(|writer| writer.flush(out));
                    self.block = AsciiDocBlock::Text;
                    self.n_columns = None;
                } else if !is_comment(trimmed) {
                    push_table_line(trimmed, self.n_columns, writer, &self.header, out);
                }
            }
        }
    }

    fn push_text(&mut self, index: usize, line: &'a str, out: &mut String) {
        let term = self.term.take();
        if self.header.read_line(index, line, self.text_of(index.wrapping_sub(1))) {
            return;
        }
        if self.opens_block(index, line, out) || is_comment(line) {
            return;
        }
        if is_block_macro(line) {
            return push_block_image(&self.header.expanded(line), out);
        }
        if is_attribute_line(line) {
            self.n_columns = n_columns(line).or(self.n_columns);
            return;
        }
        let underlined = self.underline_level(index, line);
        if let Some(level) = underlined.or_else(|| heading_level(line)) {
            self.header.start_section(index, level);
            self.list = ListDepth::default();
            let title = if underlined.is_some() { line } else { heading_title(line) };
            out.extend(std::iter::repeat_n('#', level.min(6)));
            out.push(' ');
            return self.push_inline(title, out);
        }
        if self.is_underline(index, line) {
            return;
        }
        self.push_paragraph_line(index, line, term, out);
    }

    /// Writes a line of a paragraph or a list.
    fn push_paragraph_line(
        &mut self,
        index: usize,
        line: &'a str,
        term: Option<&str>,
        out: &mut String,
    ) {
        if let Some((depth, is_numbered, text)) = list_item(line) {
            self.list.push_marker(depth, is_numbered, out);
            return self.push_inline(text, out);
        }
        if let Some((term, definition)) = description(line) {
            if definition.is_empty() && is_prose(self.text_of(index + 1)) {
                self.term = Some(term);
                return;
            }
            return self.push_description(term, definition, out);
        }
        if let Some(term) = term {
            return self.push_description(term, line.trim(), out);
        }
        match line {
            "'''" | "---" | "***" | "- - -" | "* * *" => out.push_str("***"),
            "<<<" | "+" => {}
            _ => {
                if !line.starts_with([' ', '\t']) && !line.is_empty() {
                    self.list = ListDepth::default();
                }
                if let Some(title) = block_title(line) {
                    // Above the sections, it is the title of a table with metadata.
                    if !self.header.is_open {
                        out.push_str("**");
                        self.push_inline(title, out);
                        out.push_str("**");
                    }
                    return;
                }
                self.push_inline(line, out);
            }
        }
    }

    fn push_description(&mut self, term: &str, definition: &str, out: &mut String) {
        self.list.push_marker(1, false, out);
        out.push_str("**");
        out.push_str(term.trim().trim_matches('*'));
        out.push_str(":** ");
        self.push_inline(definition, out);
    }

    fn push_inline(&self, text: &str, out: &mut String) {
        push_inline(&self.header.expanded(text), out);
    }

    /// Starts a block at a delimiter. Returns true if the line was one.
    fn opens_block(&mut self, index: usize, line: &'a str, out: &mut String) -> bool {
        if is_table_delimiter(line) {
            self.block = AsciiDocBlock::Table(None);
            return true;
        }
        if line.starts_with("```") {
            self.block = AsciiDocBlock::Verbatim("```");
            out.push_str("```");
            return true;
        }
        let first = line.as_bytes().first().copied().unwrap_or_default();
        let is_delimiter =
            line == "--" || line.len() >= 4 && line.bytes().all(|byte| byte == first);
        if !is_delimiter || self.is_underline(index, line) {
            return false;
        }
        match first {
            b'-' | b'.' | b'+' if line != "--" => {
                self.block = AsciiDocBlock::Verbatim(line);
                out.push_str("```");
            }
            b'/' => self.block = AsciiDocBlock::Comment(line),
            // Examples, sidebars, quotes and open blocks contain ordinary text.
            b'=' | b'*' | b'_' | b'-' => {}
            _ => return false,
        }
        true
    }

    /// Returns the level of a title that the next line underlines.
    fn underline_level(&self, index: usize, line: &str) -> Option<usize> {
        let above = self.text_of(index.wrapping_sub(1));
        let is_start = above.is_empty() || is_attribute_line(above) || above.starts_with(':');
        let below = self.text_of(index + 1);
        let sign = below.bytes().next()?;
        let level = b"=-~^+".iter().position(|known| *known == sign)? + 1;
        let is_title = is_start
            && line.starts_with(|c: char| c.is_alphanumeric())
            && below.len() >= 3
            && below.bytes().all(|byte| byte == sign)
            && line.chars().count().abs_diff(below.len()) <= 1;
        is_title.then_some(level)
    }

    /// Returns true if a line underlines the title above it.
    fn is_underline(&self, index: usize, line: &str) -> bool {
        !line.is_empty()
            && index > 0
            && self.underline_level(index - 1, self.text_of(index - 1)).is_some()
    }

    /// Returns a line without trailing space, or nothing if there is no such line.
    fn text_of(&self, index: usize) -> &'a str {
        self.lines.get(index).map_or("", |(line, _)| line.trim_end())
    }
}

/// Returns the level of a heading: `= Title` is 1. Asciidoctor also reads `# Title`.
fn heading_level(line: &str) -> Option<usize> {
    let sign = line.bytes().next().filter(|byte| matches!(byte, b'=' | b'#'))?;
    let n_signs = line.bytes().take_while(|byte| *byte == sign).count();
    let is_heading = n_signs <= 6 && line[n_signs..].starts_with([' ', '\t']);
    (is_heading && !line[n_signs..].trim().is_empty()).then_some(n_signs)
}

fn heading_title(line: &str) -> &str {
    let title = line.trim_start_matches(['=', '#']).trim();
    // `== Title ==` closes the heading as it opened it.
    let closed = title.strip_suffix(&line[..heading_level(line).unwrap_or(0)]);
    closed.filter(|title| title.ends_with(' ')).unwrap_or(title).trim_end()
}

fn is_comment(line: &str) -> bool {
    line.starts_with("//") && !line.starts_with("///")
}

/// Returns true for lines such as `include::x.adoc[]`, `image::x.png[]` and `ifdef::x[]`.
fn is_block_macro(line: &str) -> bool {
    let n_letters = line.bytes().take_while(|byte| byte.is_ascii_lowercase()).count();
    n_letters > 0
        && line[n_letters..].starts_with("::")
        && line.ends_with(']')
        && !line[n_letters + 2..].starts_with(' ')
}

/// Writes `image::target[description]`. Other macros have no text.
fn push_block_image(line: &str, out: &mut String) {
    let image = line.strip_prefix("image::").and_then(|rest| rest.split_once('['));
    if let Some((target, text)) = image {
        push_image(target, link_text(text.trim_end_matches(']')), out);
    }
}

/// Returns true for the attributes of a block: `[source,java]`, `[[anchor]]`, `[#id.role]`.
fn is_attribute_line(line: &str) -> bool {
    let Some(inner) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) else {
        return false;
    };
    let is_start = |c: char| c.is_alphabetic() || "_.#%{,\"'[".contains(c);
    inner.is_empty() || inner.starts_with(is_start) && !matches!(inner, "x" | "X")
}

/// Returns the title of a block: `.Metadata`.
fn block_title(line: &str) -> Option<&str> {
    line.strip_prefix('.').filter(|title| !title.is_empty() && !title.starts_with(['.', ' ']))
}

/// Splits an item of a list into its depth, whether it is numbered, and its text.
fn list_item(line: &str) -> Option<(usize, bool, &str)> {
    let line = line.trim_start();
    let sign = line.bytes().next().filter(|byte| matches!(byte, b'*' | b'.' | b'-'))?;
    let depth = line.bytes().take_while(|byte| *byte == sign).count();
    let rest = &line[depth..];
    let is_item = rest.starts_with([' ', '\t']) && !rest.trim().is_empty();
    (is_item && (sign != b'-' || depth == 1)).then(|| (depth, sign == b'.', rest.trim()))
}

/// Splits `Term:: definition`.
fn description(line: &str) -> Option<(&str, &str)> {
    let at = memchr::memmem::find(line.as_bytes(), b"::").filter(|at| *at <= MAX_TERM)?;
    let definition = line[at..].trim_start_matches(':');
    let n_colons = line.len() - at - definition.len();
    let is_term = at > 0 && n_colons <= 4 && !line[..at].contains(['[', '`', '(']);
    let ends = definition.is_empty() || definition.starts_with([' ', '\t']);
    (is_term && ends).then(|| (&line[..at], definition.trim()))
}

/// Returns true if a line is ordinary text.
fn is_prose(line: &str) -> bool {
    let text = line.trim_start();
    text.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '*' | '_' | '`' | '<'))
        && list_item(line).is_none()
        && description(line).is_none()
        && !is_block_macro(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn markdown(text: &str) -> String {
        translate(text, 1).text
    }

    fn fields(text: &str) -> Vec<(String, String, u32)> {
        let fields = translate(text, 1).fields.into_iter();
        fields.map(|field| (field.key, field.items.join("; "), field.line)).collect()
    }

    #[test]
    fn attributes_above_the_sections_are_fields() {
        let text = "// licence\n:page-status: accepted\n\n= ADR 7: Use X\nAda Lovelace <ada@x.org>\nv1.0, 2024-05-01\n:revdate: 2024-05-02\n:toc:\n:!icons:\n\nText.\n\n== Decision\n:later: x\n";
        let field = |key: &str, value: &str, line| (key.to_string(), value.to_string(), line);
        assert_eq!(
            fields(text),
            [
                field("status", "accepted", 2),
                field("author", "Ada Lovelace <ada@x.org>", 5),
                field("date", "2024-05-01", 6),
                field("date", "2024-05-02", 7),
            ]
        );
        assert_eq!(markdown(text), "\n\n\n# ADR 7: Use X\n\n\n\n\n\n\nText.\n\n## Decision\n\n");
    }

    #[test]
    fn text_under_the_title_is_not_an_author() {
        for line in [
            "Status: accepted",
            "* Status: accepted",
            "We decided to use one queue.",
            "Status:: accepted",
        ] {
            let text = format!("= T\n{line}\n\n");
            assert!(fields(&text).is_empty(), "{line}");
            assert!(
                markdown(&text).contains("ccepted") || markdown(&text).contains("queue"),
                "{line}"
            );
        }
    }

    #[test]
    fn a_table_of_two_columns_has_one_row_per_line() {
        let text = ".Metadata\n[cols=\"1h,1\"]\n|===\n| JEP\n| 7\n\n// | Requires\n| Status\n| Draft\n\n|Type |Process\n|===\n";
        let expected = "\n\n\n\n| JEP | 7 |\n\n\n\n| Status | Draft |\n\n| Type | Process |\n\n";
        assert_eq!(markdown(text), expected);
        let wide = "|===\n|A |B |C\n\n|1\n2+^|2\nto |3\nmore\n|===\n";
        assert_eq!(markdown(wide), "\n| A | B | C |\n\n| 1 |\n| 2 |\nto| 3 |\nmore\n\n");
    }

    #[test]
    fn headings_are_translated_in_both_forms() {
        let text = "Use X\n=====\n\nContext\n-------\nText\n\n== Status ==\n# Also\n=== Deep\n";
        let expected = "# Use X\n\n\n## Context\n\nText\n\n## Status\n# Also\n### Deep\n";
        assert_eq!(markdown(text), expected);
    }

    #[test]
    fn lists_blocks_and_macros_are_translated() {
        let text = "== A\n* a\n** b\n. one\n.. two\nStatus:: draft\nOwner::\nAda\nfoo::bar\n[NOTE]\n====\nText\n====\n[source,java]\n----\n== x\n----\n.Pros\n////\nhidden\n////\ninclude::x.adoc[]\nimage::x.png[A badge]\nend +\n'''\n";
        let expected = "## A\n- a\n   - b\n1. one\n   1. two\n- **Status:** draft\n\n- **Owner:** Ada\nfoo::bar\n\n\nText\n\n\n```\n== x\n```\n**Pros**\n\n\n\n\n![A badge](x.png)\nend\n***\n";
        assert_eq!(markdown(text), expected);
    }

    #[test]
    fn attributes_are_expanded_once() {
        let text = ":a: one\n:b: {a}\n\n= T {a}\n\nx{nbsp}{b} {c}\n";
        assert_eq!(markdown(text), "\n\n\n# T one\n\nx {a} {c}\n");
    }

    #[test]
    fn an_open_block_runs_to_the_end() {
        assert_eq!(markdown("....\n== a\n"), "```\n== a\n");
        assert_eq!(markdown("|===\n| a | b\n== c\n"), "\n| a | b |\n== c\n");
        assert_eq!(markdown("////\n== a\n"), "\n\n");
    }
}
