//! Extracts the texts that represent a document at each level of detail.

use super::Page;
use super::markdown::Heading;
use super::plain_text::{clip, clip_lines};
use super::summary::{Summary, summary};
use crate::model::Texts;

/// Headings of sections with rules that changes to the code have to follow.
const BINDING_HEADINGS: &[&str] = &[
    "decision",
    "decision outcome",
    "the decision",
    "outcome",
    "consequences",
    "applies when",
    "anti-patterns",
    "success criteria",
    "tasks",
    "implementation plan",
    "phase",
];

/// Maximum lengths of the excerpts in bytes.
const MAX_LINE: usize = 240;
const MAX_BRIEF: usize = 600;
const MAX_SECTIONS: usize = 1_500;
const MAX_FULL: usize = 1_500;

/// Maximum length in bytes of a section that only states the status.
const MAX_STATUS: usize = 160;

/// Returns the one-line summary of a document and its longer excerpts.
pub(super) fn excerpts(page: &Page<'_>) -> (String, Texts) {
    let Summary { line, brief } = summary(page);
    let (line, brief) = (page.second_scan.cleaned(line), page.second_scan.cleaned(brief));
    let sections = page.second_scan.cleaned(binding_sections(page));
    let full = whole_body(page);
    (clip(&line, MAX_LINE), Texts { brief: clip(&brief, MAX_BRIEF), sections, full })
}

/// Returns the body after the title, without a section that only states the status; empty if it is
/// too long.
fn whole_body(page: &Page<'_>) -> String {
    let start = after_title(page);
    // Every line may have a CR, which is not counted.
    if page.text.len() - start > 2 * MAX_FULL {
        return String::new();
    }
    let mut body = String::new();
    let mut from = start;
    for (index, heading) in page.body.headings.iter().enumerate() {
        let next = page.body.headings.get(index + 1);
        let end = next.map_or(page.text.len(), |next| next.start);
        let is_status = heading.title.eq_ignore_ascii_case("status") && heading.start >= from;
        let is_bare = || page.text[heading.after..end].trim().lines().count() == 1;
        if is_status && end - heading.start <= MAX_STATUS && next.is_some() && is_bare() {
            body.push_str(&page.text[from..heading.start]);
            from = end;
        }
    }
    body.push_str(&page.text[from..]);
    let body = without_cr(page, body.trim());
    if body.len() <= MAX_FULL { body } else { String::new() }
}

/// Returns the offset of the text after the title heading.
fn after_title(page: &Page<'_>) -> usize {
    let first =
        page.body.headings.first().filter(|first| {
            first.level == 1 && page.text[page.start..first.start].trim().is_empty()
        });
    first.map_or(page.start, |first| first.after)
}

/// Returns a heading without a leading number or a trailing colon.
fn section_name(title: &str) -> &str {
    let title = title.trim().trim_end_matches(':').trim_matches('*');
    let title = title.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.' || c == ')');
    title.trim()
}

/// Returns the index of a heading in a list of names.
pub(super) fn heading_position(names: &[&str], heading: &Heading) -> Option<usize> {
    let title = heading.english.unwrap_or_else(|| section_name(&heading.title));
    names.iter().position(|name| name.eq_ignore_ascii_case(title))
}

/// Returns a text with line ends LF. A translation has several blank lines in the place of markup;
/// one of them is enough.
fn without_cr(page: &Page<'_>, text: &str) -> String {
    let mut text = match memchr::memchr(b'\r', text.as_bytes()) {
        Some(_) => text.replace('\r', ""),
        None => text.to_string(),
    };
    if page.is_translated() {
        let mut n_blank = 0;
        let lines = text.split_inclusive('\n').filter(|line| {
            n_blank = if line.trim().is_empty() { n_blank + 1 } else { 0 };
            n_blank <= 1
        });
        text = lines.collect();
    }
    text
}

fn binding_sections(page: &Page<'_>) -> String {
    let mut text = String::new();
    for (index, heading) in page.body.headings.iter().enumerate() {
        if text.len() >= MAX_SECTIONS || heading_position(BINDING_HEADINGS, heading).is_none() {
            continue;
        }
        let body = without_cr(page, page.text[page.body.section(index)].trim());
        if body.is_empty() {
            continue;
        }
        let max = MAX_SECTIONS - text.len();
        text.push_str(&format!("{}: {}\n", heading.title, clip_lines(&body, max)));
    }
    text.trim_end().to_string()
}
