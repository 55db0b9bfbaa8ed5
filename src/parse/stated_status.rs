//! Finds the status text that a document states. `model::status_words` maps it to a status.

use super::Page;
use super::plain_text::plain;
use crate::model::Status;
use crate::model::status_words;

/// Returns the status as the document writes it, with its line.
pub(super) fn stated_status(page: &Page<'_>) -> Option<(String, u32)> {
    let keys = ["status", "state", "current status", "decision status", "adr status", "rfc status"];
    let fields = page.fields.iter().filter(|field| keys.contains(&field.key.as_str()));
    let mut stated = fields.map(|field| (plain(&field.items.join(" ")), field.line));
    stated
        .find(|(value, _)| !value.is_empty())
        .or_else(|| in_section(page))
        .or_else(|| in_head(page))
        .map(|(value, line)| {
            (value.trim_matches(['*', '_', ' ']).chars().take(120).collect(), line)
        })
}

/// Reads a `## Status` section, or a heading `## Status: accepted`.
fn in_section(page: &Page<'_>) -> Option<(String, u32)> {
    let (index, heading) = page.body.headings.iter().enumerate().find(|(_, heading)| {
        let title = heading.title.to_lowercase();
        title == "status" || title.starts_with("status:") || title == "state"
    })?;
    if let Some((_, value)) =
        heading.title.split_once(':').filter(|(_, value)| !value.trim().is_empty())
    {
        return Some((value.trim().to_string(), page.lines.line(heading.start)));
    }
    let range = page.body.section(index);
    let text = &page.text[range.clone()];
    let mut parts = Vec::new();
    let mut line = 0;
    for (offset, raw) in line_offsets(text).take(24) {
        let item = raw.trim().trim_start_matches(['-', '*', '>', ' ']);
        // In a list of checkboxes, only a checked one states the status.
        if item.starts_with("[ ]") {
            continue;
        }
        let item = item.strip_prefix("[x]").or_else(|| item.strip_prefix("[X]")).unwrap_or(item);
        let value = plain(item);
        if value.is_empty() || raw.trim_start().starts_with("<!--") {
            continue;
        }
        if line == 0 {
            line = page.lines.line(range.start + offset);
        }
        parts.push(value);
    }
    // A section can list the history of the status: "Accepted", then "Superseded by …".
    let last = parts.iter().rposition(|part| status_words::parse(part) == Some(Status::Superseded));
    let value = parts.get(last.unwrap_or(0))?.clone();
    Some((value, line))
}

fn line_offsets(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split_inclusive('\n').scan(0, |at, line| {
        let start = *at;
        *at += line.len();
        Some((start, line))
    })
}

/// Reads a badge or a line of code spans above the first section: `![](…/status-accepted-green)`,
/// `` `draft` `optional` ``.
fn in_head(page: &Page<'_>) -> Option<(String, u32)> {
    let head = page.body.head();
    for (offset, raw) in line_offsets(&page.text[head.clone()]).take(30) {
        let line = raw.trim();
        let badge = line.to_lowercase().find("status").filter(|_| line.contains("!["));
        let is_code = line.starts_with('`') && line.ends_with('`') && line.len() > 2;
        let value = match badge {
            Some(at) => line.get(at + "status".len()..).unwrap_or(""),
            None if is_code => line,
            None => continue,
        };
        if status_words::parse(value).is_some() {
            let value = value.replace(['`', '!', '[', ']', '(', ')'], " ");
            let words: Vec<&str> = value.split_whitespace().collect();
            return Some((words.join(" "), page.lines.line(head.start + offset)));
        }
    }
    None
}
