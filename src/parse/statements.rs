//! Finds the supersessions that a page states in header fields, under its title or in a section.

use std::ops::Range;

use super::Page;
use super::header_fields::{key_and_value, normal_key};
use super::markdown::Heading;
use super::relation_keys::relation_of_key;
use super::supersession::{StatementPlace, has_phrase, stated};
use crate::model::{Number, Relation};

/// Size in bytes of the longest section in which a supersession can be stated.
const MAX_SECTION: usize = 2_000;

/// A longer heading is not the name of a section, in bytes.
const MAX_KEY: usize = 64;

/// A part of a page where a supersession can be stated.
#[derive(Clone, Copy)]
enum Section {
    /// The lines under the title, with the header fields.
    Head,
    /// A section called Status.
    Status,
    /// A section called "Supersedes" or "Superseded by".
    Named(Relation),
    /// A list of links to other documents.
    Links,
    /// Any other part.
    Prose,
}

/// The places of one page where a supersession can be stated.
pub(super) struct Statements<'a, 'b> {
    page: &'a Page<'b>,
    places: Vec<(Range<usize>, Section)>,
    /// False if neither a field nor a phrase anywhere in the places can state a supersession.
    may_state: bool,
    /// The relation that each section gives to its references, by the index of its heading.
    relations: Vec<Option<Relation>>,
}

impl<'a, 'b> Statements<'a, 'b> {
    pub(super) fn new(page: &'a Page<'b>) -> Statements<'a, 'b> {
        let keys: Vec<String> = page.body.headings.iter().map(section_key).collect();
        let relations: Vec<Option<Relation>> =
            keys.iter().map(|key| relation_of_key(key)).collect();
        let places = places(page, &keys, &relations);
        let may_state = page.fields.iter().any(|field| supersedes(&field.key))
            || places.iter().any(|(range, section)| {
                matches!(section, Section::Named(_)) || has_phrase(&page.text[range.clone()])
            })
            || memchr::memmem::find(page.text.as_bytes(), b" supersede").is_some();
        Statements { page, places, may_state, relations }
    }

    /// Returns the relation that the section at an offset gives to its references.
    pub(super) fn relation_of_section(&self, offset: usize) -> Option<Relation> {
        self.relations[self.page.body.heading_of(offset)?]
    }

    /// Returns the supersession that a header field, a status or a line of its own states.
    pub(super) fn supersession_at(&self, line: u32, range: &Range<usize>) -> Option<Relation> {
        if !self.may_state {
            return None;
        }
        let page = self.page;
        let place = self.places.iter().find(|(place, _)| place.contains(&range.start));
        let section = place.map_or(&Section::Prose, |(_, section)| section);
        let start = page.lines.start(line);
        let text = clip_line(page.lines.text(page.text, line));
        let after = page.text.get(range.end..start + text.len()).unwrap_or_default();
        let field = page.fields.iter().find(|field| {
            let key = field.key.as_str();
            field.line == line && !field.outside_markdown && (is_status_key(key) || supersedes(key))
        });
        if let Some(field) = field {
            let before = page.text.get(start..range.start)?;
            let value = before.find([':', '|']).map_or(before, |at| &before[at + 1..]);
            let value = value.rsplit('|').next().unwrap_or(value);
            let place =
                relation_of_key(&field.key).map_or(StatementPlace::Status, StatementPlace::Named);
            return stated(place, value, after);
        }
        let before = page.text.get(self.statement_start(line)..range.start)?;
        match section {
            Section::Named(relation) => stated(StatementPlace::Named(*relation), before, after),
            Section::Status => stated(StatementPlace::Status, before, after),
            // An item of a list says something about one point of the decision.
            Section::Prose if before.trim_start().starts_with(['-', '*', '+', '|', '>']) => None,
            Section::Prose => stated(StatementPlace::Prose, before, after),
            Section::Head => stated(StatementPlace::Line, before, after),
            // In a list of links, "Supersedes X" is a statement only if nothing follows.
            Section::Links => {
                let ends = after.trim_matches([' ', '.', '*', '_', ')', '\r']).is_empty();
                stated(StatementPlace::Line, before, after).filter(|_| ends)
            }
        }
    }

    /// Returns the offset at which the statement on a line starts: the start of the paragraph, the
    /// list item, or the line after a header field.
    fn statement_start(&self, line: u32) -> usize {
        let page = self.page;
        let text_of = |line: u32| clip_line(page.lines.text(page.text, line)).trim();
        let mut first = line;
        while first > 1 && line - first < 4 {
            let (text, previous) = (text_of(first), text_of(first - 1));
            let bare = previous.trim_start_matches(['>', ' ']);
            let is_start = text.starts_with(['-', '*', '+', '|']) || bare.is_empty();
            let ends = bare.starts_with(['#', '|', '=', '-']) || bare.starts_with("[!");
            if is_start || ends || key_and_value(previous).is_some() {
                break;
            }
            first -= 1;
        }
        page.lines.start(first)
    }
}

/// Returns the number in a status such as `` superseded by `0007` ``, with the relation. Other numbers
/// need a series before them: `replaced by 2 services` names no document.
pub(super) fn number_in_status(status: &str) -> Option<(Relation, Number)> {
    let starts = status.match_indices(|c: char| c.is_ascii_digit()).map(|(at, _)| at);
    let mut numbers = starts.filter(|at| {
        let before = status[..*at].chars().next_back();
        before.is_none_or(|c| matches!(c, ' ' | '`' | '('))
    });
    numbers.find_map(|at| {
        let n_digits = status[at..].bytes().take_while(u8::is_ascii_digit).count();
        let (before, after) = (&status[..at], &status[at + n_digits..]);
        let in_code = before.ends_with('`') && after.starts_with('`');
        let is_padded = n_digits >= 3 && status[at..].starts_with('0');
        let ends = after.chars().next().is_none_or(|c| matches!(c, ' ' | '`' | ')' | ',' | '.'));
        // `0007-queues.md` is the name of a file.
        let names_file = is_padded
            && after.strip_prefix('-').is_some_and(|slug| slug.starts_with(char::is_alphabetic));
        let ends = ends || names_file;
        let number = Number::new(&status[at..at + n_digits]);
        let number = number.filter(|_| n_digits <= 6 && ends && (in_code || is_padded))?;
        Some((stated(StatementPlace::Status, before, after)?, number))
    })
}

/// Returns the parts of a page where a supersession can be stated.
fn places(
    page: &Page<'_>,
    keys: &[String],
    relations: &[Option<Relation>],
) -> Vec<(Range<usize>, Section)> {
    let mut places = vec![(page.head.clone(), Section::Head)];
    for (i, heading) in page.body.headings.iter().enumerate() {
        let section = match relations[i] {
            Some(relation @ (Relation::Supersedes | Relation::SupersededBy)) => {
                Section::Named(relation)
            }
            Some(Relation::Related) => Section::Links,
            _ if is_status_key(&keys[i]) => Section::Status,
            _ => continue,
        };
        let next = page.body.headings.get(i + 1).map_or(page.text.len(), |next| next.start);
        // In a long section, "Status" is a subject and not a state.
        let is_short = next - heading.after <= MAX_SECTION;
        if is_short {
            places.insert(0, (heading.after..next, section));
        }
    }
    places
}

/// Returns the title of a section as a key; empty if it is longer than any key.
fn section_key(heading: &Heading) -> String {
    match heading.title.len() <= MAX_KEY {
        true => normal_key(heading.title.trim_end_matches(':')),
        false => String::new(),
    }
}

pub(super) fn is_status_key(key: &str) -> bool {
    key.split(' ').any(|word| matches!(word, "status" | "state" | "stage"))
}

/// Returns true if a header field of this name states a supersession.
pub(super) fn supersedes(key: &str) -> bool {
    matches!(relation_of_key(key), Some(Relation::Supersedes | Relation::SupersededBy))
}

/// Returns the part of a line that can be a header field. Longer lines are prose.
pub(super) fn clip_line(line: &str) -> &str {
    let mut end = line.len().min(2_000);
    while !line.is_char_boundary(end) {
        end += 1;
    }
    &line[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_may_name_its_successor_by_number() {
        let number = |status: &str| number_in_status(status).map(|(_, number)| number.to_string());
        for status in [
            "superseded by `0007`",
            "Accepted, superseded by 0007 (queues)",
            "reemplazado por `0007`",
            "Superseded (`7`)",
            "superseded by 007.",
            "Obsolète - remplacé par 0007-queues.md",
        ] {
            assert_eq!(number(status).as_deref(), Some("7"), "{status}");
        }
        for status in [
            "replaced by 2 services",
            "superseded in `0007` releases",
            "Accepted `0007`",
            "partially superseded by `0007`",
            "superseded by v0007",
            "superseded by 007-1",
            "superseded by 00.7",
            "superseded on 2020-01-07",
            "",
        ] {
            assert_eq!(number(status), None, "{status}");
        }
    }
}
