//! Names the options that a decision refers to by their numbers.

use super::Page;
use super::header_fields::without_bullet;
use super::plain_text::{first_sentence, plain_within};
use super::summary::Summary;
use super::summary_text::has_words;

/// Maximum number of list items among which an option is searched.
const MAX_ITEMS: usize = 80;

/// Adds the names of the options that a summary refers to: `Option 2 is chosen.` says only a number.
pub(super) fn with_names(page: &Page<'_>, summary: Summary) -> Summary {
    let labels = option_labels(&summary.line);
    let names = labels.iter().filter_map(|label| option_name(page, label));
    let names = names.filter(|name| !summary.line.contains(name.as_str()));
    let names: Vec<String> = names.collect();
    if names.is_empty() {
        return summary;
    }
    let line = format!("{} ({}).", summary.line.trim_end_matches(['.', ' ']), names.join("; "));
    Summary { brief: format!("{line}{}", &summary.brief[summary.line.len()..]), line }
}

/// Returns the text after the label of an option in a list or a heading. The last one counts, because
/// options are often listed first and then described.
fn option_name(page: &Page<'_>, label: &str) -> Option<String> {
    let headings = page.body.headings.iter().map(|heading| heading.title.as_str());
    let items = page.body.paragraphs.iter().filter(|paragraph| paragraph.in_list);
    let items = items.map(|item| without_bullet(page.text[item.range.clone()].trim()));
    let names = items.take(MAX_ITEMS).chain(headings).filter_map(|text| {
        let title = first_sentence(&plain_within(page.text, text));
        let rest = title.get(label.len()..)?;
        let is_label = title.get(..label.len())?.eq_ignore_ascii_case(label);
        let name = rest.trim_start_matches([' ', ':', '-', '–', '—', '.', ')', '(']);
        let ends = rest.starts_with(|c: char| !c.is_alphanumeric());
        let name = name.trim_end_matches('.');
        (is_label && ends && has_words(name, 2)).then(|| name.to_string())
    });
    names.last().or_else(|| numbered_option(page, label))
}

/// Returns the n-th item of the list of options, for a list whose items have no labels.
fn numbered_option(page: &Page<'_>, label: &str) -> Option<String> {
    let number: usize = label.rsplit(' ').next()?.parse().ok()?;
    let is_options = |title: &str| {
        let name = title.trim().to_lowercase();
        name.starts_with("considered options") || name.starts_with("options considered")
    };
    let index = page.body.headings.iter().position(|heading| is_options(&heading.title))?;
    let items = page.body.paragraphs_in(&page.body.section(index)).iter();
    let items = items.filter(|item| {
        // Nested items are indented, and loose items contain paragraphs without a bullet.
        let at_line_start = page.text[..item.range.start].ends_with('\n');
        let text = &page.text[item.range.clone()];
        item.in_list && at_line_start && without_bullet(text).len() < text.len()
    });
    let text = without_bullet(&page.text[items.clone().nth(number.checked_sub(1)?)?.range.clone()]);
    let name = first_sentence(&plain_within(page.text, text.lines().next()?));
    let name = name.trim_end_matches(['.', ':']);
    has_words(name, 2).then(|| name.to_string())
}

/// Returns the labels of the options that a short sentence names by their numbers: `Option 2`.
fn option_labels(line: &str) -> Vec<String> {
    const NOUNS: [&str; 4] = ["option", "solution", "alternative", "approach"];
    let words: Vec<&str> = line.split_whitespace().collect();
    if words.len() > 16 {
        return Vec::new();
    }
    let bare = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_string();
    let is_number = |word: &str| {
        word.len() <= 2 && word.starts_with(|c: char| c.is_ascii_digit() || c.is_ascii_uppercase())
    };
    let pairs = words.windows(2).filter(|pair| {
        let noun = bare(pair[0]).to_lowercase();
        NOUNS.contains(&noun.as_str()) && !pair[0].ends_with(':') && is_number(&bare(pair[1]))
    });
    pairs.map(|pair| format!("{} {}", bare(pair[0]), bare(pair[1]))).collect()
}
