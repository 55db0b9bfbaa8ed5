//! Changes what the header of a document states, and nothing else.
//!
//! Documents state their status in many notations. This module does not know them: it proposes
//! small changes of the line that the parser named, and takes the first one after which the parser
//! reads what was wanted.

use std::ops::Range;

use crate::guard::Allowed;
use crate::model::plan::Limits;
use crate::model::{Facts, Relation, Source, Status, status_words};
use crate::parse;

/// Number of lines, from the one that the parser names, on which the status can be.
const MAX_LINES_BELOW: usize = 6;

/// Number of lines at the top that can have header fields.
const MAX_HEADER: usize = 80;

/// Reads texts as the build does.
pub(super) struct FactsReader<'a> {
    /// Path of the document; its extension decides the format.
    pub(super) path: &'a str,
    /// The bytes of the document, if the texts are those of the metadata file beside it.
    pub(super) beside: Option<&'a [u8]>,
    pub(super) limits: &'a Limits,
    pub(super) allowed: Allowed,
}

/// A document that another one names: its id or title, and its path relative to the other one.
#[derive(Clone, Debug)]
pub(super) struct NamedDocument {
    pub(super) label: String,
    pub(super) path: String,
}

impl NamedDocument {
    fn link(&self) -> String {
        match self.path.contains([' ', '(', ')']) {
            true => format!("[{}](<{}>)", self.label, self.path),
            false => format!("[{}]({})", self.label, self.path),
        }
    }
}

impl FactsReader<'_> {
    pub(super) fn facts(&self, text: &str) -> Facts {
        let text = text.as_bytes().to_vec();
        let source = match self.beside {
            Some(document) => Source::new(self.path, document.to_vec(), Some(text)),
            None => Source::new(self.path, text, None),
        };
        parse::parse(&source, self.limits, &self.allowed).facts
    }

    fn states(&self, text: &str, status: Status) -> bool {
        stated(&self.facts(text)) == Some(status)
    }

    /// Returns the text with another status, and with the document that replaces it. `None` if no
    /// change of the header has that effect.
    pub(super) fn with_status(
        &self,
        text: &str,
        status: Status,
        successor: Option<&NamedDocument>,
    ) -> Option<String> {
        let facts = self.facts(text);
        let is_current = stated(&facts) == Some(status);
        if is_current && successor.is_none() {
            return Some(text.to_string());
        }
        let names_successor =
            |text: &str| successor.is_none_or(|_| has(&self.facts(text), Relation::SupersededBy));
        let Some((_, line)) = facts.status else {
            let stated = self.insert(text, "Status", &cased("Draft", word(status)), &|text| {
                self.states(text, status)
            })?;
            return self.with_status(&stated, status, successor);
        };
        let changed = self.proposals(text, line, status, successor);
        let changed: Vec<String> =
            changed.into_iter().filter(|text| self.states(text, status)).collect();
        let complete = changed.iter().find(|text| names_successor(text));
        if let Some(complete) = complete {
            return Some(complete.clone());
        }
        let stated = if is_current { text } else { changed.first()? };
        let named = successor?;
        let fits = |text: &str| self.states(text, status) && names_successor(text);
        self.insert_reference(stated, "Superseded By", named, &fits)
    }

    /// Returns the text with a field that says which document this one replaces.
    pub(super) fn superseding(&self, text: &str, replaced: &NamedDocument) -> Option<String> {
        let n_before = count(&self.facts(text), Relation::Supersedes);
        let status = stated(&self.facts(text));
        let fits = |text: &str| {
            let facts = self.facts(text);
            count(&facts, Relation::Supersedes) > n_before && stated(&facts) == status
        };
        self.insert_reference(text, "Supersedes", replaced, &fits)
    }

    /// Returns the texts that result from a change of one status word, the likeliest first.
    fn proposals(
        &self,
        text: &str,
        line: u32,
        status: Status,
        successor: Option<&NamedDocument>,
    ) -> Vec<String> {
        let in_front_matter = |at: usize| at < front_matter_end(text);
        let lines = line_ranges(text);
        let first = (line as usize).saturating_sub(1);
        let near = lines.iter().skip(first).take(MAX_LINES_BELOW);
        near.flat_map(|range| {
            let raw = &text[range.clone()];
            let places = status_words::places(raw);
            let badge = raw.contains("![") || raw.contains("<img");
            let named = successor.filter(|_| !in_front_matter(range.start) && !badge);
            let mut proposals = Vec::new();
            for place in &places {
                let old = &raw[place.clone()];
                let mut new = cased(old, word(status));
                if let Some(named) = named {
                    new = format!("{new} by {}", named.link());
                }
                let mut line = raw.to_string();
                let value = place.start..value_end(raw, place.start);
                if names_other(&raw[value.clone()]) {
                    line.replace_range(value, &new);
                } else if badge {
                    // The word is both in the text of the badge and in its address.
                    for place in places.iter().rev() {
                        if raw[place.clone()].eq_ignore_ascii_case(old) {
                            line.replace_range(
                                place.clone(),
                                &cased(&raw[place.clone()], word(status)),
                            );
                        }
                    }
                } else {
                    line.replace_range(place.clone(), &new);
                }
                proposals.push([&text[..range.start], &line, &text[range.end..]].concat());
            }
            proposals
        })
        .collect()
    }

    /// Inserts a field that names a document, as the header writes its fields.
    fn insert_reference(
        &self,
        text: &str,
        key: &str,
        named: &NamedDocument,
        fits: &dyn Fn(&str) -> bool,
    ) -> Option<String> {
        let has_front_matter = front_matter_end(text) > 0;
        let quoted = || serde_json::to_string(&named.path).expect("a text is JSON");
        let values = match has_front_matter {
            true => vec![quoted(), named.link()],
            false => vec![named.link()],
        };
        let extended = self.extend(text, key, &values, fits);
        let insert = || values.iter().find_map(|value| self.insert(text, key, value, fits));
        extended.or_else(insert)
    }

    /// Adds a value to a field that the header has already.
    fn extend(
        &self,
        text: &str,
        key: &str,
        values: &[String],
        fits: &dyn Fn(&str) -> bool,
    ) -> Option<String> {
        let lines = line_ranges(text).into_iter().take(MAX_HEADER);
        lines
            .filter_map(|range| {
                let (found, value) = parse::key_and_value(&text[range.clone()])?;
                let at = text[range.clone()].rfind(&value)? + range.start;
                (found == key.to_lowercase()).then_some(at..at + value.len())
            })
            .flat_map(|range| {
                let with =
                    |list: String| [&text[..range.start], &list, &text[range.end..]].concat();
                let old = &text[range.clone()];
                let inner = old.strip_prefix('[').and_then(|old| old.strip_suffix(']'));
                // Only YAML has lists in brackets.
                let is_yaml = range.start < front_matter_end(text);
                let inner = inner.filter(|_| is_yaml);
                values
                    .iter()
                    .flat_map(|value| {
                        [
                            inner.map(|inner| with(format!("[{inner}, {value}]"))),
                            is_yaml.then(|| with(format!("[{old}, {value}]"))),
                            Some(with(format!("{old}, {value}"))),
                        ]
                    })
                    .flatten()
                    .collect::<Vec<String>>()
            })
            .find(|text| fits(text))
    }

    /// Inserts a field: into the front matter, below a field in the notation of that field, below
    /// the status, or below the title.
    fn insert(
        &self,
        text: &str,
        key: &str,
        value: &str,
        fits: &dyn Fn(&str) -> bool,
    ) -> Option<String> {
        let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let at = |offset: usize, new: &str| {
            let before = &text[..offset];
            let gap = if before.is_empty() || before.ends_with(['\n', '\r']) { "" } else { end };
            [before, gap, new, &text[offset..]].concat()
        };
        let mut proposals = Vec::new();
        let lines = line_ranges(text);
        let after = |index: usize| lines.get(index + 1).map_or(text.len(), |next| next.start);
        let front = front_matter_end(text);
        if front > 0 {
            let fence = lines
                .iter()
                .rfind(|line| line.end < front || line.start < front && line.end == front);
            let name = key.to_lowercase().replace(' ', "_");
            if let Some(fence) = fence {
                proposals.push(at(fence.start, &format!("{name}: {value}{end}")));
            }
        }
        let status_line = self.facts(text).status.map_or(0, |(_, line)| line as usize);
        let in_header = |index: &usize| lines[*index].start >= front;
        let header = (0..lines.len().min(MAX_HEADER)).filter(in_header);
        let mut anchors: Vec<usize> = header
            .clone()
            .filter(|index| parse::key_and_value(&text[lines[*index].clone()]).is_some())
            .collect();
        // The field of the status is the best model; otherwise the first one is.
        anchors.sort_by_key(|index| (index + 1 != status_line, *index));
        for index in anchors.into_iter().take(4) {
            let field = like(&text[lines[index].clone()], key, value);
            proposals.extend(field.map(|field| at(after(index), &format!("{field}{end}"))));
        }
        if status_line > 0 && status_line <= lines.len() {
            let sentence = format!("{end}{key} {value}{end}");
            proposals.push(at(after(status_line - 1), &sentence));
        }
        let title = header.clone().find(|index| text[lines[*index].clone()].starts_with("# "));
        let below = title.map_or(front, after);
        proposals.push(at(below, &format!("{end}**{key}:** {value}{end}")));
        proposals.into_iter().find(|text| fits(text))
    }
}

/// Returns the status that the facts state.
pub(super) fn stated(facts: &Facts) -> Option<Status> {
    facts.status.as_ref().and_then(|(text, _)| status_words::parse(text))
}

fn has(facts: &Facts, relation: Relation) -> bool {
    count(facts, relation) > 0
}

fn count(facts: &Facts, relation: Relation) -> usize {
    facts.references.iter().filter(|reference| reference.relation == relation).count()
}

/// Returns the word that blue writes for a status.
pub(super) fn word(status: Status) -> &'static str {
    if status == Status::Active { "in progress" } else { status.as_str() }
}

/// Returns a word with the capitals of another one.
fn cased(like: &str, word: &str) -> String {
    let mut letters = like.chars().filter(|c| c.is_alphabetic());
    let is_first_upper = letters.next().is_some_and(char::is_uppercase);
    let is_second_upper = letters.next().is_some_and(char::is_uppercase);
    match (is_first_upper, is_second_upper) {
        (true, true) => word.to_uppercase(),
        (true, false) => {
            let words =
                word.split(' ').map(|word| [&word[..1].to_uppercase(), &word[1..]].concat());
            words.collect::<Vec<String>>().join(" ")
        }
        _ => word.to_string(),
    }
}

/// Returns true if a value also names the document that replaces this one.
fn names_other(value: &str) -> bool {
    let lower = value.to_lowercase();
    status_words::parse(value) == Some(Status::Superseded) && lower.contains(" by ")
}

/// Returns the end of the value that starts at an offset of a line: before the mark that closes its
/// cell, tag or emphasis.
fn value_end(line: &str, start: usize) -> usize {
    let value = &line[start..];
    let ends = ["|", "**", "`", "</", "-->", "<br"].into_iter();
    let end = ends.filter_map(|mark| value.find(mark)).min().unwrap_or(value.len());
    start + value[..end].trim_end_matches([' ', '\t', '_', '*', '\\', '"', '\'']).len()
}

/// Returns a field in the notation of another one: the line with another key and value.
fn like(line: &str, key: &str, value: &str) -> Option<String> {
    let (_, old_value) = parse::key_and_value(line)?;
    let value_at = line.rfind(&old_value)?;
    let before = &line[..value_at];
    let start = before.find(char::is_alphabetic)?;
    let end = before.rfind(|c: char| c.is_alphanumeric() || c == ')')?;
    let end = end + before[end..].chars().next().map_or(1, char::len_utf8);
    let old_key = before.get(start..end).filter(|key| !key.contains(['|', '<']))?;
    // Several fields on one line, or another one in the value, cannot be repeated like this.
    let is_lower = old_key.chars().all(|c| !c.is_uppercase());
    let new_key = if is_lower { key.to_lowercase() } else { key.to_string() };
    let after = &line[value_at + old_value.len()..];
    Some([&line[..start], &new_key, &before[end..], value, after].concat())
}

/// Returns the byte ranges of the lines of a text, without their ends.
fn line_ranges(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let (mut ranges, mut start, mut at) = (Vec::new(), 0, 0);
    while at < bytes.len() {
        let length = match bytes[at] {
            b'\r' if bytes.get(at + 1) == Some(&b'\n') => 2,
            b'\r' | b'\n' => 1,
            _ => 0,
        };
        if length > 0 {
            ranges.push(start..at);
            start = at + length;
        }
        at += length.max(1);
    }
    if start < bytes.len() {
        ranges.push(start..bytes.len());
    }
    ranges
}

/// Returns the end of the front matter; 0 if there is none.
fn front_matter_end(text: &str) -> usize {
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (yaml, rest) = parse::split_front_matter(body);
    if yaml.is_empty() { 0 } else { text.len() - rest.len() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(text: &str, status: Status, successor: Option<&NamedDocument>) -> Option<String> {
        let (limits, allowed) = (Limits::default(), Allowed::default());
        let path = "docs/adr/0001-x.md";
        let reader = FactsReader { path, beside: None, limits: &limits, allowed };
        reader.with_status(text, status, successor)
    }

    #[test]
    fn only_the_status_word_changes_in_every_notation() {
        for (old, new) in [
            ("---\nstatus: draft # why\n---\n# X\n", "---\nstatus: accepted # why\n---\n# X\n"),
            (
                "---\r\nstatus: \"Draft\"\r\n---\r\n# X\r\n",
                "---\r\nstatus: \"Accepted\"\r\n---\r\n# X\r\n",
            ),
            (
                "\u{feff}# X\n\n| **Status** |  Draft  |\n",
                "\u{feff}# X\n\n| **Status** |  Accepted  |\n",
            ),
            (
                "# X\n\n| | |\n|---|---|\n| **Status** | Draft |\n",
                "# X\n\n| | |\n|---|---|\n| **Status** | Accepted |\n",
            ),
            ("# X\n\n**Status:** DRAFT\n", "# X\n\n**Status:** ACCEPTED\n"),
            (
                "# X\n\n* Status: in progress (since May)\n",
                "# X\n\n* Status: accepted (since May)\n",
            ),
            ("# X\n\nStatus: Draft  \nDate: May\n", "# X\n\nStatus: Accepted  \nDate: May\n"),
            (
                "# X\n\n## Status\n\nDraft.\n\n## Context\n",
                "# X\n\n## Status\n\nAccepted.\n\n## Context\n",
            ),
            ("# X\n\n## Status\n\nSuperseded by [2](2.md)\n", "# X\n\n## Status\n\nAccepted\n"),
            (
                "# X\n\n```\nTitle: X\nStatus: Draft\nType: y\n```\n",
                "# X\n\n```\nTitle: X\nStatus: Accepted\nType: y\n```\n",
            ),
            ("# X\n\n`draft` `optional`\n", "# X\n\n`accepted` `optional`\n"),
            (
                "# X\n\n<table><tr><td>Status</td><td>Draft</td></tr></table>\n",
                "# X\n\n<table><tr><td>Status</td><td>Accepted</td></tr></table>\n",
            ),
            (
                "# X\n\n![Draft](https://img.shields.io/badge/status-draft-red.svg)\n",
                "# X\n\n![Accepted](https://img.shields.io/badge/status-accepted-red.svg)\n",
            ),
            ("# X\n\nStatus: Proposed → Draft\n", "# X\n\nStatus: Proposed → Accepted\n"),
            ("# X\n\n- [x] no status\n", "# X\n\n**Status:** Accepted\n\n- [x] no status\n"),
            ("---\ntitle: X\n---\n\nText.\n", "---\ntitle: X\nstatus: Accepted\n---\n\nText.\n"),
            (
                "# X\n\n| **Date** | May |\n",
                "# X\n\n| **Date** | May |\n| **Status** | Accepted |\n",
            ),
        ] {
            assert_eq!(changed(old, Status::Accepted, None).as_deref(), Some(new), "{old}");
        }
    }

    #[test]
    fn a_superseded_document_names_its_successor_in_its_own_notation() {
        let named = NamedDocument { label: "ADR 2".into(), path: "0002-y.md".into() };
        for (old, new) in [
            (
                "# X\n\n**Status:** Accepted\n",
                "# X\n\n**Status:** Superseded by [ADR 2](0002-y.md)\n",
            ),
            (
                "# X\n\n## Status\n\nAccepted\n",
                "# X\n\n## Status\n\nSuperseded by [ADR 2](0002-y.md)\n",
            ),
            (
                "# X\n\n| Status | accepted |\n",
                "# X\n\n| Status | superseded by [ADR 2](0002-y.md) |\n",
            ),
            (
                "---\nstatus: accepted\n---\n# X\n",
                "---\nstatus: superseded\nsuperseded_by: \"0002-y.md\"\n---\n# X\n",
            ),
        ] {
            assert_eq!(
                changed(old, Status::Superseded, Some(&named)).as_deref(),
                Some(new),
                "{old}"
            );
        }
    }

    #[test]
    fn the_successor_names_what_it_replaces() {
        let (limits, allowed) = (Limits::default(), Allowed::default());
        let path = "docs/adr/0002-y.md";
        let reader = FactsReader { path, beside: None, limits: &limits, allowed };
        let named = NamedDocument { label: "ADR 1".into(), path: "0001-x.md".into() };
        for (old, new) in [
            (
                "# Y\n\n| **Status** | Draft |\n",
                "# Y\n\n| **Status** | Draft |\n| **Supersedes** | [ADR 1](0001-x.md) |\n",
            ),
            (
                "# Y\n\n- Status: Draft\n- Date: May\n",
                "# Y\n\n- Status: Draft\n- Supersedes: [ADR 1](0001-x.md)\n- Date: May\n",
            ),
            (
                "# Y\n\n## Status\n\nAccepted\n",
                "# Y\n\n## Status\n\nAccepted\n\nSupersedes [ADR 1](0001-x.md)\n",
            ),
            (
                "---\nstatus: draft\n---\n# Y\n",
                "---\nstatus: draft\nsupersedes: \"0001-x.md\"\n---\n# Y\n",
            ),
            (
                "---\nsupersedes: 0003-z.md\n---\n# Y\n",
                "---\nsupersedes: [0003-z.md, \"0001-x.md\"]\n---\n# Y\n",
            ),
        ] {
            assert_eq!(reader.superseding(old, &named).as_deref(), Some(new), "{old}");
        }
    }
}
