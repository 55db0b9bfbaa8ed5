//! Reads a header in a code block or in `<pre>` at the top of the body.

use std::ops::Range;

use super::LineIndex;
use super::header_fields::{Field, is_known, key_and_value, normal_key};
use super::markdown::Body;

/// At most this many blocks are looked at.
const MAX_BLOCKS: usize = 8;

/// Returns the code blocks and `<pre>` blocks in a range, in order.
pub(super) fn blocks(
    text: &str,
    body: &Body<'_>,
    range: &Range<usize>,
) -> impl Iterator<Item = Range<usize>> {
    let first = body.code_blocks.partition_point(|block| block.start < range.start);
    let code = body.code_blocks[first..].iter().cloned();
    let code = code.take_while(|block| block.start < range.end).take(MAX_BLOCKS);
    let mut blocks: Vec<Range<usize>> = code.chain(preformatted(text, range)).collect();
    blocks.sort_unstable_by_key(|block| block.start);
    blocks.into_iter()
}

/// Returns the first `<pre>` block in a range.
fn preformatted(text: &str, range: &Range<usize>) -> Option<Range<usize>> {
    let head = &text.as_bytes()[range.clone()];
    let start = memchr::memmem::find(head, b"<pre")?;
    let length = memchr::memmem::find(&head[start..], b"</pre>")? + "</pre>".len();
    Some(range.start + start..range.start + start + length)
}

/// Reads the fields of the first block that is a header: nothing but headings is above it, and two
/// of its lines are fields that only headers have.
pub(super) fn fields(
    text: &str,
    lines: &LineIndex,
    body: &Body<'_>,
    range: &Range<usize>,
) -> Vec<Field> {
    let Some(block) = blocks(text, body, range).next() else { return Vec::new() };
    let above = body.headings.iter().rev().find(|heading| heading.start < block.start);
    let gap = above.map_or(range.start, |heading| heading.after.min(block.start))..block.start;
    if !text[gap].trim().is_empty() {
        return Vec::new();
    }
    let fields = block_fields(text, lines, &block);
    let n_known = fields.iter().filter(|field| is_known(&field.key)).count();
    let is_header = fields.iter().any(|field| matches!(field.key.as_str(), "title" | "status"));
    if n_known >= 2 && is_header { fields } else { Vec::new() }
}

fn is_delimiter(line: &str) -> bool {
    ["```", "~~~", "<pre", "---"].iter().any(|delimiter| line.starts_with(delimiter))
}

/// Reads lines `Key: value`. An indented line without a key continues the value above.
fn block_fields(text: &str, lines: &LineIndex, block: &Range<usize>) -> Vec<Field> {
    let first = lines.line(block.start);
    let last = lines.line(block.end.saturating_sub(1).max(block.start));
    let mut fields: Vec<Field> = Vec::new();
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mut margin = None;
    for line in first..=last {
        let raw = lines.text(text, line);
        let bare = raw.trim();
        let bare = bare.strip_prefix("<pre>").unwrap_or(bare);
        let bare = bare.strip_suffix("</pre>").unwrap_or(bare).trim();
        if bare.is_empty() || is_delimiter(bare) {
            continue;
        }
        let is_indented = indent(raw) > *margin.get_or_insert(indent(raw));
        let key_only = bare.strip_suffix(':').filter(|_| !is_indented);
        let field = key_and_value(bare).map(|(key, value)| (key, vec![value]));
        let field = field.or_else(|| key_only.map(|key| (normal_key(key), Vec::new())));
        match (field, fields.last_mut()) {
            (Some((key, items)), _) if !is_indented || is_known(&key) || key == "authors" => {
                fields.push(Field { key, items, line, outside_markdown: true });
            }
            (_, Some(field)) if is_indented => match field.items.last_mut() {
                Some(value) => *value = format!("{value} {bare}"),
                None => field.items.push(bare.to_string()),
            },
            _ => {}
        }
    }
    fields
}
