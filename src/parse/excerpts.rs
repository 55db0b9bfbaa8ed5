//! Extracts the texts that represent a document at each level of detail.

use super::Page;
use super::header_fields::key_and_value;
use super::markdown::Paragraph;
use super::plain_text::{clip, clip_lines, first_sentence, plain};
use crate::model::Texts;

/// Headings of sections that summarise a document, best first.
const SUMMARY_HEADINGS: &[&str] = &[
    "summary",
    "simple summary",
    "tl;dr",
    "tldr",
    "executive summary",
    "abstract",
    "decision",
    "decision outcome",
    "decision summary",
    "the decision",
    "outcome",
    "conclusion",
    "principle",
    "proposed solution",
    "solution",
    "proposal",
    "introduction",
    "overview",
    "description",
    "recommendation",
    "goal",
    "goals",
    "purpose",
    "motivation",
    "problem",
    "problem statement",
    "question",
    "topic",
    "context",
    "context and problem statement",
    "background",
];

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

/// Returns the one-line summary of a document and its longer excerpts.
pub(super) fn excerpts(page: &Page<'_>) -> (String, Texts) {
    let stated = page
        .fields
        .iter()
        .find(|f| matches!(f.key.as_str(), "description" | "summary" | "abstract"));
    let stated = stated.map(|field| plain(&field.items.join(" "))).filter(|text| text.len() > 10);
    let brief = stated
        .or_else(|| summary_section(page))
        .or_else(|| first_prose(page, &page.body.paragraphs))
        .unwrap_or_default();
    let brief = page.second_scan.cleaned(brief);
    let body = page.text[after_title(page)..].trim();
    let full = if body.len() <= MAX_FULL { without_cr(page, body) } else { String::new() };
    let line = clip(&first_sentence(&brief), MAX_LINE);
    let sections = page.second_scan.cleaned(binding_sections(page));
    (line, Texts { brief: clip(&brief, MAX_BRIEF), sections, full })
}

/// Returns the offset of the text after the title heading.
fn after_title(page: &Page<'_>) -> usize {
    let first =
        page.body.headings.first().filter(|first| {
            first.level == 1 && page.text[page.start..first.start].trim().is_empty()
        });
    first.map_or(page.start, |first| first.after)
}

/// Returns the first prose of the best section that summarises the document.
fn summary_section(page: &Page<'_>) -> Option<String> {
    let ranked = page.body.headings.iter().enumerate().filter_map(|(index, heading)| {
        Some((heading_position(SUMMARY_HEADINGS, &heading.title)?, index))
    });
    let mut ranked: Vec<(usize, usize)> = ranked.collect();
    ranked.sort_unstable();
    ranked.into_iter().find_map(|(_, index)| {
        let range = page.body.section(index);
        first_prose(page, page.body.paragraphs_in(&range))
    })
}

/// Returns a heading without a leading number or a trailing colon.
fn section_name(title: &str) -> &str {
    let title = title.trim().trim_end_matches(':').trim_matches('*');
    let title = title.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.' || c == ')');
    title.trim()
}

/// Returns the index of a heading in a list of names.
pub(super) fn heading_position(names: &[&str], title: &str) -> Option<usize> {
    let title = section_name(title);
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

/// Returns the first paragraph of running text, or the first list items if there is none.
fn first_prose(page: &Page<'_>, paragraphs: &[Paragraph]) -> Option<String> {
    let is_running_text = |paragraph: &&Paragraph| {
        !paragraph.in_list && is_prose(&page.text[paragraph.range.clone()])
    };
    let mut running_text = paragraphs.iter().filter(is_running_text).take(3);
    if let Some(first) = running_text.next() {
        let mut text = plain(&page.text[first.range.clone()]);
        // An introduction such as "We decide:" needs the paragraph after it.
        let is_introduction = text.ends_with(':') || text.len() < 40;
        if let Some(next) = running_text.next().filter(|_| is_introduction) {
            text = format!("{text} {}", plain(&page.text[next.range.clone()]));
        }
        if text.len() > 2 {
            return Some(text);
        }
    }
    // Header fields and checkboxes do not summarise a document.
    let head = page.body.head();
    let is_item = |item: &&Paragraph| {
        let line = page.text[item.range.clone()].lines().next().unwrap_or_default();
        let is_field = head.contains(&item.range.start) && key_and_value(line).is_some();
        item.in_list && !is_field
    };
    let items = paragraphs.iter().filter(is_item);
    let items: Vec<String> = items
        .filter_map(|item| page.text[item.range.clone()].lines().next())
        .map(|line| line.trim_start_matches(['-', '*', '+', ' ', '\t']))
        .filter(|line| !["[ ]", "[x]", "[X]"].iter().any(|checkbox| line.starts_with(checkbox)))
        .map(plain)
        .filter(|text| !text.is_empty())
        .take(3)
        .collect();
    (!items.is_empty()).then(|| items.join("; "))
}

/// Returns true if a paragraph is running text and not a table row, header field, image or markup.
fn is_prose(text: &str) -> bool {
    let text = text.trim();
    let first = text.lines().next().unwrap_or("");
    let is_field = key_and_value(first)
        .is_some_and(|(key, _)| key.split(' ').count() <= 2 && first.starts_with(['*', '_', '-']));
    !text.is_empty()
        && !text.starts_with(['|', '<', '!', '['])
        && !is_field
        && !first.starts_with("Date:")
}

fn binding_sections(page: &Page<'_>) -> String {
    let mut text = String::new();
    for (index, heading) in page.body.headings.iter().enumerate() {
        if text.len() >= MAX_SECTIONS
            || heading_position(BINDING_HEADINGS, &heading.title).is_none()
        {
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
