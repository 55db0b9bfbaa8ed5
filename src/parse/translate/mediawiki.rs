//! Translates the lines and blocks of MediaWiki markup.

use super::cells::CellWriter;
use super::mediawiki_inline::push_inline;
use super::{Field, ListDepth, Translation, field, lines, push_code};
use crate::parse::header_fields::{is_key, normal_key};

/// Elements whose content is not markup.
const VERBATIM: [&str; 3] = ["pre", "source", "syntaxhighlight"];

/// A header has at most this many lines.
const MAX_HEADER: usize = 80;

/// The element that the current line is in.
enum WikiBlock {
    Text,
    /// A code block, up to the end of the named element.
    Verbatim(&'static str),
    Comment,
    /// A template such as `{{Infobox`, with a parameter on each line.
    Template,
    Table(CellWriter),
    /// The first lines of the document, already read as fields.
    Header(usize),
}

struct WikiTranslator<'a> {
    lines: Vec<(&'a str, &'a str)>,
    first_line: u32,
    block: WikiBlock,
    list: ListDepth,
    /// True after the header or the first heading.
    past_header: bool,
    fields: Vec<Field>,
}

/// Translates a body.
pub(super) fn translate(body: &str, first_line: u32) -> Translation {
    let mut translator = WikiTranslator {
        lines: lines(body),
        first_line,
        block: WikiBlock::Text,
        list: ListDepth::default(),
        past_header: false,
        fields: Vec::new(),
    };
    let mut text = String::with_capacity(body.len() + body.len() / 8);
    for index in 0..translator.lines.len() {
        let (line, end) = translator.lines[index];
        translator.push_line(index, line, &mut text);
        text.push_str(end);
    }
    Translation { text, fields: translator.fields }
}

impl WikiTranslator<'_> {
    fn push_line(&mut self, index: usize, line: &str, out: &mut String) {
        match &mut self.block {
            WikiBlock::Text => self.push_text(index, line, out),
            WikiBlock::Verbatim(name) => match closes(line, name) {
                true => {
                    self.block = WikiBlock::Text;
                    out.push_str("```");
                }
                false => push_code(line, out),
            },
            WikiBlock::Comment => {
                if line.contains("-->") {
                    self.block = WikiBlock::Text;
                }
                out.push_str(line);
            }
            WikiBlock::Template => self.push_parameter(index, line, out),
            WikiBlock::Table(cells) => {
                if push_table_line(line, cells, out) {
                    self.block = WikiBlock::Text;
                }
            }
            WikiBlock::Header(last) => {
                if index >= *last {
                    self.block = WikiBlock::Text;
                }
            }
        }
    }

    fn push_text(&mut self, index: usize, line: &str, out: &mut String) {
        let trimmed = line.trim();
        match trimmed.as_bytes() {
            [] => {}
            [b'=', ..] => self.push_heading(trimmed, out),
            [b'*' | b'#' | b':' | b';', ..] if !line.starts_with([' ', '\t']) => {
                self.push_item(line, out);
            }
            [b'-', b'-', b'-', b'-', ..] => out.push_str("***"),
            [b'{', b'{', ..] => {
                self.block = WikiBlock::Template;
                self.push_parameter(index, trimmed, out);
            }
            [b'{', b'|', ..] => self.block = WikiBlock::Table(CellWriter::new(true)),
            [b'<', ..] => self.push_element(index, trimmed, out),
            _ => {
                self.list = ListDepth::default();
                push_inline(line, out);
            }
        }
    }

    /// Writes `== Title ==`. The number of signs is the level.
    fn push_heading(&mut self, line: &str, out: &mut String) {
        let signs = |text: &str| text.bytes().take_while(|b| *b == b'=').count();
        // A comment after a heading does not belong to it.
        let bare = line.split("<!--").next().unwrap_or(line).trim_end();
        let n_after = bare.bytes().rev().take_while(|b| *b == b'=').count();
        let level = signs(bare).min(n_after);
        let title = bare.get(level..bare.len().saturating_sub(level)).unwrap_or_default().trim();
        // A line of signs alone would make the paragraph above it a heading.
        if level == 0 || title.is_empty() {
            return if n_after == 0 {
                push_inline(line, out)
            };
        }
        self.past_header = true;
        self.list = ListDepth::default();
        out.extend(std::iter::repeat_n('#', level.min(6)));
        out.push(' ');
        push_inline(title, out);
    }

    /// Writes an item: `*` and `#` are lists, `:` is indented text and `;` is a term.
    fn push_item(&mut self, line: &str, out: &mut String) {
        let rest = line.trim_start_matches(['*', '#', ':', ';']);
        let markers = &line[..line.len() - rest.len()];
        let depth = markers.bytes().filter(|b| matches!(b, b'*' | b'#')).count();
        let last = markers.bytes().last();
        let start = out.len();
        if depth > 0 && last != Some(b':') {
            self.list.push_marker(depth, last == Some(b'#'), out);
        }
        match rest.trim().split_once(':').filter(|_| last == Some(b';')) {
            Some((term, definition)) => {
                out.push_str("**");
                push_inline(term.trim(), out);
                out.push_str(":** ");
                push_inline(definition.trim(), out);
            }
            None => {
                let marked = out.len();
                push_inline(rest.trim(), out);
                // Nothing remains of an item that shows an image.
                if out.len() == marked {
                    out.truncate(start);
                }
            }
        }
    }

    /// Writes a line that starts with a tag.
    fn push_element(&mut self, index: usize, line: &str, out: &mut String) {
        if line.starts_with("<!--") {
            if !line.contains("-->") {
                self.block = WikiBlock::Comment;
            }
            return out.push_str(line);
        }
        let Some(name) = VERBATIM.iter().copied().find(|name| opens(line, name)) else {
            return push_inline(line, out);
        };
        if let Some(last) = self.read_header(index, name) {
            self.past_header = true;
            if last > index {
                self.block = WikiBlock::Header(last);
            }
            return;
        }
        let content = line.split_once('>').map_or("", |(_, content)| content);
        match find_end(content, name) {
            Some(at) => {
                let is_code = !content[..at].contains('`') && !content[..at].trim().is_empty();
                out.push_str(if is_code { "`" } else { "" });
                out.push_str(content[..at].trim());
                out.push_str(if is_code { "`" } else { "" });
            }
            None => {
                self.block = WikiBlock::Verbatim(name);
                out.push_str("```");
            }
        }
    }

    /// Reads a line of a template. Above the sections, `|key = value` is a header field. The text
    /// after the template stays.
    fn push_parameter(&mut self, index: usize, line: &str, out: &mut String) {
        let (parameter, rest) = line.split_once("}}").unwrap_or((line, ""));
        let stated = parameter.trim().strip_prefix('|').and_then(|text| text.split_once('='));
        if let Some((key, value)) = stated.filter(|_| !self.past_header)
            && is_key(&normal_key(key))
        {
            let line = self.first_line + index as u32;
            self.fields.push(field(key.trim(), value.trim(), line));
        }
        if parameter.len() < line.len() {
            self.block = WikiBlock::Text;
            push_inline(rest.trim(), out);
        }
    }

    /// Reads the first `<pre>` above the sections as a header, if it is one: lines of the form
    /// `Key: value`, and further values on deeper lines. Returns its last line.
    fn read_header(&mut self, index: usize, name: &str) -> Option<usize> {
        if self.past_header || name != "pre" {
            return None;
        }
        let mut fields: Vec<Field> = Vec::new();
        let mut last = None;
        for (at, (line, _)) in self.lines.iter().enumerate().skip(index).take(MAX_HEADER) {
            let line = if at == index { line.split_once('>').map_or("", |(_, l)| l) } else { line };
            let end = find_end(line, name);
            let content = &line[..end.unwrap_or(line.len())];
            let number = self.first_line + at as u32;
            match header_line(content) {
                Some((key, value)) => fields.push(field(key, value, number)),
                None if content.trim().is_empty() => {}
                None => fields.last_mut()?.items.push(content.trim().to_string()),
            }
            if end.is_some() {
                last = Some(at);
                break;
            }
        }
        let n_stated = fields.iter().filter(|field| !field.items.is_empty()).count();
        self.fields.extend(last.filter(|_| n_stated >= 2).map(|_| fields).into_iter().flatten());
        last.filter(|_| n_stated >= 2)
    }
}

/// Splits a line of a header into its key and value. The value may be on the next lines.
fn header_line(line: &str) -> Option<(&str, &str)> {
    let line = line.trim().trim_start_matches(['*', ' ']);
    let (key, value) = line.split_once(':')?;
    let is_field = is_key(&normal_key(key)) && !value.starts_with("//") && !key.contains('@');
    is_field.then(|| (key.trim(), value.trim()))
}

/// Writes a line of a table. Returns true if the table ends.
fn push_table_line(line: &str, cells: &mut CellWriter, out: &mut String) -> bool {
    let trimmed = line.trim();
    match trimmed.as_bytes() {
        [b'|', b'}', ..] => {
            cells.flush(out);
            return true;
        }
        [b'|', b'-', ..] => cells.flush(out),
        [b'|', b'+', ..] => push_inline(trimmed[2..].trim(), out),
        [b'|' | b'!', ..] => {
            let separator = if trimmed.starts_with('!') { "!!" } else { "||" };
            let split: Vec<String> =
                trimmed[1..].split(separator).flat_map(|cell| cell.split("||")).map(cell).collect();
            cells.push_cells(&split, out);
        }
        _ => push_inline(trimmed, out),
    }
    false
}

/// Returns the text of a cell without its attributes: `style="…" | text`.
fn cell(text: &str) -> String {
    let text = match text.split_once('|') {
        Some((attributes, rest)) if attributes.contains('=') && !attributes.contains('[') => rest,
        _ => text,
    };
    let mut cell = String::with_capacity(text.len());
    push_inline(text.trim(), &mut cell);
    cell
}

/// Returns true if a line starts with the opening tag of an element.
fn opens(line: &str, name: &str) -> bool {
    let Some(tag) = line.get(1..=name.len()) else { return false };
    let next = line.as_bytes().get(1 + name.len());
    tag.eq_ignore_ascii_case(name)
        && matches!(next, Some(b'>' | b' ' | b'\t'))
        && line.contains('>')
}

fn closes(line: &str, name: &str) -> bool {
    find_end(line, name).is_some()
}

/// Returns the offset of the closing tag of an element.
fn find_end(line: &str, name: &str) -> Option<usize> {
    memchr::memmem::find_iter(line.as_bytes(), b"</").find(|at| {
        let tag = line.as_bytes().get(at + 2..at + 2 + name.len());
        tag.is_some_and(|tag| tag.eq_ignore_ascii_case(name.as_bytes()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn markdown(text: &str) -> String {
        translate(text, 1).text
    }

    #[test]
    fn the_first_pre_above_the_sections_is_the_header() {
        let text = "News: none\n\n<pre>\n  BIP: 7\n  Title: Keys: a tree\n  Authors: Ada <a@x.org>\n           Bob <b@x.org>\n  Status: Draft\n  Replaces: 3\n  Post-History:\n</pre>\n\n==Abstract==\n<pre>\na: 1\nb: 2\n</pre>\n";
        let translation = translate(text, 1);
        let fields: Vec<(&str, String, u32)> = translation
            .fields
            .iter()
            .map(|field| (field.key.as_str(), field.items.join("; "), field.line))
            .collect();
        assert_eq!(
            fields,
            [
                ("bip", "7".to_string(), 4),
                ("title", "Keys: a tree".to_string(), 5),
                ("authors", "Ada <a@x.org>; Bob <b@x.org>".to_string(), 6),
                ("status", "Draft".to_string(), 8),
                ("replaces", "3".to_string(), 9),
                ("post history", String::new(), 10),
            ]
        );
        let expected = "News: none\n\n\n\n\n\n\n\n\n\n\n\n## Abstract\n```\na: 1\nb: 2\n```\n";
        assert_eq!(translation.text, expected);
    }

    #[test]
    fn code_above_the_sections_is_not_a_header() {
        for text in
            ["<pre>\nm / purpose / x\n</pre>\n", "<pre>\nkey: 1\n</pre>\n", "<pre>\na: 1\nb: 2\n"]
        {
            let translation = translate(text, 1);
            assert!(translation.fields.is_empty(), "{text}");
            assert!(translation.text.starts_with("```\n"), "{text}");
        }
    }

    #[test]
    fn headings_lists_and_rules_are_translated() {
        let text = "=Title=\n== A <!-- x -->\n===B: ''c''===\n# one\n#* two\n##: three\n;Term: text\n: said\n----\n* a\n*** b\n";
        let expected = "# Title\n== A <!-- x -->\n### B: *c*\n1. one\n   - two\nthree\n**Term:** text\nsaid\n***\n- a\n   - b\n";
        assert_eq!(markdown(text), expected);
    }

    #[test]
    fn a_table_of_two_columns_has_fields() {
        let text = "{| class=\"x\"\n! Status\n| Draft\n|-\n! Type || Process\n|-\n| style=\"a\" | b\n|}\nEnd\n";
        let expected = "\n\n| Status | Draft |\n\n| Type | Process |\n\n\n| b |\nEnd\n";
        assert_eq!(markdown(text), expected);
    }

    #[test]
    fn templates_are_removed_and_their_parameters_read() {
        let text = "{{bip}} Text\n{{Infobox proposal\n| status = Final\n|title=One\n}}\n== A ==\n{{x\n|status = no\n}}\n";
        let translation = translate(text, 1);
        let fields =
            translation.fields.iter().map(|f| (f.key.as_str(), f.items[0].as_str(), f.line));
        let fields: Vec<(&str, &str, u32)> = fields.collect();
        assert_eq!(fields, [("status", "Final", 3), ("title", "One", 4)]);
        assert_eq!(translation.text, "Text\n\n\n\n\n## A\n\n\n\n");
    }

    #[test]
    fn code_stays_as_it_is() {
        let text = "<source lang=\"c\">\n== x ==\n[[y]]\n</source>\n<pre>one</pre>\n";
        assert_eq!(markdown(text), "```\n== x ==\n[[y]]\n```\n`one`\n");
    }
}
