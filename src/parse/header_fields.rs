//! Reads header fields at the top of the body: tables, bullets, bold lines and plain lines.

use std::ops::Range;

use super::markdown::Body;
use super::plain_text::plain;
use super::translated_names::english;
use super::{LineIndex, header_block};
use crate::model::byte_scan::prefix;

/// One metadata field of a document, from front matter, a sidecar file or the body.
#[derive(Debug)]
pub(crate) struct Field {
    /// The key in lower case, with single spaces between words.
    pub(crate) key: String,
    /// The values, as Markdown.
    pub(crate) items: Vec<String>,
    /// Line of the field; 0 if it is in a sidecar file.
    pub(crate) line: u32,
    /// True in front matter, sidecar files and HTML tables, where values are not parsed as
    /// Markdown, so that the scan of the prose does not see the references in them.
    pub(crate) outside_markdown: bool,
}

/// Maximum number of lines that are searched for fields.
const MAX_LINES: u32 = 80;

/// Reads the fields at the top of the body.
pub(super) fn in_body(text: &str, lines: &LineIndex, body: &Body<'_>) -> Vec<Field> {
    let range = body.head();
    if range.is_empty() {
        return Vec::new();
    }
    let first = lines.line(range.start);
    let last = lines.line(range.end.saturating_sub(1).max(range.start)).min(first + MAX_LINES);
    let mut fields = header_block::fields(text, lines, body, &range);
    let mut column_keys: Vec<String> = Vec::new();
    let mut blocks = header_block::blocks(text, body, &range).peekable();
    for line in first..=last {
        let start = lines.start(line);
        while blocks.next_if(|block| block.end <= start).is_some() {}
        if blocks.peek().is_some_and(|block| block.contains(&start)) {
            continue;
        }
        let raw = lines.text(text, line);
        if let Some(cells) = cells(raw)
            && read_table_row(&mut column_keys, &cells, line, &mut fields)
        {
            continue;
        }
        for part in parts_of_line(raw) {
            if let Some((key, value)) = key_and_value(part) {
                fields.push(Field { key, items: vec![value], line, outside_markdown: false });
            }
        }
    }
    fields.extend(html_fields(text, lines, &range));
    fields
}

/// Splits a line with several fields in bold: `**Status:** Draft | **Date:** 2020-01-02`.
fn parts_of_line(line: &str) -> impl Iterator<Item = &str> {
    let is_row = line.trim_start().starts_with('|');
    let keys = line.match_indices("**").map(|(at, _)| at).step_by(2);
    let mut starts: Vec<usize> = keys
        .filter(|at| {
            let bold = line[at + 2..].split("**").next().unwrap_or_default();
            let after = &line[(at + 4 + bold.len()).min(line.len())..];
            bold.ends_with(':') || after.trim_start().starts_with(':')
        })
        .collect();
    match starts.first_mut() {
        Some(first) if !is_row => *first = 0,
        _ => starts = vec![0],
    }
    let ends: Vec<usize> = starts.iter().skip(1).copied().chain([line.len()]).collect();
    starts.into_iter().zip(ends).map(|(start, end)| match end < line.len() {
        true => line[start..end].trim_end_matches([' ', '|', '·', '•', ',', ';', '—', '–']),
        false => &line[start..end],
    })
}

/// Reads the rows of HTML tables.
fn html_fields(text: &str, lines: &LineIndex, range: &Range<usize>) -> Vec<Field> {
    let mut fields = Vec::new();
    let mut column_keys: Vec<String> = Vec::new();
    let head = &text[range.clone()];
    let mut next_row = head.find("<tr").unwrap_or(head.len());
    for row in head.split("<tr").skip(1).take(MAX_LINES as usize) {
        let row_start = next_row;
        next_row += row.len() + "<tr".len();
        let row = row.split("</tr").next().unwrap_or(row);
        let line = lines.line(range.start + row_start);
        let is_columns = !column_keys.is_empty() || row.matches("<th").count() > 1;
        if is_columns {
            let cells: Vec<String> = html_cells(row).collect();
            let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
            read_table_row(&mut column_keys, &cells, line, &mut fields);
        } else if let Some((key, value)) = html_row(row) {
            fields.push(Field { key, items: vec![value], line, outside_markdown: true });
        }
    }
    fields
}

/// Reads one row of a table whose first row has the keys and whose second row has the values.
/// Returns true if it is one of these rows.
fn read_table_row(
    column_keys: &mut Vec<String>,
    cells: &[&str],
    line: u32,
    fields: &mut Vec<Field>,
) -> bool {
    let is_delimiter_row = cells.iter().all(|cell| cell.trim_matches(['-', ':', ' ']).is_empty());
    if is_delimiter_row {
        return true;
    }
    let keys: Vec<String> = cells.iter().map(|cell| normal_key(&plain(cell))).collect();
    if column_keys.is_empty() {
        let n_known = keys.iter().filter(|key| is_known(key)).count();
        let names_columns = n_known >= 2 && cells.len() >= 2;
        if names_columns {
            *column_keys = keys;
        }
        return names_columns;
    }
    for (key, value) in column_keys.drain(..).zip(cells) {
        if is_known(&key) && !value.trim().is_empty() {
            let items = vec![value.trim().to_string()];
            fields.push(Field { key, items, line, outside_markdown: false });
        }
    }
    true
}

fn cells(line: &str) -> Option<Vec<&str>> {
    let inner = line.trim().strip_prefix('|')?;
    let inner = inner.strip_suffix('|').unwrap_or(inner);
    Some(inner.split('|').collect())
}

/// Splits a line into a key and a value, whichever way the field is written.
pub fn key_and_value(line: &str) -> Option<(String, String)> {
    let line = line.trim().trim_start_matches(['>', ' ']);
    if let Some(cells) = cells(line) {
        let key = normal_key(&plain(cells.first()?));
        let value = cells.get(1..)?.join("|").trim().to_string();
        let usable = is_key(&key) && !value.is_empty() && cells.len() <= 3;
        return usable.then_some((key, value));
    }
    let without_tags;
    let line = match without_bullet(line) {
        tagged if tagged.starts_with('<') => {
            without_tags = strip_tags(tagged);
            without_tags.as_str()
        }
        line => line,
    };
    // A key in backticks documents a parameter, and one in quotes is JSON; they are not fields of
    // the document.
    if line.starts_with(['`', '"', '{']) {
        return None;
    }
    // Most lines are prose, and only their start can be a key.
    let Some(colon) = prefix(line, 64).find([':', '：']).filter(|colon| *colon <= 60) else {
        return without_colon(line);
    };
    if line[colon..].starts_with("://") {
        return None;
    }
    let key = normal_key(line[..colon].trim_matches(['*', '_', ' ', '[', ']', '<', '>', '!']));
    let value = line[colon..].trim_start_matches([':', '：']);
    let value = value.trim_start_matches(['*', '_', ' ', '\t']).trim();
    (is_key(&key) && !value.is_empty()).then(|| (key, value.to_string()))
}

/// Removes the bullet or the number of a list item.
pub(super) fn without_bullet(line: &str) -> &str {
    let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let marker = match digits.len() < line.len() {
        true => digits.strip_prefix(['.', ')']),
        false => line.strip_prefix(['-', '*', '+', '•']),
    };
    marker.filter(|rest| rest.starts_with([' ', '\t'])).unwrap_or(line).trim()
}

/// Splits `**Status** Draft`, `Status - Draft` and `Status = Draft`. Without a colon, only the key
/// of the status is recognised, because other words also start sentences.
fn without_colon(line: &str) -> Option<(String, String)> {
    let bare = line.trim_start_matches(['*', '_']);
    let is_bold = bare.len() < line.len();
    let rest = bare.get("status".len()..).filter(|_| starts_with_status(bare))?;
    let value = rest.trim_start_matches(['*', '_', ' ', '\t']);
    let unmarked = value.trim_start_matches(['-', '–', '—', '=']);
    let marked = unmarked.len() < value.len() && unmarked.starts_with([' ', '*']);
    let closed = is_bold && rest.starts_with(['*', '_']);
    let value = if marked { unmarked.trim() } else { value.trim() };
    (!value.is_empty() && (marked || closed)).then(|| ("status".to_string(), value.to_string()))
}

fn starts_with_status(text: &str) -> bool {
    text.get(.."status".len()).is_some_and(|head| head.eq_ignore_ascii_case("status"))
}

/// Splits a row of an HTML table into a key and a value.
fn html_row(row: &str) -> Option<(String, String)> {
    let mut cells = html_cells(row);
    let (key, value) = (cells.next()?, cells.next()?);
    let key = normal_key(key.trim_end_matches(':'));
    (is_key(&key) && !value.is_empty()).then_some((key, value))
}

/// Returns the texts of the cells of a row of an HTML table.
fn html_cells(row: &str) -> impl Iterator<Item = String> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let rest = &row[from..];
        let open = from + [rest.find("<td"), rest.find("<th")].into_iter().flatten().min()?;
        let start = open + row[open..].find('>')? + 1;
        let end = start + row[start..].find("</t")?;
        from = end + "</t".len();
        Some(strip_tags(&row[start..end]))
    })
}

/// Removes HTML tags.
pub(super) fn strip_tags(html: &str) -> String {
    let mut text = String::new();
    let mut inside = false;
    for c in html.chars() {
        match c {
            '<' => inside = true,
            '>' => inside = false,
            c if !inside => text.push(c),
            _ => {}
        }
    }
    text.trim().to_string()
}

/// Normalizes a key: lower case, with `-`, `_`, runs of space and the humps of `seeAlso` as one
/// space. A name in another language is translated.
pub(super) fn normal_key(key: &str) -> String {
    let mut normal = String::with_capacity(key.len() + 4);
    let mut before = ' ';
    for c in key.chars() {
        // Most characters are lower-case letters.
        if c.is_ascii_lowercase() {
            normal.push(c);
            before = c;
            continue;
        }
        let gap = c.is_whitespace() || c == '-' || c == '_';
        if (gap || (c.is_uppercase() && before.is_lowercase())) && !normal.ends_with(' ') {
            normal.push(' ');
        }
        match c {
            _ if gap => {}
            c if c.is_ascii() => normal.push(c.to_ascii_lowercase()),
            c => normal.extend(c.to_lowercase()),
        }
        before = c;
    }
    let key = normal.trim_matches(['*', ':', ' ']);
    english(key).unwrap_or(key).to_string()
}

/// Returns true if a text looks like a key and not like the start of a sentence.
pub(super) fn is_key(key: &str) -> bool {
    let n_words = key.split(' ').count();
    (2..=40).contains(&key.len())
        && n_words <= 5
        && key.starts_with(|c: char| c.is_alphabetic())
        && !key.contains(['.', '?', '(', ',', '`', '/', '<', '='])
}

/// Returns true if a table with a column of this name contains metadata.
pub(super) fn is_known(key: &str) -> bool {
    matches!(
        key,
        "status"
            | "date"
            | "author"
            | "authors"
            | "created"
            | "discussions to"
            | "last updated"
            | "layer"
            | "replaces"
            | "requires"
            | "superseded by"
            | "title"
            | "state"
            | "number"
            | "deciders"
            | "updated"
            | "version"
            | "owner"
            | "type"
            | "id"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_read_in_every_notation() {
        for line in [
            "| **Status** | Draft |",
            "**Status:** Draft",
            "**Status**: Draft",
            "- Status: Draft",
            "* Status: Draft",
            "Status: Draft",
            "> - **Status**: Draft",
            "__Status__: Draft",
            "**Status** : Draft",
            "**Status** Draft",
            "_Status_ Draft",
            "Status - Draft",
            "Status – Draft",
            "1. Status: Draft",
            "<b>Status:</b> Draft<br>",
            "<li>Status: Draft</li>",
            "Status：Draft",
        ] {
            let expected = ("status".to_string(), "Draft".to_string());
            assert_eq!(key_and_value(line), Some(expected), "{line}");
        }
        assert_eq!(
            html_row("<tr><td><b>Status</b></td><td>Draft</td></tr>"),
            Some(("status".into(), "Draft".into()))
        );
        for line in
            ["see https://example.org", "\"status\": \"Draft\",", "Status codes are numbers"]
        {
            assert_eq!(key_and_value(line), None, "{line}");
        }
        assert_eq!(key_and_value("| | |"), None);
        assert_eq!(key_and_value("|---|---|"), None);
    }

    #[test]
    fn several_fields_in_bold_on_one_line_are_split() {
        let parts: Vec<&str> =
            parts_of_line("**Date:** 2020-01-02 | **Status**: Draft · **Owner:** Ada").collect();
        assert_eq!(parts, ["**Date:** 2020-01-02", "**Status**: Draft", "**Owner:** Ada"]);
        let parts: Vec<&str> = parts_of_line("- Status: **Draft** for **now**").collect();
        assert_eq!(parts, ["- Status: **Draft** for **now**"]);
    }
}
