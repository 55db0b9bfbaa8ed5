//! Chooses the sentence that says what a document decides, and the paragraph around it.

use super::Page;
use super::decisive::{is_choice, is_context, is_decision};
use super::excerpts::heading_position;
use super::header_fields::{key_and_value, without_bullet};
use super::markdown::Paragraph;
use super::options;
use super::plain_text::{first_sentence, plain_within};
use super::summary_headings::{
    CONSEQUENCE_HEADINGS, CONTEXT_HEADINGS, DECISION_HEADINGS, PROPOSAL_HEADINGS, SKIPPED_HEADINGS,
    SUMMARY_HEADINGS,
};
use super::summary_text::{
    has_words, is_about_text, is_introduction, is_metadata, is_noise, join_items, stated_in_lines,
    without_label,
};
use crate::model::status_words;

/// The summary of a document. Both texts are empty if it has no prose.
#[derive(Default)]
pub(super) struct Summary {
    /// One sentence.
    pub(super) line: String,
    /// The paragraph that starts with the sentence.
    pub(super) brief: String,
}

/// Keys of header fields in which authors summarise a document.
const SUMMARY_KEYS: &[&str] =
    &["summary", "abstract", "description", "tldr", "tl;dr", "synopsis", "short description"];

/// Minimum number of words in a summary.
const MIN_WORDS: usize = 4;

/// Longest line of code in a summary, in bytes.
const MAX_CODE: usize = 80;

/// Number of statements of a section among which a proposal is searched, and of paragraphs among
/// which statements are.
const MAX_PARAGRAPHS: usize = 3;
const MAX_SEARCHED: usize = 40;

/// Returns the summary of a page: what its author wrote as one, or else the first good sentence of
/// the section that is most likely to state the decision.
pub(super) fn summary(page: &Page<'_>) -> Summary {
    let sections = |names: &'static [&'static str]| sections(page, names);
    let summary = stated(page)
        .or_else(|| sections(SUMMARY_HEADINGS).find_map(|part| decision(page, part)))
        // An abstract often starts with the context.
        .or_else(|| {
            let mut parts = sections(&["abstract"]);
            parts.find_map(|part| proposal(page, part).or_else(|| first_statement(page, part)))
        })
        .or_else(|| sections(DECISION_HEADINGS).find_map(|part| decision(page, part)))
        .or_else(|| short_decision(page))
        // A summary that only describes the situation is better than nothing.
        .or_else(|| {
            let mut parts = sections(SUMMARY_HEADINGS).chain(sections(DECISION_HEADINGS));
            let first = parts.find_map(|part| first_statement(page, part))?;
            let mut proposals = sections(&PROPOSAL_HEADINGS[3..]);
            proposals.find_map(|part| proposal(page, part)).or(Some(first))
        })
        .or_else(|| {
            let head = page.body.paragraphs_in(&page.head);
            let parts = std::iter::once(head).chain(sections(PROPOSAL_HEADINGS));
            let first = |part| first_statement(page, part);
            parts
                .clone()
                .find_map(|part| proposal(page, part))
                .or_else(|| sections(&PROPOSAL_HEADINGS[3..]).find_map(first))
                .or_else(|| sections(CONTEXT_HEADINGS).find_map(|part| proposal(page, part)))
                .or_else(|| parts.chain(sections(CONTEXT_HEADINGS)).find_map(first))
        })
        .or_else(|| {
            let mut parts = sections(SUMMARY_HEADINGS).chain(sections(DECISION_HEADINGS));
            parts.find_map(|part| short_statement(page, part))
        })
        .or_else(|| first_statement(page, &page.body.paragraphs))
        .or_else(|| short_statement(page, &page.body.paragraphs))
        .unwrap_or_default();
    options::with_names(page, summary)
}

/// Returns the summary in a header field.
fn stated(page: &Page<'_>) -> Option<Summary> {
    let fields = SUMMARY_KEYS.iter().flat_map(|key| {
        page.fields.iter().filter(move |field| field.key == *key).map(|field| field.items.join(" "))
    });
    let texts = fields.map(|text| plain_within(page.text, &text));
    let mut texts = texts.filter(|text| has_words(text, MIN_WORDS) && !is_noise(text));
    let text = texts.next()?;
    // A field of several sentences may start with the situation.
    let part = part_from(&text, is_decision);
    let part = part.filter(|part| has_words(&first_sentence(part), MIN_WORDS + 2));
    Some(from_text(part.unwrap_or(&text).to_string()))
}

/// Returns a text from its first sentence of a kind.
fn part_from(text: &str, is_meant: fn(&str) -> bool) -> Option<&str> {
    let mut rest = text;
    while has_words(rest, MIN_WORDS) {
        let sentence = first_sentence(rest);
        if is_meant(&sentence) {
            return Some(rest);
        }
        rest = rest[sentence.len()..].trim_start();
    }
    None
}

/// Returns the paragraphs of the sections with the given names, in the order of the names.
fn sections<'a>(
    page: &'a Page<'_>,
    names: &'static [&'static str],
) -> impl Iterator<Item = &'a [Paragraph]> + Clone {
    let headings = page.body.headings.iter().enumerate();
    let mut ranked: Vec<(usize, usize)> = headings
        .filter_map(|(index, heading)| Some((heading_position(names, heading)?, index)))
        .collect();
    ranked.sort_unstable();
    let ranges = ranked.into_iter().map(|(_, index)| page.body.section(index));
    ranges.map(|range| page.body.paragraphs_in(&range))
}

/// Returns the first sentence of a part, or one that states the decision if the first one describes
/// the situation before it; `None` if none does. A list at the start of the part comes before the text below it.
fn decision(page: &Page<'_>, paragraphs: &[Paragraph]) -> Option<Summary> {
    if paragraphs.first().is_some_and(|first| first.in_list && !first.in_quote) {
        let items = || join_items(item_texts(page, paragraphs));
        let listed = || Some(items()).filter(|items| has_words(items, MIN_WORDS)).map(from_text);
        let found = proposal(page, paragraphs).or_else(listed);
        return found.or_else(|| first_statement(page, paragraphs));
    }
    let first = first_statement(page, paragraphs)?;
    if is_decision(&first.line) {
        return Some(first);
    }
    // The reasons may come before the choice: "We have therefore settled on D3."
    let choice = || sentence(page, paragraphs, MAX_SEARCHED, is_choice);
    match is_context(&first.line) {
        true => proposal(page, paragraphs).or_else(choice),
        false => choice().or(Some(first)),
    }
}

/// Returns a decision of too few words for a summary, such as `Use Kafka.`, with the sentence about
/// its consequences.
fn short_decision(page: &Page<'_>) -> Option<Summary> {
    let short = sections(page, DECISION_HEADINGS).find_map(|part| short_statement(page, part))?;
    let is_status = || status_words::parse(&short.line).is_some();
    let more = sections(page, CONSEQUENCE_HEADINGS).find_map(|part| first_statement(page, part))?;
    let end = if short.brief.ends_with(['.', '!', '?']) { "" } else { "." };
    (!is_status()).then(|| from_text(format!("{}{end} {}", short.brief, more.brief)))
}

/// Returns the first sentence of a part that is a statement of its own.
fn first_statement(page: &Page<'_>, paragraphs: &[Paragraph]) -> Option<Summary> {
    statements(page, paragraphs).next().map(from_text)
}

/// Returns the first paragraph of a part that has too few words for a summary, for a document that
/// says no more.
fn short_statement(page: &Page<'_>, paragraphs: &[Paragraph]) -> Option<Summary> {
    let running = paragraphs.iter().filter(|paragraph| is_running_text(paragraph));
    let texts = running.take(MAX_SEARCHED).filter_map(|paragraph| paragraph_text(page, paragraph));
    texts.filter(|text| has_words(text, 1)).map(from_text).next()
}

/// Returns the first sentence of a part that proposes something.
fn proposal(page: &Page<'_>, paragraphs: &[Paragraph]) -> Option<Summary> {
    sentence(page, paragraphs, MAX_PARAGRAPHS, is_decision)
}

/// Returns the first sentence of a kind in the first paragraphs of a part.
fn sentence(
    page: &Page<'_>,
    paragraphs: &[Paragraph],
    max_paragraphs: usize,
    is_meant: fn(&str) -> bool,
) -> Option<Summary> {
    let mut texts = running_text(page, paragraphs).take(max_paragraphs);
    texts.find_map(|text| Some(from_text(part_from(&text, is_meant)?.to_string())))
}

/// Takes the first sentence of a text. A sentence of fewer words than a summary needs is joined with
/// the next one.
fn from_text(text: String) -> Summary {
    let mut end = first_sentence(&text).len();
    while end < text.len() && !has_words(&text[..end], MIN_WORDS) {
        let rest = text[end..].trim_start();
        end = text.len() - rest.len() + first_sentence(rest).len();
    }
    Summary { line: text[..end].to_string(), brief: text }
}

/// Returns the running text of a part; if there is none, the first list items or else quotes.
fn statements<'a>(
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

fn is_running_text(paragraph: &Paragraph) -> bool {
    !paragraph.in_list && !paragraph.in_quote
}

/// Returns the paragraphs of a part that say something, as plain text. An introduction is joined
/// with the list or the paragraph that it introduces.
fn running_text<'a>(
    page: &'a Page<'_>,
    paragraphs: &'a [Paragraph],
) -> impl Iterator<Item = String> + 'a {
    let indexes = (0..paragraphs.len()).filter(|index| is_running_text(&paragraphs[*index]));
    indexes.take(MAX_SEARCHED).filter_map(move |index| {
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
fn paragraph_text(page: &Page<'_>, paragraph: &Paragraph) -> Option<String> {
    let raw = page.text[paragraph.range.clone()].trim();
    let is_markup = raw.starts_with(['|', '<', '!']) || raw.starts_with("[!");
    let heading = page.body.heading_of(paragraph.range.start);
    let is_skipped = heading.is_some_and(|index| {
        heading_position(SKIPPED_HEADINGS, &page.body.headings[index]).is_some()
    });
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
fn item_texts<'a>(page: &'a Page<'_>, paragraphs: &'a [Paragraph]) -> impl Iterator<Item = String> {
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
