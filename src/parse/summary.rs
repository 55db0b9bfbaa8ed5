//! Chooses the sentence that says what a document decides, and the paragraph around it.

use std::cmp::Reverse;
use std::ops::Range;
use std::sync::LazyLock;

use super::Page;
use super::decisive::{Decisiveness, decisiveness, is_dependent, is_problem, is_situation};
use super::markdown::Paragraph;
use super::options;
use super::plain_text::{first_sentence, plain_within};
use super::prose::{
    MAX_PARAGRAPHS, MIN_WORDS, is_running_text, item_texts, paragraph_text, statements,
};
use super::summary_sections::SectionKind;
use super::summary_text::{has_words, is_noise, join_items};
use super::title_candidates;
use crate::model::word::stems;
use crate::model::{rules, status_words};

/// The summary of a document. Both texts are empty if it has no prose.
#[derive(Default)]
pub(super) struct Summary {
    /// One sentence.
    pub(super) line: String,
    /// The paragraph that starts with the sentence.
    pub(super) brief: String,
}

/// Keys of header fields in which authors summarise a document.
static SUMMARY_KEYS: LazyLock<Vec<&str>> =
    LazyLock::new(|| rules::entries(include_str!("rules/summary_keys.txt")).collect());

/// Points for a sentence that states a decision or a proposal, for one that asks for something, and
/// for one that may be a decision.
const STATED: i32 = 35;
const IMPERATIVE: i32 = 30;
const LIKELY: i32 = 25;

/// Points for a sentence with all terms of the title.
const TITLE: i32 = 10;

/// Maximum points for the words of a sentence.
const MAX_FOR_WORDS: i32 = STATED + TITLE;

/// Points for a sentence that has no other terms than the title.
const REPEATED_TITLE: i32 = -25;

/// Points for a sentence about the situation before the decision.
const SITUATION: i32 = -5;

/// Points for a sentence that depends on the one before it.
const DEPENDENT: i32 = -8;

/// Points for each paragraph and each sentence before the sentence in its section, and for each
/// heading before the section, up to a number of them.
const PARAGRAPH: (i32, usize) = (-6, 3);
const SENTENCE: (i32, usize) = (-5, 4);
const HEADING: (i32, usize) = (-2, 10);

/// Number of headings after which sections with other names are not searched, and number of sections
/// that are searched. The time to read them is the same for every length of a document.
const MAX_OTHER: usize = 8;
const MAX_SECTIONS: usize = 16;

/// Number of headings among which the effect of a decision is searched.
const MAX_EFFECTS: usize = 64;

/// Maximum number of terms of a title and of a sentence that are compared.
const MAX_TERMS: usize = 64;

/// Returns the summary of a page: what its author wrote as one, or else the sentence with the most
/// points.
///
/// The points were chosen by reading the summaries that changed in 16 document trees. They are
/// rounded: nearby values choose equally well. ADR 0032 has the numbers.
pub(super) fn summary(page: &Page<'_>) -> Summary {
    let summary = stated(page)
        .or_else(|| best_sentence(page))
        .or_else(|| statements(page, &page.body.paragraphs).next().map(from_text))
        .or_else(|| short_statement(page, &page.body.paragraphs).map(from_text))
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
    let mut parts =
        parts(&text).filter(|part| decisiveness(&first_sentence(part)) != Decisiveness::None);
    let part = parts.find(|part| has_words(&first_sentence(part), MIN_WORDS + 2));
    Some(from_text(part.unwrap_or(&text).to_string()))
}

/// Returns a text from its first sentence on, from its second one on, and so on.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    let all = Some(text).filter(|text| has_words(text, 1));
    std::iter::successors(all, |text| {
        let rest = text[first_sentence(text).len()..].trim_start();
        has_words(rest, MIN_WORDS).then_some(rest)
    })
}

/// Returns the sentence of a page with the most points. Of equal ones, the one in the better place
/// counts.
fn best_sentence(page: &Page<'_>) -> Option<Summary> {
    let titles = title_candidates::candidates(page);
    let title = title_candidates::choose(&titles, "", |_| false);
    let title = stems(title.unwrap_or_default(), MAX_TERMS);
    let mut best: Option<(i32, Summary)> = None;
    for section in sections(page) {
        let n_points =
            |best: &Option<(i32, Summary)>| best.as_ref().map_or(i32::MIN, |best| best.0);
        // Most sentences are in a place where no words make them the best.
        if section.points + MAX_FOR_WORDS <= n_points(&best) {
            break;
        }
        for (points, text) in candidates(page, &section) {
            if points + MAX_FOR_WORDS <= n_points(&best) {
                continue;
            }
            let summary = beyond_title(from_text(text), &title);
            let points = points + points_of_text(&summary.line, &title, section.kind);
            if points > n_points(&best) {
                best = Some((points, summary));
            }
        }
    }
    best.map(|(_, summary)| summary)
}

/// Joins a sentence that repeats the title with the next one of its paragraph.
fn beyond_title(summary: Summary, title: &[u32]) -> Summary {
    if !repeats(&stems(&summary.line, MAX_TERMS), title) {
        return summary;
    }
    let rest = summary.brief[summary.line.len()..].trim_start();
    let end = summary.brief.len() - rest.len() + first_sentence(rest).len();
    Summary { line: summary.brief[..end].to_string(), brief: summary.brief }
}

/// Returns true if all terms of a sentence are in the title.
fn repeats(terms: &[u32], title: &[u32]) -> bool {
    terms.iter().all(|term| title.contains(term))
}

/// A part of a page in which the summary is searched.
struct SearchedSection<'a> {
    kind: SectionKind,
    /// Points of its first sentence.
    points: i32,
    paragraphs: &'a [Paragraph],
}

/// Returns the sections in which the summary is searched, best first: the text under the title,
/// sections whose names promise a summary, and the first ones of those with other names.
fn sections<'a>(page: &'a Page<'_>) -> Vec<SearchedSection<'a>> {
    let body = &page.body;
    let section = |kind: SectionKind, n_headings_before, range| {
        let n_headings = if kind == SectionKind::Decision { 0 } else { n_headings_before };
        let points = kind.points() + points(HEADING, n_headings);
        SearchedSection { kind, points, paragraphs: body.paragraphs_in(&range) }
    };
    let mut sections = vec![section(SectionKind::Opening, 0, page.head.clone())];
    for (index, heading) in body.headings.iter().enumerate() {
        let kind = SectionKind::of(heading);
        let is_named = !matches!(kind, SectionKind::Other | SectionKind::Effect);
        let is_far = index >= MAX_OTHER || page.head.contains(&heading.start);
        if kind == SectionKind::Skipped || !is_named && is_far {
            continue;
        }
        if sections.len() == MAX_SECTIONS {
            break;
        }
        let range = if is_named { body.section(index) } else { above_next(page, index) };
        sections.push(section(kind, index + 1, range));
    }
    sections.sort_by_key(|section| Reverse(section.points));
    sections
}

/// Returns the text between a heading and the next one.
fn above_next(page: &Page<'_>, index: usize) -> Range<usize> {
    let next = page.body.headings.get(index + 1);
    page.body.headings[index].after..next.map_or(page.text.len(), |next| next.start)
}

/// Returns the texts of a section from each of its sentences on, with the points for their places.
fn candidates(page: &Page<'_>, section: &SearchedSection<'_>) -> Vec<(i32, String)> {
    let SearchedSection { kind, points: place, paragraphs } = *section;
    let is_decision_section = kind == SectionKind::Decision;
    let (max_paragraphs, max_sentences) = match kind {
        SectionKind::Other | SectionKind::Effect => (1, 2),
        _ => (PARAGRAPH.1 + 1, SENTENCE.1 + 1),
    };
    let mut texts = Vec::new();
    if paragraphs.first().is_some_and(|first| first.in_list && !first.in_quote) {
        let items = join_items(item_texts(page, paragraphs));
        texts.extend(Some(items).filter(|items| has_words(items, MIN_WORDS)));
    }
    texts.extend(statements(page, paragraphs).take(max_paragraphs));
    if is_decision_section && texts.is_empty() {
        texts.extend(short_decision(page, paragraphs));
    }
    let sentences = texts.iter().take(max_paragraphs).enumerate().flat_map(|(n_before, text)| {
        let place = place + points(PARAGRAPH, n_before);
        // A few words before a sentence say something only if they can be the decision.
        let is_short = |part: &str| !has_words(&first_sentence(part), MIN_WORDS);
        let parts = parts(text).take(max_sentences).enumerate();
        let parts = parts.filter(move |(_, part)| is_decision_section || !is_short(part));
        parts.map(move |(n, part)| (place + points(SENTENCE, n), part.to_string()))
    });
    sentences.collect()
}

fn points((each, max): (i32, usize), n: usize) -> i32 {
    each * n.min(max) as i32
}

/// Returns the points for the words of a sentence.
fn points_of_text(sentence: &str, title: &[u32], kind: SectionKind) -> i32 {
    let terms = stems(sentence, MAX_TERMS);
    let n_shared = title.iter().filter(|term| terms.contains(term)).count();
    let is_situation =
        is_situation(sentence) || kind != SectionKind::Decision && is_problem(sentence);
    let decision = match decisiveness(sentence) {
        Decisiveness::Stated => STATED,
        Decisiveness::Imperative => IMPERATIVE,
        Decisiveness::Likely => LIKELY,
        Decisiveness::None if is_situation => SITUATION,
        Decisiveness::None => kind.points_of_statement(),
    };
    let dependent = if is_dependent(sentence) { DEPENDENT } else { 0 };
    let repeated = if repeats(&terms, title) { REPEATED_TITLE } else { 0 };
    decision + dependent + repeated + TITLE * n_shared as i32 / title.len().max(1) as i32
}

/// Returns a decision of too few words for a summary, such as `Use Kafka.`, with the sentence about
/// its consequences.
fn short_decision(page: &Page<'_>, paragraphs: &[Paragraph]) -> Option<String> {
    let short = short_statement(page, paragraphs)?;
    if status_words::parse(&short).is_some() {
        return None;
    }
    let statement = |is_meant: fn(SectionKind) -> bool| {
        let headings = page.body.headings.iter().enumerate().take(MAX_EFFECTS);
        let mut meant = headings.filter(|(_, heading)| is_meant(SectionKind::of(heading)));
        meant.find_map(|(index, _)| {
            statements(page, page.body.paragraphs_in(&above_next(page, index))).next()
        })
    };
    let effect = statement(|kind| kind == SectionKind::Effect)
        .or_else(|| statement(|kind| kind == SectionKind::Other));
    let end = if short.ends_with(['.', '!', '?']) { "" } else { "." };
    Some(effect.map_or(short.clone(), |effect| format!("{short}{end} {effect}")))
}

/// Returns the first paragraph of a part that has too few words for a summary, for a document that
/// says no more.
fn short_statement(page: &Page<'_>, paragraphs: &[Paragraph]) -> Option<String> {
    let running = paragraphs.iter().filter(|paragraph| is_running_text(paragraph));
    let mut texts =
        running.take(MAX_PARAGRAPHS).filter_map(|paragraph| paragraph_text(page, paragraph));
    texts.find(|text| has_words(text, 1))
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
