//! Finds the status text that a document states. `model::status_words` maps it to a status.

use super::Page;
use super::badges::badge_text;
use super::header_fields::without_bullet;
use super::markdown::states_successor;
use super::notices::{decided_notice, notice};
use super::plain_text::plain;
use super::section_names::normal_name;
use super::status_history::{StatusEntry, latest};
use super::status_lines::{self, is_participle, line_offsets};
use super::title::status_mark;
use super::translated_names::english;
use crate::model::byte_scan::prefix;
use crate::model::{Status, status_words};

/// A section further down than this, or behind more than this many headings, is not near the top.
const TOP_BYTES: usize = 3_000;
const TOP_HEADINGS: usize = 4;

/// Maximum length in bytes of a section that states a status. A longer one describes something: in
/// a protocol, a field of this name.
const MAX_SECTION: usize = 900;
const MAX_FAR_SECTION: usize = 300;
const MAX_SMALL_SECTION: usize = 60;

/// A longer value is cut before it is read.
const MAX_VALUE: usize = 600;

/// Returns the status as the document writes it, with its line. A notice that the document is not
/// in force is added to it.
pub(super) fn stated_status(page: &Page<'_>) -> Option<(String, u32)> {
    let clip = |text: String| text.chars().take(120).collect::<String>();
    match (stated(page), notice(page)) {
        (Some((text, line)), Some((notice, _)))
            if status_words::parse(&text).is_none_or(Status::is_live) =>
        {
            Some((clip(format!("{text}; {notice}")), line))
        }
        (None, Some((notice, line))) => Some((clip(notice), line)),
        (stated, _) => stated,
    }
}

fn stated(page: &Page<'_>) -> Option<(String, u32)> {
    let sections = page.body.headings.iter().enumerate();
    let mut in_sections = sections.filter_map(|(index, heading)| match is_status(&heading.title) {
        true => in_section(page, index),
        false => None,
    });
    let stated = in_fields(page).or_else(|| in_sections.next());
    let stated = stated
        .or_else(|| status_lines::in_badges(page))
        .or_else(|| status_lines::in_lines(page))
        .or_else(|| in_title(page))
        .or_else(|| in_heading(page))
        .or_else(|| decided_notice(page))
        .or_else(|| status_lines::in_footer(page));
    stated.map(|(value, line)| {
        (value.trim_matches(['*', '_', ' ']).chars().take(120).collect(), line)
    })
}

/// Reads a mark in the title, `# [DEPRECATED] X`, or a heading `# Superseded by X` below it.
fn in_title(page: &Page<'_>) -> Option<(String, u32)> {
    let field = page.fields.iter().find(|field| field.key == "title");
    let in_field = field.and_then(|field| Some((status_mark(field.items.first()?)?.0, field.line)));
    let in_heading = || {
        let heading = page.body.headings.first()?;
        Some((status_mark(&heading.title)?.0, page.lines.line(heading.start)))
    };
    let successor = || {
        let mut headings = page.body.headings.iter().take(3);
        let heading = headings.find(|heading| states_successor(&heading.title))?;
        Some((heading.title.as_str(), page.lines.line(heading.start)))
    };
    in_field.or_else(in_heading).or_else(successor).map(|(mark, line)| (mark.to_string(), line))
}

/// Reads a heading that is only the mark of an unfinished document, above all others or right below
/// the title: `## Work in Progress`.
fn in_heading(page: &Page<'_>) -> Option<(String, u32)> {
    let is_mark =
        |title: &str| matches!(&*normal_name(title), "draft" | "wip" | "work in progress");
    let heading = page.body.headings.iter().take(2).find(|heading| is_mark(&heading.title))?;
    Some((heading.title.clone(), page.lines.line(heading.start)))
}

/// Returns the status in a header field, from the field that names it most clearly.
fn in_fields(page: &Page<'_>) -> Option<(String, u32)> {
    let ranked = page.fields.iter().filter_map(|field| Some((key_rank(&field.key)?, field)));
    let stated = ranked.filter_map(|(rank, field)| {
        let values = field.items.iter().filter_map(|item| value_of(item));
        let entries: Vec<StatusEntry> = values.map(|text| StatusEntry { text, line: 0 }).collect();
        let value = latest(&entries)?.text.clone();
        // A field with another name is about something else unless its value is a status.
        let counts = match rank {
            0 => true,
            OUTCOME => is_participle(&value),
            _ => status_words::parse(&value).is_some(),
        };
        counts.then_some((rank, value, field.line))
    });
    let best = stated.reduce(|best, next| if next.0 < best.0 { next } else { best });
    best.map(|(_, value, line)| (value, line))
}

/// Rank of a key whose value is the outcome of a decision, and often a text about it.
const OUTCOME: u8 = 5;

/// Ranks the keys of fields that may state the status, best first.
pub(super) fn key_rank(key: &str) -> Option<u8> {
    match key {
        "status" => Some(0),
        "state" | "lifecycle" | "lifecycle state" => Some(2),
        "stage" | "lifecycle stage" | "maturity" | "maturity level" => Some(3),
        "implementation status" | "implementation state" => Some(4),
        "decision" | "disposition" | "implementation" | "outcome" | "resolution" => Some(OUTCOME),
        _ => {
            let is_about_document = key.ends_with(" status") && key.split(' ').count() <= 3;
            is_about_document.then_some(1)
        }
    }
}

/// Returns the status text of a value in Markdown. A placeholder or a list of alternatives has none,
/// unless one of the alternatives is marked: `Proposed | **Accepted** | Rejected`.
pub(super) fn value_of(markdown: &str) -> Option<String> {
    let markdown = prefix(markdown.trim(), MAX_VALUE);
    let mut text = plain(markdown);
    if text.is_empty() {
        text = badge_text(markdown)?;
    }
    if status_words::lists_alternatives(&text) {
        let parts: Vec<&str> = markdown.split(['|', '/']).map(str::trim).collect();
        let is_marked = |part: &&&str| part.starts_with("**") || part.starts_with('`');
        let mut marked = parts.iter().filter(is_marked);
        let only = marked.next().filter(|_| marked.next().is_none())?;
        return Some(plain(only));
    }
    // `[Accepted][1]` is a link; `[status]` is a placeholder.
    let bracketed = text.strip_prefix('[').and_then(|inner| inner.split_once(']'));
    if let Some((inner, _)) = bracketed.filter(|(inner, _)| is_participle(inner)) {
        return Some(inner.to_string());
    }
    let is_placeholder = text.starts_with(['{', '<'])
        || text.starts_with('[') && text.ends_with(']')
        || matches!(text.to_lowercase().as_str(), "n/a" | "none" | "-" | "–" | "[status]" | "");
    (!is_placeholder).then_some(text)
}

/// Returns true if a heading is `Status`, `Decision status` or `Status: accepted`.
fn is_status(heading: &str) -> bool {
    if heading.len() > 80 {
        return false;
    }
    let name = normal_name(heading);
    let name = english(&name).unwrap_or(&name);
    let has_value = name
        .strip_prefix("status")
        .is_some_and(|rest| rest.trim_start().starts_with([':', '-', '–', '—', '(']));
    // `Status of this proposal`, `Status and date`.
    let is_longer = || {
        let rest = name.strip_prefix("status ");
        rest.is_some_and(|rest| {
            ["of this ", "of the ", "and ", "& "].iter().any(|start| rest.starts_with(start))
        }) && name.split(' ').count() <= 5
    };
    has_value || name == "status" || is_other_status(name) || is_longer()
}

/// Returns true for `Decision status` and `Feature status`.
fn is_other_status(name: &str) -> bool {
    name.ends_with(" status") && name.split(' ').count() <= 2
}

/// Reads a `## Status` section, or a heading `## Status: accepted`.
fn in_section(page: &Page<'_>, index: usize) -> Option<(String, u32)> {
    let heading = &page.body.headings[index];
    let after_name = heading.title.split_once([':', '-', '–', '—', '(']).map(|(_, value)| value);
    if let Some(value) = after_name.map(|value| value.trim().trim_end_matches(')'))
        && status_words::parse(value).is_some()
    {
        return Some((value.to_string(), page.lines.line(heading.start)));
    }
    let next = page.body.headings.get(index + 1);
    let end = next.map_or(page.text.len(), |next| next.start.max(heading.after));
    let range = heading.after..end;
    let text = without_definitions(&page.text[range.clone()]);
    let is_near = index <= TOP_HEADINGS || heading.start < page.start + TOP_BYTES;
    // A small heading is a part of a section unless it is the first below the title.
    let is_small = heading.level > 3 && (index > 1 || text.len() > MAX_SMALL_SECTION);
    if text.len() > MAX_SECTION && !is_near || is_small {
        return None;
    }
    // `## Status`, then `### Accepted`.
    let below = next.filter(|next| text.is_empty() && next.level > heading.level);
    if let Some(below) = below.filter(|below| is_participle(&below.title)) {
        return Some((below.title.clone(), page.lines.line(below.start)));
    }
    let entries = section_entries(page, range);
    // A longer section states the status first, and then describes it.
    let entry = match text.len() <= MAX_SECTION {
        true => latest(&entries)?,
        false => entries.first()?,
    };
    let is_known = |text: &str| status_words::parse(text).is_some();
    let n_words = |text: &str| text.split_whitespace().count();
    // The status of a feature may be that of one part of it.
    let is_own = !is_other_status(&normal_name(&heading.title));
    let counts = match is_near && text.len() <= MAX_SECTION && is_own {
        true => is_known(&entry.text) || n_words(&entry.text) <= 3,
        // Any word of running text can be one that also states a status.
        false => {
            (is_near || text.len() <= MAX_FAR_SECTION && heading.level <= 2)
                && status_words::begins_with_status(&entry.text)
        }
    };
    counts.then(|| (entry.text.clone(), entry.line))
}

/// Returns a text without the link definitions at its end, which belong to the whole document.
fn without_definitions(text: &str) -> &str {
    let mut text = text.trim();
    loop {
        let start = text.rfind('\n').map_or(0, |at| at + 1);
        let line = &text[start..];
        if !line.starts_with('[') || !line.contains("]: ") {
            return text;
        }
        text = text[..start].trim_end();
    }
}

/// Returns the lines of a status section that can state the status.
fn section_entries(page: &Page<'_>, range: std::ops::Range<usize>) -> Vec<StatusEntry> {
    let (mut entries, mut in_code_block) = (Vec::new(), Vec::new());
    let mut in_comment = false;
    let text = &page.text[range.clone()];
    let mut in_code = false;
    let has_checked = text.contains("[x]") || text.contains("[X]");
    for (offset, raw) in line_offsets(text).take(24) {
        let mut raw = raw.trim();
        if raw.starts_with("```") {
            in_code = !in_code;
            continue;
        }
        in_comment |= raw.starts_with("<!--");
        if in_comment {
            let Some((_, rest)) = raw.split_once("-->") else { continue };
            in_comment = false;
            raw = rest.trim();
        }
        let item = without_bullet(raw.trim_start_matches(['>', ' ']));
        // In a list of checkboxes, only a checked one states the status.
        let checked = item.strip_prefix("[x]").or_else(|| item.strip_prefix("[X]"));
        if item.starts_with("[ ]") || has_checked && checked.is_none() {
            continue;
        }
        // The bullet may have been the start of bold text.
        let item = match checked {
            Some(item) => item,
            None if raw.starts_with("**") || raw.starts_with("*") && !raw.starts_with("* ") => raw,
            None => item,
        };
        let item = item.trim_matches('|').trim();
        let value = match super::header_fields::key_and_value(item) {
            Some((key, value)) if key_rank(&key).is_some() || key == "current" => value_of(&value),
            _ => value_of(item),
        };
        if let Some(text) = value.filter(|value| value.chars().any(char::is_alphanumeric)) {
            let entry = StatusEntry { text, line: page.lines.line(range.start + offset) };
            if in_code {
                in_code_block.push(entry)
            } else {
                entries.push(entry)
            };
        }
    }
    // The boxes are checked in the order of the steps, so the last one counts.
    if has_checked
        && let Some(last) =
            entries.iter().rposition(|entry| status_words::begins_with_status(&entry.text))
    {
        return vec![entries.swap_remove(last)];
    }
    if entries.is_empty() { in_code_block } else { entries }
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
    fn a_status_is_found_in_every_notation() {
        for (text, expected) in [
            ("---\nstage: alpha\n---\n# X\n", "alpha"),
            ("---\nstate: open\nstatus: closed\n---\n# X\n", "closed"),
            (
                "---\nstatus: {proposed: 2019-01-01, accepted: 2020-01-01}\n---\n# X\n",
                "accepted 2020-01-01",
            ),
            ("# X\n\n- Implementation status: Implemented\n", "Implemented"),
            ("# X\n\n![Accepted](https://img.shields.io/badge/x-y-green)\n", "Accepted"),
            (
                "# X\n\n![status](https://img.shields.io/badge/status-accepted-green.svg)\n",
                "accepted",
            ),
            ("# X\n\nStatus: ![Rejected](https://example.org/x.svg)\n", "Rejected"),
            ("# X\n\n`draft` `optional` `relay`\n", "draft"),
            ("# X\n\nStatus: Proposed | **Accepted** | Rejected\n", "Accepted"),
            ("# X\n\n## Status: ✅ Accepted\n", "✅ Accepted"),
            ("# X\n\nStatus\n------\nAccepted\n", "Accepted"),
            (
                "# X\n\n## Status\n\n2020-01-02: proposed\n\n2020-02-03: accepted\n",
                "2020-02-03: accepted",
            ),
            (
                "# X\n\n## Status\n\n- 2020-02-03 accepted\n- 2020-01-02 proposed\n",
                "2020-02-03 accepted",
            ),
            ("# X\n\n## Status\n\nAccepted\n\nSuperseded by [2](2.md)\n", "Superseded by 2"),
            (
                "# X\n\n> This RFC has been withdrawn by its author. Sorry.\n",
                "withdrawn by its author",
            ),
            ("# X\n\n**DEPRECATED**\n\n## Y\n", "DEPRECATED"),
            ("# X\n\nStatus: Draft\n\nThis proposal is considered inactive.\n", "Draft; inactive"),
            ("# X\n\n## Status\n\n- [ ] Proposed\n- [x] Accepted\n", "Accepted"),
            ("# X\n\n## Status\n\n* **Accepted** in May\n", "Accepted in May"),
            (
                "# X\n\n## Status\n\nAccepted.\n\nOptions:\n- Proposed - If it is not decided yet.\n- Accepted - If the team has decided it.\n- Superseded - If a newer one replaces it. With a\n  link to the newer one.\n",
                "Accepted.",
            ),
            ("# X\n\n**ACCEPTED** (being built)\n\nText.\n", "ACCEPTED (being built)"),
            ("# X\n\nNOT YET ACCEPTED\n\nText.\n", "NOT YET ACCEPTED"),
            ("---\ntitle: X\n---\n\n## Work in Progress\n\nText.\n\n# X\n", "Work in Progress"),
            ("---\ntitle: X\n---\n\n# Draft\n\nText.\n\n# Why\n", "Draft"),
            (
                "# X\n\n*Note: This proposal was accepted and implemented in 1.10.*\n\n## Why\n",
                "accepted and implemented in 1",
            ),
            ("# X\n\n## Feature status\n\nExperimental\n", "Experimental"),
            (
                "# X\n\n## Status\n\n- [x] Foreslått (dato: 2020-01-02)\n- [x] Akseptert (dato: 2020-01-02)\n- [ ] Erstattet (dato: ÅÅÅÅ-MM-DD)\n",
                "Akseptert (dato: 2020-01-02)",
            ),
            (
                "# X\n\n## Status\n\n- [x] Proposed by Ada and Bob\n- [x] Accepted by the whole team\n",
                "Accepted by the whole team",
            ),
            ("# X\n\n## Status\n\n<!-- one of\nproposed, accepted -->\nRejected\n", "Rejected"),
        ] {
            assert_eq!(status(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn alternatives_tags_and_descriptions_are_no_status() {
        let far = "# X\n\n".to_string() + &"## Y\n\nText.\n\n".repeat(400);
        for text in [
            "# X\n\nStatus: Proposed | Accepted | Superseded\n",
            "---\nstatus: \"{proposed | rejected}\"\n---\n# X\n",
            "# X\n\n`optional`\n",
            "# X\n\nThis proposal is not rejected. Deprecated APIs are listed below.\n",
            "# X\n\n## Status\n\n- Proposed\n- Accepted\n- Rejected\n- Deprecated\n",
            "# X\n\n## Status\n\n- `draft`: the author is still writing it.\n- `approved`: the team agreed to do it.\n  It is the status of informational texts too.\n- `replaced`: a later text took its place.\n",
            &format!("{far}## Status\n\nAn open connection sends this field.\n"),
            "# X\n\n![build status](https://example.org/build.svg)\n",
            "# X\n\n## Feature status\n\nBoth flags are marked as experimental.\n",
            "# X\n\nThis proposal is complete nonsense.\n",
            "# X\n\n## Why\n\nText.\n\n## Draft\n\nText.\n",
        ] {
            assert_eq!(status(text), None, "{text}");
        }
        let late = format!("{far}## Status\n\nAccepted\n");
        assert_eq!(status(&late).as_deref(), Some("Accepted"));
    }
}
