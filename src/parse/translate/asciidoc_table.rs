//! Translates the tables of AsciiDoc.

use super::asciidoc_header::Header;
use super::asciidoc_inline::push_inline;
use super::cells::CellWriter;

/// Returns true for a line that starts or ends a table: `|===`.
pub(super) fn is_table_delimiter(line: &str) -> bool {
    line.strip_prefix('|').is_some_and(|rest| rest.len() >= 3 && rest.bytes().all(|b| b == b'='))
}

/// Returns the number of columns that `[cols="1h,3"]`, `[cols="2*"]` or `[cols=2]` states.
pub(super) fn n_columns(line: &str) -> Option<usize> {
    let (_, value) = line.split_once("cols=")?;
    let value = match value.strip_prefix(['"', '\'']) {
        Some(quoted) => quoted.split(['"', '\'']).next()?,
        None => value.split([',', ']']).next()?,
    };
    if let Ok(n) = value.trim().parse() {
        return Some(n);
    }
    let columns = value.split([',', ';']).map(|column| {
        let repeated = column.split_once('*').and_then(|(n, _)| n.trim().parse::<usize>().ok());
        repeated.unwrap_or(1).min(100)
    });
    Some(columns.sum())
}

/// Writes a line of a table.
pub(super) fn push_table_line(
    line: &str,
    n_columns: Option<usize>,
    writer: &mut Option<CellWriter>,
    header: &Header,
    out: &mut String,
) {
    // Before the first cell of a line is its format, or the rest of the cell above.
    let before = line.split('|').next().unwrap_or_default();
    if before.len() == line.len() || !is_cell_format(before.trim()) {
        push_inline(&header.expanded(before.trim()), out);
    }
    let cells = table_cells(line, header);
    if cells.is_empty() {
        return;
    }
    let is_paired = n_columns.unwrap_or(cells.len()) == 2;
    writer.get_or_insert_with(|| CellWriter::new(is_paired)).push_cells(&cells, out);
}

/// Returns true for the format of a cell: `2+^.>a`.
fn is_cell_format(text: &str) -> bool {
    let style = text.strip_suffix(['a', 'd', 'e', 'h', 'l', 'm', 's', 'v']);
    style.unwrap_or(text).chars().all(|c| c.is_ascii_digit() || ".+*<^>".contains(c))
}

/// Splits a line into cells at each `|` that is not escaped.
fn table_cells(line: &str, header: &Header) -> Vec<String> {
    let bytes = line.as_bytes();
    let is_separator = |at: &usize| *at == 0 || bytes[at - 1] != b'\\';
    let starts: Vec<usize> = memchr::memchr_iter(b'|', bytes).filter(is_separator).collect();
    let ends = starts.iter().skip(1).copied().chain([line.len()]);
    let texts = starts.iter().zip(ends).map(|(start, end)| &line[start + 1..end]);
    let translated = |text: &str| {
        let mut cell = String::with_capacity(text.len());
        push_inline(&header.expanded(text.trim()), &mut cell);
        cell
    };
    texts.map(translated).collect()
}
