//! Translates the lines and blocks of reStructuredText.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::cells::CellWriter;
use super::restructured_text_inline::{Targets, push_inline};
use super::{ListDepth, Translation, lines};
use crate::model::rules;

/// Uses of directives, by name.
static DIRECTIVES: LazyLock<BTreeMap<&str, &str>> = LazyLock::new(|| {
    let entries = rules::entries(include_str!("../rules/directives.txt"));
    entries.filter_map(|entry| entry.split_once(" = ")).collect()
});

/// Indentation that makes a line code in Markdown, in any list.
const CODE: &str = "        ";

/// Longest name of a field, in bytes.
const MAX_FIELD: usize = 40;

/// The block that the current line is in. It ends at a line that is indented no more than the line
/// that started it.
enum Block {
    Text,
    Code(usize),
    Quote(usize),
    /// The content of a comment or a directive without text.
    Hidden(usize),
    /// A table with one list item per cell. There is no writer until the first row.
    ListTable(usize, Option<CellWriter>),
    /// A table whose borders have the offsets of the columns. It ends at a border.
    SimpleTable(Vec<usize>),
}

struct Translator<'a> {
    lines: Vec<(&'a str, &'a str)>,
    targets: Targets<'a>,
    block: Block,
    /// The sign of each level of headings, and whether there is a line above the title too.
    levels: Vec<(u8, bool)>,
    /// Indentation of the open list items.
    items: Vec<usize>,
    list: ListDepth,
    /// A field whose value is on the next line.
    key: Option<&'a str>,
    /// Lines of a paragraph. Markup can start on one line and end on another.
    paragraph: String,
    /// Indentation of a paragraph that ends with `::`. An indented text below it is code.
    introduces_code: Option<usize>,
}

/// Translates a body.
pub(super) fn translate(body: &str) -> Translation {
    let lines = lines(body);
    let mut translator = Translator {
        targets: Targets::new(lines.iter().map(|(line, _)| *line)),
        lines,
        block: Block::Text,
        levels: Vec::new(),
        items: Vec::new(),
        list: ListDepth::default(),
        key: None,
        paragraph: String::new(),
        introduces_code: None,
    };
    let mut text = String::with_capacity(body.len() + body.len() / 8);
    for index in 0..translator.lines.len() {
        translator.push_line(index, &mut text);
        let end = translator.lines[index].1;
        match translator.paragraph.is_empty() {
            true => text.push_str(end),
            false => translator.paragraph.push_str(end),
        }
    }
    translator.end_paragraph(&mut text);
    Translation { text, fields: Vec::new() }
}

impl<'a> Translator<'a> {
    fn push_line(&mut self, index: usize, out: &mut String) {
        let line = self.lines[index].0;
        let text = line.trim();
        let indent = line.len() - line.trim_start().len();
        if text.is_empty() {
            self.end_paragraph(out);
            if let Some(indent) = self.introduces_code.take() {
                self.block = Block::Code(indent);
            }
            return;
        }
        let is_outside = match &self.block {
            Block::Code(start) | Block::Quote(start) | Block::Hidden(start) => indent <= *start,
            Block::ListTable(start, _) => indent <= *start,
            Block::Text | Block::SimpleTable(_) => false,
        };
        if is_outside {
            self.end_block(out);
        }
        match &mut self.block {
            Block::Text => self.push_text(index, indent, text, out),
            Block::Code(_) => {
                out.push_str(CODE);
                out.push_str(line);
            }
            Block::Quote(_) if text.starts_with(".. ") => {
                self.start_block(index, indent, text, out)
            }
            Block::Quote(_) => self.push_quote(text),
            Block::Hidden(_) => {}
            Block::ListTable(..) => self.push_list_table(index, text, out),
            Block::SimpleTable(_) => self.push_simple_table(index, line, out),
        }
    }

    fn end_block(&mut self, out: &mut String) {
        if let Block::ListTable(_, Some(writer)) = &mut self.block {
            writer.flush(out);
        }
        self.end_paragraph(out);
        self.block = Block::Text;
    }

    fn end_paragraph(&mut self, out: &mut String) {
        if !self.paragraph.is_empty() {
            push_inline(&self.paragraph, &mut self.targets, out);
            self.paragraph.clear();
        }
    }

    fn push_quote(&mut self, text: &str) {
        // Above the text there may be options.
        if !(self.paragraph.is_empty() && field(text).is_some()) {
            self.paragraph.push_str("> ");
            self.paragraph.push_str(text);
        }
    }

    fn push_text(&mut self, index: usize, indent: usize, text: &'a str, out: &mut String) {
        let key = self.key.take();
        if self.is_overline(index) || index > 0 && self.is_title(index - 1) {
            return;
        }
        if self.is_title(index) {
            return self.push_heading(index, text, out);
        }
        if text == ".." || text.starts_with(".. ") {
            return self.start_block(index, indent, text, out);
        }
        if is_adornment(text) && text.len() >= 4 {
            self.end_paragraph(out);
            return out.push_str("***");
        }
        if let Some(columns) = simple_table_columns(self.lines[index].0) {
            self.end_paragraph(out);
            self.block = Block::SimpleTable(columns);
            return;
        }
        if is_grid_line(text) || text.starts_with("__ ") {
            return self.end_paragraph(out);
        }
        if let Some(key) = key {
            return self.push_field(key, indent.saturating_sub(1), text, out);
        }
        if let Some((key, value)) = field(text) {
            if value.is_empty() {
                self.key = self.is_indented(index + 1, indent).then_some(key);
                return;
            }
            return self.push_field(key, indent, value, out);
        }
        self.push_paragraph_line(indent, text, out);
    }

    /// Writes a line of a paragraph or a list.
    fn push_paragraph_line(&mut self, indent: usize, text: &str, out: &mut String) {
        if text.starts_with('|') && text.ends_with('|') && text.len() > 1 {
            // A row of a table.
            self.end_paragraph(out);
            return push_inline(text, &mut self.targets, out);
        }
        self.items.truncate(self.items.partition_point(|item| *item < indent));
        let text = text.strip_prefix("| ").unwrap_or(text);
        let (text, colon) = match text.strip_suffix("::") {
            Some(text) => (text, if text.is_empty() { "" } else { ":" }),
            None => (text, ""),
        };
        self.introduces_code = (!colon.is_empty() || text.is_empty()).then_some(indent);
        if let Some((is_numbered, item)) = list_item(text) {
            self.end_paragraph(out);
            self.items.push(indent);
            self.list.push_marker(self.items.len(), is_numbered, &mut self.paragraph);
            self.paragraph.push_str(item);
        } else {
            if self.items.is_empty() {
                self.list = ListDepth::default();
            }
            self.paragraph
                .extend(std::iter::repeat_n("   ", self.items.len().min(super::MAX_DEPTH)));
            self.paragraph.push_str(text);
        }
        self.paragraph.push_str(colon);
    }

    fn push_field(&mut self, key: &str, indent: usize, value: &str, out: &mut String) {
        self.end_paragraph(out);
        self.items = vec![indent];
        self.list = ListDepth::default();
        self.list.push_marker(1, false, &mut self.paragraph);
        self.paragraph.push_str("**");
        self.paragraph.push_str(key);
        self.paragraph.push_str(":** ");
        self.paragraph.push_str(value);
    }

    fn push_heading(&mut self, index: usize, text: &str, out: &mut String) {
        self.end_paragraph(out);
        self.items.clear();
        self.list = ListDepth::default();
        let sign = self.text_of(index + 1).as_bytes()[0];
        let style = (sign, index > 0 && self.is_overline(index - 1));
        let known = self.levels.iter().position(|level| *level == style);
        let level = known.unwrap_or_else(|| {
            self.levels.push(style);
            self.levels.len() - 1
        });
        out.extend(std::iter::repeat_n('#', (level + 1).min(6)));
        out.push(' ');
        push_inline(text, &mut self.targets, out);
    }

    /// Starts a directive, a comment, a footnote or a definition of a link.
    fn start_block(&mut self, index: usize, indent: usize, text: &'a str, out: &mut String) {
        self.end_paragraph(out);
        let rest = text.strip_prefix("..").unwrap_or(text).trim_start();
        self.block = Block::Hidden(indent);
        if let Some(footnote) = rest.strip_prefix('[').and_then(|rest| rest.split_once("] ")) {
            self.block = Block::Text;
            self.paragraph.push_str(footnote.1);
        } else if rest.starts_with('_') {
            let is_continued = self.is_indented(index + 1, indent);
            if self.targets.push_definition(rest, is_continued, out) && is_continued {
                self.block = Block::Text;
            }
        } else if let Some((name, argument)) = rest.split_once("::") {
            match DIRECTIVES.get(name.trim()).copied() {
                Some("code") => self.block = Block::Code(indent),
                Some(_) => {
                    self.block = Block::Quote(indent);
                    if !argument.trim().is_empty() {
                        self.push_quote(argument.trim());
                    }
                }
                None if name == "list-table" => self.block = Block::ListTable(indent, None),
                None if name == "table" => self.block = Block::Text,
                None => {}
            }
        }
    }

    fn push_list_table(&mut self, index: usize, text: &str, out: &mut String) {
        let is_row = text.starts_with("* -");
        let Some(cell) = text.strip_prefix(if is_row { "* -" } else { "-" }) else { return };
        let Block::ListTable(_, writer) = &mut self.block else { return };
        let writer = writer.get_or_insert_with(|| {
            let below = self.lines[index + 1..].iter().map(|(line, _)| line.trim());
            let row = below.take_while(|line| !line.starts_with("* -")).take(8);
            CellWriter::new(row.filter(|line| line.starts_with('-')).count() == 1)
        });
        if is_row {
            writer.flush(out);
        }
        let mut translated = String::new();
        push_inline(cell.trim(), &mut self.targets, &mut translated);
        writer.push_cells(&[translated], out);
    }

    fn push_simple_table(&mut self, index: usize, line: &str, out: &mut String) {
        let Block::SimpleTable(columns) = &self.block else { return };
        if simple_table_columns(line).is_some() {
            if self.text_of(index + 1).is_empty() {
                self.block = Block::Text;
            }
            return;
        }
        out.push('|');
        for (at, start) in columns.iter().enumerate() {
            let end = columns.get(at + 1).copied().unwrap_or(line.len()).min(line.len());
            let cell = line.get(*start..end.max(*start)).unwrap_or_default().trim();
            out.push(' ');
            push_inline(cell, &mut self.targets, out);
            out.push_str(" |");
        }
    }

    /// Returns true if a line is above a title that is underlined too.
    fn is_overline(&self, index: usize) -> bool {
        let (line, below) = (self.text_of(index), self.text_of(index + 2));
        is_adornment(line)
            && is_adornment(below)
            && line.as_bytes()[0] == below.as_bytes()[0]
            && line.len().abs_diff(below.len()) <= 2
            && self.text_of(index + 1).starts_with(|c: char| !c.is_ascii_punctuation() || c == '`')
    }

    /// Returns true if the next line underlines a line.
    fn is_title(&self, index: usize) -> bool {
        let (text, below) = (self.text_of(index), self.text_of(index + 1));
        if text.is_empty() || !is_adornment(below) || is_adornment(text) {
            return false;
        }
        let above = if index > 0 { self.text_of(index - 1) } else { "" };
        let is_start = above.is_empty() || is_adornment(above) || above.starts_with("..");
        let is_marked = text.starts_with("..") || list_item(text).is_some_and(|(n, _)| !n);
        is_start && !is_marked && (below.len() >= 4 || below.len() >= text.chars().count())
    }

    /// Returns true if a line has text that is indented more than an offset.
    fn is_indented(&self, index: usize, indent: usize) -> bool {
        let line = self.lines.get(index).map_or("", |(line, _)| line);
        !line.trim().is_empty() && line.len() - line.trim_start().len() > indent
    }

    fn text_of(&self, index: usize) -> &'a str {
        self.lines.get(index).map_or("", |(line, _)| line.trim())
    }
}

/// Returns true for a line that repeats one sign, as the lines around titles do.
fn is_adornment(line: &str) -> bool {
    let first = line.bytes().next().unwrap_or(b'a');
    line.len() >= 3 && first.is_ascii_punctuation() && line.bytes().all(|byte| byte == first)
}

/// Returns true for a border of a table: `+----+----+`.
fn is_grid_line(text: &str) -> bool {
    text.len() > 2 && text.starts_with('+') && text.bytes().all(|b| b"+-=| ".contains(&b))
}

/// Returns the offsets of the columns in a border of a table: `=====  =====`.
fn simple_table_columns(line: &str) -> Option<Vec<usize>> {
    let is_border = line.bytes().all(|byte| matches!(byte, b'=' | b' ')) && line.contains("= ");
    let starts =
        |at: &usize| line.as_bytes()[*at] == b'=' && (*at == 0 || line.as_bytes()[*at - 1] == b' ');
    let columns: Vec<usize> = match is_border {
        true => (0..line.len()).filter(starts).take(16).collect(),
        false => Vec::new(),
    };
    (columns.len() >= 2).then_some(columns)
}

/// Splits `:Status: Draft`.
fn field(text: &str) -> Option<(&str, &str)> {
    let (key, value) = text.strip_prefix(':')?.split_once(':')?;
    let is_key = (1..=MAX_FIELD).contains(&key.len()) && !key.starts_with(' ');
    let is_field =
        is_key && !key.contains('`') && (value.is_empty() || value.starts_with([' ', '\t']));
    is_field.then(|| (key, value.trim()))
}

/// Splits a list item into whether it is numbered, and its text.
fn list_item(text: &str) -> Option<(bool, &str)> {
    if let Some(item) = text.strip_prefix(['*', '-', '+', '•']) {
        return item.starts_with(' ').then(|| (false, item.trim_start()));
    }
    let inner = text.strip_prefix('(').unwrap_or(text);
    let n_digits = inner.bytes().take_while(u8::is_ascii_digit).count();
    let number = if n_digits == 0 && inner.starts_with('#') { 1 } else { n_digits };
    let item = inner[number..].strip_prefix(['.', ')'])?;
    ((1..=3).contains(&number) && item.starts_with(' ')).then(|| (true, item.trim_start()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn markdown(text: &str) -> String {
        translate(text).text
    }

    #[test]
    fn headings_have_the_level_of_their_signs() {
        let text = "=====\nUse X\n=====\n\nContext\n-------\nText\n\n.. _why:\n\nWhy not\n~~~~~~~\n\nDecision\n--------\n\n----\n\n* a\n---\n";
        let expected = "\n# Use X\n\n\n## Context\n\nText\n\n\n\n### Why not\n\n\n## Decision\n\n\n***\n\n- a\n---\n";
        assert_eq!(markdown(text), expected);
    }

    #[test]
    fn fields_are_read_with_their_values() {
        let text = "Use X\n=====\n\n:Status: Draft\n:Author: Ada,\n  Bob\n:Type:\n  Standard\n:orphan:\n\nText with :doc:`0001-a`.\n";
        let expected = "# Use X\n\n\n- **Status:** Draft\n- **Author:** Ada,\n   Bob\n\n- **Type:** Standard\n\n\nText with [0001-a](0001-a).\n";
        assert_eq!(markdown(text), expected);
    }

    #[test]
    fn tables_become_rows() {
        let listed = ".. list-table::\n   :widths: 2 8\n\n   * - Status\n     - Draft\n   * - Title\n     - `X <x.rst>`_\n\nText\n";
        assert_eq!(
            markdown(listed),
            "\n\n\n\n| Status | Draft |\n\n| Title | [X](x.rst) |\n\nText\n"
        );
        let grid = "+------+-----+\n|Status|Draft|\n+======+=====+\n\nText\n";
        assert_eq!(markdown(grid), "\n|Status|Draft|\n\n\nText\n");
        let simple = "====== =====\nStatus Draft\n====== =====\nOwner  Ada\n====== =====\n\nText\n";
        assert_eq!(markdown(simple), "\n| Status | Draft |\n\n| Owner | Ada |\n\n\nText\n");
    }

    #[test]
    fn code_notes_and_comments_are_separated() {
        let text = "For example::\n\n  a = 1\n\n.. code-block:: python\n   :linenos:\n\n   b = 2\n\n.. note:: This is old.\n   Very old.\n\n.. hidden\n   words\n.. toctree::\n\n   x\n\nEnd\n";
        let expected = "For example:\n\n          a = 1\n\n\n           :linenos:\n\n           b = 2\n\n> This is old.\n> Very old.\n\n\n\n\n\n\n\nEnd\n";
        assert_eq!(markdown(text), expected);
    }

    #[test]
    fn lists_keep_their_depth() {
        let text = "  * a\n    more\n\n    * b\n\n  * c\n\nText\n\n#. one\n(2) two\n";
        let expected = "- a\n   more\n\n   - b\n\n- c\n\nText\n\n1. one\n1. two\n";
        assert_eq!(markdown(text), expected);
    }

    #[test]
    fn links_are_defined_anywhere() {
        let text = "See `Use X`_ and other_.\n\n.. _Use X: 0001-use-x.rst\n.. _other:\n   https://example.org/\n.. [1] RFC 7 has more.\n";
        let expected = "See [Use X] and [other].\n\n[Use X]: <0001-use-x.rst>\n[other]:\nhttps://example.org/\nRFC 7 has more.\n";
        assert_eq!(markdown(text), expected);
    }
}
