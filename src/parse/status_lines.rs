//! Finds a status at the top or the end of a document that is not a field on one line.
//!
//! These places are looked at only if no field and no section states a status.

use std::ops::Range;

use super::Page;
use super::badges::{CommentStripper, badge_text, status_badge_text};
use super::header_fields::{is_key, is_known, key_and_value, normal_key, strip_tags};
use super::section_names::is_section_name;
use super::stated_status::{key_rank, value_of};
use crate::model::status_words;

/// Number of lines at the top that are searched.
const MAX_LINES: usize = 40;

/// A longer line is prose.
const MAX_LINE: usize = 240;

/// Length in bytes of the end of a document that is searched.
const MAX_FOOTER: usize = 800;

/// Returns the lines of a text with their offsets.
pub(super) fn line_offsets(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split_inclusive('\n').scan(0, |at, line| {
        let start = *at;
        *at += line.len();
        Some((start, line))
    })
}

/// Reads a badge or a line of code spans above the first section: `![Accepted](…)`,
/// `` `draft` `optional` ``.
pub(super) fn in_badges(page: &Page<'_>) -> Option<(String, u32)> {
    let head = page.head.clone();
    let range = head.start..below_subtitle(page, &head);
    let lines = line_offsets(&page.text[range.clone()]).take(MAX_LINES);
    let mut comments = CommentStripper::default();
    let mut stated = lines.filter_map(|(offset, raw)| {
        let visible = comments.strip(raw);
        let line = visible.trim();
        let is_image = || line.contains("![") || line.contains("<img");
        let value = match line.as_bytes().first()? {
            b'`' if line.ends_with('`') => known_tags(line),
            // Below a subtitle, an image may belong to the text.
            _ if is_image() && range.start + offset >= head.end => status_badge_text(line),
            _ if is_image() => badge_text(line),
            _ => None,
        };
        Some((value?, page.lines.line(range.start + offset)))
    });
    stated.next()
}

/// Returns the end of the text below a subtitle: a second heading that names no section, with
/// nothing but lists between it and the title.
fn below_subtitle(page: &Page<'_>, head: &Range<usize>) -> usize {
    let headings = &page.body.headings;
    let at = headings.partition_point(|heading| heading.start < head.end);
    let (Some(title), Some(subtitle)) = (headings[..at].last(), headings.get(at)) else {
        return head.end;
    };
    let gap = title.after.min(subtitle.start)..subtitle.start;
    let is_subtitle = at == 1
        && !is_section_name(&subtitle.title)
        && page.body.paragraphs_in(&gap).iter().all(|paragraph| paragraph.in_list);
    match is_subtitle {
        true => headings.get(at + 1).map_or(page.text.len(), |next| next.start),
        false => head.end,
    }
}

/// Returns the code spans of a line that are statuses. Other tags, such as `optional`, are left out.
fn known_tags(line: &str) -> Option<String> {
    let tags = line.split('`').skip(1).step_by(2).map(str::trim);
    let known: Vec<&str> = tags.filter(|tag| status_words::parse(tag).is_some()).collect();
    let between = line.split('`').step_by(2).all(|gap| gap.trim_matches([' ', ',']).is_empty());
    (between && !known.is_empty()).then(|| known.join(", "))
}

/// Reads the lines above the first section: a value below its key, several fields on one line, a
/// table without outer pipes, or a paragraph that is only a status.
pub(super) fn in_lines(page: &Page<'_>) -> Option<(String, u32)> {
    let head = page.head.clone();
    let range = head.start..below_subtitle(page, &head);
    let mut reader = LineReader::default();
    let mut lines = line_offsets(&page.text[range.clone()]).take(MAX_LINES);
    lines.find_map(|(offset, raw)| {
        let value = reader.read(raw)?;
        Some((value, page.lines.line(range.start + offset)))
    })
}

/// The place at which the value of a key is expected.
#[derive(Default)]
enum ValuePlace {
    #[default]
    Nowhere,
    /// The next line with text.
    NextLine,
    /// A column of the next table row with text.
    Column(usize),
}

/// Reads one line after another.
#[derive(Default)]
struct LineReader {
    expected: ValuePlace,
    in_code: bool,
    /// Number of lines with text that are not headings, before the current one.
    n_text: usize,
}

impl LineReader {
    fn read(&mut self, raw: &str) -> Option<String> {
        let line = raw.trim();
        self.in_code ^= line.starts_with("```");
        if line.is_empty() || self.in_code || line.len() > MAX_LINE || line.starts_with('#') {
            return None;
        }
        self.n_text += 1;
        let item = without_markers(line);
        let expected = std::mem::take(&mut self.expected);
        let value = match expected {
            expected if is_delimiter_row(line) => {
                self.expected = expected;
                None
            }
            ValuePlace::NextLine => known_value(item.trim_matches('|')),
            ValuePlace::Column(column) => {
                let value = cells(&item).nth(column).and_then(known_value);
                value.filter(|value| is_participle(value))
            }
            ValuePlace::Nowhere => None,
        };
        value.or_else(|| self.read_keys(&item)).or_else(|| self.read_bare(line, &item))
    }

    /// Reads a line with a key of the status, and notes where a value that is not in it is.
    fn read_keys(&mut self, item: &str) -> Option<String> {
        if names_status(item) {
            self.expected = ValuePlace::NextLine;
            return reversed(item);
        }
        if item.contains('|') {
            let column = cells(item).position(names_status);
            if let Some(column) = column {
                let beside = cells(item).nth(column + 1).and_then(known_value);
                self.expected = ValuePlace::Column(column);
                return beside;
            }
        }
        // `Author: Ada | Status: Draft`, `Ada · Status: Draft`.
        let parts = item.split(['|', '·', '•', ';', ',']);
        let value = parts.clone().find_map(|part| {
            let (key, value) = key_and_value(part)?;
            key_rank(&key).filter(|rank| *rank < 2).and_then(|_| known_value(&value))
        })?;
        let is_list_of_statuses = parts.clone().any(status_words::begins_with_status);
        (!is_list_of_statuses).then_some(value)
    }

    /// Reads the first paragraph if it is only a status.
    fn read_bare(&self, line: &str, item: &str) -> Option<String> {
        // A word in a comment is one of those to choose from.
        let is_list =
            line.starts_with(['-', '+', '|']) || line.starts_with("* ") || line.starts_with("<!--");
        if self.n_text > 1 || is_list {
            return None;
        }
        let value = known_value(&item.replace("**", ""))?;
        let stated = value.rsplit("~~").next().unwrap_or_default().trim();
        // A remark may follow, as in `Accepted (being built)`.
        let word = stated.split(" (").next().unwrap_or(stated);
        let is_remark = word.len() < stated.len() && stated.ends_with(')');
        let is_in_capitals = stated.split(' ').count() <= 4
            && stated.bytes().all(|b| b.is_ascii_uppercase() || b == b' ');
        (is_participle(if is_remark { word } else { stated }) || is_in_capitals)
            .then(|| stated.to_string())
    }
}

/// Reads `Accepted - Status`.
fn reversed(item: &str) -> Option<String> {
    let (value, key) = item.split_at_checked(item.len().checked_sub("status".len())?)?;
    let bare = value.trim_end_matches([' ', '-', '–', '—']);
    let is_marked = bare.len() + 1 < value.len();
    let is_reversed = is_marked && key.eq_ignore_ascii_case("status") && is_participle(bare);
    is_reversed.then(|| bare.to_string())
}

/// Removes the marks of quotes, lists, emphasis, comments and tags around a line.
fn without_markers(line: &str) -> String {
    let line = line.trim_start_matches("<!--").trim_end_matches("-->").replace('\\', "");
    let line = if line.contains('<') { strip_tags(&line) } else { line };
    let line = line.trim_start_matches(['>', '-', '+', ':', '*', '_', ' ', '\t']);
    line.trim_end_matches(['*', '_', ' ']).to_string()
}

/// Returns true if a text is only a key of the status: `Status`, `**Implementation status:**`.
fn names_status(text: &str) -> bool {
    let text = text.trim();
    if text.len() > 48 {
        return false;
    }
    let key = normal_key(text.trim_matches(['*', '_', ':', ' ', '|']));
    is_key(&key) && key_rank(&key).is_some_and(|rank| rank < 2 || key.starts_with("implementation"))
}

fn cells(row: &str) -> impl Iterator<Item = &str> {
    row.trim().trim_start_matches('|').trim_end_matches('|').split('|')
}

fn is_delimiter_row(line: &str) -> bool {
    line.bytes().all(|b| matches!(b, b'|' | b'-' | b':' | b' '))
}

/// Returns the value of a key if it begins with a status.
fn known_value(markdown: &str) -> Option<String> {
    let value = value_of(markdown.trim_matches(['*', '_', ':', ' ']))?;
    let bare = value.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '~');
    status_words::begins_with_status(bare).then(|| bare.to_string())
}

/// Returns true for one or two words that can only be the state of a decision. Words such as
/// `note`, `policy` or `review` are also labels.
pub(super) fn is_participle(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let first = words.next().unwrap_or_default().to_lowercase();
    let is_state =
        first.ends_with("ed") || matches!(first.as_str(), "draft" | "final" | "withdrawn");
    is_state
        && words.count() <= 1
        && status_words::begins_with_status(text)
        && status_words::parse(text).is_some()
}

/// Reads a field at the end of a document, below a thematic break or beside other fields.
pub(super) fn in_footer(page: &Page<'_>) -> Option<(String, u32)> {
    let from = page.text.len().saturating_sub(MAX_FOOTER).max(page.start);
    let from = from + page.text.as_bytes()[from..].iter().position(|b| *b == b'\n')? + 1;
    let footer = &page.text[from..];
    let is_code = |at: usize| page.body.code_blocks.last().is_some_and(|code| code.contains(&at));
    let mut has_other_field = false;
    let mut below_break = false;
    let mut stated = None;
    for (offset, raw) in line_offsets(footer) {
        let line = raw.trim();
        below_break |= matches!(line, "---" | "***" | "___");
        if line.len() > MAX_LINE || line.starts_with('|') || is_code(from + offset) {
            continue;
        }
        let Some((key, value)) = key_and_value(&without_markers(line)) else { continue };
        if key_rank(&key) != Some(0) {
            has_other_field |= is_known(&key);
        } else if stated.is_none() {
            let value = known_value(&value);
            stated = value.map(|value| (value, page.lines.line(from + offset)));
        }
    }
    stated.filter(|_| below_break || has_other_field)
}

#[cfg(test)]
mod tests {
    use crate::model::Source;
    use crate::model::plan::Limits;
    use crate::parse::parse;

    fn status(text: &str) -> Option<String> {
        let source = Source::markdown(text);
        let parsed = parse(&source, &Limits::default(), &crate::guard::Allowed::default());
        parsed.facts.status.map(|(text, _)| text)
    }

    #[test]
    fn a_status_at_the_top_needs_no_field_on_one_line() {
        for head in [
            "**Status**\n\nDeferred",
            "Status:\n\n- Deferred",
            "* **Implementation status:**\n  * Deferred\n* Owner: Ada",
            "* **Implementation**: Deferred",
            "Status\n: Deferred",
            "> **Status**\n> Deferred",
            "<dl>\n<dt>Status</dt>\n<dd>Deferred</dd>\n</dl>",
            "Status | Deferred\n--- | ---\nOwner | Ada",
            "|Status|\n|---|\n|Deferred|",
            "|RFC status|Champion|\n|---|---|\n|Deferred|Ada|",
            "<table>\n<tr><th>Status</th><th>Date</th></tr>\n<tr><td>Deferred</td><td>May</td></tr>\n</table>",
            "Author: Ada | Status: Deferred | Date: May",
            "*Ada · Status: Deferred*",
            "Deferred - Status",
            "<!-- Status: Deferred -->",
            "*Deferred*",
            "~~Proposed~~ Deferred",
            "Status: [Deferred][1]",
            "Status\\: Deferred",
            "Resolution: Deferred",
            "## A cache for reads\n\n![status: Deferred](status.svg)",
            "<!-- ![Proposed](p.svg) -->\n![Deferred](d.svg)\n<!-- ![Rejected](r.svg) -->",
            "<!--\n![Proposed](p.svg)\n![Rejected](r.svg)\n-->\n![Deferred](d.svg)",
            "Status: <!-- ![Proposed](p.svg) --> ![Deferred](d.svg)",
            "## A cache for reads\n\nStatus: Deferred",
            "- [Goals](#goals)\n\n## A cache for reads\n\n![status: Deferred](status.svg)",
        ] {
            let text = format!("# CACHE/Reads\n\n{head}\n\n## Context\n\nText.\n");
            assert_eq!(status(&text).as_deref(), Some("Deferred"), "{text}");
        }
        assert_eq!(status("# [Accepted] Cache\n\n## Context\n").as_deref(), Some("Accepted"));
    }

    #[test]
    fn words_at_the_top_that_are_not_about_the_document_state_nothing() {
        for head in [
            "**Note**",
            "<!-- ![Deferred](d.svg) -->",
            "Review",
            "Accepted requests (see below) are logged",
            "REVIEW OF THE ACCEPTED DESIGN",
            "Text.\n\nDeferred",
            "- Deferred\n- Accepted",
            "Decision: rejected requests are logged",
            "Outcome: review of the design",
            "Status | Code\n--- | ---\nactive | 1",
            "* [x] Proposed\n* [x] Specification: this file",
            "## Reads\n\nText.\n\n![Deferred](picture.svg)",
            "## Reads\n\n![Done](picture.svg)",
        ] {
            let text = format!("# CACHE/Reads\n\n{head}\n\n## Context\n\nText.\n");
            assert_eq!(status(&text), None, "{text}");
        }
    }

    #[test]
    fn a_footer_states_a_status_beside_other_fields() {
        for (footer, expected) in [
            ("---\n\n*Status: Deferred*", Some("Deferred")),
            ("- **Owner:** Ada\n- **Status:** Deferred", Some("Deferred")),
            ("- Status: active means that the job runs", None),
            ("---\n\n```\nStatus: Deferred\n```", None),
        ] {
            let text = format!("# Cache\n\n## Context\n\nText.\n\n## End\n\n{footer}\n");
            assert_eq!(status(&text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn a_status_section_may_have_code_or_headings_in_it() {
        for section in [
            "## Status\n\n```\nDeferred\n```",
            "## Status\n\n### Deferred",
            "## Status\n\n<!-- Proposed | Accepted -->Deferred",
            "## Status\n\nCurrent: Deferred",
            "#### Status\n\nDeferred",
            "## Status of this proposal\n\nDeferred",
        ] {
            let text = format!("# Cache\n\n{section}\n\n## Context\n\nText.\n");
            assert_eq!(status(&text).as_deref(), Some("Deferred"), "{text}");
        }
    }
}
