//! Splits a document into paragraphs, list items, table rows and code blocks.

use std::ops::Range;

use super::Page;
use super::plain_text::plain_within;
use super::section_names::normal_name;
use super::summary_text::is_metadata;
use crate::model::byte_scan::prefix;
use crate::model::escape::escape_except;
use crate::model::{BlockSection, TextBlock, TextBlocks};

/// Maximum length of a code block in bytes; the rest is cut.
const MAX_CODE: usize = 1_024;

/// Maximum number of blocks of a document.
const MAX_BLOCKS: usize = 20_000;

/// Returns the blocks of a page. Header fields and the title are not among them.
pub(super) fn blocks(page: &Page<'_>) -> TextBlocks {
    let head = page.head.clone();
    let shown = |text: String| {
        let text = page.second_scan.cleaned(text);
        escape_except(&text, page.second_scan.allowed_characters()).into_owned()
    };
    let sections = page.body.headings.iter().map(|heading| BlockSection {
        level: heading.level,
        name: heading.english.map_or_else(|| normal_name(&heading.title).into(), str::to_string),
        title: shown(heading.title.clone()),
    });
    let mut blocks = Vec::new();
    for part in parts(page) {
        let raw = page.text[part.range.clone()].trim_end();
        let in_head = head.contains(&part.range.start);
        if raw.is_empty() || blocks.len() >= MAX_BLOCKS || in_head && is_metadata(raw.trim()) {
            continue;
        }
        let text = match part.is_code {
            true => code(raw),
            false => format!("{}{}", item_number(raw, &part), plain_within(page.text, raw)),
        };
        if text.chars().any(char::is_alphanumeric) {
            blocks.push(TextBlock {
                line: page.lines.line(part.range.start),
                section: page.body.heading_of(part.range.start),
                text: shown(text),
                is_item: part.is_item,
                is_code: part.is_code,
            });
        }
    }
    TextBlocks { sections: sections.collect(), blocks }
}

/// Returns the number of an item in a numbered list, which texts refer to: `2. `
fn item_number<'a>(raw: &'a str, part: &BodyPart) -> &'a str {
    let n_digits = raw.bytes().take_while(u8::is_ascii_digit).count();
    let is_number = part.is_item && n_digits > 0 && raw[n_digits..].starts_with(". ");
    if is_number { &raw[..n_digits + 2] } else { "" }
}

/// A part of the body.
struct BodyPart {
    range: Range<usize>,
    is_item: bool,
    is_code: bool,
}

/// Returns the parts of the body, in order and without overlaps.
fn parts(page: &Page<'_>) -> Vec<BodyPart> {
    let code = page.body.code_blocks.iter();
    let code = code.map(|range| BodyPart { range: range.clone(), is_item: false, is_code: true });
    let paragraphs = page.body.paragraphs.iter().map(|paragraph| BodyPart {
        range: paragraph.range.clone(),
        is_item: paragraph.in_list,
        is_code: false,
    });
    let mut all: Vec<BodyPart> = paragraphs.chain(code).collect();
    all.sort_by_key(|part| (part.range.start, std::cmp::Reverse(part.range.end)));
    // An item ends where the first part inside it begins.
    for i in 1..all.len() {
        let start = all[i].range.start;
        let before = &mut all[i - 1].range;
        before.end = before.end.min(start);
    }
    all.into_iter().flat_map(|part| rows(page.text, part)).collect()
}

/// Splits a table into its rows. Other parts stay whole.
fn rows(text: &str, part: BodyPart) -> Vec<BodyPart> {
    let raw = &text[part.range.clone()];
    if part.is_code || !raw.trim_start().starts_with('|') {
        return vec![part];
    }
    let mut start = part.range.start;
    let lines = raw.split_inclusive('\n').map(|line| {
        let range = start..start + line.len();
        start = range.end;
        BodyPart { range, is_item: true, is_code: false }
    });
    lines.collect()
}

/// Returns the lines of a code block without its fences.
fn code(raw: &str) -> String {
    let is_fence = |line: &str| ["```", "~~~"].iter().any(|fence| line.starts_with(fence));
    let lines = raw.lines().filter(|line| !is_fence(line.trim_start()));
    let text = lines.collect::<Vec<&str>>().join("\n");
    prefix(&text, MAX_CODE).to_string()
}
