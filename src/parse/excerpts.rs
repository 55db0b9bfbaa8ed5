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

/// Returns the one-line summary of a document and its longer excerpts.
pub(super) fn excerpts(page: &Page<'_>) -> (String, Texts) {
    let Summary { line, brief } = summary(page);
    let (line, brief) = (page.second_scan.cleaned(line), page.second_scan.cleaned(brief));
    let sections = page.second_scan.cleaned(binding_sections(page));
    (clip(&line, MAX_LINE), Texts { brief: clip(&brief, MAX_BRIEF), sections })
}

/// Returns a heading without a leading number or a trailing colon.
pub(super) fn section_name(title: &str) -> &str {
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
