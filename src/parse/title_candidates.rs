//! Collects the texts that may be the title of a document, and chooses one of them.

use super::Page;
use super::header_fields::strip_tags;
use super::markdown::Heading;
use super::plain_text::plain;
use super::section_names::{is_cover_name, is_placeholder_name, is_section_name, normal_name};
use super::title::is_id;
use crate::model::{HeadingCandidate, TitleCandidates};

/// Number of headings that are considered.
const MAX_HEADINGS: usize = 5;

/// A heading below more running text than this, in bytes, is a section of a document without a
/// title.
const MAX_TEXT_ABOVE: usize = 300;

/// Keys of fields with a short name of the document, which is often a slug.
const NAME_KEYS: &[&str] =
    &["feature name", "feature", "proposal name", "rfc name", "name", "subject"];

/// Collects the candidates of a page.
pub(super) fn candidates(page: &Page<'_>) -> TitleCandidates {
    let value = |keys: &[&str]| {
        let mut fields = page.fields.iter().filter(|field| keys.contains(&field.key.as_str()));
        fields.find_map(|field| Some(clean(&plain(field.items.first()?))).filter(|t| is_title(t)))
    };
    let headings = headings(page);
    TitleCandidates {
        stated: value(&["title", "adr title", "rfc title", "proposal title", "document title"])
            .or_else(|| below_title_heading(page)),
        name: value(NAME_KEYS),
        headings,
    }
}

/// Chooses the title, as written. `slug` is that of the file name, or empty. `is_shared` returns true
/// for the heading of several documents.
pub(super) fn choose<'a>(
    candidates: &'a TitleCandidates,
    slug: &str,
    is_shared: impl Fn(&str) -> bool,
) -> Option<&'a str> {
    let heading = title_heading(&candidates.headings, is_shared);
    let stated = candidates.stated.as_deref();
    let name = candidates.name.as_deref();
    // `my_feature, other_feature` is a list of identifiers; `MAX_SIZE variable` is a title.
    let is_word = |word: &str| !word.contains('_') || !word.contains(char::is_lowercase);
    let is_title = |name: &&str| {
        name.contains(' ')
            && (name.contains('`') || name.split(' ').all(is_word))
            && (shares_word(name, slug) || is_phrase(name))
    };
    let name = name.filter(is_title);
    match (stated, heading) {
        // Of two names without spaces, one may be left from a template.
        (Some(stated), Some(heading))
            if !stated.contains(' ')
                && !heading.contains(' ')
                && !shares_word(stated, slug)
                && shares_word(heading, slug) =>
        {
            Some(heading)
        }
        (Some(stated), Some(heading)) if is_slug(stated) && heading.contains(' ') => Some(heading),
        (Some(stated), _) if !is_slug(stated) => Some(stated),
        (_, Some(heading)) => Some(heading),
        _ => name,
    }
}

/// Returns the first heading that can be a title. A section ends the search unless a heading of a
/// higher level follows; a heading that several documents share does not if nothing is below it.
fn title_heading(headings: &[HeadingCandidate], is_shared: impl Fn(&str) -> bool) -> Option<&str> {
    let mut max_level = u8::MAX;
    let mut id = None;
    for heading in headings.iter().filter(|heading| heading.is_at_top) {
        let text = heading.text.as_str();
        if is_id(text) {
            id = id.or(Some(text));
        } else if is_cover_name(text) {
            continue;
        } else if is_section_name(text) || heading.level > max_level {
            max_level = max_level.min(heading.level.saturating_sub(1));
        } else if is_shared(text) {
            let limit = if heading.is_empty { u8::MAX } else { heading.level - 1 };
            max_level = max_level.min(limit);
        } else {
            return Some(text);
        }
    }
    id
}

/// Returns the first headings of a page that are not code or markup.
fn headings(page: &Page<'_>) -> Vec<HeadingCandidate> {
    let first = page.body.headings.first();
    let mut found = Vec::new();
    let above = page.start..first.map_or(page.text.len(), |first| first.start);
    let in_markup = html_heading(&page.text[above.clone()]);
    if let Some(text) = in_markup.or_else(|| page_command(&page.text[above.clone()])) {
        found.push(HeadingCandidate { text, level: 1, is_empty: false, is_at_top: true });
    }
    let mut max_level = u8::MAX;
    for (index, heading) in page.body.headings.iter().enumerate().take(MAX_HEADINGS) {
        let text = clean(&heading.title);
        // Below a placeholder for the title there are only sections.
        if !is_title(&text) && text.chars().any(char::is_alphanumeric) {
            max_level = max_level.min(heading.level);
        } else if is_title(&text) && heading.level <= max_level {
            let next = page.body.headings.get(index + 1);
            let end = next.map_or(page.text.len(), |next| next.start);
            let below = page.text.get(heading.after..end).unwrap_or_default();
            found.push(HeadingCandidate {
                text,
                level: heading.level,
                is_empty: below.trim().is_empty(),
                is_at_top: is_at_top(page, index, heading),
            });
        }
    }
    if first.is_none()
        && let Some(text) = bold_line(&page.text[above])
    {
        found.push(HeadingCandidate { text, level: 6, is_empty: false, is_at_top: true });
    }
    found
}

/// Returns true if a heading is where titles are: not below running text, and not a small heading
/// that follows other headings.
fn is_at_top(page: &Page<'_>, index: usize, heading: &Heading) -> bool {
    let has_metadata = page.fields.iter().any(|field| field.outside_markdown);
    let is_large = heading.level == 1 || heading.level == 2 && (index == 0 || !has_metadata);
    if !is_large && (heading.start >= page.start + 200 || has_metadata) {
        return false;
    }
    let is_running_text = |text: &str| {
        !text.starts_with(['|', '<', '!', '>', '[', '*', '_', '`'])
            && super::header_fields::key_and_value(text.lines().next().unwrap_or_default())
                .is_none()
    };
    let above = page.body.paragraphs_in(&(page.start..heading.start)).iter();
    let above = above.filter(|paragraph| !paragraph.in_list && !paragraph.in_quote);
    let mut texts = above
        .map(|paragraph| &page.text[paragraph.range.clone()])
        .filter(|text| is_running_text(text));
    let mut n_above = 0;
    !texts.any(|text| {
        n_above += text.len();
        n_above > MAX_TEXT_ABOVE
    })
}

/// Returns the text of the first `<h1>` element.
fn html_heading(html: &str) -> Option<String> {
    let start = memchr::memmem::find(html.as_bytes(), b"<h1")
        .or_else(|| memchr::memmem::find(html.as_bytes(), b"<H1"))?;
    let text = html[start..].split_once('>')?.1;
    let end = text.find("</h1").or_else(|| text.find("</H1"))?;
    Some(clean(&plain(&strip_tags(&text[..end])))).filter(|text| is_title(text))
}

/// Returns the title in the first line of a page for Doxygen: `\page name Title`.
fn page_command(text: &str) -> Option<String> {
    let line = text.trim_start().lines().next()?;
    let command = line.strip_prefix(['\\', '@'])?;
    let title = match command.strip_prefix("mainpage ") {
        Some(title) => title,
        None => command.strip_prefix("page ")?.trim_start().split_once(' ')?.1,
    };
    Some(clean(&plain(title))).filter(|text| is_title(text))
}

/// Returns the first line if all of it is bold.
fn bold_line(text: &str) -> Option<String> {
    let line = text.trim_start().lines().next()?.trim();
    let inner = line.strip_prefix("**")?.strip_suffix("**")?;
    Some(clean(&plain(inner))).filter(|text| is_title(text) && !text.ends_with(':'))
}

/// Returns the line below a heading `Title`.
fn below_title_heading(page: &Page<'_>) -> Option<String> {
    let index = page.body.headings.iter().take(3).position(|heading| {
        matches!(&*normal_name(&heading.title), "title" | "adr title" | "rfc title" | "name")
    })?;
    let next = page.body.headings.get(index + 1).map_or(page.text.len(), |next| next.start);
    let text = page.text.get(page.body.headings[index].after..next)?.trim();
    let mut lines = text.lines();
    let line = lines.next().filter(|_| lines.all(|line| line.trim().is_empty()))?;
    Some(clean(&plain(line))).filter(|text| is_title(text))
}

/// Returns true if a text can be a title: not empty, not a placeholder, not code.
fn is_title(text: &str) -> bool {
    let is_placeholder = text.starts_with(['{', '<', '}', '|', '"'])
        && text.ends_with(['}', '>', '{', '|', ',', '"'])
        && !text[1..].trim_end_matches('"').contains('"')
        || text.starts_with('[') && text.ends_with(']')
        || is_placeholder_name(text);
    let is_code = text.contains("\":") || text.ends_with(['{', ';']);
    text.chars().any(char::is_alphanumeric) && !is_placeholder && !is_code
}

/// Returns true if a name of several words begins like a title. Remarks do not: `stable, it only
/// restricts the language`, `N/A (part of other features)`.
fn is_phrase(name: &str) -> bool {
    let mut chars = name.chars();
    let is_capitalised = chars.next().is_some_and(char::is_uppercase)
        && chars.next().is_some_and(char::is_lowercase);
    is_capitalised && !name.contains('(') && name.split(' ').count() >= 4
}

/// Returns true if a name and the slug of the file have a word in common. A short name without one is
/// often a remark: `not applicable`.
pub(super) fn shares_word(name: &str, slug: &str) -> bool {
    let lower = name.to_lowercase();
    let mut words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 2);
    slug.is_empty() || words.any(|word| slug.split('-').any(|part| part == word))
}

/// Returns true if a text is a slug or an identifier instead of words: `use-of-x`, `my_feature`.
fn is_slug(text: &str) -> bool {
    let text = text.trim_matches('`');
    let is_part = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'_');
    // `Config-Management-Plugin` is one too; `Copy-on-write` may be a title.
    let n_joints = text.bytes().filter(|b| matches!(b, b'-' | b'_')).count();
    text.bytes().all(is_part) || !text.contains(' ') && n_joints >= 3
}

/// Returns the title on one line, with single spaces and without emphasis, emoji codes and trailing
/// `#`.
fn clean(title: &str) -> String {
    let is_emoji_code = |word: &&str| {
        word.len() > 2
            && word.starts_with(':')
            && word.ends_with(':')
            && word.bytes().all(|b| b.is_ascii_lowercase() || matches!(b, b':' | b'_'))
    };
    let words: Vec<&str> = title.split_whitespace().filter(|word| !is_emoji_code(word)).collect();
    let text = words.join(" ");
    let is_sign = |c: char| {
        c == '*'
            || c == ' '
            || matches!(c, '\u{2600}'..='\u{27BF}' | '\u{1F000}'..='\u{1FAFF}' | '\u{FE0F}' | '\u{200D}')
    };
    text.trim_matches(is_sign).trim_end_matches('#').trim().to_string()
}
