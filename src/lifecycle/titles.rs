//! Titles: what a user may type, the slug of a title, and the title in a document.

use crate::model::hidden_chars;
use crate::model::uri::slugify;
use crate::model::{Document, Facts, Number};
use crate::parse;

/// Maximum length of a title in bytes. A file name with it fits into 255 bytes.
const MAX_TITLE: usize = 300;

/// Maximum length of a slug in bytes.
const MAX_SLUG: usize = 80;

/// Number of lines at the top that can have the title.
const MAX_LINES: usize = 80;

/// Checks a title that a user or an agent typed, and removes spaces around it.
pub(super) fn clean(title: &str) -> Result<String, String> {
    let title = title.trim();
    let hint = "hint: a title is one line of plain text";
    if title.is_empty() {
        return Err(format!("the title is empty\n{hint}"));
    }
    if title.len() > MAX_TITLE {
        return Err(format!("the title has more than {MAX_TITLE} bytes\n{hint}"));
    }
    if title.contains(['\n', '\r', '\u{2028}', '\u{2029}']) {
        return Err(format!("the title has a line break\n{hint}"));
    }
    if title.chars().any(char::is_control) || !hidden_chars::hidden_in(title).is_empty() {
        return Err(format!("the title has hidden characters\n{hint}"));
    }
    Ok(title.to_string())
}

/// Returns the slug of a title, cut at a word. A title without letters or digits has none.
pub(super) fn slug(title: &str) -> Result<String, String> {
    let slug = slugify(title);
    if !slug.chars().any(char::is_alphanumeric) {
        return Err("the title has no letter or digit\nhint: a file is named after it".to_string());
    }
    if slug.len() <= MAX_SLUG {
        return Ok(slug);
    }
    let mut end = MAX_SLUG;
    while !slug.is_char_boundary(end) {
        end -= 1;
    }
    let cut = &slug[..end];
    Ok(cut.rsplit_once('-').map_or(cut, |(words, _)| words).to_string())
}

/// Returns a text with another title and number in its metadata and in its first heading. `None` if
/// the result does not have them.
pub(super) fn changed(
    text: &str,
    document: &Document,
    title: Option<&str>,
    number: Option<u64>,
    facts: &dyn Fn(&str) -> Facts,
) -> Option<String> {
    let mut result = String::with_capacity(text.len());
    let mut n_headings = 0;
    for (index, line) in text.split_inclusive('\n').enumerate() {
        let bare = line.trim_start_matches('\u{feff}');
        let is_heading = bare.starts_with("# ") || bare.starts_with("#\t");
        n_headings += usize::from(is_heading);
        let is_field = parse::key_and_value(bare).is_some_and(|(key, _)| {
            matches!(key.as_str(), "title" | "number" | "id" | "rfc" | "adr")
        });
        let names_document = is_heading && n_headings == 1 || is_field;
        match index < MAX_LINES && names_document {
            true => result += &changed_line(line, document, title, number),
            false => result += line,
        }
    }
    let is_stated = title.is_none_or(|title| {
        let titles = facts(&result).titles;
        let headings = titles.headings.iter().map(|heading| heading.text.as_str());
        let mut stated = titles.stated.iter().map(String::as_str).chain(headings);
        result == text && !text.contains(&document.title)
            || stated.any(|stated| stated.contains(title))
    });
    is_stated.then_some(result)
}

fn changed_line(
    line: &str,
    document: &Document,
    title: Option<&str>,
    number: Option<u64>,
) -> String {
    let mut line = line.to_string();
    if let Some(number) = number
        && let Some(range) = number_range(&line, document)
    {
        let width = range.len();
        line.replace_range(range, &format!("{number:0width$}"));
    }
    if let Some(title) = title
        && let Some(at) = line.find(&document.title)
    {
        line.replace_range(at..at + document.title.len(), title);
    }
    line
}

/// Returns the first run of digits in a line that is the number of a document.
fn number_range(line: &str, document: &Document) -> Option<std::ops::Range<usize>> {
    let number = document.number.as_ref()?;
    let mut at = 0;
    for piece in line.split_inclusive(|c: char| !c.is_ascii_digit()) {
        let digits = piece.trim_end_matches(|c: char| !c.is_ascii_digit());
        if !digits.is_empty() && Number::new(digits).as_ref() == Some(number) {
            return Some(at..at + digits.len());
        }
        at += piece.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_one_line_without_hidden_characters() {
        assert_eq!(clean(" Use X ").as_deref(), Ok("Use X"));
        for bad in ["", " ", "a\nb", "a\rb", "a\u{202e}b", "a\u{0}b", "a\u{2028}b"] {
            assert!(clean(bad).is_err(), "{bad:?}");
        }
        assert!(clean(&"x".repeat(MAX_TITLE + 1)).is_err());
    }

    #[test]
    fn a_slug_never_leaves_its_folder_and_is_never_empty() {
        assert_eq!(slug("../../etc/passwd").as_deref(), Ok("etc-passwd"));
        assert!(slug("🎉🎉").is_err());
        assert!(slug("///").is_err());
        assert!(slug(&"long word ".repeat(29)).is_ok_and(|slug| slug.len() <= MAX_SLUG));
        assert_eq!(slug("Überblick").as_deref(), Ok("überblick"));
    }
}
