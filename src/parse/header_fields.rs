//! Reads header fields at the top of the body: tables, bullets, bold lines and plain lines.

use super::LineIndex;
use super::markdown::Body;
use super::plain_text::plain;

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
    let mut fields = Vec::new();
    let mut column_keys: Vec<String> = Vec::new();
    for line in first..=last {
        let raw = lines.text(text, line);
        if let Some(cells) = cells(raw) {
            read_table_row(&mut column_keys, &cells, line, &mut fields);
        }
        if let Some((key, value)) = key_and_value(raw) {
            fields.push(Field { key, items: vec![value], line, outside_markdown: false });
        }
    }
    let head = &text[range.clone()];
    let mut next_row = head.find("<tr").unwrap_or(head.len());
    for row in head.split("<tr").skip(1).take(MAX_LINES as usize) {
        let row_start = next_row;
        next_row += row.len() + "<tr".len();
        let row = row.split("</tr").next().unwrap_or(row);
        let line = lines.line(range.start + row_start);
        if let Some((key, value)) = html_row(row) {
            fields.push(Field { key, items: vec![value], line, outside_markdown: true });
        }
    }
    fields
}

/// Reads one row of a table whose first row has the keys and whose second row has the values.
fn read_table_row(
    column_keys: &mut Vec<String>,
    cells: &[&str],
    line: u32,
    fields: &mut Vec<Field>,
) {
    let is_delimiter_row = cells.iter().all(|cell| cell.trim_matches(['-', ':', ' ']).is_empty());
    if is_delimiter_row {
        return;
    }
    let keys: Vec<String> = cells.iter().map(|cell| normal_key(&plain(cell))).collect();
    if column_keys.is_empty() {
        let n_known = keys.iter().filter(|key| is_known(key)).count();
        if n_known >= 2 && cells.len() >= 2 {
            *column_keys = keys;
        }
        return;
    }
    for (key, value) in column_keys.drain(..).zip(cells) {
        if is_known(&key) && !value.trim().is_empty() {
            let items = vec![value.trim().to_string()];
            fields.push(Field { key, items, line, outside_markdown: false });
        }
    }
}

fn cells(line: &str) -> Option<Vec<&str>> {
    let inner = line.trim().strip_prefix('|')?;
    let inner = inner.strip_suffix('|').unwrap_or(inner);
    Some(inner.split('|').collect())
}

/// Splits a line into a key and a value, whichever way the field is written.
pub(super) fn key_and_value(line: &str) -> Option<(String, String)> {
    let line = line.trim().trim_start_matches(['>', ' ']);
    if let Some(cells) = cells(line) {
        let key = normal_key(&plain(cells.first()?));
        let value = cells.get(1..)?.join("|").trim().to_string();
        let usable = is_key(&key) && !value.is_empty() && cells.len() <= 3;
        return usable.then_some((key, value));
    }
    let line = line
        .strip_prefix(['-', '*', '+'])
        .filter(|rest| rest.starts_with([' ', '\t']))
        .unwrap_or(line);
    let line = line.trim();
    let colon = line.find(':')?;
    // A key in backticks documents a parameter; it is not a field of the document.
    if line.starts_with('`') || colon > 60 || line[colon..].starts_with("://") {
        return None;
    }
    let key =
        normal_key(line[..colon].trim_matches(['*', '_', '`', ' ', '[', ']', '"', '<', '>', '!']));
    let value = line[colon + 1..].trim_start_matches(['*', '_', ' ', '\t']).trim();
    (is_key(&key) && !value.is_empty()).then(|| (key, value.to_string()))
}

/// Splits a row of an HTML table into a key and a value.
fn html_row(line: &str) -> Option<(String, String)> {
    let cell = |text: &str, from: usize| -> Option<(String, usize)> {
        let open = from
            + [text[from..].find("<td"), text[from..].find("<th")].into_iter().flatten().min()?;
        let start = open + text[open..].find('>')? + 1;
        let end = start + text[start..].find("</t")?;
        Some((strip_tags(&text[start..end]), end))
    };
    // A row with several header cells has only the names of the columns.
    if line.matches("<th").count() > 1 {
        return None;
    }
    let (key, after) = cell(line, 0)?;
    let (value, _) = cell(line, after + 3)?;
    let key = normal_key(key.trim_end_matches(':'));
    (is_key(&key) && !value.is_empty()).then_some((key, value))
}

fn strip_tags(html: &str) -> String {
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
/// space.
pub(super) fn normal_key(key: &str) -> String {
    let mut normal = String::with_capacity(key.len() + 4);
    let mut before = ' ';
    for c in key.chars() {
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
    normal.trim_matches(['*', ':', ' ']).to_string()
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
fn is_known(key: &str) -> bool {
    matches!(
        key,
        "status"
            | "date"
            | "author"
            | "authors"
            | "created"
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
        ] {
            let expected = ("status".to_string(), "Draft".to_string());
            assert_eq!(key_and_value(line), Some(expected), "{line}");
        }
        assert_eq!(
            html_row("<tr><td><b>Status</b></td><td>Draft</td></tr>"),
            Some(("status".into(), "Draft".into()))
        );
        assert_eq!(key_and_value("see https://example.org"), None);
        assert_eq!(key_and_value("| | |"), None);
        assert_eq!(key_and_value("|---|---|"), None);
    }
}
