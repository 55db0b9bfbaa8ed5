//! Returns the paragraphs and lists of a section as plain sentences.

use super::Page;
use super::header_fields::{key_and_value, without_bullet};
use super::markdown::Paragraph;
use super::plain_text::{first_sentence, plain_within};
use super::summary_sections::SectionKind;
use super::summary_text::{
    has_words, is_about_text, is_introduction, is_metadata, is_noise, join_items, stated_in_lines,
    without_label,
};

/// Minimum number of words in a summary.
pub(super) const MIN_WORDS: usize = 4;

/// Longest line of code in a summary, in bytes.
const MAX_CODE: usize = 80;

/// Number of paragraphs of a section that are read.
pub(super) const MAX_PARAGRAPHS: usize = 40;

/// Returns the running text of a part; if there is none, the first list items or else quotes.
pub(super) fn statements<'a>(
    page: &'a Page<'_>,
    paragraphs: &'a [Paragraph],
) -> impl Iterator<Item = String> + 'a {
    let mut running = running_text(page, paragraphs).peekable();
    let quoted = || paragraphs.iter().filter(|paragraph| !paragraph.in_list && paragraph.in_quote);
    let fallback = match running.peek() {
        Some(_) => None,
        None => {
            let start = paragraphs.iter().position(|paragraph| paragraph.in_list);
            let items = start.map(|start| join_items(item_texts(page, &paragraphs[start..])));
            items
                .filter(|items| has_words(items, MIN_WORDS))
                .or_else(|| quoted().find_map(|paragraph| paragraph_text(page, paragraph)))
        }
    };
    running.chain(fallback)
}

pub(super) fn is_running_text(paragraph: &Paragraph) -> bool {
    !paragraph.in_list && !paragraph.in_quote
}

/// Returns the paragraphs of a part that say something, as plain text. An introduction is joined
/// with the list or the paragraph that it introduces.
fn running_text<'a>(
    page: &'a Page<'_>,
    paragraphs: &'a [Paragraph],
) -> impl Iterator<Item = String> + 'a {
    let indexes = (0..paragraphs.len()).filter(|index| is_running_text(&paragraphs[*index]));
    indexes.take(MAX_PARAGRAPHS).filter_map(move |index| {
        let text = paragraph_text(page, &paragraphs[index])?;
        let is_cut = !text.ends_with(['.', '!', '?', '"', ')', '。'])
            && paragraphs.get(index + 1).is_some_and(|next| next.in_list);
        if !is_introduction(&text) && !is_cut {
            return Some(text);
        }
        if let Some(target) = text.strip_prefix("Moved to ") {
            return Some(format!("This document was moved to {target}"));
        }
        let items = join_items(item_texts(page, &paragraphs[index + 1..]));
        if !items.is_empty() {
            let lead = text.trim_end_matches('.');
            let colon = if lead.len() < text.len() { ":" } else { "" };
            return Some(format!("{lead}{colon} {items}"));
        }
        let next = paragraphs.get(index + 1).filter(|next| is_running_text(next));
        let next = next.and_then(|next| paragraph_text(page, next));
        // `Where:` after an example explains the example.
        let next = next.filter(|next| has_words(next, 3));
        let joined = next.map(|next| format!("{text} {next}")).unwrap_or(text);
        // Code follows. One line of it can end the sentence, and more is no part of it.
        let joined = match (joined.strip_suffix(':'), code_line(page, &paragraphs[index])) {
            (Some(_), Some(code)) => format!("{joined} `{code}`."),
            (Some(text), None) => format!("{text}."),
            (None, _) => joined,
        };
        has_words(&joined, MIN_WORDS).then_some(joined)
    })
}

/// Returns the code right below a paragraph if it is one short line.
fn code_line<'a>(page: &'a Page<'_>, paragraph: &Paragraph) -> Option<&'a str> {
    let blocks = &page.body.code_blocks;
    let block = blocks.get(blocks.partition_point(|code| code.start < paragraph.range.end))?;
    let gap = page.text.get(paragraph.range.end..block.start)?;
    let code = page.text[block.clone()].lines().map(str::trim);
    let mut code = code.filter(|line| !line.is_empty() && !line.starts_with("```"));
    let line = code.next().filter(|line| line.len() <= MAX_CODE && !line.contains('`'))?;
    (gap.trim().is_empty() && code.next().is_none()).then_some(line)
}

/// Returns the plain text of a paragraph, unless it is markup, metadata or a notice. Of several
/// header fields, one that summarises the document counts: `**Question:** …`.
pub(super) fn paragraph_text(page: &Page<'_>, paragraph: &Paragraph) -> Option<String> {
    let raw = page.text[paragraph.range.clone()].trim();
    let is_markup = raw.starts_with(['|', '<', '!']) || raw.starts_with("[!");
    let heading = page.body.heading_of(paragraph.range.start);
    let is_skipped = heading
        .is_some_and(|index| SectionKind::of(&page.body.headings[index]) == SectionKind::Skipped);
    if is_markup || is_skipped {
        return None;
    }
    if let Some(value) = stated_in_lines(raw) {
        return Some(plain_within(page.text, &value)).filter(|text| has_words(text, MIN_WORDS));
    }
    if is_metadata(raw) {
        return None;
    }
    let text = plain_within(page.text, raw);
    let mut text = without_label(&text);
    // The first sentences may be about the text itself.
    while has_words(text, 1) {
        let sentence = first_sentence(text);
        if !is_about_text(&sentence) {
            break;
        }
        text = text[sentence.len()..].trim_start();
    }
    (!is_noise(text)).then(|| text.to_string())
}

/// Returns the texts of the list items at the start of a part, without header fields and
/// checkboxes.
pub(super) fn item_texts<'a>(
    page: &'a Page<'_>,
    paragraphs: &'a [Paragraph],
) -> impl Iterator<Item = String> {
    let items = paragraphs.iter().take_while(|paragraph| paragraph.in_list);
    let head = page.head.clone();
    items.filter_map(move |item| {
        let raw = &page.text[item.range.clone()];
        // Loose items contain paragraphs of their own, which repeat the text.
        let text = without_bullet(raw.trim_end());
        if text.len() == raw.trim().len() {
            return None;
        }
        let is_nested = |line: &str| line.is_empty() || without_bullet(line).len() < line.len();
        let mut lines = text.lines().map(str::trim);
        let first = lines.next().unwrap_or_default();
        let is_field = head.contains(&item.range.start) && key_and_value(first).is_some();
        if is_field || first.starts_with("[ ]") || first.starts_with("[x]") || is_metadata(first) {
            return None;
        }
        // An item of a table of contents is a link to a section.
        let is_link = first.starts_with('[') && first.ends_with(')');
        if is_link && first.contains('#') && !first.contains("://") {
            return None;
        }
        let more: Vec<&str> = lines.take_while(|line| !is_nested(line)).collect();
        let text = format!("{first} {}", more.join(" "));
        Some(plain_within(page.text, text.trim())).filter(|text| !text.is_empty())
    })
}
