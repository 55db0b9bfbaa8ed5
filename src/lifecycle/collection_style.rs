//! The style of a collection: how most of its documents are named and how they state metadata.

use std::collections::BTreeMap;

use crate::model::layout::folder_of;
use crate::model::{Document, FileName};
use crate::parse;

/// The way a file name states the status.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum StatusInName {
    None,
    Letter,
    Suffix,
}

/// The way a file name states the date.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum DateInName {
    None,
    Day,
    Minute,
}

/// The parts of the names of a collection.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct NameStyle {
    /// Everything before the number: `ADR-`. `None` without a number.
    pub(super) prefix: Option<String>,
    /// Digits of a number.
    pub(super) width: usize,
    /// The character between the parts.
    pub(super) separator: char,
    pub(super) date: DateInName,
    pub(super) status: StatusInName,
    /// The kind after the slug: `.dialogue`.
    pub(super) kind: String,
    /// True if each document is the cover of a folder of its own.
    pub(super) is_folder: bool,
}

impl NameStyle {
    /// Returns the style of a new collection.
    pub(super) fn usual(kind: &str) -> NameStyle {
        let kind = if kind == "dialogue" { ".dialogue".to_string() } else { String::new() };
        NameStyle {
            prefix: Some(String::new()),
            width: 4,
            separator: '-',
            date: DateInName::None,
            status: StatusInName::Suffix,
            kind,
            is_folder: false,
        }
    }

    /// Returns the style of one document's name; `None` for names without a slug.
    fn of(document: &Document) -> Option<NameStyle> {
        let file = document.path.rsplit('/').next()?;
        let is_folder = crate::model::document::is_cover(file);
        let named = if is_folder { folder_of(&document.path).rsplit('/').next()? } else { file };
        let name =
            FileName::parse(&if is_folder { format!("{named}.md") } else { named.to_string() });
        let word = name.status.as_ref().map(|(_, word)| word.chars().count());
        let prefix = match name.number_text.as_str() {
            "" => None,
            number => Some(named[..named.find(number)?].to_string()),
        };
        if name.date.is_some() && prefix.is_some() || name.slug.is_empty() {
            return None;
        }
        let separators = ['-', '_', ' '].into_iter();
        let separator = separators.max_by_key(|c| (named.matches(*c).count(), *c == '-'));
        let kinds = [".dialogue.", ".spike.", ".rfc.", ".adr.", ".prd."].into_iter();
        let kind = kinds.filter(|kind| named.contains(kind)).map(|kind| kind.trim_end_matches('.'));
        Some(NameStyle {
            prefix,
            width: name.number_text.len(),
            separator: separator?,
            date: match (&name.date, &name.time) {
                (None, _) => DateInName::None,
                (_, None) => DateInName::Day,
                _ => DateInName::Minute,
            },
            status: match word {
                None => StatusInName::None,
                Some(1) => StatusInName::Letter,
                Some(_) => StatusInName::Suffix,
            },
            kind: kind.into_iter().next().unwrap_or_default().to_string(),
            is_folder,
        })
    }
}

/// The notation of metadata.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum HeaderStyle {
    FrontMatter,
    Table,
    Bold,
    Bullets,
    Plain,
    Section,
}

impl HeaderStyle {
    /// Returns the notation of a text's status; `None` if it states none in a known one.
    fn of(text: &str, line: u32) -> Option<HeaderStyle> {
        let stated = text.lines().nth((line as usize).checked_sub(1)?)?;
        let (yaml, rest) = parse::split_front_matter(text);
        let n_front = text[..text.len() - rest.len()].lines().count();
        if !yaml.is_empty() && (line as usize) <= n_front {
            return Some(HeaderStyle::FrontMatter);
        }
        let bare = stated.trim_start();
        let field = parse::key_and_value(stated);
        Some(match bare {
            _ if field.is_none() => HeaderStyle::Section,
            _ if bare.starts_with('|') => HeaderStyle::Table,
            _ if bare.starts_with("- ") || bare.starts_with("* ") => HeaderStyle::Bullets,
            _ if bare.starts_with("**") => HeaderStyle::Bold,
            _ => HeaderStyle::Plain,
        })
    }
}

/// Returns the most frequent value; of several, the smallest.
pub(super) fn majority<T: Ord>(values: impl Iterator<Item = T>) -> Option<T> {
    let mut counts: BTreeMap<T, usize> = BTreeMap::new();
    values.for_each(|value| *counts.entry(value).or_default() += 1);
    let most = *counts.values().max()?;
    counts.into_iter().find(|(_, n)| *n == most).map(|(value, _)| value)
}

/// Returns how most of the documents are named.
pub(super) fn names<'a>(documents: impl Iterator<Item = &'a Document>) -> Option<NameStyle> {
    majority(documents.filter_map(NameStyle::of))
}

/// Returns how most of the texts state their metadata, and what they write before the title, with `{}`
/// for the number. Each text has its document.
pub(super) fn headers<'a>(
    texts: impl Iterator<Item = (&'a Document, String)>,
) -> (Option<HeaderStyle>, Option<String>) {
    let (mut styles, mut headings) = (Vec::new(), Vec::new());
    for (document, text) in texts {
        let line = document.facts.status.as_ref().map_or(0, |(_, line)| *line);
        styles.extend(HeaderStyle::of(&text, line));
        let heading = text.lines().find_map(|line| line.strip_prefix("# ")).map(str::trim);
        let before = heading.and_then(|heading| Some(&heading[..heading.find(&document.title)?]));
        headings.extend(before.map(|before| match document.number_text.as_str() {
            "" => before.to_string(),
            number => before.replacen(number, "{}", 1),
        }));
    }
    (majority(styles.into_iter()), majority(headings.into_iter()))
}
